"""Articles, what is searched of them, and what every search left behind."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import F, Q
from pgvector.django import VectorField

from dsupport.contract.principal import Principal
from dsupport.lib.ids import new_id
from knowledge.spending import EmbeddingAttempt as EmbeddingAttempt


class Audience(models.TextChoices):
    PUBLIC = "public", "Everybody"
    INTERNAL = "internal", "Staff only"


class ScopedQuerySet(models.QuerySet[Any]):
    """Reads that start from who asks. `version_path` leads from the model to a version."""

    version_path = ""

    def for_principal(self, principal: Principal) -> Self:
        """Return what this asker may ever see: their shop's, and internal words to staff alone."""
        rows = self.for_tenant(principal.tenant_id)
        if principal.staff_id is not None:
            return rows
        return rows.filter(self._version(audience=Audience.PUBLIC))

    def for_tenant(self, tenant_id: int) -> Self:
        """Return a whole shop's, for work that no asker sees, such as indexing."""
        return self.filter(tenant_id=tenant_id)

    def in_audience(self, audience: Collection[str]) -> Self:
        return self.filter(self._version(audience__in=list(audience)))

    def in_language(self, language: str | None) -> Self:
        """Keep a language (and its regional forms); None keeps every one."""
        if language is None:
            return self
        return self.filter(
            self._version(language=language) | self._version(language__startswith=f"{language}-")
        )

    def effective_on(self, day: date) -> Self:
        return self.filter(
            self._version(effective_from=None) | self._version(effective_from__lte=day),
            self._version(effective_until=None) | self._version(effective_until__gte=day),
        )

    def live_at(self, index_version: int) -> Self:
        """Keep what searches saw at an index version, whatever was published since."""
        return self.filter(
            self._version(live_until=None) | self._version(live_until__gt=index_version),
            self._version(live_from__lte=index_version),
        )

    def live(self) -> Self:
        return self.filter(self._version(live_from__isnull=False, live_until=None))

    def _version(self, **conditions: Any) -> Q:
        return Q(**{f"{self.version_path}{name}": value for name, value in conditions.items()})


class ArticleQuerySet(ScopedQuerySet):
    version_path = "current__"


class Article(models.Model):
    """One page of the help centre. What it says, and to whom, stands in its versions."""

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHED = "published", "Published"
        ARCHIVED = "archived", "Archived"

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    doc_id = models.CharField(max_length=120)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.DRAFT)
    current = models.ForeignKey(
        "knowledge.ArticleVersion",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The version published last; searches see it while the article is published",
    )

    objects: Any = ArticleQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "doc_id"], name="one_article_per_doc_id"),
            models.UniqueConstraint(fields=["id", "tenant"], name="article_and_shop"),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "published", "archived"]),
                name="article_status_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.doc_id


class ArticleVersionQuerySet(ScopedQuerySet):
    def readable(self) -> Self:
        """Keep versions that were published and whose article has not been kept back since."""
        return self.filter(state="published").exclude(article__status="draft")


class ArticleVersion(models.Model):
    """What an article said from one publication to the next. Its words never change.

    The row is also the job that publishes it: `queued` waits for a worker. `live_from` and
    `live_until` count index versions, so a search that has read its index version sees the same
    articles however much is published while it runs, and can be run again later.
    """

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        QUEUED = "queued", "Waiting for the index"
        FAILED = "failed", "Failed"
        PUBLISHED = "published", "Published"
        SUPERSEDED = "superseded", "Overtaken by a newer one"

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=State.choices)
    title = models.CharField(max_length=200)
    body = models.TextField(help_text="Markdown")
    topic = models.CharField(max_length=60, blank=True)
    language = models.CharField(max_length=12, default="en")
    audience = models.CharField(max_length=12, choices=Audience.choices)
    effective_from = models.DateField(null=True, blank=True)
    effective_until = models.DateField(null=True, blank=True, help_text="The last day")
    sample_questions = models.JSONField(default=list, blank=True)
    content_hash = models.CharField(max_length=64)

    # The record of its making and publication.
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    published_by = models.CharField(max_length=150, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    embedder_id = models.CharField(max_length=80, blank=True)
    passages = models.PositiveIntegerField(default=0)
    withdrawn_by = models.CharField(max_length=150, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    live_from = models.BigIntegerField(null=True, blank=True)
    live_until = models.BigIntegerField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    attempted_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    objects: Any = ArticleVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["article", "number"], name="one_version_per_number"),
            models.UniqueConstraint(fields=["id", "tenant"], name="article_version_and_shop"),
            models.UniqueConstraint(
                fields=["article"],
                condition=Q(live_from__isnull=False, live_until=None),
                name="one_live_version_per_article",
            ),
            models.CheckConstraint(
                condition=Q(audience__in=["public", "internal"]), name="audience_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "queued", "failed", "published", "superseded"]),
                name="version_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(live_from=None, published_at=None)
                | Q(live_from__isnull=False, published_at__isnull=False, state="published"),
                name="live_versions_are_published",
            ),
            models.CheckConstraint(
                condition=Q(live_until=None) | Q(live_until__gt=F("live_from")),
                name="live_range_runs_forward",
            ),
        ]
        indexes = [
            models.Index(
                fields=["attempted_at"], condition=Q(state="queued"), name="versions_waiting"
            ),
            models.Index(fields=["tenant", "live_from"], name="versions_live"),
        ]

    def __str__(self) -> str:
        return f"{self.title} · version {self.number}"


class ChunkQuerySet(ScopedQuerySet):
    version_path = "version__"


class Chunk(models.Model):
    """A passage of a version, or one of its sample questions: what searches compare with."""

    class Kind(models.TextChoices):
        PASSAGE = "passage", "Passage"
        QUESTION = "question", "Sample question"

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    version = models.ForeignKey(ArticleVersion, on_delete=models.CASCADE, related_name="chunks")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    ordinal = models.PositiveIntegerField()
    heading = models.CharField(max_length=400, blank=True)
    anchor = models.CharField(max_length=400, blank=True)
    text = models.TextField()
    indexed_text = models.TextField(help_text="The text behind its title and heading")
    stems = ArrayField(models.TextField(), default=list)
    identifiers = ArrayField(models.TextField(), default=list)
    search = models.GeneratedField(
        expression=SearchVector("indexed_text", config="english"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects: Any = ChunkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "kind", "ordinal"], name="one_chunk_per_place"
            ),
            models.UniqueConstraint(fields=["id", "tenant"], name="chunk_and_shop"),
        ]
        indexes = [
            GinIndex(fields=["search"], name="chunks_by_text"),
            GinIndex(fields=["stems"], name="chunks_by_stem"),
            GinIndex(fields=["identifiers"], name="chunks_by_identifier"),
        ]

    def __str__(self) -> str:
        return self.heading or self.text[:60]


class EmbeddingSet(models.Model):
    """The vectors that one model made for one shop. Vectors of two sets are never compared."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    embedder_id = models.CharField(max_length=80)
    dims = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["id", "tenant", "dims"], name="set_and_its_size"),
            models.UniqueConstraint(fields=["id", "tenant"], name="set_and_shop"),
        ]

    def __str__(self) -> str:
        return f"{self.embedder_id} · {self.dims} dimensions"


class EmbeddingQuerySet(ScopedQuerySet):
    version_path = "chunk__version__"


class Embedding(models.Model):
    """The vector of a chunk within a set.

    The database holds what the name promises (second migration): the shop and the number of
    dimensions are those of the set, and the vector has unit length, so never zero.
    """

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    set = models.ForeignKey(EmbeddingSet, on_delete=models.CASCADE, related_name="embeddings")
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="embeddings")
    dims = models.PositiveIntegerField()
    vector = VectorField()

    objects: Any = EmbeddingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["set", "chunk"], name="one_vector_per_chunk_and_set"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.chunk_id} in set {self.set_id}"


class KnowledgeIndex(models.Model):
    """What searches of a shop see: the set of vectors in force and the count of changes.

    Its row is the lock that publications of a shop take, one after the other.
    """

    tenant = models.OneToOneField(
        "dsupport.Tenant", on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    version = models.BigIntegerField(default=0)
    active_set = models.ForeignKey(
        EmbeddingSet, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    def __str__(self) -> str:
        return f"index version {self.version}"


class Calibration(models.Model):
    """How well noise matches this help centre: the cut-off, measured and not assumed."""

    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    set = models.ForeignKey(EmbeddingSet, on_delete=models.CASCADE)
    embedder_id = models.CharField(max_length=80)
    index_version = models.BigIntegerField()
    floor = models.FloatField(help_text="Below it there is no hit")
    high = models.FloatField(help_text="From it on a hit is strong enough to answer with")
    null_scores = models.JSONField(help_text="Off-topic questions with their best scores")
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["set", "-index_version"], name="calibrations_newest")]

    def __str__(self) -> str:
        return f"{self.floor:.3f} / {self.high:.3f} at index version {self.index_version}"


class RetrievalTraceQuerySet(models.QuerySet["RetrievalTrace"]):
    def for_principal(self, principal: Principal) -> RetrievalTraceQuerySet:
        """Return a shop's searches to its staff, and nothing to anybody else."""
        if principal.staff_id is None:
            return self.none()
        return self.filter(tenant_id=principal.tenant_id)

    def for_run(self, principal: Principal, run_id: str) -> RetrievalTraceQuerySet:
        """Return what one run of this asker's shop searched."""
        return self.filter(tenant_id=principal.tenant_id, run_id=run_id)


class RetrievalTrace(models.Model):
    """One search: what was asked, of what, what came, and what became of it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tenant = models.ForeignKey("dsupport.Tenant", on_delete=models.CASCADE)
    at = models.DateTimeField()
    principal_kind = models.CharField(max_length=10)
    run_id = models.CharField(max_length=64, blank=True)
    query = models.TextField(help_text="Personal data masked")
    filters = models.JSONField(default=dict)
    hits = models.JSONField(default=list, help_text="Candidates above and below the cut-off")
    cutoff = models.FloatField()
    high = models.FloatField()
    band = models.CharField(max_length=24)
    index_version = models.BigIntegerField()
    set = models.ForeignKey(EmbeddingSet, on_delete=models.SET_NULL, null=True)
    embedder_id = models.CharField(max_length=80, blank=True)
    milliseconds = models.PositiveIntegerField(default=0)

    objects: Any = RetrievalTraceQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-at"], name="traces_newest"),
            models.Index(fields=["run_id"], condition=~Q(run_id=""), name="traces_of_a_run"),
        ]

    def __str__(self) -> str:
        return self.query[:80]
