//! Assertion files as one suite file: the same cases come out.

use std::path::PathBuf;

use mcprove_model::{Case, Isolation, ServerSpec};
use mcprove_suite::convert::convert;
use mcprove_suite::load::{LoadOptions, Loaded, load, parse};
use snapbox::dir::DirRoot;

fn environment(name: &str) -> Option<String> {
    (name == "API_KEY").then(|| "s3cret".to_owned())
}

fn loaded(path: PathBuf) -> Loaded {
    let options =
        LoadOptions { environment: &environment, known_variables: &[], fixture: None, server: None, ci: false };
    load(&[path], &options)
}

/// A case without what differs between the kinds: places, and what servers are called.
fn essence(case: &Case) -> String {
    let server = case.server.as_ref().map(|server| ServerSpec { name: String::new(), ..ServerSpec::clone(server) });
    let step = |step: &mcprove_model::Step| {
        let captures: Vec<_> = step.capture.iter().map(|capture| (&capture.name, &capture.path)).collect();
        format!("{} {:?} {:?}", step.call.subject().to_json(), captures, step.allow_error)
    };
    let steps: Vec<String> = case.setup.iter().chain(&case.verify).chain(&case.teardown).map(step).collect();
    let checks: Vec<String> = case.expect.checks.iter().map(|p| format!("{} {:?}", p.name, p.check)).collect();
    let skip = case.skip.as_ref().map(|skip| &skip.reason);
    format!("{server:?} {steps:?} {checks:?} {:?} {skip:?} {:?}", case.timeout, case.isolation)
}

#[test]
fn the_same_cases_come_out() {
    for name in ["good.yaml", "good-blocks.yaml"] {
        let path = PathBuf::from("tests/data").join(name);
        let (files, findings) = parse(std::slice::from_ref(&path));
        assert_eq!(findings, []);
        let converted = convert(&files);
        assert_eq!(converted.findings, []);
        let folder = DirRoot::mutable_temp().expect("a temporary folder");
        let suite = folder.path().expect("a path").join("suite.yaml");
        std::fs::write(&suite, &converted.text).expect("files can be written");
        let (before, after) = (loaded(path), loaded(suite));
        assert_eq!(after.findings, [], "{}", converted.text);
        assert_eq!((before.cases.len(), converted.tests), (after.cases.len(), after.cases.len()));
        for case in &before.cases {
            let same = after.cases.iter().find(|other| other.name == case.name).expect(&case.name);
            assert_eq!(same.isolation, Isolation::Case);
            assert_eq!(essence(same), essence(case), "{}", case.name);
        }
    }
}

#[test]
fn secrets_of_a_server_are_the_same_in_both_kinds() {
    let folder = DirRoot::mutable_temp().expect("a temporary folder");
    let root = folder.path().expect("a path");
    let (file, suite) = (root.join("a.yaml"), root.join("suite.yaml"));
    for (server, expected) in [
        (
            "{command: sh, args: [-c, 'run ${X} $$ --key=${secret:API_KEY} $${secret:API_KEY}']}",
            "run ${X} $$ --key=s3cret ${secret:API_KEY}",
        ),
        ("{command: sh, args: ['$$${secret:API_KEY} $${x}']}", "$s3cret $${x}"),
        ("{command: sh, cwd: '${secret:API_KEY}/x'}", "s3cret/x"),
        ("{url: 'http://me:${secret:API_KEY}@host/?$top=1'}", "http://me:s3cret@host/?$top=1"),
        ("{url: http://host, headers: {A: '${secret:API_KEY}'}}", "s3cret"),
    ] {
        std::fs::write(&file, format!("server: {server}\nassert: {{tool: t}}\n")).expect("files can be written");
        let before = loaded(file.clone());
        assert_eq!(before.findings, [], "{server}");
        let spec = before.cases[0].server.as_ref().expect("a server");
        assert_eq!(spec.secrets, ["s3cret"], "{server}");
        let converted = convert(&parse(std::slice::from_ref(&file)).0);
        std::fs::write(&suite, &converted.text).expect("files can be written");
        let after = loaded(suite.clone());
        assert_eq!(after.findings, [], "{}", converted.text);
        assert_eq!(after.cases[0].server.as_ref().expect("a server").target, spec.target, "{}", converted.text);
        assert!(format!("{:?}", spec.target).contains(&format!("\"{expected}\"")), "{:?}", spec.target);
    }
}

#[test]
fn a_secret_that_is_not_set_is_one_mistake() {
    let folder = DirRoot::mutable_temp().expect("a temporary folder");
    let file = folder.path().expect("a path").join("a.yaml");
    let rules = |text: &str| -> Vec<String> {
        std::fs::write(&file, text).expect("files can be written");
        loaded(file.clone()).findings.iter().map(|finding| finding.rule.to_string()).collect()
    };
    let server = "server: {url: '${secret:GONE}'}\nassert: {tool: t}\n";
    assert_eq!(rules(server), ["required-variable"]);
    assert_eq!(rules(&format!("skip_unless_env: GONE\n{server}")), [""; 0]);
}

#[test]
fn the_text_reads_well() {
    let folder = DirRoot::mutable_temp().expect("a temporary folder");
    let root = folder.path().expect("a path");
    let file = |name: &str, text: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    };
    file(
        "a.yaml",
        "name: reads\nserver: {command: npx server, env: {K: $API_KEY}}\nassert: {tool: read, args: {path: '${x} $$ {{n}}'}, expect: {contains: [a, 'b: c']}}\n",
    );
    file(
        "sub/b.yaml",
        "name: reads\nserver: {command: npx server, env: {K: $API_KEY}}\nassert_prompts: {list: }\ntimeout: 5s\n",
    );
    let (files, _) = parse(&[root.to_path_buf()]);
    let expected = r#"# yaml-language-server: $schema=https://raw.githubusercontent.com/mcprove/mcprove/main/schema/suite.json
servers:
  server:
    command: [npx server]
    env:
      K: "${API_KEY}"
run_options:
  restart_policy: per_test
tools:
  - name: reads
    server: server
    tool: read
    args:
      path: "$${x} $$$$ {{n}}"
    expect:
      contains: [a, "b: c"]
assert_prompts:
  - name: sub/reads
    server: server
    list: null
    timeout: "5s"
"#;
    assert_eq!(convert(&files).text, expected);
}

#[test]
fn suite_files_are_not_converted_again() {
    let (files, _) = parse(&[PathBuf::from("tests/data/suite-good.yaml")]);
    assert_eq!(convert(&files).findings[0].rule, "already-a-suite");
}

#[test]
fn what_was_converted_is_a_suite_whatever_it_holds() {
    let folder = DirRoot::mutable_temp().expect("a temporary folder");
    let root = folder.path().expect("a path");
    let (file, suite) = (root.join("a.yaml"), root.join("suite.yaml"));
    let server = "server: {command: my-server}";
    for text in [
        "name: a\ntrace: [{tool: t}]\ntrajectory: [{type: presence, tools: [t]}]\n".to_owned(),
        format!(
            "name: a\n{server}\ntags: [x]\nassert: {{tool: '{{{{t}}}}', expect: {{not_error: true}}}}\ncases: [{{t: x}}, {{t: y}}]\n"
        ),
        format!(
            "defaults: {{{server}, implicit: off}}\n---\nname: a\nassert: {{tool: t, expect: {{not_error: true}}}}\n"
        ),
    ] {
        std::fs::write(&file, &text).expect("files can be written");
        let before = loaded(file.clone());
        assert_eq!(before.findings, [], "{text}");
        let (files, _) = parse(std::slice::from_ref(&file));
        let converted = convert(&files);
        assert_eq!(converted.findings, [], "{text}");
        std::fs::write(&suite, &converted.text).expect("files can be written");
        let after = loaded(suite.clone());
        assert_eq!(after.findings, [], "{}", converted.text);
        let essences = |loaded: &Loaded| loaded.cases.iter().map(|case| essence(case)).collect::<Vec<_>>();
        assert_eq!(essences(&after), essences(&before), "{}", converted.text);
        assert_eq!(after.cases[0].tags, before.cases[0].tags);
    }
}
