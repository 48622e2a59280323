//! Servers behind a login: the mock's authorization server, a person whose browser does as it is told, and every command.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::{fs, thread};

use serde_json::Value;
use tempfile::TempDir;

/// A mock with an authorization server.
pub(super) struct Guarded {
    process: Child,
    pub(super) url: String,
}

impl Guarded {
    pub(super) fn start(arguments: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", arguments)
    }

    pub(super) fn start_at(address: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(["mock", "--conforming", "--http", address, "--issuer"]).args(arguments);
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the mock starts");
        let mut line = String::new();
        let mut reader = BufReader::new(process.stderr.take().expect("standard error"));
        reader.read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        thread::spawn(move || {
            let mut rest = String::new();
            let _ = reader.read_to_string(&mut rest);
        });
        Self { process, url }
    }

    pub(super) fn with_fault(fault: &str) -> Self {
        Self::start(&["--issuer-fault", fault])
    }

    pub(super) fn origin(&self) -> &str {
        self.url.strip_suffix("/mcp").expect("the endpoint")
    }

    /// Posts JSON to the authorization server.
    fn post(&self, path: &str, kind: &str, body: &str) -> Value {
        let answer = exchange(&format!("{}{path}", self.origin()), Some((kind, body)));
        serde_json::from_str(answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)).unwrap_or_default()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// One exchange over HTTP; the whole answer.
fn exchange(url: &str, body: Option<(&str, &str)>) -> String {
    let rest = url.strip_prefix("http://").expect("a plain URL");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).expect("a connection");
    let mut request = format!(
        "{} /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n",
        if body.is_some() { "POST" } else { "GET" }
    );
    if let Some((kind, body)) = body {
        let _ = write!(request, "content-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    }
    request.push_str("\r\n");
    request.push_str(body.map_or("", |(_, body)| body));
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// A browser: opens a URL, and goes where it is sent.
fn visit(url: &str) -> String {
    let mut url = url.to_owned();
    for _ in 0..5 {
        let answer = exchange(&url, None);
        let location = answer.lines().find_map(|line| line.strip_prefix("location: "));
        match location {
            Some(location) => location.trim().clone_into(&mut url),
            None => return answer,
        }
    }
    panic!("{url} redirects for ever")
}

/// The outcome of a command.
pub(super) struct Ran {
    status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The pages that browsers ended at.
    pub(super) pages: Vec<String>,
}

impl Ran {
    pub(super) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    pub(super) fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// A person: a folder with their logins, and a browser.
pub(super) struct Person {
    folder: TempDir,
    /// The folder of their logins, in that folder.
    config: &'static str,
}

impl Person {
    pub(super) fn new() -> Self {
        Self::keeping_in("config")
    }

    pub(super) fn keeping_in(config: &'static str) -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), config }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    pub(super) fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
        command.args(arguments).current_dir(self.path()).env("NO_COLOR", "1").env("CI", "");
        command.env("MCPROVE_CONFIG_DIR", self.path().join(self.config)).env("MY_SECRET", "s3cr3t&value");
        for name in ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mcprove runs");
        let stderr = child.stderr.take().expect("standard error");
        let (pages, opened) = mpsc::channel();
        let reading = thread::spawn(move || browse(stderr, &pages));
        let mut stdout = String::new();
        child.stdout.take().expect("standard output").read_to_string(&mut stdout).expect("text");
        let status = child.wait().expect("an end");
        let stderr = reading.join().expect("no panic");
        Ran { status, stdout, stderr, pages: opened.iter().collect() }
    }

    /// Without a path to programs, whose versions it would ask for.
    pub(super) fn doctor(&self, url: &str) -> Ran {
        self.run_with(&["doctor", "--url", url, "--json"], &[("PATH", "")])
    }

    pub(super) fn log_in(&self, url: &str) -> Ran {
        self.run(&["login", url])
    }

    pub(super) fn stored(&self) -> Value {
        let text = fs::read_to_string(self.path().join("config/logins.json")).expect("logins");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Reads what a command prints, and opens every URL to log in that it shows.
fn browse(stderr: ChildStderr, pages: &mpsc::Sender<String>) -> String {
    let mut text = String::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        let _ = writeln!(text, "{line}");
        if line.starts_with("http://") && line.contains("code_challenge=") {
            let pages = pages.clone();
            thread::spawn(move || pages.send(visit(&line)));
        }
    }
    text
}

#[test]
fn a_login_is_made_kept_used_and_given_back() {
    let (server, person) = (Guarded::start(&[]), Person::new());
    let without = person.run(&["list", "--url", &server.url]);
    assert_eq!(without.code(), Some(2), "{}", without.text());
    assert!(without.text().contains("log in with `mcprove login URL`"), "{}", without.text());
    let login = person.log_in(&server.url);
    assert_eq!(login.code(), Some(0), "{}", login.text());
    assert!(
        login.stdout.contains(&format!("logged in to {} with {}, scopes mcp, valid for", server.url, server.origin())),
        "{}",
        login.text()
    );
    assert!(login.pages[0].contains("You are logged in"), "{:?}", login.pages);
    let listed = person.run(&["list", "--url", &server.url]);
    assert_eq!(listed.code(), Some(0), "{}", listed.text());
    let listed = person.run(&["login", "--list"]);
    assert!(listed.stdout.starts_with(&server.url), "{}", listed.text());
    let again = person.log_in(&server.url);
    assert_eq!(again.code(), Some(0), "{}", again.text());
    // A client that registered before does not override the port that the user wants.
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let moved = person.run(&["login", &server.url, "--redirect-port", &port.to_string()]);
    assert_eq!(moved.code(), Some(0), "{}", moved.text());
    assert!(
        moved.stderr.contains(&format!("redirect_uri=http%3A%2F%2F127.0.0.1%3A{port}%2Fcallback")),
        "{}",
        moved.text()
    );
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let refused = person.run(&["login", &server.url, "--redirect-port", &port]);
    assert!(refused.stderr.contains(&format!("no page can be opened on 127.0.0.1:{port}")), "{}", refused.text());
    let token = person.stored()["logins"][0]["access_token"].as_str().expect("a token").to_owned();
    let header = format!("Authorization: Bearer {token}");
    assert_eq!(person.run(&["list", "--url", &server.url, "--header", &header]).code(), Some(0));
    let logout = person.run(&["logout", &server.url]);
    assert!(logout.stdout.contains("its tokens are revoked"), "{}", logout.text());
    assert_eq!(person.run(&["list", "--url", &server.url, "--header", &header]).code(), Some(2), "both are revoked");
    assert_eq!(person.run(&["list", "--url", &server.url]).code(), Some(2));
    assert_eq!(person.run(&["logout", &server.url]).code(), Some(2));
}

#[test]
fn a_suite_logs_in_steps_up_and_shows_no_secret() {
    let (server, person) = (Guarded::start(&["--tool-scope", "add=calc:write"]), Person::new());
    let suite = format!(
        "servers:\n  guarded:\n    url: {}\n    auth:\n      oauth:\n        flow: authorization_code\n        browser: true\n\
         tools:\n  - {{name: one, tool: weather, args: {{city: Rome}}, expect: {{contains: '21'}}}}\n  \
         - {{name: two, tool: add, args: {{a: 1, b: 2}}, expect: {{contains: the sum of 1}}}}\n",
        server.url
    );
    fs::write(person.path().join("suite.yaml"), suite).expect("written");
    let ran = person.run(&["run", "suite.yaml", "-v", "--events", "run.ndjson", "--html", "run.html"]);
    let scopes: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("code_challenge=")).collect();
    assert_eq!(ran.pages.len(), 2, "{}", ran.text());
    assert!(scopes[0].contains("scope=mcp") && !scopes[0].contains("calc"), "{}", scopes[0]);
    assert!(scopes[1].contains("scope=mcp%20calc%3Awrite"), "{}", scopes[1]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let log = fs::read_to_string(person.path().join("run.ndjson")).expect("the log");
    assert!(log.contains("/.well-known/oauth-protected-resource/mcp") && log.contains("grant_type=authorization_code"));
    let page = fs::read_to_string(person.path().join("run.html")).expect("the page");
    assert_no_secret(&person, &[&ran.text(), &log, &page]);
}

/// No token, secret, code or verifier is in any of the texts, in no form in which it could be written.
fn assert_no_secret(person: &Person, texts: &[&str]) {
    use base64::Engine as _;
    let stored = person.stored();
    let login = &stored["logins"][0];
    let secrets = [&login["access_token"], &login["refresh_token"], &login["client"]["secret"]];
    for secret in secrets.into_iter().filter_map(Value::as_str) {
        let encoded = secret.bytes().fold(String::new(), |all, byte| format!("{all}%{byte:02X}"));
        let base64 = base64::engine::general_purpose::STANDARD.encode(secret);
        for text in texts {
            assert!(!text.contains(secret), "a secret is shown");
            assert!(
                !text.contains(&encoded) && !text.contains(base64.trim_end_matches('=')),
                "a secret is shown, encoded"
            );
        }
    }
    for text in texts {
        for name in ["code=", "code_verifier=", "refresh_token="] {
            let values = text.match_indices(name).map(|(at, _)| &text[at + name.len()..]);
            for value in values {
                assert!(
                    value.starts_with("(hidden)") || !text[..].is_empty() && value.starts_with(['"', '`', ' ']),
                    "{name}{}",
                    &value[..value.len().min(60)]
                );
            }
        }
    }
}

#[test]
fn clients_that_are_registered_by_hand_are_used() {
    let (server, person) =
        (Guarded::start(&["--issuer-fault", "no-registration", "--issuer-client", "mine:s3cr3t&value"]), Person::new());
    let closed = person.log_in(&server.url);
    assert_eq!(closed.code(), Some(2), "{}", closed.text());
    assert!(
        closed.stderr.contains("does not let clients register") && closed.stderr.contains("--client-id"),
        "{}",
        closed.text()
    );
    let login = person.run(&["login", &server.url, "--client-id", "mine", "--client-secret-env", "MY_SECRET"]);
    assert_eq!(login.code(), Some(0), "{}", login.text());
    assert!(!login.text().contains("s3cr3t"), "{}", login.text());
    assert_eq!(person.run(&["list", "--url", &server.url]).code(), Some(0));
    let unset = person.run(&["login", &server.url, "--client-id", "mine", "--client-secret-env", "NOT_SET"]);
    assert!(unset.stderr.contains("`NOT_SET` is not set"), "{}", unset.text());
}

#[test]
fn client_credentials_find_their_own_way() {
    let (server, person) = (Guarded::start(&["--issuer-client", "mine:s3cr3t&value"]), Person::new());
    let suite = format!(
        "servers:\n  guarded:\n    url: {}\n    auth: {{oauth: {{flow: client_credentials, client_id: mine, client_secret_env: MY_SECRET}}}}\n\
         tools:\n  - {{name: one, tool: weather, args: {{city: Rome}}, expect: {{contains: '21'}}}}\n",
        server.url
    );
    fs::write(person.path().join("suite.yaml"), suite).expect("written");
    let ran = person.run(&["run", "suite.yaml", "--events", "run.ndjson"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let log = fs::read_to_string(person.path().join("run.ndjson")).expect("the log");
    assert!(log.contains("grant_type=client_credentials") && !log.contains("s3cr3t"), "{log}");
    assert!(!person.path().join("config/logins.json").exists(), "tokens of programs are not kept");
}

#[test]
fn both_kinds_of_files_log_in_and_mistakes_are_named() {
    let (server, person) = (Guarded::start(&["--issuer-client", "mine:s3cr3t&value"]), Person::new());
    let file = |oauth: &str| {
        let url = &server.url;
        let expect = "assert: {tool: weather, args: {city: Rome}, expect: {contains: '21'}}";
        format!("name: a call\nserver: {{url: '{url}', auth: {{oauth: {{{oauth}}}}}}}\n{expect}\n")
    };
    let write = |text: String| fs::write(person.path().join("case.yaml"), text).expect("written");
    write(file("flow: client_credentials, client_id: mine, client_secret_env: MY_SECRET"));
    let ran = person.run(&["run", "case.yaml"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    write(file("flow: authorization_code_pkce, token_env: MY_SECRET"));
    let ran = person.run(&["run", "case.yaml"]);
    assert_eq!(ran.code(), Some(2), "the token of the variable is sent: {}", ran.text());
    assert!(!ran.text().contains("s3cr3t"), "{}", ran.text());
    for (oauth, part) in [
        ("flow: implicit", "unknown `flow`"),
        ("client_id: mine", "`oauth` has no `flow`"),
        ("flow: client_credentials", "this `flow` needs `client_id`"),
        ("flow: jwt_bearer, client_id: mine", "this `flow` needs `assertion_env`"),
        ("flow: cross_app, client_id: mine", "this `flow` needs `identity_provider`"),
        ("flow: authorization_code, client_secret_env: NOT_SET", "`NOT_SET` is not set"),
        ("flow: authorization_code, scops: [a]", "did you mean `scope`"),
        ("flow: authorization_code, redirect_port: 70000", "`redirect_port`"),
        ("flow: authorization_code, browser: maybe", "`browser`"),
    ] {
        write(file(oauth));
        let checked = person.run(&["validate", "case.yaml"]);
        assert_eq!(checked.code(), Some(2), "{oauth}: {}", checked.text());
        assert!(checked.text().contains(part), "{oauth}: {}", checked.text());
    }
}

/// Which tokens a server takes: none of those that it must refuse, or the rule about it fails.
#[test]
fn conformance_tests_tokens() {
    let person = Person::new();
    let conformance = |server: &Guarded| {
        let issuer = server.origin();
        person.run(&[
            "conformance",
            "--auth",
            "--test-issuer",
            issuer,
            "--url",
            &server.url,
            "--protocol",
            "2025-11-25",
        ])
    };
    let good = conformance(&Guarded::start(&[]));
    assert_eq!(good.code(), Some(0), "{}", good.text());
    let lax = conformance(&Guarded::with_fault("accepts-other-audience"));
    assert_eq!(lax.code(), Some(1), "{}", lax.text());
    assert!(lax.text().contains("a token for another server was answered with HTTP 200, not 401"), "{}", lax.text());
    let wrong = person.run(&[
        "conformance",
        "--auth",
        "--test-issuer",
        "http://127.0.0.1:1",
        "--url",
        "http://127.0.0.1:1/mcp",
    ]);
    assert_eq!(wrong.code(), Some(2), "{}", wrong.text());
}

/// What a host must refuse, and at which step.
#[test]
fn logins_that_must_fail_do_and_say_where() {
    for (fault, step, part) in [
        ("wrong-resource", "resource metadata", "but you connect to"),
        ("no-authorization-servers", "resource metadata", "lists no `authorization_servers`"),
        ("wrong-issuer", "authorization server metadata", "`issuer` is `https://login.example.com`"),
        ("slash-issuer", "authorization server metadata", "identical, to the last slash"),
        ("no-metadata", "authorization server metadata", "no metadata of"),
        ("no-pkce", "authorization server metadata", "PKCE is not supported"),
        ("plain-pkce", "authorization server metadata", "without `S256`"),
        ("http-endpoints", "authorization server metadata", "is not encrypted"),
        ("registration-refused", "client registration", "registration is closed"),
        ("denied", "authorization", "access_denied: the person said no"),
        ("wrong-state", "authorization", "another `state`"),
        ("wrong-iss", "authorization", "the redirect is from `https://evil.example.com`"),
        ("missing-iss", "authorization", "no `iss`, which the metadata promises"),
        ("token-refused", "token", "invalid_client: this client may not have tokens"),
    ] {
        let (server, person) = (Guarded::with_fault(fault), Person::new());
        // A redirect with another state may come from anyone, so the right one is waited for until the end.
        let login = match fault {
            "wrong-state" => person.run(&["login", &server.url, "--timeout", "3s"]),
            _ => person.log_in(&server.url),
        };
        assert_eq!(login.code(), Some(2), "{fault}: {}", login.text());
        let expected = format!("the login failed at the step `{step}`: ");
        assert!(login.stderr.contains(&expected) && login.stderr.contains(part), "{fault}: {}", login.stderr);
        assert!(!person.path().join("config/logins.json").exists(), "{fault}");
    }
}

/// Twenty and more broken set-ups, one wrong thing each.
#[test]
fn doctor_names_the_step_and_the_fix() {
    for (fault, step, id, fix) in [
        ("forbidden", "challenge", "login-forbidden", "answer with 401"),
        ("login-page", "challenge", "login-redirected", "answer with 401"),
        ("no-challenge", "challenge", "login-no-challenge", "WWW-Authenticate: Bearer resource_metadata="),
        ("basic-challenge", "challenge", "login-other-scheme", "WWW-Authenticate: Bearer resource_metadata="),
        ("unquoted-challenge", "challenge", "login-unquoted-challenge", "write `resource_metadata=\"http://"),
        ("relative-challenge", "challenge", "login-relative-metadata", "write the whole URL"),
        (
            "no-resource-metadata",
            "resource metadata",
            "login-resource-metadata-older",
            "/.well-known/oauth-protected-resource/mcp",
        ),
        (
            "appended-metadata",
            "resource metadata",
            "login-resource-metadata-older",
            "/.well-known/oauth-protected-resource/mcp",
        ),
        ("html-metadata", "resource metadata", "login-resource-metadata-not-json", "catch-all route"),
        ("guarded-metadata", "resource metadata", "login-resource-metadata-guarded", "without a token"),
        ("wrong-resource", "resource metadata", "login-resource-mismatch", "publish `\"resource\":"),
        ("parent-resource", "resource metadata", "login-resource-parent", "publish `\"resource\":"),
        ("no-authorization-servers", "resource metadata", "login-no-authorization-server", "list the issuer"),
        ("query-tokens", "resource metadata", "login-query-token", "`Authorization` header"),
        (
            "no-metadata",
            "authorization server metadata",
            "login-server-metadata-missing",
            "/.well-known/oauth-authorization-server",
        ),
        ("wrong-issuer", "authorization server metadata", "login-issuer-mismatch", "identical"),
        ("slash-issuer", "authorization server metadata", "login-issuer-mismatch", "to the last slash"),
        ("no-token-endpoint", "authorization server metadata", "login-endpoint-missing", "publish `token_endpoint`"),
        ("http-endpoints", "authorization server metadata", "login-not-encrypted", "over https"),
        (
            "no-pkce",
            "authorization server metadata",
            "login-no-pkce",
            "\"code_challenge_methods_supported\": [\"S256\"]",
        ),
        ("plain-pkce", "authorization server metadata", "login-no-pkce", "support PKCE with S256"),
        ("no-code-response", "authorization server metadata", "login-no-code-flow", "authorization code flow"),
        ("no-keys", "authorization server metadata", "login-no-keys", "serve the keys"),
        ("no-registration", "client registration", "login-registration-closed", "--client-id ID"),
    ] {
        let (server, person) = (Guarded::with_fault(fault), Person::new());
        let doctor = person.doctor(&server.url);
        let found: Value =
            serde_json::from_str(&doctor.stdout).unwrap_or_else(|error| panic!("{fault}: {error}: {}", doctor.text()));
        let steps = found["login"]["steps"].as_array().unwrap_or_else(|| panic!("{fault}: {found}"));
        let faults: Vec<(&str, &str, &str)> = steps
            .iter()
            .flat_map(|one| one["faults"].as_array().into_iter().flatten().map(move |fault| (one, fault)))
            .filter_map(|(one, fault)| Some((one["step"].as_str()?, fault["id"].as_str()?, fault["fix"].as_str()?)))
            .collect();
        let matching = faults.iter().any(|(at, found, help)| *at == step && *found == id && help.contains(fix));
        assert!(matching, "{fault}: {faults:?}");
        // One wrong thing each: nothing else is blamed.
        assert_eq!(faults.iter().filter(|(_, found, _)| *found != id).count(), 0, "{fault}: {faults:?}");
    }
}

/// Faults that show only once there is a token.
#[test]
fn doctor_looks_at_the_token() {
    for (fault, id) in [
        ("wrong-audience", "login-token-audience"),
        ("expired-tokens", "login-token-expired"),
        ("old-keys", "login-key-unknown"),
        ("no-scope", "login-scope-not-granted"),
    ] {
        let (server, person) = (Guarded::with_fault(fault), Person::new());
        let login = person.log_in(&server.url);
        assert_eq!(login.code(), Some(0), "{fault}: {}", login.text());
        let doctor = person.run(&["doctor", "--url", &server.url]);
        assert!(doctor.stdout.contains(&format!("[{id}]")), "{fault}: {}", doctor.text());
        assert_no_secret(&person, &[&doctor.text()]);
    }
    let (server, person) = (Guarded::start(&[]), Person::new());
    let before = person.run(&["doctor", "--url", &server.url]);
    assert!(before.stdout.contains(&format!("log in to try it: `mcprove login {}`", server.url)), "{}", before.text());
    person.log_in(&server.url);
    let after = person.run(&["doctor", "--url", &server.url]);
    assert_eq!(after.code(), Some(0), "{}", after.text());
    assert!(after.stdout.contains("  ok       access"), "{}", after.text());
}

#[test]
fn the_issuer_introspects_revokes_and_mints() {
    let server = Guarded::start(&[]);
    let claims = format!(r#"{{"aud": "{}", "sub": "someone"}}"#, server.url);
    let minted = server.post("/mint", "application/json", &claims);
    let token = minted["access_token"].as_str().expect("a token").to_owned();
    let form = "application/x-www-form-urlencoded";
    let introspected = server.post("/introspect", form, &format!("token={token}"));
    assert_eq!((introspected["active"].as_bool(), introspected["sub"].as_str()), (Some(true), Some("someone")));
    server.post("/revoke", form, &format!("token={token}"));
    assert_eq!(server.post("/introspect", form, &format!("token={token}"))["active"], false);
    let person = Person::new();
    let header = format!("Authorization: Bearer {token}");
    assert_eq!(person.run(&["list", "--url", &server.url, "--header", &header]).code(), Some(2));
}
