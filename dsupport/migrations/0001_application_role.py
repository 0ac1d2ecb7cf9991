"""Give the application's role its rights on every table that a later migration makes.

The role is the user of the `default` connection. It owns nothing, so what a later migration
revokes or a trigger forbids holds against it.
"""

from django.db import connections, migrations


def grant(apps, schema_editor):
    role = connections["default"].settings_dict["USER"]
    owner = schema_editor.connection.settings_dict["USER"]
    if not role or role == owner:
        raise RuntimeError(
            "DATABASE_URL and DATABASE_OWNER_URL must name two different roles: "
            "the application's, which owns nothing, and the owner of the tables."
        )
    name = schema_editor.quote_name(role)
    for statement in (
        f"GRANT USAGE ON SCHEMA public TO {name}",
        f"GRANT SELECT ON django_migrations TO {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {name}",
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {name}",
    ):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    run_before = [
        ("contenttypes", "0001_initial"),
        ("sessions", "0001_initial"),
    ]
    operations = [
        migrations.RunPython(grant, migrations.RunPython.noop),
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS vector", migrations.RunSQL.noop),
    ]
