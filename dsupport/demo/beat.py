"""A Celery application that knows the schedule and nothing else.

Beat sends tasks by their names, so it needs neither models nor tasks: without them it takes 73 MB
instead of 122.
"""

from __future__ import annotations

from celery import Celery

app = Celery("dsupport-beat", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
