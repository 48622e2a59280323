//! YAML blocks: suites, assertions and manifests are loaded by the program itself.

use std::path::Path;
use std::process::Command;

/// What is wrong with a block, if anything; it may name files that stand in the folder `beside` it.
pub(crate) fn problem(text: &str, beside: Option<&str>) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(beside) = beside {
        super::console::copy(&super::blocks::root().join(beside), folder.path());
    }
    let file = folder.path().join("block.yaml");
    std::fs::write(&file, completed(text)).expect("written");
    std::fs::create_dir_all(folder.path().join("fixtures")).expect("made");
    let manifest = has_key(text, "mock_server");
    let arguments: Vec<String> = if manifest {
        let server = format!("mcprove mock --tools-from {}", file.display());
        vec!["doctor".to_owned(), "--server".to_owned(), server]
    } else {
        vec!["run".to_owned(), file.display().to_string(), "--dry-run".to_owned()]
    };
    let output = Command::new(env!("CARGO_BIN_EXE_mcprove"))
        .args(arguments)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .env("CI", "")
        .envs(secrets(text).map(|name| (name, "a secret".to_owned())))
        .output()
        .expect("mcprove runs");
    // A part of a suite without tests is no mistake.
    (!matches!(output.status.code(), Some(0 | 4)))
        .then(|| format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// The secrets that a suite names.
fn secrets(text: &str) -> impl Iterator<Item = String> {
    let named = text.split("${secret:").skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    named.chain(text.lines().filter_map(|line| line.trim().strip_prefix("client_secret_env: "))).map(str::to_owned)
}

/// An example may leave out the server, which the text around it speaks of.
fn completed(text: &str) -> String {
    let named = ["defaults", "server", "servers", "mock_server", "trajectory"].iter().any(|key| has_key(text, key));
    let assertion = text.lines().any(|line| line.starts_with("assert"));
    let steps = text.lines().any(|line| line.starts_with("  - name:"));
    match (named, assertion && !steps) {
        (true, _) => text.to_owned(),
        (false, true) => format!("server: {{command: a-server}}\n{text}"),
        (false, false) => format!("servers: {{{}}}\n{text}", servers(text).join(", ")),
    }
}

/// The servers that tests name, each as some command.
fn servers(text: &str) -> Vec<String> {
    let mut names: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("server: ")).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        names.push("a");
    }
    names.iter().map(|name| format!("{name}: {{command: a-server}}")).collect()
}

fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
}

/// Whether a text is YAML at all; used for the files of build servers, whose keys are not ours to judge.
pub(crate) fn is_yaml(path: &Path, text: &str) -> Result<(), String> {
    let source = mcprove_model::SourceFile::new(path.to_string_lossy().into_owned(), text);
    let (_, findings) = mcprove_suite::yaml::parse(&source);
    match findings.first() {
        Some(finding) => Err(finding.message.clone()),
        None => Ok(()),
    }
}
