//! Lint rules for a suite that loads: checks that cannot fail, and features that a revision of the protocol has
//! left behind. Pure: documents in, findings out.

mod always_holds;
mod deprecated_feature;
mod fixes;
mod nothing_expected;
mod removed_feature;

use mcprove_model::{Diagnostics, Entry, Finding, Kind, Node, Revision, SourceFile};

use crate::suite_file;

/// Every rule, sorted by its id.
pub const RULES: &[Rule] =
    &[always_holds::RULE, deprecated_feature::RULE, nothing_expected::RULE, removed_feature::RULE];

/// One thing that is doubtful about a suite.
pub struct Rule {
    /// Its id, which findings carry.
    pub id: &'static str,
    /// One sentence for the documentation.
    pub summary: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// A document that breaks it, for the newest revision.
    pub bad: &'static str,
    /// A document like it that does not.
    pub good: &'static str,
    run: fn(&Subject<'_>, &mut Diagnostics<'_>),
}

/// A document, and the revision it is to be fit for.
struct Subject<'n> {
    document: &'n Node,
    target: Revision,
}

/// Finds what is doubtful about the documents of a file, in the order it is written.
pub fn lint(source: &SourceFile, documents: &[Node], target: Revision) -> Vec<Finding> {
    let mut found = Diagnostics::new(source);
    for document in documents {
        for rule in RULES {
            (rule.run)(&Subject { document, target }, &mut found);
        }
    }
    let mut findings = found.into_findings();
    findings.sort_by_key(crate::load::place_in_file);
    findings
}

/// Number of tests in the documents of a file.
pub fn count_tests(documents: &[Node]) -> usize {
    let tests = |document: &Node| {
        if !suite_file::is_suite(document) {
            return 1;
        }
        let lists = document.as_map().unwrap_or_default().iter().filter(|entry| suite_file::is_list(&entry.key.text));
        lists.map(|entry| entry.value.as_list().map_or(0, <[Node]>::len)).sum()
    };
    documents.iter().map(tests).sum()
}

/// Keys whose values are data of the author's: no key below them is one of ours.
const DATA: &[&str] =
    &["args", "arguments", "content", "env", "exact", "headers", "params", "schema", "subset", "trace"];

/// Visits every key with the keys above it, from the top.
fn each_entry<'n>(node: &'n Node, visit: &mut dyn FnMut(&[&'n str], &'n Entry, &'n Node)) {
    visit_below(node, &mut Vec::new(), visit);
}

fn visit_below<'n>(node: &'n Node, above: &mut Vec<&'n str>, visit: &mut dyn FnMut(&[&'n str], &'n Entry, &'n Node)) {
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::List(items) => items.iter().for_each(|item| visit_below(item, above, visit)),
        Kind::Map(entries) => {
            for entry in entries {
                visit(above, entry, node);
                if DATA.contains(&entry.key.text.as_str()) {
                    continue;
                }
                above.push(&entry.key.text);
                visit_below(&entry.value, above, visit);
                above.pop();
            }
        }
    }
}

/// The items of a list; any other value is a list of one.
fn items(node: &Node) -> &[Node] {
    node.as_list().unwrap_or(std::slice::from_ref(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn linted(text: &str, target: Revision) -> Vec<Finding> {
        let source = SourceFile::new("a.yaml", text);
        let (documents, findings) = yaml::parse(&source);
        assert_eq!(findings, [], "{text}");
        lint(&source, &documents, target)
    }

    #[test]
    fn every_rule_fires_on_what_is_bad_and_is_silent_on_what_is_good() {
        for rule in RULES {
            let found = linted(rule.bad, Revision::NEWEST);
            assert!(!found.is_empty() && found.iter().all(|finding| finding.rule == rule.id), "{}: {found:?}", rule.id);
            assert_eq!(linted(rule.good, Revision::NEWEST), [], "{}", rule.id);
        }
        assert!(RULES.is_sorted_by_key(|rule| rule.id));
    }

    #[test]
    fn fixes_silence_what_they_mend() {
        let mut mended = 0;
        for rule in RULES {
            let mut text = rule.bad.to_owned();
            let found = linted(&text, Revision::NEWEST);
            for fix in found.iter().rev().filter_map(|finding| finding.fix.as_ref()) {
                mended += 1;
                for edit in fix.edits.iter().rev() {
                    text.replace_range(edit.start as usize..edit.end as usize, &edit.text);
                }
            }
            let left = linted(&text, Revision::NEWEST);
            let unmended = found.iter().filter(|finding| finding.fix.is_none()).count();
            assert_eq!(left.len(), unmended, "{}: {text}", rule.id);
        }
        assert!(mended >= 2);
    }

    #[test]
    fn what_is_deprecated_depends_on_the_revision() {
        let text = "server: {url: 'http://x', transport: sse}\nassert: {tool: a, expect: {not_error: true}}\n";
        assert_eq!(linted(text, Revision::V2024_11_05), []);
        assert_eq!(linted(text, Revision::V2025_03_26).len(), 1);
        let batch = "server: {command: x}\nassert_raw: {text: '[]', expect: {no_reply: true}}\n";
        assert_eq!(linted(batch, Revision::V2025_03_26), []);
        assert_eq!(linted(batch, Revision::V2025_06_18).len(), 1);
    }

    #[test]
    fn keys_in_data_are_not_ours() {
        let text = "server: {command: x}\nassert: {tool: a, args: {expect: {contains: ''}, transport: sse}, \
                    expect: {not_error: true}}\n";
        assert_eq!(linted(text, Revision::NEWEST), []);
    }
}
