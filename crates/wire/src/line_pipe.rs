//! Lines over a pair of byte streams: the framing that stdio and the in-memory transport share.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
#[cfg(unix)]
use tokio::process::ChildStdout;

/// Size of one read.
const CHUNK: usize = 16 << 10;
/// Minimum free space for another read.
const LEAST: usize = 4 << 10;
/// Length of an oversized line that is kept as evidence.
const EVIDENCE: usize = 1 << 10;
/// The mark at the end of evidence that was cut.
const CUT: &str = "…";

/// Lines over a reader and a writer. Both directions make progress in [`LinePipe::receive`], so that a peer that
/// writes while we write cannot lock both sides up.
#[derive(Debug)]
pub(crate) struct LinePipe<R, W> {
    reader: R,
    writer: Option<W>,
    inbox: BytesMut,
    /// Bytes of `inbox` already searched for a line break.
    searched: usize,
    outbox: BytesMut,
    limit: usize,
    skipping: bool,
    ended: bool,
    /// True if nothing is written for now.
    holds: bool,
}

/// Item read from a [`LinePipe`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PipeLine {
    /// A line without its line break.
    Complete(Bytes),
    /// The stream ended inside this line.
    Unfinished(Bytes),
    /// A line longer than the limit: its beginning. The rest is discarded.
    Oversized(Bytes),
    /// The stream has ended.
    End,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> LinePipe<R, W> {
    pub(crate) fn new(reader: R, writer: W, limit: usize) -> Self {
        Self {
            reader,
            writer: Some(writer),
            inbox: BytesMut::new(),
            searched: 0,
            outbox: BytesMut::new(),
            limit,
            skipping: false,
            ended: false,
            holds: false,
        }
    }

    /// Queues a line; [`LinePipe::receive`] writes it.
    pub(crate) fn send(&mut self, line: &[u8]) {
        if self.writer.is_some() {
            self.outbox.extend_from_slice(line);
            self.outbox.extend_from_slice(b"\n");
        }
    }

    /// Queues bytes exactly as they are.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        if self.writer.is_some() {
            self.outbox.extend_from_slice(bytes);
        }
    }

    /// Keeps what is queued from being written, or ends that: lines that follow each other then go out together.
    pub(crate) fn hold(&mut self, holds: bool) {
        self.holds = holds;
    }

    /// True if everything queued has been written.
    pub(crate) fn is_flushed(&self) -> bool {
        self.outbox.is_empty()
    }

    /// The beginning of a line that has not ended yet, when that is all there is.
    pub(crate) fn unfinished(&self) -> Option<Bytes> {
        let is_begun = !self.inbox.is_empty() && !self.skipping && memchr::memchr(b'\n', &self.inbox).is_none();
        is_begun.then(|| excerpt(&self.inbox, EVIDENCE))
    }

    /// Closes our side; what is still queued is given up.
    pub(crate) fn close_writer(&mut self) {
        self.writer = None;
        self.outbox.clear();
    }

    /// Writes what is queued and returns the next line. Safe to cancel: nothing is lost.
    pub(crate) async fn receive(&mut self) -> PipeLine {
        loop {
            if let Some(line) = self.take_line() {
                return line;
            }
            if self.ended {
                return self.take_rest();
            }
            self.make_room();
            let writing = self.writer.is_some() && !self.outbox.is_empty() && !self.holds;
            tokio::select! {
                biased;
                written = write(&mut self.writer, &self.outbox), if writing => match written {
                    Ok(count) => self.outbox.advance(count),
                    // The peer no longer reads. What it still has to say can be read on.
                    Err(_) => self.close_writer(),
                },
                read = self.reader.read_buf(&mut self.inbox) => match read {
                    Ok(count) if count > 0 => {}
                    Ok(_) | Err(_) => self.ended = true,
                },
            }
        }
    }

    /// Makes room for another read. What was read is still held by those who took lines out of it, so room is not given back; a
    /// chunk is used up before the next is asked for.
    fn make_room(&mut self) {
        if self.inbox.capacity() - self.inbox.len() < LEAST {
            self.inbox.reserve(CHUNK);
        }
    }

    fn take_line(&mut self) -> Option<PipeLine> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.inbox[self.searched..]) {
                let mut line = self.inbox.split_to(self.searched + at + 1);
                self.searched = 0;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                line.truncate(line.len() - 1);
                // A bound holds however the line arrived: piece by piece, or whole in one read.
                if line.len() > self.limit {
                    return Some(PipeLine::Oversized(cut(&line, EVIDENCE)));
                }
                return Some(PipeLine::Complete(line.freeze()));
            }
            if self.skipping {
                self.inbox.clear();
                self.searched = 0;
                return None;
            }
            self.searched = self.inbox.len();
            if self.inbox.len() > self.limit {
                let head = cut(&self.inbox, EVIDENCE);
                // A fresh buffer, so that the memory of the long line is given back.
                self.inbox = BytesMut::new();
                self.searched = 0;
                self.skipping = true;
                return Some(PipeLine::Oversized(head));
            }
            return None;
        }
    }

    fn take_rest(&mut self) -> PipeLine {
        self.searched = 0;
        let rest = self.inbox.split().freeze();
        if rest.is_empty() { PipeLine::End } else { PipeLine::Unfinished(rest) }
    }
}

#[cfg(unix)]
impl<W> LinePipe<ChildStdout, W>
where
    W: AsyncWrite + Unpin,
{
    /// Reads what is there by now. The runtime would ask the system what can be read, then read it; where an answer is expected
    /// any moment, that is one call too many.
    pub(crate) fn read_at_once(&mut self) {
        let mut chunk = [0; 1 << 10];
        // Everything else, such as the end of the stream, is seen where the runtime reads.
        if let Ok(count) = rustix::io::read(&self.reader, &mut chunk) {
            self.make_room();
            self.inbox.extend_from_slice(&chunk[..count]);
        }
    }
}

/// A copy of the beginning of some bytes, with a mark where it is cut: next to one, a part of a secret is recognised.
pub(crate) fn excerpt(bytes: &[u8], most: usize) -> Bytes {
    if bytes.len() <= most { Bytes::copy_from_slice(bytes) } else { cut(bytes, most) }
}

/// At most so many bytes, and the mark, since more came.
fn cut(bytes: &[u8], most: usize) -> Bytes {
    let most = most.min(bytes.len());
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = (most.saturating_sub(3)..=most).rev().find(|at| !is_inside(at)).unwrap_or(most);
    [&bytes[..end], CUT.as_bytes()].concat().into()
}

async fn write<W: AsyncWrite + Unpin>(writer: &mut Option<W>, bytes: &[u8]) -> std::io::Result<usize> {
    match writer {
        Some(writer) => match writer.write(bytes).await {
            Ok(0) => Err(std::io::ErrorKind::WriteZero.into()),
            other => other,
        },
        None => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
    }

    async fn lines_of(chunks: Vec<Vec<u8>>, limit: usize) -> Vec<PipeLine> {
        let (near, mut far) = tokio::io::duplex(64);
        let (reader, writer) = tokio::io::split(near);
        let mut pipe = LinePipe::new(reader, writer, limit);
        let feed = async move {
            for chunk in chunks {
                far.write_all(&chunk).await.expect("the pipe reads");
            }
        };
        let collect = async {
            let mut lines = Vec::new();
            loop {
                match pipe.receive().await {
                    PipeLine::End => return lines,
                    line => lines.push(line),
                }
            }
        };
        tokio::join!(feed, collect).1
    }

    #[test]
    fn an_oversized_line_is_cut_and_the_next_one_is_whole() {
        let mut text = vec![b'x'; 5000];
        text.extend_from_slice(b"\nok\nrest");
        let lines = block_on(lines_of(vec![text], 1000));
        assert!(matches!(&lines[0], PipeLine::Oversized(head) if head.ends_with(CUT.as_bytes())));
        assert_eq!(lines[1], PipeLine::Complete(Bytes::from_static(b"ok")));
        assert_eq!(lines[2], PipeLine::Unfinished(Bytes::from_static(b"rest")));
    }

    #[test]
    fn a_line_that_arrives_whole_is_held_to_the_bound_too() {
        let lines = block_on(lines_of(vec![b"too long\nok\n".to_vec()], 4));
        assert!(matches!(&lines[0], PipeLine::Oversized(head) if head.starts_with(b"too")), "{lines:?}");
        assert_eq!(lines[1], PipeLine::Complete(Bytes::from_static(b"ok")));
    }

    #[test]
    fn evidence_that_is_cut_says_so_and_cuts_no_character() {
        assert_eq!(excerpt(b"short", 5), "short");
        assert_eq!(excerpt("abcdé!".as_bytes(), 5), "abcd…");
        assert_eq!(excerpt("abc🎉!".as_bytes(), 5), "abc…");
    }

    #[test]
    fn only_a_line_that_has_begun_and_not_ended_is_unfinished() {
        let begun = |text: &'static [u8]| {
            let (reader, writer) = tokio::io::split(tokio::io::duplex(1).0);
            let mut pipe = LinePipe::new(reader, writer, 1000);
            pipe.inbox.extend_from_slice(text);
            pipe.unfinished()
        };
        assert_eq!(begun(b"{\"id\":"), Some(Bytes::from_static(b"{\"id\":")));
        assert_eq!(begun(b""), None);
        assert_eq!(begun(b"a whole line\nand more"), None, "it has not been looked at yet");
    }

    #[cfg(unix)]
    #[test]
    fn what_a_process_has_written_is_read_without_the_runtime() {
        block_on(async {
            let mut command = tokio::process::Command::new("printf");
            command.arg("one\\ntwo").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.spawn().expect("printf runs");
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { panic!("two pipes") };
            let mut pipe = LinePipe::new(stdout, stdin, 1000);
            child.wait().await.expect("an end");
            pipe.read_at_once();
            pipe.read_at_once();
            assert_eq!(pipe.inbox, b"one\ntwo".as_slice());
            assert_eq!(pipe.receive().await, PipeLine::Complete(Bytes::from_static(b"one")));
            assert_eq!(pipe.receive().await, PipeLine::Unfinished(Bytes::from_static(b"two")));
        });
    }

    #[test]
    fn what_is_held_goes_out_with_what_follows() {
        block_on(async {
            let (near, mut far) = tokio::io::duplex(64);
            let (reader, writer) = tokio::io::split(near);
            let mut pipe = LinePipe::new(reader, writer, 1000);
            pipe.send(b"one");
            pipe.hold(true);
            let mut chunk = [0; 64];
            let held = tokio::select! { biased; _ = pipe.receive() => false, _ = far.read(&mut chunk) => false, () = std::future::ready(()) => true };
            assert!(held, "nothing was written");
            pipe.hold(false);
            pipe.send(b"two");
            let count = tokio::select! { biased; _ = pipe.receive() => 0, count = far.read(&mut chunk) => count.expect("bytes") };
            assert_eq!(&chunk[..count], b"one\ntwo\n");
        });
    }

    #[test]
    fn two_sides_that_write_at_once_do_not_lock_up() {
        block_on(async {
            let (near, far) = tokio::io::duplex(16);
            let (reader, writer) = tokio::io::split(near);
            let mut pipe = LinePipe::new(reader, writer, 1 << 20);
            pipe.send(&[b'a'; 4096]);
            let (mut far_reader, mut far_writer) = tokio::io::split(far);
            let peer = async move {
                // The peer insists on writing before it reads.
                far_writer.write_all(&[b'b'; 4096]).await.expect("we read");
                far_writer.write_all(b"\n").await.expect("we read");
                let mut got = vec![0; 4097];
                far_reader.read_exact(&mut got).await.expect("we write");
                far_writer.write_all(b"done\n").await.expect("we read");
            };
            let ours = async {
                assert!(matches!(pipe.receive().await, PipeLine::Complete(line) if line.len() == 4096));
                assert_eq!(pipe.receive().await, PipeLine::Complete(Bytes::from_static(b"done")));
            };
            tokio::join!(peer, ours);
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_do_not_depend_on_how_they_are_chunked(
            lines in prop::collection::vec("[a-z]{0,40}", 0..12),
            cuts in prop::collection::vec(1usize..30, 0..40),
        ) {
            let text = lines.iter().flat_map(|l| format!("{l}\n").into_bytes()).collect::<Vec<_>>();
            let mut chunks = Vec::new();
            let mut rest = text.as_slice();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(head.to_vec());
                rest = tail;
            }
            chunks.push(rest.to_vec());
            let got = block_on(lines_of(chunks, 1 << 20));
            let expected: Vec<_> = lines.iter().map(|l| PipeLine::Complete(Bytes::from(l.clone().into_bytes()))).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
