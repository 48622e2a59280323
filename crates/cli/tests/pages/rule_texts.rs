//! `crates/model/src/rule_texts.txt`: the texts of every rule that is not in the registry of finding ids.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mcprove_judge::RULES;
use mcprove_judge::checks::TABLES;
use mcprove_judge::conformance::RULES as CONFORMANCE_RULES;
use mcprove_judge::matchers::MATCHERS;
use mcprove_judge::negative::PROBES;
use mcprove_judge::trust::RULES as TRUST_RULES;
use mcprove_suite::lint::RULES as SUITE_RULES;

pub(crate) fn page() -> String {
    let mut rows = Rows::default();
    for rule in RULES {
        let anchor = format!("{}-{}", rule.id.to_lowercase(), rule.name);
        rows.add(rule.id, rule.name, (&sentence(rule.summary), rule.help), &format!("rules.md#{anchor}"));
    }
    for rule in TRUST_RULES {
        rows.add(rule.id, rule.axis, (rule.summary, rule.why), "trust.md");
    }
    for rule in CONFORMANCE_RULES {
        let summary = format!("A conforming server {}.", rule.title);
        rows.add(rule.id, rule.id, (&summary, rule.why), &format!("conformance-rules.md#{}", rule.id));
    }
    for rule in SUITE_RULES {
        rows.add(rule.id, rule.id, (rule.summary, rule.why), "findings.md#doubtful-suites");
    }
    for probe in PROBES {
        let (sends, expected) = (format!("mcprove sends {}.", probe.sends), format!("Expected: {}.", probe.contract));
        rows.add(probe.name, probe.name, (&sends, &expected), "findings.md#probes-of-the-error-contract");
    }
    let checks = TABLES.iter().flat_map(|table| table.kinds).map(|kind| (kind.name, kind.summary));
    for (name, summary) in checks.chain(MATCHERS.iter().map(|kind| (kind.name, kind.summary))) {
        let help = format!("Compare the expected with the actual value; `mcprove explain {name}` has examples.");
        rows.add(name, name, (summary, &help), &format!("checks.md#{name}"));
    }
    rows.text
}

#[derive(Default)]
struct Rows {
    known: BTreeSet<String>,
    text: String,
}

impl Rows {
    /// Adds a row; the first of an id counts.
    fn add(&mut self, id: &str, name: &str, (summary, help): (&str, &str), page: &str) {
        if self.known.insert(id.to_owned()) {
            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let _ = writeln!(self.text, "{id}\t{name}\t{}\t{}\t{page}", one_line(summary), one_line(help));
        }
    }
}

/// A fragment as a sentence.
fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
