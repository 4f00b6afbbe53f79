"""The first page: what every agent does, what is open, what was said; and what a person does about it there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_plane.errors import Refused
from memory_plane.plane import Plane
from memory_plane.recall import state, stream
from memory_plane.surfaces.web.acting import place_in, placed
from memory_plane.surfaces.web.doctor import Looks
from memory_plane.surfaces.web.frame import Frame, cookie, filters_in, form
from memory_plane.types import EPOCH, KINDS, Receipt
from memory_plane.writes import PERSON

STREAM, ITEMS, MOST_SKIPPED = 40, 40, 9_960
"""How many thoughts and open items the page shows at a time, and how many items it passes over at most."""
FILTERS = ("agent", "kind", "project", "about", "origin", "since", "until")
ORIGINS = ("user", "agent", "external")
VISITED = "visit"
"""The cookie that holds when the last visit ended and when this one was last seen, in seconds since 1970."""
APART = timedelta(minutes=15)
"""How long nobody looks until the next look is another visit."""


def pulse(plane: Plane, frame: Frame, looks: Looks) -> list[Route]:
    """Return the page, and where its forms go."""

    def page(request: Request) -> Response:
        visit = Visit.of(request.cookies.get(cookie(request, VISITED), ""), datetime.now(UTC))
        shown = {**_shown(plane, request.query_params, frame.zone), **_wrong(looks)}
        response = frame.page(request, "pulse.html", **shown, visit=visit)
        response.set_cookie(
            cookie(request, VISITED), visit.text(), max_age=366 * 86_400, httponly=True, samesite="strict"
        )
        return response

    async def act(request: Request) -> Response:
        given = await form(request)
        receipt = await run_in_threadpool(_act, plane, request.path_params["id"], given, frame.zone)
        return frame.done(request, receipt, given.get("back", "/"))

    return [Route("/", page), Route("/items/{id}", act, methods=["POST"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """When the last visit ended, None for the first one, and when this one was last seen; what came between is news."""

    last: datetime | None
    seen: datetime

    @classmethod
    def of(cls, kept: str, now: datetime) -> Visit:
        """Read what the browser kept; for one that never came, nothing is news."""
        try:
            last, seen = (datetime.fromtimestamp(int(part), UTC) for part in kept.split("."))
        except (ValueError, OverflowError, OSError):
            return cls(last=None, seen=now)
        return cls(last=seen if now - seen > APART else last if last > EPOCH else None, seen=now)

    def text(self) -> str:
        """Write what the browser keeps."""
        return f"{int(self.last.timestamp()) if self.last else 0}.{int(self.seen.timestamp())}"


def _shown(plane: Plane, given: Mapping[str, str], zone: tzinfo | None) -> dict[str, Any]:
    """Return what the page shows for the filters of its address; one that makes no sense is said to."""
    filters = filters_in(given, FILTERS)
    wrong, skipped = "", _skipped(given.get("skip", ""))
    try:
        wanted = _wanted(filters, place_in(given), zone)
    except Refused as error:
        wrong, wanted = str(error), stream.Wanted()
    with plane.snapshot() as snapshot, plane.database.reading() as connection:
        pulse, page = snapshot.pulse(), stream.page(connection, wanted, STREAM)
        wrote = dict(state.writers(connection))
    return {
        "pulse": pulse,
        "agents": [beat for beat in pulse.heartbeats if beat.agent != PERSON],
        "wrote": wrote,
        "said": {thought.agent: thought for thought in reversed(pulse.thoughts)},
        "items": plane.items(limit=skipped + ITEMS)[skipped:],
        "skipped": skipped,
        "most_skipped": MOST_SKIPPED,
        "here": {**filters, "skip": skipped or None, "before": given.get("before") if not wrong else None},
        "thoughts": page.thoughts,
        "older": placed(page.older),
        "filters": filters,
        "wrong": wrong,
        "kinds": KINDS,
        "origins": ORIGINS,
        "failures": plane.failures(),
    }


def _wrong(looks: Looks) -> dict[str, Any]:
    """Return what the last look found wrong; nobody waits for one that is under way."""
    last = looks.last(wait=0)
    # Plugins that failed are counted as they are now.
    found = [one for one in last[1] if one.state == "wrong" and not one.what.startswith("plugin ")] if last else []
    return {"complaints": found, "looked": last is not None, "looking": looks.under_way}


def _wanted(filters: Mapping[str, str], before: tuple[datetime, str] | None, zone: tzinfo | None) -> stream.Wanted:
    return stream.Wanted(
        agent=filters["agent"] or None,
        kind=filters["kind"] or None,
        project=filters["project"] or None,
        origin=filters["origin"] or None,
        about=filters["about"] or None,
        since=day("since", filters["since"], zone) if filters["since"] else None,
        until=day("until", filters["until"], zone) if filters["until"] else None,
        before=before,
    )


def _skipped(text: str) -> int:
    """Return how many items are passed over: those of whole pages before."""
    return min(int(text), MOST_SKIPPED) if text.isascii() and text.isdecimal() and len(text) < 9 else 0


def day(name: str, text: str, zone: tzinfo | None) -> datetime:
    """Read a day as its begin, or for `until` as its end; raise `Refused` for what is none."""
    try:
        date = datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - the zone comes with combine
        # Days are counted before they become moments: where clocks change, one has 23 or 25 hours.
        return datetime.combine(date + timedelta(days=name == "until"), time(), zone).astimezone()
    except (ValueError, OverflowError):
        raise Refused(f"{name}: {text!r} is no day; write it as 2026-10-31") from None


def _act(plane: Plane, item: str, given: Mapping[str, str], zone: tzinfo | None) -> Receipt:
    """Write what a button of an item says."""
    try:
        match given.get("do"):
            case "snooze":
                return plane.snooze(item, day("since", given.get("day", ""), zone), agent=PERSON)
            case "assign":
                return plane.assign(item, given.get("to", ""), agent=PERSON)
            case "pin" | "unpin" as word:
                return plane.pin(item, pinned=word == "pin", agent=PERSON)
            case status:
                return plane.resolve(item, status=status or "done", agent=PERSON)
    except Refused as error:
        return Receipt(id=item, state="refused", detail=str(error))
