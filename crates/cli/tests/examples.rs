//! What the examples promise, byte for byte.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn mcprove(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(root).env("NO_COLOR", "1").output().expect("mcprove runs")
}

#[test]
fn the_loose_catalog_becomes_the_tightened_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tool-schema-lint");
    let tightened = fs::read_to_string(root.join("tightened.json")).expect("the example");
    for catalog in ["examples/tool-schema-lint/loose.json", "examples/tool-schema-lint/tightened.json"] {
        let fixed = mcprove(&["schema-lint", catalog, "--fix"]);
        assert_eq!(String::from_utf8_lossy(&fixed.stdout), tightened, "{catalog}");
        // What cannot be mended mechanically is still told, and decides.
        let told = String::from_utf8_lossy(&fixed.stderr);
        assert!(told.contains("critical[SCH-003]") && told.contains("warning[SCH-004]"), "{told}");
        assert!(!told.contains("[SCH-001]") && !told.contains("[SCH-002]"), "{told}");
        assert_eq!(fixed.status.code(), Some(1));
    }
}

#[test]
fn the_error_contract_is_kept() {
    let run = mcprove(&["run", "examples/error-contract"]);
    let told = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{told}");
    assert!(told.contains("5 cases: 5 passed"), "{told}");
    assert_eq!(told.matches("note[oversized]").count(), 1, "{told}");
    assert!(told.contains("tool `search` scores 1.00: described 1.00"), "{told}");
}

#[test]
fn findings_are_written_as_sarif_with_their_places_and_fixes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lint.sarif");
    let run = mcprove(&["schema-lint", "examples/tool-schema-lint/loose.json", "--sarif", &path.to_string_lossy()]);
    assert_eq!(run.status.code(), Some(1));
    let sarif: Value = serde_json::from_slice(&fs::read(path).expect("the file")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 8);
    let open = results.iter().find(|result| result["ruleId"] == "SCH-002").expect("an open object");
    let place = &open["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "examples/tool-schema-lint/loose.json");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&json!(6), &json!(7)));
    let change = &open["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert!(change["insertedContent"]["text"].as_str().expect("a text").contains("\"additionalProperties\": false"));
}

#[test]
fn the_suite_file_runs_on_the_mock_in_no_time() {
    let run = mcprove(&["run", "examples/suite-file/library.yaml", "--json"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stdout));
    let results: Vec<Value> = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(results.len(), 7);
    let slow = results.iter().find(|result| result["name"] == "the archive is slow").expect("it is there");
    assert_eq!(slow["duration_ms"], 600_000);
}

#[test]
fn a_run_that_was_recorded_is_played_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("run.ndjson").display().to_string();
    let recorded = mcprove(&["run", "examples/suite-file/library.yaml", "--events", &log]);
    assert_eq!(recorded.status.code(), Some(0), "{}", String::from_utf8_lossy(&recorded.stdout));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suite = fs::read_to_string(root.join("examples/suite-file/library.yaml")).expect("the example");
    let server = "{mock: library.mock.yaml, virtual_time: true}";
    assert!(suite.contains(server));
    let played = folder.path().join("played.yaml");
    fs::write(&played, suite.replace(server, "{cassette: run.ndjson}")).expect("written");
    let run = mcprove(&["run", &played.to_string_lossy()]);
    let text = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{text}");
    assert!(text.contains("7 passed"), "{text}");
}

#[test]
fn the_schemas_are_those_that_are_committed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    for kind in ["assertion", "suite"] {
        let printed = mcprove(&["schema", kind]);
        let committed = fs::read_to_string(root.join(format!("{kind}.json"))).expect("committed");
        let printed: Value = serde_json::from_slice(&printed.stdout).expect("JSON");
        assert!(printed == serde_json::from_str::<Value>(&committed).expect("JSON"), "{kind}");
    }
    let either: Value = serde_json::from_slice(&mcprove(&["schema"]).stdout).expect("JSON");
    assert_eq!(either["anyOf"].as_array().map(Vec::len), Some(2));
}

#[test]
fn what_is_wrong_with_a_suite_is_written_as_sarif() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("validate.sarif");
    let suite = "crates/cli/tests/cmd/validate.in/wrong.yaml";
    let run = mcprove(&["validate", suite, "--sarif", &path.to_string_lossy()]);
    assert_eq!(run.status.code(), Some(2));
    let sarif: Value = serde_json::from_slice(&fs::read(path).expect("the file")).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 8);
    let place = &results[1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], suite);
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&json!(7), &json!(13)));
}

#[cfg(unix)]
#[test]
fn a_file_is_rewritten_behind_its_link_and_keeps_its_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let folder = tempfile::tempdir().expect("a folder");
    let (file, link) = (folder.path().join("tools.json"), folder.path().join("link.json"));
    fs::write(&file, "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("set");
    symlink(&file, &link).expect("linked");
    let run = mcprove(&["schema-lint", &link.to_string_lossy(), "--fix", "--write"]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
    let text = fs::read_to_string(&file).expect("text");
    assert_eq!(
        text,
        "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false}}]}"
    );
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2, "nothing is left behind");
}

#[test]
fn standard_input_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let snapshot = fs::File::open(root.join("tests/cmd/schema_lint.in/none.json")).expect("there");
    let run = command.args(["schema-lint", "-"]).stdin(snapshot).output().expect("mcprove runs");
    assert_eq!(run.status.code(), Some(4));
    assert_eq!(String::from_utf8_lossy(&run.stdout), "there are no tools: nothing was checked\n");
    assert_eq!(String::from_utf8_lossy(&run.stderr), "error: there are no tools in <stdin>: nothing was checked\n");
}
