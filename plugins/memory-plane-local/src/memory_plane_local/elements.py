"""Sentence to elements: names and noun phrases, verbs with their helpers, job titles, pronouns, words and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_plane.spellings import COMPANY
from memory_plane_local.guards import helpers
from memory_plane_local.lexicon import common_nouns, is_common, nouns, roles, titles
from memory_plane_local.name import THING, Name
from memory_plane_local.sentences import Sentence, is_last_initial
from memory_plane_local.tables import cues, words
from memory_plane_local.verbs import BASE, THIRD, forms

NAME, NOUN, VERB, ROLE, PRONOUN, WORD, MARK = "name", "noun", "verb", "role", "pronoun", "word", "mark"
_PRONOUNS = {
    **{low: low for low in ("he", "she", "they", "it", "me", "us")},
    **{"him": "he", "them": "they", "i": "me", "we": "us", "myself": "me"},
    **dict.fromkeys(("él", "он", "他", "彼", "그는"), "he"),
    **dict.fromkeys(("ella", "elle", "она", "她", "彼女", "그녀는"), "she"),
}
_OWNERS = {"his": "he", "her": "she", "their": "they", "its": "it", "my": "me", "our": "us"}
_LONGEST = 5
_MODIFIERS = 2
"""How many ordinary words may tell more of a title."""


@dataclass(slots=True, eq=False)
class Element:
    """A piece of a sentence. `names` of a NAME or NOUN are joined by "and"; `flags` are a verb's polarity bits.

    `inside` are the names within a NOUN: the GitHub Actions of "a GitHub Actions workflow".
    """

    kind: str
    low: str
    begin: int
    end: int
    names: list[Name] = field(default_factory=list)
    flags: int = 0
    form: str = ""
    passive: bool = False
    bare: bool = False
    title: str = ""
    owner: str = ""
    determined: bool = False
    definite: bool = False
    opening: str = ""
    first: str = ""
    inside: list[Name] = field(default_factory=list)


def elements(sentence: Sentence, names: Sequence[Name]) -> list[Element]:
    """Chunk a sentence; articles and adverbs that change nothing are left out."""
    builder = _Builder(sentence, names)
    builder.run()
    return builder.found


class _Builder:
    """One pass over the tokens of a sentence."""

    def __init__(self, sentence: Sentence, names: Sequence[Name]) -> None:
        self.sentence = sentence
        self.tokens = sentence.tokens
        self.names = {name.span[0]: name for name in names}
        self.found: list[Element] = []
        self.owner = ""
        self.determined = False
        self.definite = False

    def run(self) -> None:
        """Go through the tokens once; each is part of exactly one element or of none."""
        at = 0
        while at < len(self.tokens):
            if self._abbreviates(at):
                at += 1
                continue
            if self.tokens[at].shape == "mark" and at not in self.names:
                at = self._add(Element(MARK, self.tokens[at].low, at, at + 1))
                continue
            if self.tokens[at].low in words("titles.txt") and at not in self.names:
                at += 1 + (at + 1 < len(self.tokens) and self.tokens[at + 1].low == ".")
                continue
            at = self._role(at) or self._noun(at) or self._name(at) or self._verb(at) or self._word(at)

    def _abbreviates(self, at: int) -> bool:
        """Whether a full stop at `at` belongs to the name before it: "Acme Inc. uses", "Bruno K. works"."""
        stop = at > 0 and self.tokens[at].low == "."
        return stop and (self.tokens[at - 1].low in COMPANY or is_last_initial(self.tokens, at - 1))

    def _add(self, element: Element) -> int:
        element.owner, element.determined = self.owner, self.determined
        element.definite = self.definite or self.owner != ""
        self.owner, self.determined, self.definite = "", False, False
        self.found.append(element)
        return element.end

    def _name(self, at: int) -> int:
        name = self.names.get(at)
        if name is None:
            return 0
        element, noun = Element(NAME, name.text, at, name.span[1], [name]), self._apposed(at, name)
        if noun is None:
            return self._add(element)
        self.found.pop()
        self.owner, self.determined, element.title = noun.owner, noun.determined, self.tokens[at - 1].low
        return self._add(element)

    def _apposed(self, at: int, name: Name) -> Element | None:
        """The noun right before a name that tells what it is: "the chess app Rook", "our cat Miso"."""
        noun = self.found[-1] if self.found else None
        if noun is None or noun.end != at or noun.kind not in (NOUN, PRONOUN) or self.determined or self.owner:
            return None
        low = self.tokens[at - 1].low
        kind = nouns("told").get(low) or (common_nouns().get(low) if low in cues("calls_before") else None)
        if kind in (None, "Person") or (name.options and name.options != (kind,) and kind != "Concept"):
            return None
        name.options, name.weak = (kind,), False
        return noun

    def _noun(self, at: int) -> int:
        """A phrase of ordinary words, names in it included, that ends in a noun: controllable AI models."""
        end, last = at, -1
        while end < len(self.tokens) and end - at < _LONGEST and (width := self._content(end, at)):
            if end > at and end in self.names and self.tokens[end - 1].low in nouns("told"):
                break
            end += width
            if self.tokens[end - 1].shape == "low" and (
                self.tokens[end - 1].low in common_nouns() or self._abbreviated(at, end)
            ):
                last = end
        if last < 0 and not (self._wants_noun() and end > at and at not in self.names):
            return 0
        end = last if last > 0 else end
        if self._is_name(at, end) or (end == at + 1 and _stands_for(self.tokens[at].low) and self._after_article()):
            return 0
        if called := self._called(at, end):
            return self._add(Element(NAME, called.text, at, end, [called]))
        if last < 0 and (name := self._behind(at, end)):
            return self._add(Element(NAME, name.text, at, end, [name]))
        inside = [self.names[begin] for begin in range(at, end) if begin in self.names] if end > at + 1 else []
        return self._add(Element(NOUN, self.tokens[end - 1].low, at, end, [self._phrase(at, end)], inside=inside))

    def _called(self, at: int, end: int) -> Name | None:
        """The name in "the Falcon project" and "the Orion team", which are Falcon and Orion."""
        name, noun = self.names.get(at), self.tokens[end - 1].low
        if name is None or name.span[1] != end - 1 or noun not in cues("calls_before") or _is_field(name.text):
            return None
        kind = common_nouns()[noun]
        if name.options[:1] not in ((), (kind,)):
            return None
        name.options, name.weak = (kind,), False
        return name

    def _abbreviated(self, at: int, end: int) -> bool:
        """Whether an abbreviation tells what kind of job or table is spoken of: "the ETL job"."""
        name = self.names.get(at)
        told = name is not None and name.span[1] == end - 1 and name.text.isupper() and not name.options
        return told and self.tokens[end - 1].low in cues("abbreviated")

    def _behind(self, at: int, end: int) -> Name | None:
        """The name that ordinary words tell more of: "a running Redis"."""
        return next((self.names[begin] for begin in range(at + 1, end) if self._ends(begin, end)), None)

    def _ends(self, begin: int, end: int) -> bool:
        name = self.names.get(begin)
        return name is not None and name.span[1] == end and not name.weak

    def _is_name(self, at: int, end: int) -> bool:
        name = self.names.get(at)
        return name is not None and (name.span[1] >= end or (name.options[:1] == ("Person",)))

    def _wants_noun(self) -> bool:
        """Whether something stands before that makes a noun phrase of any ordinary words."""
        return self.determined or (bool(self.found) and self.found[-1].kind == VERB)

    def _content(self, at: int, begin: int) -> int:
        """How many tokens at `at` can be inside a noun phrase."""
        name = self.names.get(at)
        if name is not None:
            return 0 if name.options[:1] in (("Person",), ("Place",), ("Language",), ("Agent",)) else name.span[1] - at
        token = self.tokens[at]
        if token.low in cues("coming") and at + 1 < len(self.tokens) and self.tokens[at + 1].low in cues("dated"):
            return 0
        if token.low in words("calendar.txt") and not token.low[-1].isdigit():
            return 1 if at == begin and self._after_article() and self._noun_use(at + 1) else 0
        if token.shape in ("mark", "link") or token.low in words("function.txt") or token.low in words("adverbs.txt"):
            return 0
        if token.low in titles() and not (
            at + 1 < len(self.tokens) and common_nouns().get(self.tokens[at + 1].low) == "Team"
        ):
            return 0
        if token.low in forms() and (at > begin or not self._after_article()):
            return 1 if at > begin and self._noun_use(at) else 0
        return 1

    def _noun_use(self, at: int) -> bool:
        """Whether a verb form inside a noun phrase is a noun (FPGA demo order, auth build) and no verb."""
        if at >= len(self.tokens) or self.tokens[at].low not in common_nouns():
            return False
        after = self.tokens[at + 1].low if at + 1 < len(self.tokens) else ""
        if after == "to" and at + 2 < len(self.tokens) and self.tokens[at + 2].shape == "num":
            return True
        return at + 1 not in self.names and after not in (
            "a",
            "an",
            "the",
            "his",
            "her",
            "their",
            "our",
            "my",
            "its",
            "to",
        )

    def _after_article(self) -> bool:
        return self.determined or self.owner != ""

    def _phrase(self, at: int, end: int) -> Name:
        kind = "Project" if self._abbreviated(at, end) else common_nouns().get(self.tokens[end - 1].low)
        start, stop = self.tokens[at].start, self.tokens[end - 1].end
        named = any(begin in self.names for begin in range(at, end))
        strength = 0.85 if kind else 0.65
        weak = not (named and kind in ("Team", "Project", "Tool"))
        name = Name(self.sentence.text[start:stop], start, stop, (kind or THING,), strength, weak, span=(at, end))
        low, last = self.tokens[at].low, self.found[-1] if self.found else None
        told = self.determined or (last is not None and last.end == at and last.determined)  # "the Rust service"
        kinds = cues("calls_before") | cues("meeting_group")
        name.nameless = end == at + 1 and told and not self.owner and low in kinds
        return name

    def _role(self, at: int) -> int:
        reach = _MODIFIERS if self._introduced() else 0
        for begin in range(at, min(at + reach + 1, len(self.tokens))):
            if begin > at and not self._modifies(begin - 1):
                return 0
            for role in roles().get(self._singular(begin), ()):
                end = begin + 1 + len(role.rest)
                if tuple(token.low for token in self.tokens[begin + 1 : end]) != role.rest or (
                    not role.rest and self._no_title(begin)
                ):
                    continue
                end, field_name = self._field(end, role.label)
                label = role.label + field_name
                title = self.sentence.text[self.tokens[at].start : self.tokens[end - 1].end]
                form = "lead" if role.leads else "staff"
                return self._add(Element(ROLE, label, at, end, form=form, title=title))
        return 0

    def _introduced(self) -> bool:
        """Whether something stands before that a title may follow in several words."""
        return self._after_article() or (bool(self.found) and self.found[-1].low in cues("introducing"))

    def _modifies(self, at: int) -> bool:
        """Whether an ordinary word can tell more of a title: "the country director"."""
        token = self.tokens[at]
        return (
            at not in self.names
            and token.shape == "low"
            and token.text.isalpha()
            and not any(token.low in words(name) for name in ("function.txt", "adverbs.txt"))
            and not any(token.low in cues(use) for use in ("managed", "former", "appointing"))
        )

    def _no_title(self, at: int) -> bool:
        """Whether a title is none here: a verb ("heads the team") or part of a name ("SRE team")."""
        after = self.tokens[at + 1].low if at + 1 < len(self.tokens) else ""
        if after in common_nouns() and at + 1 not in self.names:
            return True
        if self.tokens[at].low not in forms() or self._alone(at):
            return False
        if self.found and self.found[-1].kind == NAME and self.found[-1].end == at and at + 1 in self.names:
            # "does Alice lead Orbit", "Ana and Bob lead Orbit"
            before = self.found[-2].low if len(self.found) > 1 else ""
            return before in cues("inverting") or before in cues("joiner") or forms()[self.tokens[at].low][1] != {BASE}
        return not self._after_article() and after not in ("of", "at", ":", "for", "is", "was", "'s")

    def _singular(self, at: int) -> str:
        """A word, or the title of each where several "are engineers"."""
        low, last = self.tokens[at].low, self.found[-1] if self.found else None
        several = (
            last is not None and last.kind == VERB and last.low == "be" and low.endswith("s") and low not in roles()
        )
        return low[:-1] if several else low

    def _alone(self, at: int) -> bool:
        """Whether a word fills a place between two marks: "Bob: engineer, Cobalt", "Bob · Product Lead · Cobalt"."""
        begin = at - (at > 1 and self.tokens[at].shape == self.tokens[at - 1].shape == "cap")
        ends = at + 1 == len(self.tokens) or self.tokens[at + 1].low in cues("beside")
        return ends and begin > 0 and self.tokens[begin - 1].low in cues("beside")

    def _field(self, end: int, label: str) -> tuple[int, str]:
        """The field of a head, a director or a vice president: "head of data", "head of people ops"."""
        if label not in ("HEAD", "VP", "DIRECTOR", "LEAD", "PRESIDENT"):
            return end, ""
        of = end < len(self.tokens) and self.tokens[end].low == "of"
        at = end + of
        long = of and self._plain(at, at + 2)
        if long or self._field_word(at) or (of and self._plain(at, at + 1)):
            stop = at + 1 + long
            return stop, "_".join(["_OF" if of else "", *(token.low.upper() for token in self.tokens[at:stop])])
        return end, ""

    def _field_word(self, at: int) -> bool:
        if at >= len(self.tokens):
            return False
        low, name = self.tokens[at].low, self.names.get(at)
        return (
            (name is None or name.span[1] == at + 1)
            and low.isalpha()
            and (is_common(low) or low in words("fields.txt") or low in cues("department") or low == "it")
            and low not in words("function.txt")
        )

    def _plain(self, at: int, stop: int) -> bool:
        """Whether these words are a field, if no list has them: in small letters, before the company."""
        return (
            stop < len(self.tokens)
            and self.tokens[stop].low in ("at", "for", "there")
            and all(token.text.isalpha() and token.text.islower() for token in self.tokens[at:stop])
            and not any(
                word in self.names or self.tokens[word].low in words("function.txt") for word in range(at, stop)
            )
        )

    def _verb(self, at: int) -> int:
        if self._after_article() and self.tokens[at].low not in ("be", "is", "are"):
            return 0
        group = helpers(self.tokens, at, self._named)
        if group is None or (group.bare and group.opening in (BASE, THIRD) and self._named_by(at)):
            return 0
        element = Element(VERB, group.lemma, at, group.end, flags=group.flags, form=group.form, title=group.word)
        element.passive, element.bare, element.opening = group.passive, group.bare, group.opening
        element.first = self.tokens[at].low
        return self._add(element)

    def _named_by(self, at: int) -> bool:
        """Whether what stands before makes a bare verb a noun: "for design", "heads design"."""
        last = self.found[-1] if self.found else None
        if last is None or last.end != at:
            return False
        return last.low in ("for", "of", "about") or (last.kind == VERB and last.low in cues("heading"))

    def _named(self, at: int) -> bool:
        return at in self.names

    def _word(self, at: int) -> int:
        token = self.tokens[at]
        if token.low in cues("article") and not self._relative(at):
            self.determined = True
            self.definite = token.low not in ("a", "an")
            return at + 1
        if token.low in ("her", "his") and not self._owned(at + 1):
            return self._add(Element(PRONOUN, "she" if token.low == "her" else "he", at, at + 1))
        if token.low in _OWNERS:
            self.owner = _OWNERS[token.low]
            return at + 1
        if token.low == "not" and at + 1 < len(self.tokens) and self.tokens[at + 1].low in cues("merely"):
            return at + 1  # "uses not only Rust but also Go"
        if token.low in cues("floating") and self._subject(at):
            return self._add(Element(PRONOUN, "both", at, at + 1))
        last = self.found[-1] if self.found and self.found[-1].end == at else None
        if token.low in cues("emphatic") and last is not None and last.kind in (NAME, NOUN, PRONOUN):
            return at + 1  # "the app itself is written in Flutter"
        if token.low in words("adverbs.txt") and token.low != "that":
            return at + 1
        if _stands_for(token.low) and self._after_article():
            return self._add(Element(PRONOUN, _stands_for(token.low), at, at + 1))
        if token.low in _PRONOUNS:
            return self._add(Element(PRONOUN, _PRONOUNS[token.low], at, at + 1))
        return self._add(Element(WORD, token.low, at, at + 1))

    def _subject(self, at: int) -> bool:
        """Whether "both" is all that is said of whom the verb behind it speaks of: "both left"."""
        begins = not self.found or self.found[-1].low in cues("link")
        after = self.tokens[at + 1].low if at + 1 < len(self.tokens) else ""
        return begins and after != "in" and (after in forms() or after in ("have", "are", "were"))

    def _owned(self, at: int) -> bool:
        """Whether a word that can be somebody's stands at `at`."""
        return at in self.names or (
            at < len(self.tokens)
            and self.tokens[at].shape != "mark"
            and self.tokens[at].low not in words("function.txt")
        )

    def _relative(self, at: int) -> bool:
        """Whether "that" opens a relative clause: a verb or its subject follows."""
        if self.tokens[at].low != "that" or not self.found or at + 1 >= len(self.tokens):
            return False
        after = self.tokens[at + 1].low
        opens = after in forms() or after in ("is", "are", "will") or after in _PRONOUNS or at + 1 in self.names
        head = self.found[-1]
        return opens and (head.kind in (NAME, NOUN) or (head.kind in (ROLE, PRONOUN) and head.determined))


def _is_field(name: str) -> bool:
    """Whether a name is that of a field, without which "team" or "service" says nothing: SRE, Compiler, Onboarding."""
    low = name.lower()
    return is_common(low) or name.isupper() or low in words("fields.txt") or low.endswith(tuple(cues("field_ending")))


def _stands_for(low: str) -> str:
    """What "the company" and "the code" stand for, "" for other words."""
    return "they" if low in cues("group") else "code" if low in cues("code") else ""
