//! `{{name}}` and `${NAME}`: what is not known stays as it was, and what was put in is not read again.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use mcprove_model::SourceFile;
use mcprove_suite::assertion_file::{self, Document};
use mcprove_suite::context::Context;
use mcprove_suite::environment::Environment;
use mcprove_suite::template::{self, Variables};
use mcprove_suite::yaml;
use serde_json::json;

fuzz_target!(|text: &str| {
    let mut variables = Variables::new();
    let literal = template::literal_text(text, &[]);
    assert_eq!(template::substitute_text(&literal, &variables), text, "what is meant literally comes back");
    variables.set("a", json!("{{a}}{{b}}"));
    variables.set("b", json!({"deep": [1, "{{a}}"]}));
    variables.set("fixture", json!("/copy"));
    assert_eq!(template::substitute_text(&literal, &variables), text, "also where names are known");
    let once = template::substitute_text(text, &variables);
    assert!(once.len() <= (text.len() + 1) * 32, "what is put in is put in once");

    let source = SourceFile::new("case.yaml", text);
    for node in yaml::parse(&source).0 {
        let _ = template::substitute_with_keys(&node, &variables);
        let _ = template::unresolved_with_keys(&node, &["a"]);
    }

    // A whole value of `env` is read for references, whatever is in it.
    let lookup = |name: &str| match name {
        "HOME" => Some("/home/$USER/${HOME}".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let environment = Environment { lookup: &lookup, names: &[] };
    let file = format!("server: {{command: x, env: {{A: {}}}}}\nassert: {{tool: t}}\n", json!(text));
    let source = Arc::new(SourceFile::new("case.yaml", file.as_str()));
    for node in yaml::parse(&source).0 {
        let context = Context { environment, fixture: None, server: None, folder: None };
        let decoded = assertion_file::decode(&source, Document { node: &node, number: 1, of: 1 }, &context);
        let _ = mcprove_report::render_findings(&decoded.findings, &mcprove_report::Style::default());
    }
});
