//! Durations.

use super::Normaliser;

pub(super) const NORMALISER: Normaliser = Normaliser {
    name: "duration",
    summary: "A number with a unit of time.",
    pattern: r"\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|milliseconds?|microseconds?|nanoseconds?|mins?|minutes?|hours?)\b",
    masked: &["5ms", "1.25 s", "10 seconds", "3 minutes", "120us"],
    kept: &["5 items", "10 MB", "3 messages", "v1.2", "+9.0h"],
};
