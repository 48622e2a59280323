//! A suite that was just written, run until it holds: what differs from run to run is expected no more.

use std::collections::BTreeMap;
use std::path::Path;

use mcprove_engine::{PlanOptions, plan};
use mcprove_model::{CaseReport, Verdict, shorten};
use serde_json::{Map, Value};

use crate::confinement::Confinement;
use crate::context::Context;
use crate::execution::{Execution, RunMode};
use crate::failure::Failure;
use crate::snapshots::{self, Judgement, Status};
use crate::starter_files::{self, StarterFile};
use crate::suites::{Suites, Watched, usable};

/// The number of runs in a row that must hold.
const CLEAN: usize = 2;
/// The most runs; what does not hold then is skipped.
const MOST: usize = 6;
/// A mask for a whole reply.
const EVERYTHING: &str = "(?s).+";

/// Options of a verification.
pub(crate) struct Verification<'v> {
    pub(crate) folder: &'v Path,
    pub(crate) fixture: Option<&'v Path>,
    /// Variables that the files ask the environment for.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) confinement: Confinement,
    pub(crate) execution: Execution,
}

/// Result of a verification.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    /// The number of replies that are stored.
    pub(crate) stored: usize,
    /// The number of tests whose expectations were weakened.
    pub(crate) weakened: usize,
    /// True if the user stopped it.
    pub(crate) is_interrupted: bool,
}

/// Runs the files until two runs in a row hold, and weakens what does not. Only these files are changed.
pub(crate) fn verify(
    files: &mut [StarterFile<'_>],
    verification: &Verification<'_>,
    context: &Context,
) -> Result<Verified, Failure> {
    let mut verified = Verified::default();
    let mut clean = 0;
    for round in 1..=MOST {
        let (cases, judgement) = run(verification, context)?;
        if cases.is_empty() || cases.values().any(|case| case.finished.is_none()) {
            verified.is_interrupted = !cases.is_empty();
            return Ok(verified);
        }
        let mut changed = Vec::new();
        for file in files.iter_mut() {
            let path = verification.folder.join(&file.name);
            let Some(case) = cases.get(path.to_string_lossy().as_ref()) else { continue };
            let snapshot = judgement.judged.iter().find(|judged| judged.name == case.started.name);
            let differs = snapshot.is_some_and(|judged| matches!(judged.status, Status::Changed(_)));
            if settle(file, case, differs && round > 1, round == MOST, &mut verified) {
                changed.push(starter_files::text(file));
            }
        }
        starter_files::write_all(verification.folder, &changed, true)?;
        judgement.store()?;
        verified.stored = judgement.count("NEW") + judgement.count("CHANGED") + judgement.count("MATCH");
        clean = if changed.is_empty() { clean + 1 } else { 0 };
        if clean == CLEAN {
            break;
        }
    }
    Ok(verified)
}

/// Runs the suite once: its cases by file, and the status of their replies.
fn run(
    verification: &Verification<'_>,
    context: &Context,
) -> Result<(BTreeMap<String, CaseReport>, Judgement), Failure> {
    let Verification { folder, fixture, variables, confinement, execution } = verification;
    // The files ask the environment for what the server was given here; the replies are those it gave with that.
    let suites = Suites::at(folder, *fixture).with_variables(variables.clone());
    let mut loaded = suites.load(None, Watched::Perhaps)?;
    confinement.apply_to_cases(&mut loaded.cases);
    let warnings = usable(&loaded, false)?;
    let plan = plan(&loaded.cases, &PlanOptions::default());
    let mode = RunMode::capturing(&plan, &loaded.secrets, warnings);
    let outcome = execution.run(&plan, mode, context)?;
    let judgement = snapshots::judge(&loaded.cases, &outcome.report)?;
    let cases = outcome.report.cases.into_iter().map(|case| (case.started.file.clone(), case)).collect();
    Ok((cases, judgement))
}

/// Weakens a file whose test did not hold; true if it was changed.
fn settle(
    file: &mut StarterFile<'_>,
    case: &CaseReport,
    differs: bool,
    is_last: bool,
    verified: &mut Verified,
) -> bool {
    let Some(finished) = &case.finished else { return false };
    let starter = &mut file.starter;
    let fails = match &finished.verdict {
        Verdict::Failed | Verdict::Error => true,
        // A defect that does not show every time is not a stable test.
        Verdict::Passed => starter.known.is_some(),
        Verdict::Skipped { .. } => false,
    };
    if fails {
        let weaker = starter.content.get("expect").and_then(weaker);
        if let Some(weaker) = weaker.filter(|_| !is_last && starter.known.is_none()) {
            starter.content["expect"] = weaker;
            starter.remarks.push("The reply differs from run to run, so little of it is expected.".to_owned());
            verified.weakened += 1;
        } else {
            let why = finished.findings.first().map(|finding| finding.message.as_ref()).unwrap_or_default();
            let why = shorten(why, 200);
            starter.skip = Some(format!("it passes and fails by turns ({why}); remove this line to run it"));
            starter.known = None;
        }
        return true;
    }
    let is_masked = starter.masks.iter().any(|mask| mask == EVERYTHING);
    if differs && !is_masked {
        starter.masks = vec![EVERYTHING.to_owned()];
        starter.remarks.push("The reply differs from run to run, so its snapshot is masked.".to_owned());
        return true;
    }
    false
}

/// An expectation that asks only how the call ended; `None` for one that asks no more than that.
fn weaker(expect: &Value) -> Option<Value> {
    let ends: Map<String, Value> = expect
        .as_object()?
        .iter()
        .filter(|(key, _)| matches!(key.as_str(), "not_error" | "is_error" | "protocol_error"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let is_weaker = ends.len() < expect.as_object()?.len() && !ends.is_empty();
    is_weaker.then_some(Value::Object(ends))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_weaker_expectation_asks_how_the_call_ended() {
        assert_eq!(weaker(&json!({"not_error": true, "equals": "x"})), Some(json!({"not_error": true})));
        assert_eq!(weaker(&json!({"not_error": true})), None);
        assert_eq!(weaker(&json!({"not_empty": true})), None);
    }
}
