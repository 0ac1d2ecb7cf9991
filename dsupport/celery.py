"""The Celery application: wakes workers up with ids; owns nothing."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dsupport.settings")

app = Celery("dsupport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
