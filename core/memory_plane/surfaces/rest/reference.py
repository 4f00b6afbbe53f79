"""`/docs`: the description of the endpoints as one small page that loads nothing from anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = "body{font:16px system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{overflow:auto}"
HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}


def page(openapi: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    title = escape(f"{openapi['info']['title']} {openapi['info']['version']}")
    entries = "\n".join(
        _entry(method, path, operation)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f'<h1>{title}</h1><p>The same for programs: <a href="/openapi.json">openapi.json</a></p>\n{entries}</html>'
    )


def _entry(method: str, path: str, operation: Mapping[str, Any]) -> str:
    about = operation.get("description") or operation.get("summary", "")
    parts = "".join(_parts(operation))
    return f"<details><summary><b>{method.upper()} {escape(path)}</b> {escape(about)}</summary>{parts}</details>"


def _parts(operation: Mapping[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", ()):
        about = parameter.get("description", "")
        yield f"<p><code>{escape(parameter['name'])}</code> {escape(about)}{' (needed)' * parameter['required']}</p>"
    if "requestBody" in operation:
        yield f"<p>Body</p><pre>{_json(operation['requestBody']['content'])}</pre>"
    for status, answer in operation["responses"].items():
        yield f"<p><code>{escape(status)}</code> {escape(answer['description'])}</p>"


def _json(value: Any) -> str:
    return escape(json.dumps(value, indent=2, ensure_ascii=False))
