"""What of a message is worth keeping, and the day that its words name."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from memory_plane_muse.due import due_in
from memory_plane_muse.worth import worth

MONDAY = datetime(2026, 11, 30, 15, tzinfo=UTC)

KEPT = {
    "introduction": """
        Daniel <> Rob! You both like FPGAs
        meet Daniel, he runs infra at Acme
        Hey Rob, meet Daniel!
        Rob meet Daniel. Daniel meet Rob
        wanted to introduce you to my friend Daniel, he's at Acme
        Introducing you to Daniel Kim from Acme
        Connecting you two here: Rob, Daniel
        You should talk to Maria at Initech
        you two should meet! Daniel builds compilers
        Intro: Daniel / Rob re FPGA stuff
        José ↔ Zoë, you both work on chips""",
    "promise": """
        I'll send you the deck by Friday
        ill send the deck tmrw
        I will get you the contract tomorrow
        Sure, will do it by monday
        gonna finish the report by friday
        Let me check with legal and get back to you by Thursday
        You’ll have it by Friday
        I'll connect you with Priya tomorrow
        I’ll let you know by Dec 12
        Haha yes. I'll bring the cake on Sunday. See you!
        We will sign the lease in two weeks""",
    "request": """
        can you send me the deck by friday?
        Can you review the lease before Thursday?
        please send me the signed contract when you can
        don't forget to pay the rent
        let me know if Tuesday works for the closing
        should we invite Sam to the offsite?""",
    "question": """
        Are you free for lunch tomorrow?
        When is the closing on Maple Street?
        Did you hear back from Stripe yet?""",
    "news": """
        I just joined Anthropic last week
        I'm moving to Berlin in March
        We're working at Acme now""",
}
SMALL_TALK = """
    lol ok
    thanks!
    haha that's so funny
    see you tomorrow
    I'll see you tomorrow
    I'll be there at 6 tonight
    let's meet Friday
    want to meet at 5?
    How are you?
    How was your weekend in Paris?
    what's up
    can you talk?
    I can't make it tomorrow
    I won't send it today
    maybe I'll go to the gym tomorrow
    happy birthday!!
    good night ❤️
    Did you see this? https://example.com/x
    omg what a game yesterday
    where are you?
    if I finish by Friday I'll tell you
    Nice to meet you Daniel
    great meeting Daniel yesterday
    It was good to meet Rob
    we meet Friday at noon
    the meeting is on Friday
    I'll call you
    on my way
    would you believe it?
    I think we will be fine tomorrow
    спасибо, до завтра
    了解です"""


def lines(block: str) -> list[str]:
    return [line.strip() for line in block.strip().splitlines()]


@pytest.mark.parametrize(
    ("sort", "text"), [(sort, text) for sort, block in KEPT.items() for text in lines(block)], ids=lambda one: one[:40]
)
def test_what_is_worth_it_is_kept_as_what_it_is(sort: str, text: str) -> None:
    found = worth(text, MONDAY)
    assert found is not None
    assert (found.sort, found.text) == (sort, text)
    assert found.due is not None or sort != "promise"


@pytest.mark.parametrize("text", lines(SMALL_TALK))
def test_small_talk_is_nothing(text: str) -> None:
    assert worth(text, MONDAY) is None


def test_plain_questions_of_a_group_are_nothing() -> None:
    assert worth("Are you free for lunch tomorrow?", MONDAY, group=True) is None
    assert worth("Can you review the lease before Thursday?", MONDAY, group=True) is not None


def test_of_a_long_message_the_part_that_counts_is_kept() -> None:
    text = (
        "So. "
        + "We had a long day at the beach and the kids loved it. " * 20
        + "I'll send you the deck by Friday. Bye!"
    )
    found = worth(text, MONDAY)
    assert found is not None
    assert found.text == "I'll send you the deck by Friday. Bye!"


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("tonight", "2026-11-30"),
        ("tmrw", "2026-12-01"),
        ("by friday", "2026-12-04"),
        ("on fri", "2026-12-04"),
        ("next friday", "2026-12-11"),
        ("by Monday", "2026-12-07"),
        ("this weekend", "2026-12-06"),
        ("by end of week", "2026-12-04"),
        ("next week", "2026-12-11"),
        ("in two weeks", "2026-12-14"),
        ("in a couple of days", "2026-12-02"),
        ("in 10 days", "2026-12-10"),
        ("Dec 12", "2026-12-12"),
        ("12th of december", "2026-12-12"),
        ("March 3rd", "2027-03-03"),
        ("by the 15th", "2026-12-15"),
        ("end of the month", "2026-11-30"),
        ("next month", "2026-12-31"),
        ("2027-01-03", "2027-01-03"),
        ("31 nov or friday", "2026-12-04"),
    ],
)
def test_the_day_that_words_name(words: str, day: str) -> None:
    due = due_in(f"I'll do it {words}", MONDAY)
    assert due is not None
    assert due.astimezone().isoformat().startswith(f"{day}T23:59")


@pytest.mark.parametrize(
    "words", ["", "in 5 minutes", "the sun is out", "we sat down", "may I", "Feb 30", "9999-99-99"]
)
def test_words_that_name_no_day(words: str) -> None:
    assert due_in(words, MONDAY) is None


@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_ends_of_the_calendar_have_no_tomorrow(at: datetime) -> None:
    due_in("tomorrow, in 10 months, next week", at)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        ".",
        "?! ",
        "meet ",
        "meet Daniel ",
        "I'll ",
        "can you ",
        "A <",
        "by ",
        "my my my ",
        "ok sure ",
        "’",
        "🤝",
        "\n",
    ],
)
def test_long_messages_take_no_time(unit: str) -> None:
    began = time.perf_counter()
    worth(unit * (20_000 // len(unit)), MONDAY)
    assert time.perf_counter() - began < 2
