//! Number of passed cases as a badge: a shields.io endpoint, and the same as an SVG file.

use mcprove_model::Report;
use serde::Serialize;

use super::{Format, Shows};
use crate::json_text;
use crate::reliability::Reliability;
use crate::status::is_model_graded;

/// See the module.
pub(super) const FORMAT: Format =
    Format { name: "badge", extension: "json", summary: "shields.io endpoint JSON", shows: Shows::Verdicts, render };

/// See the module.
pub(super) const SVG: Format = Format {
    name: "badge-svg",
    extension: "svg",
    summary: "the badge as an SVG file",
    shows: Shows::Verdicts,
    render: render_svg,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Badge {
    schema_version: u32,
    label: &'static str,
    message: String,
    color: &'static str,
}

fn render(report: &Report) -> String {
    json_text::pretty(&badge(report))
}

fn badge(report: &Report) -> Badge {
    // A case counts once: with several trials it passes when it passed every time.
    let trials = Reliability::of(report);
    let (passed, all) = (trials.reliable(), trials.rows().len());
    let failed = trials.judged() - passed;
    let graded = report.cases.iter().filter(|case| is_model_graded(&case.started) && case.started.trial <= 1).count();
    let graded = if graded > 0 { format!(", {graded} model-graded") } else { String::new() };
    let (message, color) = match (all, failed) {
        (0, _) => ("no cases".to_owned(), "lightgrey"),
        (_, 0) if passed == all => (format!("{passed}/{all}{graded}"), "brightgreen"),
        (_, 0) => (format!("{passed}/{all}{graded}"), "yellow"),
        (_, _) => (format!("{passed}/{all}{graded}"), "red"),
    };
    Badge { schema_version: 1, label: "mcprove", message, color }
}

fn render_svg(report: &Report) -> String {
    let Badge { schema_version: _, label, message, color } = badge(report);
    let fill = match color {
        "brightgreen" => "#2e9e3f",
        "yellow" => "#b58900",
        "red" => "#c0392b",
        _ => "#777",
    };
    // Digits and small letters of Verdana at 11 pixels are seven wide; nothing in a badge comes from outside.
    let (left, right) = (label.len() * 7 + 12, message.len() * 7 + 12);
    let width = left + right;
    let (label_at, message_at) = (left / 2, left + right / 2);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {message}">
  <title>{label}: {message}</title>
  <clipPath id="edge"><rect width="{width}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#edge)">
    <rect width="{left}" height="20" fill="#444"/>
    <rect x="{left}" width="{right}" height="20" fill="{fill}"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    <text x="{label_at}" y="14">{label}</text>
    <text x="{message_at}" y="14">{message}</text>
  </g>
</svg>
"##
    )
}
