//! The audit of resources, templates and prompts: what is listed is read, and what is not there must be refused.

use std::time::Duration;

use mcprove_judge::scan_verdict::{ScanCall, ScanJudgement};
use mcprove_model::{CallRole, Finding, Outcome, ToolVerdict};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::audit::{finding, judge_exchange};
use super::{Scan, ScanCase, ScanEnd, ScanFuture};
use crate::calls;
use crate::discover::Catalog;

/// The most resources, templates and prompts of each kind that are tried.
const MOST: usize = 20;

/// An address that no resource has.
const NO_RESOURCE: &str = "mcprove-example://nothing-is-here";
/// A name that no prompt has.
const NO_PROMPT: &str = "mcprove-example-no-such-prompt";
/// A cursor that no server gave out.
const NO_CURSOR: &str = "mcprove-example-no-such-cursor";

/// A request about something other than a tool.
#[derive(Debug)]
pub(crate) struct OfferedItem {
    /// The name of its case.
    pub(crate) name: String,
    request: OfferRequest,
    /// The time a request may take.
    timeout: Duration,
}

#[derive(Debug)]
enum OfferRequest {
    /// Must be answered. `made_up` is true if the address or arguments were made up.
    Valid { subject: &'static str, method: &'static str, params: Value, made_up: bool },
    /// Each must be refused: method, parameters, and what is wrong with them.
    Wrong(Vec<WrongRequest>),
}

#[derive(Debug)]
struct WrongRequest {
    method: &'static str,
    params: Value,
    what: String,
}

/// The requests for the items a server lists besides its tools.
pub(crate) fn offered_items(catalog: &Catalog, timeout: Duration) -> Vec<OfferedItem> {
    let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let item = |name: String, request: OfferRequest| OfferedItem { name, request, timeout };
    let mut items = Vec::new();
    for resource in catalog.resources.iter().take(MOST) {
        let uri = text(resource, "uri");
        let params = json!({"uri": uri});
        let request = OfferRequest::Valid { subject: "the resource", method: "resources/read", params, made_up: false };
        items.push(item(format!("resource {uri}"), request));
    }
    for template in catalog.templates.iter().take(MOST) {
        let uri = text(template, "uriTemplate");
        let params = json!({"uri": expanded_template(&uri)});
        let request = OfferRequest::Valid { subject: "the template", method: "resources/read", params, made_up: true };
        items.push(item(format!("template {uri}"), request));
    }
    for prompt in catalog.prompts.iter().take(MOST) {
        let name = text(prompt, "name");
        let arguments = prompt_arguments(prompt);
        let made_up = !arguments.is_empty();
        let params = json!({"name": name, "arguments": arguments});
        let request = OfferRequest::Valid { subject: "the prompt", method: "prompts/get", params, made_up };
        items.push(item(format!("prompt {name}"), request));
    }
    let wrong = wrong_requests(catalog);
    if !wrong.is_empty() {
        items.push(item("requests for what is not there".to_owned(), OfferRequest::Wrong(wrong)));
    }
    items
}

fn wrong_requests(catalog: &Catalog) -> Vec<WrongRequest> {
    let mut wrong = Vec::new();
    let mut add = |method, params, what: String| wrong.push(WrongRequest { method, params, what });
    if !catalog.resources.is_empty() || !catalog.templates.is_empty() {
        add("resources/read", json!({"uri": NO_RESOURCE}), "a URI that no resource has".to_owned());
    }
    if !catalog.prompts.is_empty() {
        add("prompts/get", json!({"name": NO_PROMPT}), "a prompt that is not listed".to_owned());
    }
    for prompt in &catalog.prompts {
        if prompt_arguments(prompt).is_empty() {
            continue;
        }
        let name = prompt.get("name").and_then(Value::as_str).unwrap_or_default();
        let what = format!("the prompt `{name}` without its required arguments");
        add("prompts/get", json!({"name": name}), what);
        break;
    }
    if !catalog.tools.is_empty() {
        add("tools/list", json!({"cursor": NO_CURSOR}), "a cursor that the server never gave out".to_owned());
    }
    wrong
}

/// The required arguments of a prompt, made up.
pub fn prompt_arguments(prompt: &Value) -> Map<String, Value> {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let required = arguments.filter(|argument| argument.get("required") == Some(&Value::Bool(true)));
    let name = |argument: &Value| argument.get("name").and_then(Value::as_str).map(str::to_owned);
    required.filter_map(|argument| Some((name(argument)?, json!("example")))).collect()
}

/// A template with made-up values in the place of its variables.
pub fn expanded_template(template: &str) -> String {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((variable, after)) = after.split_once('}') else { break };
        uri.push_str(before);
        // `{?a,b}`, `{&a}` and `{#a}` may be left out.
        if !variable.starts_with(['?', '&', '#', ';']) {
            let is_number = variable.to_lowercase().ends_with("id") || variable.contains("number");
            uri.push_str(if is_number { "1" } else { "example" });
        }
        rest = after;
    }
    uri.push_str(rest);
    uri
}

impl Scan for OfferedItem {
    fn perform<'s>(&'s self, case: ScanCase<'s>) -> ScanFuture<'s> {
        Box::pin(self.ask(case))
    }
}

impl OfferedItem {
    async fn ask(&self, mut case: ScanCase<'_>) -> ScanEnd {
        match &self.request {
            OfferRequest::Valid { subject, method, params, made_up } => {
                let Some(judged) = self.request(&mut case, subject, method, params, *made_up).await else {
                    return ScanEnd::Judged;
                };
                case.record.findings.extend(finding(&judged));
            }
            OfferRequest::Wrong(requests) => {
                for WrongRequest { method, params, what } in requests {
                    let Some(judged) = self.request(&mut case, "the request", method, params, true).await else {
                        break;
                    };
                    match judged.verdict {
                        ToolVerdict::Works | ToolVerdict::ErrorAsSuccess => {
                            let text = format!("`{method}` with {what} was answered with a result");
                            // Many servers have one page and never look at cursors.
                            let is_cursor = method.ends_with("/list");
                            let found =
                                if is_cursor { Finding::note } else { Finding::warning }("unknown-accepted", text);
                            let found = found.compared("an error, such as -32602", "a result");
                            case.record
                                .findings
                                .push(found.help("answer with an error: an agent cannot see the mistake"));
                        }
                        ToolVerdict::Crashed | ToolVerdict::TimedOut => {
                            let found = finding(&judged);
                            case.record.findings.extend(found.map(|finding| Finding {
                                message: format!("`{method}` with {what}: {}", finding.message),
                                ..finding
                            }));
                        }
                        ToolVerdict::Fails(_) | ToolVerdict::Skipped => {}
                    }
                }
            }
        }
        case.record.mark(|timings| &mut timings.call);
        ScanEnd::Judged
    }

    /// Makes a request on a server that can answer it; `None` when none could be started.
    async fn request(
        &self,
        case: &mut ScanCase<'_>,
        subject: &str,
        method: &str,
        params: &Value,
        is_guess: bool,
    ) -> Option<ScanJudgement> {
        let lane = case.lane.as_mut()?;
        if !lane.restore(case.record).await {
            return None;
        }
        let exchange = lane.session.request(method, params.clone(), Instant::now() + self.timeout).await;
        case.record.calls.push(calls::record(CallRole::Act, Some(&self.name), &exchange));
        if let Outcome::Closed { what, .. } = &exchange.outcome {
            case.record.server_ended(what);
        }
        Some(judge_exchange(&exchange, lane.session, |call| ScanCall { subject, arguments: params, is_guess, ..call }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_listed_is_tried_and_what_is_not_there_too() {
        let catalog = Catalog {
            tools: vec![json!({"name": "t"})],
            resources: (0..30).map(|at| json!({"uri": format!("demo://{at}")})).collect(),
            templates: vec![json!({"uriTemplate": "demo://{userId}/{name}{?page}"})],
            prompts: vec![json!({"name": "p", "arguments": [{"name": "a", "required": true}, {"name": "b"}]})],
            ..Catalog::default()
        };
        let items = offered_items(&catalog, Duration::from_secs(1));
        assert_eq!(items.len(), MOST + 3);
        let requests = wrong_requests(&catalog);
        let whats: Vec<&str> = requests.iter().map(|request| request.what.as_str()).collect();
        assert_eq!(
            whats,
            [
                "a URI that no resource has",
                "a prompt that is not listed",
                "the prompt `p` without its required arguments",
                "a cursor that the server never gave out"
            ]
        );
        assert_eq!(expanded_template("demo://{userId}/{name}{?page}"), "demo://1/example");
        assert_eq!(offered_items(&Catalog::default(), Duration::from_secs(1)).len(), 0);
    }
}
