//! What consumers hold the formats to: the XSD that Jenkins has for JUnit, the schema of SARIF, the grammar of TAP 13, the
//! JSON Schemas of the report and of the event log.

mod committed;
mod random;

use std::fs;
use std::sync::LazyLock;

use committed::{here, logs, render};
use mcprove_model::Report;
use proptest::prelude::*;
use quick_xml::events::{BytesStart, Event as XmlEvent};
use serde_json::{Value, json};

/// An element of `junit-10.xsd` of the xUnit plugin of Jenkins (3.1.6). Everything in it is here but the elements for cases
/// that were run again, which are not written.
struct Element {
    name: &'static str,
    /// The attributes it may have; those that end with `!` it must have.
    attributes: &'static [&'static str],
    /// What may stand in it, in any order and number.
    children: &'static [&'static str],
    /// True if text may stand in it.
    text: bool,
}

const SUITE_ATTRIBUTES: &[&str] = &[
    "name!",
    "tests!",
    "failures!",
    "errors!",
    "group",
    "time",
    "skipped",
    "timestamp",
    "hostname",
    "id",
    "package",
    "file",
    "log",
    "url",
    "version",
];

const CASE_ATTRIBUTES: &[&str] = &["name!", "time", "classname", "group"];

const OUTCOME: &[&str] = &["type", "message"];

const ELEMENTS: &[Element] = &[
    Element {
        name: "testsuites",
        attributes: &["name", "time", "tests", "failures", "errors"],
        children: &["testsuite"],
        text: false,
    },
    Element {
        name: "testsuite",
        attributes: SUITE_ATTRIBUTES,
        children: &["testsuite", "properties", "testcase", "system-out", "system-err"],
        text: false,
    },
    Element { name: "properties", attributes: &[], children: &["property"], text: false },
    Element { name: "property", attributes: &["name!", "value!"], children: &[], text: false },
    Element {
        name: "testcase",
        attributes: CASE_ATTRIBUTES,
        children: &["skipped", "error", "failure", "system-out", "system-err"],
        text: false,
    },
    Element { name: "skipped", attributes: OUTCOME, children: &[], text: true },
    Element { name: "error", attributes: OUTCOME, children: &[], text: true },
    Element { name: "failure", attributes: OUTCOME, children: &[], text: true },
    Element { name: "system-out", attributes: &[], children: &[], text: true },
    Element { name: "system-err", attributes: &[], children: &[], text: true },
];

#[test]
fn junit_is_valid_for_jenkins() {
    for (name, events) in logs() {
        let xml = render("junit", &Report::fold(events));
        assert_eq!(junit_errors(&xml), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn junit_that_is_not_valid_is_noticed() {
    let suite = |inner: &str| {
        format!("<testsuites><testsuite name='a' tests='1' failures='0' errors='0'>{inner}</testsuite></testsuites>")
    };
    assert_eq!(junit_errors(&suite("<testcase name='b' time='1,234.5'/>")), Vec::<String>::new());
    for wrong in [
        "<testsuite/>".to_owned(),
        "<testsuites><testcase name='a'/></testsuites>".to_owned(),
        suite("<testcase/>"),
        suite("<testcase name='a' colour='red'/>"),
        suite("<testcase name='a'>text</testcase>"),
        suite("<testcase name='a'><properties/></testcase>"),
        suite("<testcase name='a'><failure><b/></failure></testcase>"),
        suite("<properties><property name='a'/></properties>"),
        "<testsuites><testsuite name='a' tests='1' failures='0' errors='0' time='1e3'/></testsuites>".to_owned(),
        "<testsuites><testsuite name='a' tests='1' failures='0' errors='0'/>".to_owned(),
    ] {
        assert!(!junit_errors(&wrong).is_empty(), "{wrong}");
    }
}

/// What the XSD has against a document.
fn junit_errors(xml: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut open: Vec<&'static Element> = Vec::new();
    let mut reader = quick_xml::Reader::from_str(xml);
    loop {
        match reader.read_event() {
            Ok(XmlEvent::Start(tag)) => match started(&tag, open.last().copied(), &mut errors) {
                Some(element) => open.push(element),
                None => return errors,
            },
            Ok(XmlEvent::Empty(tag)) => {
                started(&tag, open.last().copied(), &mut errors);
            }
            Ok(XmlEvent::End(_)) => {
                open.pop();
            }
            Ok(XmlEvent::Text(text)) => {
                let is_blank = text.iter().all(u8::is_ascii_whitespace);
                if !is_blank && open.last().is_none_or(|element| !element.text) {
                    errors.push(format!("text outside of an element for it: {:?}", String::from_utf8_lossy(&text)));
                }
            }
            Ok(XmlEvent::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                errors.push(error.to_string());
                return errors;
            }
        }
    }
    errors.extend(open.iter().map(|element| format!("{} is not closed", element.name)));
    errors
}

fn started(tag: &BytesStart<'_>, within: Option<&Element>, errors: &mut Vec<String>) -> Option<&'static Element> {
    let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
    let Some(element) = ELEMENTS.iter().find(|element| element.name == name) else {
        errors.push(format!("no element is called {name}"));
        return None;
    };
    match within {
        Some(parent) if !parent.children.contains(&element.name) => {
            errors.push(format!("{name} does not belong in {}", parent.name));
        }
        None if name != "testsuites" => errors.push(format!("{name} cannot be the root")),
        Some(_) | None => {}
    }
    let mut there = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.expect("a well-formed attribute");
        let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        let value = attribute.unescape_value().expect("known references only").into_owned();
        if !element.attributes.iter().any(|known| known.trim_end_matches('!') == key) {
            errors.push(format!("{name} has no attribute {key}"));
        }
        // Of cases, any text will do.
        if key == "time" && name.starts_with("testsuite") && !is_time(&value) {
            errors.push(format!("{value} is no time"));
        }
        there.push(key);
    }
    for needed in element.attributes.iter().filter_map(|known| known.strip_suffix('!')) {
        if !there.iter().any(|key| key == needed) {
            errors.push(format!("{name} needs {needed}"));
        }
    }
    Some(element)
}

/// Digits, perhaps in groups of three, and perhaps a fraction.
fn is_time(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_whole = whole.split(',').all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    is_whole && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn sarif_is_valid_against_its_schema() {
    let validator = sarif_validator();
    for (name, events) in logs() {
        let log: Value = serde_json::from_str(&render("sarif", &Report::fold(events))).expect("JSON");
        let errors: Vec<_> = validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
        assert_rules_are_meant(&name, &log);
    }
}

#[test]
fn sarif_that_is_not_valid_is_noticed() {
    let validator = sarif_validator();
    let (_, events) = logs().into_iter().find(|(name, _)| name == "fail").expect("the log");
    let good: Value = serde_json::from_str(&render("sarif", &Report::fold(events))).expect("JSON");
    for (pointer, wrong) in [
        ("/version", json!("2.0.0")),
        ("/runs/0/tool/driver/rules/0", json!({"name": "no id"})),
        ("/runs/0/tool/driver/informationUri", json!("no address")),
        ("/runs/0/invocations/0/startTimeUtc", json!("yesterday")),
        ("/runs/0/results/0/level", json!("fatal")),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", json!(0)),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", json!("a b|c")),
        ("/runs/0/columnKind", json!("bytes")),
    ] {
        let mut log = good.clone();
        *log.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = wrong;
        assert!(!validator.is_valid(&log), "{pointer}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_report_of_a_random_log_is_valid(mut events in random::run(), kept in 0_usize..40) {
        // Some logs break off.
        events.truncate(kept.max(1));
        let closed = &*CLOSED_SCHEMAS;
        for event in &events {
            let line = serde_json::to_value(event).expect("JSON");
            prop_assert_eq!(errors_of(&closed.events, &line), Vec::<String>::new());
        }
        let report = Report::fold(events);
        prop_assert_eq!(junit_errors(&render("junit", &report)), Vec::<String>::new());
        let sarif: Value = serde_json::from_str(&render("sarif", &report)).expect("JSON");
        prop_assert_eq!(errors_of(&closed.sarif, &sarif), Vec::<String>::new());
        assert_rules_are_meant("random", &sarif);
        let json: Value = serde_json::from_str(&render("json", &report)).expect("JSON");
        prop_assert_eq!(errors_of(&closed.report, &json), Vec::<String>::new());
        let points = tap_points(&render("tap", &report)).map_err(TestCaseError::fail)?;
        let summary = report.summary();
        prop_assert_eq!(points.len(), report.cases.len());
        prop_assert_eq!(points.iter().filter(|point| !point.ok).count(), summary.failed + summary.errors + summary.unfinished);
        prop_assert!(render("github", &report).lines().count() <= 30);
    }
}

#[test]
fn committed_logs_and_their_reports_are_valid() {
    for (name, events) in logs() {
        for event in &events {
            let line = serde_json::to_value(event).expect("JSON");
            assert_eq!(errors_of(&CLOSED_SCHEMAS.events, &line), Vec::<String>::new(), "{name}");
        }
        let json: Value = serde_json::from_str(&render("json", &Report::fold(events))).expect("JSON");
        assert_eq!(errors_of(&CLOSED_SCHEMAS.report, &json), Vec::<String>::new(), "{name}");
    }
}

struct Schemas {
    sarif: jsonschema::Validator,
    report: jsonschema::Validator,
    events: jsonschema::Validator,
}

/// The schemas; ours without room for keys that they do not name, so that none is forgotten.
static CLOSED_SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas {
    sarif: sarif_validator(),
    report: closed("report.json"),
    events: closed("events.json"),
});

fn closed(file: &str) -> jsonschema::Validator {
    fn close(schema: &mut Value) {
        match schema {
            Value::Object(map) => {
                if map.contains_key("properties") {
                    map.insert("additionalProperties".to_owned(), json!(false));
                }
                map.values_mut().for_each(close);
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            _ => {}
        }
    }
    let text = fs::read_to_string(here().join("../../../schema").join(file)).expect("the schema is committed");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    close(&mut schema);
    jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
}

fn errors_of(validator: &jsonschema::Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn sarif_validator() -> jsonschema::Validator {
    let text = fs::read_to_string(here().join("data/sarif-2.1.0-abridged.json")).expect("the schema is committed");
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema")
}

/// What no schema can say: a result speaks of the rule at its index (§3.27.6).
fn assert_rules_are_meant(name: &str, log: &Value) {
    let rules = log.pointer("/runs/0/tool/driver/rules").and_then(Value::as_array).expect("rules");
    for result in log.pointer("/runs/0/results").and_then(Value::as_array).expect("results") {
        let index = result["ruleIndex"].as_u64().and_then(|index| usize::try_from(index).ok()).expect("an index");
        assert_eq!(rules[index]["id"], result["ruleId"], "{name}");
    }
}

#[test]
fn tap_can_be_parsed_and_says_what_the_report_says() {
    for (name, events) in logs() {
        let report = Report::fold(events);
        let summary = report.summary();
        let points = tap_points(&render("tap", &report)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let not_ok = points.iter().filter(|point| !point.ok).count();
        let skipped = points.iter().filter(|point| point.skipped).count();
        assert_eq!(points.len(), report.cases.len(), "{name}");
        assert_eq!(not_ok, summary.failed + summary.errors + summary.unfinished, "{name}");
        assert_eq!(skipped, summary.skipped, "{name}");
    }
}

#[test]
fn tap_that_is_not_valid_is_noticed() {
    let good = "TAP version 13\n1..2\nok 1 - a\n  ---\n  b: 1\n  ...\nnot ok 2 - c # TODO later\n# all\n";
    assert_eq!(tap_points(good).map(|points| points.len()), Ok(2));
    for (from, to) in [
        ("TAP version 13", "TAP version 14"),
        ("1..2", "1..3"),
        ("ok 1", "fine 1"),
        ("not ok 2", "not ok 3"),
        ("  ...\n", ""),
        ("  b: 1", "  b: [1"),
        ("  b: 1", "b: 1"),
        ("# all", "\t# all"),
        ("# TODO later\n# all", "\n  ---\n  b: 1"),
    ] {
        let wrong = good.replacen(from, to, 1);
        assert!(tap_points(&wrong).is_err(), "{wrong}");
    }
    assert!(tap_points("TAP version 13\n1..0 # SKIP nothing was selected\nBail out! interrupted\n").is_err());
    assert_eq!(tap_points("TAP version 13\nBail out! interrupted\n").map(|points| points.len()), Ok(0));
}

#[derive(Debug)]
struct TapPoint {
    ok: bool,
    skipped: bool,
}

/// Parses a TAP 13 document without subtests: a version, a plan, test points in order, each perhaps with a YAML block,
/// comments, and perhaps a bail-out. Any other line is refused, as `pragma +strict` asks of a harness.
fn tap_points(text: &str) -> Result<Vec<TapPoint>, String> {
    let mut lines = text.lines().peekable();
    if lines.next() != Some("TAP version 13") {
        return Err("no version".to_owned());
    }
    // A run that was stopped before its first point bails out instead of a plan; `1..0` would end the file for its readers.
    let plan = lines.next_if(|line| line.starts_with("1..")).map(|line| &line[3..]);
    let planned: usize = match plan {
        Some(plan) => plan.split(' ').next().unwrap_or_default().parse().map_err(|_| format!("1..{plan}"))?,
        None => 0,
    };
    let mut points = Vec::new();
    let mut bailed = false;
    while let Some(line) = lines.next() {
        if line.starts_with('#') {
            continue;
        }
        if line.starts_with("Bail out!") {
            bailed = true;
            continue;
        }
        let (ok, rest) = match (line.strip_prefix("not ok "), line.strip_prefix("ok ")) {
            (Some(rest), _) => (false, rest),
            (None, Some(rest)) => (true, rest),
            (None, None) => return Err(format!("not a test point: {line}")),
        };
        let (number, description) = rest.split_once(" - ").ok_or(format!("no description: {line}"))?;
        points.push(TapPoint { ok, skipped: directive(description).starts_with("SKIP") });
        if number != points.len().to_string() {
            return Err(format!("out of order: {line}"));
        }
        if lines.next_if_eq(&"  ---").is_some() {
            yaml_block(&mut lines)?;
        }
    }
    let is_whole = match (plan, bailed) {
        (None, bailed) => bailed && points.is_empty(),
        (Some(_), true) => planned > 0,
        (Some(_), false) => points.len() == planned,
    };
    if is_whole { Ok(points) } else { Err(format!("{} of {planned}", points.len())) }
}

/// Reads a block to its end; it must be YAML.
fn yaml_block<'t>(lines: &mut impl Iterator<Item = &'t str>) -> Result<(), String> {
    let mut yaml = String::new();
    loop {
        match lines.next() {
            Some("  ...") => break,
            Some("") => yaml.push('\n'),
            Some(line) => {
                yaml.push_str(line.strip_prefix("  ").ok_or(format!("not in the block: {line}"))?);
                yaml.push('\n');
            }
            None => return Err("a YAML block is open".to_owned()),
        }
    }
    match saphyr_parser::Parser::new_from_str(&yaml).find_map(Result::err) {
        Some(error) => Err(format!("{error} in {yaml}")),
        None => Ok(()),
    }
}

/// What follows the first `#` that is not escaped.
fn directive(description: &str) -> &str {
    let mut escaped = false;
    for (at, c) in description.char_indices() {
        if c == '#' && !escaped {
            return description[at + 1..].trim_start();
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}
