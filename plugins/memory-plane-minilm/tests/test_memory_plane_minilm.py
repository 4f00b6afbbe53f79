from __future__ import annotations

from collections.abc import Callable, Sequence
from math import hypot
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from memory_plane import Plane
from memory_plane.errors import ConfigurationError
from memory_plane.settings import Settings
from memory_plane.testing.contract import *  # noqa: F403
from memory_plane_minilm.encoder import BATCH, Encoder

WORDS = ["[UNK]", "doctor", "physician", "garden", "likes", "tea"]
ROWS: list[list[float]] = [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0.2], [0, 0, 1]]
MakePlane = Callable[..., Plane]


def write_model(folder: Path, rows: Sequence[Sequence[float]] = ROWS, *, pooled: bool = False) -> Path:
    """Write an encoder whose tokens are words with a vector each."""
    folder.mkdir(parents=True)
    table = numpy_helper.from_array(np.array(rows, dtype=np.float32), "table")
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["tokens"], ["text"], axes=[1], keepdims=0))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
        for name in (["input_ids"] if pooled else ["input_ids", "attention_mask"])
    ]
    output = helper.make_tensor_value_info("text" if pooled else "tokens", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "encoder", inputs, [output], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return write_model(tmp_path / "model")


@pytest.fixture
def make_minilm(make_plane: MakePlane, model: Path) -> MakePlane:
    return lambda **settings: make_plane("minilm", "local", plugin={"minilm": {"model": str(model)} | settings})


def found(plane: Plane, query: str) -> list[str]:
    return [hit.snippet for hit in plane.recall(query).hits]


def test_rows_are_the_means_of_the_tokens_in_the_order_of_the_texts(model: Path) -> None:
    encoder = Encoder(model, tokens=16, threads=1)
    texts = ["doctor tea", "garden", "physician doctor doctor", *["tea"] * BATCH]
    rows = encoder.embed(texts)
    assert rows[0] == pytest.approx((0.5**0.5, 0, 0.5**0.5))
    assert rows[1:3] == ((0, 1, 0), (1, 0, 0))
    assert all(hypot(*row) == pytest.approx(1) for row in rows)


def test_text_without_a_known_word_has_a_row_of_zeros(model: Path) -> None:
    assert Encoder(model, tokens=16, threads=1).embed(["", "zebra"]) == ((0, 0, 0), (0, 0, 0))


def test_encoder_that_tells_one_vector_a_text_is_taken_as_it_is(tmp_path: Path) -> None:
    encoder = Encoder(write_model(tmp_path / "pooled", pooled=True), tokens=16, threads=1)
    assert encoder.embed(["doctor", "garden"]) == ((1, 0, 0), (0, 1, 0))


def test_only_the_first_tokens_are_read(model: Path) -> None:
    assert Encoder(model, tokens=8, threads=1).embed(["doctor " * 8 + "garden"]) == ((1, 0, 0),)


def test_another_model_has_another_name(model: Path, tmp_path: Path) -> None:
    other = write_model(tmp_path / "other", [[0.5, *row[1:]] for row in ROWS])
    names = {Encoder(folder, tokens=tokens, threads=1).name for folder in (model, other) for tokens in (8, 16)}
    assert len(names) == 4


def test_memory_is_found_by_its_meaning_after_the_round(make_minilm: MakePlane) -> None:
    plane = make_minilm()
    plane.post("physician", agent="muse")
    assert found(plane, "doctor") == []
    plane.work_queue()
    assert found(plane, "doctor") == ["physician"]


def test_without_a_folder_it_has_no_say(make_plane: MakePlane) -> None:
    vectors = make_plane("minilm", "local").plugins.embed(["doctor"])
    assert vectors is not None
    assert not vectors.model.startswith("onnx")


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_folder_without_a_file_is_told(model: Path, home: Path, missing: str) -> None:
    (model / missing).unlink()
    from memory_plane_minilm import MinilmSettings

    settings = Settings(home=home, plugin={"minilm": {"model": str(model)}})
    with pytest.raises(ConfigurationError, match=f"there is no {missing} in"):
        settings.for_plugin("minilm", MinilmSettings)


def test_broken_model_leaves_recall_with_words_and_is_told(make_plane: MakePlane, model: Path) -> None:
    (model / "model.onnx").write_bytes(b"no model")
    plane = make_plane("minilm", "local", strict=False, plugin={"minilm": {"model": str(model)}})
    plane.post("physician", agent="muse")
    assert found(plane, "physician") == ["physician"]
    assert "'minilm' failed in 'embed'" in str(plane.plugins.failures[-1])
