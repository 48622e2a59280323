//! The day of the week.

use super::Normaliser;

pub(super) const NORMALISER: Normaliser = Normaliser {
    name: "weekday",
    summary: "The English name of a day of the week, in full.",
    pattern: r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b",
    masked: &["Sunday", "Wednesday"],
    kept: &["Sundays", "Mon", "monday"],
};
