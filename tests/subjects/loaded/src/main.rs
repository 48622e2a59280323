//! A server with one defect that only a load shows: `loaded healthy|leaks|slows|loses|confuses|refuses|unlisted [--stdio]`.
//!
//! It speaks Streamable HTTP, prints its URL and ends with its standard input; with `--stdio` it speaks there. Its only tool
//! is `echo {text}`, which takes two milliseconds, or fifty where
//! the defect needs concurrent calls. Over HTTP it also prints a line after 300 calls, and at its end the number of sessions that
//! were not deleted.

use std::env;
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The time that a call takes.
const WORK: Duration = Duration::from_millis(2);
/// The time that a call takes where concurrent calls are needed.
const LONG_WORK: Duration = Duration::from_millis(50);
/// Memory that a leaking server keeps per call, in bytes.
const KEPT: usize = 1000;
/// The number of calls after which a line is printed.
const REPORTED: u64 = 300;
/// The number of concurrent calls at which replies are lost.
const LOST_AT: usize = 50;
/// The number of concurrent calls at which replies are confused.
const CONFUSED_AT: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    None,
    Leaks,
    Slows,
    Loses,
    Confuses,
    /// The handshake of every second session.
    Refuses,
    /// The list of every second session.
    Unlisted,
}

struct Server {
    defect: Defect,
    open: AtomicUsize,
    sessions: AtomicUsize,
    next_session: AtomicU64,
    calls: AtomicU64,
    is_stdio: bool,
    kept: Mutex<Vec<Vec<u8>>>,
    turn: Mutex<()>,
}

fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let defect = match words.first().map(String::as_str) {
        Some("leaks") => Defect::Leaks,
        Some("slows") => Defect::Slows,
        Some("loses") => Defect::Loses,
        Some("confuses") => Defect::Confuses,
        Some("refuses") => Defect::Refuses,
        Some("unlisted") => Defect::Unlisted,
        Some(_) | None => Defect::None,
    };
    let server = Arc::new(Server {
        defect,
        open: AtomicUsize::new(0),
        sessions: AtomicUsize::new(0),
        next_session: AtomicU64::new(0),
        calls: AtomicU64::new(0),
        is_stdio: words.iter().any(|word| word == "--stdio"),
        kept: Mutex::default(),
        turn: Mutex::default(),
    });
    if server.is_stdio {
        return serve_lines(&server);
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    let serving = Arc::clone(&server);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = Arc::clone(&serving);
            thread::spawn(move || serve_http(&server, &stream));
        }
    });
    io::copy(&mut io::stdin(), &mut io::sink())?;
    writeln!(io::stdout(), "{} sessions left", server.sessions.load(Ordering::SeqCst))
}

/// Answers the lines of standard input, calls at the same time.
fn serve_lines(server: &Arc<Server>) -> io::Result<()> {
    let output = Arc::new(Mutex::new(io::stdout()));
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (server, output) = (Arc::clone(server), Arc::clone(&output));
        thread::spawn(move || {
            if let Some(reply) = server.reply(&message) {
                let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = writeln!(output, "{reply}").and_then(|()| output.flush());
            }
        });
    }
    Ok(())
}

/// Answers the requests of one connection.
fn serve_http(server: &Server, stream: &TcpStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream.try_clone()?;
    loop {
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line)? > 2 {
            head.push_str(&line.to_ascii_lowercase());
            line.clear();
        }
        if head.is_empty() {
            return Ok(());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        if head.starts_with("delete") {
            server.sessions.fetch_sub(1, Ordering::SeqCst);
            write!(writer, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        if !head.starts_with("post") {
            write!(writer, "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        if message.get("id").is_none() {
            write!(writer, "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        let named = head.lines().find_map(|line| line.strip_prefix("mcp-session-id:")?.trim().parse::<u64>().ok());
        let is_new = message["method"] == "initialize";
        let number = if is_new { server.next_session.fetch_add(1, Ordering::SeqCst) } else { named.unwrap_or(0) };
        let session = if is_new {
            server.sessions.fetch_add(1, Ordering::SeqCst);
            format!("mcp-session-id: {number}\r\n")
        } else {
            String::new()
        };
        // The first two are those of a client that looks around before the load.
        let is_second = number > 2 && number % 2 == 1;
        let is_refused = match server.defect {
            Defect::Refuses => is_new && is_second,
            Defect::Unlisted => message["method"] == "tools/list" && is_second,
            Defect::None | Defect::Leaks | Defect::Slows | Defect::Loses | Defect::Confuses => false,
        };
        let refusal = json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": "busy"}});
        // A reply that is lost is never sent, and the connection stays open.
        if let Some(reply) = if is_refused { Some(refusal) } else { server.reply(&message) } {
            let reply = reply.to_string();
            let length = reply.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{session}content-length: {length}\r\n\r\n"
            );
            writer.write_all([head.as_bytes(), reply.as_bytes()].concat().as_slice())?;
        }
    }
}

impl Server {
    fn reply(&self, message: &Value) -> Option<Value> {
        let id = message.get("id")?;
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "loaded", "version": "1.0.0"},
            }),
            Some("tools/list") => json!({"tools": [{
                "name": "echo",
                "description": "Returns the text.",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
                "annotations": {"readOnlyHint": true},
            }]}),
            Some("tools/call") => self.call(message)?,
            Some(_) | None => json!({}),
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// The result of a call; `None` if its reply is lost.
    fn call(&self, message: &Value) -> Option<Value> {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == REPORTED && !self.is_stdio {
            let _ = writeln!(io::stdout(), "{REPORTED} calls");
        }
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        if self.defect == Defect::Slows {
            let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            thread::sleep(WORK * u32::try_from(self.sessions.load(Ordering::SeqCst)).unwrap_or(1));
        } else if matches!(self.defect, Defect::Loses | Defect::Confuses) {
            thread::sleep(LONG_WORK);
        } else {
            thread::sleep(WORK);
        }
        self.open.fetch_sub(1, Ordering::SeqCst);
        if self.defect == Defect::Leaks {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(vec![1; KEPT]);
        }
        if self.defect == Defect::Loses && open >= LOST_AT {
            return None;
        }
        let text = message["params"]["arguments"]["text"].as_str().unwrap_or_default();
        let text = if self.defect == Defect::Confuses && open >= CONFUSED_AT { "another text" } else { text };
        Some(json!({"content": [{"type": "text", "text": text}]}))
    }
}
