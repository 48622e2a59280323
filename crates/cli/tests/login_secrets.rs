//! No secret that ever crossed the wire in a login is in any output of a session, in any form.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;

use super::login::Person;
use super::login_field::{Field, as_json, percent};

/// Forms in which a secret could be written.
fn forms(secret: &str) -> Vec<String> {
    let hex = secret.bytes().fold(String::new(), |all, byte| all + &format!("{byte:02x}"));
    let all = secret.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"));
    let mut forms = vec![secret.to_owned(), percent(secret), percent(secret).to_ascii_lowercase(), hex, all];
    // Wherever it begins in what is encoded, the middle of it is the same.
    for before in 0..3 {
        let text = format!("{}{secret}", "x".repeat(before));
        let middle = |encoded: String| encoded[4..encoded.len() - 4].to_owned();
        forms.extend([middle(STANDARD.encode(&text)), middle(URL_SAFE_NO_PAD.encode(&text))]);
    }
    forms
}

fn assert_hidden(secrets: &BTreeSet<String>, place: &str, text: &str) {
    for secret in secrets {
        for form in forms(secret) {
            assert!(!text.contains(&form), "{place} shows `{secret}` as `{form}`");
        }
    }
}

fn assert_files_hide(secrets: &BTreeSet<String>, folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("a folder").map_while(Result::ok) {
        if entry.path().is_dir() {
            if entry.file_name() != "config" {
                count += assert_files_hide(secrets, &entry.path());
            }
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(entry.path()).expect("a file")).into_owned();
        assert_hidden(secrets, &entry.path().display().to_string(), &text);
        count += 1;
    }
    count
}

/// Endpoints that repeat in their errors what was sent to them.
#[test]
fn secrets_that_endpoints_repeat_are_hidden() {
    let field = Field::start(|ask, _| {
        (ask.path() == "/token").then(|| {
            let text = format!(
                "code {} verifier {}",
                ask.field("code").expect("a code"),
                ask.field("code_verifier").expect("it")
            );
            as_json(400, &json!({"error": "invalid_grant", "error_description": text}))
        })
    });
    let person = Person::new();
    let login = person.log_in(&field.url());
    assert!(login.stderr.contains("invalid_grant: code *** verifier ***"), "{}", login.text());
    assert_hidden(&field.secrets(), "login", &login.text());
    let (_, shown) = login.pages[0].split_once("\r\n\r\n").expect("a page");
    assert_hidden(&field.secrets(), "the page", shown);
}

/// True if the arguments of a process contain a secret.
fn is_in_process_list(secret: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().map_while(Result::ok);
    let mut arguments = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    arguments.any(|line| String::from_utf8_lossy(&line).contains(secret))
}

/// A whole session, with a tool that shows its caller's token in three forms.
#[test]
fn no_output_of_a_session_shows_a_secret() {
    let field = Field::start(|ask, _| {
        let sent = ["code", "code_verifier", "client_secret"].map(|name| ask.field(name));
        let is_seen = ask.path() == "/token" && sent.iter().flatten().any(|secret| is_in_process_list(secret));
        is_seen.then(|| as_json(500, &json!({"error": "a process has a secret in its arguments"})))
    });
    let person = Person::new();
    let url = field.url();
    let suite = format!(
        "servers:\n  guarded:\n    url: {url}\n    auth: {{oauth: {{flow: authorization_code, browser: true}}}}\n\
         tools:\n  - {{name: passes, tool: whoami, expect: {{contains: ' '}}}}\n  \
         - {{name: fails, tool: whoami, expect: {{contains: nothing like it}}}}\n"
    );
    fs::write(person.path().join("suite.yaml"), suite).expect("written");
    let reports = [
        "--events",
        "run.ndjson",
        "--html",
        "run.html",
        "--junit",
        "run.xml",
        "--junit-lines",
        "lines.xml",
        "--markdown",
        "run.md",
        "--report",
        "report.json",
        "--sarif",
        "run.sarif",
        "--tap",
        "run.tap",
        "--badge",
        "badge.json",
    ];
    let with_reports = |words: &[&'static str]| [words, &reports].concat();
    let sessions: [(Vec<&str>, i32); 17] = [
        (with_reports(&["run", "suite.yaml", "-v", "--github"]), 1),
        (vec!["run", "suite.yaml", "--json"], 1),
        (vec!["run", "suite.yaml", "--reporter", "agent"], 1),
        (vec!["report", "run.ndjson", "-v", "--html", "again.html"], 1),
        (vec!["login", "--list"], 0),
        (vec!["login", "--list", "--json"], 0),
        (vec!["list", "--url", &url, "--json"], 0),
        (vec!["call", "whoami", "--url", &url, "-v"], 0),
        (vec!["call", "whoami", "--url", &url, "--json"], 0),
        (vec!["call", "whoami", "--url", &url, "--raw"], 0),
        (vec!["call", "whoami", "--url", &url, "--save", "saved.yaml"], 0),
        (vec!["audit", "--url", &url, "--output", "audited", "--events", "audit.ndjson", "-v"], 0),
        (vec!["doctor", "--url", &url], 0),
        (vec!["doctor", "--url", &url, "--json"], 0),
        (vec!["login", &url, "--json"], 0),
        (vec!["login", &url], 0),
        (vec!["logout", &url], 0),
    ];
    let mut outputs = Vec::new();
    for (words, code) in sessions {
        let ran = person.run(&words);
        assert_eq!(ran.code(), Some(code), "{words:?}: {}", ran.text());
        outputs.push((words.join(" "), ran.text()));
        assert!(words[0] == "logout" || person.path().join("config/logins.json").exists(), "{words:?}");
    }
    let secrets = field.secrets();
    // The access, the refresh and the ID token, the secret of the client, a code, and the verifier of each login.
    assert!(secrets.len() >= 8, "{secrets:?}");
    for (place, text) in &outputs {
        assert_hidden(&secrets, place, text);
    }
    assert!(assert_files_hide(&secrets, person.path()) >= 12);
    let events = fs::read_to_string(person.path().join("run.ndjson")).expect("a log");
    assert!(
        events.contains("grant_type=authorization_code") && events.contains("***"),
        "the exchanges are logged, masked"
    );
}
