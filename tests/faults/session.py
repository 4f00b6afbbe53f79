"""One open plane that posts every line of stdin and answers with the receipt, as a server in use does."""

from __future__ import annotations

import json
import sys

from memory_plane.plane import Plane


def main() -> None:
    """Answer each line with the state and detail of its write, as JSON."""
    with Plane() as plane:
        for line in sys.stdin:
            receipt = plane.post(line.rstrip("\n"), agent="session")
            print(json.dumps([receipt.state, receipt.detail, receipt.id]), flush=True)


if __name__ == "__main__":
    main()
