"""What can be done with articles."""

from knowledge.services.archiving import archive_article, store_draft
from knowledge.services.importing import import_articles
from knowledge.services.indexing import calibrate, rebuild_index
from knowledge.services.publishing import (
    PublishOutcome,
    edit_article,
    index_version,
    note_failure,
    publish_article,
    sweep_waiting,
)

__all__ = [
    "PublishOutcome",
    "archive_article",
    "calibrate",
    "edit_article",
    "import_articles",
    "index_version",
    "note_failure",
    "publish_article",
    "rebuild_index",
    "store_draft",
    "sweep_waiting",
]
