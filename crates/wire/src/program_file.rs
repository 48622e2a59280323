//! The file of a command where names are completed: on Windows `npx` is `npx.cmd`, and the system itself adds only `.exe`.

#[cfg(any(test, windows))]
use std::path::{Path, PathBuf};

/// The extensions of programs where `PATHEXT` is not set.
#[cfg(any(test, windows))]
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// The file that a command names, as a shell finds it. `None` leaves the search to the system: the command has an extension of
/// programs, or there is no such file.
#[cfg(any(test, windows))]
pub(crate) fn program_file(command: &str, folders: &[PathBuf], extensions: Option<&str>) -> Option<PathBuf> {
    let extensions: Vec<&str> = extensions.unwrap_or(EXTENSIONS).split(';').filter(|part| !part.is_empty()).collect();
    let is_complete = extensions.iter().any(|extension| ends_with(command, extension));
    if command.is_empty() || is_complete {
        return None;
    }
    let with_extension = |folder: &Path| {
        extensions.iter().find_map(|extension| {
            let file = folder.join(format!("{command}{}", extension.to_ascii_lowercase()));
            file.is_file().then_some(file)
        })
    };
    if command.contains(['/', '\\']) {
        return with_extension(Path::new(""));
    }
    folders.iter().find_map(|folder| with_extension(folder))
}

#[cfg(any(test, windows))]
fn ends_with(command: &str, extension: &str) -> bool {
    let start = command.len().checked_sub(extension.len()).filter(|at| *at > 0 && command.is_char_boundary(*at));
    start.is_some_and(|at| command[at..].eq_ignore_ascii_case(extension))
}

/// The values of `PATH` and `PATHEXT`.
#[cfg(windows)]
static SEARCHED: std::sync::OnceLock<(String, Option<String>)> = std::sync::OnceLock::new();

/// Sets where commands are looked up: the values of `PATH` and `PATHEXT`. Without it, the system completes them.
#[cfg(windows)]
pub fn search_programs(path: String, extensions: Option<String>) {
    // The first caller has set the same values.
    let _ = SEARCHED.set((path, extensions));
}

/// The program that is started for a command whose environment has these variables more than ours.
#[cfg(windows)]
pub(crate) fn executable(command: &str, env: &[(String, String)]) -> PathBuf {
    let Some((path, extensions)) = SEARCHED.get() else { return command.into() };
    let own =
        |wanted: &str| env.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.as_str());
    let folders: Vec<PathBuf> = std::env::split_paths(own("PATH").unwrap_or(path)).collect();
    let extensions = own("PATHEXT").or(extensions.as_deref());
    program_file(command, &folders, extensions).unwrap_or_else(|| command.into())
}

/// The program that is started for a command: the system completes nothing.
#[cfg(not(windows))]
pub(crate) fn executable<'c>(command: &'c str, _env: &[(String, String)]) -> &'c str {
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_completed_as_a_shell_does() {
        let home = tempfile::tempdir().expect("a folder");
        let file = |path: &str| home.path().join(path);
        for path in ["node/npx.cmd", "node/npx", "node/node.exe", "python/python3.11.exe", "later/npx.exe"] {
            std::fs::create_dir_all(file(path).parent().expect("a folder")).expect("made");
            std::fs::write(file(path), "").expect("written");
        }
        std::fs::create_dir(file("node/uvx.cmd")).expect("made");
        let folders = ["missing", "node", "python", "later"].map(file);
        let found = |command: &str| program_file(command, &folders, Some(".COM;.EXE;.BAT;.CMD"));
        assert_eq!(
            found("npx"),
            Some(file("node/npx.cmd")),
            "the first folder wins, and a file without extension is a script"
        );
        assert_eq!(found("node"), Some(file("node/node.exe")));
        assert_eq!(found("python3.11"), Some(file("python/python3.11.exe")), "a dot in a name is no extension");
        for left in ["npx.cmd", "NODE.EXE", "unknown", "uvx", ""] {
            assert_eq!(found(left), None, "{left}");
        }
        let path = file("node/npx").display().to_string();
        assert_eq!(found(&path), Some(PathBuf::from(format!("{path}.cmd"))), "a path is completed, too");
        assert_eq!(program_file("npx", &folders, Some(".EXE")), Some(file("later/npx.exe")), "`PATHEXT` decides");
        assert_eq!(program_file("npx", &folders, None), Some(file("node/npx.cmd")));
    }
}
