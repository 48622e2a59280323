//! Where and how a run was made: the command line, the commit, the CI run and the machine.

use std::fs;
use std::path::{Path, PathBuf};

use mcprove_model::RunContext;

use crate::context::Context;

/// Variables that name the commit, the branch and the page of a CI run.
const COMMIT: &[&str] = &["GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "CIRCLE_SHA1", "GIT_COMMIT"];
const BRANCH: &[&str] = &[
    "GITHUB_HEAD_REF",
    "GITHUB_REF_NAME",
    "CI_COMMIT_REF_NAME",
    "BUILD_SOURCEBRANCHNAME",
    "CIRCLE_BRANCH",
    "GIT_BRANCH",
];
const CI_URL: &[&str] = &["CI_JOB_URL", "CIRCLE_BUILD_URL", "BUILD_URL"];

/// The context of a run by this process.
pub(crate) fn run_context() -> RunContext {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let (commit, branch) = std::env::current_dir().ok().and_then(|folder| head_of(&folder)).unwrap_or_default();
    RunContext {
        command: Some(format!("mcprove {}", shell_words::join(words))),
        commit: first(COMMIT).or(commit),
        branch: first(BRANCH).or(branch),
        ci_url: github_url().or_else(|| first(CI_URL)),
        host: host(),
    }
}

fn variable(name: &str) -> Option<String> {
    Context::variable(name).filter(|value| !value.is_empty())
}

fn first(names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| variable(name))
}

fn github_url() -> Option<String> {
    let [server, repository, run] = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"].map(variable);
    Some(format!("{}/{}/actions/runs/{}", server?, repository?, run?))
}

fn host() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.map(|name| name.trim().to_owned())
        .or_else(|| first(&["HOSTNAME", "COMPUTERNAME"]))
        .filter(|name| !name.is_empty())
}

/// Commit and branch of the repository that a folder is in, read from its files.
fn head_of(folder: &Path) -> Option<(Option<String>, Option<String>)> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists())?;
    let git = if git.is_dir() { git } else { linked(&git)? };
    let head = text_of(&git.join("HEAD"))?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return Some((commit_in(&head), None)) };
    // A linked worktree keeps its branches in the main one.
    let common = text_of(&git.join("commondir")).map(|text| git.join(text.trim()));
    let places = [Some(git), common];
    let commit = places.iter().flatten().find_map(|place| commit_of(place, reference));
    Some((commit, reference.strip_prefix("refs/heads/").map(str::to_owned)))
}

fn linked(file: &Path) -> Option<PathBuf> {
    let text = text_of(file)?;
    Some(file.parent()?.join(text.trim().strip_prefix("gitdir: ")?))
}

fn commit_of(git: &Path, reference: &str) -> Option<String> {
    if let Some(commit) = text_of(&git.join(reference)) {
        return commit_in(&commit);
    }
    let packed = text_of(&git.join("packed-refs"))?;
    let named = packed.lines().find_map(|line| line.split_once(' ').filter(|(_, name)| *name == reference));
    named.and_then(|(id, _)| commit_in(id))
}

/// The id of a commit. A file of a foreign repository may be a link to anything, which is not to be shown.
fn commit_in(text: &str) -> Option<String> {
    let id = text.trim();
    (id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// The text of a file of a repository, if it is a file and not too large.
fn text_of(path: &Path) -> Option<String> {
    let about = path.metadata().ok()?;
    (about.is_file() && about.len() <= LARGEST).then(|| fs::read_to_string(path).ok())?
}

/// The largest file of a repository that is read, which is a list of all its branches and tags.
const LARGEST: u64 = 64 << 20;
/// The length of the id of a commit by SHA-256.
const LONGEST_ID: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_found_in_loose_and_packed_references() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = folder.path().join(".git");
        fs::create_dir_all(git.join("refs/heads")).expect("made");
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").expect("written");
        fs::write(git.join("packed-refs"), "# pack\nabc refs/heads/main\n").expect("written");
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).expect("made");
        assert_eq!(head_of(&below), Some((Some("abc".to_owned()), Some("main".to_owned()))));
        fs::write(git.join("refs/heads/main"), "def\n").expect("written");
        assert_eq!(head_of(&below), Some((Some("def".to_owned()), Some("main".to_owned()))));
        fs::write(git.join("HEAD"), "0123\n").expect("written");
        assert_eq!(head_of(&below), Some((Some("0123".to_owned()), None)));
    }
}
