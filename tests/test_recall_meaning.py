"""What means the same is found without a shared word, within bounds, and models are never mixed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from memory_plane import Plane, Plugin, embedding, hookimpl
from memory_plane.plugins import PluginManager
from memory_plane.recall import meaning, search
from memory_plane.settings import Settings
from memory_plane.store import vectors
from memory_plane.types import Vectors

SIZE = 64
SAME = {"physician": "doctor", "automobile": "car", "vehicle": "car"}


class MeaningPlugin(Plugin):
    """Each word is a direction of its own, and words that mean the same share one."""

    model = "words-1"

    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors:
        return Vectors(model=self.model, rows=tuple(map(self.row, texts)))

    def row(self, text: str) -> tuple[float, ...]:
        row = [0.0] * SIZE
        for word in text.lower().split():
            numbers = random.Random(SAME.get(word, word) + self.model)
            row = [value + numbers.gauss(0, 1) for value in row]
        length = sum(value * value for value in row) ** 0.5 or 1.0
        return tuple(value / length for value in row)


class OtherPlugin(MeaningPlugin):
    model = "words-2"


def plane_of(home: Path, *plugins: Plugin) -> Plane:
    manager = PluginManager(strict=True)
    for plugin in plugins:
        manager.register(plugin)
    return Plane(Settings(home=home, synchronous="normal"), plugins=manager)


@pytest.fixture
def meant(home: Path) -> Iterator[Plane]:
    with plane_of(home, MeaningPlugin()) as plane:
        yield plane


def found(plane: Plane, query: str, **more: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query, limit=50, **more).hits]  # type: ignore[arg-type]


def test_what_means_the_same_is_found_without_a_shared_word(meant: Plane) -> None:
    meant.post("physician", agent="muse")
    meant.post("garden", agent="muse")
    assert found(meant, "doctor") == ["physician"]


def test_what_is_not_like_the_question_is_no_hit(meant: Plane) -> None:
    meant.post("garden", agent="muse")
    assert found(meant, "doctor") == []


def test_what_means_the_same_is_looked_for_in_what_a_filter_lets_through(
    meant: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "BY_MEANING", 1)
    meant.post("physician garden", agent="grok")
    for _ in range(3):
        meant.post("physician", agent="muse")
    assert found(meant, "doctor", agent="grok") == ["physician garden"]


def test_question_that_nothing_fits_finds_nothing(meant: Plane) -> None:
    meant.post("old garden gate wood carpenter", agent="muse")
    assert found(meant, "old king france paris castle river") == []
    assert len(found(meant, "old gate")) == 1


def test_floor_does_not_judge_what_was_not_read(meant: Plane) -> None:
    meant.post("filler words " * 8000 + "the last is quokka", agent="muse", project="zoo")
    assert len(found(meant, "quokka")) == 1
    assert len(found(meant, "which unheard animals are in the zoo")) == 1


def test_what_is_near_in_meaning_alone_is_left_out_far_behind_the_best(meant: Plane) -> None:
    meant.post("physician", agent="muse", project="a")
    meant.post("car tea kettle physician", agent="muse", project="b")
    assert found(meant, "car tea kettle") == ["car tea kettle physician"]
    assert found(meant, "doctor") == ["physician", "car tea kettle physician"]


@pytest.mark.parametrize("change", ["retract", "forget"])
def test_what_was_taken_back_is_not_found_by_its_meaning(meant: Plane, change: str) -> None:
    receipt = meant.post("physician", agent="muse")
    getattr(meant, change)(receipt.id, agent="muse")
    assert found(meant, "doctor") == []


def test_forgetting_takes_the_vector(meant: Plane) -> None:
    meant.forget(meant.post("physician", agent="muse").id, agent="muse")
    with meant.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM vectors").scalar() == 0


def test_filters_hold_for_what_is_found_by_its_meaning(meant: Plane) -> None:
    meant.post("physician", agent="muse")
    assert found(meant, "doctor", agent="grok") == []
    assert found(meant, "doctor", agent="muse") == ["physician"]


def test_superseded_fact_is_not_found_by_its_meaning(meant: Plane) -> None:
    meant.fact("Ann", "drives", "automobile", agent="muse")
    meant.fact("Ann", "drives", "bicycle", agent="muse")
    assert not any("automobile" in text for text in found(meant, "car"))


def test_what_is_hidden_is_not_found_by_reading_the_newest(make_plane: Callable[..., Plane]) -> None:
    plane = make_plane("local")
    plane.fact("Ann", "city", "Oslo", agent="muse")
    plane.retract(plane.fact("Ann", "city", "Paris", agent="muse").id, agent="muse")
    plane.retract(plane.post("Paris", agent="muse").id, agent="muse")
    plane.fact("Bob", "city", "Paris", agent="mail", origin="external", held=True)
    plane.fact("Eve", "city", "Paris", agent="muse")
    plane.fact("Eve", "city", "Berlin", agent="muse")
    assert found(plane, "Paris")
    assert not any("Paris" in text for text in found(plane, "Paris"))


def test_rows_of_another_model_are_not_compared(home: Path) -> None:
    with plane_of(home, OtherPlugin()) as plane:
        plane.post("physician", agent="muse")
    with plane_of(home, MeaningPlugin()) as plane:
        assert found(plane, "doctor") == []
        plane.rebuild()
        assert found(plane, "doctor") == ["physician"]


class SlowPlugin(OtherPlugin):
    """A deferred model; it notes what it was asked."""

    deferred = True

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed(texts)


def test_deferred_model_is_asked_in_the_rounds_and_for_what_is_searched_for(home: Path) -> None:
    slow = SlowPlugin()
    with plane_of(home, slow, MeaningPlugin()) as plane:
        plane.post("physician", agent="muse")
        assert slow.asked == []
        assert found(plane, "doctor") == []  # the vector of the write is the other model's
        assert slow.asked == ["doctor"]
        plane.work_queue()
        assert "physician" in slow.asked
        assert found(plane, "doctor") == ["physician"]
        with plane.database.reading() as connection:
            models = connection.exec_driver_sql("SELECT model FROM vectors").scalars().all()
        assert models == ["words-2"]
        slow.asked.clear()
        plane.work_queue()
        assert "physician" not in slow.asked


def test_deferred_model_never_sees_what_is_held_back_or_was_taken_back(home: Path) -> None:
    slow = SlowPlugin()
    with plane_of(home, slow, MeaningPlugin()) as plane:
        held = plane.post("physician", agent="muse", held=True)
        gone = plane.post("surgeon", agent="muse")
        plane.retract(gone.id, agent="muse")
        plane.post("nurse", agent="muse")
        plane.work_queue()
        assert "nurse" in slow.asked
        assert not {"physician", "surgeon"} & set(slow.asked)
        plane.release(held.id, agent="muse")
        plane.work_queue()
        assert "physician" in slow.asked
        assert "surgeon" not in slow.asked
        assert found(plane, "doctor") == ["physician"]


class TiredPlugin(SlowPlugin):
    """Fails at every batch of memories until it has rested."""

    rested = False

    @hookimpl
    def embed(self, texts: Sequence[str]) -> Vectors:
        if "physician" in texts and not self.rested:
            raise TimeoutError("no answer")
        return super().embed(texts)


def test_what_a_failing_model_left_is_embedded_in_the_next_round(home: Path) -> None:
    tired = TiredPlugin()
    manager = PluginManager()
    manager.register(tired)
    with Plane(Settings(home=home, synchronous="normal"), plugins=manager) as plane:
        plane.post("physician", agent="muse")
        plane.work_queue()
        assert found(plane, "doctor") == []
        tired.rested = True
        plane.work_queue()
        assert found(plane, "doctor") == ["physician"]


def test_slow_model_does_not_hold_up_the_round(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "SECONDS", 0.0)
    monkeypatch.setattr(embedding, "BATCH", 2)
    with plane_of(home, SlowPlugin()) as plane:
        for number in range(5):
            plane.post(f"physician {number}", agent="muse")
        counts = []
        for _ in range(4):
            plane.work_queue()
            with plane.database.reading() as connection:
                counts.append(connection.exec_driver_sql("SELECT count(*) FROM vectors").scalar())
    assert counts == [2, 4, 5, 5]


def test_write_that_ends_after_the_round_leaves_the_vector_of_the_deferred_model(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with plane_of(home, SlowPlugin(), MeaningPlugin()) as plane:
        embedder = plane._pipeline.embedder
        keep = embedder.keep

        def late(connection: Connection, seq: int, meant: Vectors | None) -> None:
            vectors.put(connection, seq, "words-2", SlowPlugin().embed(["physician"]).rows[0])  # as a round would
            keep(connection, seq, meant)

        monkeypatch.setattr(embedder, "keep", late)
        plane.post("physician", agent="muse")
        assert found(plane, "doctor") == ["physician"]


def test_memories_without_a_vector_get_theirs_in_the_rounds(home: Path, make_plain: Callable[[], Plane]) -> None:
    with make_plain() as plane:
        plane.post("physician", agent="muse")
    with plane_of(home, MeaningPlugin()) as plane:
        plane.work_queue()
        assert found(plane, "doctor") == ["physician"]


@pytest.fixture
def make_plain(home: Path) -> Callable[[], Plane]:
    return lambda: Plane(Settings(home=home, synchronous="normal"), plugins=PluginManager(strict=True))


def test_what_another_machine_told_has_its_vector(home: Path, tmp_path: Path) -> None:
    with plane_of(tmp_path / "there", MeaningPlugin()) as there:
        there.post("physician", agent="muse")
        told = there.changes()
    with plane_of(home, MeaningPlugin()) as here:
        here.merge(told.operations, told.derivations, peer=there.store_id)
        assert found(here, "doctor") == ["physician"]


def test_explanation_names_each_reason(meant: Plane) -> None:
    meant.post("the physician likes tea", agent="muse")
    hit = meant.recall("doctor tea", explain=True).hits[0]
    assert hit.why is not None
    assert hit.why["words"] == 1
    assert hit.why["meaning"] > 0
    assert meant.recall("tea").hits[0].why is None


def test_few_cells_are_opened_however_many_memories_there_are(meant: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "LOOKED_AT", 60)
    monkeypatch.setattr(meaning, "IN_CELL", 8)
    numbers = random.Random(1)
    rows = {seq: [numbers.gauss(0, 1 / (1 + place)) for place in range(SIZE)] for seq in range(1, 600)}
    with meant.database.writing() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        for seq, row in rows.items():
            connection.exec_driver_sql(
                "INSERT INTO vectors VALUES (?, 'm', ?, ?)", (seq, vectors.signs(row), vectors.packed(row))
            )
        found_itself = sum(seq in meaning.nearest(connection, "m", row, 5) for seq, row in rows.items())
    assert found_itself == len(rows)


def test_sign_that_the_question_is_sure_of_counts_more(meant: Plane) -> None:
    asked = [4.0, 3.0, 2.0, 1.0, 0.5, 0.4, 0.3, 0.2]
    rows = {seq: [-value if place == turned else value for place, value in enumerate(asked)] for seq, turned in (
        (3, 0), (2, 3), (1, 7),
    )}  # fmt: skip
    with meant.database.writing() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        for seq, row in rows.items():
            values = (seq, vectors.signs(row), vectors.packed(row))
            connection.exec_driver_sql("INSERT INTO vectors VALUES (?, 'm', ?, ?)", values)
        assert meaning.nearest(connection, "m", asked, 3) == [1, 2, 3]


def test_cells_next_to_the_own_are_those_of_the_least_certain_signs() -> None:
    assert list(meaning._near(0b101, [3.0, 1.0, 2.0])) == [0b101, 0b111, 0b100, 0b110, 0b001, 0b011, 0b000, 0b010]
