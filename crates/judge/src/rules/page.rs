//! The rules as a page of documentation.

use std::fmt::Write as _;

use super::{Example, Group, RULES, Rule};

/// The top of the page.
const HEAD: &str = "# Rules

What `mcprove schema-lint` finds in the tools a server lists. `mcprove explain RULE` prints one of these entries. Without
options only the strict rules (SCH) are applied; `--all` applies every rule, `--select RULES` these, `--allow RULES` all
but these. A rule is named by its id, its name, or its group.

<!-- Made from the table in crates/judge/src/rules by `SNAPSHOTS=overwrite cargo test -p mcprove-judge`. -->
";

/// The end of the page.
const TAIL: &str = "
## The score of a tool

A `tool_quality` block scores every tool from 0 to 1: the mean of six parts.

| part | 1 means |
|---|---|
| `described` | it has a description of at least 20 characters (else 0) |
| `documented` | every parameter has a description (else the share that has) |
| `typed` | every parameter has a description and a type (else the share that has) |
| `concise` | the description has at most 60 words (then 60 divided by their number; 0 without a description) |
| `returns` | it says what it returns, in words or by an `outputSchema` (else 0) |
| `annotated` | it has annotations (else 0) |

Targets: `min_score`, `mean_score`, `tool[\"name\"].score` (its parts are next to it), `critical_count` and
`warning_count` (of USE rules), `schema_criticals` and `schema_warnings` (of SCH rules), and the count of any rule,
`rules[\"SCH-001\"]`. Without `expect`, `min_score` must be at least 0.50, `mean_score` at least 0.70 and
`critical_count` 0; schemas are not looked at, and a server without tools does not pass.
";

/// All rules with why they matter and their examples, in Markdown.
pub fn rules_page() -> String {
    let mut page = HEAD.to_owned();
    for group in [Group::Strictness, Group::Usability, Group::Validity, Group::Portability] {
        let rules = || RULES.iter().filter(|rule| rule.group() == group);
        let _ = write!(
            page,
            "\n## {}: {}\n\n| rule | severity | what it finds |\n|---|---|---|\n",
            group.prefix(),
            group.title()
        );
        for rule in rules() {
            let anchor = format!("{}-{}", rule.id, rule.name).to_lowercase();
            let _ = writeln!(page, "| [{}](#{anchor}) | {} | {} |", rule.id, rule.severity.word(), rule.summary);
        }
        rules().for_each(|rule| entry(&mut page, rule));
    }
    page + TAIL
}

fn entry(page: &mut String, rule: &Rule) {
    let fix = if rule.is_fixable() { " `--fix` does it where it can be done mechanically." } else { "" };
    let _ = write!(
        page,
        "\n### {} {}\n\n{}\n\nWhat to do: {}.{fix}\n\nBad:\n\n{}\nGood:\n\n{}",
        rule.id,
        rule.name,
        rule.why,
        rule.help,
        block(&rule.bad),
        block(&rule.good)
    );
}

fn block(example: &Example) -> String {
    let language = match example {
        Example::Tool(_) | Example::Tools(_) => "json",
        Example::Many { .. } => "text",
    };
    format!("```{language}\n{}\n```\n", example.shown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_in_the_documentation_is_up_to_date() {
        snapbox::assert_data_eq!(rules_page(), snapbox::file!["../../../../docs/rules.md"].raw());
    }
}
