"""What all pages have in common: the frame around them, how they are written, and what a form sends."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from memory_plane import __version__
from memory_plane.types import Receipt

if TYPE_CHECKING:
    from jinja2 import Environment

    from memory_plane.settings import Settings

HERE = Path(__file__).parent
ASSETS = HERE / "assets"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
LONGEST = 512
"""How many characters of a filter count."""
HEADERS = {
    "content-security-policy": POLICY,
    # Without a referrer of its own a form would come from nowhere, and be refused.
    "referrer-policy": "same-origin",
    # A page of another port of this machine, to which browsers send the cookie, may open these but not watch them.
    "cross-origin-opener-policy": "same-origin",
}
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
PAGES = (
    ("/", "Pulse"),
    ("/search", "Search"),
    ("/graph", "Graph"),
    ("/nodes", "People"),
    ("/facts", "Facts"),
    ("/review", "Review"),
    ("/doctor", "Health"),
)
"""What the menu has, in this order."""


class Frame:
    """Writes pages from templates; text is escaped wherever a template puts it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page; one that asks for news of itself takes its `main` out of the whole."""
        text = self._templates.get_template(template).render(request=request, now=datetime.now(UTC), **values)
        return HTMLResponse(text, status_code=status, headers=HEADERS)

    def done(self, request: Request, receipt: Receipt, back: str) -> Response:
        """Go back to where a form was, or say why what it asked for was refused."""
        if receipt.state == "refused":
            return self.page(request, "refused.html", status=422, reason=receipt.detail, back=local(back))
        return RedirectResponse(local(back), 303)

    @cached_property
    def zone(self) -> tzinfo | None:
        """The time zone in which times are shown; None is the machine's."""
        return ZoneInfo(self._settings.timezone) if self._settings.timezone else None

    @cached_property
    def _templates(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        made = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {"age": age, "iso": _iso, "local": self._local, "day": self._day}
        made.globals |= {"pages": PAGES, "version": __version__, "assets": _digest(), "query": _query}
        return made

    def _local(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime("%Y-%m-%d %H:%M")

    def _day(self, moment: datetime) -> str:
        return moment.astimezone(self.zone).strftime("%Y-%m-%d")


def assets() -> Route:
    """Return where scripts and styles are; their addresses change with them, so browsers keep them for good."""

    def asset(request: Request) -> Response:
        path = _files().get(request.path_params["name"])
        if path is None:
            raise HTTPException(404, "there is no such file")
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(path.read_bytes(), media_type=TYPES[path.suffix], headers=headers)

    return Route("/assets/{name:path}", asset)


async def form(request: Request) -> dict[str, str]:
    """Return the fields that a form sent; of a name that comes twice the last."""
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))


def filters_in(given: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the filters of an address, all of them; none is longer than what it is to fit can be."""
    return {name: given.get(name, "").strip()[:LONGEST] for name in names}


def cookie(connection: HTTPConnection, name: str = "") -> str:
    """Return what a cookie of this hub is called: browsers send the cookies of one host to all of its ports."""
    port = connection.url.port or (443 if connection.url.scheme == "https" else 80)
    return f"memory_plane_{port}{name and '_'}{name}"


def local(path: str) -> str:
    """Return a path of this hub; the first page in place of an address elsewhere."""
    # A browser takes tabs and line breaks out of an address before it reads it.
    return path if path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() else "/"


def came_from(request: Request) -> str:
    """Return the page of this hub from which a browser came; the first one where that is unknown, or this very one."""
    try:
        before = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    if before.netloc != request.url.netloc or before.path == "/sign-in" or before.geturl() == str(request.url):
        return "/"
    return local(f"{before.path}?{before.query}" if before.query else before.path)


def age(moment: datetime, now: datetime) -> str:
    """Say how long ago a moment was, or how far off it is, in its largest unit."""
    gap = now - moment
    size = next((unit for unit in _UNITS if abs(gap) >= unit[0]), None)
    if size is None:
        return "now"
    count = int(abs(gap) / size[0])
    return f"{count} {size[1]} ago" if gap > timedelta() else f"in {count} {size[1]}"


_UNITS = ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min"))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _query(given: Mapping[str, Any], **changed: Any) -> str:
    """Write the query of an address with other values; None takes one out."""
    merged = {name: value for name, value in {**given, **changed}.items() if value not in (None, "")}
    return f"?{urlencode(merged)}" if merged else "?"


@cache
def _files() -> dict[str, Path]:
    """Return scripts and styles by their names: nothing that a browser asks for is ever taken for a path."""
    found = sorted(path for path in ASSETS.rglob("*") if path.suffix in TYPES)
    return {path.relative_to(ASSETS).as_posix(): path for path in found}


def _digest() -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in _files().values())).hexdigest()[:12]
