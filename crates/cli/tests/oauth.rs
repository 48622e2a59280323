//! Servers that want a token, which a suite asks for with the client's own credentials.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// The credential that the stand-in gives tokens for.
const CLIENT_SECRET: &str = "cl1ent secret&";
/// What every token begins with.
const TOKEN: &str = "t0ken-number-";

/// How the stand-in behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Every token is good for ever.
    Steady,
    /// Tokens are good for no time at all, by what it says.
    Expired,
    /// The first token is refused once it is used for a call.
    Revoking,
    /// No token is ever accepted.
    Unfriendly,
    /// It gives no tokens.
    Refusing,
}

/// A token endpoint and an MCP server on one loopback port.
#[derive(Clone, Debug)]
struct StandIn {
    manner: Manner,
    /// The bodies of the requests for tokens.
    asked: Arc<Mutex<Vec<String>>>,
}

impl StandIn {
    fn start(manner: Manner) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let stand_in = Self { manner, asked: Arc::default() };
        let serving = stand_in.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(&stream));
            }
        });
        (stand_in, address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut head = Vec::new();
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).ok()? == 0 {
                    return None;
                }
                if line.trim().is_empty() {
                    break;
                }
                head.push(line.trim().to_owned());
            }
            let field = |name: &str| {
                let found = head.iter().find(|line| line.to_ascii_lowercase().starts_with(name))?;
                Some(found.split_once(':')?.1.trim().to_owned())
            };
            let mut body = vec![0; field("content-length").and_then(|text| text.parse().ok()).unwrap_or(0)];
            reader.read_exact(&mut body).ok()?;
            let (status, answer) = if head[0].starts_with("POST /token") {
                self.give(&String::from_utf8_lossy(&body))
            } else {
                self.speak(&head[0], field("authorization").as_deref(), &body)
            };
            let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
            let kind = if text.is_empty() { "" } else { "content-type: application/json\r\n" };
            let length = text.len();
            write!(&*stream, "HTTP/1.1 {status} X\r\n{kind}content-length: {length}\r\n\r\n{text}").ok()?;
        }
    }

    fn give(&self, form: &str) -> (u16, Option<Value>) {
        let mut asked = self.asked.lock().expect("no panic");
        asked.push(form.to_owned());
        if self.manner == Manner::Refusing {
            let description = "the client is not known";
            return (401, Some(json!({"error": "invalid_client", "error_description": description})));
        }
        let lifetime = if self.manner == Manner::Expired { 0 } else { 3600 };
        let token = format!("{TOKEN}{}", asked.len());
        (200, Some(json!({"access_token": token, "token_type": "bearer", "expires_in": lifetime})))
    }

    fn speak(&self, request: &str, authorization: Option<&str>, body: &[u8]) -> (u16, Option<Value>) {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let token = authorization.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default();
        let is_revoked = self.manner == Manner::Revoking && method == "tools/call" && token.ends_with("-1");
        if !token.starts_with(TOKEN) || is_revoked || self.manner == Manner::Unfriendly {
            return (401, None);
        }
        if !request.starts_with("POST") {
            return (405, None);
        }
        let result = match method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stand-in", "version": "1"},
            }),
            // It says the token back, so that it is in frames, in a reply and in a finding.
            "tools/call" => json!({"content": [{"type": "text", "text": format!("you are {token}")}]}),
            "tools/list" => json!({"tools": [
                {"name": "who", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
            ]}),
            _ => return (202, None),
        };
        (200, Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
    }
}

fn mcprove(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(arguments).current_dir(folder).env("NO_COLOR", "1").env("CI", "");
    command.env("MY_CLIENT_SECRET", CLIENT_SECRET).output().expect("mcprove runs")
}

/// Runs a suite of two tests on the stand-in, each with a session of its own; `second` is what the second expects.
fn run(manner: Manner, second: &str) -> (StandIn, Output, Vec<u8>) {
    let (stand_in, address) = StandIn::start(manner);
    let folder = tempfile::tempdir().expect("a folder");
    let suite = format!(
        "servers:\n  guarded:\n    url: {address}/mcp\n    auth:\n      oauth:\n        grant: client_credentials\n        \
         token_endpoint: {address}/token\n        client_id: tester\n        client_secret_env: MY_CLIENT_SECRET\n        \
         scope: tools.read tools.call\nrun_options: {{restart_policy: per_test}}\ntools:\n  \
         - {{name: one, tool: who, expect: {{contains: you are}}}}\n  \
         - {{name: two, tool: who, expect: {{contains: {second}}}}}\n"
    );
    fs::write(folder.path().join("suite.yaml"), suite).expect("written");
    let output = mcprove(folder.path(), &["run", "suite.yaml", "-v", "--events", "run.ndjson", "--html", "run.html"]);
    let mut written = fs::read(folder.path().join("run.ndjson")).expect("the log");
    written.extend(fs::read(folder.path().join("run.html")).expect("the page"));
    (stand_in, output, written)
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_token_is_asked_for_once_a_run_and_shown_nowhere() {
    let (stand_in, output, written) = run(Manner::Steady, "somebody else");
    let text = told(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("you are ***") && text.contains("1 passed, 1 failed"), "{text}");
    let form =
        "grant_type=client_credentials&client_id=tester&client_secret=cl1ent%20secret%26&scope=tools.read%20tools.call";
    assert_eq!(stand_in.asked(), [form]);
    for shown in [text.as_bytes(), &written] {
        let shown = String::from_utf8_lossy(shown);
        assert!(!shown.contains(TOKEN) && !shown.contains("cl1ent"), "{shown}");
    }
}

#[test]
fn a_token_that_has_expired_is_not_used_again() {
    let (stand_in, output, _) = run(Manner::Expired, "you are");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(stand_in.asked().len() > 2, "{:?}", stand_in.asked());
}

#[test]
fn a_token_that_a_server_no_longer_takes_is_replaced_once() {
    let (stand_in, output, _) = run(Manner::Revoking, "you are");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn a_server_that_takes_no_token_ends_it() {
    let (stand_in, output, _) = run(Manner::Unfriendly, "you are");
    let text = told(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("the server wants a login (HTTP 401)"), "{text}");
    // One for the first request, and one more for each of the two refusals.
    assert_eq!(stand_in.asked().len(), 3);
}

#[test]
fn an_endpoint_that_gives_no_token_is_named_with_its_reason() {
    let (_, output, written) = run(Manner::Refusing, "you are");
    let text = told(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("/token` refused (HTTP 401): invalid_client: the client is not known"), "{text}");
    assert!(text.contains("check `client_id`, `scope`, and the variable that `client_secret_env` names"), "{text}");
    assert!(!text.contains("cl1ent") && !String::from_utf8_lossy(&written).contains("cl1ent"), "{text}");
}

/// A server says the token of a login back: no command shows it, in whatever form.
#[test]
fn the_token_of_a_kept_login_is_shown_nowhere() {
    let (_, address) = StandIn::start(Manner::Steady);
    let folder = tempfile::tempdir().expect("a folder");
    let (url, token) = (format!("{address}/mcp"), format!("{TOKEN}kept+/=x"));
    let login = json!({
        "server": url, "resource": url, "issuer": address, "token_endpoint": format!("{address}/token"),
        "client": {"id": "tester"}, "access_token": token, "token_type": "Bearer",
    });
    fs::write(folder.path().join("logins.json"), json!({"format": 1, "logins": [login]}).to_string()).expect("written");
    let encoded = token.bytes().fold(String::new(), |all, byte| format!("{all}%{byte:02X}"));
    for line in [
        format!("call who --url {url}"),
        format!("call who --json --url {url}"),
        format!("call who --raw --url {url}"),
        format!("list --json --url {url}"),
        format!("audit -v --url {url} --events audit.ndjson --html audit.html --junit audit.xml --markdown audit.md"),
        format!("negative --url {url} --events negative.ndjson"),
        format!("conformance --auth --protocol 2025-11-25 --url {url} --events conformance.ndjson"),
        format!("doctor --url {url}"),
        format!("doctor --json --url {url}"),
        "login --list".to_owned(),
        "login --list --json".to_owned(),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(line.split(' ')).current_dir(folder.path()).env("NO_COLOR", "1").env("CI", "");
        let output = command.env("MCPROVE_CONFIG_DIR", folder.path()).output().expect("mcprove runs");
        let text = told(&output);
        if line.starts_with("call") {
            assert!(text.contains("you are ***"), "{line}: {text}");
        }
        let files = fs::read_dir(folder.path()).expect("the folder").flatten();
        let files = files.filter(|file| !file.file_name().to_string_lossy().contains("logins"));
        let written =
            files.map(|file| String::from_utf8_lossy(&fs::read(file.path()).unwrap_or_default()).into_owned());
        for shown in written.chain([text]) {
            assert!(!shown.contains("kept+/=x") && !shown.contains("kept%2B"), "{line}: {shown}");
            assert!(!shown.contains(&encoded) && !shown.contains(&base64_of(&token)), "{line}: {shown}");
        }
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text).trim_end_matches('=').to_owned()
}

#[test]
fn an_endpoint_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let suite = format!(
        "auth: {{oauth: {{token_endpoint: 'http://{nobody}/token', client_id: me, client_secret_env: MY_CLIENT_SECRET}}}}\n\
         servers: {{a: {{url: 'http://{nobody}/mcp'}}}}\ntools: [{{name: one, tool: who}}]\n"
    );
    fs::write(folder.path().join("suite.yaml"), suite).expect("written");
    let output = mcprove(folder.path(), &["run", "suite.yaml"]);
    let text = told(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("no token was given: the connection to") && text.contains("was refused"), "{text}");
}
