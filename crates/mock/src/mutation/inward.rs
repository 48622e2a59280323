//! Mutations of incoming messages.

use serde_json::{Value, json};

use super::{Inward, Mutant, error, newest, result};
use crate::era::{CLIENT_CAPABILITIES, PROTOCOL_VERSION};

impl Mutant {
    /// A line that came in; not JSON where it is none.
    pub(crate) fn line_in(&self, line: &[u8], connection: u64) -> Option<Inward> {
        match serde_json::from_slice::<Value>(line) {
            Ok(message) => Some(self.inward(message, connection)),
            Err(_) if self.is("dies-on-garbage") => Some(Inward::Die),
            Err(_) => None,
        }
    }

    /// A message that came in.
    pub(crate) fn inward(&self, mut message: Value, connection: u64) -> Inward {
        self.remember(&message);
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let answer = |reply: Value| Inward::Answer(vec![reply]);
        match self.name {
            "ignores-jsonrpc" if message.is_object() && message.get("method").is_some() => {
                message["jsonrpc"] = json!("2.0");
            }
            "answers-notification" if method == "notifications/x-unknown" => {
                return answer(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown"}}));
            }
            "answers-cancel"
                if method == "notifications/cancelled" && message["params"]["requestId"] == "no-such-request" =>
            {
                return answer(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "unknown"}}));
            }
            "ignores-cancel" if method == "notifications/cancelled" => return Inward::Answer(Vec::new()),
            "empty-for-unknown" if method == "x/unknown" => return answer(result(&message, json!({}))),
            "list-unknown" if method == "prompts/list" => return answer(error(&message, -32601, "unknown method")),
            "needs-params" if method == "tools/list" && message.get("params").is_none() => {
                return answer(error(&message, -32602, "params are missing"));
            }
            "needs-arguments" if method == "tools/call" && message["params"].get("arguments").is_none() => {
                return answer(error(&message, -32602, "arguments are missing"));
            }
            "strict-meta"
                if message.pointer("/params/_meta").is_some_and(|meta| meta.get("com.example/x").is_some()) =>
            {
                return answer(error(&message, -32602, "unknown _meta key"));
            }
            "serves-ping" if method == "ping" && self.state().is_modern => return answer(result(&message, json!({}))),
            "ping-error" if method == "ping" && self.state().lists == 0 => {
                self.state().lists += 1;
                return answer(error(&message, -32603, "no ping"));
            }
            "drops-concurrent" if message["id"] == "many-3" => return Inward::Answer(Vec::new()),
            "ignores-cursor" if message["params"]["cursor"] == "no-such-cursor" => {
                if let Some(params) = message["params"].as_object_mut() {
                    params.shift_remove("cursor");
                }
            }
            "any-level" if method == "logging/setLevel" => return answer(result(&message, json!({}))),
            "subscribe-unknown" if method == "resources/subscribe" => {
                return answer(error(&message, -32601, "unknown method"));
            }
            "missing-empty" if method == "resources/read" && is_missing(&message) => {
                return answer(result(&message, json!({"contents": []})));
            }
            "any-uri" if method == "resources/read" && message["params"]["uri"] == "not a uri" => {
                return answer(result(&message, json!({"contents": [{"uri": "test://text", "text": "anything"}]})));
            }
            "retry-error" if message["params"]["inputResponses"] == json!({}) => {
                return answer(error(&message, -32602, "answers are missing"));
            }
            "cursor-memory" if method == "tools/list" && message["params"].get("cursor").is_some() => {
                let state = self.state();
                if state.home.is_some_and(|home| home != connection) && state.lists == 0 {
                    drop(state);
                    return answer(error(&message, -32602, "unknown cursor"));
                }
            }
            "unasked-task" if method == "tools/call" && message["params"].get("task").is_some() => {
                let task = json!({"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                                  "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": null});
                return answer(result(&message, json!({"task": task})));
            }
            "any-version" | "meta-optional" | "state-unchecked" => self.complete(&mut message),
            _ => {}
        }
        if method == "tools/list" && matches!(self.name, "cursor-memory" | "hidden-tool") {
            let mut state = self.state();
            let home = *state.home.get_or_insert(connection);
            if self.is("cursor-memory") && home != connection {
                state.lists += 1;
            }
        }
        Inward::Pass(message)
    }

    fn remember(&self, message: &Value) {
        let mut state = self.state();
        if let Some(id) = message.get("id") {
            state.requests.insert(id.to_string(), message.clone());
        }
        if message["method"] == "initialize" {
            state.client = message["params"]["capabilities"].clone();
            state.is_modern = false;
        }
        let meta = message.pointer("/params/_meta");
        if meta.is_some_and(|meta| meta.get(PROTOCOL_VERSION).is_some()) {
            state.is_modern = true;
        }
    }

    /// Fills in what a lenient server would take for granted.
    fn complete(&self, message: &mut Value) {
        if message.get("method").is_none() || !self.state().is_modern || message["method"] == "initialize" {
            return;
        }
        match self.name {
            "any-version" => {
                if let Some(version) =
                    message.pointer_mut("/params/_meta").and_then(|meta| meta.get_mut(PROTOCOL_VERSION))
                {
                    *version = json!(newest());
                }
            }
            "meta-optional" if message.get("id").is_some() => {
                if !message["params"].is_object() {
                    message["params"] = json!({});
                }
                if !message["params"]["_meta"].is_object() {
                    message["params"]["_meta"] = json!({});
                }
                let meta = &mut message["params"]["_meta"];
                if meta.get(PROTOCOL_VERSION).is_none() {
                    meta[PROTOCOL_VERSION] = json!(newest());
                }
                if meta.get(CLIENT_CAPABILITIES).is_none() {
                    meta[CLIENT_CAPABILITIES] = json!({});
                }
            }
            "state-unchecked" => {
                let given = message["params"]["requestState"].as_str().map(str::to_owned);
                let state = self.state();
                if let Some(given) = given.filter(|given| !state.states.contains(given)) {
                    let meant = state.states.iter().find(|known| known.len() == given.len());
                    if let Some(meant) = meant {
                        message["params"]["requestState"] = json!(meant);
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_missing(message: &Value) -> bool {
    message["params"]["uri"].as_str().is_some_and(|uri| uri.starts_with("x-none:"))
}
