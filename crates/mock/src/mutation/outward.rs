//! Mutations of outgoing messages.

use serde_json::{Value, json};

use super::{Mutant, result};
use crate::era::{SERVER_INFO, SUBSCRIPTION_ID};

impl Mutant {
    /// The messages that go out in place of one.
    pub(crate) fn outward(&self, mut message: Value, connection: u64) -> Vec<Value> {
        if self.is_none() {
            return vec![message];
        }
        if let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) {
            return self.own_message(&method, message).into_iter().collect();
        }
        let Some(request) = self.request(&message) else { return vec![message] };
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        if message.get("error").is_some() {
            message = self.changed_error(&request, &method, message);
        }
        if message["result"].is_object() {
            self.changed_result(&request, &method, &mut message["result"], connection);
            match self.name {
                "result-and-error" => message["error"] = Value::Null,
                "twice" if method == "tools/call" && request["params"]["name"] == "work" => {
                    return vec![message.clone(), message];
                }
                _ => {}
            }
        }
        match self.name {
            "string-ids" if message["id"].is_number() => message["id"] = json!(message["id"].to_string()),
            "no-jsonrpc" => {
                if let Some(map) = message.as_object_mut() {
                    map.shift_remove("jsonrpc");
                }
            }
            _ => {}
        }
        let mut out = if message.get("result").is_some() { self.before(&request, &method) } else { Vec::new() };
        out.push(message);
        out
    }

    /// Messages that a mutation sends before a reply.
    fn before(&self, request: &Value, method: &str) -> Vec<Value> {
        let roots = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
        let mut state = self.state();
        let is_first_call = method == "tools/call" && !state.has_called;
        if method == "tools/call" {
            state.has_called = true;
        }
        match self.name {
            "server-request" if method == "tools/list" => {
                state.lists += 1;
                vec![roots(&format!("s-{}", state.lists))]
            }
            "asks-anyway" if is_first_call && state.client.get("roots").is_none() => vec![roots("s-2")],
            "eager-roots" if method == "initialize" && state.client.get("roots").is_some() => vec![roots("s-3")],
            "undeclared-change" if is_first_call => {
                vec![json!({"jsonrpc": "2.0", "method": "notifications/prompts/list_changed"})]
            }
            "unasked-logs" if method == "tools/call" && request["params"]["name"] == "add" => {
                let params = json!({"level": "info", "data": "unasked"});
                vec![json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})]
            }
            _ => Vec::new(),
        }
    }

    /// A notification or request of the server's own.
    fn own_message(&self, method: &str, mut message: Value) -> Option<Value> {
        match (self.name, method) {
            ("no-ack", "notifications/subscriptions/acknowledged") => return None,
            ("string-tag", _) => {
                let tag = message.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(SUBSCRIPTION_ID));
                if let Some(tag) = tag.filter(|tag| tag.is_number()) {
                    *tag = json!(tag.to_string());
                }
            }
            ("ack-everything", "notifications/subscriptions/acknowledged") => {
                message["params"]["notifications"]["promptsListChanged"] = json!(true);
            }
            ("string-token", "notifications/progress") => {
                let token = &mut message["params"]["progressToken"];
                *token = json!(token.to_string());
            }
            ("falling-progress", "notifications/progress") => {
                let progress = message["params"]["progress"].as_i64().unwrap_or_default();
                message["params"]["progress"] = json!(10 - progress);
            }
            ("nested-form" | "asks-password", "elicitation/create") => self.change_form(&mut message["params"]),
            ("no-max-tokens", "sampling/createMessage") => remove(&mut message["params"], "maxTokens"),
            _ => {}
        }
        Some(message)
    }

    fn change_form(&self, params: &mut Value) {
        match self.name {
            "nested-form" => {
                params["requestedSchema"]["properties"]["deep"] = json!({"type": "object", "properties": {}});
            }
            "asks-password" => params["requestedSchema"]["properties"]["password"] = json!({"type": "string"}),
            _ => {}
        }
    }

    fn changed_error(&self, request: &Value, method: &str, mut message: Value) -> Value {
        let text = message["error"]["message"].as_str().unwrap_or_default().to_owned();
        let is_unknown_tool = method == "tools/call" && text.starts_with("unknown tool");
        let success = json!({"content": [{"type": "text", "text": "ok"}]});
        match self.name {
            "string-code" => message["error"]["code"] = json!(message["error"]["code"].to_string()),
            "no-validation" if text.starts_with("invalid arguments") => return result(request, success),
            "unknown-tool-ok" if is_unknown_tool => return result(request, success),
            "reserved-code" if is_unknown_tool => message["error"]["code"] = json!(-32050),
            "traceback" if is_unknown_tool => {
                message["error"]["message"] = json!("Traceback (most recent call last):\n  File \"server.py\", line 1");
            }
            "prompt-internal-error" if method == "prompts/get" && text.starts_with("unknown prompt") => {
                message["error"]["code"] = json!(-32603);
            }
            "asks-undeclared" if message["error"]["code"] == -32021 && method == "tools/call" => {
                let ask = json!({"message": "Really?", "requestedSchema": {"type": "object", "properties": {}}});
                let mut reply = result(
                    request,
                    json!({"inputRequests": {"sure": {"method": "elicitation/create", "params": ask}}}),
                );
                reply["result"]["resultType"] = json!("input_required");
                return reply;
            }
            "task-code" if method.starts_with("tasks/") => message["error"]["code"] = json!(-32602),
            _ => {}
        }
        message
    }

    fn changed_result(&self, request: &Value, method: &str, result: &mut Value, connection: u64) {
        let opening = matches!(method, "initialize" | "server/discover");
        if let Some(state) = result["requestState"].as_str() {
            let state = state.to_owned();
            self.state().states.push(state);
        }
        if method == "tools/call" {
            let tool = request["params"]["name"].as_str().unwrap_or_default().to_owned();
            *self.state().calls.entry(tool).or_default() += 1;
        }
        match (self.name, method) {
            ("handshake-incomplete", "initialize") => remove(&mut result["serverInfo"], "version"),
            ("handshake-incomplete", "server/discover") => remove(result, "supportedVersions"),
            ("echo-version", "initialize") => result["protocolVersion"] = request["params"]["protocolVersion"].clone(),
            ("modern-initialize", "initialize") if request["params"]["protocolVersion"] == super::newest() => {
                result["protocolVersion"] = json!(super::newest());
            }
            ("bad-instructions", _) if opening => result["instructions"] = json!(5),
            ("undeclared-prompts", _) if opening => remove(&mut result["capabilities"], "prompts"),
            ("capability-true", _) if opening => result["capabilities"]["prompts"] = json!(true),
            ("phantom-version", "server/discover") => {
                if let Some(versions) = result["supportedVersions"].as_array_mut() {
                    versions.push(json!("2099-01-01"));
                }
            }
            ("silent-change", "tools/list") if self.state().has_called => {
                if let Some(tools) =
                    result["tools"].as_array_mut().filter(|_| request["params"].get("cursor").is_none())
                {
                    tools.push(json!({"name": "late", "inputSchema": {"type": "object"}}));
                }
            }
            (_, "tools/list") => self.changed_tools(request, result, connection),
            ("null-cursor", "prompts/list") => result["nextCursor"] = Value::Null,
            ("ghost-resource", "resources/list") => {
                if let Some(resources) = result["resources"].as_array_mut() {
                    resources.push(json!({"uri": "test://ghost", "name": "ghost"}));
                }
            }
            ("bad-template", "resources/templates/list") => {
                result["resourceTemplates"][0]["uriTemplate"] = json!("test://{unclosed");
            }
            ("no-content", "tools/call") if request["params"]["name"] == "add" => remove(result, "content"),
            ("missing-structured", "tools/call") => remove(result, "structuredContent"),
            ("wrong-structured", "tools/call") if result.get("structuredContent").is_some() => {
                result["structuredContent"] = json!({});
                result["content"] = json!([{"type": "text", "text": "{}"}]);
            }
            ("raw-binary", "tools/call") if request["params"]["name"] == "picture" => {
                result["content"][0]["data"] = json!("\u{89}PNG!");
            }
            ("anonymous", "tools/call") => remove(&mut result["_meta"], SERVER_INFO),
            ("asks-nothing", _) if result["resultType"] == "input_required" => {
                remove(result, "inputRequests");
                remove(result, "requestState");
            }
            ("nested-form" | "asks-password" | "no-max-tokens", _) if result["inputRequests"].is_object() => {
                for (_, ask) in result["inputRequests"].as_object_mut().into_iter().flatten() {
                    match ask["method"].as_str() {
                        Some("elicitation/create") => self.change_form(&mut ask["params"]),
                        Some("sampling/createMessage") if self.is("no-max-tokens") => {
                            remove(&mut ask["params"], "maxTokens");
                        }
                        _ => {}
                    }
                }
            }
            (_, "resources/read") if request["params"]["uri"] == "test://text" && self.changed_text().is_some() => {
                result["contents"][0]["text"] = json!(self.changed_text());
            }
            ("no-ttl", "resources/read") => remove(result, "ttlMs"),
            ("negative-ttl", "resources/list") => result["ttlMs"] = json!(-1),
            ("system-role", "prompts/get") => result["messages"][0]["role"] = json!("system"),
            ("many-completions", "completion/complete") => {
                result["completion"]["values"] = (0..101).map(|n| json!(n.to_string())).collect();
            }
            _ => {}
        }
    }

    /// The text of the resource that tools with untrue hints write to.
    fn changed_text(&self) -> Option<String> {
        let count = |tool: &str| self.state().calls.get(tool).copied().unwrap_or_default();
        match self.name {
            "writes-anyway" => Some(format!("some text{}", " and more".repeat(count("add")))),
            "adds-again" => Some(format!("some text{}", " and a note".repeat(count("note")))),
            "overwrites" => Some(format!("version {}", count("rotate"))),
            _ => None,
        }
    }

    fn changed_tools(&self, request: &Value, result: &mut Value, connection: u64) {
        let is_first_page = request["params"].get("cursor").is_none();
        match self.name {
            "no-schema-type" if is_first_page => remove(&mut result["tools"][0]["inputSchema"], "type"),
            "bad-type" if is_first_page => {
                result["tools"][0]["inputSchema"]["properties"]["c"] = json!({"type": "int"});
            }
            "bad-output-schema" if is_first_page => result["tools"][1]["outputSchema"] = json!({"type": "strnig"}),
            "same-cursor" => result["nextCursor"] = json!("tools-from-4"),
            "no-result-type" => remove(result, "resultType"),
            "bad-annotation" if is_first_page => {
                result["tools"][0]["inputSchema"]["properties"]["a"]["x-mcp-header"] = json!("a b");
            }
            "hidden-tool" if is_first_page && self.state().home.is_some_and(|home| home != connection) => {
                if let Some(tools) = result["tools"].as_array_mut() {
                    tools.remove(2);
                }
            }
            "duplicate-tool" if is_first_page => {
                if let Some(tools) = result["tools"].as_array_mut() {
                    let first = tools[0].clone();
                    tools.push(first);
                }
            }
            "shuffled-tools" if is_first_page => {
                let mut state = self.state();
                state.lists += 1;
                if state.lists.is_multiple_of(2)
                    && let Some(tools) = result["tools"].as_array_mut()
                {
                    tools.reverse();
                }
            }
            "bad-meta-key" => result["_meta"]["bad key"] = json!(1),
            "mixed-scope" if !is_first_page => result["cacheScope"] = json!("private"),
            _ => {}
        }
    }
}

fn remove(value: &mut Value, member: &str) {
    if let Some(map) = value.as_object_mut() {
        map.shift_remove(member);
    }
}
