"""What the tagger adds to the rules: names that no rule sees, and types for names that no word tells one of."""

from __future__ import annotations

from collections.abc import Sequence

from memory_plane_local.lexicon import is_common
from memory_plane_local.name import Name, name_at, opening
from memory_plane_local.sentences import Sentence
from memory_plane_local.tagger import listed, tag
from memory_plane_local.tokens import Token

_TYPES = {"PER": "Person", "ORG": "Organization", "LOC": "Place"}
_HUNCH, _TYPED, _NEW = 0.4, 0.6, 0.8
"""How probable a type must be if nothing else tells one, a type that a claim is read by, and a name."""


def guess(sentence: Sentence, names: Sequence[Name]) -> list[Name]:
    """Return the names of a sentence in order, with those that only the tagger sees."""
    owners = {at: name for name in names for at in range(*name.span)}
    settled = {at for at, name in owners.items() if name.options}
    if not any(at not in settled and _promising(sentence.tokens, at) for at in range(len(sentence.tokens))):
        return list(names)
    added: list[Name] = []
    for begin, end, label, probability in tag([token.text for token in sentence.tokens]):
        inside = {id(owners[at]): owners[at] for at in range(begin, end) if at in owners}
        for name in inside.values():
            name.label = label
            if probability >= _TYPED and not name.options:
                name.guess = _TYPES[label]
            elif probability >= _HUNCH:
                name.hunch = _TYPES[label]
        if not inside and probability >= _NEW and sentence.tokens[begin].shape != "mark":
            name = name_at(sentence, begin, end, (), round(probability, 3))
            name.guess, name.label = _TYPES[label], label
            added.append(name)
    return sorted([*names, *added], key=lambda name: name.span) if added else list(names)


def _promising(tokens: Sequence[Token], at: int) -> bool:
    """Whether a word may be a name at all, so that most sentences cost nothing."""
    token = tokens[at]
    if token.shape == "low":
        return listed(token.low) and not is_common(token.low)
    return token.shape in ("cap", "mix") and not (is_common(token.low) and (opening(tokens, at) or len(token.low) == 1))
