//! Values under keys of the caller's.

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

/// The values of a server.
pub(crate) struct Values {
    bug: &'static str,
    values: Vec<(String, String)>,
}

impl Values {
    pub(crate) fn new(bug: &'static str) -> Self {
        Self { bug, values: Vec::new() }
    }

    pub(crate) fn listed(&self) -> Value {
        let about = if self.bug == "any-case" { "The key, case-insensitive." } else { "The key." };
        let key = json!({"key": {"type": "string", "description": about}});
        if self.bug == "keeps-first" {
            let both = json!({"key": {"type": "string"}, "value": {"type": "string"}});
            return json!([
                writing("add_value", &both, &["key", "value"]),
                reading("get_value", &key, &["key"]),
                reading("list_values", &json!({}), &[]),
            ]);
        }
        if self.bug == "queries" {
            let query = json!({"query": {"type": "string"}});
            return json!([writing("write_query", &query, &["query"]), reading("read_query", &query, &["query"])]);
        }
        json!([
            writing("set_value", &json!({"key": {"type": "string"}, "value": {"type": "string"}}), &["key", "value"]),
            reading("get_value", &key, &["key"]),
            tool("delete_value", &key, &["key"], &json!({"readOnlyHint": false, "destructiveHint": true})),
            reading("list_values", &json!({}), &[]),
        ])
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        match name {
            "set_value"
                if self.bug == "error-text" && args["value"].as_str().is_none_or(|value| value.starts_with("word")) =>
            {
                Ok(json!({"error": "Invalid value: not one of the known ones"}))
            }
            "set_value" => {
                let (key, value) = (self.key(text(args, "key")?), text(args, "value")?.to_owned());
                match self.values.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, known)) if self.bug != "double-key" => *known = value,
                    Some(_) => self.values.insert(0, (key, value)),
                    None => self.values.push((key, value)),
                }
                Ok(if self.bug == "shows-key" {
                    json!({"key": self.key(text(args, "key")?)})
                } else {
                    json!({"set": args["key"]})
                })
            }
            "add_value" => {
                let (key, value) = (text(args, "key")?, text(args, "value")?);
                let is_new = !self.values.iter().any(|(known, _)| known == key);
                if is_new {
                    self.values.push((key.to_owned(), value.to_owned()));
                }
                Ok(json!({"created": is_new}))
            }
            // Errors as success.
            "write_query" => Ok(json!(format!("Database error: near {}: syntax error", args["query"]))),
            "read_query" => Ok(json!("Error: only SELECT queries are allowed")),
            "get_value" => {
                let key = self.key(text(args, "key")?);
                let found = self.values.iter().find(|(known, _)| *known == key);
                let (_, value) = found.ok_or_else(|| format!("there is no value {}", args["key"]))?;
                if self.bug == "raw" {
                    return Ok(json!(value));
                }
                let shown = if self.bug == "shows-key" { json!(key) } else { args["key"].clone() };
                Ok(json!({"key": shown, "value": value}))
            }
            "delete_value" => {
                let key = self.key(text(args, "key")?);
                if !self.values.iter().any(|(known, _)| *known == key) {
                    return Err(format!("there is no value {}", args["key"]));
                }
                let is_prefix = self.bug == "prefix-delete";
                self.values.retain(|(known, _)| if is_prefix { !known.starts_with(&key) } else { *known != key });
                Ok(json!({"deleted": args["key"]}))
            }
            "list_values" if self.bug == "prose" => {
                let lines: Vec<String> = self.values.iter().map(|(key, value)| format!("- {key} is {value}")).collect();
                Ok(json!(format!("This is a list of {} values, a line each:\n{}", lines.len(), lines.join("\n"))))
            }
            "list_values" => {
                let shown: Vec<Value> =
                    self.values.iter().map(|(key, value)| json!({"key": key, "value": value})).collect();
                Ok(json!({"values": shown}))
            }
            _ => Err(format!("unknown tool {name}")),
        }
    }

    fn key(&self, key: &str) -> String {
        if matches!(self.bug, "case-collision" | "any-case" | "shows-key") {
            key.to_lowercase()
        } else {
            key.to_owned()
        }
    }
}
