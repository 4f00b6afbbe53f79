"""Copy the scripts of others that the pages use out of their npm packages, and note what they are.

    make assets

Which, in which versions: `package.json` beside them. They are taken as they were published, licences with them.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from shutil import copyfile
from typing import Any

VENDOR = Path(__file__).parents[1] / "core/memory_plane/surfaces/web/assets/vendor"


def main(modules: Path) -> None:
    """Fill the folder anew from `node_modules`."""
    for old in VENDOR.iterdir():
        if old.name != "package.json":
            old.unlink()
    wanted = json.loads((VENDOR / "package.json").read_text("utf-8"))["dependencies"]
    noted = [taken(modules / name) for name in sorted(wanted)]
    (VENDOR / "vendor.json").write_text(json.dumps(noted, indent=2) + "\n", "utf-8")


def taken(package: Path) -> dict[str, Any]:
    """Copy the script of a package and its licence; return what was taken."""
    about = json.loads((package / "package.json").read_text("utf-8"))
    name = about["name"]
    script = package / about["unpkg"]
    files = {script.name: script, f"{name}.LICENSE.txt": package / "LICENSE"}
    for target, source in files.items():
        copyfile(source, VENDOR / target)
    hashes = {target: hashlib.sha256((VENDOR / target).read_bytes()).hexdigest() for target in files}
    return {"name": name, "version": about["version"], "licence": about["license"], "files": hashes}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
