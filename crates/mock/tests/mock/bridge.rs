//! Lines for a client whose server speaks HTTP: every message is a POST, and what comes back is a line each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcprove_wire::SseParser;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;

/// Opens a connection to the server.
pub(crate) type Connect = Arc<dyn Fn() -> DuplexStream + Send + Sync>;

/// Something for the client.
enum Down {
    Line(Vec<u8>),
    /// What came of a response that broke off.
    End(Vec<u8>),
}

/// Carries the lines of a client until it leaves or a response breaks off.
pub(crate) async fn bridge(client: DuplexStream, connect: Connect) -> std::io::Result<()> {
    let (reader, mut writer) = tokio::io::split(client);
    let (sender, mut coming) = mpsc::unbounded_channel();
    let session = Arc::new(Mutex::new(None));
    let requests = tokio::spawn(async move {
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("a message");
            let is_request = message.get("id").is_some() && message.get("method").is_some();
            let work = post(connect(), message, Arc::clone(&session), sender.clone());
            if is_request {
                tokio::spawn(work);
            } else {
                work.await;
            }
        }
    });
    while let Some(down) = coming.recv().await {
        match down {
            Down::Line(line) => writer.write_all(&[&line[..], b"\n"].concat()).await?,
            Down::End(rest) => {
                writer.write_all(&rest).await?;
                writer.shutdown().await?;
                break;
            }
        }
    }
    requests.abort();
    Ok(())
}

/// One POST, with everything that comes back.
async fn post(
    mut stream: DuplexStream,
    message: Value,
    session: Arc<Mutex<Option<String>>>,
    sender: mpsc::UnboundedSender<Down>,
) {
    let revision = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let (method, name) = (message["method"].as_str(), message["params"]["name"].as_str());
    let known = session.lock().expect("not poisoned").clone();
    let own = [
        ("mcp-protocol-version", revision.or(known.as_deref().map(|_| "2025-11-25"))),
        ("mcp-session-id", known.as_deref()),
        ("mcp-method", method.filter(|_| revision.is_some())),
        ("mcp-name", name.filter(|_| revision.is_some())),
    ];
    let own = own.iter().filter_map(|(name, value)| Some(format!("{name}: {}\r\n", (*value)?))).collect::<String>();
    let body = message.to_string();
    let text = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\n{own}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.expect("the server reads");
    let mut reader = BufReader::new(stream);
    let Some(headers) = head(&mut reader).await else {
        let _ = sender.send(Down::End(Vec::new()));
        return;
    };
    if let Some(id) = headers.get("mcp-session-id") {
        *session.lock().expect("not poisoned") = Some(id.clone());
    }
    if let Some(length) = headers.get("content-length").and_then(|length| length.parse::<usize>().ok()) {
        let mut body = Vec::new();
        let _ = reader.take(length as u64).read_to_end(&mut body).await;
        let down = if body.len() < length { Down::End(body) } else { Down::Line(body) };
        if length > 0 {
            let _ = sender.send(down);
        }
        return;
    }
    let is_stream = headers.get("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let (mut parser, mut whole) = (SseParser::new(64 << 20), Vec::new());
    while let Some(chunk) = chunk(&mut reader).await {
        if chunk.is_empty() {
            if !is_stream {
                let _ = sender.send(Down::Line(whole));
            }
            return;
        }
        whole.extend_from_slice(&chunk);
        for event in parser.push(&chunk).unwrap_or_default().into_iter().filter(|_| is_stream) {
            let _ = sender.send(Down::Line(event.data.unwrap_or_default().to_vec()));
        }
    }
    let _ = sender.send(Down::End(whole));
}

/// The headers of a response; `None` if the connection ended before.
async fn head(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<HashMap<String, String>> {
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).await.ok().filter(|count| *count > 0)?;
        if line == "\r\n" {
            return Some(headers);
        }
        if let Some((name, value)) = line.trim_end().split_once(": ") {
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
    }
}

/// The next chunk of a body, empty at its end; `None` if it broke off.
async fn chunk(reader: &mut (impl AsyncBufRead + Unpin)) -> Option<Vec<u8>> {
    let mut size = String::new();
    reader.read_line(&mut size).await.ok().filter(|count| *count > 0)?;
    let size = usize::from_str_radix(size.trim(), 16).ok()?;
    let mut chunk = vec![0; size + 2];
    reader.read_exact(&mut chunk).await.ok()?;
    chunk.truncate(size);
    Some(chunk)
}
