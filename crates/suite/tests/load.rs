//! Loading from files and folders: which files, which cases, and what they hold.

mod folder;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Act, Case, ElicitationAction, Place, Protocol, Revision, StepCall, Target};
use mcprove_suite::load::{LoadOptions, Loaded, ServerOverride, load};
use serde_json::json;

use folder::Folder;

const CASE: &str = "server: {command: x}\nassert: {tool: a}\n";

fn environment(name: &str) -> Option<String> {
    (name == "API_KEY").then(|| "s3cret".to_owned())
}

fn options() -> LoadOptions<'static> {
    LoadOptions { environment: &environment, known_variables: &[], fixture: None, server: None, ci: false }
}

impl Folder {
    /// The names of the loaded files below this folder.
    fn files(&self, loaded: &Loaded) -> Vec<String> {
        let below = |case: &Arc<Case>| {
            let path = Path::new(case.source.path());
            path.strip_prefix(self.path()).unwrap_or(path).display().to_string()
        };
        loaded.cases.iter().map(below).collect()
    }
}

fn rules(loaded: &Loaded) -> Vec<&str> {
    loaded.findings.iter().map(|finding| finding.rule.as_ref()).collect()
}

#[test]
fn an_integer_that_is_read_as_another_one_is_a_warning() {
    let folder = Folder::new();
    for (number, expected) in [
        ("18446744073709551615", &[][..]),
        ("18446744073709551616", &[]),
        ("18446744073709551617", &["inexact-number"]),
        ("-9223372036854775809", &["inexact-number"]),
        ("\"18446744073709551617\"", &[]),
        ("a 18446744073709551617", &[]),
        ("12345678901234567890.5", &[]),
    ] {
        folder.write("a.yaml", &format!("server: {{command: x}}\nassert: {{tool: a, args: {{n: [{number}]}}}}\n"));
        assert_eq!(rules(&load(&[folder.path().to_path_buf()], &options())), expected, "{number}");
    }
}

#[test]
fn a_list_of_more_tests_than_fit_into_memory_is_an_error() {
    let folder = Folder::new();
    let suite = |tests: usize| "servers: {s: {command: x}}\ntools:\n".to_owned() + &"- {}\n".repeat(tests);
    folder.write("a.yaml", &suite(150_001));
    let loaded = load(&[folder.path().to_path_buf()], &options());
    assert_eq!((rules(&loaded), loaded.cases.len()), (vec!["too-large"], 0));
}

#[test]
fn a_case_holds_what_was_written() {
    let loaded = load(&[PathBuf::from("tests/data/good.yaml")], &options());
    let [case, remote] = &loaded.cases[..] else { panic!("{:?}", loaded.findings) };
    assert_eq!((case.name.as_str(), remote.name.as_str()), ("everything", "good.yaml#2"));
    assert_eq!(case.timeout.map(|timeout| timeout.as_secs()), Some(90));
    assert_eq!(case.skip, None);
    let server = case.server.as_ref().expect("the case has a server");
    let Target::Stdio { command, args, env, cwd, docker } = &server.target else { panic!("{:?}", server.target) };
    assert_eq!((command.as_str(), cwd.as_deref(), docker.as_deref()), ("npx", Some("/tmp"), Some("node:22")));
    assert_eq!(args, &["-y", "1", "true", "--root", "/tmp"]);
    let env: Vec<(&str, &str)> = env.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    assert_eq!(
        env,
        [("KEY", "s3cret"), ("PORT", "8080"), ("NOTHING", ""), ("COST", "$5"), ("DB", "sqlite:///tmp/x.db")]
    );
    assert_eq!(server.secrets, ["s3cret"]);
    assert_eq!(server.protocol, Protocol::Exactly(Revision::V2025_06_18));
    assert_eq!(server.client.roots.as_deref(), Some(&["/tmp".to_owned()][..]));
    assert_eq!((server.client.sampling[0].model.as_str(), server.client.sampling[0].text.as_str()), ("mock", "hi"));
    let elicitation = server.client.elicitation.as_ref().expect("elicitation is declared");
    assert_eq!((elicitation.action, &elicitation.content), (ElicitationAction::Decline, &json!({"name": "Ada"})));

    let step = &case.setup[0];
    assert!(step.allow_error);
    let StepCall::Tool { args, .. } = &step.call else { panic!("{:?}", step.call) };
    assert_eq!(args.to_json(), json!({"name": "test", "date": "2024-01-01"}));
    let captures: Vec<(&str, &str)> = step.capture.iter().map(|c| (c.name.as_str(), c.path.as_str())).collect();
    assert_eq!(captures, [("id", "$.id"), ("all", "")]);
    let Act::CallTool(call) = &case.act else { panic!("{:?}", case.act) };
    assert_eq!((call.tool.as_text(), call.args.to_json()), (Some("get"), json!({"id": "{{id}}"})));

    let server = remote.server.as_ref().expect("the case has a server");
    let Target::Remote { url, headers, .. } = &server.target else { panic!("{:?}", server.target) };
    assert_eq!(url, "https://example.com/mcp");
    assert_eq!(headers, &[("Authorization".to_owned(), "Bearer s3cret".to_owned())]);
    assert_eq!(remote.skip.as_ref().map(|skip| skip.reason.as_str()), Some("waits for the server team"));
}

#[test]
fn folders_are_read_in_byte_order_without_hidden_ones_and_fixtures() {
    let folder = Folder::new();
    for name in
        ["b.yaml", "a/z.yml", "a/deep/er/x.yaml", "B.yaml", "a.yaml", ".git/x.yaml", "fixtures/x.yaml", "notes.txt"]
    {
        folder.write(name, CASE);
    }
    let loaded = load(&[folder.path().to_path_buf()], &options());
    assert_eq!(rules(&loaded), [""; 0]);
    assert_eq!(folder.files(&loaded), ["B.yaml", "a/deep/er/x.yaml", "a/z.yml", "a.yaml", "b.yaml"]);
    assert_eq!(loaded.files, 5);
    assert!(loaded.cases.iter().all(|case| case.fixture.as_deref() == Some(&*folder.path().join("fixtures"))));

    let given = LoadOptions { fixture: Some(folder.path().join("a")), ..options() };
    let loaded = load(&[folder.path().to_path_buf()], &given);
    assert_eq!(folder.files(&loaded), ["B.yaml", "a.yaml", "b.yaml", "fixtures/x.yaml"]);
}

#[test]
fn a_file_takes_the_fixtures_next_to_it_and_counts_once() {
    let folder = Folder::new();
    let file = folder.write("sub/b.yaml", "server: {command: x, args: ['{{fixture}}']}\nassert: {tool: a}\n");
    folder.write("sub/a.yaml", CASE);
    folder.write("sub/fixtures/data", "");
    let loaded = load(&[file, folder.path().join("sub")], &options());
    assert_eq!(rules(&loaded), [""; 0]);
    assert_eq!(folder.files(&loaded), ["sub/b.yaml", "sub/a.yaml"]);
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    let folder = Folder::new();
    folder.write("a/x.yaml", CASE);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/up")).expect("links can be made");
    std::os::unix::fs::symlink("nowhere", folder.path().join("a/lost.yaml")).expect("links can be made");
    let loaded = load(&[folder.path().to_path_buf()], &options());
    assert_eq!(folder.files(&loaded), ["a/x.yaml"]);
    assert_eq!(rules(&loaded), ["unreadable-file"]);
}

#[test]
fn paths_that_lead_nowhere_are_named() {
    let folder = Folder::new();
    let missing = folder.path().join("missing");
    let given = LoadOptions { fixture: Some(folder.path().join("no-fixture")), ..options() };
    let loaded = load(&[missing, folder.path().to_path_buf()], &given);
    assert_eq!(rules(&loaded), ["no-such-path", "no-such-path", "no-assertions"]);
    assert!(loaded.findings[1].message.contains("missing"), "{:?}", loaded.findings);
    let utf16 = folder.path().join("wide.yaml");
    fs::write(&utf16, [0xff, 0xfe, b'a', 0]).expect("files can be written");
    assert!(load(&[utf16], &options()).findings[0].message.contains("UTF-16"));
}

#[test]
fn a_given_server_takes_the_place_of_commands_only() {
    let folder = Folder::new();
    folder.write("a.yaml", "server: {command: x, args: [y], env: {A: b}}\nassert: {tool: a}\n");
    folder.write("b.yaml", "assert: {tool: a}\n");
    folder.write("c.yaml", "server: {transport: http, url: 'http://localhost/'}\nassert: {tool: a}\n");
    let server = ServerOverride { command: "mine".to_owned(), args: vec!["--fast".to_owned()] };
    let loaded = load(&[folder.path().to_path_buf()], &LoadOptions { server: Some(server), ..options() });
    assert_eq!(rules(&loaded), [""; 0]);
    let labels: Vec<String> =
        loaded.cases.iter().filter_map(|case| case.server.as_ref()).map(|server| server.target.label()).collect();
    assert_eq!(labels, ["mine --fast", "mine --fast", "http://localhost/"]);
    let env = loaded.cases[0].server.as_ref().map(|server| match &server.target {
        Target::Stdio { env, .. } => env.len(),
        Target::Remote { .. } | Target::Mock { .. } | Target::Cassette { .. } => 0,
    });
    assert_eq!(env, Some(1));
}

#[test]
fn skips_say_why() {
    let folder = Folder::new();
    folder.write("a.yaml", &format!("{CASE}skip: true\n"));
    folder.write("b.yaml", &format!("{CASE}skip_unless_env: MISSING\n"));
    folder.write("c.yaml", &format!("{CASE}skip_unless_env: [API_KEY, GONE]\n"));
    folder.write("d.yaml", &format!("{CASE}skip_unless_env: API_KEY\nskip: 'false'\n"));
    let loaded = load(&[folder.path().to_path_buf()], &options());
    let reasons: Vec<Option<&str>> =
        loaded.cases.iter().map(|case| case.skip.as_ref().map(|skip| skip.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [Some("marked `skip: true`"), Some("env var MISSING not set"), Some("env var GONE not set"), None]
    );
}

#[test]
fn findings_come_in_file_order_and_by_place() {
    let folder = Folder::new();
    folder.write("a.yaml", "timeout: soon\nserver: {comand: x}\nassert: {tol: a}\nnam: x\n");
    folder.write("b.yaml", "a: b: c\n");
    let loaded = load(&[folder.path().to_path_buf()], &options());
    let lines: Vec<u32> = loaded
        .findings
        .iter()
        .filter_map(|finding| match &finding.place {
            Some(Place::Text(place)) => Some(place.line),
            Some(Place::Wire(_)) | None => None,
        })
        .collect();
    assert_eq!(lines, [1, 2, 3, 4, 1], "{:?}", loaded.findings);
}

#[test]
fn large_files_load_in_linear_time() {
    let mut text = String::new();
    for number in 0..2_000 {
        writeln!(text, "---\nname: 'tést {number}'\n{CASE}").expect("text grows");
    }
    let folder = Folder::new();
    let file = folder.write("large.yaml", &text);
    assert_eq!(load(&[file], &options()).cases.len(), 2_000);
}
