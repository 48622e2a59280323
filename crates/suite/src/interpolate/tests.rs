//! Tests of references: every form, what is hidden, and what is reported.

use mcprove_model::SourceFile;
use serde_json::json;

use super::*;
use crate::environment::Environment;

fn lookup(name: &str) -> Option<String> {
    match name {
        "KEY" => Some("s3cret".to_owned()),
        "USER" => Some("ada".to_owned()),
        "EMPTY" => Some(String::new()),
        "LIMIT" => Some("7".to_owned()),
        "BRACES" => Some("{{fixture}}".to_owned()),
        _ => None,
    }
}

/// The value of a text, what is not to be shown, and what is reported with its columns.
fn interpolated(text: &str, syntax: Syntax) -> (Value, Vec<String>, Vec<String>) {
    let source = SourceFile::new("a.yaml", text);
    let mut found = Diagnostics::new(&source);
    let environment = Environment { lookup: &lookup, names: &[] };
    let folder = (!syntax.is_strict).then_some("/suite");
    let mut variables = Variables::new(environment, folder);
    if folder.is_some() {
        variables.set("COUNT", json!(5));
        variables.set("LIMIT", json!(1));
    }
    let mut node = Node::text_at(Span::new(0, text.len()), text);
    let mut secrets = Vec::new();
    let mut interpolation =
        Interpolation { variables: &variables, secrets: &mut secrets, syntax, unset: Unset::Reported };
    interpolation.apply(&mut node, &mut found);
    let reported = found.into_findings().into_iter().map(|finding| match finding.place {
        Some(mcprove_model::Place::Text(place)) => {
            format!("{} {}-{}", finding.rule, place.column, place.end_column)
        }
        Some(mcprove_model::Place::Wire(_)) | None => finding.rule.into_owned(),
    });
    (node.to_json(), secrets, reported.collect())
}

fn check(syntax: fn() -> Syntax, cases: &[(&str, Value)]) {
    for (text, expected) in cases {
        let (value, _, reported) = interpolated(text, syntax());
        assert_eq!((&value, reported), (expected, Vec::new()), "{text}");
    }
}

#[test]
fn every_form_of_suite_files_is_replaced() {
    check(
        || Syntax::SUITE,
        &[
            ("${KEY}", json!("s3cret")),
            ("a ${KEY}!", json!("a s3cret!")),
            ("${COUNT}", json!(5)),
            ("n=${COUNT}", json!("n=5")),
            ("${LIMIT}", json!(7)),
            ("${GONE:-d}", json!("d")),
            ("${GONE:-${COUNT}}", json!("5")),
            ("${EMPTY:-d}", json!("d")),
            ("${KEY:?needed}", json!("s3cret")),
            ("${env:KEY}", json!("s3cret")),
            ("${env:GONE:-d}", json!("d")),
            ("${secret:KEY}", json!("s3cret")),
            ("${BRACES}", json!("{{fixture}}")),
            ("${CONFIG_DIR}/x", json!("/suite/x")),
            ("$$5 and $KEY", json!("$5 and $KEY")),
            ("${args.x} ${a[0]} ${} ^a$ ${", json!("${args.x} ${a[0]} ${} ^a$ ${")),
            ("$.result.x", json!("$.result.x")),
        ],
    );
}

#[test]
fn every_form_of_assertion_files_is_replaced() {
    check(
        || Syntax::PAIRS,
        &[
            ("$KEY", json!("s3cret")),
            ("Bearer ${KEY}!", json!("Bearer s3cret!")),
            ("$USER:$KEY@host", json!("ada:s3cret@host")),
            ("${GONE:-sqlite:///tmp/x.db}", json!("sqlite:///tmp/x.db")),
            ("${EMPTY:-default}", json!("default")),
            ("${KEY:-default}", json!("s3cret")),
            ("${GONE:-${USER}}/x", json!("ada/x")),
            ("${GONE:-}", json!("")),
            ("${KEY:?needed}", json!("s3cret")),
            ("a$$b", json!("a$b")),
            ("costs $5 or $", json!("costs $5 or $")),
            ("${EMPTY}", json!("")),
            ("é$KEY", json!("és3cret")),
            ("${secret:KEY}", json!("s3cret")),
            ("$BRACES", json!("{{'{{'}}fixture}}")),
        ],
    );
    check(|| Syntax::REDACTED, &[("$BRACES", json!("{{fixture}}"))]);
}

#[test]
fn where_a_shell_may_read_on_only_secrets_are_replaced() {
    check(
        || Syntax::WORDS,
        &[
            ("--key=${secret:KEY}/${secret:USER}", json!("--key=s3cret/ada")),
            ("echo $KEY ${KEY} $$ $", json!("echo $KEY ${KEY} $$ $")),
            ("${KEY}", json!("${KEY}")),
            ("$${secret:KEY} ${secret:KEY}", json!("${secret:KEY} s3cret")),
            ("a$$${secret:KEY}$$$${secret:KEY}", json!("a$s3cret$${secret:KEY}")),
            ("${secret:BRACES}/{{fixture}}", json!("{{'{{'}}fixture}}/{{fixture}}")),
        ],
    );
    assert_eq!(interpolated("${secret:BRACES}", Syntax::WORDS).1, ["{{fixture}}"]);
}

#[test]
fn values_are_hidden_as_the_syntax_says_and_defaults_are_not() {
    assert_eq!(interpolated("$KEY ${KEY} ${GONE:-plain} $USER", Syntax::PAIRS).1, ["s3cret", "ada"]);
    assert_eq!(interpolated("${secret:KEY} ${KEY}", Syntax::SUITE).1, ["s3cret"]);
    assert_eq!(interpolated("${KEY}", Syntax::SUITE).1, [""; 0]);
    assert_eq!(interpolated("${KEY} ${COUNT} ${env:USER}", Syntax::SUITE_PAIRS).1, ["s3cret", "ada"]);
}

#[test]
fn what_is_missing_or_malformed_is_reported_where_it_is() {
    for (text, expected) in [
        ("a ${GONE}", "unset-variable 3-10"),
        ("${GONE:?why}", "required-variable 1-13"),
        ("${env:GONE}", "required-variable 1-12"),
        ("${secret:GONE}", "required-variable 1-15"),
        ("${capture:id}", "bad-variable 1-14"),
        ("x ${vault:id}", "bad-variable 3-14"),
        ("${X:-a${GONE}}", "unset-variable 7-14"),
    ] {
        assert_eq!(interpolated(text, Syntax::SUITE).2, [expected], "{text}");
    }
    for (text, expected) in [
        ("a ${GONE} $LOST/x", &["unset-variable 3-10", "unset-variable 11-16"][..]),
        ("é${GONE:-${LOST}}", &["unset-variable 10-17"]),
        ("${GONE:?get one}", &["required-variable 1-17"]),
        ("${secret:GONE}", &["required-variable 1-15"]),
    ] {
        assert_eq!(interpolated(text, Syntax::PAIRS).2, expected, "{text}");
    }
    for malformed in ["${GONE", "${}", "${A-b}", "${5}", "${A:+b}", "${secret:}", "${secret:a b}", "${env:KEY}"] {
        let reported = interpolated(malformed, Syntax::PAIRS).2;
        assert!(matches!(&reported[..], [one] if one.starts_with("bad-variable")), "{malformed}: {reported:?}");
    }
    let reported = interpolated("é ${secret:GONE} ${secret:", Syntax::WORDS).2;
    assert_eq!(reported, ["required-variable 3-17", "bad-variable 18-20"]);
}

#[test]
fn values_of_values_do_not_grow_without_end() {
    let doubled = (1..41).map(|n| format!("V{n}: {{value: '${{V{0}}}${{V{0}}}'}}\n", n - 1));
    let text: String = std::iter::once("V0: {value: xxxx}\n".to_owned()).chain(doubled).collect();
    let source = SourceFile::new("s.yaml", text);
    let (documents, _) = crate::yaml::parse(&source);
    let mut found = Diagnostics::new(&source);
    let mut variables = Variables::new(Environment { lookup: &|_| None, names: &[] }, Some("."));
    variables.decode(&documents[0], &mut Vec::new(), &mut found);
    let findings = found.into_findings();
    assert!(findings[0].message.ends_with("the values of references take too much memory"), "{findings:?}");
    let longest = (0..41).filter_map(|n| variables.get(&format!("V{n}"))?.as_str().map(str::len)).max();
    assert!(longest.is_some_and(|longest| (1 << 20..=64 << 20).contains(&longest)), "{longest:?}");
}
