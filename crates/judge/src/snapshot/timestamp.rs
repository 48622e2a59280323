//! Moments: dates, times of day, and seconds since 1970.

use super::Normaliser;

pub(super) const NORMALISER: Normaliser = Normaliser {
    name: "timestamp",
    summary: "A date, a time of day with seconds, or the seconds (or milliseconds) since 1970 of the years 2020 to 2033.",
    // In this order: ISO 8601, dates in words as programs print them, dates with slashes, times of day, Unix time.
    pattern: concat!(
        r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?\b",
        r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? (?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*",
        r"(?: \d{1,2}\b)?,?(?: \d{4}\b)?(?: \d{2}:\d{2}:\d{2})?(?: (?:GMT|UTC)(?:[+-]\d{4})?)?(?: \([A-Z][A-Za-z ]+\))?",
        r"|\b\d{1,2}/\d{1,2}/\d{4}(?:,? \d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?)?\b",
        r"|\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?: ?[AP]M)?\b",
        r"|\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b",
    ),
    masked: &[
        "2026-11-15",
        "2026-11-15T10:44:12Z",
        "2026-11-15T10:44:12.123456+00:00",
        "2026-11-15 10:44:12",
        "Sun Nov 15 2026 10:44:12 GMT+0000 (Coordinated Universal Time)",
        "Sun, 15 Nov 2026 10:44:12 GMT",
        "11/15/2026, 10:44:12 AM",
        "10:44:12 AM",
        "1763203452",
        "1763203452123",
    ],
    kept: &["1.2.3", "12:30", "port 8080", "2026", "May I", "123456789012"],
};
