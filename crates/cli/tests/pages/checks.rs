//! `docs/checks.md`: every check and every matcher, with examples of what holds and what does not.

use std::fmt::Write as _;

use mcprove_judge::checks::{CheckKind, TABLES, Table};
use mcprove_judge::matchers::{MATCHERS, MatcherKind};

/// What must stand in a block beside what is expected, so that an example is a whole one.
const BLOCKS: &[(&str, &str)] = &[
    ("any block with a result", "assert:\n  tool: search\n"),
    ("`assert_logging`", "assert_logging:\n  tool: search\n"),
    ("`assert_notifications`", "assert_notifications:\n  tool: search\n"),
    ("`assert_raw`", "assert_raw:\n  method: tools/list\n"),
    ("`assert_resources`", "assert_resources:\n  subscribe: a://b\n"),
    ("`assert_sampling`", "assert_sampling:\n  tool: search\n  mock_text: An answer.\n"),
];

/// Checks that hold only where something else is asked for, too.
const TOGETHER: &[(&str, &str)] = &[("cancelled", "  cancel_after: 500ms\n")];

pub(crate) fn page() -> String {
    let mut page = "# Checks and matchers\n\n".to_owned();
    page.push_str(&super::made_from("the tables in crates/judge/src/checks and crates/judge/src/matchers"));
    page.push_str(
        "\nEach of these is run over its examples by a test. A YAML example is valid next to a `server:`. \
         `mcprove explain NAME` prints any of these in the terminal.\n",
    );
    for table in TABLES {
        let _ = write!(page, "\n## `{}` of {}\n", table.key, table.of);
        for kind in table.kinds {
            check(&mut page, table, kind);
        }
    }
    page.push_str(
        "\n## Matchers\n\nA list of `{target, matcher}` may stand in the place of any `expect`: the target is a path such \
         as `result.content[0].text`, or an RFC 9535 path that begins with `$`.\n",
    );
    for kind in MATCHERS {
        matcher(&mut page, kind);
    }
    page
}

fn check(page: &mut String, table: &Table, kind: &CheckKind) {
    let _ = write!(page, "\n### {}\n\n{}\n\n", kind.name, kind.summary);
    if let Some(example) = kind.examples.iter().find(|example| example.holds) {
        let _ = write!(page, "```yaml\n{}\n```\n\n", block(table, kind, &one_line(example.value)));
    }
    for example in kind.examples {
        let value = one_line(example.value);
        let written = if table.key == "trajectory" { value } else { format!("{}: {value}", kind.name) };
        entry(page, example.holds, &written, &one_line(&example.seen.to_string()));
    }
}

/// A block that asks for the check.
fn block(table: &Table, kind: &CheckKind, value: &str) -> String {
    if table.key == "trajectory" {
        return format!("trace: [{{tool: read}}]\ntrajectory:\n  - {value}");
    }
    let around = BLOCKS.iter().find(|(of, _)| *of == table.of).map_or("assert:\n  tool: search\n", |(_, text)| *text);
    if table.key == kind.name {
        return format!("{around}  {}: {value}", kind.name);
    }
    let together = TOGETHER.iter().find(|(name, _)| *name == kind.name).map_or("", |(_, text)| *text);
    format!("{around}{together}  {}:\n    {}: {value}", table.key, kind.name)
}

fn matcher(page: &mut String, kind: &MatcherKind) {
    let _ = write!(page, "\n### matcher {}\n\n{}\n\n", kind.name, kind.summary);
    if let Some(example) = kind.examples.iter().find(|example| example.holds) {
        let _ = write!(
            page,
            "```yaml\nassert:\n  tool: search\n  expect:\n    - {{target: \"result.structuredContent\", matcher: {{{}: \
             {}}}}}\n```\n\n",
            kind.name,
            one_line(example.given)
        );
    }
    for example in kind.examples {
        entry(page, example.holds, &format!("{}: {}", kind.name, one_line(example.given)), &one_line(example.seen));
    }
}

fn entry(page: &mut String, holds: bool, written: &str, seen: &str) {
    let verdict = if holds { "holds" } else { "fails" };
    let _ = writeln!(page, "- {} {verdict} on {}", code(written), code(seen));
}

/// Text as code, also when it has backticks.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
