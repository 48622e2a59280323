//! The four lists, in pages when the manifest asks for them.

use mcprove_model::Era;
use serde_json::{Map, Value, json};

use super::Call;
use crate::rpc::Refusal;

/// Kinds of lists.
#[derive(Clone, Copy)]
pub(super) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

impl Call<'_> {
    pub(super) fn list(&self, list: List) -> Result<Value, Refusal> {
        let entries: Vec<Value> = match list {
            List::Tools => self.session.tools(self.manifest).iter().map(|tool| tool.entry.clone()).collect(),
            List::Resources => self.manifest.resources.iter().map(|resource| resource.entry.clone()).collect(),
            List::Templates => self.manifest.templates.iter().map(|template| template.entry.clone()).collect(),
            List::Prompts => self.manifest.prompts.iter().map(|prompt| prompt.entry.clone()).collect(),
        };
        let start = self.start(list, entries.len())?;
        let size = self.manifest.page_size.unwrap_or(usize::MAX);
        let end = start.saturating_add(size).min(entries.len());
        let mut page: Vec<Value> = entries[start..end].to_vec();
        if self.caller.era() == Era::Modern {
            // Left over from recorded lists: 2026-07-28 has no `execution`.
            for entry in page.iter_mut().filter_map(Value::as_object_mut) {
                entry.shift_remove("execution");
            }
        }
        let mut result = Map::from_iter([(list.member().to_owned(), Value::Array(page))]);
        if end < entries.len() {
            result.insert("nextCursor".to_owned(), json!(cursor(list, end)));
        }
        Ok(Value::Object(result))
    }

    /// The start of a page: the beginning, or the position in the cursor.
    fn start(&self, list: List, length: usize) -> Result<usize, Refusal> {
        let Some(given) = self.params().get("cursor") else { return Ok(0) };
        let size = self.manifest.page_size.unwrap_or(usize::MAX);
        let issued = (1..=length / size).map(|page| page * size).filter(|start| *start < length);
        let start = given.as_str().and_then(|given| issued.into_iter().find(|start| cursor(list, *start) == given));
        start.ok_or_else(|| Refusal::params(format!("the cursor {given} was not given out (at /cursor)")))
    }
}

fn cursor(list: List, start: usize) -> String {
    format!("{}-from-{start}", list.member())
}
