//! Clients as real processes: unusual ones that keep every rule are clean, and wrong ones are caught.
//!
//! A client is a function on raw messages; the test program starts itself as the client.

mod unusual;
mod wire;
mod wrong;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use wire::Wire;

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");
/// The variable with the name of the client.
const CLIENT: &str = "MCPROVE_TEST_CLIENT";
/// The variable with the file in which a client writes that it came to its end.
const DONE: &str = "MCPROVE_TEST_DONE";

/// A client.
struct Client {
    name: &'static str,
    transport: &'static str,
    /// The faults of the server.
    faults: &'static str,
    /// Expectations of the scenario.
    expect: &'static str,
    /// The finding that it must have; none if it is correct.
    finds: &'static str,
    play: fn(&mut Wire),
}

const fn stdio(name: &'static str, finds: &'static str, play: fn(&mut Wire)) -> Client {
    Client { name, transport: "stdio", faults: "", expect: "allow_unhit: true", finds, play }
}

const fn http(name: &'static str, finds: &'static str, play: fn(&mut Wire)) -> Client {
    Client { transport: "http", ..stdio(name, finds, play) }
}

#[expect(clippy::needless_pass_by_value, reason = "its fields are taken over")]
const fn meets(faults: &'static str, client: Client) -> Client {
    Client { faults, expect: "detected: 10s, recovered: 20s", ..client }
}

const TOOLS: &str = "[{ name: search }, { name: read, notifies: tools }, { name: sampled }, { name: plain }, { name: asked, \
    input_required: { requests: { who: { method: elicitation/create, params: { message: Who?, requestedSchema: { type: object, \
    properties: {} } } } }, state: s1 } }]";

/// The ids of the findings about a client, and the whole report.
fn judged(client: &Client) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let Client { name, transport, faults, expect, .. } = client;
    let text = format!(
        "scenario: raw\ntimeout: 30s\nservers:\n  files:\n    transport: {transport}\n    offers: {{ page_size: 2, tools: {TOOLS} }}\n    \
         faults: [{faults}]\nexpect: {{ {expect} }}\n"
    );
    fs::write(folder.path().join("scenario.yaml"), text).expect("written");
    let done = folder.path().join("done");
    let this = std::env::current_exe().expect("this program");
    let mut command = Command::new(MCPROVE);
    command.args(["host", "scenario.yaml", "--report", "report.json", "-v", "--env", &format!("{CLIENT}={name}")]);
    command.args(["--env", &format!("{DONE}={}", done.display()), "--"]).arg(this);
    command.args(["--exact", "host_clients::raw_client", "--ignored", "--nocapture"]);
    let output = command.current_dir(folder.path()).env_remove("CI").env_remove("GITHUB_ACTIONS").output();
    let output = output.expect("it runs");
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(done.exists(), "{name}: the client did not come to its end: {told}");
    let report = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let cases = report["cases"].as_array().cloned().unwrap_or_default();
    assert!(!cases.is_empty(), "{name}: {told}");
    let findings = cases.iter().flat_map(|case| case["findings"].as_array().cloned().unwrap_or_default());
    let ids = findings.filter_map(|finding| finding["rule"].as_str().map(str::to_owned));
    (ids.filter(|id| id != "host-reaction").collect(), told)
}

fn all() -> impl Iterator<Item = &'static Client> {
    unusual::CLIENTS.iter().chain(wrong::CLIENTS)
}

#[test]
#[ignore = "a client that the other tests start"]
fn raw_client() {
    let Ok(name) = std::env::var(CLIENT) else { return };
    let client = all().find(|client| client.name == name).expect("a client of that name");
    let mut wire = Wire::open();
    (client.play)(&mut wire);
    wire.close();
    fs::write(std::env::var(DONE).expect("a file"), "").expect("written");
}

#[test]
fn unusual_clients_that_keep_the_rules_are_clean() {
    let mut wrong = Vec::new();
    for client in unusual::CLIENTS {
        let (ids, told) = judged(client);
        if !ids.is_empty() {
            wrong.push(format!("{}: {ids:?}\n{told}", client.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_clients_are_caught() {
    let mut wrong = Vec::new();
    for client in wrong::CLIENTS {
        let (ids, told) = judged(client);
        if !ids.iter().any(|id| id == client.finds) {
            wrong.push(format!("{}: wanted {}, got {ids:?}\n{told}", client.name, client.finds));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Names are how a client is found, and files must exist where the test looks.
#[test]
fn clients_have_names_of_their_own() {
    let mut names: Vec<&str> = all().map(|client| client.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(Path::new(MCPROVE).exists());
}
