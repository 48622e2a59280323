//! An authorization server and a protected server over raw HTTP, of which every answer can be replaced.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A request.
pub(super) struct Ask {
    pub(super) method: String,
    /// The path and the query.
    target: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Ask {
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A field of the query or of the form.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut pairs = query.split('&').chain(self.body.split('&')).filter_map(|pair| pair.split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| decoded(value))
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut all, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'%' {
            all.push(u8::from_str_radix(&text[at + 1..at + 3], 16).expect("two digits"));
            at += 3;
        } else {
            all.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(all).expect("text")
}

/// An answer in place of the usual one; the second argument is the URL of the host.
pub(super) type Script = fn(&Ask, &str) -> Option<Vec<u8>>;

/// The two servers, on one host.
pub(super) struct Field {
    pub(super) base: String,
    /// Every secret that was sent or received.
    secrets: Arc<Mutex<BTreeSet<String>>>,
}

impl Field {
    pub(super) fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let secrets = Arc::new(Mutex::new(BTreeSet::new()));
        let field = Self { base: base.clone(), secrets: Arc::clone(&secrets) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (base, secrets) = (base.clone(), Arc::clone(&secrets));
                thread::spawn(move || serve(&stream, script, &base, &secrets));
            }
        });
        field
    }

    pub(super) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(super) fn secrets(&self) -> BTreeSet<String> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: &TcpStream, script: Script, base: &str, secrets: &Mutex<BTreeSet<String>>) {
    let mut reader = BufReader::new(stream);
    while let Some(ask) = read(&mut reader) {
        let mut known = secrets.lock().unwrap_or_else(PoisonError::into_inner);
        for name in ["code", "code_verifier", "refresh_token", "client_secret", "token"] {
            known.extend(ask.field(name));
        }
        let answer = script(&ask, base).unwrap_or_else(|| usual(&ask, base, &mut known));
        drop(known);
        let mut stream = stream;
        let is_last = ask.header("connection") == Some("close")
            || !answer.windows(15).any(|bytes| bytes.eq_ignore_ascii_case(b"content-length:"));
        if stream.write_all(&answer).is_err() || is_last {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Ask> {
    // The first byte of TLS, which is not spoken here.
    reader.fill_buf().ok().filter(|bytes| bytes.first() != Some(&22))?;
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut ask = Ask { method, target, headers, body: String::new() };
    let length = ask.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    ask.body = String::from_utf8(body).ok()?;
    Some(ask)
}

pub(super) fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

pub(super) fn as_json(status: u16, value: &Value) -> Vec<u8> {
    answer(status, &[("content-type", "application/json")], value.to_string().as_bytes())
}

pub(super) fn page(status: u16) -> Vec<u8> {
    answer(
        status,
        &[("content-type", "text/html; charset=utf-8")],
        b"<!doctype html><title>Sign in</title><form></form>",
    )
}

pub(super) fn moved(status: u16, to: &str) -> Vec<u8> {
    answer(status, &[("location", to)], b"")
}

pub(super) const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
pub(super) const ROOT: &str = "/.well-known/oauth-protected-resource";
pub(super) const SERVER: &str = "/.well-known/oauth-authorization-server";

pub(super) fn resource(base: &str) -> Value {
    json!({"resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["mcp"],
        "bearer_methods_supported": ["header"]})
}

pub(super) fn server(base: &str) -> Value {
    json!({
        "issuer": base, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"), "revocation_endpoint": format!("{base}/revoke"),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    })
}

/// The value with other fields; those that are null are left out.
pub(super) fn with(mut value: Value, fields: &Value) -> Value {
    for (name, other) in fields.as_object().expect("a map") {
        match other {
            Value::Null => value.as_object_mut().expect("a map").shift_remove(name),
            other => value.as_object_mut().expect("a map").insert(name.clone(), other.clone()),
        };
    }
    value
}

fn challenge(base: &str) -> Vec<u8> {
    let text = format!("Bearer resource_metadata=\"{base}{RESOURCE}\", scope=\"mcp\"");
    answer(401, &[("www-authenticate", &text)], b"")
}

/// Tokens with every character that tokens may have.
pub(super) fn tokens() -> Value {
    json!({
        "access_token": "acc+ess/0123456789~token==", "refresh_token": "ref+resh/0123456789~token=",
        "id_token": "id+token/0123456789~abcdef=", "token_type": "Bearer", "expires_in": 3600, "scope": "mcp",
    })
}

/// What servers answer that do it right.
fn usual(ask: &Ask, base: &str, secrets: &mut BTreeSet<String>) -> Vec<u8> {
    match (ask.method.as_str(), ask.path()) {
        ("GET", RESOURCE) => as_json(200, &resource(base)),
        ("GET", SERVER) => as_json(200, &server(base)),
        ("POST", "/register") => {
            let client = json!({"client_id": "client-1", "client_secret": "client/secret+0123456789="});
            secrets.insert("client/secret+0123456789=".to_owned());
            as_json(201, &client)
        }
        ("GET", "/authorize") => {
            let (back, state) = (ask.field("redirect_uri").expect("a URL"), ask.field("state").expect("a state"));
            moved(302, &format!("{back}?code=co%2Bde%2F0123456789abcdef%3D&state={state}"))
        }
        ("POST", "/token") => {
            secrets.extend(
                ["access_token", "refresh_token", "id_token"]
                    .map(|name| tokens()[name].as_str().expect("a token").to_owned()),
            );
            as_json(200, &tokens())
        }
        ("POST", "/revoke") => as_json(200, &json!({})),
        ("POST", "/mcp") => protocol(ask, base),
        ("GET" | "DELETE", "/mcp") => answer(405, &[], b""),
        _ => answer(404, &[], b""),
    }
}

/// The protected server: a tool that shows the token that it was called with.
fn protocol(ask: &Ask, base: &str) -> Vec<u8> {
    let expected = format!("Bearer {}", tokens()["access_token"].as_str().expect("a token"));
    let Some(token) = ask.header("authorization").filter(|given| *given == expected) else {
        return challenge(base);
    };
    let token = token.strip_prefix("Bearer ").expect("a token");
    let message: Value = serde_json::from_str(&ask.body).expect("a message");
    if message.get("id").is_none() {
        return answer(202, &[], b"");
    }
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "guarded", "version": "1"}}),
        "tools/list" => {
            json!({"tools": [{"name": "whoami", "description": "Shows the caller.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => {
            let text = format!("{token} {} {}", STANDARD.encode(token), percent(token));
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => json!({}),
    };
    as_json(200, &json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

pub(super) fn percent(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().fold(String::new(), |mut all, byte| {
        let _ = if plain(byte) { write!(all, "{}", char::from(byte)) } else { write!(all, "%{byte:02X}") };
        all
    })
}
