//! What the build servers of users run: the steps of the action, the templates for four other build servers, the
//! script of the pre-commit hooks, and the archive of a release. The steps are taken from their files and run by a shell as
//! their hosts would; a folder takes the place of the releases, and a script that calls this build that of the program.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mcprove_model::{Node, SourceFile};

#[test]
fn the_action_installs_a_release_and_runs_a_command_line() {
    let Some(desk) = Desk::with_release() else { return };
    for (args, code) in [
        ("run examples/first-suite --quiet", 0),
        ("run \"examples/first-suite\" --filter 'greets by name' --quiet", 0),
        ("run examples/agents/recovers.yml --filter nobody", 4),
        ("run no-such-suite", 2),
    ] {
        let output = desk.action(&[("args", args)]);
        assert_eq!(output.status.code(), Some(code), "{args}: {}", told(&output));
        assert_eq!(desk.outputs(), format!("exit-code={code}\n"), "{args}");
    }
}

#[test]
fn the_action_runs_suites_and_counts() {
    let Some(desk) = Desk::with_release() else { return };
    let mock = format!("[mock, --tools-from, {}]", root().join("examples/first-suite/fixtures/tools.yml").display());
    let one_fails = format!(
        "servers: {{shop: {{command: [mcprove, {}}}}}\ntools:\n  - {{name: good, tool: greet, args: {{name: Ada}}, \
         expect: {{contains: Ada}}}}\n  - {{name: bad, tool: greet, args: {{name: Ada}}, expect: {{contains: Bob}}}}\n",
        &mock[1..]
    );
    fs::write(desk.path("project/half.yaml"), one_fails).expect("written");
    let counts = "passed=1\nfailed=1\nskipped=0\nerrors=0\nscore=50\n";
    for (inputs, code, exit) in [
        (&[("suite", "half.yaml")][..], 1, 1),
        (&[("suite", "half.yaml"), ("threshold", "50")], 0, 0),
        (&[("suite", "half.yaml"), ("fail-on", "never")], 1, 0),
        (&[("suite", "half.yaml"), ("options", "--threshold 40 --quiet"), ("threshold", "")], 2, 2),
    ] {
        let output = desk.action(inputs);
        assert_eq!(output.status.code(), Some(exit), "{inputs:?}: {}", told(&output));
        let expected = if code == 2 { String::new() } else { counts.to_owned() };
        let reports = desk.path("temp/mcprove-reports");
        let reports = if code == 2 { String::new() } else { format!("reports={}\n", reports.display()) };
        assert_eq!(desk.outputs(), format!("exit-code={code}\n{expected}{reports}"), "{inputs:?}");
    }
    let whole = desk.action(&[("suite", "examples/first-suite\nexamples/suite-file/library.yaml\n"), ("jobs", "2")]);
    assert_eq!(whole.status.code(), Some(0), "{}", told(&whole));
    assert!(desk.outputs().contains("passed=11\nfailed=0\n"), "{}", desk.outputs());
    for report in ["mcprove-junit.xml", "mcprove.html", "mcprove.json", "mcprove.sarif", "mcprove.md"] {
        assert!(desk.path("temp/mcprove-reports").join(report).is_file(), "{report}");
    }
}

#[test]
fn the_action_fails_on_regressions_where_that_is_asked_for() {
    let Some(desk) = Desk::with_release() else { return };
    let without = desk.action(&[("suite", "examples/first-suite"), ("fail-on", "regression")]);
    assert_eq!(without.status.code(), Some(2), "{}", told(&without));
    let saved = desk.action(&[("args", "run examples/first-suite --quiet --save-baseline baseline.json")]);
    assert_eq!(saved.status.code(), Some(0), "{}", told(&saved));
    let inputs = [("suite", "examples/first-suite"), ("fail-on", "regression"), ("baseline", "baseline.json")];
    assert_eq!(desk.action(&inputs).status.code(), Some(0));
    let broken = [&inputs[..], &[("server", "no-such-program-of-mcprove")]].concat();
    assert_ne!(desk.action(&broken).status.code(), Some(0));
    let unknown = desk.action(&[("fail-on", "sometimes")]);
    assert_eq!(unknown.status.code(), Some(2), "{}", told(&unknown));
    assert_eq!(desk.outputs(), "exit-code=2\n");
}

#[test]
fn the_action_builds_from_source_where_there_is_no_release() {
    let Some(desk) = Desk::with_release() else { return };
    fs::remove_dir_all(desk.path("releases/latest")).expect("removed");
    let cargo = desk.script(
        "fake/cargo",
        &format!(
            "echo \"$@\" >'{log}'\nmkdir -p \"${{@: -1}}/bin\"\ncp '{program}' \"${{@: -1}}/bin/\"\n",
            log = desk.path("cargo-log").display(),
            program = desk.path("program/dist/mcprove").display()
        ),
    );
    assert!(cargo.is_file());
    let output = desk.action(&[("suite", "examples/first-suite")]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let log = fs::read_to_string(desk.path("cargo-log")).expect("cargo was called");
    assert!(log.contains("install --locked") && log.contains("crates/cli"), "{log}");
    assert!(desk.said().contains("there is no release yet; building mcprove from source"), "{}", desk.said());
    // A release that is named must be there.
    let named = desk.action(&[("version", "v9.9.9"), ("args", "--version")]);
    assert_eq!(named.status.code(), Some(3), "{}", told(&named));
    assert!(told(&named).contains("there is no release at"), "{}", told(&named));
}

#[test]
fn an_archive_that_is_not_what_was_released_is_not_installed() {
    let Some(desk) = Desk::with_release() else { return };
    let archive = desk.path(&format!("releases/latest/download/{}.tar.gz", archive_name()));
    fs::write(&archive, "something else").expect("written");
    let output = desk.action(&[("args", "--version")]);
    assert_ne!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("the checksum of"), "{}", told(&output));
    // A checksum of something else proves nothing of the archive.
    let other = desk.path("project/other");
    fs::write(&other, "").expect("written");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    fs::write(archive.with_extension("gz.sha256"), format!("{empty}  {}\n", other.display())).expect("written");
    let output = desk.action(&[("args", "--version")]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("nothing was installed"), "{}", told(&output));
}

#[test]
fn the_installer_explains_what_it_cannot_do() {
    let Some(desk) = Desk::with_release() else { return };
    let installer = root().join("packaging/install.sh");
    let install = |words: &str| desk.shell(&format!("'{}' {words}", installer.display())).output().expect("it runs");
    for (words, code, message) in [
        ("", 2, "usage: install.sh VERSION FOLDER"),
        ("latest", 2, "usage: install.sh VERSION FOLDER"),
        ("--help", 2, "usage: install.sh VERSION FOLDER"),
        // The tags of releases begin with a `v`.
        ("9.9.9 bin", 3, "/download/v9.9.9/"),
    ] {
        let output = install(words);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", told(&output));
        assert!(told(&output).contains(message), "{words}: {}", told(&output));
    }
    // A shell with the tools that it needs, and neither curl nor cargo.
    let few =
        "mkdir -p few; for tool in bash dirname mkdir mktemp rm uname; do ln -sf \"$(command -v $tool)\" few/; done";
    for (version, tool) in [("latest", "`curl` was not found"), ("source", "`cargo` was not found")] {
        let line = format!("{few}; PATH=$PWD/few bash '{}' {version} bin", installer.display());
        let output = desk.shell(&line).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{version}: {}", told(&output));
        assert!(told(&output).contains(tool), "{version}: {}", told(&output));
    }
}

#[test]
fn the_comment_is_written_once_and_then_updated() {
    let Some(desk) = Desk::with_release() else { return };
    let ran = desk.action(&[("suite", "examples/first-suite")]);
    assert_eq!(ran.status.code(), Some(0), "{}", told(&ran));
    // Lists no comment the first time, and then the one it was given.
    let log = desk.path("gh-log");
    desk.script("fake/gh", &format!("echo \"$@\" >>'{log}'\nif [[ \"$*\" == *--jq* ]]; then cat '{known}' 2>/dev/null || true; else echo 42 >'{known}'; fi\n",
        log = log.display(), known = desk.path("gh-known").display()));
    for _ in 0..2 {
        let output = desk.comment();
        assert!(output.status.success(), "{}", told(&output));
    }
    let calls = fs::read_to_string(log).expect("gh was called");
    let calls: Vec<&str> = calls.lines().filter(|line| !line.contains("--jq")).collect();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert!(calls[0].contains("--method POST repos/o/r/issues/7/comments"), "{calls:?}");
    assert!(calls[1].contains("--method PATCH repos/o/r/issues/comments/42"), "{calls:?}");
    let body = fs::read_to_string(desk.path("temp/mcprove-comment.md")).expect("a comment");
    assert!(body.starts_with("<!-- mcprove:test-0 -->\n"), "{body}");
    assert!(body.contains("4 passed"), "{body}");
}

/// A pull request from a fork: the token may only read. The verdict does not change.
#[test]
fn a_comment_that_is_refused_fails_nothing() {
    let Some(desk) = Desk::with_release() else { return };
    assert_eq!(desk.action(&[("suite", "examples/first-suite")]).status.code(), Some(0));
    for refuse in ["--jq", "--method"] {
        desk.script("fake/gh", &format!("if [[ \"$*\" == *{refuse}* ]]; then echo 'HTTP 403' >&2; exit 1; fi\n"));
        let output = desk.comment();
        assert_eq!(output.status.code(), Some(0), "{refuse}: {}", told(&output));
        assert!(
            told(&output).contains("::warning title=mcprove::the comment could not be written"),
            "{}",
            told(&output)
        );
    }
    // More comments than one have the marker, and more are listed than are read.
    let log = desk.path("gh-log");
    let many = "if [[ \"$*\" == *--jq* ]]; then for ((n = 1; n < 50000; n++)); do echo $n; done; fi";
    desk.script("fake/gh", &format!("echo \"$@\" >>'{}'\n{many}\n", log.display()));
    assert_eq!(desk.comment().status.code(), Some(0));
    let calls = fs::read_to_string(log).expect("gh was called");
    assert!(calls.contains("PATCH repos/o/r/issues/comments/1 "), "{calls}");
}

/// What someone else wrote, such as the title of a pull request, may be in any input.
#[test]
fn inputs_of_the_action_run_nothing() {
    let Some(desk) = Desk::with_release() else { return };
    let witness = desk.path("project/witness");
    fs::create_dir(desk.path("project/two 'words'")).expect("made");
    let suite = "two 'words'/$(touch witness) \"x\".yaml";
    fs::copy(root().join("examples/first-suite/1-greet.yaml"), desk.path("project").join(suite)).expect("copied");
    std::os::unix::fs::symlink(root().join("examples/first-suite/fixtures"), desk.path("project/two 'words'/fixtures"))
        .expect("linked");
    for (inputs, code) in [
        (&[("suite", suite)][..], 0),
        (&[("suite", suite), ("options", "--filter '$(touch witness)'")], 4),
        (&[("suite", suite), ("options", "; touch witness")], 2),
        (&[("suite", suite), ("options", "\"unfinished")], 2),
        (&[("suite", "--server=touch witness")], 2),
        (&[("suite", suite), ("server", "$(touch witness) '; touch witness; '")], 2),
        (&[("suite", suite), ("url", "http://127.0.0.1:1/$(touch witness)")], 2),
        (&[("suite", suite), ("threshold", "1; touch witness")], 2),
        (&[("suite", suite), ("baseline", "`touch witness`")], 2),
        (&[("suite", suite), ("jobs", "$(touch witness)")], 2),
        (&[("suite", suite), ("fail-on", "$(touch witness)")], 2),
        (&[("args", "run 'two '\\''words'\\''/' --quiet")], 0),
        (&[("args", "validate $(touch witness)")], 2),
        (&[("args", "validate x; touch witness")], 2),
    ] {
        let output = desk.action(inputs);
        assert_eq!(output.status.code(), Some(code), "{inputs:?}: {}", told(&output));
        assert!(!witness.exists(), "{inputs:?}");
    }
    let output = desk.action(&[("version", "$(touch witness)"), ("args", "--version")]);
    assert!(!output.status.success() && !witness.exists(), "{}", told(&output));
}

/// A job that uses the action twice keeps both reports, both comments and both lists of findings.
#[test]
fn each_use_of_the_action_has_its_own_name() {
    let Some(desk) = Desk::with_release() else { return };
    for id in ["test-0", "test-0-2", "test-0-3"] {
        assert_eq!(desk.action(&[("args", "--version")]).status.code(), Some(0));
        assert_eq!(desk.own_output("id").as_deref(), Some(id));
    }
    let action = fs::read_to_string(root().join("action.yml")).expect("the action");
    for line in ["COMMENT_ID: ", "name: mcprove-", "category: mcprove-"] {
        assert!(action.contains(&format!("{line}${{{{ steps.run.outputs.id }}}}")), "{line}");
    }
    assert!(desk.own_output("key").is_some_and(|key| key.len() > 5), "what is cached has a key");
    assert!(!action.contains("hashFiles"), "it is empty outside of the workspace");
}

#[test]
fn the_job_of_gitlab_writes_its_reports() {
    let Some(desk) = Desk::with_release() else { return };
    let template = yaml("packaging/gitlab.yml");
    let job = template.get(".mcprove").expect("the job");
    let script: Vec<String> = ["before_script", "script"]
        .iter()
        .flat_map(|part| job.get(part).and_then(Node::as_list).expect("lines"))
        .map(|line| line.as_text().expect("a line").to_owned())
        .collect();
    let mut command = desk.shell(&script.join("\n"));
    for entry in job.get("variables").and_then(Node::as_map).expect("variables") {
        command.env(&entry.key.text, entry.value.as_text().expect("a text"));
    }
    let installer = format!("file://{}", root().join("packaging/install.sh").display());
    command.env("MCPROVE_INSTALLER", installer).env("MCPROVE_ARGS", "examples/first-suite");
    let output = command.env("CI_PROJECT_DIR", desk.path("project")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let artifacts = job.get("artifacts").expect("artifacts");
    let junit = artifacts.get("reports").and_then(|reports| reports.get("junit")?.as_text()).expect("a path");
    let html = artifacts.get("paths").and_then(Node::as_list).and_then(|paths| paths[0].as_text()).expect("a path");
    for path in [junit, html] {
        assert!(desk.path("project").join(path).is_file(), "{path}");
    }
}

/// The shell lines of the templates for other build servers, with their parameters filled in.
fn lines_of(template: &str, parameters: &[(&str, &str)]) -> String {
    let text = fs::read_to_string(root().join("packaging/ci").join(template)).expect("the template");
    let script = match template {
        "Jenkinsfile" => text.split("'''").nth(1).expect("a script").replace("evals/", "examples/first-suite"),
        "gitlab-component.yml" => {
            let (documents, findings) = mcprove_suite::yaml::parse(&SourceFile::new(template, text));
            assert_eq!(findings, []);
            let job = &documents[1].as_map().expect("a job")[0].value;
            texts(job.get("script").expect("a script")).join("\n")
        }
        "azure-pipelines.yml" => {
            let steps = yaml("packaging/ci/azure-pipelines.yml");
            let steps = steps.get("steps").and_then(Node::as_list).expect("steps").to_vec();
            let scripts = steps.iter().filter_map(|step| step.get("bash")?.as_text().map(str::to_owned));
            scripts.collect::<Vec<_>>().join("\n")
        }
        "circleci-orb.yml" => {
            let orb = yaml("packaging/ci/circleci-orb.yml");
            let commands = orb.get("commands").expect("commands");
            // A step of this name would be that of the host.
            let builtin = [
                "run",
                "checkout",
                "when",
                "unless",
                "save_cache",
                "restore_cache",
                "store_artifacts",
                "setup_remote_docker",
            ];
            for command in commands.as_map().expect("a map") {
                assert!(!builtin.contains(&command.key.text.as_str()), "{} is a step of CircleCI", command.key.text);
            }
            let of = |name: &str| {
                let steps = commands.get(name).and_then(|command| command.get("steps")?.as_list()).expect("steps");
                let run = steps[0].get("run").and_then(|run| run.get("command")?.as_text()).expect("a script");
                run.to_owned()
            };
            // The second step has the PATH that the first wrote to a file.
            format!("{}\nsource \"$BASH_ENV\"\n{}", of("install"), of("run-suite"))
        }
        other => panic!("{other}"),
    };
    parameters.iter().fold(script, |script, (name, value)| {
        let forms = [
            format!("$[[ inputs.{name} ]]"),
            format!("${{{{ parameters.{name} }}}}"),
            format!("<< parameters.{name} >>"),
        ];
        forms.iter().fold(script, |script, form| script.replace(form, value))
    })
}

fn texts(list: &Node) -> Vec<String> {
    list.as_list().expect("a list").iter().map(|line| line.as_text().expect("a line").to_owned()).collect()
}

#[test]
fn other_build_servers_install_run_and_write_reports() {
    let Some(desk) = Desk::with_release() else { return };
    let installer = format!("file://{}", root().join("packaging/install.sh").display());
    let parameters = [
        ("suite", "examples/first-suite"),
        ("threshold", "100"),
        ("options", "--quiet"),
        ("version", "latest"),
        ("installer", &installer),
    ];
    for (template, junit) in [
        ("gitlab-component.yml", "mcprove-junit.xml"),
        ("azure-pipelines.yml", "mcprove-junit.xml"),
        ("circleci-orb.yml", "mcprove-results/mcprove/junit.xml"),
        ("Jenkinsfile", "mcprove-junit.xml"),
    ] {
        let junit = desk.path("project").join(junit);
        let _ = fs::remove_file(&junit);
        let script = lines_of(template, &parameters);
        assert!(!script.contains("[[ ") && !script.contains("{{") && !script.contains("<< "), "{template}: {script}");
        let mut command = desk.shell(&script);
        for (name, value) in [
            ("CI_PROJECT_DIR", "project"),
            ("WORKSPACE", "project"),
            ("AGENT_TEMPDIRECTORY", "temp"),
            ("HOME", "temp"),
            ("BASH_ENV", "bash-env"),
        ] {
            command.env(name, desk.path(value));
        }
        fs::write(desk.path("bash-env"), "").expect("written");
        command.env("MCPROVE_INSTALLER", &installer).env("MCPROVE_VERSION", "latest");
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{template}: {}", told(&output));
        assert!(junit.is_file(), "{template}");
    }
}

#[test]
fn the_hooks_run_the_program_of_the_path() {
    let Some(desk) = Desk::with_release() else { return };
    for line in hooks("examples/first-suite/1-greet.yaml") {
        let output = desk.with_program(&line).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", told(&output));
    }
}

#[test]
fn the_hooks_find_suites_anywhere() {
    let Some(desk) = Desk::with_release() else { return };
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    let project = desk.path("repository");
    for folder in ["deep/down/fixtures", "other"] {
        fs::create_dir_all(project.join(folder)).expect("a folder");
    }
    let copy = |from: &str, to: &str| {
        fs::copy(root().join("examples/first-suite").join(from), project.join(to)).expect("copied")
    };
    copy("1-greet.yaml", "deep/down/greet.yaml");
    copy("fixtures/tools.yml", "deep/down/fixtures/tools.yml");
    fs::write(project.join("other/compose.yml"), "services: {web: {image: nginx}}\n").expect("written");
    let git = "git init --quiet . && git add --all";
    let hook = |line: &str, code: i32| {
        let mut command = desk.with_program(&format!("{git}\n{line}"));
        let output = command.current_dir(&project).output().expect("it runs");
        assert_eq!(output.status.code(), Some(code), "{line}: {}", told(&output));
        told(&output)
    };
    let lines = hooks("");
    assert!(hook(&lines[0], 0).contains("1 file with 1 test: no problems"));
    assert!(hook(&lines[1], 0).contains("1 case: 1 passed"));
    fs::write(project.join("other/wrong.yaml"), "name: wrong\nassert: {tol: x}\n").expect("written");
    assert!(hook(&lines[0], 2).contains("other/wrong.yaml:2"));
    for file in ["other/wrong.yaml", "deep/down/greet.yaml"] {
        fs::remove_file(project.join(file)).expect("removed");
    }
    assert!(hook(&lines[0], 0).contains("no suite was found"));
}

/// The command lines of the hooks with further words.
fn hooks(words: &str) -> Vec<String> {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let line = |hook: &Node| {
        let text = |key: &str| hook.get(key).and_then(Node::as_text).expect("a text").to_owned();
        assert_eq!(text("language"), "script", "cargo cannot install a workspace, which `rust` would ask it to");
        format!("{}/{} {words}", root().display(), text("entry"))
    };
    hooks.as_list().expect("hooks").iter().map(line).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn yaml(path: &str) -> Node {
    let text = fs::read_to_string(root().join(path)).expect("the file");
    let (mut documents, findings) = mcprove_suite::yaml::parse(&SourceFile::new(path, text));
    assert_eq!(findings, [], "{path}");
    documents.remove(0)
}

/// The archive that the installer asks for here.
fn archive_name() -> String {
    let machine = std::env::consts::ARCH;
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("mcprove-{machine}-{system}")
}

/// A folder with a release, a project with the examples, and what a build server gives its jobs.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    /// `None` where the shell has not what the scripts need.
    fn with_release() -> Option<Self> {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !["bash", "curl", "tar"].into_iter().all(has) {
            return None;
        }
        let desk = Self { folder: tempfile::tempdir().expect("a folder") };
        let program = desk.path("program/dist/mcprove");
        for folder in ["program/dist", "releases/latest/download", "project", "temp"] {
            fs::create_dir_all(desk.path(folder)).expect("a folder");
        }
        fs::write(&program, format!("#!/bin/sh\nexec '{}' \"$@\"\n", env!("CARGO_BIN_EXE_mcprove"))).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("allowed");
        std::os::unix::fs::symlink(root().join("examples"), desk.path("project/examples")).expect("linked");
        let target = archive_name().trim_start_matches("mcprove-").to_owned();
        let mut pack = Command::new(root().join("packaging/pack.sh"));
        pack.arg(target).arg(desk.path("releases/latest/download")).env("CARGO_TARGET_DIR", desk.path("program"));
        let packed = pack.output().expect("it runs");
        assert!(packed.status.success(), "{}", told(&packed));
        Some(desk)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// A script as a build server runs it: in the project, ended by its first failure.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(self.path("project"));
        command.env("MCPROVE_RELEASES", format!("file://{}", self.path("releases").display()));
        command.env("RUNNER_TEMP", self.path("temp")).env("GITHUB_OUTPUT", self.path("github-output"));
        command.env("NO_COLOR", "1").env_remove("GITHUB_ACTIONS").env_remove("GITHUB_STEP_SUMMARY");
        command
    }

    /// The same with the program, and with scripts of [`Self::script`], on the PATH.
    fn with_program(&self, script: &str) -> Command {
        let mut command = self.shell(script);
        let path = std::env::var("PATH").unwrap_or_default();
        let (program, fake) = (self.path("program/dist"), self.path("fake"));
        command.env("PATH", format!("{}:{}:{path}", fake.display(), program.display()));
        command
    }

    /// Writes a script that can be run.
    fn script(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(&path, format!("#!/usr/bin/env bash\nset -euo pipefail\n{text}")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("allowed");
        path
    }

    /// The outputs of the action, without what only its own steps use.
    fn outputs(&self) -> String {
        let text = fs::read_to_string(self.path("github-output")).expect("the outputs");
        let own = |line: &&str| line.starts_with("id=") || line.starts_with("key=");
        text.split_inclusive('\n').filter(|line| !own(line)).collect()
    }

    /// A value that the action's own steps use.
    fn own_output(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.path("github-output")).expect("the outputs");
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
    }

    /// What all steps of the action said.
    fn said(&self) -> String {
        fs::read_to_string(self.path("said")).expect("said")
    }

    /// Runs the steps of the action that install and run, until one fails.
    fn action(&self, inputs: &[(&str, &str)]) -> Output {
        let _ = fs::remove_file(self.path("github-output"));
        let _ = fs::remove_file(self.path("said"));
        let mut last = None;
        for step in steps().iter().filter(|step| step.get("run").is_some() && step.get("if").is_none()) {
            let output = self.step(step, inputs);
            let said = fs::read_to_string(self.path("said")).unwrap_or_default() + &told(&output);
            fs::write(self.path("said"), said).expect("written");
            let is_over = !output.status.success();
            last = Some(output);
            if is_over {
                break;
            }
        }
        last.expect("the action has steps")
    }

    /// Runs the step that comments on a pull request.
    fn comment(&self) -> Output {
        let steps = steps();
        let step = steps.iter().find(|step| step.get("env").is_some_and(|env| env.get("GH_TOKEN").is_some()));
        self.step(step.expect("a step"), &[])
    }

    fn step(&self, step: &Node, inputs: &[(&str, &str)]) -> Output {
        let mut command = self.with_program(step.get("run").and_then(Node::as_text).expect("a script"));
        for entry in step.get("env").and_then(Node::as_map).into_iter().flatten() {
            command.env(&entry.key.text, filled(entry.value.as_text().expect("a text"), inputs));
        }
        command.env("GITHUB_REPOSITORY", "o/r").output().expect("it runs")
    }
}

fn steps() -> Vec<Node> {
    let action = yaml("action.yml");
    action.get("runs").and_then(|runs| runs.get("steps")?.as_list()).expect("steps").to_vec()
}

/// A value with its expressions replaced, as GitHub would.
fn filled(text: &str, inputs: &[(&str, &str)]) -> String {
    let action = yaml("action.yml");
    let mut text = text
        .replace("${{ github.action_path }}", &root().display().to_string())
        .replace("${{ github.token }}", "token")
        .replace("${{ github.event.pull_request.number }}", "7")
        .replace("${{ steps.run.outputs.id }}", "test-0")
        .replace("${{ github.job }}-${{ strategy.job-index }}", "test-0");
    let known = action.get("inputs").and_then(Node::as_map).expect("inputs");
    for (name, _) in inputs {
        assert!(known.iter().any(|entry| entry.key.text == *name), "the action has no input `{name}`");
    }
    for entry in known {
        let name = entry.key.text.as_str();
        let default = entry.value.get("default").and_then(Node::as_text).expect("a default");
        let given = inputs.iter().find(|(input, _)| *input == name).map_or(default, |(_, value)| value);
        text = text.replace(&format!("${{{{ inputs.{name} }}}}"), given);
    }
    assert!(!text.contains("${{"), "nothing fills in `{text}`");
    text
}
