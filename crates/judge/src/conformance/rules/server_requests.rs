//! Requests of a server to its client: requests until 2025-11-25, `inputRequests` in 2026-07-28.

use serde_json::Value;

use super::{A, BASE, C, D, E};
use crate::conformance::evidence::{Spot, What};
use crate::conformance::rule::{Level, Rule, Ruling};
use crate::conformance::{Answer, schemas};

/// A request of the server to its client.
pub(super) struct ClientDemand<'e> {
    pub(super) spot: Spot,
    pub(super) method: &'e str,
    pub(super) params: &'e Value,
    /// The capabilities that were declared for it.
    pub(super) declared: &'e Value,
}

/// Everything the server asked, in both ways.
pub(super) fn asked<'e>(ruling: &Ruling<'e>) -> Vec<ClientDemand<'e>> {
    let evidence = ruling.evidence;
    let mut found = Vec::new();
    for (spot, recording, _, payload) in evidence.received() {
        let Some(json) = &payload.json else { continue };
        let Some(method) = json.get("method").and_then(Value::as_str) else { continue };
        // 2026-07-28 has no requests of servers, which another rule reports.
        if json.get("id").is_some() && !method.starts_with("notifications/") && !evidence.is_modern() {
            found.push(ClientDemand { spot, method, params: &json["params"], declared: &recording.client });
        }
    }
    for step in evidence.all_steps() {
        let (Some(spot), Some(result)) = (step.reply_spot(), step.answer().result()) else { continue };
        let meta = step.sent_member("/params/_meta");
        let declared =
            meta.and_then(|meta| meta.get("io.modelcontextprotocol/clientCapabilities")).unwrap_or(&Value::Null);
        for request in result["inputRequests"].as_object().into_iter().flatten().map(|(_, request)| request) {
            let method = request["method"].as_str().unwrap_or_default();
            found.push(ClientDemand { spot, method, params: &request["params"], declared });
        }
    }
    found
}

fn capability(method: &str) -> Option<&'static str> {
    Some(match method {
        "roots/list" => "roots",
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        _ => return None,
    })
}

pub(super) const NONE_IN_MODERN: Rule = Rule {
    id: "mcp-no-server-requests",
    title: "sends no requests to the client",
    clauses: &["RPC-13", "STDIO-03", "HTTP-19"],
    revisions: (E, E),
    section: "basic/patterns/index; basic/transports/stdio#receiving-messages",
    why: "Modern clients have no way to answer, so the server waits forever.",
    bad: r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
    good: r#"{"result":{"resultType":"input_required","inputRequests":{"roots":{"method":"roots/list"}}}}"#,
    judge: none_in_modern,
    ..BASE
};

fn none_in_modern(ruling: &mut Ruling<'_>) {
    for (spot, _, _, payload) in ruling.evidence.received() {
        let Some(json) = &payload.json else { continue };
        ruling.ok();
        let method = json.get("method").and_then(Value::as_str);
        if let Some(method) = method.filter(|method| !method.starts_with("notifications/") && json.get("id").is_some())
        {
            ruling.at("RPC-13", true, spot, format!("the server sent the request `{method}`"));
        }
    }
}

pub(super) const UNDECLARED: Rule = Rule {
    id: "mcp-undeclared-features",
    title: "uses only what the client declared",
    clauses: &["LIFE-06", "ROOT-01", "LIFE-10"],
    revisions: (A, D),
    section: "basic/lifecycle#operation",
    why: "A client without the feature answers with an error, and the call fails.",
    bad: "client capabilities {} → the server sends roots/list",
    good: "client capabilities {} → the server asks for nothing",
    judge: undeclared,
    ..BASE
};

fn undeclared(ruling: &mut Ruling<'_>) {
    let is_must = ruling.evidence.revision >= C;
    for asked in asked(ruling) {
        let Some(capability) = capability(asked.method) else { continue };
        ruling.ok();
        if asked.declared.get(capability).is_none() {
            let method = asked.method;
            ruling.at(
                "LIFE-06",
                is_must,
                asked.spot,
                format!("the server sent `{method}` to a client that did not declare `{capability}`"),
            );
        }
    }
    if ruling.checked == 0 {
        // Everything was called with no capability declared, and nothing was asked.
        let called = ruling.evidence.steps("main", "call").len();
        if called > 0 {
            ruling.ok();
        } else {
            ruling.not_exercised("no tool was called");
        }
    }
}

pub(super) const BEFORE_INITIALIZED: Rule = Rule {
    id: "mcp-before-initialized",
    title: "sends nothing but ping and logs before `initialized`",
    clauses: &["LIFE-05"],
    level: Level::Should,
    revisions: (A, D),
    section: "basic/lifecycle#initialization",
    why: "Clients are not ready; some drop the request, and the server waits for its answer.",
    bad: "initialize → result, then at once roots/list",
    good: "initialize → result; after notifications/initialized: roots/list",
    judge: before_initialized,
    ..BASE
};

fn before_initialized(ruling: &mut Ruling<'_>) {
    for (number, recording) in ruling.evidence.recordings.iter().enumerate().filter(|(_, r)| r.probe == "full") {
        let initialized = recording.entries.iter().position(|entry| entry.step == "notify:initialized");
        let Some(until) = initialized else { continue };
        ruling.ok();
        for (at, entry) in recording.entries[..until].iter().enumerate() {
            let What::Received(payload) = &entry.what else { continue };
            let Some(json) = payload.json.as_ref().filter(|json| json.get("id").is_some()) else { continue };
            let Some(method) = json.get("method").and_then(Value::as_str).filter(|method| *method != "ping") else {
                continue;
            };
            let method = method.to_owned();
            ruling.at("LIFE-05", false, (number, at), format!("`{method}` came before `notifications/initialized`"));
        }
    }
}

pub(super) const ONLY_DECLARED: Rule = Rule {
    id: "mcp-asks-declared",
    title: "asks only for what the request declared, and says what it lacks",
    clauses: &["MRTR-04", "META-09", "ELIC-01", "SAMP-01"],
    revisions: (D, E),
    section: "basic/patterns/mrtr#server-requirements-basic-workflow; basic/index#meta",
    why: "The client cannot answer; the call goes round in circles.",
    bad: r#"clientCapabilities {} → {"resultType":"input_required",…}"#,
    good: r#"clientCapabilities {} → {"error":{"code":-32021,"data":{"requiredCapabilities":{"elicitation":{}}}}}"#,
    judge: only_declared,
    ..BASE
};

fn only_declared(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for asked in asked(ruling) {
        let Some(name) = capability(asked.method) else { continue };
        let Some(declared) = asked.declared.get(name) else {
            if evidence.is_modern() {
                ruling.ok();
                let method = asked.method;
                ruling.at(
                    "MRTR-04",
                    true,
                    asked.spot,
                    format!("`{method}` is asked of a request that did not declare `{name}`"),
                );
            }
            continue;
        };
        ruling.ok();
        if name == "elicitation" && asked.params["mode"] == "url" && declared.get("url").is_none() {
            ruling.at("ELIC-01", true, asked.spot, "a URL elicitation is asked of a client that declared forms alone");
        }
        let has_tools = asked.params.get("tools").is_some() || asked.params.get("toolChoice").is_some();
        if name == "sampling" && has_tools && declared.get("tools").is_none() {
            ruling.at(
                "SAMP-01",
                true,
                asked.spot,
                "sampling with tools is asked of a client that did not declare `sampling.tools`",
            );
        }
    }
    if evidence.is_modern() {
        for step in evidence.all_steps().filter(|step| step.answer().code() == Some(-32021)) {
            ruling.ok();
            let Answer::Error(error) = step.answer() else { continue };
            if !error["data"]["requiredCapabilities"].is_object() {
                ruling.fail("META-09", &step, "the error -32021 has no object `data.requiredCapabilities`");
            } else if step.status().is_some_and(|status| status != 400) {
                let status = step.status().unwrap_or_default();
                ruling.fail("META-09", &step, format!("the error -32021 came with HTTP {status}, not 400"));
            }
        }
    }
    if ruling.checked == 0 {
        ruling.not_testable("nothing asks the client for anything");
    }
}

pub(super) const ELICITATION: Rule = Rule {
    id: "mcp-elicitation",
    title: "elicits with flat forms or valid URLs, and handles refusals",
    clauses: &["ELIC-02", "ELIC-04", "ELIC-05", "ELIC-06", "ELIC-07"],
    revisions: (C, E),
    section: "client/elicitation#elicitation-requests",
    why: "Hosts draw forms from flat primitives only; anything else is refused or shown as raw JSON.",
    bad: r#""requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}"#,
    good: r#""requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}"#,
    judge: elicitation,
    ..BASE
};

fn elicitation(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for asked in asked(ruling).into_iter().filter(|asked| asked.method == "elicitation/create") {
        ruling.ok();
        let mut request = serde_json::json!({"method": "elicitation/create", "params": asked.params});
        if evidence.revision == D {
            request["jsonrpc"] = Value::String("2.0".to_owned());
            request["id"] = Value::from(1);
        }
        if let Some(fault) = schemas::fault(evidence.revision, "ElicitRequest", &request) {
            ruling.at("ELIC-02", true, asked.spot, fault);
        }
        if let Some(url) = asked.params["url"].as_str() {
            let rest = url.split_once("://").map_or("", |(_, rest)| rest);
            let authority = rest.split('/').next().unwrap_or_default();
            let is_local =
                authority.starts_with("localhost") || authority.starts_with("127.") || authority.starts_with("[::1]");
            if authority.contains('@') {
                ruling.at("ELIC-04", true, asked.spot, "the URL of an elicitation holds credentials");
            } else if !url.starts_with("https://") && !is_local {
                ruling.at("ELIC-04", false, asked.spot, "the URL of an elicitation is not https");
            }
        }
    }
    for step in evidence.all_steps().filter(|step| step.is("call-declined")) {
        ruling.ok();
        if matches!(step.answer(), Answer::Silence | Answer::Gone) {
            let words = step.answer().words();
            ruling.fail_if(
                evidence.revision >= E,
                "ELIC-05",
                &step,
                format!("after the user declined, the call got {words}"),
            );
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("nothing was elicited");
    }
}

pub(super) const SAMPLING: Rule = Rule {
    id: "mcp-sampling",
    title: "sends well-formed sampling requests",
    clauses: &["SAMP-02", "SAMP-03", "SAMP-04", "SAMP-05"],
    level: Level::Derived,
    section: "client/sampling; schema CreateMessageRequest",
    why: "Hosts pass the request on to a model API, which refuses it without `maxTokens`.",
    bad: r#"{"method":"sampling/createMessage","params":{"messages":[…]}}"#,
    good: r#"{"method":"sampling/createMessage","params":{"messages":[…],"maxTokens":100}}"#,
    judge: sampling,
    ..BASE
};

fn sampling(ruling: &mut Ruling<'_>) {
    let evidence = ruling.evidence;
    for asked in asked(ruling).into_iter().filter(|asked| asked.method == "sampling/createMessage") {
        ruling.ok();
        if !asked.params["maxTokens"].is_number() {
            ruling.at("SAMP-03", true, asked.spot, "the sampling request has no `maxTokens`");
        } else if !asked.params["messages"].is_array() {
            ruling.at("SAMP-03", true, asked.spot, "the sampling request has no `messages`");
        }
        let context = asked.params["includeContext"].as_str();
        let is_wide = matches!(context, Some("thisServer" | "allServers"));
        if evidence.revision >= D && is_wide && asked.declared["sampling"].get("context").is_none() {
            ruling.at("SAMP-02", false, asked.spot, "`includeContext` is used without `sampling.context`");
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("nothing was sampled");
    }
}

pub(super) const SECRETS: Rule = Rule {
    id: "mcp-no-secrets",
    title: "asks for no secrets in forms and logs none",
    clauses: &["ELIC-03", "LOG-10"],
    revisions: (A, E),
    section: "client/elicitation#user-interaction-model; server/utilities/logging#security",
    why: "What is typed into a form passes through the host and the model's context.",
    bad: r#""properties":{"password":{"type":"string"}}"#,
    good: "a URL elicitation to a page of the server",
    judge: secrets,
    ..BASE
};

fn secrets(ruling: &mut Ruling<'_>) {
    for asked in asked(ruling).into_iter().filter(|asked| asked.method == "elicitation/create") {
        for name in
            asked.params["requestedSchema"]["properties"].as_object().into_iter().flatten().map(|(name, _)| name)
        {
            ruling.ok();
            let plain = name.to_ascii_lowercase().replace(['-', '_'], "");
            if ["password", "passwd", "apikey", "secret", "accesstoken", "privatekey"]
                .iter()
                .any(|word| plain.contains(word))
            {
                ruling.at("ELIC-03", false, asked.spot, format!("a form asks for `{name}`"));
            }
        }
    }
    for (spot, _, _, payload) in ruling.evidence.received() {
        let Some(json) = payload.json.as_ref().filter(|json| json["method"] == "notifications/message") else {
            continue;
        };
        ruling.ok();
        let text = json["params"]["data"].to_string();
        if text.contains("Bearer ") || text.contains("mcprove-canary-") {
            ruling.at("LOG-10", true, spot, "a log message holds a credential");
        }
    }
    if ruling.checked == 0 {
        ruling.not_exercised("no form and no log message came");
    }
}
