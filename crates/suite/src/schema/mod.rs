//! The JSON Schema of both file kinds.

pub(crate) mod fragment;
