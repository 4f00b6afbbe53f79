"""Who has a port that the hub wants: another hub, or a program that knows nothing of us."""

from __future__ import annotations

import json
import socket
import ssl
from time import monotonic

_SECONDS = 1.0
_LARGEST = 8192


def who_listens(host: str, port: int) -> str:
    """Return in words who answers there, asked for no longer than two seconds."""
    for secure in (False, True):
        try:
            answer = _ask(host, port, secure)
        except (OSError, ValueError):
            continue
        version = _version(answer)
        if version is not None:
            return f"the hub of another home (Memory Plane {version})"
    return "a program that is no hub of Memory Plane"


def _ask(host: str, port: int, secure: bool) -> bytes:
    """Return what comes for `GET /health`, as much of it as comes in time."""
    deadline = monotonic() + _SECONDS
    name = f"[{host}]" if ":" in host else host
    with _connected(host, port, secure) as connection:
        connection.sendall(f"GET /health HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while len(answer) < _LARGEST and (left := deadline - monotonic()) > 0:
            connection.settimeout(left)
            try:
                part = connection.recv(_LARGEST)
            except TimeoutError:
                break
            if not part:
                break
            answer += part
        return answer


def _connected(host: str, port: int, secure: bool) -> socket.socket:
    plain = socket.create_connection((host, port), timeout=_SECONDS)
    if not secure:
        return plain
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # nothing is told and nothing believed: only its kind is asked
    context.verify_mode = ssl.CERT_NONE
    try:
        return context.wrap_socket(plain)
    except OSError:
        plain.close()
        raise


def _version(answer: bytes) -> str | None:
    """Return the version that a hub's answer names, None where it is none."""
    try:
        said = json.loads(answer.partition(b"\r\n\r\n")[2])
        status, version = said["status"], said["version"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return version[:40] if status == "ok" and isinstance(version, str) and version.isprintable() else None
