"""One agent whose clock is its own: it stands in the zone TZ and is off by some seconds.

clock_writer.py AGENT SHIFT SUBJECT     reads moments from stdin, in seconds since 1970, and writes at each of them a
fact through `Client`, with the local time that its clock shows then; prints [id, state, detail, local time] for each
"""

from __future__ import annotations

import json
import sys
from datetime import datetime

from memory_plane import Client


def main(agent: str, shift: float, subject: str) -> None:
    """Write a fact for each line."""
    with Client() as client:
        for line in sys.stdin:
            shown = datetime.fromtimestamp(float(line) + shift).astimezone()  # in the zone of TZ, as `date` shows it
            value = f"{agent} at {shown:%H:%M}"
            receipt = client.fact(subject, "note", value, agent=agent, created_at=shown.isoformat())
            print(json.dumps([receipt.id, receipt.state, receipt.detail, shown.isoformat()]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
