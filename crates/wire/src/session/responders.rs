//! Replies to requests of the server.

use mcprove_model::{ElicitationAction, Finding, escape_line, filled_form, is_unreserved, percent_encoded, shorten};
use serde_json::{Map, Value, json};

use super::{ServerRequest, Session};

const METHOD_NOT_FOUND: i64 = -32601;
/// The longest id of a request that is answered.
const LONGEST_ID: usize = 1 << 10;

impl Session {
    /// Answers a request of the server: from what we offer, `ping` always, anything else with "method not found".
    pub(super) fn respond(&mut self, id: &Value, method: String, params: Value) {
        if id.to_string().len() > LONGEST_ID {
            // An answer repeats the id, and may wait for a server that does not read.
            return self.keep_odd(Finding::warning(
                "oversized-id",
                format!(
                    "the server sent the request `{}` with an id of more than {LONGEST_ID} bytes",
                    shorten(&escape_line(&method), 80)
                ),
            ));
        }
        if self.keep_question(id, &method, &params) {
            return;
        }
        let answer = self.answer_to(&method, &params);
        let reply = match &answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(message) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": METHOD_NOT_FOUND, "message": message}})
            }
        };
        if self.server_requests.len() < self.limits.notifications {
            if let Err(message) = &answer {
                let note = Finding::note("unanswered-request", message.clone());
                self.keep_odd(match script_for(&method) {
                    Some(yaml) => note.help(format!("answer it: {yaml}")),
                    None => note,
                });
            }
            self.server_requests.push(ServerRequest { method, params, answered: answer.is_ok() });
            self.send_reply(&reply);
        }
    }

    pub(super) fn answer_to(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        let undeclared =
            |what: &str| Err(format!("the server asked for `{method}`, but the client did not declare `{what}`"));
        match method {
            "ping" => Ok(json!({})),
            "roots/list" => match &self.client.roots {
                Some(roots) => Ok(roots_result(roots)),
                None => undeclared("roots"),
            },
            "sampling/createMessage" => {
                // Scripted answers are used in order; the last one repeats.
                let at = self.sampled.min(self.client.sampling.len().saturating_sub(1));
                self.sampled += 1;
                match self.client.sampling.get(at) {
                    Some(reply) => Ok(json!({
                        "role": "assistant",
                        "content": {"type": "text", "text": reply.text},
                        "model": reply.model,
                        "stopReason": reply.stop_reason,
                    })),
                    None => undeclared("sampling"),
                }
            }
            "elicitation/create" => {
                let at = self.elicited.min(self.client.further_elicitations.len());
                self.elicited += 1;
                let reply = match at {
                    0 => self.client.elicitation.as_ref(),
                    later => self.client.further_elicitations.get(later - 1),
                };
                let Some(reply) = reply else { return undeclared("elicitation") };
                Ok(match reply.action {
                    // A link is opened, not filled in, so the reply has no content (2025-11-25, "URL Mode").
                    ElicitationAction::Accept if params.get("mode").and_then(Value::as_str) == Some("url") => {
                        json!({"action": "accept"})
                    }
                    // Without a script the form is filled in by its schema.
                    ElicitationAction::Accept if reply.content.is_null() => {
                        let schema = params.get("requestedSchema").unwrap_or(&Value::Null);
                        json!({"action": "accept", "content": filled_form(schema)})
                    }
                    ElicitationAction::Accept => {
                        json!({"action": "accept", "content": with_defaults(&reply.content, params)})
                    }
                    ElicitationAction::Decline => json!({"action": "decline"}),
                    ElicitationAction::Cancel => json!({"action": "cancel"}),
                })
            }
            _ => Err(format!("the server asked for `{method}`, which the client does not know")),
        }
    }

    /// Switches to the other of two lists of folders, where there are two, and notifies the server of the change. True
    /// if the notification was sent.
    pub fn change_roots(&mut self) -> bool {
        let Some(changed) = self.client.roots_changed.take() else { return false };
        self.client.roots_changed = self.client.roots.replace(changed);
        self.notify_roots()
    }

    /// Takes other folders as roots.
    pub fn set_roots(&mut self, roots: Vec<String>) {
        self.client.roots = Some(roots);
    }

    /// Notifies the server that the roots have changed, where the revision has such a notification.
    pub fn notify_roots(&mut self) -> bool {
        // The server of the stateless revision asks whenever it wants to know (2026-07-28).
        let is_sent = !self.is_modern();
        if is_sent {
            self.notify("notifications/roots/list_changed", &Value::Null);
        }
        is_sent
    }

    /// The declared capabilities: exactly what is answered, unless a test claims something else.
    pub(super) fn declared_capabilities(&self) -> Value {
        if let Some(claimed) = &self.client.claimed {
            return claimed.clone();
        }
        let mut declared = Map::new();
        if self.client.roots.is_some() {
            declared.insert("roots".to_owned(), json!({"listChanged": true}));
        }
        let by_hand = self.client.by_hand;
        if by_hand || !self.client.sampling.is_empty() {
            declared.insert("sampling".to_owned(), json!({}));
        }
        if let Some(reply) = &self.client.elicitation {
            // An empty object means forms alone.
            let follows_links = reply.url || self.client.further_elicitations.iter().any(|further| further.url);
            let modes = if follows_links { json!({"form": {}, "url": {}}) } else { json!({}) };
            declared.insert("elicitation".to_owned(), modes);
        } else if by_hand {
            declared.insert("elicitation".to_owned(), json!({"form": {}, "url": {}}));
        }
        Value::Object(declared)
    }
}

/// The YAML that answers a request of the server.
fn script_for(method: &str) -> Option<&'static str> {
    Some(match method {
        "elicitation/create" => {
            "`client_capabilities: {elicitation: {action: accept, content: {FIELD: VALUE}}}` of the server"
        }
        "sampling/createMessage" => "`client_capabilities: {sampling: {text: ANSWER}}` of the server",
        "roots/list" => "`client_capabilities: {roots: [FOLDER]}` of the server",
        _ => return None,
    })
}

/// A filled-in form. What the script leaves out keeps the value the form came with, as in a host that shows it (2025-11-25,
/// "Elicitation", default values).
fn with_defaults(content: &Value, params: &Value) -> Value {
    let mut filled = content.clone();
    let fields = params.get("requestedSchema").and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    if let Some(filled) = filled.as_object_mut() {
        for (name, field) in fields.into_iter().flatten() {
            if let (Some(default), false) = (field.get("default"), filled.contains_key(name)) {
                filled.insert(name.clone(), default.clone());
            }
        }
    }
    filled
}

/// The result of `roots/list` for these folders.
pub fn roots_result(folders: &[String]) -> Value {
    json!({"roots": folders.iter().map(|path| root(path)).collect::<Vec<_>>()})
}

fn root(path: &str) -> Value {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let uri = if path.contains("://") { path.to_owned() } else { format!("file://{}", encoded(path)) };
    json!({"uri": uri, "name": name})
}

/// A path, percent-encoded for a URL.
fn encoded(path: &str) -> String {
    percent_encoded(path, |byte| is_unreserved(byte) || b"/!$&'()*+,;=:@".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::with_defaults;
    use serde_json::json;

    #[test]
    fn a_form_keeps_the_defaults_that_the_script_leaves_alone() {
        let params = json!({"requestedSchema": {"properties": {
            "a": {"type": "string", "default": "x"}, "b": {"type": "integer", "default": 2}, "c": {"type": "string"},
        }}});
        assert_eq!(with_defaults(&json!({"a": "mine"}), &params), json!({"a": "mine", "b": 2}));
        assert_eq!(with_defaults(&json!({}), &json!({})), json!({}));
    }
}
