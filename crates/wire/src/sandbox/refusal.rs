//! Refusals of the sandbox, recognised by what a server says about them.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that the sandbox kept a server from doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A write to this path.
    Write(String),
    /// A signal to a process outside.
    Signal,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path) => write!(f, "refused by mcprove's sandbox ({path})"),
            Self::Signal => f.write_str("refused by mcprove's sandbox (a signal to another process)"),
        }
    }
}

/// Words by which programs say that the system denied something.
const DENIED: &[&str] = &[
    "eacces",
    "eperm",
    "permission denied",
    "operation not permitted",
    "permissionerror",
    "errno 13",
    "os error 13",
    "os error 1)",
    "exdev",
    "invalid cross-device link",
];

/// Words by which they say so about a signal.
const SIGNAL_DENIED: &[&str] =
    &["kill eperm", "kill: operation not permitted", "kill() failed: operation not permitted"];

/// The refusal that a text of a confined server reports: the system denied something at a path that the sandbox does not
/// allow, and that mcprove, unconfined, could write to. A relative path is below `folder`. What a server may not do in
/// any case is not a refusal of the sandbox.
pub fn refusal_in(text: &str, folder: &Path, writable: &[PathBuf]) -> Option<Refusal> {
    denied_paths(text)
        .into_iter()
        .map(|path| (folder.join(path), path))
        .find(|(full, _)| !writable.iter().any(|allowed| full.starts_with(allowed)) && could_be_written(full))
        .map(|(_, path)| Refusal::Write(path.to_owned()))
        .or_else(|| {
            let lower = text.to_lowercase();
            SIGNAL_DENIED.iter().any(|words| lower.contains(words)).then_some(Refusal::Signal)
        })
}

/// Paths on the lines of a text that say that something was denied.
fn denied_paths(text: &str) -> Vec<&str> {
    let is_denial = |line: &&str| {
        let lower = line.to_lowercase();
        DENIED.iter().any(|words| lower.contains(words))
    };
    text.lines().flat_map(|line| line.split("\\n")).filter(is_denial).flat_map(paths).collect()
}

/// Words of the system itself, next to which also a relative path is one.
const BY_THE_SYSTEM: &[&str] = &["eacces", "eperm", "exdev", "errno", "os error", "cannot"];

/// Quoted strings, and words that begin as a path does.
fn paths(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let lower = line.to_lowercase();
    let is_by_the_system = BY_THE_SYSTEM.iter().any(|words| lower.contains(words));
    for quote in ['\'', '"', '`'] {
        // Every second part lies between two quotes.
        found.extend(
            line.split(quote)
                .skip(1)
                .step_by(2)
                .filter(|part| looks_like_a_path(part) && (is_by_the_system || part.starts_with('/'))),
        );
    }
    let words = line.split([' ', '\t', '\'', '"', '`', '(', ')', ',', ';', '=']);
    let trimmed = words.map(|word| word.trim_end_matches([':', '.', ',', ']', '}']));
    found.extend(trimmed.filter(|word| word.starts_with('/') && word.len() > 1));
    found
}

fn looks_like_a_path(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 4096
        && !text.contains("://")
        && (text.contains('/') || text.contains('.'))
        && !text.ends_with(['.', ' '])
}

/// True if the path, or the nearest folder above it that exists, could be written by this process.
#[cfg(unix)]
fn could_be_written(path: &Path) -> bool {
    let can = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if path.exists() {
        // A file that may not be written may still be removed.
        return can(path) || path.parent().is_some_and(can);
    }
    path.ancestors().skip(1).find(|folder| folder.exists()).is_some_and(can)
}

#[cfg(not(unix))]
fn could_be_written(_path: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Messages of several languages for a denied write to `PATH`.
    const SAID: &[&str] = &[
        "EACCES: permission denied, open 'PATH'",
        "Error: EACCES: permission denied, mkdir 'PATH'",
        "[Errno 13] Permission denied: 'PATH'",
        "Error executing tool write: [Errno 13] Permission denied: 'PATH'",
        "open PATH: permission denied",
        "rm: cannot remove 'PATH': Permission denied",
        "sh: 1: cannot create PATH: Permission denied",
        "java.nio.file.AccessDeniedException: PATH (Permission denied)",
        "failed to write PATH: Permission denied (os error 13)",
        "EXDEV: cross-device link not permitted, rename 'PATH' -> 'x'",
    ];

    #[test]
    fn what_the_sandbox_denied_is_recognised_in_every_language() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a path");
        let path = folder.join("notes.txt").to_string_lossy().into_owned();
        for said in SAID {
            let text = said.replace("PATH", &path);
            assert_eq!(refusal_in(&text, Path::new("/"), &[]), Some(Refusal::Write(path.clone())), "{text}");
            assert_eq!(
                refusal_in(&text, Path::new("/"), std::slice::from_ref(&folder)),
                None,
                "it may write there: {text}"
            );
        }
        let relative = refusal_in("[Errno 13] Permission denied: 'notes.txt'", &folder, &[]);
        assert_eq!(relative, Some(Refusal::Write("notes.txt".to_owned())));
        assert_eq!(refusal_in("Error: kill EPERM", Path::new("/"), &[]), Some(Refusal::Signal));
    }

    #[test]
    fn other_errors_are_the_servers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt").to_string_lossy().into_owned();
        for text in [
            format!("ENOENT: no such file or directory, open '{path}'"),
            "permission denied: the token lacks the scope `repo`".to_owned(),
            "403 Forbidden: permission denied for https://api.example.com/v1/x".to_owned(),
            format!("wrote {path}\nthe remote said permission denied"),
            "permission denied for 'api.example.com'".to_owned(),
        ] {
            assert_eq!(refusal_in(&text, Path::new("/"), &[]), None, "{text}");
        }
    }
}
