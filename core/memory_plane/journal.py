"""A file of lines to append to: what was acknowledged survives a crash, and a torn end hurts nothing that follows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from errno import EINVAL, ENOTSUP
from itertools import islice
from pathlib import Path

_BLOCK = 1 << 20
_BINARY = getattr(os, "O_BINARY", 0)


class Journal:
    """Lines of bytes without their newlines, in a file for the owner alone that is there only while it holds any.

    Whoever changes it holds a lock meanwhile; reading needs none. Methods raise `OSError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._part = path.with_suffix(".part")
        self._tally = path.with_suffix(".count")
        self._lasting: tuple[int, int] | None = None

    def append(self, lines: Sequence[bytes]) -> int:
        """Add lines and return how many there are now; they are on disk, or none is and `OSError` says why."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o600)
        try:
            found = os.fstat(descriptor)
            self._make_lasting(found)
            count = self._count(found)
            # What a power cut tore off becomes a line of its own, which nobody can read and which swallows no other.
            torn = b"\n" if found.st_size and _last_byte(descriptor, found.st_size) != b"\n" else b""
            try:
                _write(descriptor, torn + b"".join(line + b"\n" for line in lines))
                os.fsync(descriptor)
            except BaseException:
                with suppress(OSError):
                    os.ftruncate(descriptor, found.st_size)
                raise
            self._note(os.fstat(descriptor), count + len(lines))
            return count + len(lines)
        finally:
            os.close(descriptor)

    def lines(self) -> Iterator[bytes]:
        """Yield every line, a torn last one as well."""
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n")

    def head(self, limit: int, size: int, wanted: Callable[[bytes], bool] | None = None) -> list[bytes]:
        """Return the first lines that are `wanted`, at most `limit` of them and, from the second on, `size` bytes."""
        found: list[bytes] = []
        for line in islice(filter(wanted, self.lines()) if wanted else self.lines(), limit):
            size -= len(line) + 1
            if found and size < 0:
                break
            found.append(line)
        return found

    def rewrite(self, keep: Callable[[bytes], bool]) -> int:
        """Take away the lines that are not to be kept and return how many; it happens whole or not at all."""
        if not self.path.exists():
            return 0
        kept = went = 0
        try:
            descriptor = os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o600)
            try:
                block = bytearray()
                for line in self.lines():
                    if not keep(line):
                        went += 1
                        continue
                    kept += 1
                    block += line + b"\n"
                    if len(block) >= _BLOCK:
                        _write(descriptor, bytes(block))
                        block.clear()
                _write(descriptor, bytes(block))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if went and kept:
                self._part.replace(self.path)
            elif went:
                self.path.unlink()
        finally:
            self._part.unlink(missing_ok=True)
        if went:
            self._settle(kept)
        return went

    def depth(self) -> int:
        """Return how many lines there are; it is not read for that, unless it was changed by other means."""
        try:
            return self._count(self.path.stat())
        except FileNotFoundError:
            return 0

    def _settle(self, kept: int) -> None:
        sync_folder(self.path.parent)
        if not kept:
            self._tally.unlink(missing_ok=True)
            return
        found = self.path.stat()
        self._lasting = (found.st_dev, found.st_ino)
        self._note(found, kept)

    def _make_lasting(self, found: os.stat_result) -> None:
        """Have the folder remember this file, which no fsync of the file itself does, before anything counts on it."""
        identity = (found.st_dev, found.st_ino)
        if identity != self._lasting or not found.st_size:
            sync_folder(self.path.parent)
            self._lasting = identity

    def _count(self, found: os.stat_result) -> int:
        """Return the noted count where it was noted for this very file at this size; else count."""
        if not found.st_size:
            return 0
        with suppress(OSError, ValueError):
            inode, size, count = map(int, self._tally.read_bytes().split())
            if (inode, size) == (found.st_ino, found.st_size):
                return count
        return sum(1 for _ in self.lines())

    def _note(self, found: os.stat_result, count: int) -> None:
        """Note the count, in one write of one length, so that no reader sees half of it."""
        with suppress(OSError):
            descriptor = os.open(self._tally, os.O_WRONLY | os.O_CREAT | _BINARY, 0o600)
            try:
                os.write(descriptor, b"%20d %20d %20d\n" % (found.st_ino, found.st_size, count))
            finally:
                os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Have a folder's names on disk: those of new, replaced and removed files."""
    if os.name == "nt":  # which has no such thing
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):  # some network disks know no folders to sync
            raise
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)
