"""Restores a backup and kills itself at one step of it: `restorer.py FILE STEP`; `STEP` is a function of `backup`.

`+STEP` is just after it. Prints the step that it dies at.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_plane import backup, presence
from memory_plane.settings import Settings


def main(file: str, step: str) -> None:
    """Restore the file, and die before or after the named function."""
    name = step.removeprefix("+")
    function: Callable[..., Any] = getattr(backup, name)

    def dies(*arguments: Any, **named: Any) -> None:
        if step.startswith("+"):
            function(*arguments, **named)
        print(step, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(backup, name, dies)
    settings = Settings.load()
    with presence.claimed(settings.home):
        backup.restore(settings, Path(file))


if __name__ == "__main__":
    main(*sys.argv[1:])
