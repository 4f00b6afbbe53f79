"""The loaders of the sets that recall is measured on read the formats of their authors."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def sets() -> ModuleType:
    path = Path(__file__).with_name("benchmarks") / "recall_sets.py"
    spec = importlib.util.spec_from_file_location("recall_sets", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_locomo_is_read(sets: ModuleType, tmp_path: Path) -> None:
    said = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi"},
        {"speaker": "Rob", "dia_id": "D1:2", "text": "Look", "blip_caption": "a kite"},
    ]
    conversation = {"speaker_a": "Ann", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    asked = [
        {"question": "What did Rob show?", "answer": "a kite", "evidence": ["D1:2", "D:1:1; D9:9"], "category": 4},
        {"question": "Who?", "answer": "-", "evidence": [], "category": 1},
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": asked}]), "utf-8")
    (dialogue,) = sets.locomo(file)
    assert [turn.text for turn in dialogue.turns] == ["Hi", "Look [photo: a kite]"]
    assert dialogue.turns[1].at == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)
    (question,) = dialogue.questions
    assert (question.kind, question.evidence) == ("single-hop", {"D1:1", "D1:2"})


def test_longmemeval_is_read(sets: ModuleType, tmp_path: Path) -> None:
    sample = {
        "question_id": "q1", "question_type": "single-session-user", "question": "What do I drink?", "answer": "tea",
        "question_date": "2023/05/30 (Tue) 10:00", "haystack_session_ids": ["s1"], "answer_session_ids": ["s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I drink tea", "has_answer": True},
                               {"role": "assistant", "content": "Nice"}]],
    }  # fmt: skip
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps([sample, sample | {"question_id": "q2_abs", "haystack_sessions": [[]]}]), "utf-8")
    first, second = sets.longmemeval(file)
    assert [(turn.speaker, turn.origin) for turn in first.turns] == [("user", "user"), ("assistant", "agent")]
    assert first.turns[0].at == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert first.questions[0].evidence == {"s1:0"}
    assert list(second.questions) == []


def test_beam_is_read(sets: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "100K" / "7"
    (folder / "probing_questions").mkdir(parents=True)
    turns = [[{"role": "user", "id": 0, "content": "I moved ->-> 1,2", "time_anchor": "March-15-2024"},
              {"role": "assistant", "id": 1, "content": "Where to?"}]]  # fmt: skip
    (folder / "chat.json").write_text(json.dumps([{"batch_number": 1, "turns": turns}]), "utf-8")
    asked = {"knowledge_update": [{"question": "Where?", "source_chat_ids": {"original": [0], "updated": "1"}}],
             "abstention": [{"question": "Why?"}]}  # fmt: skip
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(asked), "utf-8")
    (dialogue,) = sets.beam(tmp_path / "100K")
    assert [turn.text for turn in dialogue.turns] == ["I moved ", "Where to?"]
    assert dialogue.turns[0].at == datetime(2024, 3, 15, tzinfo=UTC)
    assert dialogue.turns[1].origin == "agent"
    assert [question.evidence for question in dialogue.questions] == [{"0", "1"}]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["beam", "nowhere"], "there is no folder nowhere"),
        (["locomo", "."], "there is no file ."),
        (["beam", ".", "--only", "2-1"], "argument --only: invalid"),
        (["beam", "."], "no questions of beam"),
    ],
)
def test_benchmark_says_what_is_wrong_with_what_it_is_given(given: list[str], reason: str, tmp_path: Path) -> None:
    script = Path(__file__).with_name("benchmarks") / "recall.py"
    told = subprocess.run([sys.executable, script, *given], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert told.returncode == 2
    assert reason in told.stderr.splitlines()[-1]
