//! However a run ends, no process and no temporary file of it is left: not of the server, not of what the server
//! started, and not when mcprove itself is killed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::processes::processes_in;

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

/// A server that answers the handshake, starts a child that wants to stay, says so, and never answers a call. It does
/// not want to go itself either.
const SERVER: &str = r#"trap '' TERM INT HUP
touch "started.$$"
(trap '' TERM INT HUP; while :; do sleep 0.1; done) </dev/null >/dev/null 2>&1 &
while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}' ;;
    *'"tools/call"'*) touch called ;;
  esac
done
while :; do sleep 0.1; done
"#;

struct Place {
    _folder: tempfile::TempDir,
    home: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a path");
        fs::create_dir_all(home.join("suite/fixtures/deep")).expect("a folder");
        fs::create_dir(home.join("tmp")).expect("a folder");
        fs::write(home.join("suite/fixtures/deep/file.txt"), "x").expect("a file");
        fs::write(home.join("server.sh"), SERVER).expect("a file");
        let server = format!("{{ command: sh, args: [server.sh], cwd: '{}' }}", home.display());
        let case = format!(
            "server: {server}\nassert:\n  tool: t\n  args: {{ path: \"{{{{fixture}}}}\" }}\n  expect: {{ not_error: true }}\n"
        );
        for name in ["a", "b"] {
            fs::write(home.join(format!("suite/{name}.yaml")), format!("name: {name}\n{case}")).expect("a file");
        }
        Self { _folder: folder, home }
    }

    fn start(&self, args: &[&str]) -> Child {
        let mut command = Command::new(MCPROVE);
        command
            .arg("run")
            .arg(self.home.join("suite"))
            .args(args)
            .current_dir("/")
            .env("TMPDIR", self.home.join("tmp"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("mcprove starts")
    }

    /// Waits until the server is in the middle of a call; nothing but the file tells us.
    fn until_called(&self) {
        let began = Instant::now();
        while !self.home.join("called").exists() {
            assert!(began.elapsed() < Duration::from_secs(20), "the tool was not called");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until as many servers have been started.
    fn until_started(&self, servers: usize) {
        let began = Instant::now();
        let started = || {
            let files = fs::read_dir(&self.home).expect("a folder").map(|entry| entry.expect("an entry").file_name());
            files.filter(|name| name.to_string_lossy().starts_with("started.")).count()
        };
        while started() < servers {
            assert!(began.elapsed() < Duration::from_secs(20), "{servers} servers were not started");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What is left, given the time that a watchdog takes.
    fn left(&self, patience: Duration) -> Vec<String> {
        let began = Instant::now();
        loop {
            let mut left = processes_in(&self.home);
            let files = fs::read_dir(self.home.join("tmp")).expect("a folder");
            left.extend(files.map(|entry| entry.expect("an entry").path().display().to_string()));
            if left.is_empty() || began.elapsed() > patience {
                return left;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What is done to a run, and the code it ends with; none where it is killed.
const ENDINGS: &[(&str, &[&str], Option<i32>)] = &[
    ("a timeout", &[], Some(1)),
    ("SIGINT once", &["INT"], Some(130)),
    ("SIGINT twice", &["INT", "INT"], Some(130)),
    ("SIGTERM", &["TERM"], Some(130)),
    ("SIGHUP", &["HUP"], Some(130)),
    ("SIGKILL", &["KILL"], None),
];

#[test]
fn nothing_is_left_however_it_ends() {
    for jobs in ["1", "2"] {
        for (ending, signals, code) in ENDINGS {
            let place = Place::new();
            let timeout = if signals.is_empty() { "1s" } else { "60s" };
            let mut child = place.start(&["--jobs", jobs, "--timeout", timeout]);
            place.until_called();
            if !signals.is_empty() {
                assert!(!place.left(Duration::ZERO).is_empty(), "there is something to leave behind");
            }
            for signal in *signals {
                let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
                assert!(status.expect("kill runs").success());
                thread::sleep(Duration::from_millis(30));
            }
            let ended = child.wait().expect("an end");
            assert_eq!(ended.code(), *code, "{ending} with {jobs} jobs");
            // Whoever is killed cannot wait for its watchdog; everybody else has cleaned up by the time it ends.
            let patience = if code.is_none() { Duration::from_secs(5) } else { Duration::ZERO };
            assert_eq!(place.left(patience), Vec::<String>::new(), "{ending} with {jobs} jobs");
        }
    }
}

#[test]
fn nothing_is_left_of_a_prestarted_server() {
    for (ending, signals, code) in ENDINGS {
        let place = Place::new();
        let timeout = if signals.is_empty() { "1s" } else { "60s" };
        let mut child = place.start(&["--jobs", "1", "--prestart", "--timeout", timeout]);
        place.until_called();
        place.until_started(2);
        for signal in *signals {
            let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
            assert!(status.expect("kill runs").success());
            thread::sleep(Duration::from_millis(30));
        }
        let ended = child.wait().expect("an end");
        assert_eq!(ended.code(), *code, "{ending}");
        let patience = if code.is_none() { Duration::from_secs(5) } else { Duration::ZERO };
        assert_eq!(place.left(patience), Vec::<String>::new(), "{ending}");
    }
}

#[test]
fn the_watchdog_ends_with_us() {
    let place = Place::new();
    let child = place.start(&["--timeout", "300ms"]);
    let id = child.id();
    place.until_called();
    let dogs = watchdogs_of(id);
    assert_eq!(dogs.len(), 1, "there is one, however many servers");
    let output = child.wait_with_output().expect("an end");
    assert!(BufReader::new(output.stdout.as_slice()).lines().count() > 2);
    let began = Instant::now();
    while dogs.iter().any(|dog| Path::new(&format!("/proc/{dog}/cmdline")).exists() && !is_zombie(*dog)) {
        assert!(began.elapsed() < Duration::from_secs(5), "it is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

fn watchdogs_of(parent: u32) -> Vec<u32> {
    let is_dog = |id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let is_child = after_name.split_whitespace().nth(1) == Some(parent.to_string().as_str());
        is_child && fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|text| text.contains("__watchdog"))
    };
    let ids = fs::read_dir("/proc").expect("processes");
    ids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).filter(is_dog).collect()
}

fn is_zombie(id: u32) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|s| s.starts_with(" Z")))
}
