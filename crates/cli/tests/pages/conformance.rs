//! `docs/conformance-rules.md`: every conformance rule, and the mutations that prove it.

use std::fmt::Write as _;

use mcprove_judge::conformance::{RULES, Rule};
use mcprove_mock::{MUTATIONS, Mutation};

pub(crate) fn page() -> String {
    let mut page = "# Conformance rules\n\n".to_owned();
    page.push_str(&super::made_from("the tables in crates/judge/src/conformance and crates/mock/src/mutation"));
    let _ = write!(
        page,
        "\n`mcprove conformance` has {} rules. A test runs all of them on a conforming mock in every revision and on both \
         transports, where none may report anything, and on {} servers that break one rule each, where that rule and no other \
         must report it. Consequences are folded under their cause.\n\n\
         | rule | level | revisions | transport | a conforming server | mutations it catches |\n|---|---|---|---|---|---|\n",
        RULES.len(),
        MUTATIONS.len(),
    );
    for rule in RULES {
        let mutations = MUTATIONS.iter().filter(|mutation| mutation.rule == rule.id);
        let caught: Vec<String> = mutations.map(|mutation| format!("`{}`", mutation.name)).collect();
        let transport = rule.channel.map_or("both", |channel| channel.as_str());
        let _ = writeln!(
            page,
            "| [`{}`](#{}) | {} | {} | {transport} | {} | {} |",
            rule.id,
            rule.id,
            rule.level.as_str(),
            revisions(rule),
            rule.title,
            caught.join(", "),
        );
    }
    for rule in RULES {
        let _ = write!(page, "\n## {}\n\nA conforming server {}.\n\n", rule.id, rule.title);
        let _ = writeln!(page, "- Clauses: {}; section: {}", rule.clauses.join(", "), rule.section);
        let _ = writeln!(page, "- Why: {}", rule.why);
        for mutation in MUTATIONS.iter().filter(|mutation| mutation.rule == rule.id) {
            let _ = writeln!(page, "- Caught: a server that {}{}", mutation.what, where_seen(mutation));
        }
        let _ = write!(page, "\n```text\nbad:  {}\ngood: {}\n```\n", rule.bad, rule.good);
    }
    page
}

fn revisions(rule: &Rule) -> String {
    match rule.revisions {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first} to {last}"),
    }
}

fn where_seen(mutation: &Mutation) -> String {
    match (mutation.needs_process, mutation.transport) {
        (true, _) => " (as a process)".to_owned(),
        (false, Some(transport)) => format!(" (over {transport})"),
        (false, None) => String::new(),
    }
}
