//! The mock's side of the protocol: a message in, an answer out, no waiting.

use mcprove_judge::arguments::argument_errors;
use mcprove_model::{Era, Revision};
use serde_json::{Map, Value, json};

use crate::manifest::{Manifest, MockTool};
use crate::placeholders::{fill, fill_text};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const RESOURCE_NOT_FOUND: i64 = -32002;
const INTERNAL_ERROR: i64 = -32603;

/// A server made from a manifest.
#[derive(Debug)]
pub struct Mock<'m> {
    manifest: &'m Manifest,
}

/// An error answer.
struct Refusal {
    code: i64,
    message: String,
}

impl<'m> Mock<'m> {
    /// A mock that offers what the manifest says.
    pub fn new(manifest: &'m Manifest) -> Self {
        Self { manifest }
    }

    /// Answers a line of JSON; notifications and replies have no answer.
    pub fn answer_line(&mut self, line: &[u8]) -> Option<Value> {
        match serde_json::from_slice::<Value>(line) {
            Ok(message) => self.answer(&message),
            Err(error) => Some(error_reply(&Value::Null, PARSE_ERROR, &format!("parse error: {error}"))),
        }
    }

    /// Answers a message.
    pub fn answer(&mut self, message: &Value) -> Option<Value> {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            let is_reply = message.get("result").is_some() || message.get("error").is_some();
            return (!is_reply).then(|| error_reply(&Value::Null, INVALID_REQUEST, "this is not a request"));
        };
        let id = message.get("id").filter(|id| !id.is_null())?;
        let params = message.get("params").unwrap_or(&Value::Null);
        Some(match self.result(method, params) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(refusal) => error_reply(id, refusal.code, &refusal.message),
        })
    }

    fn result(&mut self, method: &str, params: &Value) -> Result<Value, Refusal> {
        match method {
            "initialize" => Ok(self.initialize(params)),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": self.manifest.tools.iter().map(tool_entry).collect::<Vec<_>>()})),
            "tools/call" => self.call_tool(params),
            "resources/list" => Ok(self.list_resources()),
            "resources/templates/list" => Ok(json!({"resourceTemplates": []})),
            "resources/read" => self.read_resource(params),
            "prompts/list" => Ok(self.list_prompts()),
            "prompts/get" => self.get_prompt(params),
            _ => Err(refusal(METHOD_NOT_FOUND, format!("the mock does not know the method `{method}`"))),
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        // Echo a revision we know; otherwise offer the newest one with a handshake (2025-11-25, "Lifecycle").
        let wanted = params.get("protocolVersion").and_then(Value::as_str).and_then(Revision::parse);
        let revision = wanted.filter(|r| r.era() == Era::Legacy).unwrap_or(Revision::NEWEST_LEGACY);
        let mut capabilities = Map::from_iter([("tools".to_owned(), json!({}))]);
        if !self.manifest.resources.is_empty() {
            capabilities.insert("resources".to_owned(), json!({}));
        }
        if !self.manifest.prompts.is_empty() {
            capabilities.insert("prompts".to_owned(), json!({}));
        }
        json!({
            "protocolVersion": revision.as_str(),
            "capabilities": capabilities,
            "serverInfo": {"name": self.manifest.name, "version": env!("CARGO_PKG_VERSION")},
        })
    }

    fn call_tool(&self, params: &Value) -> Result<Value, Refusal> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(tool) = self.manifest.tools.iter().find(|tool| tool.name == name) else {
            return Err(refusal(INVALID_PARAMS, format!("unknown tool `{name}`")));
        };
        let none = json!({});
        let arguments = params.get("arguments").unwrap_or(&none);
        if !arguments.is_object() {
            return Err(refusal(INVALID_PARAMS, "`arguments` must be an object".to_owned()));
        }
        match argument_errors(&tool.input_schema, arguments) {
            Ok(errors) if errors.is_empty() => Ok(fill(&tool.response, arguments)),
            Ok(errors) => {
                Err(refusal(INVALID_PARAMS, format!("invalid arguments for `{name}`: {}", errors.join("; "))))
            }
            Err(reason) => {
                Err(refusal(INTERNAL_ERROR, format!("the `inputSchema` of `{name}` is not a valid schema: {reason}")))
            }
        }
    }

    fn list_resources(&self) -> Value {
        let entries = self.manifest.resources.iter().map(|resource| {
            let mut entry = json!({"uri": resource.uri, "name": resource.name});
            if let Some(mime_type) = &resource.mime_type {
                entry["mimeType"] = json!(mime_type);
            }
            entry
        });
        json!({"resources": entries.collect::<Vec<_>>()})
    }

    fn read_resource(&self, params: &Value) -> Result<Value, Refusal> {
        let uri = params.get("uri").and_then(Value::as_str).unwrap_or_default();
        let Some(resource) = self.manifest.resources.iter().find(|resource| resource.uri == uri) else {
            return Err(refusal(RESOURCE_NOT_FOUND, format!("unknown resource `{uri}`")));
        };
        let mut content = json!({"uri": resource.uri, "text": resource.text});
        if let Some(mime_type) = &resource.mime_type {
            content["mimeType"] = json!(mime_type);
        }
        Ok(json!({"contents": [content]}))
    }

    fn list_prompts(&self) -> Value {
        let entries = self.manifest.prompts.iter().map(|prompt| {
            let mut entry = json!({"name": prompt.name});
            if let Some(description) = &prompt.description {
                entry["description"] = json!(description);
            }
            entry
        });
        json!({"prompts": entries.collect::<Vec<_>>()})
    }

    fn get_prompt(&self, params: &Value) -> Result<Value, Refusal> {
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(prompt) = self.manifest.prompts.iter().find(|prompt| prompt.name == name) else {
            return Err(refusal(INVALID_PARAMS, format!("unknown prompt `{name}`")));
        };
        let none = json!({});
        let text = fill_text(&prompt.text, params.get("arguments").unwrap_or(&none));
        let mut result = json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]});
        if let Some(description) = &prompt.description {
            result["description"] = json!(description);
        }
        Ok(result)
    }
}

fn tool_entry(tool: &MockTool) -> Value {
    let mut entry = json!({"name": tool.name});
    if let Some(description) = &tool.description {
        entry["description"] = json!(description);
    }
    entry["inputSchema"] = tool.input_schema.clone();
    if let Some(schema) = &tool.output_schema {
        entry["outputSchema"] = schema.clone();
    }
    if let Some(annotations) = &tool.annotations {
        entry["annotations"] = annotations.clone();
    }
    entry
}

fn refusal(code: i64, message: String) -> Refusal {
    Refusal { code, message }
}

fn error_reply(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
