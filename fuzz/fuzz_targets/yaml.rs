//! The loader of suites: whatever a file holds, it is decoded or said to be wrong, and every place lies in the file.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mcprove_model::{Kind, Node, SourceFile};
use mcprove_suite::assertion_file::{self, Document};
use mcprove_suite::context::Context;
use mcprove_suite::environment::Environment;
use mcprove_suite::{suite_file, yaml};

fuzz_target!(|text: &str| {
    let source = Arc::new(SourceFile::new("case.yaml", text));
    let (documents, findings) = yaml::parse(&source);
    for document in &documents {
        stays_inside(document, text);
    }
    let _ = mcprove_report::render_findings(&findings, &mcprove_report::Style::default());
    let lookup = |name: &str| (name == "HOME").then(|| "/home/someone".to_owned());
    let names = ["HOME".to_owned()];
    let environment = Environment { lookup: &lookup, names: &names };
    let of = documents.len();
    for (index, node) in documents.into_iter().enumerate() {
        if suite_file::is_suite(&node) {
            let context = Context { environment, fixture: None, server: None, folder: Some("/suite") };
            let unit = suite_file::Unit { source: Arc::clone(&source), node };
            let _ = suite_file::decode(vec![unit], &context);
        } else {
            let context = Context { environment, fixture: None, server: None, folder: None };
            let document = Document { node: &node, number: index + 1, of };
            let _ = assertion_file::decode(&source, document, &context);
        }
    }
});

fn stays_inside(node: &Node, text: &str) {
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    assert!(text.get(start..end).is_some(), "{start}..{end} is no place in {} bytes", text.len());
    match &node.kind {
        Kind::Scalar(_) => {}
        Kind::List(items) => items.iter().for_each(|item| stays_inside(item, text)),
        Kind::Map(entries) => {
            for entry in entries {
                let (start, end) = (entry.key.span.start as usize, entry.key.span.end as usize);
                assert!(text.get(start..end).is_some(), "the key {start}..{end} is no place");
                stays_inside(&entry.value, text);
            }
        }
    }
}
