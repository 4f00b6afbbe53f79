"""One outbox that queues every line of stdin and answers with its depth or its error, as a server in use does."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from memory_plane.errors import StoreError
from memory_plane.operations import make_operation
from memory_plane.outbox import Outbox


def main() -> None:
    """Answer each line with what waits and, if it was not queued, why; all as JSON."""
    outbox = Outbox(Path(os.environ["MEMORY_PLANE_HOME"]))
    for line in sys.stdin:
        operation = make_operation("thought", {"text": line.rstrip("\n")}, agent="session")
        try:
            depth, error = outbox.append(operation), ""
        except StoreError as failure:
            depth, error = outbox.depth(), str(failure)
        print(json.dumps([depth, error, operation.id]), flush=True)


if __name__ == "__main__":
    main()
