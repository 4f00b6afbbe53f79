"""The stages in order: tokens, sentences, names, elements, claims, items."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo

from memory_plane.spellings import COMPANY
from memory_plane.types import Claim, Extraction, Item, Memory, Mention
from memory_plane_local.agenda import Agenda
from memory_plane_local.belongings import read_belonging
from memory_plane_local.cards import Cards
from memory_plane_local.changes import read_change
from memory_plane_local.choices import read_choice
from memory_plane_local.clauses import Clause, doubt
from memory_plane_local.columns import Columns
from memory_plane_local.commits import read_commit
from memory_plane_local.coreference import Discourse, renamed
from memory_plane_local.dates import due_date
from memory_plane_local.deadlines import read_deadline
from memory_plane_local.deals import read_on
from memory_plane_local.drafts import Draft, Drafts
from memory_plane_local.elements import NAME, NOUN, PRONOUN, ROLE, VERB, elements
from memory_plane_local.foreign import find_told, state
from memory_plane_local.foreign_names import find_foreign
from memory_plane_local.frames import read_frames
from memory_plane_local.guards import HYPOTHETICAL, QUESTION, clause_flags, jest, onward_flags, unconfirmed
from memory_plane_local.hold_ups import read_hold_up
from memory_plane_local.items import read_bond, read_promise
from memory_plane_local.languages import Language, language_of
from memory_plane_local.letters import introduced, read_letter
from memory_plane_local.likely import read_likely
from memory_plane_local.lists import joined
from memory_plane_local.name import Name
from memory_plane_local.name_guesses import guess
from memory_plane_local.names import find_names
from memory_plane_local.particulars import Particulars
from memory_plane_local.relations import Reader
from memory_plane_local.requests import is_chat, read_asked, read_request
from memory_plane_local.sentences import Sentence, logged, sentences
from memory_plane_local.speakers import labelled, of_nobody, quoted
from memory_plane_local.tasks import read_assignments, read_errand, read_task
from memory_plane_local.titles import read_role
from memory_plane_local.tokens import Token, tokenize

_WORK = frozenset({"thought", "decision", "milestone", "commitment", "handoff"})
_FILED, _MET, _PERSON = 0.95, 0.85, ("Person",)
_FIRM = (), ("Organization",)
MAX_NAMES = 400
"""After so many different names a text is read no further."""


def extract(memory: Memory, gazetteer: Collection[str] = frozenset(), zone: tzinfo = UTC) -> Extraction:
    """Find what one memory says; `gazetteer`: names that the graph knows (and types); `zone`: where "today" is."""
    text = _Text(memory, gazetteer, zone)
    for sentence in sentences(memory.text, text.tokens(memory.text)):
        if len(text.names) > MAX_NAMES:  # a list or a dump, and no note: every name costs the store a dozen look-ups
            break
        text.read(sentence)
    text.file_under(memory)
    text.introduce(memory.text)
    text.promise(memory)
    return text.result()


class _Text:
    """All that is known of one text while it is read."""

    def __init__(self, memory: Memory, gazetteer: Collection[str], zone: tzinfo) -> None:
        known: Mapping[str, str] = gazetteer if isinstance(gazetteer, Mapping) else dict.fromkeys(gazetteer, "Concept")
        self.gazetteer = known
        self.written = memory.created_at.astimezone(zone)
        self.items: dict[Item, None] = {}
        self.listed: set[Item] = set()
        self.paired: set[Item] = set()
        self.chat = memory.origin == "external" or is_chat(memory.text)
        self.letter = read_letter(memory)
        self.writer = self.letter.writer
        self.names: dict[str, Name] = {}
        self.firms: dict[str, Name] = {}
        for name in (self.letter.writer, self.letter.reader):
            if name is not None and not name.weak:
                self._once(name)
        self.drafts = Drafts()
        self.discourse = Discourse(self.writer, self.letter.reader)
        self.speaker, self.heard = self.writer, 0
        self.before = 0, 0
        self.reader = Reader(self.discourse, self.drafts, self._once)
        self.agenda, self.cards = Agenda(self.reader), Cards(self.reader)
        self.columns, self.particulars = Columns(self.reader), Particulars(self.reader)

    def tokens(self, text: str) -> Sequence[Token]:
        """Return the tokens of what is said, without the head of a letter."""
        tokens, begin = tokenize(text), self.letter.begin
        return [token for token in tokens if token.start >= begin] if begin else tokens

    def read(self, sentence: Sentence) -> None:
        """Read one sentence: names, elements, then claims and items from left to right."""
        if logged(sentence.tokens):
            return
        if language := language_of(sentence):
            self._foreign(sentence, language)
            return
        names = guess(sentence, find_names(sentence, self.gazetteer))
        found, tokens = joined(elements(sentence, names)), sentence.tokens
        named = {at for name in names if name.options[:1] == _PERSON for at in range(*name.span)}
        flags, onwards = clause_flags(tokens, named), onward_flags(tokens, named)
        if (said := jest(tokens)) == 0:
            self._take_back()
            self.items = dict.fromkeys(list(self.items)[: self.before[1]])
        if (unsure := unconfirmed(tokens)) == 0:
            self._take_back()
        self.before = tokens[0].start, len(self.items)
        clause = Clause(sentence, found, flags, onwards, self.written, doubt(tokens))
        if sentence.question:
            clause.flags |= QUESTION
        if said > 0 or unsure >= 0:
            clause.flags |= HYPOTHETICAL
        if not sentence.fresh:
            clause.before = list(self.discourse.subject)
        for element in clause.elements:
            element.names = self.discourse.stand_in(element) or [self._once(name) for name in element.names]
        for name, other in renamed(clause.elements, tokens):
            self.names[_key(other.text)] = name
        self._listen(clause)
        read_commit(clause)
        if (row := self.columns.read(clause)) is not None:
            for owed in row:
                self._item(owed, listed=True)
            return
        if (added := self.particulars.read(clause)) is not None:
            self._item(added.item, added.instead)
            return
        listed = self.agenda.read(clause)
        task = None if listed else self._task(clause)
        tasked = listed is not None or task is not None
        given = listed.items if listed else [task] if task else list(read_assignments(self.reader, clause))
        for item in given:
            self._item(item, listed=listed is not None)
        self.particulars.heard(clause, next(iter(given), None))
        if task is not None:
            self._others(clause, task)
        self.cards.read(clause)
        for at in range(len(clause.elements)):
            self._element(clause, at, tasked=tasked)
        self.reader.finish(clause)
        read_hold_up(self.reader, clause)
        read_likely(self.reader, clause)
        if clause.elements and listed is None:
            self._item(read_request(clause, sentence.question, self.chat))
        if clause.main:
            self.discourse.subject = tuple(clause.main)

    def _take_back(self) -> None:
        """Take what the sentence before claims for said in jest, or as a rumour."""
        for draft in self.drafts.found.values():
            if draft.start >= self.before[0] and draft.end:
                draft.polarity = "hypothetical"

    def _foreign(self, sentence: Sentence, language: Language) -> None:
        """Read a sentence in another language: its names, what phrases say of them, and tasks in a list."""
        names = find_foreign(sentence, language, self.gazetteer)
        told = find_told(language, sentence, names, self.gazetteer)
        clause = Clause(sentence, [], 0, [], self.written)
        for name in names:
            self._once(name)
        state(self.reader, clause, language, told)
        if not told:
            clause.elements = joined(elements(sentence, names))
            if listed := self.agenda.read(clause):
                for item in listed.items:
                    self._item(item)
        if clause.main:
            self.discourse.subject = tuple(clause.main)

    def _task(self, clause: Clause) -> Item | None:
        """Return what a sentence as a whole says is to be done by its writer."""
        reader = self.reader
        return read_task(reader, clause) or read_deadline(reader, clause) or read_errand(reader, clause)

    def _element(self, clause: Clause, at: int, *, tasked: bool) -> None:
        """Read what one element begins; in a task nothing else is promised."""
        element = clause.elements[at]
        if element.kind == NAME:
            self.discourse.note(element.names)
            within = at > 1 and clause.elements[at - 1].low == "in" and bool(clause.elements[at - 2].names)
            self.discourse.place(element.names, within=within)
        if (element.kind == NAME and not clause.waiting) or (element.kind == NOUN and at == 0):
            clause.main = clause.main or element.names
        read_frames(self.reader, clause, at)
        read_belonging(self.reader, clause, at)
        if element.kind == VERB:
            if not (read_choice(self.reader, clause, at) or read_change(self.reader, clause, at)):
                self.reader.verb(clause, at)
            reader = self.reader
            if not tasked and (item := read_promise(reader, clause, at) or read_asked(reader, clause, at)):
                self._item(item)
                self._others(clause, item)
        elif element.kind in (NAME, PRONOUN) and not tasked:
            self._item(read_bond(self.reader, clause, at))
        elif element.kind == ROLE:
            read_role(self.reader, clause, at)

    def _listen(self, clause: Clause) -> None:
        """Take who says a sentence for its "I": the speaker of a line to its end, somebody quoted for the quotation."""
        first, last = clause.span()
        if "\n" in clause.sentence.text[self.heard : first]:
            self.speaker = self.writer
        self.heard = last
        self.speaker = labelled(clause.elements) or self.speaker
        said = quoted(self.discourse, clause.elements)
        if said is None and self.speaker is self.writer and of_nobody(clause.sentence.tokens):
            said = []
        self.discourse.writer = self.speaker if said is None else next(iter(said), None)

    def file_under(self, memory: Memory) -> None:
        """Take the project that an agent files its own work under as its word that it works on it."""
        if self.writer is None or memory.origin != "agent" or memory.project is None or memory.kind not in _WORK:
            return
        project = self.names.get(memory.project.lower()) or Name(memory.project, 0, 0, ("Project",), 1.0)
        self.drafts.add(Draft(self.writer, "WORKING_ON", project, "positive", 0, 0, _FILED))

    def introduce(self, text: str) -> None:
        """Take "meet Daniel" as an introduction of whoever a letter was sent to, or of the person who notes it."""
        found, reader = introduced(self.letter, text, list(self.names.values())), self.letter.reader or self.writer
        if found is None or reader is None or reader.options != _PERSON or found[0] is self.writer:
            return
        name, start = found
        if any(draft.relation == "INTRODUCED_TO" and draft.object is name for draft in self.drafts.found.values()):
            return
        self.drafts.add(Draft(reader, "INTRODUCED_TO", name, "positive", start, name.end, _MET))

    def promise(self, memory: Memory) -> None:
        """Take the first day that a declared commitment names for when it is due, whatever else is understood of it."""
        if memory.kind != "commitment" or any(item.due_at for item in self.items):
            return
        if due := due_date(self.tokens(memory.text), self.written):
            declared = Item(kind="commitment", owner=None, to=None, object=memory.text)
            first, *rest = self.items or [declared]
            self.items = dict.fromkeys([replace(first, due_at=due), *rest])

    def _others(self, clause: Clause, item: Item) -> None:
        """Take what else the one who is to do something is to do by the same sentence."""
        owner = self.names.get(_key(item.owner or ""), self.discourse.writer)
        if owner is not None and not clause.sentence.question:
            for other in read_on(self.reader, clause, owner, item.start + len(item.object)):
                self._item(other)

    def _item(self, item: Item | None, instead: Item | None = None, *, listed: bool = False) -> None:
        """Keep an item, once where it stands both in the text and in a list or table of it."""
        if instead is not None:
            self.items.pop(instead, None)
        if item is None:
            return
        known = next((one for one in self.items if (one in self.listed) != listed and self._pairs(one, item)), None)
        if known is None:
            self.items[item] = None
            self.listed |= {item} if listed else set()
            return
        self.drafts.withdraw("COMMITTED_TO", item.owner, item.start)
        dated = replace(known, due_at=known.due_at or item.due_at)
        self.items = {dated if one is known else one: None for one in self.items}
        self.paired.add(dated)

    def _pairs(self, item: Item, other: Item) -> bool:
        return item not in self.paired and _is_one(item, other)

    def _once(self, name: Name) -> Name:
        """The same name again is the same thing: its first occurrence stands for all."""
        key = _key(name.text)
        known = self.names.get(key) or self._firm(name, key)
        if known is None:
            self.names[key] = name
            return name
        thing = name.options == ("Project",) and known.options == ("Person",) and not known.used
        if not known.options or (known.soft and name.options) or thing:
            known.options, known.soft = name.options, name.soft
        known.weak = known.weak and name.weak
        known.guess = name.guess if known.guess == "Concept" else known.guess
        return known

    def _firm(self, name: Name, key: str) -> Name | None:
        """The company that was named with its legal form, or without: Volta GmbH, Volta."""
        if name.options not in _FIRM:
            return None
        bare, _, form = key.rpartition(" ")
        if not bare or form not in COMPANY:
            return self.firms.get(key)
        bare = bare.rstrip(" ,")
        known = self.names.get(bare) or self.firms.get(bare)
        self.firms.setdefault(bare, name)
        return known if known is not None and known.options in _FIRM else None

    def result(self) -> Extraction:
        """Freeze what was found: every name that is sure or stands in a claim."""
        kept = [self.writer] if self.writer is not None and self.writer.used else []
        kept += [name for name in self.names.values() if name.used or not name.weak]
        drafts = self.drafts.found.values()
        kept += [name for draft in drafts for name in (draft.subject, draft.object)]
        mentions = {id(name): name for name in kept}
        frozen = {key: _mention(name) for key, name in mentions.items()}
        claims = tuple(
            Claim(
                subject=frozen[id(draft.subject)],
                relation=draft.relation,
                object=frozen[id(draft.object)],
                start=draft.start,
                end=draft.end,
                confidence=draft.confidence,
                polarity=draft.polarity,
                valid_from=draft.times.valid_from,
                valid_until=draft.times.valid_until,
            )
            for draft in drafts
        )
        return Extraction(mentions=tuple(frozen.values()), claims=claims, items=tuple(self.items))


def _is_one(item: Item, other: Item) -> bool:
    """Whether two promises of one text are the same: of one owner, the words of one within those of the other."""
    if item.kind != "commitment" or other.kind != item.kind or item.owner != other.owner:
        return False
    if item.due_at and other.due_at and item.due_at != other.due_at:
        return False
    short, long = sorted((f" {_key(one.object)} " for one in (item, other)), key=len)
    return short in long


def _key(text: str) -> str:
    return text.lower().removeprefix("the ")


def _mention(name: Name) -> Mention:
    return Mention(text=name.text, type=name.type, start=name.start, end=name.end, confidence=round(name.strength, 3))
