//! Bytes of a connection → heads and bodies of HTTP/1 messages, without losing or changing one.
//!
//! The concatenated pieces always equal the input. What is not HTTP, or is no longer, passes as data.

use bytes::{Bytes, BytesMut};

/// The longest head that is looked at.
const HEAD: usize = 256 << 10;

/// A piece of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The head of a message, with the empty line that ends it.
    Head(Bytes),
    /// Part of a body.
    Data(Bytes),
    /// Chunk sizes and their line breaks.
    Framing(Bytes),
    /// The message is over; nothing came.
    End,
}

/// Side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Requests,
    Responses,
}

/// A head, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// `POST /mcp HTTP/1.1`, or `HTTP/1.1 200 OK`.
    pub(crate) first: String,
    /// Header fields as they came.
    pub(crate) fields: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.split("\r\n").skip_while(|line| line.is_empty());
        let first = lines.next().unwrap_or_default().to_owned();
        let field = |line: &str| {
            line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim_matches([' ', '\t']).to_owned()))
        };
        Self { first, fields: lines.filter_map(field).collect() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The values of all fields with a name.
    pub(crate) fn all<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h [u8]> {
        self.fields.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }

    pub(crate) fn method(&self) -> &str {
        self.first.split(' ').next().unwrap_or_default()
    }

    pub(crate) fn target(&self) -> &str {
        self.first.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn status(&self) -> Option<u16> {
        self.first.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1)).and_then(|code| code.parse().ok())
    }
}

/// The expected next part of the stream.
#[derive(Debug)]
enum State {
    Head(BytesMut),
    Length(u64),
    /// The line that says how long the next chunk is.
    ChunkSize(Vec<u8>),
    Chunk(u64),
    /// The line break behind a chunk.
    ChunkEnd(u8),
    /// Lines behind the last chunk; the empty one ends the message.
    Trailer(Vec<u8>),
    /// Everything to the end of the connection.
    Rest,
}

/// Cuts one direction of a connection into pieces.
#[derive(Debug)]
pub(crate) struct HttpCutter {
    side: Side,
    state: State,
}

impl HttpCutter {
    pub(crate) fn new(side: Side) -> Self {
        Self { side, state: State::Head(BytesMut::new()) }
    }

    /// Takes a chunk; `bodiless` is true if the request of a response allows no body.
    pub(crate) fn push(&mut self, chunk: &[u8], mut bodiless: impl FnMut() -> bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            rest = self.step(rest, &mut pieces, &mut bodiless);
        }
        pieces
    }

    /// True if the stream can no longer be parsed.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.state, State::Rest)
    }

    /// The bytes of an incomplete head at the end of the stream.
    #[cfg(test)]
    fn finish(&mut self) -> Option<Bytes> {
        match &mut self.state {
            State::Head(held) if !held.is_empty() => Some(held.split().freeze()),
            _ => None,
        }
    }

    fn step<'c>(&mut self, bytes: &'c [u8], pieces: &mut Vec<Piece>, bodiless: &mut impl FnMut() -> bool) -> &'c [u8] {
        match &mut self.state {
            State::Head(held) => {
                let from = held.len().saturating_sub(3);
                let before = held.len();
                held.extend_from_slice(bytes);
                if let Some(at) = memchr::memmem::find(&held[from..], b"\r\n\r\n") {
                    let end = from + at + 4;
                    let head = held.split_to(end).freeze();
                    let parsed = Head::parse(&head);
                    pieces.push(Piece::Head(head));
                    self.state = self.after(&parsed, pieces, bodiless);
                    return &bytes[end - before..];
                }
                if held.len() > HEAD {
                    pieces.push(Piece::Data(held.split().freeze()));
                    self.state = State::Rest;
                }
                &[]
            }
            State::Length(left) => {
                let (data, rest) = bytes.split_at(short(*left, bytes));
                *left -= data.len() as u64;
                let over = *left == 0;
                pieces.push(Piece::Data(Bytes::copy_from_slice(data)));
                if over {
                    self.end(pieces);
                }
                rest
            }
            State::ChunkSize(line) => {
                let (taken, rest, whole) = take_line(line, bytes);
                pieces.push(Piece::Framing(Bytes::copy_from_slice(taken)));
                if whole {
                    self.state = match chunk_size(line) {
                        Some(0) => State::Trailer(Vec::new()),
                        Some(size) => State::Chunk(size),
                        None => State::Rest,
                    };
                } else if line.len() > HEAD {
                    self.state = State::Rest;
                }
                rest
            }
            State::Chunk(left) => {
                let (data, rest) = bytes.split_at(short(*left, bytes));
                *left -= data.len() as u64;
                pieces.push(Piece::Data(Bytes::copy_from_slice(data)));
                if *left == 0 {
                    self.state = State::ChunkEnd(2);
                }
                rest
            }
            State::ChunkEnd(left) => {
                let (breaks, rest) = bytes.split_at(short(u64::from(*left), bytes));
                *left -= u8::try_from(breaks.len()).unwrap_or(2);
                pieces.push(Piece::Framing(Bytes::copy_from_slice(breaks)));
                if *left == 0 {
                    self.state = State::ChunkSize(Vec::new());
                }
                rest
            }
            State::Trailer(line) => {
                let (taken, rest, whole) = take_line(line, bytes);
                pieces.push(Piece::Framing(Bytes::copy_from_slice(taken)));
                if whole {
                    let is_last = line.trim_ascii().is_empty();
                    line.clear();
                    if is_last {
                        self.end(pieces);
                    }
                } else if line.len() > HEAD {
                    self.state = State::Rest;
                }
                rest
            }
            State::Rest => {
                pieces.push(Piece::Data(Bytes::copy_from_slice(bytes)));
                &[]
            }
        }
    }

    /// The state after a head (RFC 9112, section 6.3).
    fn after(&self, head: &Head, pieces: &mut Vec<Piece>, bodiless: &mut impl FnMut() -> bool) -> State {
        let next_head = || State::Head(BytesMut::new());
        let is_chunked = head.get("transfer-encoding").is_some_and(|value| value.to_lowercase().contains("chunked"));
        let length = head.get("content-length").map(str::parse::<u64>);
        let otherwise = match (self.side, head.status()) {
            (Side::Requests, _) => Some(0),
            // Another protocol from here on, or no HTTP at all.
            (Side::Responses, Some(101) | None) => return State::Rest,
            (Side::Responses, Some(100..200)) => return next_head(),
            (Side::Responses, Some(status)) => {
                if bodiless() || matches!(status, 204 | 304) {
                    pieces.push(Piece::End);
                    return next_head();
                }
                None
            }
        };
        match (is_chunked, length) {
            (true, _) => State::ChunkSize(Vec::new()),
            (false, Some(Err(_))) => State::Rest,
            (false, length) => match length.and_then(Result::ok).or(otherwise) {
                Some(0) => {
                    pieces.push(Piece::End);
                    next_head()
                }
                Some(length) => State::Length(length),
                None => State::Rest,
            },
        }
    }

    fn end(&mut self, pieces: &mut Vec<Piece>) {
        pieces.push(Piece::End);
        self.state = State::Head(BytesMut::new());
    }
}

fn short(left: u64, bytes: &[u8]) -> usize {
    usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))
}

/// Adds to a line; returns the bytes taken, the bytes left, and true if the line is complete.
fn take_line<'c>(line: &mut Vec<u8>, bytes: &'c [u8]) -> (&'c [u8], &'c [u8], bool) {
    let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
    let (taken, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
    line.extend_from_slice(taken);
    (taken, rest, end.is_some())
}

fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    // No sign: other readers stop at it.
    let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(side: Side, text: &[u8], sizes: &[usize]) -> Vec<Piece> {
        let mut cutter = HttpCutter::new(side);
        let mut pieces = Vec::new();
        let mut rest = text;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let (chunk, left) = rest.split_at(sizes.next().copied().unwrap_or(7).clamp(1, rest.len()));
            pieces.extend(cutter.push(chunk, || false));
            rest = left;
        }
        pieces.extend(cutter.finish().map(Piece::Data));
        pieces
    }

    fn put_together(pieces: &[Piece]) -> Vec<u8> {
        let bytes = |piece: &Piece| match piece {
            Piece::Head(bytes) | Piece::Data(bytes) | Piece::Framing(bytes) => bytes.to_vec(),
            Piece::End => Vec::new(),
        };
        pieces.iter().flat_map(bytes).collect()
    }

    /// The bodies of the messages that ended.
    fn bodies(pieces: &[Piece]) -> Vec<String> {
        let mut bodies = Vec::new();
        let mut body = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Data(data) => body.extend_from_slice(data),
                Piece::End => bodies.push(String::from_utf8_lossy(&std::mem::take(&mut body)).into_owned()),
                Piece::Head(_) | Piece::Framing(_) => {}
            }
        }
        bodies
    }

    const REQUESTS: &[u8] = b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello\
                              GET /mcp HTTP/1.1\r\n\r\n\
                              POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: v\r\n\r\n";
    const RESPONSES: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n\
                               HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n4\r\ndata\r\n0\r\n\r\n\
                               HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end";

    proptest! {
        #[test]
        fn messages_are_found_however_they_are_chunked(sizes in prop::collection::vec(1usize..40, 1..8)) {
            prop_assert_eq!(bodies(&cut(Side::Requests, REQUESTS, &sizes)), ["hello", "", "abcde"]);
            let responses = cut(Side::Responses, RESPONSES, &sizes);
            prop_assert_eq!(bodies(&responses), ["", "data", ""]);
            prop_assert_eq!(put_together(&responses), RESPONSES);
        }

        #[test]
        fn no_byte_is_lost_of_anything(
            text in prop::collection::vec(any::<u8>(), 0..400),
            sizes in prop::collection::vec(1usize..40, 1..8),
            at in 0usize..200,
        ) {
            for side in [Side::Requests, Side::Responses] {
                prop_assert_eq!(put_together(&cut(side, &text, &sizes)), text.clone());
                let mut broken = if side == Side::Requests { REQUESTS.to_vec() } else { RESPONSES.to_vec() };
                let at = at.min(broken.len());
                broken.splice(at..at, text.iter().copied());
                prop_assert_eq!(put_together(&cut(side, &broken, &sizes)), broken);
            }
        }
    }
}
