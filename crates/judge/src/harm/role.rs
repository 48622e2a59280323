//! The role of an argument that can do harm, by its name.

use crate::generate::{singular, words};

/// Something outside the server that an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A process, a user or a group of the machine.
    ProcessId,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A program to run.
    Command,
    /// A URL.
    Url,
    /// A host or an IP address.
    Host,
    /// A statement for a database.
    Sql,
    /// A pattern of file names.
    Pattern,
    /// One of several things that a tool can do.
    Operation,
}

const IDS: &[&str] = &["gid", "pgid", "pid", "ppid", "tid", "uid"];
const OWNERS: &[&str] = &["group", "parent", "proc", "process", "thread", "user"];
const FILES: &[&str] = &["destination", "file", "filename", "filepath", "path", "pathname", "source"];
const FOLDERS: &[&str] = &["cwd", "dir", "directory", "folder", "root"];
/// Words that make a path the path of a folder.
const FOLDER_PATHS: &[&str] =
    &["cwd", "dir", "directory", "folder", "project", "repo", "repository", "root", "workspace"];
const COMMANDS: &[&str] =
    &["bash", "binary", "cmd", "command", "exe", "executable", "interpreter", "program", "script", "shell"];
const URLS: &[&str] = &["endpoint", "href", "link", "uri", "url", "webhook", "website"];
const HOSTS: &[&str] = &["domain", "host", "hostname", "ip"];
const OPERATIONS: &[&str] = &["action", "method", "mode", "op", "operation", "subcommand", "verb"];
const PATTERNS: &[&str] = &["glob", "mask", "pattern", "wildcard"];

/// The role of a property; `None` when its name speaks of nothing outside. `mentions_sql` is true if the tool does.
pub(crate) fn role(name: &str, mentions_sql: bool) -> Option<Role> {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(|word| singular(word)).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let last = *words.last()?;
    if has(IDS) || words.windows(2).any(|pair| OWNERS.contains(&pair[0]) && matches!(pair[1], "id" | "ids")) {
        return Some(Role::ProcessId);
    }
    if FOLDERS.contains(&last) || FILES.contains(&last) && has(FOLDER_PATHS) {
        return Some(Role::Folder);
    }
    if FILES.contains(&last) {
        return Some(Role::File);
    }
    if has(COMMANDS) {
        return Some(Role::Command);
    }
    if has(&["sql"]) || mentions_sql && has(&["query", "statement"]) {
        return Some(Role::Sql);
    }
    if has(URLS) {
        return Some(Role::Url);
    }
    if has(HOSTS) {
        return Some(Role::Host);
    }
    if has(PATTERNS) {
        return Some(Role::Pattern);
    }
    OPERATIONS.contains(&last).then_some(Role::Operation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_roles() {
        for (name, expected) in [
            ("pid", Some(Role::ProcessId)),
            ("processIds", Some(Role::ProcessId)),
            ("user_id", Some(Role::ProcessId)),
            ("path", Some(Role::File)),
            ("filePaths", Some(Role::File)),
            ("repo_path", Some(Role::Folder)),
            ("workingDirectory", Some(Role::Folder)),
            ("shell_command", Some(Role::Command)),
            ("sql", Some(Role::Sql)),
            ("query", None),
            ("callback_url", Some(Role::Url)),
            ("hostname", Some(Role::Host)),
            ("glob", Some(Role::Pattern)),
            ("operation", Some(Role::Operation)),
            ("http_method", Some(Role::Operation)),
            ("action_id", None),
            ("rapid", None),
            ("description", None),
            ("filter", None),
        ] {
            assert_eq!(role(name, false), expected, "{name}");
        }
        assert_eq!(role("query", true), Some(Role::Sql));
    }
}
