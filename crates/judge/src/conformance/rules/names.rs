//! Names of tools.

use std::collections::BTreeSet;

use super::{BASE, D};
use crate::conformance::evidence::Spot;
use crate::conformance::rule::{Level, Rule, Ruling};

pub(super) const TOOL_NAMES: Rule = Rule {
    id: "mcp-tool-names",
    title: "gives tools legal names, each once",
    clauses: &["TOOL-04", "TOOL-05"],
    level: Level::Should,
    section: "server/tools#tool-names",
    why: "Hosts refuse or rename tools with other characters, and of two equal names only one can be called.",
    bad: r#"{"name":"my tool"}"#,
    good: r#"{"name":"my_tool"}"#,
    judge: tool_names,
    ..BASE
};

fn tool_names(ruling: &mut Ruling<'_>) {
    let tools = ruling.evidence.listed("tools");
    if tools.is_empty() {
        return ruling.not_applicable("the server lists no tools");
    }
    let mut seen: BTreeSet<(Spot, &str)> = BTreeSet::new();
    for (spot, tool) in tools {
        let Some(name) = tool["name"].as_str() else { continue };
        ruling.ok();
        let is_legal = (1..=128).contains(&name.chars().count())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !is_legal && ruling.evidence.revision >= D {
            ruling.at("TOOL-04", false, spot, format!("the name `{name}` is not 1 to 128 of `A-Z a-z 0-9 _ - .`"));
        }
        // The same name on two pages is a fault of paging.
        if !seen.insert((spot, name)) {
            ruling.at("TOOL-05", false, spot, format!("the name `{name}` is listed twice"));
        }
    }
}
