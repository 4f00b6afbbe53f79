"""Verbs and the relation table, which the core has so that statements and questions are read by the same one."""

from memory_plane.vocabulary.verbs import BASE, ING, PARTICIPLE, PAST, THIRD, Phrase, Row, forms, phrases, starting

__all__ = ["BASE", "ING", "PARTICIPLE", "PAST", "THIRD", "Phrase", "Row", "forms", "phrases", "starting"]
