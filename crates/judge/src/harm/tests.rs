//! Random schemas with dangerous names never yield a value that could do harm.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::fuzz::{FuzzPlan, Shrinker, ValuePool};
use crate::generate::test_schemas::{random_schema, random_value};

const SCRATCH: &str = "/tmp/mcprove-scratch-1";

fn guard(tool: &Value) -> HarmGuard {
    HarmGuard::new(tool, &ToolEffect::Unclear, SCRATCH)
}

fn tool(properties: &Value) -> Value {
    let required: Vec<String> = properties.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
    json!({"name": "t", "inputSchema": {"type": "object", "properties": properties, "required": required}})
}

#[test]
fn valid_inputs_are_harmless() {
    let text = json!({"type": "string"});
    let asked = tool(&json!({
        "pid": {"type": "integer"},
        "output_path": text,
        "repo_path": text,
        "command": text,
        "url": text,
        "host": text,
        "sql": text,
        "pattern": text,
        "paths": {"type": "array", "items": text, "minItems": 1},
        "deep": {"type": "object", "properties": {"path": {"type": "string", "default": "/"}}, "required": ["path"]},
    }));
    let input = guard(&asked).input(&asked, 0, None).expect("an input");
    assert_eq!(
        input,
        json!({
            "pid": 4_200_000,
            "output_path": "/tmp/mcprove-scratch-1/mcprove-output-path-example.txt",
            "repo_path": "/tmp/mcprove-scratch-1/mcprove-repo-path-example",
            "command": "echo hello",
            "url": "https://example.invalid/",
            "host": "example.invalid",
            "sql": "SELECT 1",
            "pattern": "mcprove-example",
            "paths": ["/tmp/mcprove-scratch-1/mcprove-paths-example.txt"],
            "deep": {"path": "/tmp/mcprove-scratch-1/mcprove-path-example.txt"},
        })
    );
}

#[test]
fn an_authors_own_path_is_used_where_the_tool_says_that_it_reads() {
    let asked = tool(&json!({"path": {"type": "string", "default": "/"}}));
    let reads = HarmGuard::new(&asked, &ToolEffect::Reads, SCRATCH);
    assert_eq!(reads.input(&asked, 0, None), Ok(json!({"path": "/"})));
    let closed = tool(&json!({"script": {"enum": ["build", "test"]}}));
    assert_eq!(guard(&closed).input(&closed, 0, None), Ok(json!({"script": "build"})));
    let stuck = tool(&json!({"pid": {"type": "integer", "maximum": 10}}));
    let error = guard(&stuck).input(&stuck, 0, None).expect_err("nothing is harmless");
    assert_eq!(error.pointer, "/pid");
}

#[test]
fn an_operation_that_changes_nothing_is_chosen() {
    let asked = tool(&json!({"operation": {"enum": ["create", "DELETE", "get_permissions", "list"]}}));
    assert_eq!(guard(&asked).input(&asked, 0, None), Ok(json!({"operation": "get_permissions"})));
    assert!(!guard(&asked).allows(&json!({"operation": "drop"})));
    let editor = tool(&json!({"command": {"enum": ["create", "view"]}}));
    assert_eq!(guard(&editor).input(&editor, 0, None), Ok(json!({"command": "view"})));
    let request = tool(&json!({"method": {"enum": ["POST", "PUT"]}}));
    assert!(guard(&request).input(&request, 0, None).is_err(), "no value is harmless");
}

#[test]
fn what_a_user_gives_and_what_is_in_the_fixture_stays() {
    let asked = tool(&json!({"path": {"type": "string"}, "pid": {"type": "integer"}}));
    let given = json!({"path": "/home/me/x", "pid": 7});
    assert!(!guard(&asked).allows(&given));
    assert!(guard(&asked).with_given(std::slice::from_ref(&given)).allows(&given));
    let inside = json!({"path": "/f/a.txt"});
    assert!(guard(&asked).with_fixture("/f").allows(&inside));
    assert!(!guard(&asked).with_fixture("/f").allows(&json!({"path": "/f/../etc"})));
    assert!(!guard(&asked).with_fixture("/f").allows(&json!({"path": "/fo"})));
}

#[test]
fn arguments_are_an_object_whatever_the_schema_is() {
    for tool in [json!({}), json!({"inputSchema": {}}), json!({"inputSchema": true}), json!({"inputSchema": null})] {
        assert_eq!(guard(&tool).input(&tool, 0, None), Ok(json!({})), "{tool}");
    }
    let untyped = json!({"inputSchema": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}});
    assert_eq!(guard(&untyped).input(&untyped, 0, None), Ok(json!({"a": 1})));
}

#[test]
fn mutations_of_a_process_id_stay_harmless() {
    let asked = tool(&json!({"pid": {"type": "integer"}}));
    let guard = guard(&asked);
    let schema = argument_schema(&asked);
    let mut plan = FuzzPlan::new(&schema, 3, 200).guarded(guard.clone());
    let mut cases = plan.first(&ValuePool::default(), &|| false);
    cases.extend(plan.more(&ValuePool::default(), 200));
    assert!(cases.len() > 3);
    for case in cases {
        let pid = case.arguments.get("pid").cloned().unwrap_or_else(|| json!("absent"));
        let is_fine = pid.is_object()
            || pid == json!("absent")
            || pid == json!(4_200_000)
            || pid.is_string()
            || pid.is_array()
            || pid.as_f64().is_some_and(|pid| pid > 4_194_304.0 && pid < 2_147_483_648.0);
        assert!(is_fine && guard.allows(&case.arguments), "{} {}", case.label, case.arguments);
    }
}

/// Names of arguments that can do harm.
const NAMES: &[&str] = &[
    "pid",
    "process_id",
    "uid",
    "path",
    "filename",
    "cwd",
    "directory",
    "output_path",
    "destination",
    "command",
    "cmd",
    "script",
    "url",
    "uri",
    "host",
    "hostname",
    "domain",
    "ip",
    "sql",
    "glob",
    "pattern",
    "root",
];

/// A random schema whose properties have dangerous names.
fn dangerous(seed: u64) -> Value {
    let mut schema = json!({"type": "object", "properties": {}, "required": []});
    for turn in 0..3_u64 {
        let name = NAMES[usize::try_from((seed >> (turn * 8)) % NAMES.len() as u64).unwrap_or(0)];
        schema["properties"][name] = match seed.wrapping_add(turn) % 7 {
            0 => json!({"type": "string", "default": "/"}),
            1 => json!({"type": "string", "examples": ["~", "/etc/passwd", "localhost", "rm -rf /"]}),
            2 => json!({"type": "integer"}),
            3 => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
            4 => json!({"type": "string", "maxLength": 60, "minLength": 1}),
            5 => json!({"type": "object", "properties": {name: random_schema(seed ^ turn)}, "required": [name]}),
            _ => random_schema(seed ^ turn),
        };
        schema["required"].as_array_mut().expect("a list").push(json!(name));
    }
    schema
}

// `PROPTEST_CASES=10000` looks longer.
proptest! {

    #[test]
    fn no_schema_yields_a_harmful_input(seed in any::<u64>()) {
        let tool = json!({"name": "t", "inputSchema": dangerous(seed)});
        let guard = guard(&tool);
        if let Ok(input) = guard.input(&tool, seed, None) {
            prop_assert!(guard.allows(&input), "{} {}", tool, input);
            prop_assert!(Oracle::new(&argument_schema(&tool)).is_ok_and(|oracle| oracle.accepts(&input)));
        }
        let made = guard.made_harmless(json!({NAMES[usize::try_from(seed % 22).unwrap_or(0)]: random_value(seed)}));
        prop_assert!(guard.allows(&made), "{}", made);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn no_mutation_and_no_shrink_is_harmful(seed in any::<u64>()) {
        let tool = json!({"name": "t", "inputSchema": dangerous(seed)});
        let guard = guard(&tool);
        let schema = argument_schema(&tool);
        let mut plan = FuzzPlan::new(&schema, seed, 30).guarded(guard.clone());
        let mut pool = ValuePool::default();
        pool.harvest(&json!({"structuredContent": {"pid": 1, "path": "/etc", "url": "http://localhost"}}));
        let mut cases = plan.first(&pool, &|| false);
        cases.extend(plan.more(&pool, 30));
        for case in &cases {
            prop_assert!(guard.allows(&case.arguments), "{} {}", case.label, case.arguments);
        }
        if let Some(last) = cases.pop() {
            let mut shrinker = Shrinker::new(last.arguments, 60).guarded(guard.clone());
            while let Some(candidate) = shrinker.next_candidate() {
                prop_assert!(guard.allows(&candidate), "{}", candidate);
                shrinker.tell(candidate.to_string().len().is_multiple_of(3));
            }
        }
    }
}
