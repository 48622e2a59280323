//! `completion/complete`: the values of a manifest that begin with what was typed.

use serde_json::{Value, json};

use super::Call;
use crate::rpc::Refusal;

/// Maximum number of values in an answer (2025-11-25, "Completion").
const MOST: usize = 100;

impl Call<'_> {
    pub(super) fn complete(&self) -> Result<Value, Refusal> {
        let text = |pointer: &str| {
            let value = self.params().pointer(pointer).and_then(Value::as_str);
            value.ok_or_else(|| Refusal::params(format!("text is missing (at {pointer})")))
        };
        let (argument, typed) = (text("/argument/name")?, text("/argument/value")?);
        let values = match text("/ref/type")? {
            "ref/prompt" => self.of_prompt(text("/ref/name")?, argument)?,
            "ref/resource" => self.of_template(text("/ref/uri")?, argument)?,
            other => return Err(Refusal::params(format!("`{other}` cannot be completed (at /ref/type)"))),
        };
        let typed = typed.to_lowercase();
        let fitting: Vec<&String> = values.iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
        let shown = &fitting[..fitting.len().min(MOST)];
        Ok(json!({"completion": {"values": shown, "total": fitting.len(), "hasMore": fitting.len() > MOST}}))
    }

    fn of_prompt(&self, name: &str, argument: &str) -> Result<&[String], Refusal> {
        let Some(prompt) = self.manifest.prompts.iter().find(|prompt| prompt.name == name) else {
            return Err(Refusal::params(format!("unknown prompt `{name}` (at /ref/name)")));
        };
        match prompt.arguments.iter().find(|known| known.name == argument) {
            Some(known) => Ok(&known.values),
            None => Err(Refusal::params(format!("`{name}` has no argument `{argument}` (at /argument/name)"))),
        }
    }

    fn of_template(&self, uri: &str, argument: &str) -> Result<&[String], Refusal> {
        let Some(template) = self.manifest.templates.iter().find(|template| template.pattern == uri) else {
            if self.is_known(uri) {
                return Ok(&[]);
            }
            return Err(Refusal::params(format!("unknown resource template `{uri}` (at /ref/uri)")));
        };
        Ok(template.complete.get(argument).map(Vec::as_slice).unwrap_or_default())
    }
}
