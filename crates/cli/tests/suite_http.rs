//! `http` and `auth.aws_sigv4` of a server: TLS, certificates of clients, redirects, deadlines and signatures.

use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A certificate authority, and a certificate for this machine that it signed, as PEM files of a folder.
struct Certificates {
    folder: tempfile::TempDir,
    authority: Certificate,
    server: (Certificate, KeyPair),
}

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&key).expect("an authority");
        let issuer = Issuer::new(params, key);
        let signed = |name: &str| {
            let key = KeyPair::generate().expect("a key");
            let params = CertificateParams::new(vec![name.to_owned()]).expect("parameters");
            (params.signed_by(&key, &issuer).expect("a certificate"), key)
        };
        let (server, client) = (signed("127.0.0.1"), signed("client"));
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).expect("written");
        write("ca.pem", pem("CERTIFICATE", authority.der()));
        write("client.pem", pem("CERTIFICATE", client.0.der()));
        write("client.key", pem("PRIVATE KEY", &client.1.serialize_der()));
        Self { folder, authority, server }
    }

    fn config(&self, wants_client: bool) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring knows them");
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).expect("a root");
        let builder = if wants_client {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.expect("a verifier"))
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(self.server.1.serialize_der()).expect("a key");
        builder.with_single_cert(vec![self.server.0.der().clone()], key).expect("they belong together")
    }
}

fn pem(kind: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
    format!("-----BEGIN {kind}-----\n{}\n-----END {kind}-----\n", lines.join("\n"))
}

/// A server with one tool: `/mcp` answers, `/old` redirects there, `/slow` never answers a call.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(tls: Option<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let (tls, seen) = (tls.map(Arc::new), Arc::clone(&heads));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, seen) = (tls.clone(), Arc::clone(&seen));
                thread::spawn(move || match tls {
                    Some(config) => {
                        let Ok(connection) = ServerConnection::new(config) else { return };
                        serve(StreamOwned::new(connection, stream), &seen);
                    }
                    None => serve::<TcpStream>(stream, &seen),
                });
            }
        });
        Self { port, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("not poisoned").clone()
    }
}

/// Answers requests until the client hangs up.
fn serve<S: Read + Write>(stream: S, heads: &Mutex<Vec<String>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match stream.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let lower = head.to_lowercase();
        heads.lock().expect("not poisoned").push(lower.clone());
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
        let mut body = vec![0; length.trim().parse().unwrap_or(0)];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let answer = |result: &Value| {
            let body = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        };
        let empty = |status: &str| format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let info = json!({"name": "s", "version": "1"});
        let reply = match (head.split(' ').nth(1).unwrap_or_default(), message["method"].as_str()) {
            ("/old", _) => empty("307 Temporary Redirect\r\nlocation: /mcp"),
            (_, Some("initialize")) => {
                answer(&json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}))
            }
            // The client gives up; until then, its next bytes are awaited.
            ("/slow", Some("tools/call")) => {
                let _ = stream.read(&mut [0]);
                return;
            }
            (_, Some("tools/call")) => answer(&json!({"content": [{"type": "text", "text": "hello"}]})),
            (_, Some("tools/list")) => answer(&json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})),
            (_, Some(_)) => empty("202 Accepted"),
            (_, None) => empty("405 Method Not Allowed"),
        };
        if stream.get_mut().write_all(reply.as_bytes()).and_then(|()| stream.get_mut().flush()).is_err() {
            return;
        }
    }
}

fn run(folder: &Path, server: &str) -> Output {
    let suite = format!("servers:\n  api: {server}\ntools:\n  - {{name: t, tool: t, expect: {{contains: hello}}}}\n");
    fs::write(folder.join("suite.yaml"), suite).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcprove"));
    command.args(["run", "suite.yaml"]).current_dir(folder).env("NO_COLOR", "1").env("CI", "");
    command.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIEXAMPLEKEY");
    command.env_remove("AWS_SESSION_TOKEN").env("HOME", folder).env_remove("AWS_SHARED_CREDENTIALS_FILE");
    command.output().expect("mcprove runs")
}

fn assert_run(folder: &Path, server: &str, status: i32, expected: &str) {
    let output = run(folder, server);
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{server}\n{all}");
    assert!(all.contains(expected), "{server}: `{expected}` is not in\n{all}");
}

#[test]
fn roots_of_the_suite_are_trusted_and_others_are_not() {
    let certificates = Certificates::new();
    let folder = certificates.folder.path();
    let server = Server::start(Some(certificates.config(false)));
    let url = format!("https://127.0.0.1:{}/mcp", server.port);
    assert_run(folder, &format!("{{url: '{url}'}}"), 2, "TLS with 127.0.0.1");
    assert_run(folder, &format!("{{url: '{url}', http: {{tls: {{ca_bundle_path: ca.pem}}}}}}"), 0, "1 passed");
    assert_run(folder, &format!("{{url: '{url}', http: {{tls: {{insecure_skip_verify: true}}}}}}"), 0, "1 passed");
    let newest = format!("{{url: '{url}', http: {{tls: {{ca_bundle_path: ca.pem, min_version: '1.3'}}}}}}");
    assert_run(folder, &newest, 0, "1 passed");
    let missing = format!("{{url: '{url}', http: {{tls: {{ca_bundle_path: no.pem}}}}}}");
    assert_run(folder, &missing, 2, "no.pem` cannot be read");
}

#[test]
fn a_client_shows_its_certificate() {
    let certificates = Certificates::new();
    let folder = certificates.folder.path();
    let server = Server::start(Some(certificates.config(true)));
    let url = format!("https://127.0.0.1:{}/mcp", server.port);
    let with = |tls: &str| format!("{{url: '{url}', http: {{tls: {tls}}}}}");
    let pair = "client_cert_path: client.pem, client_key_path: client.key";
    assert_run(folder, &with(&format!("{{ca_bundle_path: ca.pem, mtls: {{{pair}}}}}")), 0, "1 passed");
    assert_run(folder, &with(&format!("{{mtls: {{{pair}, ca_bundle_path: ca.pem}}}}")), 0, "1 passed");
    assert_run(folder, &with("{ca_bundle_path: ca.pem}"), 2, "ERROR");
    assert_run(folder, &with("{mtls: {client_cert_path: client.pem}}"), 2, "client_key_path");
    let swapped = "{ca_bundle_path: ca.pem, mtls: {client_cert_path: client.key, client_key_path: client.key}}";
    assert_run(folder, &with(swapped), 2, "holds no certificate");
}

#[test]
fn redirects_are_followed_where_the_suite_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(None);
    let url = format!("http://127.0.0.1:{}/old", server.port);
    assert_run(folder.path(), &format!("{{url: '{url}'}}"), 2, "307");
    assert_run(folder.path(), &format!("{{url: '{url}', http: {{}}}}"), 0, "1 passed");
    assert_run(folder.path(), &format!("{{url: '{url}', http: {{max_redirects: 1}}}}"), 0, "1 passed");
    assert_run(folder.path(), &format!("{{url: '{url}', http: {{max_redirects: 0}}}}"), 2, "307");
}

#[test]
fn a_request_has_a_deadline_and_perhaps_no_user_agent() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(None);
    let url = format!("http://127.0.0.1:{}/slow", server.port);
    let slow = format!("{{url: '{url}', http: {{timeout: 200ms, connect_timeout: 2s, user_agent_override: false}}}}");
    assert_run(folder.path(), &slow, 1, "was not answered within");
    assert!(server.heads().iter().all(|head| !head.contains("user-agent")), "{:?}", server.heads());
    assert_run(folder.path(), "{command: [x], http: {timeout: 1s}}", 2, "means nothing to a stdio server");
    assert_run(folder.path(), &format!("{{url: '{url}', http: {{timeuot: 1s}}}}"), 2, "did you mean `timeout`?");
}

#[test]
fn requests_are_signed_for_aws() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(None);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let signed = |source: &str| {
        format!("{{url: '{url}', auth: {{aws_sigv4: {{region: eu-west-1, service: lambda, credentials: {source}}}}}}}")
    };
    assert_run(folder.path(), &signed("{source: from_environment}"), 0, "1 passed");
    let scope = "/eu-west-1/lambda/aws4_request, signedheaders=host;x-amz-date, signature=";
    let posts = || server.heads().into_iter().filter(|head| head.starts_with("post"));
    assert!(posts().count() > 1 && posts().all(|head| head.contains(scope)), "{:?}", server.heads());
    assert!(posts().all(|head| head.contains("credential=akidexample/")), "{:?}", server.heads());
    assert_run(folder.path(), &signed("{source: profile, name: ci}"), 2, "cannot be read");
    fs::create_dir(folder.path().join(".aws")).expect("made");
    let profile = "[ci]\naws_access_key_id = PROFILEKEY\naws_secret_access_key = abc\n";
    fs::write(folder.path().join(".aws/credentials"), profile).expect("written");
    assert_run(folder.path(), &signed("{source: profile, name: ci}"), 0, "1 passed");
    assert!(server.heads().iter().any(|head| head.contains("credential=profilekey/")), "{:?}", server.heads());
    assert_run(folder.path(), &signed("{source: profile, name: no}"), 2, "no keys of a profile `no`");
    assert_run(folder.path(), &signed("{source: vault}"), 2, "unknown `source`");
}
