//! Audits of servers that were made for it: every input made for a large catalog is accepted, one tool is blamed for the
//! end of a server, and nothing is left behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::processes::processes_in;
#[cfg(unix)]
use crate::shell_server;

const FORMATS: [&str; 5] = ["date-time", "uri", "email", "uuid", "ipv4"];

/// A schema with whatever catalogs have: nesting, references, alternatives, bounds, formats, patterns.
fn schema(number: usize, depth: usize) -> Value {
    let inner =
        |step: usize| if depth == 0 { json!({"type": "boolean"}) } else { schema(number / 3 + step, depth - 1) };
    let leaf = match number % 12 {
        0 => json!({"type": "string", "minLength": number % 40, "maxLength": 60}),
        1 => json!({"type": "integer", "minimum": number, "exclusiveMaximum": number + 3, "multipleOf": 1}),
        2 => json!({"enum": ["red", 7, null]}),
        3 => json!({"type": "string", "format": (FORMATS[number % FORMATS.len()])}),
        4 => json!({"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,5}$"}),
        5 => json!({"anyOf": [{"type": "null"}, {"type": "string", "minLength": 3}]}),
        6 => json!({"type": "array", "items": inner(1), "minItems": number % 4}),
        7 => json!({"$ref": "#/$defs/node"}),
        8 => json!({"oneOf": [{"type": "integer", "maximum": -1}, {"type": "string", "const": "none"}]}),
        9 => json!({"allOf": [{"type": "number", "minimum": 0.5}, {"maximum": 0.75}]}),
        10 => json!({"type": ["array", "null"], "items": {"enum": ["r", "w"]}, "uniqueItems": true, "minItems": 2}),
        _ => json!({"type": "number", "exclusiveMinimum": 0, "default": 4.5}),
    };
    json!({
        "type": "object",
        "properties": {"leaf": leaf, "deep": inner(2), "also": inner(5)},
        "required": ["leaf", "deep"],
        "additionalProperties": false,
    })
}

fn tool(number: usize) -> Value {
    let mut input = schema(number, 3);
    input["$defs"] = json!({"node": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        "required": ["name", "next"],
    }});
    json!({"name": format!("tool_{number}"), "inputSchema": input, "annotations": {"readOnlyHint": true}})
}

#[test]
fn every_input_made_for_five_hundred_tools_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tools.json");
    let tools: Vec<Value> = (0..500).map(tool).collect();
    fs::write(&path, json!({"tools": tools}).to_string()).expect("written");
    let told = audit(folder.path(), &["--timeout", "60s", "--", "mcprove", "mock", "--tools-from", "tools.json"], 0);
    let results = told["results"].as_array().expect("results");
    assert_eq!((results.len(), &told["score"]), (500, &json!(100)));
    for result in results {
        // The mock rejects arguments that the schema does not accept.
        assert_eq!(result["verdict"], "works", "{result}");
        let number: usize = result["tool"]
            .as_str()
            .and_then(|name| name.strip_prefix("tool_"))
            .expect("a name")
            .parse()
            .expect("a number");
        let arguments = &result["request"]["params"]["arguments"];
        assert!(jsonschema::is_valid(&tool(number)["inputSchema"], arguments), "{number}: {arguments}");
    }
}

#[test]
fn one_tool_is_blamed_for_the_end_of_a_server_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("a path");
    let data = home.join("data");
    fs::create_dir(&data).expect("a folder");
    fs::write(data.join("log.txt"), "first line\n").expect("written");
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/audit.in/shop.sh");
    let server = server.to_str().expect("a path");
    let told = audit(&home, &["--fixture", "data", "--include-writes", "--", "sh", server, "data"], 1);
    let results = told["results"].as_array().expect("results");
    let blamed: Vec<&Value> = results
        .iter()
        .filter(|result| result["detail"].as_str().is_some_and(|detail| detail.contains("exited")))
        .map(|result| &result["tool"])
        .collect();
    assert_eq!(blamed, ["deadly"]);
    assert!(results.iter().all(|result| result["status"] != "skipped"), "writes were asked for");
    assert_eq!(fs::read_to_string(data.join("log.txt")).expect("read"), "first line\n", "the fixture is as it was");
    assert_eq!(processes_in(&home), Vec::<String>::new(), "processes were left behind");
}

#[cfg(unix)]
#[test]
fn a_tool_without_a_name_is_an_error_of_the_server_and_no_healthy_tool() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = r#"[{"name":"look","inputSchema":{"type":"object"}},{"inputSchema":{"type":"object"}}]"#;
    shell_server::write(folder.path(), tools, r#""fine""#);
    let told = audit(folder.path(), &["--server", "sh server.sh"], 1);
    assert_eq!(told["results"][1]["verdict"], "skipped", "{told}");
    assert_eq!(told["findings"][0]["rule"], "nameless-tool", "{told}");
}

#[cfg(unix)]
#[test]
fn the_summary_says_why_a_server_with_healthy_tools_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools = r#"[{"name":"look","inputSchema":{"type":"object"}}]"#;
    shell_server::write_with(folder.path(), r#"{"tools":{},"prompts":{}}"#, tools, r#""fine""#);
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["audit", "--server", "sh server.sh"])
        .current_dir(folder.path())
        .output()
        .expect("mcprove runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("score: 100 %") && told.contains("the server itself: 1 thing is wrong"), "{told}");
}

fn audit(folder: &Path, args: &[&str], code: i32) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(["audit", "--json"])
        .args(args)
        .current_dir(folder)
        .output()
        .expect("mcprove runs");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}
