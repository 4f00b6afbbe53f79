"""The hook shim: put what an agent's hook says into the spool, answer with one JSON object, never hurt the agent.

Agents run this file by its path, `python -S hook.py AGENT EVENT [HOME]`, and it may be copied anywhere. So it imports
nothing of ours, and of the standard library only what the interpreter has loaded already.
"""

# Importing pathlib would take longer than all of this does.
# ruff: noqa: PTH103, PTH105, PTH108, PTH111, PTH117, PTH118, PTH120, PTH208

import _imp
import _thread
import os
import sys
import time

TYPE_CHECKING = False  # the real one is in typing, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

KEEP = 1_500_000
"""How many bytes of a payload are kept; the rest is read and dropped."""
PATIENCE = 1.0
"""Seconds to wait for the end of stdin, and for the answer to be taken; twice as many for the disk."""
MOST_WAITING = 10_000
"""How many events may wait; a home that nobody drains any more must not fill the disk."""
BRIEF_BYTES = 2048

MOST_QUOTES = 20_000
"""How many quotes of a payload are looked at, for whose session it is and why that begins."""
MOST_SESSIONS = 64
"""For how many sessions it is noted what they were given."""
MOST_GIVEN = 32_768
"""How many bytes such a note may have; after that the session is given everything again."""
ONE_TURN = 10
"""Seconds in which what was given is still there, although the session was compacted, cleared or resumed."""

NOTHING = "{}"
_NOTHING_ELSEWHERE = {
    ("antigravity", "PreToolUse"): '{"decision":"ask"}',  # an empty object would deny the tool
    ("cursor", "beforeSubmitPrompt"): '{"continue":true}',
    ("cline", ""): '{"cancel":false}',
    ("goose", "Stop"): '{"decision":"allow"}',  # an empty object would be a failure in its log
}
_SAID = '{"hookSpecificOutput":{"hookEventName":"%event","additionalContext":%brief}}'
_ADDED = '{"additional_context":%brief}'
_INTO = {  # where an agent takes what the others did; all are asked in the way of Claude Code but for these
    "": {"SessionStart": _SAID, "UserPromptSubmit": _SAID, "BeforeAgent": _SAID, "sessionStart": _ADDED},
    "antigravity": {"PreInvocation": '{"injectSteps":[{"ephemeralMessage":%brief}]}'},
    "cline": {},  # it drops what these are answered with, and has the page as a file of rules
    "cursor": {"sessionStart": _ADDED},
    "goose": {},  # its hooks are observed, but for what they forbid
    "grok": {"PostToolUse": _SAID},  # it does not listen to what its starts and prompts are answered with
    "muse": {},
    "muse-code": {"UserPromptSubmit": _SAID},  # of its start it does not say what it expects
}
_STARTS = ("SessionStart", "sessionStart", "PreInvocation")
_STARTS_ANEW = ("compact", "resume", "clear", "fork")
_READ = {("grok", "SessionStart", "new"), ("grok", "SessionStart", "startup")}  # it reads the page there by itself
_FORGETS = "PreCompact"  # not the one of Gemini CLI, which tells of it with every turn
_NO_ENTRY = ("#", "- … ")  # headings, and how much is left out
_WHY = " · why: "
_SESSION = ("conversation_id", "conversationId", "session_id", "sessionId")
# What Grok and Cursor call the events for which they run the hooks of others.
_EVENTS = {
    ("grok", "afterAgentResponse"): "PostToolUse",
    ("grok", "beforeSubmitPrompt"): "UserPromptSubmit",
    ("cursor", "UserPromptSubmit"): "beforeSubmitPrompt",
}

_TOKENS = {begin: least for least, begins in (  # how tokens begin, and how many signs follow at least
    (10, "xox xapp-"),
    (16, "sk-ant- AKIA ASIA ABIA ACCA eyJ sk_live_ sk_test_ rk_live_ rk_test_"),
    (20, "sk- glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- ya29. GOCSPX- whsec_ gsk_ "
         "pplx- r8_ shpat_ shpca_ shppa_ shpss_ lin_api_ ntn_ ATATT3 hvs. tskey- figd_ nfp_ sbp_ pscale_ PMAK- NRAK- "
         "glsa_ dckr_pat_ dp.pt. dp.st. dp.ct. dp.sa. fm2_ HRKU- rnd_ vercel_ sntrys_ sntryu_ pul- ops_eyJ "
         "hooks.slack.com/ /api/webhooks/ webhook.office.com/"),
    (30, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ hf_ api_org_ 1//0 :AA"),
    (32, "SG. SK npm_ dapi AIza"),
    (40, "xai- dop_v1_ doo_v1_ dor_v1_"),
    (50, "pypi- AGE-SECRET-KEY-1"),
    (100, "xprv yprv zprv tprv"),
) for begin in begins.split()} | {"Bearer ": 12, "bearer ": 12}  # fmt: skip
_KEYS = (
    "-----BEGIN ", "b3BlbnNzaC1rZXktdjE", "MIIEvQIBADAN", "MIIEvgIBADAN", "MIIEowIBAAK", "MIIEpAIBAAK", "MIIEpQIBAAK",
    "MHcCAQEEI", "MIGEAgEAMBAG",
)  # fmt: skip
_LONGEST_KEY = 20_000
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)  # something else than a file is not waited for
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_TOKEN_SIGNS = _LETTERS + "_-.=/+@"
_KEY_SIGNS = _LETTERS + "+/="
_BETWEEN = "\"'\\ \t\r\n>|,-"


def main(arguments: list[str], home: str | None = None) -> None:
    """Spool what stands on stdin and print the answer; nothing that happens on the way is raised or shown."""
    answers = [NOTHING]
    _quietly(lambda: _take(arguments, home, answers))
    _quietly(lambda: _within(PATIENCE, lambda: _say(answers[-1])))


def _take(arguments: list[str], home: str | None, answers: list[str]) -> None:
    name, event, given = (*arguments, "", "", "")[:3]
    agent = _agent(name)
    if not agent or not event:
        return
    answers.append(_nothing(*_speaker(agent, event, {})))
    heard = bytearray()
    if sys.stdin is not None and not os.isatty(0):
        _within(PATIENCE, lambda: _hear(heard))
    raw = bytes(heard)
    place = home or (given if os.path.isabs(given) else os.environ.get("MEMORY_PLANE_HOME") or "~/.memory-plane")
    _within(2 * PATIENCE, lambda: _work(os.path.expanduser(place), agent, event, raw, answers))


def _work(home: str, agent: str, event: str, raw: bytes, answers: list[str]) -> None:
    text = _text(raw)
    fields = _fields(text)
    agent, event = _speaker(agent, event, fields)
    answers.append(_nothing(agent, event))
    _quietly(lambda: _stamp(home, agent, event))
    _quietly(lambda: _inform(home, agent, event, fields, answers))
    of_a_turn = fields.get("invocationNum", "0") == "0" and (agent, event) != ("grok", "PostToolUse")
    if text and of_a_turn:  # nothing comes of what an agent says with every step
        _spool(home, agent, event, text)


def _inform(home: str, agent: str, event: str, fields: dict[str, str], answers: list[str]) -> None:
    session = next((fields[name] for name in _SESSION if fields.get(name, "null") != "null"), "")
    note = os.path.join(home, "brief", ".given", f"{agent}-{_digest(session)}")
    if event == _FORGETS and session:
        os.unlink(note)
    form = _INTO.get(agent, _INTO[""]).get(event)
    read = (agent, event, fields.get("source")) in _READ
    apart = "subagentType" in fields or (event == "PreInvocation" and fields.get("invocationNum") != "0")
    if apart or not (form or read):
        return
    brief = _brief(home, agent)
    news = [brief if event in _STARTS else ""]  # where nothing can be noted
    if brief and session:
        anew = fields.get("source") in _STARTS_ANEW
        _quietly(lambda: news.append(_news(note, brief, anew)))
    if form and news[-1]:
        answers.append(form.replace("%event", event).replace("%brief", _quoted(news[-1])))


def _quietly(task: "Callable[[], None]") -> None:
    try:
        task()
    except BaseException:  # noqa: BLE001 - a trace would be shown to the agent, and Ctrl-C leave it without an answer
        return


def _within(seconds: float, task: "Callable[[], None]") -> None:
    """Run the task in a thread, and wait no longer than this: a dead disk or pipe cannot be interrupted."""
    finished = _thread.allocate_lock()
    finished.acquire()

    def work() -> None:
        _quietly(task)
        finished.release()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:  # no thread left in this system
        work()
    finished.acquire(timeout=seconds)


# --- the agent's side --------------------------------------------------------------------------------------------


def _hear(heard: bytearray) -> None:
    """Read stdin to its end, also what is too much: an agent that writes into a closed pipe may fall over it."""
    while chunk := os.read(0, 65536):
        heard += chunk[: KEEP - len(heard)]


def _say(answer: str) -> None:
    data = f"{answer}\n".encode("utf-8", "replace")
    while data and sys.stdout is not None:
        data = data[os.write(1, data) :]


def _agent(name: str) -> str:
    """Return the one spelling of an agent's id, "" for what cannot be one: it names a file."""
    folded = name.strip().lower()
    fits = 0 < len(folded) <= 64 and folded[0] not in ".-"
    return folded if fits and all(sign.isalnum() or sign in "_.-" for sign in folded) else ""


def _text(raw: bytes) -> str:
    """Decode the payload; JSON holds no NUL, and without them no wide encoding hides a token."""
    wide = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
    return raw.decode("utf-16" if wide else "utf-8", "replace").replace("\0", "").strip("\ufeff \t\r\n")


def _speaker(agent: str, event: str, fields: dict[str, str]) -> tuple[str, str]:
    """Return whose event it is, and its name there: Grok and Cursor run the hooks of Claude Code as well."""
    if os.environ.get("GROK_HOOK_EVENT"):  # unlike GROK_SESSION_ID it is not inherited by agents that Grok starts
        agent = "grok"
    elif "cursor_version" in fields:
        agent = "cursor"
    first = {"grok": str.upper, "cursor": str.lower}.get(agent, str)(event[:1])
    return agent, _EVENTS.get((agent, event), first + event[1:])


def _nothing(agent: str, event: str) -> str:
    return _NOTHING_ELSEWHERE.get((agent, event)) or _NOTHING_ELSEWHERE.get((agent, ""), NOTHING)


def _fields(text: str) -> dict[str, str]:
    """Return the plain fields of the outermost object, as they are written; nothing in it can make this fail."""
    fields: dict[str, str] = {}
    key: str | None = None
    depth, start, inside, quote = 0, 0, False, -1
    for _ in range(MOST_QUOTES if text.startswith("{") else 0):
        quote = text.find('"', quote + 1)
        if inside and _is_escaped(text, quote):
            continue
        piece = text[start : quote if quote >= 0 else None]
        if not inside:
            value = piece.strip(" \t\r\n:").partition(",")[0].partition("}")[0].rstrip()
            if depth == 1 and key is not None and value:
                fields[key], key = value, None
            depth += sum(map(piece.count, "{[")) - sum(map(piece.count, "}]"))
        elif depth == 1 and key is not None:
            fields[key], key = piece, None
        elif depth == 1:
            key = piece
        if quote < 0:
            break
        inside, start = not inside, quote + 1
    return fields


def _is_escaped(text: str, quote: int) -> bool:
    before = quote
    while before > 0 and text[before - 1] == "\\":
        before -= 1
    return (quote - before) % 2 == 1


def _quoted(text: str) -> str:
    """Write a JSON string."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    for code in range(32):
        if chr(code) in text:
            text = text.replace(chr(code), f"\\u{code:04x}")
    return f'"{text}"'


# --- the disk ----------------------------------------------------------------------------------------------------


def _brief(home: str, agent: str) -> str:
    """Return the page as it was rendered, its notice included; "" if there is none or nothing in it."""
    try:
        file = os.open(os.path.join(home, "brief", f"{agent}.md"), os.O_RDONLY | _FLAGS)
    except OSError:
        return ""
    try:
        text = os.read(file, BRIEF_BYTES).decode("utf-8", "ignore").strip()
    except OSError:
        return ""
    finally:
        os.close(file)
    return "" if text.startswith("Nothing new for ") else text


def _news(note: str, brief: str, anew: bool) -> str:
    """Return what the session was not given yet of the brief, all of it if `anew`, and note it as given.

    Hooks of one turn run at the same time: each notes what it wants to give, and who came first gives it.
    """
    lines = [line for line in brief.split("\n") if line.strip() and not line.startswith(_NO_ENTRY)]
    # Why it concerns the agent may change with what that turns to, and tells nothing new by itself.
    entries = {line: _digest(line.rpartition(_WHY)[0] or line) for line in lines or [brief]}
    since = time.time() - ONE_TURN if anew else 0
    file = _open(note)
    try:
        given = _given(file, since)
        wanted = [entry for entry in entries.values() if entry not in given]
        ours = os.urandom(4).hex()
        if wanted:
            os.write(file, f"{ours} {time.time():.0f} {' '.join(wanted)}\n".encode())
            given = _given(file, since)
    finally:
        os.close(file)
    news = [line for line, entry in entries.items() if given.get(entry) == ours]
    return brief if len(news) == len(entries) else _part(brief, news)


def _part(brief: str, news: list[str]) -> str:
    """Return those entries of a page, below its title and their headings; "" where there are none."""
    title, *lines = brief.split("\n")
    parts, heading = [title], [""]
    for line in lines:
        if line.startswith("#"):
            heading = ["", line, ""]
        elif line in news:
            parts += [*heading, line]
            heading = []
    return "\n".join(parts) if news else ""


def _digest(text: str) -> str:
    return _imp.source_hash(0, text.encode("utf-8", "replace")).hex()  # a hash that needs no import


def _open(note: str) -> int:
    """Open a note that has room; where it is a new one and there are too many, the oldest go."""
    folder = os.path.dirname(note)
    os.makedirs(folder, 0o700, exist_ok=True)
    file = os.open(note, os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
    size = os.fstat(file).st_size
    if size > MOST_GIVEN:
        os.ftruncate(file, 0)
    if not size and len(names := os.listdir(folder)) > MOST_SESSIONS:
        _quietly(lambda: _sweep([os.path.join(folder, name) for name in names]))
    return file


def _sweep(notes: list[str]) -> None:
    for note in sorted(notes, key=os.path.getmtime)[: -MOST_SESSIONS // 2]:
        os.unlink(note)


def _given(file: int, since: float) -> dict[str, str]:
    """Return what was given since a time, and by whom first."""
    given: dict[str, str] = {}
    os.lseek(file, 0, os.SEEK_SET)
    for line in os.read(file, 2 * MOST_GIVEN).decode("ascii", "replace").split("\n"):
        who, at, *entries = (*line.split(), "", "")
        if at.isdecimal() and int(at) >= since:
            given = dict.fromkeys(entries, who) | given
    return given


def _stamp(home: str, agent: str, event: str) -> None:
    """Leave a file whose time says when the agent was last heard; `seen.py` reads it."""
    path = os.path.join(_folder(home, "seen"), f"{agent}.hook")
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o600)
    os.write(file, event[:100].encode("utf-8", "replace"))
    os.close(file)


def _folder(home: str, name: str) -> str:
    folder = os.path.join(home, name)
    os.makedirs(home, 0o700, exist_ok=True)
    os.makedirs(folder, 0o700, exist_ok=True)
    return folder


def _spool(home: str, agent: str, event: str, text: str) -> None:
    """Write the event as `spool.py` reads it: there whole, or not at all."""
    folder = _folder(home, "spool")
    if sum(name.endswith(".json") for name in os.listdir(folder)) >= MOST_WAITING:
        return
    fields = _quoted(agent), _quoted(event[:100]), _quoted(_without_secrets(text))
    record = '{{"agent": {}, "name": {}, "payload": {}}}'.format(*fields)
    path = os.path.join(folder, f"{time.time_ns():020d}-{os.urandom(4).hex()}")
    try:
        _write(f"{path}.part", record.encode("utf-8", "replace"))
        os.replace(f"{path}.part", f"{path}.json")
    except OSError:
        os.unlink(f"{path}.part")  # a full disk needs the room


def _write(path: str, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        while data:
            data = data[os.write(file, data) :]
        os.fsync(file)
    finally:
        os.close(file)


# --- secrets that are known by their beginning; all others are cut when the event is taken in --------------------


def _without_secrets(text: str) -> str:
    for begin in _KEYS:
        text = _without(text, begin, _key, "[redacted:private-key]")
    for begin in _TOKENS:
        text = _without(text, begin, _token, "[redacted:token]")
    return text


def _without(text: str, begin: str, look: "Callable[[str, int, str], tuple[bool, int]]", mark: str) -> str:
    at = text.find(begin)
    parts, done = [], 0
    while at >= 0:
        secret, end = look(text, at, begin)
        if secret:
            parts += [text[done:at], mark]
            done = end
        at = text.find(begin, end)
    return "".join([*parts, text[done:]]) if parts else text


def _token(text: str, at: int, begin: str) -> tuple[bool, int]:
    """Whether a token is here, long enough and no word, and where to go on."""
    start, least = at + len(begin), _TOKENS[begin]
    if text[start : start + least].strip(_TOKEN_SIGNS) or (len(begin) < 4 and not _begins_word(text, at)):
        return False, start
    end = _end_of_run(text, start, _TOKEN_SIGNS)
    token = text[start:end]
    mixed = any(map(str.isdigit, token)) or (len(token) >= 20 and not token.islower() and not token.isupper())
    return len(token) >= least and mixed, end


def _begins_word(text: str, at: int) -> bool:
    """Whether no letter or digit stands before; those of an escape such as `\\n` do not count."""
    if not text[at].isalpha():
        return True
    before = text[max(0, at - 6) : at]
    return not (before[-1:].isascii() and before[-1:].isalnum()) or before[-2:-1] == "\\" or before[:2] == "\\u"


def _key(text: str, at: int, begin: str) -> tuple[bool, int]:
    """Whether a private key is here, whole, torn or without its first line, and where to go on."""
    start = at
    if begin == "-----BEGIN ":
        title, dashes, _ = text[at + len(begin) : at + 80].partition("-----")
        start += len(begin) + len(title) + len(dashes)
        if "PRIVATE KEY" not in title or not dashes:
            return False, at + len(begin)
        limit = _end_of_string(text, start)
        closing = text.find("-----END", start, limit)
        if closing >= 0:
            closing = text.find("-----", closing + 8, limit)
            return True, closing + 5 if closing >= 0 else limit
    end = _end_of_lines(text, start)
    return end > start, max(end, at + len(begin))


def _end_of_string(text: str, at: int) -> int:
    limit = min(len(text), at + _LONGEST_KEY)
    end = text.find('"', at, limit)
    while end >= 0 and text[end - 1] == "\\":
        end = text.find('"', end + 1, limit)
    return end if end >= 0 else limit


def _end_of_lines(text: str, at: int) -> int:
    """Return where the lines of key material end that begin here, be it in one string or in a list of them."""
    begun = False
    while True:
        start = _end_of_run(text, at, _BETWEEN)
        end = _end_of_run(text, start, _KEY_SIGNS)
        if end - start < 16:
            break
        at, begun = end, True
    between = text[at:start]
    last = begun and '"' not in between and ("\\" in between or "\n" in between)
    return end if last else at


def _end_of_run(text: str, at: int, signs: str) -> int:
    while piece := text[at : at + 4096]:
        rest = len(piece.lstrip(signs))
        at += len(piece) - rest
        if rest:
            break
    return at


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:
        os._exit(0)  # waits for no thread that hangs, and whatever was raised has nobody to tell
