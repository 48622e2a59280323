//! Calls over one HTTP connection that stays open, written and read by hand.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use crate::{
    Outcome, call,
    session::{INITIALIZE, INITIALIZED, is_result},
};

/// Shakes hands and makes calls for as long as there are numbers for them.
pub(crate) fn calls(url: &str, numbers: &mut dyn Iterator<Item = usize>, params: &str) -> Outcome<()> {
    let place = url.strip_prefix("http://").ok_or("only `http://` is known")?;
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    let stream = TcpStream::connect(host)?;
    stream.set_nodelay(true)?;
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
    );
    let mut connection = Connection { input: BufReader::new(&stream), head, out: Vec::new(), body: Vec::new() };
    connection.post(INITIALIZE, Some(1))?;
    connection.post(INITIALIZED, None)?;
    numbers.map(|number| number + 2).try_for_each(|id| connection.post(&call(id, params), Some(id)))
}

struct Connection<'a> {
    input: BufReader<&'a TcpStream>,
    head: String,
    out: Vec<u8>,
    body: Vec<u8>,
}

impl Connection<'_> {
    fn post(&mut self, message: &str, id: Option<usize>) -> Outcome<()> {
        self.out.clear();
        write!(self.out, "{}Content-Length: {}\r\n\r\n{message}", self.head, message.len())?;
        self.input.get_mut().write_all(&self.out)?;
        let length = self.head_of_reply()?;
        self.body.resize(length, 0);
        self.input.read_exact(&mut self.body)?;
        let body = str::from_utf8(&self.body)?;
        match id {
            Some(id) if !is_result(body, id) => Err(format!("the reply to {id} was: {body:?}").into()),
            Some(_) | None => Ok(()),
        }
    }

    fn head_of_reply(&mut self) -> Outcome<usize> {
        let (mut line, mut length) = (String::with_capacity(64), 0);
        self.input.read_line(&mut line)?;
        if !line.starts_with("HTTP/1.1 2") {
            return Err(format!("the server answered {line:?}").into());
        }
        loop {
            line.clear();
            self.input.read_line(&mut line)?;
            let field = line.trim_end();
            if field.is_empty() {
                return Ok(length);
            }
            if let Some((name, value)) = field.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
        }
    }
}
