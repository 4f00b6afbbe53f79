"""Edits of YAML files as people keep them: comments, order, indentation, anchors and line ends stay.

PyYAML's parser says where things stand; an edit is a splice of the text between, laid out as its neighbours are. What
it made is read again, and refused where it says anything else than it should.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from memory_plane.setup.errors import Broken
from memory_plane.setup.pointers import MISSING, get, with_value
from memory_plane.setup.yaml_nodes import Node, meaning, parse

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(r"[^\r\n]*(\r\n|\r|\n)?")
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_NO_TEXT = re.compile(r"true|false|yes|no|on|off|y|n|null", re.IGNORECASE)
"""Words that are something else than text in one or the other version of YAML."""
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def load(data: bytes) -> Any:
    """Return what a file means, None for one with nothing in it; raise `Broken`."""
    return _Document(data).value


def put(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Set the value at `pointer`; mappings on the way are made."""
    document = _Document(data)
    return document.proved(_put(document, pointer, value), with_value(document.value, pointer, value))


def add(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Add an element to the end of the sequence at `pointer`, which is made where it is missing."""
    document = _Document(data)
    array = get(document.value, pointer)
    if array is MISSING:
        return put(data, pointer, [value])
    if not isinstance(array, list):
        raise Broken(f"holds no array at {'.'.join(pointer)}")
    text = document.append(document.way(pointer)[-1].value, value)
    return document.proved(text, with_value(document.value, pointer, [*array, value]))


def drop(data: bytes, pointer: Sequence[str], element: Any = MISSING, *, made: int = 0) -> bytes:
    """Remove the entry at `pointer`, or one `element` of its array, and the `made` containers that are empty then."""
    document = _Document(data)
    way = document.way(pointer)
    held = get(document.value, pointer)
    gone = way.pop() if element is MISSING else _Member(way[-1].value, held.index(element))
    while made > 0 and way and gone.is_alone:
        gone = way.pop()
        made -= 1
    if way and gone.is_alone and not gone.container.flow:  # a container in block style cannot be written empty
        text = document.replace(way[-1], [] if gone.container.kind == "sequence" else {})
    else:
        text = document.remove(gone)
    gone.forget()
    return document.proved(text, meaning(document.top) if document.top else None)


def _put(document: _Document, pointer: Sequence[str], value: Any) -> str:
    get(document.value, pointer)
    if document.top is None:
        return document.begun(_nested(pointer, value))
    if document.value is None:
        raise Broken("holds no object at the top")
    node, member = document.top, None
    for depth, key in enumerate(pointer):
        place = node.place(key)
        if place is None:
            inner = {key: _nested(pointer[depth + 1 :], value)}
            if member and document.is_bare(member):
                return document.replace(member, inner)
            return document.insert(node, inner)
        member = _Member(node, place)
        node = member.value
    assert member
    return document.replace(member, value)


@dataclass(frozen=True, slots=True)
class _Member:
    """One key of a mapping with its value, or one element of a sequence."""

    container: Node
    place: int

    @property
    def key(self) -> Node:
        return self.container.members[self.place][0]

    @property
    def value(self) -> Node:
        return self.container.members[self.place][1]

    @property
    def is_alone(self) -> bool:
        return len(self.container.members) == 1

    def forget(self) -> None:
        """Take the member out of the tree."""
        step = 1 if self.container.kind == "sequence" else 2
        del self.container.items[self.place * step : (self.place + 1) * step]


class _Document:
    """A parsed file: `value` is what it means, `top` the node of it, None if there is nothing."""

    def __init__(self, data: bytes) -> None:
        self.bom = _BOM if data.startswith(_BOM) else b""
        try:
            self.text = data[len(self.bom) :].decode()
        except UnicodeDecodeError:
            raise Broken("is not UTF-8") from None
        self.newline = "\r\n" if "\r\n" in self.text else "\n"
        self.top, self.end = parse(self.text)
        self.value = meaning(self.top) if self.top else None

    def way(self, pointer: Sequence[str]) -> list[_Member]:
        """Return the members on the way down to the one at `pointer`; raise `KeyError` if nothing is there."""
        found: list[_Member] = []
        for key in pointer:
            node = found[-1].value if found else self.top
            place = node.place(key) if node else None
            if node is None or place is None:
                raise KeyError(key)
            found.append(_Member(node, place))
        return found

    def proved(self, text: str, expected: Any) -> bytes:
        """Return the file with this text, which must mean what is expected; nothing and an empty mapping are alike."""
        try:
            data = self.bom + text.encode()
        except UnicodeEncodeError:
            raise Broken("cannot hold a path that is no UTF-8") from None
        try:
            found = load(data)
        except Broken:
            _refuse()
        return data if found == expected or not (found or expected) else _refuse()

    def is_bare(self, member: _Member) -> bool:
        """Tell whether a value is nothing or `{}` in a mapping in block style: members go into lines below its key."""
        return not member.container.flow and self.text[member.value.start : member.value.end] in ("", "{}")

    # --- splices -------------------------------------------------------------------------------------------------

    def begun(self, value: Any) -> str:
        """Return the text with a first value after its comments, if it has any."""
        return self._with_lines(self.end, self._block(value, ""))

    def insert(self, mapping: Node, members: Mapping[str, Any]) -> str:
        """Add members as the last ones."""
        if mapping.flow:
            return self._with_flow(mapping, _flow(members)[1:-1])
        indent = " " * min(key.column for key, _ in mapping.members)  # a question mark may stand before a key
        return self._with_lines(self._line_end(mapping.end), self._block(members, indent))

    def append(self, sequence: Node, value: Any) -> str:
        """Add an element as the last one."""
        if sequence.flow:
            return self._with_flow(sequence, _flow(value))
        dash = self._dash(sequence.items[-1])
        indent = " " * (dash - self._line_start(dash))
        inner = self._block(value, f"{indent}  ").lstrip(" ") if _is_filled(value) else _scalar(value)
        return self._with_lines(self._line_end(sequence.end), f"{indent}- {inner}")

    def replace(self, member: _Member, value: Any) -> str:
        """Write another value after a key; a comment beside the key stays."""
        key, old = member.key, member.value
        if member.container.flow:
            return self.text[: old.start] + _flow(value) + self.text[old.end :]
        start = self.text.find(":", key.end) + 1
        line = len(self.text[: self._line_end(start)].rstrip("\r\n"))
        beside = self.text[start:line] if old.start > line or old.is_nothing else ""
        end = max(start + len(beside), len(self.text[: old.end].rstrip("\r\n")))
        if _is_filled(value):
            after = beside + self.newline + self._block(value, " " * key.column + self._unit())
        else:
            after = f" {_scalar(value)}{beside}"
        return self.text[:start] + after + self.text[end:]

    def remove(self, member: _Member) -> str:
        """Take a member out with the lines that it stands on, or with the comma that came with it."""
        key, value = member.key, member.value
        if member.container.flow:
            members, place = member.container.members, member.place
            start = members[place - 1][1].end if place else key.start
            end = members[1][0].start if place == 0 and len(members) > 1 else value.end
            return self.text[:start] + self.text[end:]
        first = self._dash(value) if member.container.kind == "sequence" else key.start
        start, end = self._line_start(first), self._line_end(value.end)
        if self.text[start:first].strip(" "):
            _refuse()
        if self.text[end - 1] not in "\r\n":  # the last line has no end, and the one before it had none
            start = len(self.text[:start].removesuffix("\n").removesuffix("\r"))
        return self.text[:start] + self.text[end:]

    def _with_lines(self, place: int, lines: str) -> str:
        """Put lines at the beginning of a line, or below a last line that has no end: then they have none either."""
        before, after = self.text[:place], self.text[place:]
        if before and before[-1] not in "\r\n":
            return before + self.newline + lines + after
        return before + lines + self.newline + after

    def _with_flow(self, container: Node, text: str) -> str:
        place, comma = (container.items[-1].end, ", ") if container.items else (container.inside, "")
        return self.text[:place] + comma + text + self.text[place:]

    # --- the layout ----------------------------------------------------------------------------------------------

    def _block(self, value: Mapping[str, Any], indent: str) -> str:
        """Write a mapping as lines of its own, the last without its end; sequences go into one line each."""
        lines = []
        for name, inner in value.items():
            head = f"{indent}{_scalar(name)}:"
            if _is_filled(inner):
                lines += [head, self._block(inner, indent + self._unit())]
            else:
                lines.append(f"{head} {_scalar(inner)}")
        return self.newline.join(lines)

    def _unit(self) -> str:
        """Return by how much the first mapping within another is indented."""
        for node in self.top.walk() if self.top else ():
            for key, value in node.members:
                if value.kind == "mapping" and not node.flow and not value.flow:
                    return " " * max(value.items[0].column - key.column, 1)
        return "  "

    def _dash(self, item: Node) -> int:
        """Return the place of the dash before an element."""
        before = self.text[: item.start].rstrip(" \r\n")
        return len(before) - 1 if before.endswith("-") else _refuse()

    def _line_start(self, place: int) -> int:
        return 1 + max(self.text.rfind(end, 0, place) for end in "\r\n")

    def _line_end(self, place: int) -> int:
        """Return the beginning of the next line; a text in block style ends there already."""
        if self.text[place - 1] in "\r\n":
            return place
        line = _LINE.match(self.text, place)
        return line.end() if line else place


def _is_filled(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value)


def _scalar(value: Any) -> str:
    """Write a value into the rest of a line; a text is quoted where it could be taken for anything else."""
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and not _NO_TEXT.fullmatch(value)
    return str(value) if is_plain else _flow(value)


def _flow(value: Any) -> str:
    """Write a value as JSON, which YAML takes in any place."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _nested(pointer: Sequence[str], value: Any) -> Any:
    for key in reversed(pointer):
        value = {key: value}
    return value


def _refuse() -> NoReturn:
    raise Broken("is laid out in a way that cannot be edited safely; edit it by hand")
