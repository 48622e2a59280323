//! The page about the mock: what it shows can be used as it stands.

use std::path::Path;

use mcprove_mock::{Offer, load, read};
use mcprove_model::SourceFile;

#[test]
fn manifests_of_the_page_and_of_the_examples_have_no_mistakes() {
    let page = include_str!("../../../../docs/mock.md");
    let blocks: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let (offer, findings) = read(&SourceFile::new("docs/mock.md", block));
        assert!(findings.is_empty() && matches!(offer, Some(Offer::Manifest(_))), "{findings:?}");
    }
    for name in ["weather.yml", "conformance.yml"] {
        let (offer, findings) = load(&Path::new("../../examples/mock").join(name));
        assert!(findings.is_empty() && offer.is_some(), "{name}: {findings:?}");
    }
}
