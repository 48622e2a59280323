//! Messages of a scripted client on their way out, with the `_meta` and headers of its era.

use std::time::Duration;

use bytes::Bytes;
use mcprove_model::Era;
use mcprove_suite::scenario_file::ScenarioTransport;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::super::link::{Link, Post};
use super::super::mutation;
use super::{ClientSession, STEP};

impl ClientSession {
    /// Sends a request; its id.
    pub(super) async fn start(&mut self, method: &str, mut params: Value) -> Value {
        self.next_id += 1;
        let id = json!(self.next_id);
        if self.identity.era == Era::Modern {
            let meta = &mut params["_meta"];
            if !meta.is_object() {
                *meta = json!({});
            }
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.identity.revision().as_str());
            meta["io.modelcontextprotocol/clientCapabilities"] = self.identity.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "mcprove-scripted", "version": "1"});
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut own = id.clone();
        for message in mutation::message(self.identity.mutation, message) {
            if message.get("id").is_some() && message["method"] == method {
                own = message["id"].clone();
            }
            self.put(&message).await;
        }
        own
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        for message in mutation::message(self.identity.mutation, message) {
            self.put(&message).await;
        }
    }

    /// Sends something that only a mutation sends.
    pub(super) async fn send_extra(&mut self, mut message: Value) {
        if message.get("id").is_some_and(Value::is_null) {
            self.next_id += 1;
            message["id"] = json!(self.next_id);
        }
        if message["params"]["requestId"] == json!("first") {
            message["params"]["requestId"] = json!(self.next_id);
            sleep(Duration::from_secs(2)).await;
        }
        if self.identity.era == Era::Modern && message.get("method").is_some() && message.get("id").is_some() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": self.identity.revision().as_str(),
                "io.modelcontextprotocol/clientCapabilities": self.identity.capabilities,
            });
            let own = message["params"]["_meta"].as_object().cloned().unwrap_or_default();
            message["params"]["_meta"] = meta;
            for (key, value) in own {
                message["params"]["_meta"][key] = value;
            }
        }
        self.put(&message).await;
    }

    /// Sends a message as it is.
    pub(super) async fn put(&mut self, message: &Value) {
        if !matches!(self.identity.mutation, "eager" | "same-token" | "same-id") {
            sleep(STEP).await;
        }
        let bytes = mutation::bytes(self.identity.mutation, message);
        let headers = self.headers(message);
        let path = if self.identity.mutation == "token-in-url" { "/mcp?access_token=x" } else { "/mcp" }.to_owned();
        let Some(link) = &mut self.link else { return };
        if self.transport == ScenarioTransport::Stdio {
            let mut line = bytes;
            line.push(b'\n');
            link.write(&line).await;
            return;
        }
        let has_reply = message.get("id").is_some() && message.get("method").is_some();
        let id = if has_reply { message["id"].clone() } else { Value::Null };
        link.post(Post { method: "POST", path, headers, body: Bytes::from(bytes), id });
        if !has_reply {
            // It has no reply; the next message comes after it.
            sleep(STEP).await;
        }
    }

    /// Sends a method without a body: GET opens the stream for what belongs to no request, DELETE ends the session.
    pub(super) fn send_bare(&mut self, method: &'static str) {
        let mut headers = self.headers(&Value::Null);
        headers.retain(|(name, _)| name != "accept" && name != "content-type");
        let kind = if self.identity.mutation == "get-json" { "application/json" } else { "text/event-stream" };
        headers.push(("accept".to_owned(), kind.to_owned()));
        let Some(link) = &mut self.link else { return };
        link.post(Post { method, path: "/mcp".to_owned(), headers, body: Bytes::new(), id: Value::Null });
    }

    fn headers(&self, message: &Value) -> Vec<(String, String)> {
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut headers =
            vec![own("content-type", "application/json"), own("accept", "application/json, text/event-stream")];
        if let Some(token) = &self.token {
            headers.push(own("authorization", &format!("Bearer {token}")));
        }
        if let Some(session) = self.link.as_ref().and_then(Link::session) {
            headers.push(own("mcp-session-id", &session));
        }
        if self.agreed {
            headers.push(own("mcp-protocol-version", self.identity.revision().as_str()));
        }
        if self.identity.era == Era::Modern
            && let Some(method) = message["method"].as_str()
        {
            headers.push(own("mcp-method", method));
            if let Some(name) = message["params"]["name"].as_str() {
                headers.push(own("mcp-name", name));
                headers.extend(self.param_headers(name, &message["params"]["arguments"]));
            }
        }
        mutation::headers(self.identity.mutation, &mut headers);
        headers
    }

    /// The arguments that the listed schema of a tool wants as headers.
    fn param_headers(&self, tool: &str, args: &Value) -> Vec<(String, String)> {
        let entry = self.tools.iter().find(|entry| entry["name"] == tool);
        let properties = entry.and_then(|entry| entry["inputSchema"]["properties"].as_object()).into_iter().flatten();
        let marked =
            properties.filter_map(|(key, property)| Some((property["x-mcp-header"].as_str()?, &args[key.as_str()])));
        let texts = marked.filter_map(|(name, value)| match value {
            Value::String(text) => Some((name, text.clone())),
            Value::Bool(_) | Value::Number(_) => Some((name, value.to_string())),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        });
        texts.map(|(name, text)| (format!("mcp-param-{}", name.to_ascii_lowercase()), text)).collect()
    }
}
