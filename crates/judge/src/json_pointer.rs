//! JSON Pointer (RFC 6901).

/// A key as a part of a JSON pointer.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
