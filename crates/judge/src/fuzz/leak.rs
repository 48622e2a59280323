//! Secrets that a reply should not reveal: values of the environment, and the location of the server's sources.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use regex::Regex;

use crate::unhandled_exception::Echo;

/// Shorter values are too ordinary to be a secret.
const SHORTEST: usize = 8;

/// A system file that a way out of the folder leads to.
struct SystemFile {
    /// Beginning of one of its lines.
    line: &'static str,
    name: &'static str,
    /// Text that the request must contain, since tools may produce such output by themselves.
    asked: Option<&'static str>,
}

const SYSTEM_FILES: &[SystemFile] = &[
    SystemFile { line: "root:x:0:0:", name: "/etc/passwd", asked: None },
    SystemFile { line: "root:*:0:0:", name: "/etc/passwd", asked: None },
    SystemFile { line: "Linux version ", name: "/proc/version", asked: Some("proc/version") },
    SystemFile {
        line: "<key>ProductBuildVersion</key>",
        name: "SystemVersion.plist",
        asked: Some("SystemVersion.plist"),
    },
    SystemFile { line: "; for 16-bit app support", name: "win.ini", asked: None },
    SystemFile { line: "[boot loader]", name: "boot.ini", asked: None },
];

/// A path to source code: absolute, with a file name that only programs have.
static SOURCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = concat!(
        r#"(?:^|[\s"'`(\[<=,]|file://)"#,
        r"(?P<path>(?:/(?:[\w.@+-]+/)+|[A-Za-z]:\\(?:[^\\\s:]+\\)+)",
        r"(?P<file>[\w.@+-]+\.(?:cjs|cs|ex|go|java|js|kt|mjs|mts|php|py|rb|rs|ts)))\b",
    );
    Regex::new(pattern).ok()
});

/// The first line of a system file that no tool has reason to show: a way out of the folder was found.
pub(crate) fn system_file(text: &str, echo: &Echo<'_>) -> Option<String> {
    if !SYSTEM_FILES.iter().any(|file| text.contains(file.line)) {
        return None;
    }
    let known = |line: &str| {
        let asked = |file: &SystemFile| file.asked.is_none_or(|path| echo.repeats(path));
        SYSTEM_FILES.iter().find(|file| line.trim_start().starts_with(file.line) && asked(file))
    };
    let file = text.lines().find_map(|line| known(line).filter(|_| !echo.repeats(line)))?;
    Some(format!("the content of {} in the reply", file.name))
}

/// Values of a server's environment that its replies should not hold, ready to be looked for in many of them.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentValues {
    finders: Vec<Finder<'static>>,
}

impl EnvironmentValues {
    /// Takes those of the values that would not be in a reply by chance.
    pub fn new(values: &[String]) -> Self {
        let telling = values.iter().filter(|value| is_telling(value));
        Self { finders: telling.map(|value| Finder::new(value).into_owned()).collect() }
    }

    /// Says which value a text gives away; what the arguments held is not given away.
    pub(crate) fn find(&self, text: &str, echo: &Echo<'_>) -> Option<String> {
        let value = self.finders.iter().find_map(|finder| {
            let value = std::str::from_utf8(finder.needle()).ok()?;
            (has_word(text, finder) && !echo.repeats(value)).then_some(value)
        })?;
        Some(format!("a value of the server's environment in the reply ({} characters)", value.chars().count()))
    }
}

/// Those of the values that would not be in a reply by chance: they are masked wherever a run is shown.
pub fn secret_values(values: &[String]) -> impl Iterator<Item = &str> {
    values.iter().map(String::as_str).filter(|value| is_telling(value))
}

/// The first absolute path to source code that the arguments did not name.
pub(crate) fn source_path<'t>(text: &'t str, echo: &Echo<'_>) -> Option<&'t str> {
    let text = &text[..text.floor_char_boundary(20_000)];
    // No path without a separator, and no file name without a dot.
    if memchr::memchr2(b'/', b'\\', text.as_bytes()).is_none() || !text.contains('.') {
        return None;
    }
    SOURCE.as_ref()?.captures_iter(text).find_map(|found| {
        let (path, file) = (found.name("path")?, found.name("file")?);
        // A tool that works on source files speaks of those it was asked for.
        (!echo.repeats(file.as_str())).then_some(path.as_str())
    })
}

/// True if a value is one that would not be in a reply by chance.
fn is_telling(value: &str) -> bool {
    let (mut letters, mut digits, mut others) = (0, 0, 0);
    for letter in value.chars() {
        match letter {
            _ if letter.is_alphabetic() => letters += 1,
            _ if letter.is_numeric() => digits += 1,
            _ => others += 1,
        }
    }
    let long = value.chars().count() >= SHORTEST;
    let path = value.starts_with(['/', '.', '~']) || value.get(1..3) == Some(":\\");
    let ordinary = value.starts_with("xterm") || value.contains("UTF-8") || value.starts_with("localhost");
    let mixed = letters > 0 && digits > 0 || letters > 0 && others > 0 && letters + others >= 16;
    long && mixed && !path && !ordinary && !value.contains(char::is_whitespace)
}

/// True if a text has a value, not as a part of a longer word.
fn has_word(text: &str, value: &Finder<'_>) -> bool {
    value.find_iter(text.as_bytes()).any(|at| {
        let before = text[..at].chars().next_back();
        let after = text[at + value.needle().len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_found_and_never_shown_whole() {
        let values = ["sk-live-12345abc".to_owned(), "production".to_owned(), "/usr/bin:/bin".to_owned()];
        let values = EnvironmentValues::new(&values);
        let nothing = json!({});
        let echo = Echo::of(&nothing);
        let told = values.find("key=sk-live-12345abc;", &echo).expect("found");
        assert!(!told.contains("sk-"), "{told}");
        let all = ["sk-live-12345abc".to_owned(), "production".to_owned()];
        assert_eq!(secret_values(&all).collect::<Vec<_>>(), ["sk-live-12345abc"]);
        for text in ["in production", "PATH is /usr/bin:/bin", "sk-live-12345abcdef", ""] {
            assert_eq!(values.find(text, &echo), None, "{text}");
        }
        let sent = json!({"key": "sk-live-12345abc"});
        assert_eq!(values.find("bad key sk-live-12345abc", &Echo::of(&sent)), None);
        for ordinary in
            ["true", "3000", "12345678901", "xterm-256color", "en_US.UTF-8", "localhost:3000", "development"]
        {
            assert!(!is_telling(ordinary), "{ordinary}");
        }
    }

    #[test]
    fn system_files_are_recognised() {
        let nothing = json!({});
        let none = Echo::of(&nothing);
        assert!(system_file("a\nroot:x:0:0:root:/root:/bin/bash\n", &none).is_some());
        assert_eq!(system_file("no such file: /etc/passwd", &none), None);
        assert_eq!(system_file("Linux version 6.1", &none), None);
        assert!(system_file("Linux version 6.1", &Echo::of(&json!({"path": "../proc/version"}))).is_some());
        assert_eq!(system_file("the first line begins with root:x:0:0:", &none), None);
        assert_eq!(system_file("root:x:0:0:", &Echo::of(&json!(["root:x:0:0:"]))), None);
    }

    #[test]
    fn source_paths_are_found_unless_they_were_asked_for() {
        let nothing = json!({});
        let none = Echo::of(&nothing);
        assert_eq!(source_path("failed in /app/dist/index.js:3", &none), Some("/app/dist/index.js"));
        assert_eq!(source_path("at file:///home/me/server.py", &none), Some("/home/me/server.py"));
        assert_eq!(source_path(r"C:\Users\me\app\tool.cs failed", &none), Some(r"C:\Users\me\app\tool.cs"));
        for text in [
            "see https://example.com/lib/app.js",
            "ENOENT: no such file or directory, open '/tmp/notes.txt'",
            "access denied: /etc/passwd is outside /tmp/allowed",
            "src/main.rs was not found",
            "/usr/bin/env",
        ] {
            assert_eq!(source_path(text, &none), None, "{text}");
        }
        let asked = json!({"path": "src/main.rs"});
        assert_eq!(source_path("cannot open /app/src/main.rs", &Echo::of(&asked)), None);
    }
}
