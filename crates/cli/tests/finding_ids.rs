//! Every id that a finding can carry is explained: the sources are searched for ids, and each must be a topic of
//! `mcprove explain`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use mcprove::Topic;
use regex::Regex;

use crate::sources::{product_lines, sources};

/// How an id gets into a finding: the functions that make one, and the field.
const MAKERS: &str = r#"(?x)
    (?: \b Finding::(?:new|note|warning|error|high|critical) \(
      | \b found \. (?:error|error_with_help|warning|note) \(
      | \b self \. odd \(
      | \b rule: \s
      | \b let \s rule \s = \s (?: if [^{;]* \{ \s)?
    ) \s* "(?<id>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
"#;

#[test]
fn every_id_in_the_sources_is_explained() {
    let makers = Regex::new(MAKERS).expect("a pattern");
    let mut ids: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in code() {
        let text = fs::read_to_string(&file).expect("readable");
        let code = product_lines(&text);
        for found in makers.captures_iter(&code) {
            ids.insert(found["id"].to_owned(), file.clone());
        }
    }
    assert!(ids.len() > 100, "the pattern finds what it should: {ids:?}");
    let unexplained: Vec<String> = ids
        .iter()
        .filter(|(id, _)| Topic::find(id).is_empty())
        .map(|(id, file)| format!("{id} ({})", file.display()))
        .collect();
    assert!(unexplained.is_empty(), "add rows to crates/model/src/finding_kinds.txt for:\n{}", unexplained.join("\n"));
}

#[test]
fn every_explanation_is_of_an_id_that_exists() {
    let all: String = code().map(|file| fs::read_to_string(file).expect("readable")).collect();
    for finding in mcprove_model::finding_kinds() {
        assert!(all.contains(&format!("\"{}\"", finding.id)), "nobody says `{}` any more", finding.id);
    }
}

/// The sources without files that are tests from beginning to end.
fn code() -> impl Iterator<Item = PathBuf> {
    sources().into_iter().filter(|path| !path.ends_with("tests.rs"))
}
