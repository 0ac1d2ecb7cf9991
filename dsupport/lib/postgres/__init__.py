"""Django's PostgreSQL with a pool that looks at a connection before it asks across the wire."""
