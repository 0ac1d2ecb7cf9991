"""A Celery application that knows the schedule and nothing else.

Beat sends tasks by name. Without Django's applications it takes a third of the memory.
"""

from __future__ import annotations

from celery import Celery

app = Celery("dsupport-beat", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
