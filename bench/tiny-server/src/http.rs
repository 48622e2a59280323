//! The same server over Streamable HTTP, with a reply as JSON to each message and connections that stay open.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use crate::reply::reply;

pub(crate) fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that goes away is nothing to tell anybody.
            thread::spawn(move || drop(answer(&connection)));
        }
    });
    // Whoever started it holds the other end, and lets go when it is no longer needed.
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn answer(connection: &TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut input = BufReader::with_capacity(16 << 10, connection);
    let mut output = connection;
    let (mut line, mut body, mut replies, mut out) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let is_post = line.starts_with(b"POST ");
        let length = content_length(&mut input, &mut line)?;
        body.resize(length, 0);
        input.read_exact(&mut body)?;
        replies.clear();
        out.clear();
        if is_post {
            reply(&body, &mut replies);
        }
        match (is_post, replies.len()) {
            // There is no stream of the server's own, and no session that could be ended.
            (false, _) => out.extend_from_slice(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"),
            (true, 0) => out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
            (true, length) => {
                out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
                write!(out, "Content-Length: {length}\r\n\r\n")?;
                out.extend_from_slice(&replies);
            }
        }
        output.write_all(&out)?;
    }
}

/// Reads the header fields to their end; how long the body is.
fn content_length(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        line.clear();
        input.read_until(b'\n', line)?;
        let text = line.trim_ascii();
        if text.is_empty() {
            return Ok(length);
        }
        let name = b"content-length:";
        if text.len() > name.len() && text[..name.len()].eq_ignore_ascii_case(name) {
            let digits = str::from_utf8(text[name.len()..].trim_ascii()).ok().and_then(|digits| digits.parse().ok());
            length = digits.ok_or(io::ErrorKind::InvalidData)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_found_however_it_is_spelt() {
        let read = |text: &str| content_length(&mut text.as_bytes(), &mut Vec::new()).expect("it is well-formed");
        assert_eq!(read("Host: a\r\nCONTENT-length:  12 \r\n\r\n{}"), 12);
        assert_eq!(read("Host: a\r\n\r\n"), 0);
    }
}
