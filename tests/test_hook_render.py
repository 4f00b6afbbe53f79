from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from memory_plane import Plane, Plugin, hookimpl
from memory_plane.types import Snapshot, View


class DossierPlugin(Plugin):
    @hookimpl
    def render(self, snapshot: Snapshot) -> Iterator[View]:
        for fact in snapshot.facts():
            yield View(path=Path("dossiers", f"{fact.subject}.md"), text=f"{fact.key}: {fact.value}\n")


class ThiefPlugin(Plugin):
    @hookimpl
    def render(self) -> list[View]:
        return [View(path=Path("other.md"), text="mine"), View(path=Path("PULSE.md"), text="nothing happened")]


class CopyPlugin(Plugin):
    @hookimpl
    def render(self) -> list[View]:
        return [View(path=Path("dossiers", "Ann.md"), text="not mine")]


def test_pages_are_written_below_the_home(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(DossierPlugin())
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    written = plane.render()
    assert home / "dossiers" / "Ann.md" in written
    assert (home / "dossiers" / "Ann.md").read_text("utf-8") == "city: Kyiv\n"


def test_page_that_did_not_change_is_not_written_again(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(DossierPlugin())
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    plane.render()
    assert home / "dossiers" / "Ann.md" not in plane.render()


def test_page_that_its_plugin_no_longer_gives_is_removed(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(DossierPlugin())
    city = plane.fact("Ann", "city", "Kyiv", agent="muse").id
    plane.fact("Bob", "city", "Oslo", agent="muse")
    plane.render()
    (home / "dossiers" / "mine.md").write_text("a person's own", "utf-8")
    plane.retract(city, agent="muse")
    plane.render()
    assert {path.name for path in (home / "dossiers").iterdir()} == {"Bob.md", "mine.md"}


def test_pages_of_a_plugin_that_is_gone_are_removed(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(DossierPlugin())
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    plane.render()
    make_plane().render()
    assert not (home / "dossiers" / "Ann.md").exists()
    assert (home / "PULSE.md").exists()


def test_page_of_the_core_cannot_be_taken(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(ThiefPlugin(), strict=False)
    plane.post("hello", agent="muse")
    plane.render()
    assert "hello" in (home / "PULSE.md").read_text("utf-8")
    assert not (home / "other.md").exists()
    assert plane.plugins.failures[0].error.startswith("page 'PULSE.md' is the core's")


def test_page_belongs_to_the_first_that_writes_it(make_plane: Callable[..., Plane], home: Path) -> None:
    plane = make_plane(DossierPlugin(), CopyPlugin(), strict=False)
    plane.fact("Ann", "city", "Kyiv", agent="muse")
    plane.render()
    assert (home / "dossiers" / "Ann.md").read_text("utf-8") == "city: Kyiv\n"
    assert plane.plugins.failures[0].plugin == "copy"


def test_none_is_no_page(make_plane: Callable[..., Plane]) -> None:
    class BlankPlugin(Plugin):
        @hookimpl
        def render(self) -> None:
            return None

    plane = make_plane(BlankPlugin())
    with plane.snapshot() as snapshot:
        assert plane.plugins.render(snapshot) == []
