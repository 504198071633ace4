"""Set OpenTelemetry up as its documentation says: spans and log records over OTLP."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def set_up() -> Callable[[], None]:
    """Make both providers; return what hands over everything that they hold."""
    tracers = TracerProvider()
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(tracers)
    loggers = LoggerProvider()
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    set_logger_provider(loggers)
    try:
        from opentelemetry._events import set_event_logger_provider
        from opentelemetry.sdk._events import EventLoggerProvider

        set_event_logger_provider(EventLoggerProvider(loggers))
    except ImportError:
        pass

    def flush() -> None:
        tracers.force_flush()
        loggers.force_flush()

    return flush
