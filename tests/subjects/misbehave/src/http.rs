//! The same honest server over HTTP, with the one thing that is wrong: `misbehave http BEHAVIOUR`.
//!
//! It prints its address on standard output and ends with its standard input.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::ExitCode,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::server::{honest_reply, quit};

/// A way to misbehave over HTTP.
pub(crate) struct HttpBehaviour {
    /// What follows `http` on the command line.
    pub(crate) name: &'static str,
    /// True if it happens at every request; false if only when a tool is called.
    everywhere: bool,
    /// What the server does, in one line.
    pub(crate) summary: &'static str,
    effect: fn(&Request, &mut TcpStream) -> io::Result<()>,
}

/// A request, read to its end.
struct Request {
    method: String,
    body: Value,
}

const fn row(
    name: &'static str,
    everywhere: bool,
    effect: fn(&Request, &mut TcpStream) -> io::Result<()>,
    summary: &'static str,
) -> HttpBehaviour {
    HttpBehaviour { name, everywhere, summary, effect }
}

/// Every behaviour, sorted by name.
#[rustfmt::skip] // one row, one line
pub(crate) const HTTP: &[HttpBehaviour] = &[
    row("chunked-nonsense", false, |_, out| send(out, "200 OK", "content-type: application/json\r\ntransfer-encoding: chunked\r\n", b"zz\r\nnot a chunk\r\n"), "says that chunks follow, and none does"),
    row("empty", false, |_, out| send(out, "200 OK", "content-type: application/json\r\ncontent-length: 0\r\n", b""), "answers with nothing"),
    row("endless-body", false, |_, out| endless(out, "content-type: application/json\r\n", b"{\"jsonrpc\":\"2.0\",\"x\":\"", b"aaaaaaaaaaaaaaaa"), "answers with a message that never ends"),
    row("endless-comment", false, |_, out| endless(out, "content-type: text/event-stream\r\n", b"", b":\n:\n:\n:\n:\n:\n:\n:\n"), "streams one event of comments that never ends"),
    row("endless-event", false, |_, out| endless(out, "content-type: text/event-stream\r\n", b"data: ", b"aaaaaaaaaaaaaaaa"), "streams an event that never ends"),
    row("endless-header", false, |_, out| endless(out, "x-long: ", b"", b"aaaaaaaaaaaaaaaa"), "sends a header field that never ends"),
    row("error-403", true, |_, out| status(out, "403 Forbidden", ""), "forbids everything"),
    row("error-404", true, |_, out| status(out, "404 Not Found", ""), "has nothing there"),
    row("error-405", true, |_, out| status(out, "405 Method Not Allowed", "allow: GET\r\n"), "takes no POST"),
    row("error-429", false, |_, out| status(out, "429 Too Many Requests", "retry-after: 3600\r\n"), "has had enough"),
    row("error-500", false, |_, out| status(out, "500 Internal Server Error", ""), "fails"),
    row("gzip", false, |_, out| send(out, "200 OK", "content-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 10\r\n", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"), "compresses what nobody asked it to"),
    row("hard-reset", true, |_, _| Ok(()), "resets the connection while it is written to"),
    row("header-injection", false, |request, out| reply(request, out, "x-note: a\x0b::set-output name=x::y\r\nmcp-note: <script>\r\n"), "sends header fields that want to be commands"),
    row("html", false, |_, out| send(out, "200 OK", "content-type: text/html\r\ncontent-length: 13\r\n", b"<p>hello</p>\n"), "answers with a page"),
    row("none", false, |request, out| reply(request, out, ""), "behaves"),
    row("redirect", false, |_, out| status(out, "301 Moved Permanently", "location: http://127.0.0.1:9/mcp\r\n"), "sends clients elsewhere"),
    row("reset", false, |_, _| Ok(()), "closes the connection without an answer"),
    row("result-302", false, |request, out| result(request, out, "302 Found"), "answers with HTTP 302 and a result"),
    row("result-401", false, |request, out| result(request, out, "401 Unauthorized"), "answers with HTTP 401 and a result"),
    row("result-403", false, |request, out| result(request, out, "403 Forbidden"), "answers with HTTP 403 and a result"),
    row("result-404", false, |request, out| result(request, out, "404 Not Found"), "answers with HTTP 404 and a result"),
    row("result-500", false, |request, out| result(request, out, "500 Internal Server Error"), "answers with HTTP 500 and a result"),
    row("result-503", false, |request, out| result(request, out, "503 Service Unavailable"), "answers with HTTP 503 and a result"),
    row("result-999", false, |request, out| result(request, out, "999 Odd"), "answers with HTTP 999 and a result"),
    row("session-lost", false, |_, out| status(out, "404 Not Found", ""), "forgets the session when a tool is called"),
    row("silent", false, |_, _| pause(600), "never answers"),
    row("sse-big-flood", false, big_flood, "sends 80 notifications of a megabyte before its answer"),
    row("sse-comments-only", false, |_, out| comments(out), "streams comments without end"),
    row("sse-flood", false, flood, "sends twenty thousand notifications before its answer"),
    row("sse-retry", false, |_, out| stream(out, b"retry: 99999999\n\n"), "asks for patience and ends the stream"),
    row("sse-twice", false, twice, "streams its answer twice, not the same"),
    row("sse-without-end", false, |_, out| stream(out, b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n").and_then(|()| pause(600)), "never ends its stream"),
    row("truncated", false, |_, out| send(out, "200 OK", "content-type: application/json\r\ncontent-length: 999\r\n", b"{\"jsonrpc\":"), "breaks off in its answer"),
    row("unauthorized", true, |_, out| status(out, "401 Unauthorized", ""), "wants to know who asks, and not how"),
    row("unauthorized-metadata", true, |_, out| status(out, "401 Unauthorized", "www-authenticate: Bearer resource_metadata=\"http://127.0.0.1:9/.well-known/oauth-protected-resource\"\r\n"), "wants to know who asks, and says where to ask"),
];

/// Serves until standard input ends.
pub(crate) fn serve(behaviour: &'static HttpBehaviour) -> ExitCode {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else { return ExitCode::FAILURE };
    let Ok(address) = listener.local_addr() else { return ExitCode::FAILURE };
    if writeln!(io::stdout(), "http://{address}/mcp").is_err() {
        return ExitCode::FAILURE;
    }
    thread::spawn(|| {
        // Whatever is said there is nothing to us; its end is.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        quit(0);
    });
    for stream in listener.incoming().flatten() {
        thread::spawn(move || {
            // A client that has gone needs no answer.
            let _ = speak(behaviour, stream);
        });
    }
    ExitCode::SUCCESS
}

fn speak(behaviour: &HttpBehaviour, mut stream: TcpStream) -> io::Result<()> {
    if behaviour.name == "hard-reset" {
        // What is closed with bytes that nobody read is reset.
        return stream.peek(&mut [0]).map(drop);
    }
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = read(&mut reader)? {
        let is_call = request.body["method"] == "tools/call";
        if behaviour.everywhere || is_call {
            (behaviour.effect)(&request, &mut stream)?;
            if behaviour.name != "none" {
                return Ok(());
            }
        } else {
            reply(&request, &mut stream, "mcp-session-id: one\r\n")?;
        }
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let method = first.split(' ').next().unwrap_or_default().to_owned();
    Ok(Some(Request { method, body: serde_json::from_slice(&body).unwrap_or_default() }))
}

/// What a server without a flaw would answer.
fn reply(request: &Request, out: &mut TcpStream, fields: &str) -> io::Result<()> {
    if request.method != "POST" {
        return status(out, "405 Method Not Allowed", "");
    }
    if request.body.get("id").is_none() {
        return send(out, "202 Accepted", "content-length: 0\r\n", b"");
    }
    let body = honest_reply(&request.body).to_string();
    let head = format!("{fields}content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    send(out, "200 OK", &head, body.as_bytes())
}

fn status(out: &mut TcpStream, status: &str, fields: &str) -> io::Result<()> {
    send(out, status, &format!("{fields}content-type: text/plain\r\ncontent-length: 3\r\n"), b"no\n")
}

fn stream(out: &mut TcpStream, events: &[u8]) -> io::Result<()> {
    send(out, "200 OK", "content-type: text/event-stream\r\n", events)
}

fn comments(out: &mut TcpStream) -> io::Result<()> {
    stream(out, b"")?;
    loop {
        out.write_all(b": still here\n\n")?;
        thread::sleep(Duration::from_millis(20));
    }
}

/// Says this again and again, as fast as it is taken.
fn endless(out: &mut TcpStream, fields: &str, first: &[u8], more: &[u8]) -> io::Result<()> {
    out.write_all(format!("HTTP/1.1 200 OK\r\n{fields}").as_bytes())?;
    if fields.ends_with('\n') {
        out.write_all(b"\r\n")?;
    }
    out.write_all(first)?;
    let many = more.repeat(4 << 10);
    loop {
        out.write_all(&many)?;
    }
}

fn flood(request: &Request, out: &mut TcpStream) -> io::Result<()> {
    stream(out, b"")?;
    let note = br#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":"x"}}"#;
    let many = [note.as_slice(), b"\n\n"].concat().repeat(100);
    for _ in 0..200 {
        out.write_all(&many)?;
    }
    out.write_all(format!("data: {}\n\n", honest_reply(&request.body)).as_bytes())
}

fn big_flood(request: &Request, out: &mut TcpStream) -> io::Result<()> {
    stream(out, b"")?;
    let data = "x".repeat(1 << 20);
    let note = format!(
        "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"debug\",\"data\":\"{data}\"}}}}\n\n"
    );
    for _ in 0..80 {
        out.write_all(note.as_bytes())?;
    }
    out.write_all(format!("data: {}\n\n", honest_reply(&request.body)).as_bytes())
}

/// A proper result with a status that is none.
fn result(request: &Request, out: &mut TcpStream, status: &str) -> io::Result<()> {
    let body = honest_reply(&request.body).to_string();
    let head = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    send(out, status, &head, body.as_bytes())
}

fn twice(request: &Request, out: &mut TcpStream) -> io::Result<()> {
    let mut reply = honest_reply(&request.body);
    let first = format!("data: {reply}\n\n");
    reply["result"] = serde_json::json!({ "content": [{ "type": "text", "text": "on second thoughts" }] });
    stream(out, format!("{first}data: {reply}\n\n").as_bytes())
}

fn send(out: &mut TcpStream, status: &str, fields: &str, body: &[u8]) -> io::Result<()> {
    out.write_all(format!("HTTP/1.1 {status}\r\n{fields}\r\n").as_bytes())?;
    out.write_all(body)?;
    out.flush()
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where something is sent")]
fn pause(seconds: u64) -> io::Result<()> {
    thread::sleep(Duration::from_secs(seconds));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(HTTP.is_sorted_by(|a, b| a.name < b.name));
    }
}
