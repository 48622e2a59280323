//! The rules of the house that a machine can check (see ARCHITECTURE.md, "Invariants").

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, MetadataCommand};
use regex::Regex;

use crate::sources::{product_lines, sources};

/// The crates that each crate may depend on.
const ROOMS: &[(&str, &[&str])] = &[
    ("mcprove-model", &[]),
    ("mcprove-judge", &["mcprove-model"]),
    ("mcprove-suite", &["mcprove-judge", "mcprove-model"]),
    ("mcprove-wire", &["mcprove-model"]),
    ("mcprove-mock", &["mcprove-judge", "mcprove-model", "mcprove-suite", "mcprove-wire"]),
    ("mcprove-engine", &["mcprove-judge", "mcprove-mock", "mcprove-model", "mcprove-suite", "mcprove-wire"]),
    ("mcprove-report", &["mcprove-model"]),
];

/// Rooms without async, clock, environment, network or processes; the second list is allowed to read files.
const PURE: &[&str] = &["model", "judge", "suite", "report"];
const READS_FILES: &[&str] = &["suite/src/load/bounded_read.rs", "suite/src/load/folder.rs"];

/// Where connections come in rather than go out: the listener of the mock, the page of `mcprove ui`, and the redirect of a login.
const LISTENS: &[&str] =
    &["mock/src/http/listener.rs", "cli/src/ui/server.rs", "engine/src/host/servers.rs", "wire/src/oauth/redirect.rs"];

const IMPURE: &[&str] =
    &["async fn", "tokio", "std::time::Instant", "SystemTime", "std::env::", "env::var", "std::net", "std::process"];

#[test]
fn rooms_depend_only_on_the_rooms_they_may() {
    let metadata = MetadataCommand::new().no_deps().exec().expect("cargo metadata");
    for (room, allowed) in ROOMS {
        let package = metadata.packages.iter().find(|p| p.name.as_str() == *room).expect("the room exists");
        let ours =
            package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal && d.name.starts_with("mcprove"));
        for dependency in ours {
            assert!(allowed.contains(&dependency.name.as_str()), "{room} may not depend on {}", dependency.name);
        }
    }
    for package in &metadata.packages {
        let uses_sdk = package.dependencies.iter().any(|d| d.name == "rmcp" && d.kind == DependencyKind::Normal);
        let is_subject = package.manifest_path.as_str().contains("/tests/subjects/");
        assert!(!uses_sdk || is_subject, "{} uses an SDK; it belongs to test subjects only", package.name);
    }
}

#[test]
fn pure_rooms_stay_pure() {
    for file in sources().iter().filter(|file| PURE.iter().any(|room| in_room(file, room))) {
        let code = product_lines(&fs::read_to_string(file).expect("readable"));
        for word in IMPURE {
            assert!(!code.contains(word), "{} must not use `{word}`", file.display());
        }
        let may_read = READS_FILES.iter().any(|path| file.ends_with(path));
        assert!(may_read || !code.contains("std::fs"), "{} must not read files", file.display());
    }
}

#[test]
fn only_wire_opens_sockets_and_starts_processes_and_only_the_command_line_prints() {
    for file in sources() {
        let code = product_lines(&fs::read_to_string(&file).expect("readable"));
        if !in_room(&file, "wire") {
            let may_listen = LISTENS.iter().any(|path| file.ends_with(path));
            assert!(may_listen || !code.contains("Listener::bind"), "{} must not listen", file.display());
            for word in ["tokio::net", "tokio::process", "std::net", "process::Command"] {
                assert!(!code.contains(word), "{} must not use `{word}`", file.display());
            }
        }
        if !in_room(&file, "cli") {
            for word in ["std::env::var", "io::stdout()", "io::stderr()", "process::exit"] {
                assert!(!code.contains(word), "{} must not use `{word}`", file.display());
            }
        }
    }
}

/// Where standard output and standard error are written directly, each with a reason. Everything else goes through
/// `stdout::print` and `Context::write_stderr`, which escape what a terminal or a CI system would obey.
const WRITES_DIRECTLY: &[(&str, &str)] = &[
    ("stdout.rs", "it is the function"),
    ("expression_process.rs", "is a child process; its output is read by mcprove"),
    ("context.rs", "it is the function, and asks questions of our own"),
    ("lib.rs", "prints what clap made of the command line, and bugs of our own"),
    ("run_sink.rs", "the terminal reporter escapes every text, which a property test shows"),
    ("spinner.rs", "a line of our own whose one name is escaped"),
    ("catalog_report.rs", "writes lines of `OneLine` and escaped JSON by the thousand"),
    ("interception_log.rs", "one escaped line per call, on a channel"),
    ("explore/answers.rs", "one escaped line about an answer that does not fit"),
    ("explore/arguments.rs", "one escaped line about an argument that does not fit"),
    ("commands/host.rs", "passes on a conversation, byte for byte"),
    ("commands/intercept.rs", "passes on a conversation, byte for byte"),
    ("commands/mcp.rs", "is a server on standard output"),
    ("commands/mock.rs", "is a server on standard output"),
    ("commands/report.rs", "the terminal reporter escapes every text, which a property test shows"),
    ("commands/watch.rs", "flushes"),
];

#[test]
fn nothing_printed_bypasses_the_escape_function() {
    for file in sources().iter().filter(|file| in_room(file, "cli")) {
        let code = product_lines(&fs::read_to_string(file).expect("readable"));
        let writes = ["stdout()", "stderr()", "println!", "eprintln!", "print!(", "eprint!("];
        let is_listed = WRITES_DIRECTLY.iter().any(|(path, _)| file.ends_with(Path::new("cli/src").join(path)));
        let found = writes.iter().find(|word| code.contains(**word));
        assert!(is_listed || found.is_none(), "{} writes with `{}`", file.display(), found.unwrap_or(&""));
    }
}

#[test]
fn files_are_small_or_say_why_not() {
    for file in sources() {
        let text = fs::read_to_string(&file).expect("readable");
        let explained = text.lines().take(12).any(|line| line.contains("Long because"));
        assert!(text.lines().count() <= 520 || explained, "{} is over 500 lines", file.display());
        assert!(text.starts_with("//!"), "{} must begin by saying what it is", file.display());
    }
}

fn in_room(file: &Path, room: &str) -> bool {
    file.to_string_lossy().contains(&format!("/crates/{room}/src/"))
}

#[test]
fn one_loop_makes_the_events_of_a_run() {
    // One loop begins and ends runs; a conversation that is intercepted is recorded, not run.
    let allowed = ["engine/src/run.rs", "engine/src/interception.rs", "cli/src/execution.rs"];
    for file in sources().into_iter().filter(|file| !file.ends_with("tests.rs")) {
        let is_allowed = file.ends_with("tests.rs") || allowed.iter().any(|path| file.ends_with(path));
        let makes = |code: &str| {
            code.contains("Event::RunStarted(RunStarted {") || code.contains("Event::RunFinished(RunFinished {")
        };
        let code = product_lines(&fs::read_to_string(&file).expect("readable"));
        assert!(is_allowed || !makes(&code), "{} must not have a run loop; make a plan", file.display());
    }
}

#[test]
fn product_lines_are_all_but_test_items() {
    let text = "a\n#[cfg(test)]\nmod tests {\n    x\n}\nb\n#[cfg(test)]\nuse c;\nd\n";
    assert_eq!(product_lines(text), "a\nb\nd\n");
}

#[test]
fn the_page_of_the_architecture_names_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let named = page.split('`').skip(1).step_by(2).filter(|name| name.contains("/src/") && !name.contains('<'));
    for name in named {
        assert!(root.join("crates").join(name).exists(), "ARCHITECTURE.md names `{name}`");
    }
}

#[test]
fn the_page_of_the_architecture_has_a_line_for_each_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the page");
    let crates = root.join("crates").canonicalize().expect("crates/");
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources() {
        let folder = file.parent().expect("a folder").strip_prefix(&crates).expect("in crates/");
        *folders.entry(folder.display().to_string()).or_default() += 1;
    }
    let missing: Vec<&String> = folders
        .iter()
        .filter(|(folder, files)| **files > 1 && !folder.ends_with("src"))
        .map(|(folder, _)| folder)
        .filter(|folder| !page.contains(&format!("\n- `{folder}/`: ")))
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md has no line for {missing:?}");
}

/// Phrases that readers trip over, and what to write instead. Text in backticks is code and may hold anything.
const PLAIN: &[(&str, &str)] = &[
    (r"(?i)^(what|whether|who|how) [a-z]", "begin with a noun phrase or a verb: \"True if …\", \"Number of …\""),
    (r"(?i)\b(told|tells?)\b", "report, print, show, list"),
    (r"(?i)\b(nobody|somebody|everybody|anybody|whoever)\b", "the user, the caller, readers; \"unhandled\""),
    (r"(?i)\bwhat (it |they )?(came|comes|became|becomes)\b|\b(came|became) of\b", "result, outcome, reply"),
    (r"(?i)\bmend(s|ed|ing)?\b", "fix"),
    (r"(?i)\b(this|it|that|which|text|value) (is|are|was|were) no ([a-km-z]|l[^o])", "is not a …; invalid …"),
    (r"(?i)\bbeside( |$)", "next to, in addition to; \"mutually exclusive\""),
    (r"(?i)\bstands? (inside|behind|where|there|under|in the way)\b|\bas it stands\b", "is"),
    (r"(?i)\bside by side\b", "concurrently, in parallel"),
    (r"(?i)\b(heard|hears|overheard)\b", "received, recorded"),
    (r"(?i)\bma(de|kes?) (\w+ )?small\b", "shrink"),
    (r"(?i)\ball the same\b|\bfor want of\b", "still; because of a missing …"),
];

/// Files that may hold [`PLAIN`] phrases, each with a reason.
const MAY_HOLD_PHRASES: &[(&str, &str)] = &[("judge/src/hidden_text.rs", "it has the words of attacks")];

#[test]
fn comments_messages_and_pages_are_in_plain_words() {
    let patterns: Vec<(Regex, &str)> =
        PLAIN.iter().map(|(pattern, instead)| (Regex::new(pattern).expect("a pattern"), *instead)).collect();
    let code = Regex::new(r"`[^`]*`|\{[^{}]*\}").expect("a pattern");
    let literal = Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a pattern");
    let mut found = Vec::new();
    let mut check = |file: &Path, number: usize, text: &str| {
        let text = code.replace_all(text, "");
        for (pattern, instead) in &patterns {
            if let Some(phrase) = pattern.find(text.trim()) {
                found.push(format!("{}:{number}: `{}`: write {instead}", file.display(), phrase.as_str()));
            }
        }
    };
    for file in sources().iter().filter(|file| !MAY_HOLD_PHRASES.iter().any(|(path, _)| file.ends_with(path))) {
        for (number, line) in fs::read_to_string(file).expect("readable").lines().enumerate() {
            let line = line.trim();
            // Only doc comments are kept from beginning with some words.
            let mut check_rest = |text: &str| check(file, number + 1, &format!("… {text}"));
            match (line.strip_prefix("///").or(line.strip_prefix("//!")), line.strip_prefix("//")) {
                (Some(doc), _) => check(file, number + 1, doc),
                (None, Some(comment)) => check_rest(comment),
                // Short literals are keys and names.
                (None, None) => {
                    literal
                        .captures_iter(line)
                        .filter(|text| text[1].len() >= 12)
                        .for_each(|text| check_rest(&text[1]));
                }
            }
        }
    }
    for file in pages() {
        let mut is_code = false;
        for (number, line) in fs::read_to_string(&file).expect("readable").lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            if !is_code && !line.starts_with('#') {
                check(&file, number + 1, &format!("… {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The pages of the documentation; help, finding texts and key descriptions are in those that are generated.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let at_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name));
    pages.chain(at_root).collect()
}

/// A file that no module names is a test that never runs.
#[test]
fn every_test_file_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let modules = fs::read_to_string(folder.join("main.rs")).expect("main.rs");
    let forgotten = |path: PathBuf| {
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let is_test = path.extension().is_some_and(|extension| extension == "rs") && name != "main";
        (is_test && !modules.contains(&format!("mod {name};"))).then_some(name)
    };
    let entries = fs::read_dir(&folder).expect("tests").map(|entry| entry.expect("an entry").path());
    assert_eq!(entries.filter_map(forgotten).collect::<Vec<_>>(), Vec::<String>::new());
}
