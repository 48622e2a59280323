//! The gate of a relay over HTTP: it adds the user's headers to requests, so only clients of the configured server may
//! pass. A page in a browser must not, whatever name it gives this machine (DNS rebinding).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use super::http_cut::Head;
use crate::request_source::{Authority, RequestSource};

/// Time that a request to an unknown path waits: the event that names the path may have just been passed on.
const PATIENCE: Duration = Duration::from_millis(250);
/// Maximum number of paths that a server may name.
const PATHS: usize = 64;

/// A request that may not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: &'static str,
    pub(super) why: String,
}

/// The paths that may be asked for, and the name that clients may use.
#[derive(Debug)]
pub(super) struct Gate {
    /// The host that the user chose to listen at, which clients may name.
    host: String,
    paths: Mutex<HashSet<String>>,
    named: Notify,
    /// True if requests pass whatever their kind: the client is what is tested.
    is_lenient: bool,
}

impl Gate {
    /// A gate to one path; `address` is the one that the user listens at.
    pub(super) fn new(address: &str, path: &str) -> Self {
        let paths = Mutex::new(HashSet::from([without_query(path).to_owned()]));
        let host = Authority::parse(address).map(|address| address.host.to_owned()).unwrap_or_default();
        Self { host, paths, named: Notify::new(), is_lenient: false }
    }

    /// The same gate for a client that is tested: what it sends wrongly is to be seen.
    pub(super) fn lenient(self, is_lenient: bool) -> Self {
        Self { is_lenient, ..self }
    }

    /// Opens another path: the server named it for messages (HTTP+SSE).
    pub(super) fn open(&self, address: &str) {
        let path = match address.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => address,
        };
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if path.starts_with('/') && paths.len() < PATHS {
            paths.insert(without_query(path).to_owned());
            self.named.notify_waiters();
        }
    }

    /// Checks the head of a request.
    pub(super) async fn check(&self, bytes: &[u8], head: &Head) -> Result<(), Refusal> {
        readable(bytes, head)?;
        self.known_client(head)?;
        let is_open = || {
            let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
            paths.contains(without_query(head.target()))
        };
        if !is_open() {
            let _ = timeout(PATIENCE, self.named.notified()).await;
        }
        if !is_open() {
            return refuse("404 Not Found", "only the path of the server is passed on");
        }
        if self.is_lenient {
            return Ok(());
        }
        let field = |name: &str| head.get(name).unwrap_or_default().to_ascii_lowercase();
        match head.method() {
            "POST" if field("content-type").split(';').next().unwrap_or_default().trim() != "application/json" => {
                refuse("415 Unsupported Media Type", "a message is `application/json`")
            }
            "GET" if !field("accept").contains("text/event-stream") => {
                refuse("406 Not Acceptable", "a GET asks for `text/event-stream`")
            }
            "GET" | "POST" | "DELETE" => Ok(()),
            _ => refuse("405 Method Not Allowed", "messages are GET, POST and DELETE"),
        }
    }

    /// Checks the client: it must use an IP address or the name that the user chose, and not be a page of another
    /// origin.
    fn known_client(&self, head: &Head) -> Result<(), Refusal> {
        let is_known = |named: &Authority<'_>| named.is_local() || named.is_address() || named.is_named(&self.host);
        // An absolute target is none of the paths.
        let source = RequestSource::read(head.all("host"), head.all("origin"), None);
        let source = source.or_else(|why| refuse("403 Forbidden", why))?;
        if !is_known(&source.host) {
            return refuse("403 Forbidden", "the `Host` is not this machine's");
        }
        if source.origin.is_some_and(|(_, page)| !is_known(&page)) {
            return refuse("403 Forbidden", "the `Origin` is not this machine's");
        }
        Ok(())
    }
}

/// Checks that there is one way to read a head: another reader must not see another request.
fn readable(bytes: &[u8], head: &Head) -> Result<(), Refusal> {
    let count = |name: &str| head.fields.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name)).count();
    let unreadable = || refuse("400 Bad Request", "the head of the request cannot be read");
    let lines = bytes.strip_suffix(b"\r\n\r\n").unwrap_or(bytes);
    let mut whole: Vec<&[u8]> = Vec::new();
    let mut rest = lines;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        whole.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    whole.push(rest);
    // A line break of one character is a control character in its line.
    let is_text = |line: &[u8]| line.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control());
    let is_field = |line: &[u8]| {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        name.len() < line.len() && !name.is_empty() && name.iter().all(|byte| is_token(*byte))
    };
    // Empty lines before a request are passed over by everyone.
    let mut heads = whole.iter().copied().skip_while(|line| line.is_empty());
    let is_request = heads.next().is_some_and(is_request_line);
    if !is_request || !whole.iter().copied().all(is_text) || !heads.all(is_field) {
        return unreadable();
    }
    let lengths = count("content-length") + count("transfer-encoding");
    if count("host") != 1 || count("origin") > 1 || count("content-type") > 1 || lengths > 1 {
        return refuse("400 Bad Request", "a header field is there twice, or contradicts another");
    }
    let is_plain = head.get("transfer-encoding").is_none_or(|coding| coding.eq_ignore_ascii_case("chunked"));
    let is_number =
        head.get("content-length").is_none_or(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    let is_too_old = head.first.ends_with("1.0") && head.get("transfer-encoding").is_some();
    if !is_plain || !is_number || is_too_old { unreadable() } else { Ok(()) }
}

/// True for a method, a target of visible characters without a fragment, and a version, with one space between them.
fn is_request_line(line: &[u8]) -> bool {
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = parts.as_slice() else { return false };
    let is_target = !target.is_empty() && target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#');
    let is_method = !method.is_empty() && method.iter().all(|byte| is_token(*byte));
    is_method && is_target && matches!(*version, b"HTTP/1.1" | b"HTTP/1.0")
}

/// True for a character of a method or of a field's name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn refuse<T>(status: &'static str, why: &str) -> Result<T, Refusal> {
    Err(Refusal { status, why: why.to_owned() })
}

fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> &'static str {
        let gate = Gate::new("127.0.0.1:0", "/mcp?x=1");
        gate.open("http://127.0.0.1:9/messages?s=1");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let bytes = text.replace('\n', "\r\n").replace('\u{1}', "\n").into_bytes();
        let checked = runtime.expect("a runtime").block_on(gate.check(&bytes, &Head::parse(&bytes)));
        checked.err().map_or("passes", |refusal| refusal.status.split(' ').next().unwrap_or_default())
    }

    #[test]
    fn only_clients_of_the_server_pass() {
        const JSON: &str = "Content-Type: application/json; charset=utf-8\nContent-Length: 2\n\n";
        for (head, wanted) in [
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1:9\n{JSON}"), "passes"),
            (format!("POST /mcp?x=2 HTTP/1.1\nHost: LOCALHOST\nOrigin: http://localhost:3000\n{JSON}"), "passes"),
            (format!("POST /messages?s=1 HTTP/1.1\nHost: [::1]:9\n{JSON}"), "passes"),
            ("GET /mcp HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\n\n".to_owned(), "passes"),
            ("DELETE /mcp HTTP/1.1\nHost: 127.0.0.1\n\n".to_owned(), "passes"),
            (format!("POST /mcp HTTP/1.1\nHost: evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: localhost.evil.example:80\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nOrigin: https://evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nOrigin: null\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nHost: evil.example\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\n{JSON}"), "400"),
            ("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: text/plain\nContent-Length: 2\n\n".to_owned(), "415"),
            ("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Length: 2\n\n".to_owned(), "415"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nTransfer-Encoding: chunked\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nX: a\u{1}Y: b\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nX: a\n b\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost : 127.0.0.1\nHost: 127.0.0.1\n{JSON}"), "400"),
            ("GET /admin HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\n\n".to_owned(), "404"),
            ("GET /mcp/../admin HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\n\n".to_owned(), "404"),
            ("GET http://other/mcp HTTP/1.1\nHost: 127.0.0.1\nAccept: text/event-stream\n\n".to_owned(), "404"),
            ("GET /mcp HTTP/1.1\nHost: 127.0.0.1\nAccept: */*\n\n".to_owned(), "406"),
            ("OPTIONS /mcp HTTP/1.1\nHost: 127.0.0.1\n\n".to_owned(), "405"),
            ("GET /mcp\n\n".to_owned(), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: [::1].evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1/evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1:80@evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1:evil\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nOrigin: http://127.0.0.1:80@evil.example\n{JSON}"), "403"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nOrigin: http://127.0.0.1\nOrigin: http://127.0.0.1\n{JSON}"), "400"),
            (format!("POST /mcp /admin HTTP/1.1\nHost: 127.0.0.1\n{JSON}"), "400"),
            (format!("POST  /mcp HTTP/1.1\nHost: 127.0.0.1\n{JSON}"), "400"),
            (format!("POST /mcp#x HTTP/1.1\nHost: 127.0.0.1\n{JSON}"), "400"),
            (format!("POST /mcp?\u{e4} HTTP/1.1\nHost: 127.0.0.1\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nGarbage\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nX\u{b}: y\n{JSON}"), "400"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nX: a\u{c}b\n{JSON}"), "400"),
            ("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nTransfer-Encoding:\u{b}chunked\n\n".to_owned(), "400"),
            ("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nTransfer-Encoding: chunked\u{a0}\n\n".to_owned(), "400"),
            ("POST /mcp HTTP/1.0\nHost: 127.0.0.1\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n".to_owned(), "400"),
            ("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nTransfer-Encoding: chunked\n\n".to_owned(), "passes"),
            (format!("POST /mcp HTTP/1.1\nHost: 127.0.0.1\nX: \tb \u{e4}\nEmpty:\n{JSON}"), "passes"),
        ] {
            assert_eq!(status(&head), wanted, "{head}");
        }
    }

    #[test]
    fn the_name_that_the_user_chose_is_known() {
        let gate = Gate::new("tester.lan:8080", "/mcp");
        let head = Head::parse(b"GET /mcp HTTP/1.1\r\nHost: tester.lan:8080\r\n\r\n");
        assert_eq!(gate.known_client(&head), Ok(()));
        assert!(Gate::new("0.0.0.0:8080", "/mcp").known_client(&head).is_err());
    }
}
