"""What the database itself holds: whole vectors of one size, and no row that crosses shops."""

from django.db import migrations

_SAME_SHOP = {
    # table: (constraint, its columns, the table they point at, that table's columns)
    "knowledge_articleversion": (
        "version_in_shop_of_article", "article_id, tenant_id", "knowledge_article", "id, tenant_id"
    ),
    "knowledge_chunk": (
        "chunk_in_shop_of_version", "version_id, tenant_id", "knowledge_articleversion", "id, tenant_id"
    ),
    "knowledge_knowledgeindex": (
        "index_in_shop_of_set", "active_set_id, tenant_id", "knowledge_embeddingset", "id, tenant_id"
    ),
    "knowledge_calibration": (
        "calibration_in_shop_of_set", "set_id, tenant_id", "knowledge_embeddingset", "id, tenant_id"
    ),
}

_FORWARD = [
    f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({columns}) "
    f"REFERENCES {other} ({keys}) DEFERRABLE INITIALLY DEFERRED"
    for table, (name, columns, other, keys) in _SAME_SHOP.items()
] + [
    "ALTER TABLE knowledge_embedding "
    "ADD CONSTRAINT vector_fits_its_set FOREIGN KEY (set_id, tenant_id, dims) "
    "REFERENCES knowledge_embeddingset (id, tenant_id, dims) DEFERRABLE INITIALLY DEFERRED, "
    "ADD CONSTRAINT vector_in_shop_of_chunk FOREIGN KEY (chunk_id, tenant_id) "
    "REFERENCES knowledge_chunk (id, tenant_id) DEFERRABLE INITIALLY DEFERRED, "
    "ADD CONSTRAINT vector_has_its_dims CHECK (vector_dims(vector) = dims), "
    # pgvector refuses NaN and infinity itself; it takes zero, whose distance is NaN.
    "ADD CONSTRAINT vector_has_unit_length CHECK (vector_norm(vector) BETWEEN 0.99 AND 1.01)",
]
_BACKWARD = [
    f"ALTER TABLE {table} DROP CONSTRAINT {name}" for table, (name, *_) in _SAME_SHOP.items()
] + [
    "ALTER TABLE knowledge_embedding DROP CONSTRAINT vector_fits_its_set, "
    "DROP CONSTRAINT vector_in_shop_of_chunk, DROP CONSTRAINT vector_has_its_dims, "
    "DROP CONSTRAINT vector_has_unit_length",
]


class Migration(migrations.Migration):
    dependencies = [("knowledge", "0001_articles")]
    operations = [migrations.RunSQL(_FORWARD, _BACKWARD)]
