//! A server whose every name and text wants to be obeyed: nothing of it reaches a terminal, a page, a table, a build server
//! or a path.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::subject;

/// Commands that show what a server says, with what they may leave in the folder.
const COMMANDS: &[(&[&str], &[&str])] = &[
    (&["run", "case.yaml", "-v"], &[]),
    (&["matrix", "case.yaml", "--protocol", "2025-06-18,2025-11-25"], &[]),
    (&["run", "agent.yaml", "-v"], &[]),
    (&["snapshot", "case.yaml", "--update"], &[".snapshots"]),
    (&["snapshot", "case.yaml", "--catalog", "--update"], &[".snapshots"]),
    (&["coverage", "case.yaml"], &[]),
    (&["schema-lint", "--all"], &[]),
    (&["schema-lint", "--all", "-v"], &[]),
    (&["audit", "--output", "evals"], &["evals"]),
    (&["audit", "-v"], &[]),
    (&["negative", "--checks", "unknown_tool,missing_required"], &[]),
    (&["negative", "--checks", "unknown_tool", "-v"], &[]),
    (&["fuzz", "--runs", "3", "--seed", "1", "--save", "kept"], &["kept"]),
    (&["generate", "--output", "evals"], &["evals"]),
    (&["init", "evals"], &["evals", ".github"]),
    (&["doctor"], &[]),
    (&["run", "case.yaml", "--json"], &[]),
    (&["snapshot", "case.yaml", "--json"], &[]),
    (&["snapshot", "case.yaml", "--catalog", "--json"], &[]),
    (&["coverage", "case.yaml", "--json"], &[]),
    (&["schema-lint", "--all", "--json"], &[]),
    (&["audit", "--json"], &[]),
    (&["negative", "--checks", "unknown_tool", "--json"], &[]),
    (&["fuzz", "--runs", "1", "--seed", "1", "--json"], &[]),
    (&["doctor", "--json"], &[]),
];

#[test]
fn no_command_prints_or_writes_what_a_server_wants_it_to() {
    let misbehave = subject::build("misbehave");
    for behaviour in ["hostile-names", "hostile-error"] {
        for (args, may_leave) in COMMANDS {
            let place = Place::new(&misbehave, behaviour);
            let output = place.run(args);
            let what = format!("{behaviour}: {}", args.join(" "));
            assert!(matches!(output.status.code(), Some(0..=2)), "{what}: {:?}\n{}", output.status, said(&output));
            assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{what}: nothing was said");
            assert_harmless(&what, &output.stdout);
            assert_harmless(&what, &output.stderr);
            place.assert_nothing_escaped(&what, may_leave);
        }
    }
}

#[test]
fn what_is_written_for_such_tools_is_a_sound_suite() {
    let misbehave = subject::build("misbehave");
    for args in [&["generate", "--output", "evals"][..], &["audit", "--output", "evals"], &["init", "evals"]] {
        let place = Place::new(&misbehave, "hostile-names");
        let written = place.run(args);
        assert!(matches!(written.status.code(), Some(0 | 1)), "{args:?}: {}", said(&written));
        let valid = place.run_plain(&["validate", "evals"]);
        assert_eq!(valid.status.code(), Some(0), "{args:?}: {}", said(&valid));
        let ran = place.run_plain(&["run", "evals", "--quiet"]);
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{args:?}: {}", said(&ran));
        assert_harmless("run", &ran.stdout);
        place.assert_nothing_escaped("run", &["evals", ".github"]);
    }
}

#[test]
fn no_report_has_markup_or_commands_of_a_server() {
    let misbehave = subject::build("misbehave");
    let place = Place::new(&misbehave, "hostile-names");
    let mut args = vec!["run", "case.yaml", "--github"];
    let files = ["junit.xml", "run.md", "run.html", "run.json", "run.sarif", "run.tap", "badge.json", "run.ndjson"];
    let flags = ["--junit", "--markdown", "--html", "--report", "--sarif", "--tap", "--badge", "--events"];
    for (flag, file) in flags.iter().zip(files) {
        args.extend([flag, file]);
    }
    let output = place.run_plain(&args);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_harmless("annotations", &without_annotations(&output.stdout));
    let read = |name: &str| fs::read_to_string(place.inside.join(name)).expect("a report");
    // An event log is data that nobody prints.
    for name in files.iter().filter(|name| **name != "run.ndjson") {
        let text = read(name);
        assert!(!text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')), "{name} has control characters");
    }
    for name in ["junit.xml", "run.html"] {
        assert!(!read(name).contains("<script>alert"), "{name} has a script of the server");
    }
    let page = read("run.md");
    let is_fence = |line: &&str| line.starts_with("````");
    assert_eq!(page.lines().filter(is_fence).count(), 2, "what is quoted cannot end its quotation: {page}");
    let outside: Vec<&str> = page.split("````").step_by(2).collect();
    assert!(!outside.concat().contains("<script>"), "a page would run it: {page}");
    for name in ["run.tap", "run.md", "junit.xml"] {
        let text = read(name);
        let command = text.lines().find(|line| line.trim_start().starts_with("::") || line.contains("##["));
        assert_eq!(command, None, "{name} has a workflow command");
    }
    let tap = read("run.tap");
    let results = tap.lines().filter(|line| line.starts_with("ok ") || line.starts_with("not ok ")).count();
    assert_eq!(results, 1, "{tap}");
}

/// A folder within a folder, so that what escapes it is seen.
struct Place {
    _folder: tempfile::TempDir,
    outside: PathBuf,
    inside: PathBuf,
    server: String,
}

impl Place {
    fn new(misbehave: &Path, behaviour: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().canonicalize().expect("a path");
        let inside = outside.join("a/b/inside");
        fs::create_dir_all(&inside).expect("a folder");
        fs::create_dir(outside.join("tmp")).expect("a folder");
        let described = format!("{{ command: '{}', args: [{behaviour}] }}", misbehave.display());
        let case = format!(
            "name: hi\nserver: {described}\nassert: {{ tool: echo, args: {{ text: hi }}, expect: {{ contains: [nothing] }} }}\n"
        );
        fs::write(inside.join("case.yaml"), case).expect("a file");
        let agent = format!(
            "servers: {{ s: {described} }}\nagents:\n  - name: hi\n    model: script\n    prompt: hi\n    script:\n      \
             - call: {{ tool: CON, args: {{ text: hi }} }}\n      - say: '{{{{last.text}}}}'\n    expect: {{ contains: [nothing] }}\n"
        );
        fs::write(inside.join("agent.yaml"), agent).expect("a file");
        let server = format!("'{}' {behaviour}", misbehave.display());
        Self { _folder: folder, outside, inside, server }
    }

    /// Runs a command against the server, which suites name themselves.
    fn run(&self, args: &[&str]) -> Output {
        let named = args.iter().any(|word| word.contains(".yaml"));
        let subject: &[&str] = if named { &[] } else { &["--server", &self.server] };
        self.run_plain(&[args, subject].concat())
    }

    fn run_plain(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(args).current_dir(&self.inside).env("TMPDIR", self.outside.join("tmp"));
        for variable in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "CI"] {
            command.env_remove(variable);
        }
        command.stdin(Stdio::null()).output().expect("mcprove runs")
    }

    fn assert_nothing_escaped(&self, what: &str, may_leave: &[&str]) {
        let mut made = BTreeSet::new();
        find(&self.outside, &mut made);
        for path in &made {
            let inner = path.strip_prefix("a/b/inside").ok();
            let known = ["case.yaml", "agent.yaml"].iter().chain(may_leave);
            let is_ours = inner.is_some_and(|inner| known.into_iter().any(|known| inner.starts_with(known)));
            assert!(is_ours, "{what} left {}", path.display());
            for part in path.iter().map(|part| part.to_string_lossy()) {
                let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) && part.len() < 200;
                assert!(plain, "{what} named a file {part:?}");
                let stem = part.split('.').next().unwrap_or_default().to_lowercase();
                assert!(
                    !matches!(stem.as_str(), "con" | "nul" | "prn" | "aux"),
                    "{what} named a file as a device: {part}"
                );
            }
        }
    }
}

/// The files under a folder, relative to it.
fn find(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(&path).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_dir() {
                open.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).expect("it is within").to_owned());
            }
        }
    }
}

/// No line can be taken for a command by a terminal or a build server.
fn assert_harmless(what: &str, output: &[u8]) {
    let text = std::str::from_utf8(output).expect("text");
    for line in text.split('\n') {
        let active = |c: char| c.is_control() && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!line.contains(active), "{what}: a control character in {line:?}");
        assert!(!line.trim_start().starts_with("::"), "{what}: a workflow command: {line:?}");
        assert!(!line.contains("##[") && !line.contains("##vso["), "{what}: a workflow command: {line:?}");
        assert!(!line.starts_with("PASS  a forged line"), "{what}: a forged result: {line:?}");
    }
}

/// What is printed beside annotations of ours.
fn without_annotations(output: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(output);
    let ours = |line: &&str| !["::error ", "::warning ", "::notice "].iter().any(|command| line.starts_with(command));
    text.lines().filter(ours).collect::<Vec<_>>().join("\n").into_bytes()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
