//! The tools of all servers of an agent, and the names its model knows them by.

use std::collections::HashMap;

use mcprove_model::ChatTool;
use serde_json::{Value, json};

/// Maximum length of a name; the bound of the providers.
const LONGEST: usize = 64;

/// The tools an agent is given.
#[derive(Debug)]
pub(super) struct Toolbox {
    servers: Vec<String>,
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    shown: Vec<ChatTool>,
}

/// A tool of a server.
#[derive(Debug)]
pub(super) struct Tool {
    /// The position of its server.
    pub(super) server: usize,
    /// As the server names it.
    pub(super) name: String,
    /// As the model names it.
    pub(super) known_as: String,
}

/// Result of looking up a tool by name.
#[derive(Debug)]
pub(super) enum ToolLookup<'t> {
    One(&'t Tool),
    None,
    /// Several servers have it.
    Several(Vec<&'t str>),
}

impl Toolbox {
    /// The tools that each server lists, under names that a model can use: `server__tool` where there are several
    /// servers, and only the characters that providers take.
    pub(super) fn new(listed: Vec<(String, Vec<Value>)>) -> Self {
        let several = listed.len() > 1;
        let mut toolbox = Self { servers: Vec::new(), tools: Vec::new(), by_name: HashMap::new(), shown: Vec::new() };
        for (server, (server_name, items)) in listed.into_iter().enumerate() {
            for item in items {
                let Some(name) = item.get("name").and_then(Value::as_str) else { continue };
                let wanted = if several { format!("{server_name}__{name}") } else { name.to_owned() };
                let known_as = toolbox.free_name(&usable(&wanted));
                toolbox.by_name.insert(known_as.clone(), toolbox.tools.len());
                toolbox.shown.push(ChatTool {
                    name: known_as.clone(),
                    description: item.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
                    input_schema: item.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object"})),
                });
                toolbox.tools.push(Tool { server, name: name.to_owned(), known_as });
            }
            toolbox.servers.push(server_name);
        }
        toolbox
    }

    /// The tools in the form that a model gets.
    pub(super) fn shown(&self) -> &[ChatTool] {
        &self.shown
    }

    /// Adds to the descriptions of the tools of the servers.
    pub(super) fn describe(&mut self, mut addition: impl FnMut(&str, &str) -> Option<String>) {
        for (tool, shown) in self.tools.iter().zip(&mut self.shown) {
            if let Some(text) = addition(&self.servers[tool.server], &tool.name) {
                let old = std::mem::take(&mut shown.description);
                shown.description = if old.is_empty() { text } else { format!("{old} {text}") };
            }
        }
    }

    /// Shows tools that no server has; a call of one is answered as that of any unknown tool.
    pub(super) fn offer(&mut self, further: Vec<ChatTool>) {
        self.shown.extend(further);
    }

    /// The tool that a model calls by this name.
    pub(super) fn called(&self, known_as: &str) -> Option<&Tool> {
        self.by_name.get(known_as).map(|at| &self.tools[*at])
    }

    /// The tool of a server, or of whichever server has it.
    pub(super) fn find(&self, server: Option<&str>, name: &str) -> ToolLookup<'_> {
        let fits = |tool: &&Tool| tool.name == name && server.is_none_or(|own| self.servers[tool.server] == own);
        let found: Vec<&Tool> = self.tools.iter().filter(fits).collect();
        match (found.as_slice(), server) {
            ([], None) => self.called(name).map_or(ToolLookup::None, ToolLookup::One),
            ([], Some(_)) => ToolLookup::None,
            ([one], _) => ToolLookup::One(one),
            (many, _) => ToolLookup::Several(many.iter().map(|tool| self.servers[tool.server].as_str()).collect()),
        }
    }

    /// Name of a server in the suite.
    pub(super) fn server(&self, at: usize) -> &str {
        &self.servers[at]
    }

    /// The names of the tools of a server, or of all.
    pub(super) fn names(&self, server: Option<&str>) -> impl Iterator<Item = &str> {
        let of = move |tool: &&Tool| server.is_none_or(|own| self.servers[tool.server] == own);
        self.tools.iter().filter(of).map(|tool| tool.name.as_str())
    }

    fn free_name(&self, wanted: &str) -> String {
        if !self.by_name.contains_key(wanted) {
            return wanted.to_owned();
        }
        let mut number = 2;
        loop {
            let suffix = format!("_{number}");
            let kept: String = wanted.chars().take(LONGEST - suffix.len()).collect();
            let name = kept + &suffix;
            if !self.by_name.contains_key(&name) {
                return name;
            }
            number += 1;
        }
    }
}

/// A name with only the characters that providers take.
fn usable(name: &str) -> String {
    let usable = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.chars().map(usable).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> Vec<Value> {
        names.iter().map(|name| json!({"name": name})).collect()
    }

    #[test]
    fn one_server_keeps_its_names_and_several_are_told_apart() {
        let one = Toolbox::new(vec![("a".into(), tools(&["search", "files/read"]))]);
        let names: Vec<&str> = one.shown().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["search", "files_read"]);
        assert_eq!(one.called("files_read").map(|tool| tool.name.as_str()), Some("files/read"));
        let two = Toolbox::new(vec![("a__b".into(), tools(&["x"])), ("a".into(), tools(&["b__x", "y"]))]);
        let names: Vec<&str> = two.shown().iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["a__b__x", "a__b__x_2", "a__y"]);
        assert_eq!(two.called("a__b__x_2").map(|tool| (tool.server, tool.name.as_str())), Some((1, "b__x")));
    }

    #[test]
    fn a_tool_is_found_by_its_own_name_when_that_is_clear() {
        let two = Toolbox::new(vec![("a".into(), tools(&["x", "y"])), ("b".into(), tools(&["x"]))]);
        assert!(matches!(two.find(None, "y"), ToolLookup::One(tool) if tool.server == 0));
        assert!(matches!(two.find(Some("b"), "x"), ToolLookup::One(tool) if tool.server == 1));
        assert!(matches!(two.find(None, "x"), ToolLookup::Several(servers) if servers == ["a", "b"]));
        assert!(matches!(two.find(None, "b__x"), ToolLookup::One(tool) if tool.server == 1));
        assert!(matches!(two.find(Some("b"), "y"), ToolLookup::None));
    }
}
