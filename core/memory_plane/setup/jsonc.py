"""Edits of JSON files as people keep them: comments, order, indentation, line ends and trailing commas stay.

tree-sitter says where things stand, `json` what they mean; an edit is a splice of the bytes between.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

import tree_sitter_json
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from memory_plane.setup.errors import Broken
from memory_plane.setup.pointers import MISSING, get

_BOM = b"\xef\xbb\xbf"
_JSON = Language(tree_sitter_json.language())
_BEYOND = {
    "mark": "a byte order mark",
    "comments": "comments",
    "commas": "a comma after the last of an object or array",
}
_PLUS = re.compile(rb"(?<=\d[eE])\+(?=\d)")
"""What an exponent may begin with, and the grammar does not know."""


def load(data: bytes) -> Any:
    """Return what a file means, None for one with nothing in it; raise `Broken`."""
    try:  # most have no comments, and some have megabytes
        return json.loads(data.decode("utf-8-sig"), parse_constant=int)
    except (ValueError, RecursionError):
        return _Document(data).value


def check(data: bytes, reads: Collection[str]) -> None:
    """Raise `Broken` for a file with more than plain JSON that an agent that `reads` only this much cannot read."""
    document = _Document(data)
    has = {"mark": document.bom, "comments": document.comments, "commas": document.has_commas}
    for name, found in has.items():
        if found and name not in reads:
            raise Broken(
                f"holds {_BEYOND[name]}, which its agent does not read: it drops the whole file; take that out"
            )


def put(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Set the value at `pointer`; objects on the way are made."""
    document = _Document(data)
    if document.value is None:
        return document.begun(_nested(pointer, value))
    node = document.top
    for depth, key in enumerate(pointer):
        if node.type != "object":
            raise Broken(f"holds no object at {'.'.join(pointer[:depth]) or 'the top'}")
        pair = document.member(node, key)
        if pair is None:
            return document.insert(node, _nested(pointer[depth + 1 :], value), key)
        node = _value_of(pair)
    return document.replace(node, value)


def add(data: bytes, pointer: Sequence[str], value: Any) -> bytes:
    """Add an element to the end of the array at `pointer`, which is made where it is missing."""
    document = _Document(data)
    array = get(document.value, pointer)
    if array is MISSING:
        return put(data, pointer, [value])
    if not isinstance(array, list):
        raise Broken(f"holds no array at {'.'.join(pointer)}")
    return document.insert(document.at(pointer), value)


def drop(data: bytes, pointer: Sequence[str], element: Any = MISSING, *, made: int = 0) -> bytes:
    """Remove the entry at `pointer`, or one `element` of its array, and the `made` containers that are empty then."""
    document = _Document(data)
    node = document.at(pointer)
    if element is MISSING:
        data = document.remove(_pair_of(node))
        left = list(pointer[:-1])
    else:
        place = document.load(node).index(element)
        data = document.remove(_children(node)[place])
        left = list(pointer)
    while made > 0 and left and not get(load(data), left):
        document = _Document(data)
        data = document.remove(_pair_of(document.at(left)))
        left.pop()
        made -= 1
    return data


class _Document:
    """A parsed file: `value` is what it means, `top` the node of it."""

    def __init__(self, data: bytes) -> None:
        self.bom, self.data = (_BOM, data[3:]) if data.startswith(_BOM) else (b"", data)
        self.newline = b"\r\n" if b"\r\n" in self.data else b"\n"
        try:
            self.data.decode()
        except UnicodeDecodeError:
            raise Broken("is not UTF-8") from None
        root, plain = _parse(self.data)
        self.comments, self.has_commas = _comments(root), plain != self.data
        tops = [child for child in root.children if child.type != "comment"]
        self.value = None
        if tops:
            self.top = tops[0]
            self.plain = _blanked(plain, self.comments)
            try:
                self.value = json.loads(self.plain)
            except (ValueError, RecursionError) as error:
                raise Broken(f"is no valid JSON: {error}") from None

    def load(self, node: Node) -> Any:
        return json.loads(self.plain[node.start_byte : node.end_byte])

    def member(self, node: Node, key: str) -> Node | None:
        """Return the pair with the key; of several the last, which is the one that counts."""
        pairs = [pair for pair in _children(node) if self.load(pair.children[0]) == key]
        return pairs[-1] if pairs else None

    def at(self, pointer: Sequence[str]) -> Node:
        """Return the node of the value at `pointer`; raise `KeyError` if nothing is there."""
        node = self.top
        for key in pointer:
            pair = self.member(node, key)
            if pair is None:
                raise KeyError(key)
            node = _value_of(pair)
        return node

    # --- splices -------------------------------------------------------------------------------------------------

    def begun(self, value: Any) -> bytes:
        """Return the file with a first value after its comments, if it has any."""
        text = _written(value, "  ").replace(b"\n", self.newline)
        return self.bom + self.data + text + self.newline

    def replace(self, node: Node, value: Any) -> bytes:
        return self._spliced((node.start_byte, node.end_byte, self._text(value, self._indent(node))))

    def insert(self, container: Node, value: Any, key: str | None = None) -> bytes:
        """Add a member or an element as the last one, laid out as its neighbours are."""
        members, (opener, closer) = _children(container), (container.children[0], container.children[-1])
        several = self._is_spread(container)
        indent = self._indent(members[0]) if members and several else self._indent(container) + self._unit()
        head = b"" if key is None else _written(key) + b": "
        text = head + self._text(value, indent, spread=several)
        last = self._last_token(container)
        comma = members and self._comma_after(members[-1], closer)
        before = self.newline + indent if several else b" " if members else b""
        if not members:
            after = self.newline + self._indent(container) if several else b""
            end = closer.start_byte if last == opener.end_byte else last
            return self._spliced((last, end, before + text + (after if last == opener.end_byte else b"")))
        if comma:
            return self._spliced((last, last, before + text + b","))
        return self._spliced((members[-1].end_byte, members[-1].end_byte, b","), (last, last, before + text))

    def remove(self, node: Node) -> bytes:
        """Take a member or an element out, with the comma and the white space that came with it."""
        container = node.parent
        assert container is not None
        members, closer = _children(container), container.children[-1]
        place = members.index(node)
        start = max(token.end_byte for token in container.children if token.end_byte <= node.start_byte)
        start = len(self.data[:start].rstrip(b"\r"))  # a comment of one line holds half of its end
        comma = self._comma_after(node, closer)
        end = comma + 1 if comma else node.end_byte
        if len(members) == 1 and not self.data[end : closer.start_byte].strip() and start == container.start_byte + 1:
            end = closer.start_byte
        if comma or place == 0:
            return self._spliced((start, end, b""))
        lone = self._comma_after(members[place - 1], node)
        return self._spliced((lone, lone + 1, b""), (start, end, b""))

    def _spliced(self, *splices: tuple[int, int, bytes]) -> bytes:
        data = self.data
        for start, end, text in sorted(reversed(splices), key=lambda one: one[0], reverse=True):
            data = data[:start] + text + data[end:]
        return self.bom + data

    # --- the layout ----------------------------------------------------------------------------------------------

    def _text(self, value: Any, indent: bytes, *, spread: bool = True) -> bytes:
        if not spread:
            return _written(value)
        return _written(value, self._unit().decode()).replace(b"\n", self.newline + indent)

    def _indent(self, node: Node) -> bytes:
        """Return the white space at the beginning of the line that a node begins on."""
        line = self.data[self.data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte]
        return line[: len(line) - len(line.lstrip(b" \t"))]

    def _unit(self) -> bytes:
        """Return by how much the first line below the top is indented."""
        for child in _children(self.top):
            if indent := self._indent(child):
                return indent
        return b"  "

    def _is_spread(self, container: Node) -> bool:
        """Tell whether the members stand on lines of their own; an empty container does as the file does."""
        whole = container if _children(container) else self.top
        return b"\n" in self.data[whole.start_byte : whole.end_byte] or not _children(whole)

    def _last_token(self, container: Node) -> int:
        """Return where the last thing before the closing bracket ends: a member, its comma or a comment."""
        inside = self.data[: container.children[-1].start_byte].rstrip(b" \t\r\n")
        return len(inside)

    def _comma_after(self, node: Node, until: Node) -> int:
        """Return where the comma after a node is, 0 if there is none."""
        comments = [one for one in self.comments if node.end_byte <= one[0] < until.start_byte]
        between = _blanked(self.data[: until.start_byte], comments)
        return max(between.find(b",", node.end_byte), 0)


def _written(value: Any, indent: str | None = None) -> bytes:
    """Write a value; half of a surrogate pair, as in a path that is no UTF-8, becomes an escape of JSON."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace")


def _parse(data: bytes) -> tuple[Node, bytes]:
    """Return the tree, and the bytes with a blank for each trailing comma; raise `Broken`."""
    parser = Parser(_JSON)
    for _ in range(2):
        root = parser.parse(_PLUS.sub(b"0", data)).root_node
        if not root.has_error:
            return root, data
        data = _blanked(data, list(_trailing_commas(root, data)))
    broken = next(node for node in _walk(root) if node.is_error or node.is_missing)
    raise Broken(f"is no valid JSON near line {broken.start_point[0] + 1}")


def _trailing_commas(root: Node, data: bytes) -> Iterator[tuple[int, int]]:
    """Find commas with nothing but comments up to the closing bracket."""
    tokens = [node for node in _walk(root) if node.child_count == 0 and node.type != "comment" and not node.is_missing]
    for (before, comma), (_, closer) in pairwise(pairwise(tokens)):
        if comma.type == "," and closer.type in ("]", "}") and before.type not in ("[", "{", ","):
            yield comma.start_byte, comma.end_byte


def _walk(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)


def _comments(root: Node) -> list[tuple[int, int]]:
    found = QueryCursor(Query(_JSON, "(comment) @comment")).captures(root).get("comment", [])
    return [(one.start_byte, one.end_byte) for one in found]


def _blanked(data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    blank = bytearray(data)
    for start, end in spans:
        blank[start:end] = b" " * (min(end, len(data)) - start)
    return bytes(blank)


def _children(container: Node) -> list[Node]:
    return [child for child in container.named_children if child.type != "comment"]


def _value_of(pair: Node) -> Node:
    return _children(pair)[-1]


def _pair_of(value: Node) -> Node:
    assert value.parent is not None
    return value.parent


def _nested(pointer: Sequence[str], value: Any) -> Any:
    for key in reversed(pointer):
        value = {key: value}
    return value
