"""The command `memory-plane`: an agent's session goes to the hub that runs, all else to the command line."""

import gc
import sys


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
    gc.set_threshold(20_000)  # what a start makes stays: going through it 700 objects at a time costs a tenth of it
    from memory_plane.surfaces.cli import main as command_line

    try:
        command_line()
    finally:
        gc.freeze()  # the system frees all at once: searching it for cycles first takes a sixth of a short command
