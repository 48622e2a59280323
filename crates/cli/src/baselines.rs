//! The baseline a run is compared with, and the one it leaves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mcprove_model::Report;
use mcprove_report::{Baseline, Comparison};
use mcprove_suite::load::bounded_read;

use crate::atomic_write;
use crate::failure::Failure;

/// The baseline a run is compared with, and the one it leaves.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Baseline")]
pub(crate) struct Baselines {
    /// Compare with a saved baseline: a case that failed then, too, is known and does not fail the run; one that passed then is a regression.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Save the status of each case.
    #[arg(long, value_name = "FILE")]
    save_baseline: Option<PathBuf>,
    /// Exit with 1 when there is a regression; for `ci` and `report`, because the others always do.
    #[arg(long, requires = "baseline")]
    pub(crate) fail_on_regression: bool,
}

impl Baselines {
    /// The baseline to compare with, when one was named. One that a part of the cases is to be saved to must be readable
    /// too, for it keeps the others.
    pub(crate) fn read(&self, is_partial: bool) -> Result<Option<Baseline>, Failure> {
        if is_partial && let Some(path) = self.save_baseline.as_ref().filter(|path| path.exists()) {
            let help = "fix or remove it: cases that are not run now keep their entries";
            read(path).map_err(|error| unreadable(path, &error, help))?;
        }
        let Some(path) = &self.baseline else { return Ok(None) };
        read(path).map(Some).map_err(|error| unreadable(path, &error, "write one with `--save-baseline FILE`"))
    }

    /// True if there is none to compare with and none to save.
    pub(crate) fn are_unused(&self) -> bool {
        self.baseline.is_none() && self.save_baseline.is_none()
    }

    /// Where a baseline is saved.
    pub(crate) fn saved(&self) -> (&'static str, Option<&Path>) {
        ("--save-baseline", self.save_baseline.as_deref())
    }

    /// Where a baseline is saved, unless the file is a baseline that was read.
    pub(crate) fn replaced(&self, is_partial: bool) -> Option<&Path> {
        let is_read = |path: &&Path| self.baseline.as_ref().is_some_and(|read| bounded_read::is_same_file(read, path));
        self.save_baseline.as_deref().filter(|path| !is_partial && !is_read(path))
    }

    /// Saves the results of the run; returns a message if that fails. If it ran only a part of the cases, the
    /// others keep the entries they have in the file.
    pub(crate) fn save(&self, report: &Report, is_partial: bool) -> Option<String> {
        let path = self.save_baseline.as_ref()?;
        let earlier = if (is_partial || Baseline::is_cut_short(report)) && path.exists() {
            match read(path) {
                Ok(earlier) => earlier,
                Err(error) => return Some(format!("the baseline `{}` was left alone: {error}", path.display())),
            }
        } else {
            Baseline::default()
        };
        let error = atomic_write::write(path, earlier.updated(report).render().as_bytes()).err()?;
        Some(format!("the baseline `{}` could not be written: {error}", path.display()))
    }
}

fn read(path: &Path) -> Result<Baseline, String> {
    Baseline::parse(&bounded_read::read_to_string(path).map_err(|error| error.to_string())?)
}

fn unreadable(path: &Path, error: &str, help: &str) -> Failure {
    Failure::new(format!("the baseline `{}` cannot be read: {error}", path.display()), help)
}

/// Changes since the baseline; empty without one.
pub(crate) fn compare(baseline: Option<&Baseline>, report: &Report, known: &BTreeSet<&str>) -> Comparison {
    baseline.map(|baseline| baseline.compare(report, known)).unwrap_or_default()
}
