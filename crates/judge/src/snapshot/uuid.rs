//! Identifiers that are made up anew each time.

use super::Normaliser;

pub(super) const NORMALISER: Normaliser = Normaliser {
    name: "uuid",
    summary: "A UUID.",
    pattern: r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    masked: &["f81d4fae-7dec-41d0-8765-00a0c91e6bf6", "F81D4FAE-7DEC-41D0-8765-00A0C91E6BF6"],
    kept: &["deadbeef", "f81d4fae-7dec", "a-b-c-d-e"],
};
