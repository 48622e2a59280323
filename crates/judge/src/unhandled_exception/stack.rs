//! Stack traces in text, of the languages that servers are written in.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A stack trace that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Its position in the text.
    pub(crate) range: Range<usize>,
    /// The functions or files of its frames, the innermost as the language writes it.
    pub(crate) frames: Vec<String>,
}

/// The most frames that are kept.
const FRAMES: usize = 12;

/// The most text that is searched.
const LONGEST: usize = 100_000;

/// The frames of one language: the pattern of a line, and true if one line is proof enough.
struct Language {
    frame: &'static str,
    /// Text that must occur for a single frame to count; two frames always count.
    heading: &'static str,
}

const LANGUAGES: &[Language] = &[
    // .NET: `   at App.Tool.Run(String path) in /src/Tool.cs:line 12`
    Language { frame: r"^\s*at (?P<name>[\w.<>`]+)\([^)]*\) in .+:line \d+\s*$", heading: "" },
    // Go: `	/app/main.go:12 +0x1d`
    Language {
        frame: r"^\s+(?:/|[A-Za-z]:).*?(?P<name>[\w.-]+\.go):\d+(?: \+0x[0-9a-f]+)?\s*$",
        heading: "goroutine ",
    },
    // Java, Kotlin: `	at com.example.Tool.run(Tool.java:12)`
    Language {
        frame: r"^\s*at (?P<name>[\w$.]+)\((?:\w+\.(?:java|kt|scala)(?::\d+)?|Native Method|Unknown Source)\)\s*$",
        heading: "Exception",
    },
    // Node: `    at Tool.run (/app/dist/index.js:3:7)`, `    at file:///app/index.mjs:3:7`
    Language {
        frame: r"^\s*at (?:async )?(?:(?P<name>[\w$.<>\[\] ]+?) \()?(?:file://|node:|/|[A-Za-z]:\\|[\w@.-]+/)[^\s()]*:\d+:\d+\)?\s*$",
        heading: "rror",
    },
    // PHP: `#0 /app/tool.php(12): run()`
    Language { frame: r"^#\d+ (?:/|[A-Za-z]:\\)\S+\.php\(\d+\): (?P<name>[\w\\:>-]+)", heading: "" },
    // Python: `  File "/app/server.py", line 12, in run`
    Language { frame: r#"^\s*File "[^"<>]+", line \d+, in (?P<name>\S+)\s*$"#, heading: "Traceback" },
    // Ruby: "/app/tool.rb:12:in `run'"
    Language { frame: r"^\s*(?:from )?\S+\.rb:\d+:in [`'](?P<name>[^']+)'", heading: "" },
    // Rust: `thread 'main' panicked at src/main.rs:3:5:`
    Language { frame: r"panicked at (?:[^\n]*', )?(?P<name>[\w./\\-]+\.rs):\d+:\d+", heading: "" },
];

static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let compiled = LANGUAGES.iter().filter_map(|language| Some((Regex::new(language.frame).ok()?, language.heading)));
    compiled.collect()
});

/// The first stack trace in a text.
pub(crate) fn find(text: &str) -> Option<Trace> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    // Most replies have none of what every frame has.
    if !["at ", "File \"", ".go:", ".php(", ".rb:"].iter().any(|part| text.contains(part)) {
        return None;
    }
    PATTERNS.iter().find_map(|(pattern, heading)| frames_of(text, pattern, heading))
}

fn frames_of(text: &str, pattern: &Regex, heading: &str) -> Option<Trace> {
    let mut frames = Vec::new();
    let mut range: Option<Range<usize>> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let Some(found) = pattern.captures(line.trim_end_matches(['\n', '\r'])) else { continue };
        if frames.len() < FRAMES {
            let name = found.name("name").map_or("anonymous", |name| name.as_str());
            frames.push(name.trim().to_owned());
        }
        let first = range.map_or(start, |range| range.start);
        range = Some(first..offset);
    }
    let range = range?;
    (frames.len() > 1 || text.contains(heading)).then_some(Trace { range, frames })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_every_language_are_found() {
        assert_eq!(PATTERNS.len(), LANGUAGES.len(), "every pattern compiles");
        for (text, frame) in [
            (
                "TypeError: x\n    at Tool.run (/app/dist/index.js:3:7)\n    at async handle (node:internal/x:1:2)",
                "Tool.run",
            ),
            ("Error: boom\n    at file:///app/index.mjs:3:7\n", "anonymous"),
            (
                "Error executing tool: Traceback (most recent call last):\n  File \"/app/server.py\", line 12, in run\n    x()\nKeyError: 'a'",
                "run",
            ),
            ("thread 'main' panicked at src/main.rs:3:5:\nboom", "src/main.rs"),
            ("thread 'tokio' panicked at 'boom', src/lib.rs:10:3", "src/lib.rs"),
            ("panic: boom\n\ngoroutine 1 [running]:\nmain.run(0x1)\n\t/app/main.go:12 +0x1d", "main.go"),
            ("java.lang.NullPointerException\n\tat com.example.Tool.run(Tool.java:12)\n", "com.example.Tool.run"),
            ("System.Exception: x\n   at App.Tool.Run(String path) in /src/Tool.cs:line 12", "App.Tool.Run"),
            ("/app/tool.rb:12:in `run': undefined method", "run"),
            ("PHP Fatal error\n#0 /app/tool.php(12): run()\n", "run"),
        ] {
            let trace = find(text).unwrap_or_else(|| panic!("no trace in {text}"));
            assert_eq!(trace.frames[0], frame, "{text}");
        }
    }

    #[test]
    fn ordinary_text_has_no_trace() {
        for text in [
            "",
            "Meet me at the station at 12:30:15",
            "at 10:30:00 the job began",
            "error at line 3, column 7",
            "Syntax error at foo.js:3:7",
            "  File \"<string>\", line 1, in <module>\nSyntaxError: invalid syntax",
            "File \"report.pdf\", line 3, in the appendix",
            "Look at (the/docs:1:2)",
            "src/main.go:12: unused variable",
            "I was panicked at the time",
            "Not found at https://example.com/a/b:80:1",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
