"""Logging to stderr, as lines for people or JSON for machines; never to stdout."""

from __future__ import annotations

from typing import Any

import structlog


def logging_config(style: str, level: str) -> dict[str, Any]:
    """Return a `dictConfig` document. Personal data is masked before a line is written."""
    shared = _processors()
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _renderer(style),
        ],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"structured": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {name: {"level": least} for name, least in _LEAST.items()},
    }


# What others say at a lower level than this is noise here.
_LEAST = {
    "django.request": "ERROR",
    "httpx": "WARNING",
    "httpx2": "WARNING",
    "kombu": "WARNING",
    "celery.beat": "WARNING",
    "celery.worker.strategy": "WARNING",
    "celery.app.trace": "WARNING",
    "dsupport.lib.embedded": "WARNING",
}


def _processors() -> list[Any]:
    from dsupport.lib.redaction import mask_event

    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        mask_event,
    ]


def _renderer(style: str) -> Any:
    if style == "json":
        return structlog.processors.JSONRenderer()
    return structlog.dev.ConsoleRenderer(
        colors=False,
        # The rich one prints local variables, and with them what customers wrote.
        exception_formatter=structlog.dev.plain_traceback,
    )
