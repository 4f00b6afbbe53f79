"""Run the command: `python -m memory_plane`."""

from memory_plane.entry import main

if __name__ == "__main__":
    main()
