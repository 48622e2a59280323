//! Lists of a server, read to the last page.

use std::collections::BTreeMap;

use mcprove_judge::generate::Places;
use mcprove_judge::scan_verdict::failure_cause;
use mcprove_model::{FailureCause, Finding, Outcome, Severity, escape_line, shorten};
use mcprove_wire::{Listing, Session};
use serde_json::Value;
use tokio::time::Instant;

use crate::calls;

/// Lists of a server, as it sent them.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Its tools.
    pub tools: Vec<Value>,
    /// Its resources.
    pub resources: Vec<Value>,
    /// Its resource templates.
    pub templates: Vec<Value>,
    /// Its prompts.
    pub prompts: Vec<Value>,
    /// The server's instructions.
    pub instructions: Option<String>,
    /// Paths in the fixture that inputs may name, as templates; `None` without a fixture.
    pub places: Option<Places>,
    /// Findings about the lists.
    pub findings: Vec<Finding>,
}

/// Lists everything a server says it has.
pub async fn discover(session: &mut Session, deadline: Instant) -> Catalog {
    let has = |session: &Session, capability: &str| session.negotiated().capabilities.get(capability).is_some();
    let mut catalog = Catalog { instructions: session.negotiated().instructions.clone(), ..Catalog::default() };
    let tools = session.list("tools/list", "tools", deadline).await;
    // A server without tools may well not know the method.
    let expected = has(session, "tools");
    catalog.tools = catalog.take("tools/list", tools, expected);
    if has(session, "resources") {
        let resources = session.list("resources/list", "resources", deadline).await;
        catalog.resources = catalog.take("resources/list", resources, true);
        let templates = session.list("resources/templates/list", "resourceTemplates", deadline).await;
        catalog.templates = catalog.take("resources/templates/list", templates, false);
    }
    if has(session, "prompts") {
        let prompts = session.list("prompts/list", "prompts", deadline).await;
        catalog.prompts = catalog.take("prompts/list", prompts, true);
    }
    catalog
}

impl Catalog {
    fn take(&mut self, method: &str, listing: Listing, expected: bool) -> Vec<Value> {
        let failed = listing.outcome().and_then(|outcome| failed_list(method, outcome));
        if expected || !listing.items.is_empty() {
            self.findings.extend(failed.filter(|_| expected).into_iter().chain(listing.findings));
        }
        listing.items
    }

    /// True if it lists anything besides tools.
    pub fn has_offers(&self) -> bool {
        !(self.resources.is_empty() && self.templates.is_empty() && self.prompts.is_empty())
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool_name(tool) == name)
    }
}

/// The finding about a list that could not be read; a warning where the cause is outside the server.
fn failed_list(method: &str, outcome: &Outcome) -> Option<Finding> {
    let mut finding = calls::no_result(&format!("`{method}`"), outcome, None)?;
    // Without tools there is nothing to scan, whatever the cause.
    if let Outcome::Error(error) = outcome
        && let cause = failure_cause(&error.message)
        && !matches!(cause, FailureCause::InputNotFound | FailureCause::Other)
        && method != "tools/list"
    {
        finding.severity = Severity::Warning;
        finding.message = format!("{}: {}", finding.message, cause.sentence());
    }
    let help =
        "a server that declares a capability lists what it has; does it need a variable, an argument or a network?";
    Some(finding.help(help))
}

/// The finding about tools that cannot be called because they have no name.
pub(crate) fn nameless(tools: &[Value]) -> Option<Finding> {
    let places: Vec<String> = tools
        .iter()
        .enumerate()
        .filter(|(_, tool)| tool_name(tool).is_empty())
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    let what = match places.as_slice() {
        [] => return None,
        [place] => format!("tool {place} of the list has no name"),
        several => format!("tools {} of the list have no name", several.join(", ")),
    };
    Some(Finding::error("nameless-tool", format!("{what}, so no client can call it")).help("give every tool a `name`"))
}

/// The finding about names that several tools have: a call reaches one of them.
pub(crate) fn repeated_names(tools: &[Value]) -> Option<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in tools.iter().map(tool_name).filter(|name| !name.is_empty()) {
        *counts.entry(name).or_default() += 1;
    }
    let mut repeated = counts.into_iter().filter(|(_, count)| *count > 1);
    let (name, count) = repeated.next()?;
    let more = match repeated.count() {
        0 => String::new(),
        more => format!(", and {more} other names more than once"),
    };
    let name = shorten(&escape_line(name), 80).into_owned();
    let text = format!("the server lists `{name}` {count} times{more}; a call reaches only one of them");
    Some(Finding::error("repeated-tool-name", text).help("give each tool a name of its own"))
}

/// The name of a tool as it was listed; empty when it has none.
pub fn tool_name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcprove_model::RpcError;
    use serde_json::json;

    #[test]
    fn a_list_that_needs_the_network_is_a_warning() {
        let severity = |method: &str, message: &str| {
            let error = RpcError { code: -32603, message: message.to_owned(), data: None };
            failed_list(method, &Outcome::Error(error)).expect("a finding").severity
        };
        assert_eq!(severity("resources/list", "fetch failed"), Severity::Warning);
        assert_eq!(severity("tools/list", "fetch failed"), Severity::Error);
        assert_eq!(severity("resources/list", "Method not found"), Severity::Error);
    }

    #[test]
    fn names_that_several_tools_have_are_told() {
        let tools = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
        assert_eq!(repeated_names(&tools(&["a", "b", ""])), None);
        let told = repeated_names(&tools(&["b", "a", "b", "c", "c", "b", "", ""])).expect("a finding").message;
        assert_eq!(
            told,
            "the server lists `b` 3 times, and 1 other names more than once; a call reaches only one of them"
        );
    }

    #[test]
    fn tools_without_a_name_are_told_by_their_place() {
        assert_eq!(nameless(&[json!({"name": "a"})]), None);
        let told = nameless(&[json!({"name": "a"}), json!({}), json!({"name": ""}), json!({"name": 7})]);
        let told = told.expect("a finding").message;
        assert_eq!(told, "tools 2, 3, 4 of the list have no name, so no client can call it");
    }
}
