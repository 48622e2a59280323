//! macOS: the profile for `sandbox-exec`.

use std::fmt::Write as _;
use std::path::PathBuf;

/// The program that applies a profile.
#[cfg(target_os = "macos")]
pub(super) const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// A profile that allows everything but writing outside of the given paths and signals to other processes.
pub(super) fn profile(writable: &[PathBuf]) -> String {
    let mut text = String::from("(version 1)\n(allow default)\n(deny file-write*)\n(allow file-write*\n");
    for path in writable {
        let _ = writeln!(text, "  (subpath {})", quoted(&path.to_string_lossy()));
    }
    text.push_str("  (regex #\"^/dev/(null|zero|random|urandom|tty|ptmx|ttys[0-9]+|dtracehelper)$\"))\n");
    text.push_str("(deny signal)\n(allow signal (target self))\n(allow signal (target same-sandbox))\n");
    text
}

/// A string of the profile's language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_names_each_folder_quoted() {
        let paths = [PathBuf::from("/private/tmp/scratch"), PathBuf::from("/Users/a \"b\"\\c")];
        assert_eq!(
            profile(&paths),
            r#"(version 1)
(allow default)
(deny file-write*)
(allow file-write*
  (subpath "/private/tmp/scratch")
  (subpath "/Users/a \"b\"\\c")
  (regex #"^/dev/(null|zero|random|urandom|tty|ptmx|ttys[0-9]+|dtracehelper)$"))
(deny signal)
(allow signal (target self))
(allow signal (target same-sandbox))
"#
        );
    }
}
