//! What other people's build servers run: the steps of the action, the job of the GitLab template, the script of the
//! pre-commit hooks, and the archive that a release is. The steps are taken from their files and run by a shell as their
//! hosts would; a folder takes the place of the releases, and a script that calls this build that of the program.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mcprove_model::{Node, SourceFile};

#[test]
fn the_action_installs_a_release_and_tells_how_it_ended() {
    let Some(desk) = Desk::with_release() else { return };
    for (args, code) in [
        ("run examples/first-suite --quiet", 0),
        ("run \"examples/first-suite\" --filter 'greets by name' --quiet", 0),
        ("run examples/agents/recovers.yml --filter nobody", 4),
        ("run no-such-suite", 2),
    ] {
        let output = desk.action("latest", args);
        assert_eq!(output.status.code(), Some(code), "{args}: {}", told(&output));
        let written = fs::read_to_string(desk.path("github-output")).expect("the outputs");
        assert_eq!(written, format!("exit-code={code}\n"), "{args}");
    }
}

#[test]
fn an_archive_that_is_not_what_was_released_is_not_installed() {
    let Some(desk) = Desk::with_release() else { return };
    let archive = desk.path(&format!("releases/latest/download/{}.tar.gz", archive_name()));
    fs::write(&archive, "something else").expect("written");
    let output = desk.action("latest", "--version");
    assert_ne!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).to_lowercase().contains("checksum"), "{}", told(&output));
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

#[test]
fn the_hooks_run_the_program_of_the_path() {
    let Some(desk) = Desk::with_release() else { return };
    for hook in yaml(".pre-commit-hooks.yaml").as_list().expect("hooks") {
        let text = |key: &str| hook.get(key).and_then(Node::as_text).expect("a text").to_owned();
        assert_eq!(text("language"), "script", "cargo cannot install a workspace, which `rust` would ask it to");
        let line = format!("{}/{} examples/first-suite/1-greet.yaml", root().display(), text("entry"));
        let mut command = desk.shell(&line);
        let path = std::env::var("PATH").unwrap_or_default();
        let output = command.env("PATH", format!("{}:{path}", desk.path("program/release").display())).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{line}: {}", told(&output));
    }
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
        let program = desk.path("program/release/mcprove");
        for folder in ["program/release", "releases/latest/download", "project", "temp"] {
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

    /// Runs the steps of the action until one fails.
    fn action(&self, version: &str, args: &str) -> Output {
        let _ = fs::remove_file(self.path("github-output"));
        let fill = |text: &str| {
            let filled = text
                .replace("${{ inputs.version }}", version)
                .replace("${{ inputs.args }}", args)
                .replace("${{ github.action_path }}", &root().display().to_string());
            assert!(!filled.contains("${{"), "nobody fills in `{filled}`");
            filled
        };
        let action = yaml("action.yml");
        let steps = action.get("runs").and_then(|runs| runs.get("steps")?.as_list()).expect("steps");
        let mut last = None;
        for step in steps {
            let mut command = self.shell(step.get("run").and_then(Node::as_text).expect("a script"));
            for entry in step.get("env").and_then(Node::as_map).into_iter().flatten() {
                command.env(&entry.key.text, fill(entry.value.as_text().expect("a text")));
            }
            let output = command.output().expect("it runs");
            let is_over = !output.status.success();
            last = Some(output);
            if is_over {
                break;
            }
        }
        last.expect("the action has steps")
    }
}
