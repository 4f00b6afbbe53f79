"""Runs a command under a bad condition that holds for root too: `launch.py plain|SIZE COMMAND…`.

`plain`: file permissions count, as they do for everybody but root. SIZE: no file may grow past so many bytes.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys

DROP_FROM_BOUNDING_SET, DAC_OVERRIDE, DAC_READ_SEARCH = 24, 1, 2


def obey_permissions() -> None:
    """Give up root's right to ignore permissions; the exec that follows makes it so."""
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (DAC_OVERRIDE, DAC_READ_SEARCH):
        if libc.prctl(DROP_FROM_BOUNDING_SET, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot drop a capability")


def main(condition: str, *command: str) -> None:
    """Set the condition and become the command."""
    if condition != "plain":
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(condition), int(condition)))
    elif os.geteuid() == 0 and sys.platform == "linux":
        obey_permissions()
    os.execv(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
