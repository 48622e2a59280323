//! Nothing: the tests are in `tests/mcp.rs`.
