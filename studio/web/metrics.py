"""Figures for the machine's own monitoring: requests, live connections, never a card or a name.

What the scanners say of themselves is added by `studio.web.scan_metrics`.
"""

import time
from typing import Final

from flask import Blueprint, Flask, Response, g, request
from flask.typing import ResponseReturnValue
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

from studio.web.guard import loopback_only

SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
UNKNOWN_ENDPOINT: Final = "unknown"


class Metrics:
    """The figures of one application."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "studio_requests_total",
            "Requests answered.",
            ("endpoint", "method", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "studio_request_seconds",
            "Time to answer a request.",
            ("endpoint",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.connections = Gauge(
            "studio_live_connections",
            "Open live connections.",
            registry=self.registry,
        )

    def text(self) -> bytes:
        """Return all figures in Prometheus' text format."""
        return generate_latest(self.registry)


def init_metrics(app: Flask) -> Metrics:
    """Count every request of `app` and add /metrics for this machine."""
    metrics = Metrics()
    door = Blueprint("metrics", __name__)

    @door.get("/metrics")
    @loopback_only
    def show() -> ResponseReturnValue:
        return Response(metrics.text(), content_type=CONTENT_TYPE_LATEST)

    def begin() -> None:
        g.began = time.perf_counter()

    def end(response: Response) -> Response:
        endpoint = request.endpoint or UNKNOWN_ENDPOINT
        metrics.requests.labels(endpoint, request.method, str(response.status_code)).inc()
        if "began" in g:
            metrics.seconds.labels(endpoint).observe(time.perf_counter() - g.began)
        return response

    app.before_request(begin)
    app.after_request(end)
    app.register_blueprint(door)
    return metrics
