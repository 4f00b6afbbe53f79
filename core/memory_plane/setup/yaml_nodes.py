"""YAML as a tree of nodes that know their places, and what each of them means.

Numbers, booleans and nulls are read as YAML 1.2 has them, like most agents do. A key with nothing after it holds an
empty mapping: agents take it for one. What is no JSON, such as an alias, a tag or a key that is no text, stands for
itself: it is never looked through, and never what we wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.scanner import ScannerError

from memory_plane.setup.errors import Broken

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS = {word: value for value, words in (
    (None, ("", "~", "null", "Null", "NULL")), (True, ("true", "True", "TRUE")), (False, ("false", "False", "FALSE")),
) for word in words}  # fmt: skip
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_DEEPEST = 100
_MOST_TABS = 100
_PLAIN_TAGS = ("!", "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


@dataclass(frozen=True, slots=True)
class Foreign:
    """What JSON has not: a tag with what it is on, "*" with what an alias stands for, a "key" or a "number" as text."""

    tag: str
    held: Any


@dataclass(slots=True)
class Node:
    """One node: `start` and `end` are places in the text, comments after it are none of it.

    `items` are the elements of a sequence, or the keys and values of a mapping in turn; `inside` is the place after the
    opening bracket of one in `flow` style, `target` what an alias stands for.
    """

    kind: str
    start: int
    end: int
    column: int
    value: str = ""
    tag: str = ""
    plain: bool = False
    flow: bool = False
    inside: int = 0
    target: Node | None = None
    items: list[Node] = field(default_factory=list)

    @property
    def members(self) -> list[tuple[Node, Node]]:
        """Return the keys with their values, and elements with themselves."""
        if self.kind != "mapping":
            return [(item, item) for item in self.items]
        return list(zip(self.items[::2], self.items[1::2], strict=True))

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is written where the value would be."""
        return self.kind == "scalar" and self.plain and self.start == self.end

    def place(self, key: str) -> int | None:
        """Return which member has the key; of several the last, which is the one that counts."""
        places = [place for place, (name, _) in enumerate(self.members) if meaning(name) == key]
        return places[-1] if places else None

    def walk(self) -> Iterator[Node]:
        """Yield the node and all below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.items)


def parse(text: str) -> tuple[Node | None, int]:
    """Return the top of the one document in a text, None if there is nothing, and where the document ends.

    PyYAML takes no tab for white space, as others do; each is read as a space where it cannot be indentation.
    """
    if text.lstrip()[:1] in ("{", "["):
        text = _INDENT.sub(lambda white: " " * len(white[0]), text)
    for _ in range(_MOST_TABS):
        try:
            return _parsed(text)
        except ScannerError as error:
            place = error.problem_mark.index if error.problem_mark else 0
            if text[place : place + 1] != "\t" or not text[:place].rpartition("\n")[2].strip():
                raise _broken(error) from None
            text = f"{text[:place]} {text[place + 1 :]}"
        except (yaml.YAMLError, ValueError) as error:
            raise _broken(error) from None
    raise Broken("has too many tabs between its words to be read as YAML")


def _parsed(text: str) -> tuple[Node | None, int]:
    tree, end = _Tree(), len(text)
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.DocumentEndEvent) and event.explicit:
            end = _span(event)[0]
        tree.take(event)
    if len(tree.tops) > 1:
        raise Broken("holds several documents of YAML; it can be edited by hand alone")
    top = tree.tops[0] if tree.tops else None
    return None if top is None or top.is_nothing else top, end


def _broken(error: Exception) -> Broken:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    where = f" near line {mark.line + 1}" if mark else ""
    return Broken(f"cannot be read as YAML{where}: {getattr(error, 'problem', None) or error}")


class _Tree:
    """The nodes of the events up to now."""

    def __init__(self) -> None:
        self.tops: list[Node] = []
        self.open: list[Node] = []
        self.anchors: dict[str, Node] = {}

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionEndEvent):
            closed = self.open.pop()
            closed.end = _span(event)[1] if closed.flow else closed.items[-1].end
        elif isinstance(event, yaml.NodeEvent):
            node = _node(event)
            (self.open[-1].items if self.open else self.tops).append(node)
            if isinstance(event, yaml.AliasEvent):
                node.target = self.anchors.get(event.anchor or "")
                if node.target is None:
                    raise Broken(f"is no valid YAML: nothing in it is called {event.anchor!r}")
            elif event.anchor:
                self.anchors[event.anchor] = node
            if isinstance(event, yaml.CollectionStartEvent):
                self.open.append(node)
        if len(self.open) > _DEEPEST:
            raise Broken(f"is nested more than {_DEEPEST} levels deep")


def meaning(node: Node) -> Any:
    """Return what a node means: plain data, and `Foreign` for the rest; raise `Broken`."""
    try:
        return _meaning(node)
    except ValueError as error:
        raise Broken(f"holds a number that cannot be read: {error}") from None


def _meaning(node: Node, *, below_alias: bool = False) -> Any:
    if node.target is not None:  # what that one stands for in turn shows in its own place
        return Foreign("*", node.value if below_alias else (node.value, _meaning(node.target, below_alias=True)))
    value: Any
    if node.is_nothing:
        value = {}
    elif node.kind == "scalar":
        value = _word(node.value) if node.plain else node.value
    elif node.kind == "sequence":
        value = [_meaning(item, below_alias=below_alias) for item in node.items]
    else:
        value = {_key(name): _meaning(item, below_alias=below_alias) for name, item in node.members}
    return Foreign(node.tag, value) if node.tag else value


def _key(node: Node) -> Any:
    value = _meaning(node)
    return value if isinstance(value, str) else Foreign("key", repr(value))


def _word(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return Foreign("number", text) if _NO_NUMBER.fullmatch(text) else text


def _node(event: yaml.NodeEvent) -> Node:
    start, end = _span(event)
    node = Node("alias", start, end, event.start_mark.column if event.start_mark else 0)
    if isinstance(event, yaml.AliasEvent):
        node.value = event.anchor or ""
        return node
    tag = getattr(event, "tag", None) or ""
    node.tag = "" if tag in _PLAIN_TAGS else tag
    if isinstance(event, yaml.ScalarEvent):
        node.kind, node.value, node.plain = "scalar", event.value, event.implicit[0] and not event.style
    elif isinstance(event, yaml.CollectionStartEvent):
        node.kind = "sequence" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
        node.flow, node.inside = bool(event.flow_style), end
    return node


def _span(event: yaml.Event) -> tuple[int, int]:
    assert event.start_mark
    assert event.end_mark
    return event.start_mark.index, event.end_mark.index
