"""Write which words mean nearly the same, by the table of meanings; half a minute of one core. Needs numpy.

    python training/alike.py OUT

Each line has a word, a tab, and the words nearest to it with the cosine in hundredths: at most `MOST`, none below
`LEAST`, and of the forms of one word the nearest. Left out are words that say nothing of what is looked for, and those
that are like their siblings and never mean them: names, days, months and numbers.
"""

# numpy is no dependency of this project.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from memory_plane.recall.stems import stem
from memory_plane.recall.stopwords import STOP_WORDS
from memory_plane_local import embedding, tables

LEAST, MOST = 0.7, 8
AT_ONCE = 1_000
SOURCE = """\
# Words that mean nearly the same, with the cosine in hundredths: made by training/alike.py of meanings.bin, which is
# distilled from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0, see LICENSE.meanings).
"""
NUMBERS = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion first second third
    fourth fifth sixth seventh eighth ninth tenth half double single
"""


def lines() -> Iterator[str]:
    """Yield a line for each word that any other is like, in the order of the table: the commonest first."""
    table = embedding.table()
    left_out = STOP_WORDS.union(NUMBERS.split(), *map(tables.words, ("calendar.txt", "places.txt", "first_names.txt")))
    words = [word for word in table.words() if word.isalpha() and len(word) > 2 and word not in left_out]
    stems = [stem(word) for word in words]
    rows = np.array([table.embed(word) for word in words])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for begin in range(0, len(words), AT_ONCE):
        for place, alike in enumerate(rows[begin : begin + AT_ONCE] @ rows.T, begin):
            near = np.flatnonzero(alike >= LEAST)
            first: dict[str, int] = {}
            for other in near[np.argsort(-alike[near], kind="stable")]:
                first.setdefault(stems[other], other)
            first.pop(stems[place], None)
            told = [f"{words[other]} {100 * alike[other]:.0f}" for other in list(first.values())[:MOST]]
            if told:
                yield f"{words[place]}\t{' '.join(told)}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("".join([SOURCE, *lines()]), "utf-8")
