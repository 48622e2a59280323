//! Coverage of a server as a small table with bars.

use std::fmt::Write as _;

use mcprove_model::{CoverageCount, ServerCoverage, ToolCoverage};

use crate::style::Role;
use crate::{Style, escape};

/// Width of a bar, in terminal columns.
const BAR: usize = 20;

/// The table: the parts with bars, then each tool, then what is missing.
pub fn coverage_table(coverage: &ServerCoverage, style: &Style) -> String {
    let mut text = String::new();
    for (name, part) in [
        ("tools", coverage.tools()),
        ("arguments", coverage.arguments()),
        ("enum values", coverage.values()),
        ("error paths", coverage.error_paths()),
        ("resources", coverage.resources()),
        ("prompts", coverage.prompts()),
    ] {
        if part.total > 0 {
            let _ = writeln!(text, "{name:<12} {}", bar(part, style));
        }
    }
    let widest = coverage.tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).clamp(4, 50);
    if !coverage.tools.is_empty() {
        let head = format!("{:<widest$}  assertions  arguments  error path  not passed", "tool");
        let _ = writeln!(text, "\n{}", style.paint(Role::Strong, &head));
    }
    for tool in &coverage.tools {
        let given = tool.arguments.iter().filter(|argument| argument.exercised).count();
        let arguments = format!("{given}/{}", tool.arguments.len());
        let error = if tool.error_path { "yes" } else { "no" };
        let name = format!("{:<widest$}", escape::line(&tool.name));
        let role = if tool.assertions > 0 { Role::Good } else { Role::Bad };
        let name = style.paint(role, &name);
        let row = format!("{name}  {:>10}  {arguments:>9}  {error:<10}  {}", tool.assertions, missing(tool));
        let _ = writeln!(text, "{}", row.trim_end());
    }
    let items =
        [("resource", &coverage.resources), ("template", &coverage.resource_templates), ("prompt", &coverage.prompts)];
    for (word, items) in items {
        let without = items.iter().filter(|item| item.assertions == 0).map(|item| escape::line(&item.name));
        let without: Vec<_> = without.collect();
        if !without.is_empty() {
            let _ = writeln!(text, "\n{word}s without an assertion: {}", without.join(", "));
        }
    }
    if !coverage.unknown.is_empty() {
        let unknown: Vec<_> = coverage.unknown.iter().map(|name| escape::line(name)).collect();
        let _ = writeln!(text, "\nasserted, but not offered: {}", unknown.join(", "));
    }
    text
}

fn bar(part: CoverageCount, style: &Style) -> String {
    let filled = part.covered * BAR / part.total.max(1);
    let role = if part.covered == part.total { Role::Good } else { Role::Note };
    let drawn = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    format!("{} {:>3.0} %  {} of {}", style.paint(role, &drawn), part.percent(), part.covered, part.total)
}

/// The arguments that no case passes, and the values of enumerations.
fn missing(tool: &ToolCoverage) -> String {
    if tool.assertions == 0 {
        return String::new();
    }
    let mut missing = Vec::new();
    for argument in &tool.arguments {
        let name = escape::line(&argument.name);
        if !argument.exercised {
            missing.push(name.into_owned());
        } else if !argument.unused_values.is_empty() {
            let values: Vec<String> = argument.unused_values.iter().map(ToString::to_string).collect();
            missing.push(format!("{name}={}", escape::line(&values.join("|"))));
        }
    }
    missing.join(", ")
}
