"""Who may do what in the embedded database, and with what settings it runs."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
import pytest
import redis
from psycopg import errors

from dsupport.lib.embedded import Endpoints, lease
from tests.lib.embedded_support import query, scratch


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoints]:
    with scratch(tmp_path_factory.mktemp("roles")) as data_dir, lease(data_dir) as found:
        yield found


@pytest.fixture
def extra(ends: Endpoints) -> Iterator[str]:
    """Give the owner's address of a database that the owner made, as a test run does."""
    query(ends.database_owner_url, "CREATE DATABASE extra")
    try:
        yield in_database(ends.database_owner_url, "extra")
    finally:
        query(ends.database_owner_url, "DROP DATABASE extra WITH (FORCE)")


def in_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


@pytest.mark.parametrize(
    ("role", "may_create_databases"), [("dsupport_owner", True), ("dsupport_app", False)]
)
def test_roles_have_only_their_powers(
    ends: Endpoints, role: str, may_create_databases: bool
) -> None:
    powers = query(
        ends.database_url,
        "SELECT ARRAY[rolcanlogin, rolcreatedb, rolsuper, rolcreaterole, rolreplication,"
        " rolbypassrls] FROM pg_roles WHERE rolname = %s",
        role,
    )
    assert powers == [True, may_create_databases, False, False, False, False]


def test_owner_owns_database_and_schema(ends: Endpoints) -> None:
    url = ends.database_owner_url
    owner = "SELECT pg_get_userbyid({}) FROM {} WHERE {} = %s"
    assert query(url, owner.format("datdba", "pg_database", "datname"), "dsupport") == (
        "dsupport_owner"
    )
    assert query(url, owner.format("nspowner", "pg_namespace", "nspname"), "public") == (
        "dsupport_owner"
    )


def test_app_owns_nothing_and_belongs_to_no_role(ends: Endpoints) -> None:
    app = "'dsupport_app'::regrole"
    owned = f"SELECT count(*) FROM pg_shdepend WHERE deptype = 'o' AND refobjid = {app}"
    groups = f"SELECT count(*) FROM pg_auth_members WHERE member = {app}"
    assert query(ends.database_url, owned) == 0
    assert query(ends.database_url, groups) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine ()",
        "CREATE TEMPORARY TABLE mine ()",
        "CREATE SCHEMA mine",
        "CREATE DATABASE mine",
        "CREATE ROLE mine",
        "CREATE EXTENSION hstore",
        "SET ROLE dsupport_owner",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION dsupport_owner",
        "ALTER ROLE dsupport_app CREATEDB",
        "COPY (SELECT 1) TO PROGRAM 'cat'",
        "SELECT pg_read_file('postgresql.conf')",
        "SELECT * FROM pg_authid",
    ],
)
def test_app_cannot_grow(ends: Endpoints, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        query(ends.database_url, statement)


def test_app_reads_a_table_only_when_granted(ends: Endpoints) -> None:
    query(ends.database_owner_url, "CREATE TABLE letters AS SELECT 'hello' AS body")
    with pytest.raises(errors.InsufficientPrivilege):
        query(ends.database_url, "SELECT body FROM letters")
    query(ends.database_owner_url, "GRANT SELECT ON letters TO dsupport_app")
    assert query(ends.database_url, "SELECT body FROM letters") == "hello"
    with pytest.raises(errors.InsufficientPrivilege):
        query(ends.database_url, "DROP TABLE letters")


@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_app_enters_no_other_database(ends: Endpoints, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        query(in_database(ends.database_url, database), "SELECT 1")


def test_password_is_asked_for(ends: Endpoints) -> None:
    parts = urlsplit(ends.database_owner_url)
    for user in ("dsupport_owner", "dsupport_app", "postgres"):
        host = parts.netloc.rpartition("@")[2]
        wrong = urlunsplit(parts._replace(netloc=f"{user}:{quote('wrong')}@{host}"))
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            query(wrong, "SELECT 1")


def test_cache_without_password_refuses(ends: Endpoints) -> None:
    port = urlsplit(ends.redis_url).port
    assert port is not None
    client = redis.Redis(host="127.0.0.1", port=port)
    try:
        with pytest.raises(redis.AuthenticationError):
            client.get("anything")
    finally:
        client.close()


def test_extensions_work_here_and_in_databases_made_later(ends: Endpoints, extra: str) -> None:
    for url in (ends.database_owner_url, ends.database_url, extra):
        assert query(url, "SELECT '[1,0]'::vector <=> '[0,1]'::vector") == 1
        assert query(url, "SELECT similarity('refund', 'refunds') > 0.5")
        assert query(url, "SELECT unaccent('café')") == "cafe"
    query(extra, "CREATE EXTENSION IF NOT EXISTS vector")  # what a migration says
    query(extra, "CREATE TABLE passages (body vector(3))")
    query(extra, "CREATE INDEX ON passages USING hnsw (body vector_cosine_ops)")


def test_owner_copies_its_database(ends: Endpoints) -> None:
    query(ends.database_owner_url, "CREATE TABLE copied AS SELECT 1 AS one")
    template = in_database(ends.database_owner_url, "postgres")
    query(template, "CREATE DATABASE copy TEMPLATE dsupport")
    try:
        url = in_database(ends.database_owner_url, "copy")
        assert query(url, "SELECT one FROM copied") == 1
    finally:
        query(template, "DROP DATABASE copy WITH (FORCE)")
        query(ends.database_owner_url, "DROP TABLE copied")


def test_owner_ends_sessions_of_the_app(ends: Endpoints, extra: str) -> None:
    query(extra, "GRANT CONNECT ON DATABASE extra TO dsupport_app")
    with psycopg.connect(in_database(ends.database_url, "extra")) as session:
        assert query(extra, "SELECT pg_terminate_backend(%s)", session.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            session.execute("SELECT pg_sleep(10)")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_connections", "100"),
        ("shared_buffers", "64MB"),
        ("jit", "off"),
        ("fsync", "on"),
        ("synchronous_commit", "on"),
        ("full_page_writes", "on"),
        ("TimeZone", "UTC"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("default_text_search_config", "pg_catalog.english"),
    ],
)
def test_settings_suit_a_laptop(ends: Endpoints, name: str, value: str) -> None:
    assert query(ends.database_url, "SELECT current_setting(%s)", name) == value


def test_case_rules_are_those_of_unicode(ends: Endpoints) -> None:
    assert query(ends.database_url, "SELECT lower('ÀÉÑ')") == "àéñ"
    assert query(ends.database_url, "SELECT 'CAFÉ' ILIKE 'café'")


def test_cache_survives_a_kill_by_its_settings(ends: Endpoints) -> None:
    client = redis.Redis.from_url(ends.redis_url)
    try:
        assert client.config_get("appendonly") == {"appendonly": "yes"}
        assert client.config_get("bind") == {"bind": "127.0.0.1"}
    finally:
        client.close()
