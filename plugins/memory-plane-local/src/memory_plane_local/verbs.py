"""Verbs and the relation table, which the core has so that statements and questions are read by the same one."""

from functools import cache

from memory_plane.vocabulary.verbs import BASE, ING, PARTICIPLE, PAST, THIRD, Phrase, Row, forms, phrases, starting

__all__ = ["BASE", "ING", "PARTICIPLE", "PAST", "THIRD", "Phrase", "Row", "forms", "phrases", "sense", "starting"]


@cache
def sense(verb: str, relation: str) -> Row:
    """Return what a verb means where it says this relation, by its shortest phrase that does."""
    said = (phrase for phrase in phrases()[verb] if phrase.row.relation == relation)
    return min(said, key=lambda phrase: len(phrase.rest)).row
