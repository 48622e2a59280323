//! Completion scripts as shells use them: options, values, and the names that a server lists.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

/// A mock with plain names and one that a shell would run.
const MANIFEST: &str = "mock_server:\n  tools:\n    - {name: git_log, response: {text: a}}\n    - {name: git_status, \
                        response: {text: b}}\n    - {name: '$(touch pwned)', response: {text: c}}\n  prompts:\n    - \
                        {name: review, messages: [{role: user, content: {type: text, text: hi}}]}\n";

fn completions(args: &[&str]) -> String {
    let output = Command::new(MCPROVE).arg("completions").args(args).output().expect("mcprove runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("mock.yml"), MANIFEST).expect("a file");
    folder
}

fn server(folder: &Path) -> String {
    format!("'{MCPROVE} mock --tools-from {}'", folder.join("mock.yml").display())
}

#[test]
fn names_come_from_the_server_that_the_line_names() {
    let folder = folder();
    let named = |kind: &str, line: &str| completions(&["--names", kind, "--line", line]);
    let server = server(folder.path());
    assert_eq!(named("tools", &format!("mcprove audit --tool  --server {server}")), "git_log\ngit_status\n");
    assert_eq!(named("prompts", &format!("mcprove prompt  --server {server} --json")), "review\n");
    assert_eq!(named("tools", "mcprove call "), "", "there is no server to ask");
    assert_eq!(named("tools", "mcprove call --server 'not closed"), "");
    assert_eq!(named("tools", "mcprove call --server no-such-program-here"), "");
}

/// The candidates that bash offers at the end of a line.
fn in_bash(folder: &Path, words: &[&str]) -> Vec<String> {
    fs::write(folder.join("script"), completions(&["bash"])).expect("a file");
    // As bash itself would call the function: the command, the current word, the word before it.
    let test = "source ./script; cur=${@: -1}; prev=${@: -2:1}; COMP_WORDS=(mcprove \"$@\"); \
                COMP_CWORD=$#; COMP_LINE=\"$LINE\"; _mcprove_names mcprove \"$cur\" \"$prev\"; \
                printf '%s\\n' \"${COMPREPLY[@]}\"";
    let line = format!("mcprove {}", words.join(" "));
    let path = format!(
        "{}:{}",
        Path::new(MCPROVE).parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", test, "bash"])
        .args(words)
        .env("LINE", line)
        .env("PATH", path)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn bash_offers_tools_values_and_options() {
    let folder = folder();
    let server = server(folder.path());
    assert_eq!(in_bash(folder.path(), &["audit", "--server", &server, "--tool", "git_l"]), ["git_log"]);
    assert_eq!(in_bash(folder.path(), &["audit", "--server", &server, "--tool", "git_"]), ["git_log", "git_status"]);
    assert_eq!(in_bash(folder.path(), &["run", "--isolation", "f"]), ["file"]);
    assert_eq!(in_bash(folder.path(), &["explain", "SCH-001"]), ["SCH-001"]);
    assert!(in_bash(folder.path(), &["run", "--jun"]).contains(&"--junit".to_owned()));
    assert!(!folder.path().join("pwned").exists(), "a name of a server is not run");
}

#[test]
fn zsh_and_fish_ask_for_names_where_one_is_written() {
    let zsh = completions(&["zsh"]);
    assert!(zsh.contains("may be repeated]:NAME:_mcprove_tools'"), "{zsh}");
    assert!(
        zsh.contains("':tool -- The tool:_mcprove_tools'") && zsh.contains("':prompt -- The prompt:_mcprove_prompts'")
    );
    let fish = completions(&["fish"]);
    for command in ["audit", "fuzz", "negative"] {
        let rule = format!("__fish_mcprove_using_subcommand {command}\" -l tool -x -a \"(__mcprove_names tools)\"\n");
        assert!(fish.contains(&rule), "{rule}");
    }
    assert!(fish.contains("__fish_mcprove_using_subcommand call\" -f -a \"(__mcprove_names tools)\"\n"));
}
