//! Console blocks: commands are parsed, and run where their output is shown.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use super::blocks::{Block, Page, root};

/// A command of a block and what is shown of its output.
pub(crate) struct Shown {
    pub(crate) command: String,
    /// The lines that are shown; none means that nothing is promised.
    pub(crate) output: String,
    /// The exit code, when the block goes on with `echo $?`.
    pub(crate) code: Option<i32>,
}

/// A command with what it printed and its exit code, when it could be run.
pub(crate) type Tried = (Shown, Option<(String, i32)>);

/// The commands of a block: lines that begin with `$`, each with the lines below it. A backslash continues a command.
pub(crate) fn commands(block: &Block) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut lines = block.text.lines();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ ") else {
            let last = shown.last_mut().expect("a console block begins with a command");
            if last.command == "echo $?" {
                let code = line.trim().parse().expect("an exit code");
                shown.pop();
                shown.last_mut().expect("a command before `echo $?`").code = Some(code);
            } else {
                last.output.push_str(line);
                last.output.push('\n');
            }
            continue;
        };
        let mut command = command.to_owned();
        while let Some(start) = command.strip_suffix('\\') {
            command = format!("{}{}", start, lines.next().unwrap_or_default().trim_start());
        }
        shown.push(Shown { command, output: String::new(), code: None });
    }
    shown
}

/// The words of our own command line in a line of shell, if it is one: `mcprove …`, or the same through cargo.
pub(crate) fn own_words(line: &str) -> Option<Vec<String>> {
    let line = line.split(" #").next().unwrap_or_default();
    // What another program or file gets of it is not ours to parse.
    let end = [" | ", " > ", " >> ", " || ", " && ", " 2>"].iter().filter_map(|mark| line.find(mark)).min();
    let words = shell_words::split(&line[..end.unwrap_or(line.len())]).ok()?;
    let rest = match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["mcprove", ..] => 1,
        ["cargo", "run", "--release", "--", ..] => 4,
        ["cargo", "run", "--quiet", "--release", "--", ..] => 5,
        _ => return None,
    };
    Some(words[rest..].to_vec())
}

/// Whether clap understands the words.
pub(crate) fn parse(words: &[String]) -> Result<(), String> {
    let all = std::iter::once("mcprove").chain(words.iter().map(String::as_str));
    match mcprove::command_line().try_get_matches_from(all) {
        Err(error) if error.use_stderr() => Err(error.to_string()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The folder in which the commands of a page run, one after the other: it has the examples, and the files the page
/// told the reader to write.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(&root().join("examples"), &folder.path().join("examples"));
        #[cfg(unix)]
        let cache = root().join(".cache");
        #[cfg(unix)]
        if cache.exists() {
            std::os::unix::fs::symlink(cache.canonicalize().expect("the cache"), folder.path().join(".cache"))
                .expect("linked");
        }
        Self { folder }
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// Runs a command; what it printed and its exit code. `None` when it is not one that can be run here.
    pub(crate) fn run(&self, command: &str) -> Option<(String, i32)> {
        if let Some(path) = command.strip_prefix("cat ") {
            return Some((fs::read_to_string(self.folder.path().join(path)).expect(path), 0));
        }
        own_words(command)?;
        // A shell, because pages show redirections; `mcprove`, and the programs that fetch servers, are ours.
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.folder.path())
            .env("PATH", self.path())
            .env("NO_COLOR", "1")
            .env_remove("ANTHROPIC_API_KEY")
            .env("CI", "")
            .env("GITHUB_ACTIONS", "")
            .env("GITHUB_STEP_SUMMARY", "")
            .output()
            .expect("sh runs");
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Some((printed, output.status.code().unwrap_or(-1)))
    }

    /// A path that finds `mcprove` and `cargo run` as this build, and `npx` and `uvx` as what is installed already.
    fn path(&self) -> String {
        let bin = self.folder.path().join(".bin");
        let own = env!("CARGO_BIN_EXE_mcprove");
        for (name, script) in [
            ("mcprove", format!("exec {own} \"$@\"")),
            ("cargo", format!("while [ \"$1\" != -- ]; do shift; done; shift; exec {own} \"$@\"")),
            ("npx", NPX.to_owned()),
            ("uvx", "exec .cache/servers/venv/bin/\"$@\"".to_owned()),
        ] {
            let path = bin.join(name);
            if !path.exists() {
                fs::create_dir_all(&bin).expect("made");
                fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
                executable(&path);
            }
        }
        format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default())
    }
}

/// Starts an installed package as `npx` would, without asking the registry.
const NPX: &str = "[ \"$1\" = -y ] && shift\npackage=$1; shift\nexec node .cache/servers/node_modules/\"$package\"/dist/index.js \"$@\"";

#[cfg(unix)]
fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("made executable");
}

#[cfg(not(unix))]
fn executable(_path: &Path) {}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

/// True if what is shown is what came: times may differ, and a line of three dots stands for any lines.
pub(crate) fn agrees(shown: &str, came: &str) -> bool {
    let (shown, came) = (timeless(shown), timeless(came));
    let came: Vec<&str> = came.trim_end().lines().collect();
    let parts: Vec<Vec<&str>> =
        shown.trim_end().lines().collect::<Vec<_>>().split(|line| *line == "...").map(<[&str]>::to_vec).collect();
    let mut rest = came.as_slice();
    for (index, part) in parts.iter().enumerate() {
        let (first, last) = (index == 0, index + 1 == parts.len());
        let found = match (first, last) {
            (true, true) => (rest == part.as_slice()).then_some(0),
            (true, false) => rest.starts_with(part).then_some(0),
            (false, true) => rest.ends_with(part).then(|| rest.len() - part.len()),
            (false, false) => (0..=rest.len()).find(|at| rest[*at..].starts_with(part)),
        };
        let Some(at) = found else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// Text without what differs from run to run: times (and the room they take, and what is said because of them), temporary
/// paths, and white space at the ends of lines.
fn timeless(text: &str) -> String {
    let changing = [
        (r"(?m)[ \t]*<?\d+(\.\d+)? ?(ms|s|µs)\b", " <time>"),
        (r#"(duration_ms"?: )\d+"#, "$1<time>"),
        (r"\d+ calls/s\b", "<rate>"),
        (r"(?m)^slowest: .*$", "slowest: <tool>"),
        (r"(?m)^(hint|time): .*\n?", ""),
        (r"/tmp/[A-Za-z0-9._/-]+", "<path>"),
        (r"(?m)[ \t]+$", ""),
    ];
    changing.iter().fold(text.to_owned(), |text, (pattern, instead)| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, *instead).into_owned()
    })
}

/// The block as it should be: what is shown where it agrees, and what came where it does not.
pub(crate) fn rewritten(seen: &[Tried]) -> String {
    let mut text = String::new();
    for (shown, came) in seen {
        let _ = writeln!(text, "$ {}", shown.command);
        match came {
            Some((printed, code)) => {
                let lines = if agrees(&shown.output, printed) { &shown.output } else { printed };
                for line in lines.lines() {
                    let _ = writeln!(text, "{}", line.trim_end());
                }
                if *code != 0 {
                    let _ = writeln!(text, "$ echo $?\n{code}");
                }
            }
            None => text.push_str(&shown.output),
        }
    }
    text
}

/// True if the servers that some pages speak to are installed.
pub(crate) fn servers() -> bool {
    root().join(".cache/servers/node_modules").exists() && !program("node").as_os_str().is_empty()
}

fn program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.exists()).unwrap_or_default()
}

/// Where a block is, for whoever has to mend it.
pub(crate) fn place(page: &Page, block: &Block) -> String {
    format!("{}:{}", page.path, block.line)
}
