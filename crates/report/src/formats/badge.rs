//! A shields.io endpoint: how many cases pass, as a badge.

use mcprove_model::Report;
use serde::Serialize;

use super::{Format, Shows};
use crate::json_text;
use crate::reliability::Reliability;

/// See the module.
pub(super) const FORMAT: Format =
    Format { name: "badge", extension: "json", summary: "shields.io endpoint JSON", shows: Shows::Verdicts, render };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: &'static str,
    message: String,
    color: &'static str,
}

fn render(report: &Report) -> String {
    // A case counts once: with several trials it passes when it passed every time.
    let trials = Reliability::of(report);
    let (passed, all) = (trials.reliable(), trials.rows().len());
    let failed = trials.judged() - passed;
    let (message, color) = match (all, failed) {
        (0, _) => ("no cases".to_owned(), "lightgrey"),
        (_, 0) if passed == all => (format!("{passed}/{all}"), "brightgreen"),
        (_, 0) => (format!("{passed}/{all}"), "yellow"),
        (_, _) => (format!("{passed}/{all}"), "red"),
    };
    json_text::pretty(&Badge { schema_version: 1, label: "mcprove", message, color })
}
