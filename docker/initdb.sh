#!/bin/sh
# Runs once, on an empty volume: the owner of the tables, the application's role, the extensions.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
    -v owner_password="$DSUPPORT_OWNER_PASSWORD" -v app_password="$DSUPPORT_APP_PASSWORD" <<'SQL'
CREATE ROLE dsupport_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE dsupport_app LOGIN PASSWORD :'app_password';
CREATE DATABASE dsupport OWNER dsupport_owner;
REVOKE ALL ON DATABASE dsupport FROM PUBLIC;
GRANT CONNECT ON DATABASE dsupport TO dsupport_app;
\connect dsupport
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS unaccent;
ALTER SCHEMA public OWNER TO dsupport_owner;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
