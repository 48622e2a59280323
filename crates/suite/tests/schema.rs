//! The schemas under `schema/` are fresh, and agree with the parser. `SNAPSHOTS=overwrite` writes them anew.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mcprove_model::{Node, SourceFile};
use mcprove_suite::load::{LoadOptions, load};
use mcprove_suite::{schema, suite_file, yaml};
use serde_json::Value;
use snapbox::dir::DirRoot;

/// The validator of a file kind; making one takes a while.
fn validator(name: &str) -> &'static jsonschema::Validator {
    static ASSERTION: OnceLock<jsonschema::Validator> = OnceLock::new();
    static SUITE: OnceLock<jsonschema::Validator> = OnceLock::new();
    let made = if name == "suite" { &SUITE } else { &ASSERTION };
    made.get_or_init(|| {
        let kind = schema::KINDS.iter().find(|kind| kind.name == name).expect(name);
        jsonschema::options().build(&schema::schema(kind)).expect("a schema")
    })
}

fn documents(text: &str) -> Vec<Node> {
    let source = Arc::new(SourceFile::new("a.yaml", text));
    let (documents, findings) = yaml::parse(&source);
    assert_eq!(findings, [], "{text}");
    documents
}

/// What the schema of its kind says against a document.
fn errors(document: &Node) -> Vec<String> {
    let name = if suite_file::is_suite(document) { "suite" } else { "assertion" };
    let value = document.to_json();
    validator(name).iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// What the parser says against a file.
fn findings(text: &str) -> Vec<String> {
    let folder = DirRoot::mutable_temp().expect("a temporary folder");
    let path = folder.path().expect("a path").join("a.yaml");
    std::fs::write(&path, text).expect("files can be written");
    let lookup = |name: &str| (name == "API_KEY").then(|| "s3cret".to_owned());
    let options = LoadOptions { environment: &lookup, known_variables: &[], fixture: None, server: None, ci: false };
    let loaded = load(&[path], &options);
    let failing = loaded.findings.iter().filter(|finding| finding.fails(false));
    failing.map(|finding| format!("{} {}", finding.rule, finding.message)).collect()
}

#[test]
fn schemas_are_fresh() {
    for kind in schema::KINDS.iter().chain([&schema::SCENARIO]) {
        let path = PathBuf::from(format!("../../schema/{}.json", kind.name));
        snapbox::Assert::new()
            .action_env("SNAPSHOTS")
            .eq(schema::text(kind), snapbox::Data::read_from(&path, None).raw());
    }
    let path = PathBuf::from("../../schema/mcprove.json");
    snapbox::Assert::new().action_env("SNAPSHOTS").eq(schema::either(), snapbox::Data::read_from(&path, None).raw());
}

/// One schema for both kinds shares what is defined in each, so both must mean the same by it.
#[test]
fn the_schema_of_either_kind_takes_both() {
    let schemas: Vec<Value> = schema::KINDS.iter().map(schema::schema).collect();
    let definitions = |schema: &Value| schema["$defs"].as_object().expect("definitions").clone();
    let (first, second) = (definitions(&schemas[0]), definitions(&schemas[1]));
    for (name, definition) in &first {
        assert!(second.get(name).is_none_or(|other| other == definition), "{name}");
    }
    let either: Value = serde_json::from_str(&schema::either()).expect("JSON");
    let validator = jsonschema::options().build(&either).expect("a schema");
    let suite = "servers: {api: {mock: m.yaml, virtual_time: true}}\ntools: [{name: a, tool: x}]";
    for good in ["server: {command: x}\nassert: {tool: a}", suite] {
        assert!(documents(good).iter().all(|document| validator.is_valid(&document.to_json())), "{good}");
    }
    for bad in ["server: {command: x}\nassert: {tol: a}", "servers: {}\ntools: [{tool: x}]", "- a"] {
        assert!(documents(bad).iter().all(|document| !validator.is_valid(&document.to_json())), "{bad}");
    }
}

/// Editors show it where the pointer rests on a key, however deep the key is.
#[test]
fn every_key_has_a_description() {
    for kind in schema::KINDS.iter().chain([&schema::SCENARIO]) {
        let schema = schema::schema(kind);
        let mut silent = Vec::new();
        collect_undescribed(&schema, kind.name, &schema, &mut silent);
        assert_eq!(silent, [""; 0]);
    }
    let incomplete =
        serde_json::json!({"items": {"properties": {"a": {"description": "A."}, "b": {"type": "string"}}}});
    let mut silent = Vec::new();
    collect_undescribed(&incomplete, "x", &incomplete, &mut silent);
    assert_eq!(silent, ["x/items/b"]);
}

/// The keys in a part of a schema that say nothing of themselves, and whose definition does not either.
fn collect_undescribed(part: &Value, place: &str, schema: &Value, silent: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match part {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => list.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    for (key, value) in parts {
        let Some(properties) = value.as_object().filter(|_| key == "properties") else {
            collect_undescribed(value, &format!("{place}/{key}"), schema, silent);
            continue;
        };
        for (name, property) in properties {
            let definition =
                property["$ref"].as_str().and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
            let described = [Some(property), definition].into_iter().flatten();
            if !described.into_iter().any(|schema| schema["description"].as_str().is_some_and(|text| !text.is_empty()))
            {
                silent.push(format!("{place}/{name}"));
            }
            collect_undescribed(property, &format!("{place}/{name}"), schema, silent);
        }
    }
}

#[test]
fn good_files_are_good_to_both() {
    for name in ["good.yaml", "good-blocks.yaml", "suite-good.yaml"] {
        let text = std::fs::read_to_string(Path::new("tests/data").join(name)).expect(name);
        assert_eq!(findings(&text), [""; 0], "{name}");
        for document in documents(&text) {
            // `yes` and `on` are flags to us and texts to a schema.
            let document = document.map_text(&mut |text, _| matches!(text, "yes" | "on").then_some(Value::Bool(true)));
            let document = document.map_text(&mut |text, _| (text == "no").then_some(Value::Bool(false)));
            assert_eq!(errors(&document), [""; 0], "{name}: {}", document.to_json());
        }
    }
}

/// Each of these is good to both, or bad to both.
#[test]
fn parser_and_schema_agree() {
    let suite = |rest: &str| format!("servers: {{api: {{command: x}}}}\n{rest}\n");
    let test = |rest: &str| suite(&format!("tools: [{{name: a, tool: x, {rest}}}]"));
    let good = [
        suite("tools: []"),
        test("args: {}"),
        test("expect: {contains: [a], not_error: true}"),
        test("expect: [{target: result.x, matcher: {exact: 1}}]"),
        test("expect: {assertions: [{target: result.x, matcher: {gt: 1}, weight: 2}], threshold: 0.5}"),
        test("setup: [{tool: a, capture: {n: $.n}}], expect: {min_results: '{{n}}'}"),
        test("expect: {max_response_tokens: {budget: 5, tokenizer: whitespace}}"),
        test("skip: later, tags: [a], timeout_ms: 5, only: false"),
        suite("resources: [{name: a, uri: 'a://b', expect: {contains: x}}]"),
        suite("prompts: [{name: a, prompt: p, args: {n: 1}}]"),
        suite("assert_raw: [{name: a, method: ping, expect: {result: {}}}]"),
        suite("run_options: {restart_policy: per_run, parallel: 3}\nperformance: {default_timeout_ms: 100}"),
        test("negative_path: {}"),
        test("negative_path: {checks: [unknown_tool], oversized_bytes: 5, timeout: 1s}"),
        suite("tool_quality: [{name: a}, {name: b, expect: [{target: min_score, matcher: {gte: 0.5}}]}]"),
        suite("conformance: [{name: a, protocol: modern, except: [mcp-ping], include_writes: true, tags: [x]}]"),
        suite("security: {trust_boundary: {}}\ntools: []"),
        suite(
            "security: {trust_boundary: {allowed_flows: [{from: api, to: api}], required_sanitizers: [s], min_length: 9}}",
        ),
        suite("security: {capability_negotiation: {target: '2026-07-28', negotiated: [tools]}}"),
        test("client_capabilities: [tools], setup: [{server: api, tool: y, client_capabilities: {roots: {}}}]"),
        suite("variables: {A: {value: 1}, B: {from_env: X, default: y}}"),
        "servers: {a: {command: 'npx x', args: [1], env: {A: b}, cwd: /tmp, transport: stdio, protocol: modern}}"
            .into(),
        "servers: {a: {url: 'http://x', headers: {A: {env: API_KEY}, B: c}, auth: {bearer_token_env: API_KEY}}}".into(),
        "servers: {a: {url: 'http://x', auth: {oauth: {grant: client_credentials, token_endpoint: 'http://x/t', \
         client_id: me, client_secret_env: API_KEY, scope: s}}}}"
            .into(),
        "servers: {a: {mock: m.yaml, virtual_time: true, protocol: modern}, b: {cassette: run.ndjson}}".into(),
        "tools: [{name: a, tool: x, skip: true}]".into(),
        "skip: true\nassert: {tool: a}".into(),
        "server: {command: x}\nassert: {tool: a, expect: [{target: result, matcher: {exists: true}}]}".into(),
    ];
    for text in good {
        assert_eq!(findings(&text), [""; 0], "{text}");
        for document in documents(&text) {
            assert_eq!(errors(&document), [""; 0], "{text}");
        }
    }
    let bad = [
        suite("tols: []"),
        suite("tools: {}"),
        suite("tools: [{tool: x}]"),
        suite("tools: [{name: a}]"),
        suite("conformance: {setup: [], rules: [mcp-handshak]}"),
        test("arg: {}"),
        test("args: 3"),
        test("expect: {contain: x}"),
        test("expect: {min_results: some}"),
        test("expect: [{target: result.x}]"),
        test("expect: [{target: result.x, matcher: {exact: 1, gt: 1}}]"),
        test("expect: [{target: result.x, matcher: {exakt: 1}}]"),
        test("expect: [{target: result.x, matcher: {gt: one}}]"),
        test("expect: [{target: result.x, matcher: {exact: 1}, weight: 0}]"),
        test("threshold: 2"),
        test("timeout_ms: 0"),
        test("skip: {}"),
        test("setup: [{}]"),
        test("negative_path: {checks: [everything]}"),
        test("negative_path: {checks: []}"),
        suite("tool_quality: [{name: a, expect: {contains: x}}]"),
        suite("security: {trust: {}}"),
        suite("security: {trust_boundary: {allowed_flows: [{from: api}]}}"),
        suite("security: {trust_boundary: {min_length: 0}}"),
        suite("security: {capability_negotiation: {negotiated: [tools]}}"),
        test("client_capabilities: tools"),
        suite("resources: [{name: a}]"),
        suite("prompts: [{name: a, promt: b}]"),
        suite("run_options: {restart_policy: never}"),
        suite("run_options: {parallel: 0}"),
        suite("variables: {A: 1}"),
        suite("performance: {p99: 1}"),
        "servers: {a: {command: []}}".into(),
        "servers: {a: {command: x, colour: red}}".into(),
        "servers: {a: {command: x, transport: pigeon}}".into(),
        "servers: {a: {mock: m.yaml, virtual_time: sometimes}}".into(),
        "servers: {a: {url: 'http://x', auth: {oauth: {client_id: me, client_secret_env: API_KEY}}}}".into(),
        "servers: {a: {url: 'http://x', auth: {oauth: {grant: password, token_endpoint: 'http://x/t', client_id: me, \
         client_secret_env: API_KEY}}}}"
            .into(),
        suite("hooks: {beforeAll: {mode: context}}"),
        suite("imports: parts.yaml"),
        suite("variables: {A: {value: [1]}}"),
        test("only: perhaps"),
        test("tags: {a: b}"),
        test("capture: [a]"),
        "servers: {a: {command: x, protocol: 1999-01-01}}".into(),
        "server: {command: x}\nassert: {tool: a, expect: {contain: x}}".into(),
        "server: {command: x}\nassert: {tool: a}\nassert_raw: {method: ping}".into(),
        "server: {command: x}\nassert: {expect: {not_error: true}}".into(),
    ];
    for text in bad {
        assert_ne!(findings(&text), [""; 0], "the parser accepts {text}");
        let told: Vec<String> = documents(&text).iter().flat_map(errors).collect();
        assert_ne!(told, [""; 0], "the schema accepts {text}");
    }
}
