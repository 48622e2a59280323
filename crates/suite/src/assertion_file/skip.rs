//! `skip`, `skip_unless_env` and `known`: cases that are not run, or fail for a known defect.

use mcprove_model::{Diagnostics, Node, Skip};

use crate::environment::Environment;

/// Decodes the reasons to skip a document's case.
pub(crate) fn decode(node: &Node, environment: &Environment<'_>, found: &mut Diagnostics<'_>) -> Option<Skip> {
    let asked = node.get("skip").and_then(|skip| asked(skip, found));
    let missing = node.get("skip_unless_env").and_then(|names| missing(names, environment, found));
    asked.or(missing).map(|reason| Skip { reason })
}

/// The known defect for which a document's case fails.
pub(crate) fn known(node: &Node, found: &mut Diagnostics<'_>) -> Option<String> {
    let known = node.get("known").filter(|known| !known.is_null())?;
    let reason = found.text(known, "`known`")?;
    if reason.trim().is_empty() {
        found.error_with_help(
            "empty-known",
            known.span,
            "`known` is empty",
            "name the defect, such as `issue 12: crashes`",
        );
        return None;
    }
    Some(reason.to_owned())
}

fn asked(skip: &Node, found: &mut Diagnostics<'_>) -> Option<String> {
    if skip.is_null() {
        return None;
    }
    let quoted = skip.as_text().and_then(|text| text.to_ascii_lowercase().parse().ok());
    match skip.as_bool().or(quoted) {
        Some(true) => return Some("marked `skip: true`".to_owned()),
        Some(false) => return None,
        None => {}
    }
    let Some(reason) = skip.as_scalar().filter(|scalar| scalar.is_text()) else {
        found.wrong_kind(skip, "`skip`", "true, false or a reason");
        return None;
    };
    Some(reason.text.to_string())
}

fn missing(names: &Node, environment: &Environment<'_>, found: &mut Diagnostics<'_>) -> Option<String> {
    if names.is_null() {
        return None;
    }
    let mut reason = None;
    for name in found.one_or_many(names) {
        let Some(name) = found.text(name, "`skip_unless_env`").filter(|name| !name.is_empty()) else { continue };
        let is_set = (environment.lookup)(name).is_some_and(|value| !value.is_empty());
        if !is_set && reason.is_none() {
            reason = Some(format!("env var {name} not set"));
        }
    }
    reason
}
