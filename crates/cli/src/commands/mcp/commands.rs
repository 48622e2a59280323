//! Commands that a test starts besides its servers, and where it sends keys: such a test is written by people only.

use mcprove_model::{Act, Case, SourceFile, Transform, TransformPhase};
use mcprove_suite::yaml;

/// Refuses a file that would start a command. Other suites can import it, so what none of its own tests uses counts, too.
pub(super) fn of_file(path: &str, content: &str) -> Result<(), String> {
    let (documents, _) = yaml::parse(&SourceFile::new(path.to_owned(), content.to_owned()));
    for document in &documents {
        for key in ["hooks", "scorers"] {
            if document.get(key).is_some_and(|value| !value.is_null()) {
                return Err(refused(key));
            }
        }
        let providers = document.get("providers").and_then(|providers| providers.as_map()).unwrap_or_default();
        if providers.iter().any(|entry| entry.value.get("base_url").is_some_and(|url| !url.is_null())) {
            return Err("`base_url` of `providers` decides where keys are sent; ask a person to add it".to_owned());
        }
        let transform = document.get("defaultTest").and_then(|defaults| defaults.get("transform"));
        let mut phases = ["request", "response"].into_iter().filter_map(|key| transform?.get(key));
        if phases.any(|phase| phase.as_map().is_none() && !phase.is_null()) {
            return Err("`transform` can be a command, so here it is written as `{jq: PROGRAM}`".to_owned());
        }
    }
    Ok(())
}

/// Refuses a case that would start a command, wherever its file has it from.
pub(super) fn of_case(case: &Case) -> Result<(), String> {
    if case.suite.as_ref().is_some_and(|suite| !suite.hooks.is_empty()) {
        return Err(refused("hooks"));
    }
    if case.matrix.as_ref().is_some_and(|matrix| !matrix.servers.is_empty()) {
        return Err("a `matrix` of servers is not written here; ask a person to add it".to_owned());
    }
    match &case.act {
        Act::CallTool(call) | Act::Notifications(call) if call.transform.as_deref().is_some_and(is_command) => {
            Err(refused("transform"))
        }
        Act::Score(score) if !score.scorers.is_empty() => Err(refused("scorers")),
        _ => Ok(()),
    }
}

fn is_command(transform: &Transform) -> bool {
    let mut phases = [&transform.request, &transform.response].into_iter().flatten();
    phases.any(|phase| matches!(phase, TransformPhase::Command(_)))
}

fn refused(key: &str) -> String {
    format!("`{key}` runs commands, so it is not written here; ask a person to add it")
}
