//! A load as people and other programs read it.

mod k6;
mod openmetrics;
mod otlp;
mod page;
mod progress;
mod summary;
mod svg;
mod table;

use mcprove_model::{CaseReport, LoadRecord, Report};

pub use k6::{K6Call, K6Script};
pub use openmetrics::openmetrics;
pub use otlp::otlp;
pub use progress::LoadLine;
pub use summary::load_summary;

pub(crate) use page::page;
pub(crate) use table::{LoadTable, markdown, table};

/// The case that is a load, and its record.
pub fn load_of(report: &Report) -> Option<(&CaseReport, &LoadRecord)> {
    report.cases.iter().find_map(|case| Some((case, case.finished.as_ref()?.load.as_deref()?)))
}

/// The percentiles that are shown.
const PERCENTILES: [(&str, f64); 7] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999)];
