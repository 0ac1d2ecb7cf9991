"""What `manage.py check` says of the models; the worker's log says it at every start."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from agents.houses import problems_of


@register()
def check_models(**_kwargs: Any) -> list[CheckMessage]:
    return [Warning(text, id="agents.W001") for text in problems_of(settings.DSUPPORT_PROVIDER)]
