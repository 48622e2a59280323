"""The table of items, one file each."""

from . import cold, fixture, fuzz, http, isolated, loading, real_servers, reports, schema_lint, shared

ALL = [isolated, real_servers, shared, http, fuzz, schema_lint, loading, reports, fixture, cold]
