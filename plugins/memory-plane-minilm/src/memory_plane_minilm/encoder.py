"""A sentence encoder as ONNX: a text's vector is the mean of those of its tokens, of length 1."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
BATCH = 32
"""So many texts are read at once; those of like length together, since each is filled up to the longest."""


class Encoder:
    """The model and its tokenizer in a folder; both are read at once, and nothing is fetched."""

    def __init__(self, folder: Path, *, tokens: int, threads: int) -> None:
        """Read `model.onnx` and `tokenizer.json`; raise what their libraries raise for what is neither."""
        from onnxruntime import InferenceSession, SessionOptions  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        with (folder / MODEL).open("rb") as file:
            self.name = f"onnx-{file_digest(file, 'sha256').hexdigest()[:12]}-{tokens}"
        self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.enable_truncation(max_length=tokens)
        self._tokenizer.enable_padding()
        options = SessionOptions()
        options.intra_op_num_threads = threads
        self._session: Any = InferenceSession(str(folder / MODEL), options, providers=["CPUExecutionProvider"])
        self._wanted = [one.name for one in self._session.get_inputs()]

    def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one row a text, in their order."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        rows: dict[int, tuple[float, ...]] = {}
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            rows.update(zip(places, self._rows([texts[place] for place in places]), strict=True))
        return tuple(rows[place] for place in range(len(texts)))

    def _rows(self, texts: list[str]) -> list[tuple[float, ...]]:
        import numpy as np

        read = self._tokenizer.encode_batch(texts)
        given = {
            "input_ids": np.array([one.ids for one in read], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in read], dtype=np.int64),
            "token_type_ids": np.array([one.type_ids for one in read], dtype=np.int64),
        }
        (found, *_) = self._session.run(None, {name: given[name] for name in self._wanted})
        if found.ndim == 3:  # one vector a token
            mask = given["attention_mask"][:, :, None]
            found = (found * mask).sum(axis=1) / mask.sum(axis=1).clip(min=1)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return [tuple(row) for row in (found / np.where(lengths > 0, lengths, 1)).tolist()]
