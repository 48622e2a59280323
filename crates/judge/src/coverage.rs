//! Coverage: the share of a server's capabilities that cases assert. What setup and teardown call is not coverage, nor
//! is a case that is skipped or expects nothing.

use mcprove_model::{
    Act, ArgumentCoverage, CallTool, Case, Check, ItemCoverage, Node, Observation, Outcome, PlannedCheck, Prompts,
    ResourceAsk, ServerCoverage, ToolCoverage,
};
use regex::Regex;
use serde_json::{Map, Value, json};

/// Capabilities of a server, as it listed them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offer<'c> {
    /// Its tools.
    pub tools: &'c [Value],
    /// Its resources.
    pub resources: &'c [Value],
    /// Its resource templates.
    pub templates: &'c [Value],
    /// Its prompts.
    pub prompts: &'c [Value],
}

/// The subject of a case's assertions.
enum Exercise {
    Tool { name: String, arguments: Map<String, Value>, fails: bool },
    Resource { uri: String },
    Prompt { name: String },
}

/// Coverage of an offer by these cases.
pub fn coverage<'c>(offer: Offer<'_>, cases: impl IntoIterator<Item = &'c Case>) -> ServerCoverage {
    let exercises: Vec<Exercise> = cases.into_iter().filter_map(exercise).collect();
    let templates: Vec<(String, Option<Regex>)> =
        names(offer.templates, "uriTemplate").map(|name| (name.to_owned(), pattern(name))).collect();
    let uris: Vec<&str> = exercises.iter().filter_map(Exercise::uri).collect();
    let prompts: Vec<&str> = exercises.iter().filter_map(Exercise::prompt).collect();
    let listed: Vec<&str> = names(offer.resources, "uri").collect();
    let count = |all: &[&str], name: &str| all.iter().filter(|one| **one == name).count();
    let of_template = |pattern: &Option<Regex>| {
        let matches = |uri: &&&str| pattern.as_ref().is_some_and(|pattern| pattern.is_match(uri));
        uris.iter().filter(|uri| !listed.contains(uri)).filter(matches).count()
    };
    ServerCoverage {
        tools: offer.tools.iter().map(|tool| of_tool(tool, &exercises)).collect(),
        resources: listed
            .iter()
            .map(|uri| ItemCoverage { name: (*uri).to_owned(), assertions: count(&uris, uri) })
            .collect(),
        resource_templates: templates
            .iter()
            .map(|(name, pattern)| ItemCoverage { name: name.clone(), assertions: of_template(pattern) })
            .collect(),
        prompts: names(offer.prompts, "name")
            .map(|name| ItemCoverage { name: name.to_owned(), assertions: count(&prompts, name) })
            .collect(),
        unknown: unknown(offer, &exercises, &templates),
    }
}

impl Exercise {
    fn uri(&self) -> Option<&str> {
        match self {
            Self::Resource { uri } => Some(uri),
            Self::Tool { .. } | Self::Prompt { .. } => None,
        }
    }

    fn prompt(&self) -> Option<&str> {
        match self {
            Self::Prompt { name } => Some(name),
            Self::Tool { .. } | Self::Resource { .. } => None,
        }
    }
}

fn exercise(case: &Case) -> Option<Exercise> {
    let is_probed = matches!(&case.act, Act::CallTool(call) if call.negative_path.is_some());
    if case.skip.is_some() || case.expect.checks.is_empty() && case.verify.is_empty() && !is_probed {
        return None;
    }
    let text = |node: &Node| node.as_text().map(str::to_owned);
    match &case.act {
        Act::CallTool(call) | Act::Notifications(call) => of_call(call, &case.expect.checks),
        Act::Logging(logging) => of_call(logging.call.as_ref()?, &case.expect.checks),
        Act::Resources(resources) => match &resources.ask {
            ResourceAsk::Read { uri } => Some(Exercise::Resource { uri: text(uri)? }),
            ResourceAsk::List { .. } | ResourceAsk::Templates { .. } => None,
            ResourceAsk::Nothing => Some(Exercise::Resource { uri: text(resources.subscribe.as_ref()?)? }),
        },
        Act::Prompts(Prompts::Get { name, .. }) => Some(Exercise::Prompt { name: text(name)? }),
        // What an agent calls is up to its model.
        Act::Agent(_)
        | Act::Prompts(Prompts::List { .. })
        | Act::Complete(_)
        | Act::Trajectory(_)
        | Act::Raw(_)
        | Act::ToolQuality
        | Act::Compose(_)
        | Act::Offline(_)
        | Act::Score(_)
        | Act::Scan(_) => None,
    }
}

fn of_call(call: &CallTool, checks: &[PlannedCheck]) -> Option<Exercise> {
    let arguments = match call.args.to_json() {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    // The probes of `negative_path` are requests that the tool must refuse.
    let fails = call.negative_path.is_some() || checks.iter().any(|planned| expects_error(planned.check.as_ref()));
    Some(Exercise::Tool { name: call.tool.as_text()?.to_owned(), arguments, fails })
}

/// True if a check holds for an answer that is marked as an error, and not for the same answer without the mark.
fn expects_error(check: &dyn Check) -> bool {
    let seen = |is_error: bool| {
        let result = json!({"content": [{"type": "text", "text": "x"}], "isError": is_error});
        check.judge(&Observation::of_tool_call(Outcome::Result(result))).is_ok()
    };
    check.wants_protocol_error() || seen(true) && !seen(false)
}

fn of_tool(tool: &Value, exercises: &[Exercise]) -> ToolCoverage {
    let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
    let mut calls: Vec<(&Map<String, Value>, bool)> = Vec::new();
    for exercise in exercises {
        if let Exercise::Tool { name: called, arguments, fails } = exercise
            && called == name
        {
            calls.push((arguments, *fails));
        }
    }
    let properties = tool.get("inputSchema").and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, schema)| {
        let given: Vec<&Value> = calls.iter().filter_map(|(arguments, _)| arguments.get(name)).collect();
        let is_given = |value: &&Value| {
            let is_it = |given: &&&Value| **given == *value || given.as_array().is_some_and(|all| all.contains(value));
            given.iter().any(|one| is_it(&one))
        };
        let (values, unused): (Vec<&Value>, Vec<&Value>) = choices(schema).iter().partition(is_given);
        ArgumentCoverage {
            name: name.clone(),
            exercised: !given.is_empty(),
            values: values.into_iter().cloned().collect(),
            unused_values: unused.into_iter().cloned().collect(),
        }
    });
    ToolCoverage {
        name: name.to_owned(),
        assertions: calls.len(),
        arguments: arguments.collect(),
        error_path: calls.iter().any(|(_, fails)| *fails),
    }
}

/// The values of an `enum`, its own or that of its items.
fn choices(schema: &Value) -> &[Value] {
    let own = schema.get("enum").or_else(|| schema.get("items").and_then(|items| items.get("enum")));
    own.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn names<'c>(items: &'c [Value], key: &'static str) -> impl Iterator<Item = &'c str> {
    items.iter().filter_map(move |item| item.get(key).and_then(Value::as_str))
}

/// Matches the URIs of a template (RFC 6570, as far as servers use it).
fn pattern(template: &str) -> Option<Regex> {
    let mut pattern = String::from("^");
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (variable, behind) = after.split_once('}')?;
        pattern.push_str(&regex::escape(before));
        pattern.push_str(if variable.starts_with(['+', '/', '?', '&', '#']) { ".*" } else { "[^/?#]+" });
        rest = behind;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push('$');
    Regex::new(&pattern).ok()
}

fn unknown(offer: Offer<'_>, exercises: &[Exercise], templates: &[(String, Option<Regex>)]) -> Vec<String> {
    let is_listed = |items: &[Value], key: &'static str, name: &str| names(items, key).any(|known| known == name);
    let mut unknown = Vec::new();
    for exercise in exercises {
        let told = match exercise {
            Exercise::Tool { name, .. } if is_listed(offer.tools, "name", name) => continue,
            Exercise::Tool { name, .. } => format!("tool {name}"),
            Exercise::Prompt { name } if is_listed(offer.prompts, "name", name) => continue,
            Exercise::Prompt { name } => format!("prompt {name}"),
            Exercise::Resource { uri } => {
                let by_template = || templates.iter().any(|(_, p)| p.as_ref().is_some_and(|p| p.is_match(uri)));
                if is_listed(offer.resources, "uri", uri) || by_template() {
                    continue;
                }
                format!("resource {uri}")
            }
        };
        if !unknown.contains(&told) {
            unknown.push(told);
        }
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_stand_for_addresses() {
        let is = |template: &str, uri: &str| pattern(template).expect(template).is_match(uri);
        assert!(is("demo://text/{id}", "demo://text/7") && !is("demo://text/{id}", "demo://text/7/8"));
        assert!(is("file:///{+path}", "file:///a/b.txt") && !is("file:///{+path}", "http://a"));
        assert!(is("a://{x}.json", "a://b.json") && !is("a://{x}.json", "a://bxjson"));
        assert!(pattern("a://{x").is_none());
    }
}
