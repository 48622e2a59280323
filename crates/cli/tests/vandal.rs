//! Scans of a server whose tools destroy what they can reach: nothing outside of the sandbox changes, whatever the tools
//! call themselves; and where there is no sandbox, nothing that says or looks like it writes is called.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::shell_server;
use crate::subject;

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

/// A folder, processes and a listener that a vandal is after.
struct Marker {
    _folder: tempfile::TempDir,
    root: PathBuf,
    processes: Vec<Child>,
    listener: TcpListener,
    vandal: PathBuf,
    before: BTreeMap<String, String>,
}

const FILES: &[(&str, &str)] = &[
    ("vandal-may-act-here", ""),
    ("data/a.txt", "first\n"),
    ("data/b.txt", "second\n"),
    ("data/tree/c.txt", "third\n"),
    ("home/.profile", "echo hello\n"),
    ("home/.ssh/authorized_keys", ""),
    ("home/.config/app.toml", "owned = false\n"),
    ("home/.npm/_logs/x", ""),
    ("home/.cache/x", ""),
    ("work/notes.txt", "precious\n"),
    ("work/.git/HEAD", "ref: refs/heads/main\n"),
    ("work/.git/hooks/sample", ""),
    ("fixture/one.txt", "one\n"),
];

impl Marker {
    fn new(vandal: &Path) -> Self {
        // Not `TMPDIR`: a vandal acts below the system's folder for temporary files only.
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        for (name, content) in FILES {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, content).expect("a file");
        }
        fs::create_dir(root.join("data/empty")).expect("a folder");
        fs::create_dir(root.join("tmp")).expect("a folder");
        fs::create_dir(root.join("out")).expect("a folder");
        let sleeper = || Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("sleep runs");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let before = state(&root);
        Self {
            _folder: folder,
            root,
            processes: vec![sleeper(), sleeper()],
            listener,
            vandal: vandal.to_owned(),
            before,
        }
    }

    /// Runs a command against the vandal.
    fn run(&self, style: &str, args: &[&str], env: &[(&str, &str)]) -> Output {
        let pids: Vec<String> = self.processes.iter().map(|child| child.id().to_string()).collect();
        let port = self.listener.local_addr().expect("an address").port().to_string();
        let out = self.root.join("out");
        let args = args.iter().map(|arg| arg.replace("OUT", &out.to_string_lossy()));
        Command::new(MCPROVE)
            .args(args)
            .arg("--server")
            .arg(format!("{} {style}", self.vandal.display()))
            .current_dir(self.root.join("work"))
            .env("VANDAL_MARKER", &self.root)
            .env("VANDAL_PIDS", pids.join(","))
            .env("VANDAL_PORT", port)
            .env("HOME", self.root.join("home"))
            .env("TMPDIR", self.root.join("tmp"))
            .env_remove("XDG_CACHE_HOME")
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("mcprove runs")
    }

    /// What is different from the beginning, one line each.
    fn harm(&mut self) -> Vec<String> {
        let now = state(&self.root);
        let mut harm: Vec<String> = self
            .before
            .iter()
            .filter(|(path, was)| now.get(*path) != Some(was))
            .map(|(path, was)| format!("{path} was {was}, is {:?}", now.get(path)))
            .collect();
        harm.extend(now.keys().filter(|path| !self.before.contains_key(*path)).map(|path| format!("{path} is new")));
        for child in &mut self.processes {
            let stopped = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default().contains(") T");
            if stopped || child.try_wait().expect("a look").is_some() {
                harm.push("a marker process was ended or stopped".to_owned());
            }
        }
        if self.listener.accept().is_ok() {
            harm.push("something was sent".to_owned());
        }
        harm
    }
}

impl Drop for Marker {
    fn drop(&mut self) {
        for child in &mut self.processes {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Everything in a folder with its kind, mode and content; what commands write to `out` is theirs.
fn state(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below").to_string_lossy().into_owned();
            if name == "work/.github" {
                // Written by `init`, and said so.
                continue;
            }
            let metadata = path.symlink_metadata().expect("there");
            let kind = metadata.file_type();
            let mode = metadata.permissions().mode();
            let content = if kind.is_file() { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
            if kind.is_dir() && name != "out" {
                open.push(path);
            }
            found.insert(name, format!("{mode:o} {content:?}"));
        }
    }
    found
}

/// Every command that starts a server without a suite, with its flags.
const SCANS: &[&[&str]] = &[
    &["audit"],
    &["audit", "--json"],
    &["audit", "--include-writes", "--output", "OUT/audit"],
    &["audit", "--read-only", "--fixture", "../fixture"],
    &["negative"],
    &["negative", "--include-writes"],
    &["fuzz", "--runs", "3"],
    &["fuzz", "--runs", "3", "--include-writes", "--save", "OUT/fuzz"],
    &["conformance", "--protocol", "2025-11-25"],
    &["conformance", "--protocol", "2025-11-25", "--include-writes", "--fixture", "../fixture"],
    &["init", "OUT/init"],
    &["init", "OUT/init-writes", "--include-writes"],
    &["generate", "--output", "OUT/generate"],
    &["snapshot", "../fixture", "--catalog"],
    &["schema-lint"],
    &["coverage", "../fixture"],
];

#[test]
fn no_scan_does_harm_in_the_sandbox_whatever_tools_call_themselves() {
    let vandal = subject::build("vandal");
    for style in ["honest", "obvious", "misleading"] {
        for scan in SCANS {
            let mut marker = Marker::new(&vandal);
            let output = marker.run(style, scan, &[]);
            let said =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.code().is_some_and(|code| code != 70), "{style} {scan:?}: {said}");
            assert!(!said.contains("is not a marker folder"), "{style} {scan:?}: {said}");
            let mut harm = marker.harm();
            if style != "misleading" && scan.contains(&"--include-writes") {
                // What no sandbox of the system prevents, and is called for this flag only.
                harm.retain(|line| {
                    line != "something was sent"
                        && !line.starts_with("data/b.txt was 100644 \"second\\n\", is Some(\"100600 ")
                });
            }
            assert_eq!(harm, Vec::<String>::new(), "{style} {scan:?}: {said}");
        }
    }
}

#[test]
fn without_a_sandbox_nothing_is_called_that_says_or_looks_like_it_writes() {
    let vandal = subject::build("vandal");
    for style in ["honest", "obvious"] {
        for scan in SCANS.iter().filter(|scan| !scan.contains(&"--include-writes")) {
            let mut marker = Marker::new(&vandal);
            let output = marker.run(style, scan, &[("MCPROVE_PRETEND_NO_SANDBOX", "1")]);
            let said =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(marker.harm(), Vec::<String>::new(), "{style} {scan:?}: {said}");
            if matches!(scan[0], "audit" | "conformance" | "negative" | "fuzz" | "init") {
                assert_eq!(said.matches("runs without a sandbox").count(), 1, "{scan:?}: {said}");
            }
        }
    }
}

#[test]
fn a_refusal_of_the_sandbox_is_shown_as_one_and_no_test_is_written_for_it() {
    let vandal = subject::build("vandal");
    let marker = Marker::new(&vandal);
    let output = marker.run("misleading", &["audit", "--output", "OUT/suite"], &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    let refused = format!("refused by mcprove's sandbox ({}", marker.root.join("data").display());
    assert!(said.matches(&refused).count() > 25, "{said}");
    assert!(!said.contains("Permission denied"), "{said}");
    let written = fs::read_dir(marker.root.join("out/suite")).expect("a folder");
    for path in written.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()) {
        let text = fs::read_to_string(&path).expect("a file");
        let is_run = !text.contains("\nskip: \"refused by mcprove's sandbox (");
        assert!(!is_run || !text.contains("Permission denied"), "{}: {text}", path.display());
        assert!(
            !is_run || text.contains("tool: list_processes") || text.contains("tool: get_p"),
            "{}: {text}",
            path.display()
        );
    }
}

#[test]
fn a_server_that_starts_only_without_the_sandbox_says_so() {
    let vandal = subject::build("vandal");
    // The second takes longer than it is waited for.
    for (then, hope) in [
        (format!("exec {} honest", vandal.display()), "it starts without the sandbox"),
        ("exec sleep 600".to_owned(), "it may start without the sandbox"),
    ] {
        let mut marker = Marker::new(&vandal);
        let script = marker.root.join("needs-home.sh");
        fs::write(&script, format!("echo x > \"$HOME/state\" || exit 9\n{then}\n")).expect("a file");
        marker.vandal = PathBuf::from(format!("sh {}", script.display()));
        let output = marker.run("", &["audit"], &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("does not start in mcprove's sandbox: refused by mcprove's sandbox"), "{said}");
        assert!(said.contains(&format!("{hope}: add `--no-sandbox`")), "{said}");
    }
}

#[test]
fn a_slow_server_is_not_said_to_need_what_the_sandbox_refuses() {
    let vandal = subject::build("vandal");
    let mut marker = Marker::new(&vandal);
    let script = marker.root.join("slow.sh");
    let lines = format!(
        "if (echo x > \"$HOME/state\") 2>/dev/null; then exec {} honest; fi\nexec sleep 600\n",
        vandal.display()
    );
    fs::write(&script, lines).expect("a file");
    marker.vandal = PathBuf::from(format!("sh {}", script.display()));
    let output = marker.run("", &["audit", "--timeout", "2s"], &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("did not answer `initialize` within 2.0 s") && !said.contains("does not start"), "{said}");
    assert!(said.contains("it started without the sandbox in") && said.contains("raise `--timeout`"), "{said}");
}

#[test]
fn the_errors_of_a_program_that_cannot_be_started_are_the_same_in_the_sandbox() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("no-interpreter"), "#!/no/such/program\n").expect("a file");
    fs::write(path("not-executable"), "").expect("a file");
    fs::set_permissions(path("no-interpreter"), fs::Permissions::from_mode(0o755)).expect("permissions");
    for command in [
        "no-such-command-anywhere".to_owned(),
        path("no-interpreter").display().to_string(),
        path("not-executable").display().to_string(),
    ] {
        let said = |flags: &[&str]| {
            let output = Command::new(MCPROVE).arg("audit").args(flags).args(["--server", &command]).output();
            String::from_utf8_lossy(&output.expect("mcprove runs").stderr).into_owned()
        };
        assert!(said(&[]).contains(&command), "{}", said(&[]));
        assert_eq!(said(&[]), said(&["--no-sandbox"]));
    }
}

#[test]
fn a_vandal_that_is_let_loose_does_harm() {
    let vandal = subject::build("vandal");
    let mut marker = Marker::new(&vandal);
    marker.run("misleading", &["audit", "--no-sandbox", "--include-writes"], &[]);
    let harm = marker.harm();
    assert!(harm.len() > 15, "{harm:#?}");
    assert!(harm.iter().any(|line| line.contains("marker process")), "{harm:#?}");
}

#[test]
fn a_vandal_acts_in_a_marker_folder_only() {
    let vandal = subject::build("vandal");
    for folder in ["/", "/tmp", "/usr", "/no-such"] {
        let output = Command::new(&vandal).arg("honest").env("VANDAL_MARKER", folder).stdin(Stdio::null()).output();
        assert_eq!(output.expect("it runs").status.code(), Some(64), "{folder}");
    }
}

#[test]
fn a_server_that_dies_of_a_refusal_has_no_bug() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a folder");
    let tools = r#"[{"name":"look","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}]"#;
    let scan = |scan: &[&str], answer: &str| {
        let script = shell_server::write(folder.path(), tools, answer);
        let server = format!("sh {}", script.display());
        let output = Command::new(MCPROVE)
            .args(scan)
            .args(["--server", &server])
            .env("HOME", &home)
            .stdin(Stdio::null())
            .output()
            .expect("mcprove runs");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    let (writes, dies) = (r#""$(echo x > $HOME/state || kill -9 $$)""#, r#""$(kill -9 $$)""#);
    let (code, said) = scan(&["fuzz", "--runs", "5"], writes);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("refused by mcprove's sandbox"), "{said}");
    let (code, said) = scan(&["fuzz", "--runs", "5"], dies);
    assert_eq!(code, Some(1), "{said}");
    let (_, said) = scan(&["negative"], writes);
    assert!(said.contains("valid input fails, too: refused by mcprove's sandbox"), "{said}");
    assert!(!home.join("state").exists());
}
