"""The command `memory-plane`: an agent's session goes to the hub that runs, all else to the command line."""

import sys

from memory_plane import garbage


def main() -> None:
    """Run the command; for `mcp` beside a hub nothing heavy is imported."""
    if "mcp" in sys.argv:
        from memory_plane.surfaces import bridge

        try:
            code = bridge.main(sys.argv[1:])
        except KeyboardInterrupt:
            code = 130
        if code is not None:
            raise SystemExit(code)
    garbage.start()
    from memory_plane.surfaces.cli import main as command_line

    try:
        command_line()
    finally:
        garbage.leave()
