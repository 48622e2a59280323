//! Server-sent events, read as they come, in whatever pieces they come.
//!
//! Our own parser because a tester must show comments, empty events and unfinished blocks, which the known crates drop.

use bytes::Bytes;

/// Something of an event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The event's type; `message` when none was given.
    pub event: Option<String>,
    /// Its data lines, joined by line breaks; `None` when there was no `data` field at all.
    pub data: Option<Bytes>,
    /// Its id, which resumption starts from.
    pub id: Option<String>,
    /// Milliseconds to wait before reconnecting.
    pub retry: Option<u64>,
    /// Comment lines, without their colon.
    pub comments: Vec<String>,
}

/// An incremental parser: feed it chunks, take events.
#[derive(Debug)]
pub struct SseParser {
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed right after it belongs to the same line break.
    after_cr: bool,
    at_start: bool,
    data: Vec<u8>,
    current: SseEvent,
    size: usize,
    limit: usize,
}

/// The block being read is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl SseParser {
    /// A parser that refuses events longer than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            at_start: true,
            data: Vec::new(),
            current: SseEvent::default(),
            size: 0,
            limit,
        }
    }

    /// Takes a chunk and returns the events it completes.
    pub fn push(&mut self, chunk: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(at) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.grow(rest)?;
                break;
            };
            self.grow(&rest[..at])?;
            self.after_cr = rest[at] == b'\r';
            rest = &rest[at + 1..];
            if let Some(event) = self.end_line() {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// True if the stream is inside an unfinished event.
    pub fn is_inside(&self) -> bool {
        !self.line.is_empty() || self.current != SseEvent::default()
    }

    fn grow(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.size += bytes.len();
        if self.size > self.limit {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start)
            && let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf")
        {
            line = rest.to_vec();
        }
        if line.is_empty() {
            return self.end_event();
        }
        let (name, value) = match memchr::memchr(b':', &line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (&line[..], &b""[..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"" => {
                // A comment of one byte takes more than that in memory, and there may be millions of them.
                self.size += size_of::<String>();
                self.current.comments.push(text());
            }
            b"event" => self.current.event = Some(text()),
            b"data" => {
                if self.current.data.is_some() {
                    self.data.push(b'\n');
                }
                self.current.data = Some(Bytes::new());
                self.data.extend_from_slice(value);
            }
            // An id with a NUL is ignored (HTML, "Server-sent events").
            b"id" if !value.contains(&0) => self.current.id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.current.retry = Some(text().parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
        self.line = line;
        self.line.clear();
        None
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        self.size = 0;
        let mut event = std::mem::take(&mut self.current);
        if event.data.is_some() {
            event.data = Some(Bytes::from(std::mem::take(&mut self.data)));
        }
        (event != SseEvent::default()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(chunks: &[&[u8]]) -> Vec<SseEvent> {
        let mut parser = SseParser::new(1 << 20);
        chunks.iter().flat_map(|chunk| parser.push(chunk).expect("short enough")).collect()
    }

    #[test]
    fn fields_comments_and_priming_events_are_kept() {
        let events = parse(&[
            b"\xef\xbb\xbf: hi\nevent: message\ndata: a\ndata:b\nid: 7\nretry: 250\n\nid: 8\ndata:\n\n: only\r\r",
        ]);
        assert_eq!(events.len(), 3);
        assert_eq!(events[0].data.as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(events[0].comments, ["hi"]);
        assert_eq!((events[0].id.as_deref(), events[0].retry), (Some("7"), Some(250)));
        assert_eq!((events[1].id.as_deref(), events[1].data.as_deref()), (Some("8"), Some(&b""[..])));
        assert_eq!(events[2].comments, ["only"]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = SseParser::new(10);
        assert_eq!(parser.push(b"data: 0123456789"), Err(TooLong));
    }

    #[test]
    fn endless_empty_comments_are_refused_before_they_fill_the_memory() {
        let mut parser = SseParser::new(10_000);
        assert_eq!(parser.push(&b":\n".repeat(1_000)), Err(TooLong));
    }

    #[test]
    fn a_huge_retry_does_not_overflow() {
        assert_eq!(parse(&[b"retry: 99999999999999999999999\n\n"])[0].retry, Some(u64::MAX));
    }

    proptest! {
        #[test]
        fn events_do_not_depend_on_how_they_are_chunked(
            text in "(data|id|event|retry|:|\r\n|\n|\r| |a|1|:)*",
            cuts in prop::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = text.as_bytes();
            let whole = parse(&[bytes]);
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(parse(&pieces), whole);
        }
    }
}
