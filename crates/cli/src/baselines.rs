//! The baseline a run is compared with, and the one it leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mcprove_model::Report;
use mcprove_report::{Baseline, Comparison};

use crate::failure::Failure;
use crate::whole_file;

/// The baseline a run is compared with, and the one it leaves.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Baseline")]
pub(crate) struct Baselines {
    /// Compare with what an earlier run saved: passed then and not now is a regression.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Save what each case came to.
    #[arg(long, value_name = "FILE")]
    save_baseline: Option<PathBuf>,
    /// Exit with 1 when there is a regression (`run` and `matrix` always do).
    #[arg(long, requires = "baseline")]
    pub(crate) fail_on_regression: bool,
}

impl Baselines {
    /// The baseline to compare with, when one was named.
    pub(crate) fn read(&self) -> Result<Option<Baseline>, Failure> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let text = fs::read_to_string(path).map_err(|error| error.to_string());
        text.and_then(|text| Baseline::parse(&text)).map(Some).map_err(|error| {
            Failure::new(
                format!("the baseline `{}` cannot be read: {error}", path.display()),
                "write one with `--save-baseline FILE`",
            )
        })
    }

    /// Saves what the run came to, and says when that could not be done.
    pub(crate) fn save(&self, report: &Report) -> Option<String> {
        let path = self.save_baseline.as_ref()?;
        let error = whole_file::write(path, Baseline::of(report).render().as_bytes()).err()?;
        Some(format!("the baseline `{}` could not be written: {error}", path.display()))
    }
}

/// What changed since the baseline, when there is one.
pub(crate) fn compare(baseline: Option<&Baseline>, report: &Report, known: &BTreeSet<&str>) -> Comparison {
    baseline.map(|baseline| baseline.compare(report, known)).unwrap_or_default()
}
