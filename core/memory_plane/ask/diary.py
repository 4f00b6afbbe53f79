"""Answers from what was promised, done and changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo

from sqlalchemy import Connection

from memory_plane.ask import wording
from memory_plane.ask.clauses import NO, YES, Told
from memory_plane.ask.decisions import decisions
from memory_plane.ask.questions import Doings, Items
from memory_plane.ask.sentences import bases, spellings
from memory_plane.ask.times import Period
from memory_plane.ask.wording import answer, day, finding, listed, owed, plainly
from memory_plane.recall import doings as store
from memory_plane.recall import passages, state
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane.types import EPOCH, Answer, Fact, Finding, OpenItem, Thought

NOT_YET = "Not yet"
"""How it is said that a promise is open; what somebody says to have done counts before that."""
LINES = 10
"""How many entries an answer of several lines has."""
_SHOWN = 100
"""How many items are read where each fits the question."""
_NOTED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("decision",): ("decision", "recommendation"),
    ("recommendation",): ("recommendation",),
}
"""By which lines notes answer that are of no such kind."""
_NAMED = 100
"""How many of the newest memories that name a thing are looked through."""
_LATELY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
_GIVING = frozenset({"send", "give", "deliver", "bring", "hand", "share", "provide", "submit", "finish", "get", "do"})
_IDLE = frozenset().union(*map(bases, _GIVING)) | frozenset(
    {"the", "a", "an", "to", "by", "of", "for", "me", "my", "our", "him", "her", "them", "us", "it", "i", "we", "s"}
    | {"something", "anything", "yet", "already", "in"}
)


@dataclass(frozen=True, slots=True)
class Diary:
    """One moment of a memory, and the stretch of time that a question speaks of.

    With `known` nothing counts that was told after that time. `fuller` keeps which names were found to go on.
    """

    connection: Connection
    now: datetime
    known: datetime | None
    period: Period | None
    zone: tzinfo | None
    fuller: dict[str, list[str]] = field(default_factory=dict)

    def span(self, otherwise: datetime) -> tuple[datetime, datetime]:
        """Return from when until when what was told is asked for; `otherwise` on where the question does not say."""
        begin, end = self.stretch(otherwise)
        return begin, end if self.known is None else min(end, self.known + _INSTANT)

    def stretch(self, otherwise: datetime) -> tuple[datetime, datetime]:
        """Return from when until when the question asks, whatever was known by then."""
        if self.period is None:
            return otherwise, self.now + _LATELY
        if self.period.kind == "until":
            return EPOCH, self.period.start
        end = max(self.period.end, self.now + _LATELY) if self.period.kind == "since" else self.period.end
        return self.period.start, end


# --- items -------------------------------------------------------------------------------------------------------


def items(diary: Diary, asked: Items, owners: list[str] | None, to: list[str] | None) -> Answer | None:
    """Answer from promises and open items; `owners` and `to` are how the people asked for are called."""
    if asked.want == "thing" and asked.thing and all(bases(word) & _IDLE for word in _words(asked.thing)):
        asked = replace(asked, thing="")  # "what will Ann bring"
    found = _items(diary, asked, owners, to)
    if owners and "me" in owners and "commitment" in asked.kinds and not (found and found.findings):
        found = _promised_for(diary, asked, to) or found
    fuller = {} if found and found.findings else _fuller(diary, [*(owners or ()), *(to or ())])
    if not fuller:
        return found
    people = ([fuller.get(name.casefold(), name) for name in names] if names else names for names in (owners, to))
    found = _items(diary, asked, *people)
    external = found is not None and any(one.origin == "external" for one in found.findings)
    return wording.read_as(found, fuller, "external" if external else "agent") if found else None


def _promised_for(diary: Diary, asked: Items, to: list[str] | None) -> Answer | None:
    """Answer by what agents promised, each named: whoever asks of promises of their own means those made for them too.

    An agent that notes "I promised Ngozi the numbers" may mean itself or its person.
    """
    agents = [agent for agent, _ in state.writers(diary.connection) if agent != "user"]
    found = _items(diary, replace(asked, want="all"), agents, to) if agents else None
    return found if found and found.findings else None


def _fuller(diary: Diary, names: Iterable[str]) -> dict[str, str]:
    """Return whom a first name alone means among the people of items; where several are called so, nobody."""
    for name in {name.casefold() for name in names} - {"me", *diary.fuller}:
        diary.fuller[name] = store.fuller(diary.connection, name)
    people = {name.casefold(): diary.fuller[name.casefold()] for name in names if name != "me"}
    return {name: found[0] for name, found in people.items() if len({one.casefold() for one in found}) == 1}


def _items(diary: Diary, asked: Items, owners: list[str] | None, to: list[str] | None) -> Answer | None:
    wanted: dict[str, list[str]] = {"kind": list(asked.kinds)} if asked.kinds else {}
    if asked.still_open:
        wanted["status"] = ["open"]
    if owners is not None:
        wanted["either" if asked.whose else "owner"] = _spelt(owners)
    if to is not None:
        wanted["addressee"] = _spelt(to)
    limit = store.MOST if asked.thing or (diary.period and not asked.due) else _SHOWN
    among = _rows_about(diary, asked.thing) if asked.thing else None
    rows = store.items(diary.connection, limit, _due(diary, asked), diary.known, among, **wanted)
    found = [item for item in rows if _is_asked(diary, item, asked, owners)]
    text = _worded(diary, found, asked) if found else _none_is(asked)
    return answer(text, (_item_finding(item) for item in found[: wording.SHOWN])) if text else None


def _none_is(asked: Items) -> str:
    """Say that there is no such open item; of what was ever promised and not written down nothing is known."""
    if not asked.still_open or asked.want != "all":
        return ""
    what = f"No {asked.kinds[0]}" if asked.kinds else "Nothing"
    return f"{what} is {asked.due if asked.due == 'overdue' else 'due' if asked.due else 'open'}."


def _spelt(names: list[str]) -> list[str]:
    """Whoever writes is called "me" in what is said, and "user" where the person wrote it down."""
    return [*names, "user"] if "me" in names else names


def _is_asked(diary: Diary, item: OpenItem, asked: Items, owners: list[str] | None) -> bool:
    if asked.still_open and item.snoozed_until is not None and item.snoozed_until > diary.now:
        return False
    if asked.whose == "by" and item.kind == "commitment" and not _is_one(item.owner, owners):
        return False
    if asked.thing and not (_is_about(item.text, asked.thing) and (not asked.act or _begins(item.text, asked.thing))):
        return False
    begin, end = diary.span(EPOCH)
    return bool(asked.due) or begin <= item.created_at < end


def _due(diary: Diary, asked: Items) -> tuple[datetime, datetime] | None:
    """Return from when until when items must be due; None where that is not asked."""
    if asked.due == "overdue":
        return EPOCH, diary.now
    if not asked.due:
        return None
    return (EPOCH, datetime.max.replace(tzinfo=UTC)) if diary.period is None else diary.stretch(EPOCH)


def _is_one(name: str | None, names: list[str] | None) -> bool:
    """Whether an owner, as text, is the one who is asked for; None = anybody."""
    return names is None or (name or "").casefold() in {one.casefold() for one in _spelt(names)}


def _rows_about(diary: Diary, thing: str) -> list[int]:
    """Return the rows of memories that hold all words that say something of a thing."""
    telling = [spellings(word) for word in _words(thing) if not bases(word) & _IDLE]
    return passages.rows(diary.connection, telling, store.MOST)


def _is_about(text: str, thing: str) -> bool:
    """Whether every word that says something of `thing` stands in a text, in whatever form."""
    said = frozenset[str]().union(*map(bases, _words(text)))
    asked = [found for word in _words(thing) if not (found := bases(word)) & _IDLE]
    return bool(asked) and all(found & said for found in asked)


def _begins(text: str, thing: str) -> bool:
    """Whether a text begins with the first or the last word that says something of a thing, in whatever form."""
    asked = [found for word in _words(thing) if not (found := bases(word)) & _IDLE]
    first = bases(next(iter(_words(text)), ""))
    return len(asked) > 1 and bool(first & (asked[0] | asked[-1]))


def _words(text: str) -> list[str]:
    return [word.strip('.,;:!?"()') for word in text.casefold().replace("'", " ").replace("’", " ").split()]


def _worded(diary: Diary, found: Sequence[OpenItem], asked: Items) -> str:
    match asked.want:
        case "owner":
            return listed([plainly(owed(item.owner), 60, item.origin) for item in found])
        case "to":
            return listed([plainly(owed(item.to), 60, item.origin) for item in found if item.to])
        case "due":
            return listed([day(item.due_at, diary.zone) for item in found if item.due_at])
        case "whether":
            return f"Yes: {_things(diary, found)}"
        case "done":
            return _kept(diary, found[0])
        case "late":
            late = [item for item in found if item.due_at is not None and item.due_at < diary.now]
            return f"{'Yes' if late else 'No'}: {_things(diary, late or found)}"
        case "thing":
            return _things(diary, found)
    lines = [_line(diary, item) for item in found[:LINES]]
    return "\n".join(lines) + (f"\nand {len(found) - LINES} more" if len(found) > LINES else "")


def _kept(diary: Diary, item: OpenItem) -> str:
    """Say whether what was promised was done."""
    said = {"open": NOT_YET, "dropped": "No"}.get(item.status, "Yes")
    return f"{said}: {_thing(diary, item)}"


def _things(diary: Diary, found: Sequence[OpenItem]) -> str:
    return listed([_thing(diary, item) for item in found])


def _thing(diary: Diary, item: OpenItem) -> str:
    about = [f"due {day(item.due_at, diary.zone)}"] if item.due_at else []
    about += [item.status] if item.status != "open" else []
    text = plainly(item.text, wording.LINE, item.origin)
    return f"{text} ({', '.join(about)})" if about else text


def _line(diary: Diary, item: OpenItem) -> str:
    who = plainly(owed(item.owner), 60, item.origin) if item.owner else plainly(item.agent, 60, "agent")
    to = f" → {plainly(owed(item.to), 60, item.origin)}" if item.to else ""
    return f"{item.kind}, {who}{to}: {_thing(diary, item)}"


def _item_finding(item: OpenItem) -> Finding:
    text = f"{item.kind}: {plainly(item.text, wording.LINE, item.origin)}"
    return Finding(text=text, at=item.created_at, evidence=(item.id,), origin=item.origin)


# --- doings ------------------------------------------------------------------------------------------------------


def told(found: Sequence[Told], *, ours: bool = False) -> Answer:
    """Answer by what memories say in so many words; what is `ours` with its project, where it is of several."""
    texts = [plainly(one.text, wording.LINE, one.thought.origin) for one in found]
    if ours and len({one.thought.project for one in found}) > 1:
        texts = [
            f"{text} ({one.thought.project})" if one.thought.project else text
            for text, one in zip(texts, found, strict=True)
        ]
    whether = [one.text for one in found if one.text in (YES, NO)]
    return answer(listed(whether[:1] or texts), (_thought_finding(one.thought) for one in found))


def doings(diary: Diary, asked: Doings, subject: list[int] | None, about: list[int] | None) -> Answer | None:
    """Answer what somebody did, said or decided, by what was noted of it."""
    begin, end = diary.span(EPOCH)
    agents = _agents(diary, asked)
    if asked.focus:
        return _focused(diary, _focuses(diary, agents)) if diary.period is None else None
    if asked.words:
        found = _holding(diary, asked)
    elif subject is not None and not agents:
        found = _naming(diary, subject)
    elif about is not None:
        found = _naming(diary, about)
    else:
        found = store.said(diary.connection, begin, end, LINES, agents=agents, kinds=asked.kinds)
    naming = {one.id for one in _naming(diary, about)} if about is not None and subject is not None else None
    found = [
        one
        for one in found
        if begin <= one.created_at < end
        and (not asked.kinds or one.kind in asked.kinds)
        and (not agents or one.agent in agents)
        and (naming is None or one.id in naming)
    ]
    if not found and asked.kinds in _NOTED and (asked.subject is None or agents or _is_writer(asked)):
        if asked.subject is not None and not agents:
            return doings(diary, replace(asked, subject=None), None, about)  # what agents noted, each named
        found = [one for one in _noted(diary, asked, agents) if begin <= one.created_at < end]
    elif found and asked.kinds == ("decision",) and asked == Doings(None, asked.kinds):  # minutes tell some besides
        noted = (one for one in _noted(diary, asked, agents) if begin <= one.created_at < end)
        found += [one for one in noted if one.id not in {other.id for other in found}]
        found.sort(key=lambda one: one.created_at, reverse=True)
    lines = [_thought_line(diary, thought) for thought in found[:LINES]]
    return answer("\n".join(lines), map(_thought_finding, found[:LINES])) if lines else None


def _is_writer(asked: Doings) -> bool:
    return getattr(asked.subject, "text", "") == "me"


def _noted(diary: Diary, asked: Doings, agents: set[str]) -> list[Thought]:
    """Return what notes of any kind say to have been decided, or else what they recommend."""
    about = [spellings(word) for word in _words(asked.words) if word not in STOP_WORDS]
    if (asked.words and not about) or asked.about is not None:
        return []
    tries = (decisions(diary.connection, label, about, agents, diary.known) for label in _NOTED[asked.kinds])
    return next(filter(None, tries), [])


def _holding(diary: Diary, asked: Doings) -> list[Thought]:
    """Return what holds all words of the question that say something."""
    words = [spellings(word) for word in _words(asked.words) if word not in STOP_WORDS]
    kind = asked.kinds[0] if len(asked.kinds) == 1 else None
    return [one for _, one in passages.said(diary.connection, words, LINES, kind=kind, known=diary.known)]


def workers(diary: Diary, found: Answer | None, names: Sequence[str]) -> Answer | None:
    """Add to whom the graph has at work on a thing of these names the agents whose focus names it, or who owes it."""
    at_it = [one for one in _focuses(diary, None) if any(_is_about(one.focus, name) for name in names)]
    texts, findings = [one.agent for one in at_it], [_focus_finding(one) for one in at_it]
    if found is None and not at_it:
        among = {row for name in names for row in _rows_about(diary, name)}
        owed_ = [
            item
            for item in store.items(diary.connection, store.MOST, None, diary.known, among, status=["open"])
            if item.owner and any(_is_about(item.text, name) for name in names)
        ]
        texts = [plainly(owed(item.owner), 60, item.origin) for item in owed_]
        findings = [_item_finding(item) for item in owed_]
    if found is not None:
        texts, findings = [found.text, *texts], [*found.findings, *findings]
    return answer(listed(texts), findings) if texts else None


def _agents(diary: Diary, asked: Doings) -> set[str]:
    """Return the agents that the subject names."""
    term = asked.subject
    names = {node.name.casefold() for node in getattr(term, "nodes", ())} | {getattr(term, "text", "").casefold()}
    return {agent for agent, _ in state.writers(diary.connection) if agent.casefold() in names}


def _naming(diary: Diary, nodes: Sequence[int]) -> list[Thought]:
    return store.named_in(diary.connection, nodes, _NAMED, diary.known)


def _focuses(diary: Diary, agents: set[str] | None) -> list[store.Focus]:
    """Return what agents are at; of one that has told it anew since, nothing is known of the time before."""
    return [
        beat
        for beat in store.focuses(diary.connection)
        if (agents is None or beat.agent in agents) and (diary.known is None or beat.at <= diary.known)
    ]


def _focused(diary: Diary, found: Sequence[store.Focus]) -> Answer | None:
    findings = list(map(_focus_finding, found))
    lines = [f"{day(one.at, diary.zone)} {one.text}" for one in findings]
    return answer("\n".join(lines), findings) if findings else None


def _focus_finding(beat: store.Focus) -> Finding:
    text = f"{beat.agent}, focus: {plainly(beat.focus, wording.LINE, 'agent')}"
    return Finding(text=text, at=beat.at, evidence=(beat.id,), origin="agent")


def _thought_line(diary: Diary, thought: Thought) -> str:
    text = plainly(thought.text, wording.LINE, thought.origin)
    return f"{day(thought.created_at, diary.zone)} {plainly(thought.agent, 60, 'agent')}, {thought.kind}: {text}"


def _thought_finding(thought: Thought) -> Finding:
    text = f"{thought.kind}: {plainly(thought.text, wording.LINE, thought.origin)}"
    return Finding(text=text, at=thought.created_at, evidence=(thought.id,), origin=thought.origin)


# --- changes -----------------------------------------------------------------------------------------------------


def changes(diary: Diary, about: list[int] | None, names: list[str] | None) -> Answer | None:
    """Answer what has changed, within a day where the question does not say since when."""
    begin, end = diary.span(diary.now - _LATELY if about is None else EPOCH)
    found = [finding(edge) for edge in store.new_edges(diary.connection, begin, end, LINES * 2, about, diary.known)]
    if names is None:
        facts = store.new_facts(diary.connection, begin, end, LINES)
    else:
        held = {fact.id: fact for name in names for fact in _history(diary, name)}
        facts = [fact for fact in held.values() if begin <= fact.created_at < end]
    found += [
        Finding(
            text=f"{plainly(fact.subject, 60, fact.origin)} {plainly(fact.key, 60, fact.origin)}: "
            f"{plainly(fact.value, wording.LINE, fact.origin)}",
            at=fact.created_at,
            evidence=(fact.id,),
            origin=fact.origin,
        )
        for fact in facts
    ]
    found += map(_thought_finding, _telling(diary, begin, end, about))
    found = sorted(found, key=lambda one: (one.at, one.text), reverse=True)[: 2 * LINES]
    lines = [f"{day(one.until or one.at, diary.zone)} {one.text}{' (no more)' if one.until else ''}" for one in found]
    return answer("\n".join(lines), found) if lines else None


def _history(diary: Diary, subject: str) -> Iterable[Fact]:
    """Every value of a subject, without a word of what came later than what is known."""
    found = state.facts(diary.connection, subject=subject, history=True)
    return found if diary.known is None else (fact for fact in found if fact.created_at <= diary.known)


def _telling(diary: Diary, begin: datetime, end: datetime, about: list[int] | None) -> Iterable[Thought]:
    """The decisions and milestones of a stretch of time."""
    telling = ("decision", "milestone")
    if about is None:
        return store.said(diary.connection, begin, end, LINES, kinds=telling)
    return [one for one in _naming(diary, about) if begin <= one.created_at < end and one.kind in telling][:LINES]
