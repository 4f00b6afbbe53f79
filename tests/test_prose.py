"""prose.py: the sentences that the author of a Markdown text says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_plane.prose import sentences


def said(text: str) -> list[str]:
    return [one.text for one in sentences(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "Version 2.3 is out. See e.g. the docs, i.e. page 4.",
            ["Version 2.3 is out.", "See e.g. the docs, i.e. page 4."],
        ),
        ('He said "it works." Then he left.', ['He said "it works."', "Then he left."]),
        ("完成了。要继续吗？好", ["完成了。", "要继续吗？", "好"]),
        ("Ask Dr. Okafor and J. Doe.", ["Ask Dr. Okafor and J. Doe."]),
        ("one line\n\nanother", ["one line", "another"]),
        ("a line that ends here\nAnother one", ["a line that ends here", "Another one"]),
        ("a line that goes on\nin the next", ["a line that goes on in the next"]),
    ],
)
def test_sentences_end_where_they_end(text: str, wanted: list[str]) -> None:
    assert said(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "```python\nx = 1\n```",
        "~~~\nnever closed",
        "````\n```\nstill code\n```\n````",
        "- ```\n  in a list\n  ```",
        "    indented code",
        "> quoted",
        "# Heading",
        "| a | b |",
        "a | b | c",
        "---",
        "- [ ] to be done",
        "❌ Not done",
        "$ make test",
        "+added line",
        "@@ -1 +1 @@",
        "Traceback (most recent call last):",
        '  File "a.py", line 3',
        "at foo (bar.js:1:2)",
        "2026-11-20T09:30:00Z INFO started",
        "ValueError: no",
        "<thinking>It works.</thinking>",
        "<system-reminder>Be brief.</system-reminder>",
    ],
)
def test_what_the_author_does_not_say_is_left_out(text: str) -> None:
    assert said(f"Before.\n\n{text}") == ["Before."]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Bold**, *slanted* and __strong__", "Bold, slanted and strong"),
        ("`snake_case` and `__init__`", "snake_case and __init__"),
        ("see [the page](https://example.org/a_b) and ![a picture](x.png)", "see the page and"),
        ("~~not this~~ but that", "but that"),
        ("a <b>tag</b>", "a tag"),
        ("- [x] done", "done"),
        ("✅ done", "done"),
        ("3) third", "third"),
        ("2 * 3 * 4", "2 3 4"),
        ("x_1 and y_2", "x_1 and y_2"),
    ],
)
def test_marks_come_off(text: str, plain: str) -> None:
    assert said(text) == [plain]


def test_items_of_a_list_are_known_with_what_belongs_to_them() -> None:
    text = "Done:\n- one\n- two\n  goes on\n\n  and on\n\nThe end."
    assert [(one.text, one.listed) for one in sentences(text)] == [
        ("Done:", False),
        ("one", True),
        ("two goes on", True),
        ("and on", False),
        ("The end.", False),
    ]


def test_of_a_very_long_text_both_ends_are_read() -> None:
    found = said("\n\n".join(f"Sentence {number}." for number in range(5_000)))
    assert found[0] == "Sentence 0."
    assert found[-1] == "Sentence 4999."
    assert len(found) == 600


@given(st.text(alphabet=st.sampled_from("ab.?! \n`~>|#-*_[]()<>1。") | st.characters()))
def test_every_sentence_is_one_line_without_blanks_around(text: str) -> None:
    for one in sentences(text):
        assert one.text
        assert one.text == " ".join(one.text.split())
