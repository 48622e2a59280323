//! The earlier load that a load is compared with.

use std::fmt::Write as _;
use std::path::Path;

use mcprove_judge::load::{Change, Measure, compare as compare_loads, merge_loads};
use mcprove_model::{Finding, LoadRecord, duration_text, number_text};
use mcprove_report::{Style, load_of};

use crate::failure::Failure;
use crate::finish::RunOutcome;
use crate::logs::{self, Frames};
use crate::stdout::print;

/// Reads the load of an event log.
pub(crate) fn read(path: &Path) -> Result<LoadRecord, Failure> {
    let mut report = logs::read(&[path.to_owned()], Frames::Drop)?.report;
    merge_loads(&mut report);
    match load_of(&report) {
        Some((_, load)) => Ok(load.clone()),
        None => Err(Failure::new(
            format!("the event log `{}` has no load to compare with", path.display()),
            "write one with `mcprove bench --events FILE`",
        )),
    }
}

/// Compares a run with an earlier one: what is worse beyond noise is a finding.
pub(crate) fn compare(earlier: &LoadRecord, outcome: &mut RunOutcome, style: Option<&Style>) -> Result<(), Failure> {
    let Some((_, load)) = load_of(&outcome.report) else { return Ok(()) };
    let changes = match compare_loads(earlier, load) {
        Ok(changes) => changes,
        Err(why) => {
            outcome.complaints.push(why);
            return Ok(());
        }
    };
    let mut text = String::from("\ncompared with the earlier run\n");
    for change in &changes {
        let _ = writeln!(text, "  {}", described(change));
    }
    outcome.report.findings.extend(changes.iter().filter(|change| change.is_regression).map(|change| {
        Finding::error("slower-than-baseline", described(change))
            .help("look at what changed; run both again on a quiet machine")
    }));
    if style.is_some() { print(&text) } else { Ok(()) }
}

fn described(change: &Change) -> String {
    let value = |value: f64| match change.measure {
        Measure::P50 | Measure::P95 => duration_text(value),
        Measure::Throughput | Measure::Errors => format!("{}/s", number_text(value)),
    };
    let word = match (change.is_regression, change.is_improvement) {
        (true, _) => "worse",
        (false, true) => "better",
        (false, false) => "no change beyond noise",
    };
    let is_same = !change.is_regression && !change.is_improvement;
    let visible = change.visible.filter(|_| is_same).map_or_else(String::new, |visible| match visible {
        ..10.0 => format!("; a change of {:.0} % would have been seen", visible * 100.0),
        _ => "; too noisy to see any change".to_owned(),
    });
    format!(
        "{}: {} → {}, {word} (p = {:.4}{visible})",
        change.measure.as_str(),
        value(change.before),
        value(change.after),
        change.p
    )
}
