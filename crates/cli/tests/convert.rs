//! Assertion files and the suite file they are converted to have the same verdicts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn mcprove(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(workspace()).env("NO_COLOR", "1").env("CI", "").output().expect("mcprove runs")
}

/// Each case with its verdict and what is told of it, by name.
fn verdicts(arguments: &[&str]) -> Vec<(String, String)> {
    let output = mcprove(&[&["run", "--json"], arguments].concat());
    let results: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |result: &Value, key: &str| result[key].as_str().unwrap_or_default().to_owned();
    let told =
        |result: &Value| (text(result, "name"), format!("{} {}", text(result, "status"), text(result, "detail")));
    let mut told: Vec<_> = results.iter().map(told).collect();
    told.sort();
    told
}

#[test]
fn a_folder_and_its_suite_have_the_same_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken");
    fs::create_dir(&broken).expect("made");
    // What fails there fails here, with the same words.
    let first = workspace().join("examples/first-suite");
    for entry in fs::read_dir(&first).expect("the example").flatten() {
        if entry.path().is_file() {
            let text = fs::read_to_string(entry.path()).expect("a file");
            fs::write(broken.join(entry.file_name()), text.replace("contains: [", "contains: [no-such-thing, "))
                .expect("written");
        }
    }
    let fixture = first.join("fixtures").display().to_string();
    let (first, broken) = (first.display().to_string(), broken.display().to_string());
    for (name, source, fails) in [("first", first, false), ("broken", broken, true)] {
        let suite = folder.path().join(format!("{name}.yaml")).display().to_string();
        let converted = mcprove(&["convert", &source, "-o", &suite]);
        assert_eq!(converted.status.code(), Some(0), "{}", String::from_utf8_lossy(&converted.stderr));
        let before = verdicts(&[&source, "--fixture", &fixture]);
        let after = verdicts(&[&suite, "--fixture", &fixture]);
        assert_eq!(before, after, "{name}");
        assert_eq!(before.iter().any(|(_, told)| told.starts_with("FAIL")), fails, "{before:?}");
        assert!(before.len() > 2, "{before:?}");
    }
}
