"""What a memory says: the questions about its names and relations, and what their answers decide."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from memory_plane.types import Candidate, Claim, Classification, Extraction, Link, Memory, Mention, Resolution
from memory_plane.types import new_node_id as founded_by
from memory_plane.vocabulary.catalogue import NONE, between, relations, types
from memory_plane_jev.subjects import Key, Pair, Subject, pairs, subjects, told
from memory_plane_jev.systemone import OPTIONS, Answers, Choice, Noul, Question

OTHER = "OTHER"
BACK = "_BACK"
_CLOSES = {"PREVIOUSLY_WORKED_AT": "WORKS_AT"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One memory with the questions about it; `accept` and `refuse` are the least probabilities to do so."""

    memory: Memory
    names: Mapping[Key, Subject]
    pairs: Sequence[Pair]
    accept: float
    refuse: float

    @classmethod
    def of(
        cls, memory: Memory, found: Extraction, candidates: Sequence[Candidate], *, accept: float, refuse: float
    ) -> Reading:
        """Choose what to ask about."""
        names = subjects(found, candidates)
        return cls(memory, names, pairs(memory, found, names), accept, refuse)

    # --- questions -------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what the questions are about: the memory, and the known nodes that its names may be."""
        known = {
            node: {"name": one.name, "type": one.type, "what_is_known": list(subject.facts(one.id))}
            for subject in self.names.values()
            for node, one in self._rivals(subject)
        }
        return told(self.memory) | ({"known": known} if known else {})

    def questions(self) -> dict[str, Question]:
        """Return all questions by name: `type 1`, `same 1.2` and `edge 1`."""
        return dict([*self._types(), *self._identities(), *self._edges()])

    def _types(self) -> Iterator[tuple[str, Question]]:
        options = {**types(), OTHER: "none of these, or no name of anything"}
        for number, subject in self._asked():
            yield f"type {number}", Choice(f"What is {_quoted(subject)}, as `text` uses the name?", options)

    def _identities(self) -> Iterator[tuple[str, Question]]:
        for number, subject in self._asked():
            for rival, (node, one) in enumerate(self._rivals(subject), 1):
                yield (
                    f"same {number}.{rival}",
                    Noul(
                        f"Is {_quoted(subject)} in `text` one and the same {one.type} as `known.{node}`?",
                        "both are one and the same",
                        "it is another one, of the same or of a similar name",
                    ),
                )

    def _edges(self) -> Iterator[tuple[str, Question]]:
        for number, pair in enumerate(self.pairs, 1):
            options = _options(pair)
            if len(options) > 1:
                words = (
                    f"Let A be {_quoted(pair.one)} and B {_quoted(pair.other)}: what does `text` itself say of them?"
                )
                yield f"edge {number}", Choice(words, options)

    def _asked(self) -> Iterator[tuple[int, Subject]]:
        for number, subject in enumerate(self.names.values(), 1):
            if subject.is_named and subject.first.type in types():
                yield number, subject

    def _rivals(self, subject: Subject) -> list[tuple[str, Any]]:
        """Return the known nodes that a name may be, each with its name in the state."""
        number = list(self.names).index(subject.key) + 1
        return [(f"n{number}_{rival}", node) for rival, node in enumerate(subject.rivals(self.memory), 1)]

    # --- answers ---------------------------------------------------------------------------------------------------

    def classification(self, answers: Answers) -> Classification | None:
        """Return what the answers decide otherwise, or more exactly, than was decided at once."""
        nodes = {
            key: self._node(number, subject, answers) for number, (key, subject) in enumerate(self.names.items(), 1)
        }
        links = tuple(
            link
            for number, pair in enumerate(self.pairs, 1)
            if (said := answers.get(f"edge {number}"))
            for link in self._links(pair, said, nodes)
        )
        linked = {end for link in links for end in (link.source, link.target)}
        judged = {
            key: self._judged(number, subject, answers) for number, (key, subject) in enumerate(self.names.items(), 1)
        }
        resolutions = tuple(
            one
            for key, subject in self.names.items()
            for one in nodes[key]
            if one.node in linked or judged[key] or self._differs(subject, one)
        )
        doubts = tuple(
            Resolution(mention=nodes[key][0].mention, node=node, probability=probability)
            for key, said in judged.items()
            for probability, node in said
            if 1 - self.refuse < probability < self.accept and node != nodes[key][0].node
        )
        found = Classification(resolutions=resolutions, links=links, doubts=doubts)
        return found if resolutions or links else None

    def _differs(self, subject: Subject, one: Resolution) -> bool:
        return one.mention.type != subject.first.type or one.node != subject.taken(self.memory, subject.first)

    def _node(self, number: int, subject: Subject, answers: Answers) -> list[Resolution]:
        """Return what each mention of a name is: which type, and which node with which probability."""
        kind = self._type(subject, answers.get(f"type {number}"))
        mentions = [replace(mention, type=kind) for mention in subject.mentions]
        node, probability = self._identity(number, subject, mentions[0], answers)
        return [Resolution(mention=mention, node=node, probability=probability) for mention in mentions]

    def _type(self, subject: Subject, said: Mapping[str, float] | None) -> str:
        best = max(said, key=said.__getitem__) if said else OTHER
        return best if said and best != OTHER and said[best] >= self.accept else subject.first.type

    def _identity(self, number: int, subject: Subject, mention: Mention, answers: Answers) -> tuple[str, float]:
        """Join a name to the likeliest known node, part it from one that it surely is not, or leave it as it was."""
        taken = subject.taken(self.memory, mention)
        said = self._judged(number, subject, answers)
        best = sorted(said, reverse=True)[:2]
        if best and best[0][0] >= self.accept and (len(best) == 1 or best[1][0] < self.accept):
            return best[0][1], best[0][0]
        sure = dict((node, probability) for probability, node in said).get(taken)
        if sure is not None and 1 - sure >= self.refuse:
            return founded_by(self.memory.id, mention), 1 - sure
        return taken, 1.0 if sure is None else sure

    def _judged(self, number: int, subject: Subject, answers: Answers) -> list[tuple[float, str]]:
        """Return the known nodes that a name was compared with, each with the probability that they are one."""
        return [
            (answers[name]["true"], node.id)
            for rival, (_, node) in enumerate(self._rivals(subject), 1)
            if (name := f"same {number}.{rival}") in answers
        ]

    def _links(
        self, pair: Pair, said: Mapping[str, float], nodes: Mapping[Key, Sequence[Resolution]]
    ) -> Iterator[Link]:
        """Return the relation that is likely enough, or the refusal of those that were claimed."""
        one, other = nodes[pair.one.key][0].node, nodes[pair.other.key][0].node
        if one == other:
            return
        best = max(said, key=said.__getitem__)
        if said.get(NONE, 0) >= self.refuse:
            for claim, turned in pair.claims:
                for relation in filter(None, (claim.relation, _CLOSES.get(claim.relation))):
                    yield _link(one, relation, other, 0.0, turned=turned)
        elif best != NONE and said[best] >= self.accept:
            turned = best.endswith(BACK)
            relation = best.removesuffix(BACK)
            edge = _link(one, relation, other, said[best], turned=turned)
            claims = (each for each, way in pair.claims if (each.relation, way) == (relation, turned))
            yield self._timed(edge, next(claims, None))

    def _timed(self, edge: Link, claim: Claim | None) -> Link:
        """Keep the times that were read at once: they are not asked about."""
        if claim is None:
            return edge
        ended = claim.valid_until or (self.memory.created_at if claim.polarity == "past" else None)
        return replace(edge, valid_from=claim.valid_from, valid_until=None if claim.relation in _CLOSES else ended)


def _options(pair: Pair) -> dict[str, str]:
    """Return the relations that may hold between two names, in either direction: the claimed, then the likeliest."""
    claimed = [(claim.relation, turned) for claim, turned in pair.claims]
    fitting = sorted(
        (
            (a != source.first.type) + (b != target.first.type),
            turned,
            (relation, turned),
        )
        for turned, (source, target) in enumerate(((pair.one, pair.other), (pair.other, pair.one)))
        for a in source.types
        for b in target.types
        for relation in between(a, b)
    )
    known = relations()
    options = {}
    for relation, turned in islice(dict.fromkeys([*claimed, *(one for *_, one in fitting)]), OPTIONS - 1):
        meaning = known[relation].meaning if relation in known else relation.lower().replace("_", " ")
        options[relation + BACK * turned] = f"{'B → A' if turned else 'A → B'}: {meaning}"
    return options | {NONE: "none of these: it does not say so, denies it, asks it or only imagines it"}


def _link(one: str, relation: str, other: str, probability: float, *, turned: bool) -> Link:
    source, target = (other, one) if turned else (one, other)
    return Link(source=source, relation=relation, target=target, probability=probability)


def _quoted(subject: Subject) -> str:
    return json.dumps(subject.first.text, ensure_ascii=False) if subject.is_named else "the writer"
