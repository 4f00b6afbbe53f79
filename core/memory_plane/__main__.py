"""Run the command line: `python -m memory_plane`."""

from memory_plane.surfaces.cli import main

if __name__ == "__main__":
    main()
