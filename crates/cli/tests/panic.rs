//! A panic of ours in the middle of a run: it reaches whoever started the run, and nothing is left of the servers, of what
//! they started, and of the copies they worked on.
#![cfg(unix)]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mcprove_engine::{PlanOptions, Progress, RunOptions, Sink, Stopper, Storing, plan, run};
use mcprove_model::{Case, Check, Event, Mismatch, Observation, PlannedCheck, Span};
use mcprove_suite::load::{LoadOptions, load};

use crate::processes::processes_in;

/// A server that does not want to go, nor does its child.
const SERVER: &str = r#"trap '' TERM INT HUP
(trap '' TERM INT HUP; while :; do sleep 0.1; done) </dev/null >/dev/null 2>&1 &
reply() { echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"result\":$2}"; }
while read -r line; do
  case $line in
    *'"initialize"'*) reply 1 '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/call"'*) touch called; reply 2 '{"content":[]}' ;;
  esac
done
while :; do sleep 0.1; done
"#;

/// Judges as if it had a bug.
#[derive(Debug)]
struct Buggy {
    home: PathBuf,
}

impl Check for Buggy {
    fn judge(&self, _: &Observation) -> Result<(), Mismatch> {
        assert!(!processes_in(&self.home).is_empty(), "the servers live");
        panic!("a bug of a check");
    }
}

/// Nobody listens.
struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, _: Event) {}
    fn progress(&mut self, _: &Progress<'_>) {}
}

#[test]
fn a_panic_in_a_worker_is_told_and_leaves_nothing_behind() {
    for jobs in [1, 4] {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a path");
        let marker = home.file_name().expect("a name").to_owned();
        let cases = cases(&home, &marker.to_string_lossy());
        let plan = plan(&cases, &PlanOptions::default());
        let (_stopper, stop) = Stopper::pair();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
            runtime.block_on(run(&plan, options(jobs), stop, &mut Deaf));
        }));
        let payload = panicked.expect_err("the panic reaches us");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"a bug of a check"), "with {jobs} jobs");
        assert!(home.join("called").exists(), "a server was in the middle of its work");
        assert_eq!(left(&home, &marker), Vec::<String>::new(), "with {jobs} jobs");
    }
}

/// Three cases, each with a server and a copy of a fixture; the first check that judges has a bug.
fn cases(home: &Path, marker: &str) -> Vec<Arc<Case>> {
    fs::create_dir_all(home.join("suite/fixtures")).expect("a folder");
    fs::write(home.join("suite/fixtures").join(marker), "x").expect("a file");
    fs::write(home.join("server.sh"), SERVER).expect("a file");
    for name in ["a", "b", "c"] {
        let text = format!(
            "name: {name}\nserver: {{ command: sh, args: [server.sh], cwd: '{}' }}\n\
             assert:\n  tool: t\n  args: {{ path: \"{{{{fixture}}}}\" }}\n  expect: {{ not_error: true }}\n",
            home.display()
        );
        fs::write(home.join(format!("suite/{name}.yaml")), text).expect("a file");
    }
    let options = LoadOptions { environment: &|_| None, known_variables: &[], fixture: None, server: None, ci: false };
    let loaded = load(&[home.join("suite")], &options);
    assert_eq!((loaded.cases.len(), loaded.findings.len()), (3, 0), "{:?}", loaded.findings);
    let buggy = || PlannedCheck {
        name: "buggy",
        span: Span::default(),
        weight: 1.0,
        check: Arc::new(Buggy { home: home.to_owned() }),
    };
    let with_bug = |case: Arc<Case>| {
        let mut case = Arc::unwrap_or_clone(case);
        case.expect.templated = None;
        case.expect.checks = vec![buggy()];
        Arc::new(case)
    };
    loaded.cases.into_iter().map(with_bug).collect()
}

fn options(jobs: usize) -> RunOptions {
    RunOptions {
        jobs,
        one_by_one: false,
        cores: 2,
        timeout: Duration::from_secs(30),
        strict: false,
        fail_fast: false,
        keep_frames: false,
        own_program: PathBuf::from("mcprove"),
        program: "mcprove".to_owned(),
        started_unix_ms: 0,
        findings: Vec::new(),
        fix: false,
        record: false,
        no_model: false,
        probe_timeout: Duration::from_secs(2),
        prestart: false,
        isolation: None,
        is_whole: false,
        storing: Storing::Compare,
        again: Vec::new(),
        limits: mcprove_wire::Limits::default(),
        environment: Arc::new([]),
        tokens: mcprove_wire::Tokens::default(),
    }
}

/// Processes of the servers, and copies of the fixture; what was killed takes a moment to go.
fn left(home: &Path, marker: &std::ffi::OsStr) -> Vec<String> {
    let began = Instant::now();
    loop {
        let mut left = processes_in(home);
        let folders = fs::read_dir(std::env::temp_dir()).expect("a folder").flatten();
        let copies = folders.filter(|entry| entry.path().join("fixtures").join(marker).exists());
        left.extend(copies.map(|entry| entry.path().display().to_string()));
        if left.is_empty() || began.elapsed() > Duration::from_secs(10) {
            return left;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
