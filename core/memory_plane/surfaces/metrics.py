"""Numbers for Prometheus: what was written, how long answers take, what waits, and how fresh each agent is."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from memory_plane.operations import OPS
from memory_plane.plane import Plane
from memory_plane.types import Operation, Receipt

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
AGENTS = 50
"""How many agents have a number of their own: those that wrote last."""
_METHODS = frozenset(("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"))


class Metrics:
    """The numbers of one app, in a registry of their own."""

    def __init__(self, plane: Plane) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_State(plane))
        self._writes = Counter(
            "memory_plane_writes", "Operations that were taken to the store", ["op", "state"], registry=self.registry
        )
        self.requests = Histogram(
            "memory_plane_request_seconds",
            "Time until a request was answered",
            ["method", "route", "status"],
            registry=self.registry,
        )

    def watch(self, batch: Sequence[Operation], receipts: Sequence[Receipt]) -> None:
        """Count what was written, as a watcher of the plane."""
        for operation, receipt in zip(batch, receipts, strict=True):
            self._writes.labels(operation.op if operation.op in OPS else "other", receipt.state).inc()

    def text(self) -> bytes:
        """Return all numbers in the text format of Prometheus."""
        return generate_latest(self.registry)


class Timed:
    """Measure each request by the template of its route, so that no id and no name becomes a label."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._requests = metrics.requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Measure the app's answer up to its first byte, which is all that a stream can be measured by."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()

        async def measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = getattr(scope.get("route"), "path", "none")
                method = scope["method"] if scope["method"] in _METHODS else "other"
                self._requests.labels(method, route, message["status"]).observe(perf_counter() - began)
            await send(message)

        await self._app(scope, receive, measured)


class _State(Collector):
    """What is read from the plane each time somebody asks."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def describe(self) -> Iterator[Metric]:
        """Say nothing in advance: registering must not open the database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers of this moment."""
        status = self._plane.status()
        yield _gauge("operations", "Operations in the log", status.operations)
        yield _gauge("spooled_events", "Events of hooks that wait for their plugin", status.spooled)
        yield _gauge("enrichment_queue", "Memories that wait for a plugin", status.waiting)
        yield _gauge("outbox_operations", "Operations that wait in this machine's outbox", status.queued)
        yield _gauge("database_bytes", "Size of the database and its write-ahead log", self._plane.database.size())
        ages = GaugeMetricFamily(
            "memory_plane_agent_last_write_seconds", "Time since an agent wrote last", labels=["agent"]
        )
        now = datetime.now(UTC)
        for agent, at in sorted(status.agents, key=lambda one: one[1], reverse=True)[:AGENTS]:
            ages.add_metric([agent], (now - at).total_seconds())
        yield ages
        failures = GaugeMetricFamily(
            "memory_plane_plugin_failures", "Failures of a plugin since the hub began", labels=["plugin"]
        )
        for plugin, count in Tally(failure.plugin for failure in self._plane.plugins.failures).items():
            failures.add_metric([plugin], count)
        yield failures


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"memory_plane_{name}", about, value=value)
