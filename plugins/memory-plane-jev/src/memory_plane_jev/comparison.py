"""Where Jev and what was found at once say the same of a memory, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memory_plane.inquiry import Inquiry
from memory_plane.vocabulary.catalogue import NONE
from memory_plane_jev.reading import BACK, Reading
from memory_plane_jev.subjects import Pair
from memory_plane_jev.systemone import Answers, expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One question that both have answered; probabilities are 0 to 1, None where none was given."""

    memory: str
    asked: str
    about: str
    local: str
    local_sure: float | None
    jev: str
    jev_sure: float
    same: bool


def compared(inquiry: Inquiry, reading: Reading, answers: Answers) -> Iterator[Comparison]:
    """Yield what both say of the types, identities and relations of one memory."""
    id = inquiry.memory.id
    for number, subject in enumerate(reading.names.values(), 1):
        name = subject.first.text
        if said := answers.get(f"type {number}"):
            best, local = _best(said), subject.first
            yield Comparison(
                memory=id, asked="type", about=name, local=local.type, local_sure=local.confidence,
                jev=best, jev_sure=said[best], same=best == local.type,
            )  # fmt: skip
        taken = subject.taken(reading.memory, subject.first)
        for rival, node in enumerate(subject.rivals(reading.memory), 1):
            if said := answers.get(f"same {number}.{rival}"):
                same, yes = taken == node.id, said["true"] >= said["false"]
                yield Comparison(
                    memory=id, asked="identity", about=f"{name} = {_known(node.name, subject.facts(node.id))}",
                    local="yes" if same else "no", local_sure=None,
                    jev="yes" if yes else "no", jev_sure=max(said.values()), same=same == yes,
                )  # fmt: skip
    for number, pair in enumerate(reading.pairs, 1):
        if said := answers.get(f"edge {number}"):
            yield _relation(id, pair, said)


def heard(inquiry: Inquiry, answers: Answers, threshold: float) -> Iterator[Comparison]:
    """Yield what both say of each agent's attention; they agree where both are above the threshold or both below."""
    routings = [one.routing for one in inquiry.said if one.rank == 0 and one.routing is not None]
    local = {one.agent: one.score for routing in routings for one in routing.attention}
    for agent, said in answers.items():
        ours, theirs = local.get(agent, 0.0), expected(said)
        yield Comparison(
            memory=inquiry.memory.id, asked="attention", about=agent, local=_words(ours, threshold), local_sure=ours,
            jev=_words(theirs, threshold), jev_sure=theirs, same=(ours >= threshold) == (theirs >= threshold),
        )  # fmt: skip


def _relation(id: str, pair: Pair, said: Mapping[str, float]) -> Comparison:
    claimed = {claim.relation + BACK * turned: claim.confidence for claim, turned in pair.claims}
    best = _best(said)
    first = max(claimed, key=claimed.__getitem__, default=NONE)
    return Comparison(
        memory=id, asked="relation", about=f"{pair.one.first.text} · {pair.other.first.text}",
        local=_arrow(first), local_sure=claimed.get(first), jev=_arrow(best), jev_sure=said[best],
        same=best in claimed or (best == NONE and not claimed),
    )  # fmt: skip


def _best(said: Mapping[str, float]) -> str:
    return max(said, key=said.__getitem__)


def _arrow(label: str) -> str:
    return "none" if label == NONE else f"← {label.removesuffix(BACK)}" if label.endswith(BACK) else f"{label} →"


def _known(name: str, facts: tuple[str, ...]) -> str:
    return f"{name} ({facts[0]})" if facts else name


def _words(score: float, threshold: float) -> str:
    return "told" if score >= threshold else "not told"
