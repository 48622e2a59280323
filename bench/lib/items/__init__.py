"""The table of items, one file each."""

from . import cold, compositions, fixture, fuzz, http, isolated, listing, loading, real_servers, reports, schema_lint, shared

ALL = [isolated, real_servers, shared, compositions, http, fuzz, schema_lint, loading, reports, fixture, cold, listing]
