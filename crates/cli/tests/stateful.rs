//! Servers with state and one bug each that a single call does not show: every bug is found with default settings, shrunk
//! to what a person would write, and kept as a test that fails until it is fixed. The same servers without the bugs stay
//! silent.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use crate::subject;

/// A bug, the finding that shows it, and the number of calls that a person would need. `None` where it cannot be kept as
/// a test: what a server does not give back is measured from outside.
struct Row {
    bug: &'static str,
    rule: &'static str,
    calls: usize,
    is_kept: bool,
}

const fn row(bug: &'static str, rule: &'static str, calls: usize) -> Row {
    Row { bug, rule, calls, is_kept: true }
}

const fn measured(bug: &'static str) -> Row {
    Row { bug, rule: "resource-growth", calls: 350, is_kept: false }
}

const ROWS: &[Row] = &[
    row("batch-deletes-last", "deleted-still-listed", 3),
    row("batch-keeps-first", "created-not-listed", 2),
    row("batch-shifts", "deleted-still-listed", 3),
    row("case-collision", "read-not-as-written", 3),
    row("count-drifts", "count-disagrees", 3),
    row("crash-after-delete", "crash", 3),
    row("cursor-repeats", "pages-disagree", 6),
    row("delete-forgotten", "deleted-still-readable", 3),
    measured("descriptor-leak"),
    row("double-key", "listed-twice", 3),
    row("half-import", "error-changed-state", 3),
    row("id-reuse", "id-reused", 3),
    row("index-keeps-deleted", "deleted-still-readable", 3),
    row("limit-plus-one", "pages-disagree", 4),
    row("list-keeps-title", "list-disagrees", 4),
    row("list-truncated", "created-not-listed", 7),
    row("lost-increment", "no-legal-order", 3),
    row("page-off-by-one", "pages-disagree", 4),
    row("prefix-delete", "created-not-readable", 4),
    row("read-recolors", "read-changed-state", 4),
    row("resource-stale", "deleted-still-listed", 3),
    row("restart-default", "restart-changed-state", 4),
    row("resurrect", "deleted-still-usable", 3),
    row("search-after-delete", "search-disagrees", 3),
    row("search-after-update", "search-disagrees", 3),
    row("second-update-lost", "read-not-as-written", 4),
    row("sort-drops", "pages-disagree", 4),
    row("stale-list", "deleted-still-listed", 4),
    row("stale-read", "read-not-as-written", 4),
    row("tag-twice", "repeat-changed-state", 5),
    measured("temporary-leak"),
    row("update-wipes", "read-not-as-written", 3),
];

fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| subject::build("stateful").display().to_string())
}

fn mcprove(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcprove")).args(args).current_dir(folder).output().expect("mcprove runs")
}

/// Fuzzes a server; its data is a copy of the folder `data`.
fn fuzz(folder: &Path, server: &str, more: &[&str]) -> Output {
    fs::create_dir_all(folder.join("data")).expect("a folder");
    fs::write(folder.join("data/readme.txt"), "data").expect("a file");
    let server = format!("{} {server} --data {{{{fixture}}}}", program());
    let mut args =
        vec!["fuzz", "--stateful", "--include-writes", "--yes", "--fixture", "data", "--server", &server, "--json"];
    args.extend(more);
    mcprove(folder, &args)
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)))
}

fn failures(output: &Output) -> Vec<Value> {
    json(output)["failures"].as_array().cloned().unwrap_or_default()
}

/// Finds a bug, and runs what was saved on the server with the bug and without it.
fn find(row: &Row) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let found = fuzz(folder, row.bug, &["--seed", "1", "--save", "kept"]);
    assert_eq!(found.status.code(), Some(1), "{}: {}", row.bug, String::from_utf8_lossy(&found.stdout));
    let failures = failures(&found);
    let of_rule: Vec<&Value> = failures.iter().filter(|failure| failure["rule"] == row.rule).collect();
    assert!(!of_rule.is_empty(), "{}: {failures:?}", row.bug);
    let least = of_rule.iter().filter_map(|failure| failure["calls"].as_u64()).min().unwrap_or(u64::MAX);
    let least = usize::try_from(least).unwrap_or(usize::MAX);
    assert!(least.abs_diff(row.calls) <= 1, "{}: {least} calls, {} by hand: {of_rule:?}", row.bug, row.calls);
    if !row.is_kept {
        return;
    }
    let file = of_rule
        .iter()
        .find_map(|failure| failure["file"].as_str())
        .unwrap_or_else(|| panic!("{}: not saved: {of_rule:?}", row.bug));
    let run = |fixed: &str| {
        let server = format!("{} {} {fixed} --data {{{{fixture}}}}", program(), row.bug);
        mcprove(folder, &["run", file, "--fixture", "data", "--server", &server])
    };
    let shown = |output: &Output| {
        format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            fs::read_to_string(folder.join(file)).unwrap_or_default()
        )
    };
    let (buggy, fixed) = (run(""), run("--fixed"));
    assert_eq!(buggy.status.code(), Some(1), "{}: the saved test passes on the bug\n{}", row.bug, shown(&buggy));
    assert_eq!(
        fixed.status.code(),
        Some(0),
        "{}: the saved test fails on the fixed server\n{}",
        row.bug,
        shown(&fixed)
    );
}

macro_rules! bugs {
    ($($name:ident: $range:expr;)*) => {$(
        #[test]
        fn $name() {
            ROWS[$range].iter().for_each(find);
        }
    )*};
}

bugs! {
    bugs_are_found_shrunk_and_kept_1: 0..5;
    bugs_are_found_shrunk_and_kept_2: 5..10;
    bugs_are_found_shrunk_and_kept_3: 10..15;
    bugs_are_found_shrunk_and_kept_4: 15..20;
    bugs_are_found_shrunk_and_kept_5: 20..25;
    bugs_are_found_shrunk_and_kept_6: 25..30;
    bugs_are_found_shrunk_and_kept_7: 30..32;
}

#[test]
fn every_bug_has_a_row() {
    let listed = Command::new(program()).arg("--list").output().expect("it runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    let mut rows: Vec<&str> = ROWS.iter().map(|row| row.bug).collect();
    rows.sort_unstable();
    assert_eq!(listed, rows);
}

/// Makes 20,000 calls on a server without a bug, and the pairs of calls and the measurements that go with them.
fn stays_silent(server: &str, seed: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = fuzz(folder.path(), server, &["--seed", seed, "--runs", "20000"]);
    assert_eq!(output.status.code(), Some(0), "{server}: {:#?}", failures(&output));
    assert!(json(&output)["calls"].as_u64().is_some_and(|calls| calls >= 19_900), "{server}");
}

/// The tools are the same for all bugs of a kind, so that a server without one is the twin of all of them.
#[test]
fn twins_without_a_bug_stay_silent() {
    for bug in ["stale-list", "case-collision", "restart-default", "lost-increment", "batch-shifts"] {
        stays_silent(&format!("{bug} --fixed"), "11");
    }
}

fn habits() -> Vec<String> {
    let listed = Command::new(program()).arg("--habits").output().expect("it runs");
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

/// Correct servers that do something a reader of replies does not expect: every fourth one, from this one on.
fn habits_stay_silent(from: usize) {
    let habits = habits();
    assert!(habits.len() > 25, "{habits:?}");
    for habit in habits.iter().skip(from).step_by(4) {
        let folder = tempfile::tempdir().expect("a folder");
        let output =
            fuzz(folder.path(), habit, &["--seed", "7", "--runs", "5000", "--filter", "/^(sequences|interleavings)$/"]);
        assert_eq!(output.status.code(), Some(0), "{habit}: {:#?}", failures(&output));
    }
}

#[test]
fn unusual_servers_stay_silent_1() {
    habits_stay_silent(0);
}

#[test]
fn unusual_servers_stay_silent_2() {
    habits_stay_silent(1);
}

#[test]
fn unusual_servers_stay_silent_3() {
    habits_stay_silent(2);
}

#[test]
fn unusual_servers_stay_silent_4() {
    habits_stay_silent(3);
}

#[test]
fn a_suite_says_what_names_do_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let suite = |links: &str, demands: &str| {
        let text = format!(
            "servers: {{robots: {{command: {}, args: [robots]}}}}\nfuzz:\n  links:\n    - {links}\n  \
             invariants:\n    - {demands}\ntools:\n  - {{name: ledger, tool: ledger, expect: {{not_error: true}}}}\n",
            program()
        );
        fs::write(folder.path().join("robots.yaml"), text).expect("a suite");
    };
    let links = "{thing: robot, key: handle, create: spawn, read: {peek: robot}, delete: {scrap: robot}}";
    let demand = "{tool: ledger, expect: {json_path: {$.balanced: true}}}";
    suite(links, demand);
    let rules = |server: &str, more: &[&str]| -> Vec<String> {
        let output =
            fuzz(folder.path(), server, &[&["--seed", "1", "--runs", "1500", "--save", "kept"][..], more].concat());
        let failures = failures(&output);
        failures.iter().filter_map(|failure| failure["rule"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(rules("robots --broken", &[]), [""; 0], "nothing says what these tools do");
    let mut found = rules("robots --broken", &["--suite", "robots.yaml"]);
    found.sort();
    assert_eq!(found, ["deleted-still-readable", "invariant-broken"]);
    assert_eq!(rules("robots", &["--suite", "robots.yaml"]), [""; 0]);
    // What was found is a test that fails on the broken server only.
    for (server, code) in [("robots --broken", 1), ("robots", 0)] {
        let server = format!("{} {server}", program());
        let run = mcprove(folder.path(), &["run", "kept", "--fixture", "data", "--server", &server]);
        assert_eq!(run.status.code(), Some(code), "{}", String::from_utf8_lossy(&run.stdout));
    }
    // Mistakes are named with their place.
    let refused = |links: &str, demands: &str| -> String {
        suite(links, demands);
        let server = format!("{} robots", program());
        let output = mcprove(
            folder.path(),
            &[
                "fuzz",
                "--stateful",
                "--include-writes",
                "--yes",
                "--runs",
                "20",
                "--server",
                &server,
                "--suite",
                "robots.yaml",
            ],
        );
        assert_ne!(output.status.code(), Some(0));
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
    };
    let text = refused("{thing: robot, read: peak}", demand);
    assert!(
        text.contains("`peak`") && text.contains("did you mean `peek`?") && text.contains("robots.yaml:4"),
        "{text}"
    );
    let text = refused("{key: handle}", demand);
    assert!(text.contains("this link has no `thing`"), "{text}");
    let text = refused(links, "{tool: ledger}");
    assert!(text.contains("this invariant has no `expect`"), "{text}");
    fs::write(
        folder.path().join("robots.yaml"),
        "servers: {r: {command: x}}\nfuzz: {off: [id-reuse]}\ntools: [{name: a, tool: b}]\n",
    )
    .expect("a suite");
    let output = mcprove(folder.path(), &["validate", "robots.yaml"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("unknown invariant `id-reuse`") && text.contains("did you mean `id-reused`?"), "{text}");
}

#[test]
fn wrong_arguments_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "x").expect("a file");
    fs::write(
        folder.path().join("plain.yaml"),
        "servers: {r: {command: x}}\ntools: [{name: a, tool: b, expect: {not_error: true}}]\n",
    )
    .expect("a suite");
    let server = format!("{} stale-list --fixed", program());
    let fuzz = ["fuzz", "--stateful", "--yes", "--server", &server];
    for (args, code, says) in [
        (&["--replay"][..], 2, "--corpus"),
        (&["--corpus", "file"][..], 2, "`file` could not be read"),
        (&["--suite", "plain.yaml"][..], 2, "has no `fuzz`"),
        (&["--suite", "none.yaml"][..], 2, "none.yaml"),
        (&["--corpus", "empty", "--replay"][..], 4, "empty"),
        (&["--fixture", "none"][..], 2, "the fixture folder `none` does not exist"),
    ] {
        let output = mcprove(folder.path(), &[&fuzz[..], args].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?}: {text}");
    }
    for (args, code, says) in [
        (&["diff", "no-such-program", server.as_str()][..], 2, "no-such-program"),
        (&["diff", server.as_str(), server.as_str(), "none.yaml"][..], 2, "none.yaml"),
        (&["diff", server.as_str(), server.as_str(), "--recording", "none.ndjson"][..], 2, "none.ndjson"),
        (&["diff", server.as_str(), server.as_str(), "--recording", "file"][..], 4, "nothing to call"),
        (&["lock", "--breaking-only", "--server", server.as_str()][..], 2, "--check"),
        (&["lock", "--file", "no/such/folder.lock", "--server", server.as_str()][..], 2, "folder.lock"),
    ] {
        let output = mcprove(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(says), "{args:?}: {text}");
    }
}

/// A run that a signal ends keeps its corpus, and the next one begins with it.
#[cfg(unix)]
#[test]
fn an_interrupted_run_is_continued() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("data")).expect("a folder");
    let server = format!("{} stale-list --fixed --data {{{{fixture}}}}", program());
    let args = [
        "fuzz",
        "--stateful",
        "--include-writes",
        "--yes",
        "--fixture",
        "data",
        "--server",
        &server,
        "--seed",
        "3",
        "--runs",
        "100000000",
        "--filter",
        "/^sequences$/",
        "--corpus",
        "corpus",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    let child = command
        .args(args)
        .args(["--events", "run.ndjson"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped());
    let child = child.stderr(std::process::Stdio::piped()).spawn().expect("mcprove runs");
    // The log begins with the run.
    let log = folder.path().join("run.ndjson");
    while !fs::read_to_string(&log).is_ok_and(|text| text.contains("run_started")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("corpus").is_dir(), "what was found until then is kept");
    let mut next: Vec<&str> = args.to_vec();
    next[8..12].clone_from_slice(&["--seed", "4", "--runs", "500"][..]);
    let output = mcprove(folder.path(), &next);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(fs::read_dir(folder.path().join("corpus")).expect("a corpus").count() > 0);
}

#[test]
fn one_seed_gives_the_same_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let sent = |log: &str, jobs: &str| -> Vec<String> {
        let output = fuzz(
            folder.path(),
            "stale-list --fixed",
            &["--seed", "5", "--runs", "400", "--filter", "/^sequences$/", "--events", log, "--jobs", jobs],
        );
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(folder.path().join(log)).expect("a log");
        let frames = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let calls = frames.flat_map(|event| event["calls"].as_array().cloned().unwrap_or_default());
        calls.filter_map(|call| call["request"].as_str().map(str::to_owned)).collect()
    };
    let (one, other) = (sent("one.ndjson", "1"), sent("other.ndjson", "3"));
    assert!(one.len() >= 400, "{}", one.len());
    assert_eq!(one, other);
}

#[test]
fn a_corpus_grows_and_is_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let corpus = folder.path().join("corpus");
    let first = fuzz(
        folder.path(),
        "delete-forgotten --fixed",
        &["--seed", "3", "--runs", "3000", "--filter", "/^sequences$/", "--corpus", "corpus"],
    );
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stdout));
    let files = || fs::read_dir(&corpus).expect("a corpus").count();
    let kept = files();
    assert!(kept > 0);
    let replayed = fuzz(folder.path(), "delete-forgotten", &["--corpus", "corpus", "--replay"]);
    let rules: Vec<Value> = failures(&replayed).iter().map(|failure| failure["rule"].clone()).collect();
    assert!(rules.contains(&Value::from("deleted-still-readable")), "{rules:?}");
    assert_eq!(files(), kept, "a replay adds nothing");
    fs::write(corpus.join("broken.ndjson"), "no json\n").expect("a file");
    let broken = fuzz(folder.path(), "delete-forgotten --fixed", &["--corpus", "corpus", "--replay"]);
    assert_eq!(broken.status.code(), Some(1));
}

/// What is in the folder besides sequences is neither read nor written through.
#[cfg(unix)]
#[test]
fn links_and_pipes_are_no_part_of_a_corpus() {
    let folder = tempfile::tempdir().expect("a folder");
    let corpus = folder.path().join("corpus");
    fs::create_dir(&corpus).expect("a folder");
    fs::write(folder.path().join("outside"), "keep me").expect("a file");
    for (target, name) in [("/dev/zero", "a.ndjson"), ("../outside", "b.ndjson"), ("missing", "c.ndjson")] {
        std::os::unix::fs::symlink(target, corpus.join(name)).expect("linked");
    }
    let replayed = fuzz(folder.path(), "delete-forgotten --fixed", &["--corpus", "corpus", "--replay", "--runs", "20"]);
    let text = String::from_utf8_lossy(&replayed.stdout).into_owned() + &String::from_utf8_lossy(&replayed.stderr);
    assert!(!text.contains("keep me") && !text.contains("could not be read"), "{text}");
    fs::write(corpus.join("d.ndjson"), vec![b'\n'; 65 << 20]).expect("a file");
    let large = fuzz(folder.path(), "delete-forgotten --fixed", &["--corpus", "corpus", "--replay"]);
    assert_eq!(large.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&large.stderr).contains("is larger than 64 MiB"), "{large:?}");
}

#[test]
fn two_versions_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (format!("{} double-key --fixed", program()), format!("{} stale-list --fixed", program()));
    let same = mcprove(folder.path(), &["diff", &one, &one]);
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
    let differ = mcprove(folder.path(), &["diff", &one, &other]);
    let text = String::from_utf8_lossy(&differ.stdout).into_owned();
    // No tool is in both.
    assert_ne!(differ.status.code(), Some(0), "{text}");
    // The same calls of a suite, on a server with a bug and without it.
    let suite = "name: sorted\nserver: {command: none}\nsetup:\n  - {tool: create_note, args: {title: a, text: b}}\n  - {tool: create_note, args: {title: a, text: c}}\nassert:\n  tool: list_notes\n  args: {sort: title}\n  expect: {not_error: true}\n";
    fs::write(folder.path().join("sorted.yaml"), suite).expect("a suite");
    let (good, bad) = (format!("{} sort-drops --fixed", program()), format!("{} sort-drops", program()));
    let equal = mcprove(folder.path(), &["diff", &good, &good, "sorted.yaml"]);
    assert_eq!(equal.status.code(), Some(0), "{}", String::from_utf8_lossy(&equal.stdout));
    let differ = mcprove(folder.path(), &["diff", &good, &bad, "sorted.yaml"]);
    let text = String::from_utf8_lossy(&differ.stdout).into_owned();
    assert_eq!(differ.status.code(), Some(1), "{text}");
    assert!(text.contains("reply-differs") && text.contains("1 replies differ"), "{text}");
}

/// What a tool answers may differ each time; that it answers does not.
#[test]
fn a_result_and_an_error_differ_also_where_the_text_is_unsteady() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = |responses: &str| {
        format!(
            "tools:\n  - {{name: echo, annotations: {{readOnlyHint: true}}, inputSchema: {{type: object}}, responses: [{{{responses}}}]}}\n"
        )
    };
    fs::write(folder.path().join("one.yaml"), manifest("sequence: [x, y, z, v, w]")).expect("written");
    fs::write(folder.path().join("other.yaml"), manifest("error: broken")).expect("written");
    fs::write(folder.path().join("steady.yaml"), manifest("result: x")).expect("written");
    let server = |name: &str| format!("{} mock --tools-from {name}.yaml", env!("CARGO_BIN_EXE_mcprove"));
    for (one, other, code) in [("one", "other", 1), ("one", "steady", 0), ("one", "one", 0)] {
        let output = mcprove(folder.path(), &["diff", &server(one), &server(other)]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{one} {other}: {text}");
        assert_eq!(text.contains("an error instead of a result"), code == 1, "{text}");
    }
}

#[test]
fn a_lockfile_shows_what_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (format!("{} double-key", program()), format!("{} stale-list", program()));
    let lock = |args: &[&str]| mcprove(folder.path(), args);
    assert_eq!(lock(&["lock", "--check", "--server", &one]).status.code(), Some(2), "there is no lockfile yet");
    assert_eq!(lock(&["lock", "--server", &one]).status.code(), Some(0));
    assert_eq!(lock(&["lock", "--check", "--server", &one]).status.code(), Some(0));
    let changed = lock(&["lock", "--check", "--breaking-only", "--server", &other]);
    let text = String::from_utf8_lossy(&changed.stdout).into_owned();
    assert_eq!(changed.status.code(), Some(1), "{text}");
    assert!(text.contains("breaking") && text.contains("tool `set_value`: is gone"), "{text}");
    fs::write(folder.path().join("mcprove.lock"), "{}").expect("a file");
    assert_eq!(lock(&["lock", "--check", "--server", &one]).status.code(), Some(2));
}

#[test]
fn relations_are_proposed_and_hold_or_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let proposed = mcprove(folder.path(), &["fuzz", "--propose", "--server", &format!("{} stale-list", program())]);
    let text = String::from_utf8_lossy(&proposed.stdout).into_owned();
    assert!(text.contains("pages_concatenate") && text.contains("sort_permutes"), "{text}");
    let suite = |bug: &str| {
        format!(
            "name: pages\nserver: {{command: {}, args: [{bug}]}}\nsetup:\n  - {{tool: create_note, args: {{title: a, text: b}}}}\n  - {{tool: create_note, args: {{title: b, text: c}}}}\n  - {{tool: create_note, args: {{title: c, text: d}}}}\nassert:\n  tool: list_notes\n  args: {{}}\n  expect: {{not_error: true}}\n  metamorphic:\n    relations: [idempotent, {{pages_concatenate: {{limit: limit, offset: offset}}}}, {{limit_prefix: {{arg: limit}}}}]\n",
            program()
        )
    };
    for (bug, code) in [("page-off-by-one", 1), ("limit-plus-one", 1), ("stale-list", 0)] {
        fs::write(folder.path().join("pages.yaml"), suite(bug)).expect("a suite");
        let output = mcprove(folder.path(), &["run", "pages.yaml"]);
        assert_eq!(output.status.code(), Some(code), "{bug}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
