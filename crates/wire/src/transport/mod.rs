//! The ways to reach a server. Each turns what arrives into [`Arrival`]s and knows nothing of the protocol above.

mod aws_sigv4;
mod bearer;
mod http;
pub(crate) mod http_client;
mod http_direct;
mod http_direct_head;
mod http_exchange;
mod http_exchanges;
mod http_refusal;
mod http_replay;
mod http_request_head;
mod memory;
mod sse;
mod stdio;
mod tls;

use bytes::Bytes;
use mcprove_model::{Direction, ProcessEnd, Refused, Revision, WirePart};
use tokio::time::Instant;

pub use aws_sigv4::AwsSigner;
pub use bearer::{CredentialsSource, TokenSource, Tokens};
pub use http_client::HttpClient;
pub(crate) use http_client::{is_secret as secret_field, secure_connector};
pub use memory::Peer;
pub(crate) use sse::resolve as resolve_url;

use crate::{Limits, Program, SpawnError};

/// An open way to a server.
#[derive(Debug)]
pub enum Transport {
    /// A process and its pipes.
    Stdio(Box<stdio::Stdio>),
    /// Streamable HTTP.
    Http(Box<http::Http>),
    /// HTTP+SSE.
    Sse(Box<sse::Sse>),
    /// A peer in this process.
    Memory(memory::Memory),
}

/// A message on its way out.
#[derive(Debug)]
pub struct Outgoing {
    /// The message.
    pub body: Bytes,
    /// The id, when it is a request whose reply is awaited.
    pub request: Option<u64>,
    /// Header fields that go with it, where the transport has such.
    pub headers: Vec<(String, String)>,
}

/// Event from the server's side.
#[derive(Debug)]
pub enum Arrival {
    /// A message, or the bytes in place of one.
    Message(Bytes),
    /// A message on the exchange of one of our requests.
    Answer {
        /// The request.
        request: u64,
        /// The message, or the bytes in place of one.
        message: Bytes,
        /// The HTTP status it came with.
        status: u16,
        /// Nothing more comes on this exchange.
        last: bool,
    },
    /// A message longer than the limit: its beginning.
    Oversized(Bytes),
    /// The stream ended in the middle of this message.
    Torn(Bytes),
    /// Something of the transport itself, for the log.
    Part {
        /// The sender.
        direction: Direction,
        /// Its kind.
        part: WirePart,
        /// Its content.
        body: Bytes,
    },
    /// The head of a refusal; its body may still be the reply.
    Refusing {
        /// The request.
        request: u64,
        /// The refusal if the body does not come.
        refused: Refused,
    },
    /// The transport answered where the server should have.
    Refused {
        /// The request this ends.
        request: u64,
        /// Kind and cause.
        refused: Refused,
    },
    /// Something that fails nothing by itself.
    Odd {
        /// The rule it breaks.
        rule: &'static str,
        /// Description of the event.
        what: String,
        /// The bytes received.
        evidence: Bytes,
    },
    /// A notification or a reply has been accepted by the server.
    Taken,
    /// The server no longer knows the session.
    Lost,
    /// The server is gone.
    Closed {
        /// The lost connection or process, and the cause.
        what: String,
        /// Exit of the process, if there is one and it has exited.
        end: Option<ProcessEnd>,
    },
}

/// End of a transport.
#[derive(Debug, Default)]
pub struct Ended {
    /// Arrivals during closing.
    pub late: Vec<Arrival>,
    /// Exit of the process, if there was one.
    pub end: Option<ProcessEnd>,
    /// True if the process ended before it was sent a signal.
    pub by_itself: bool,
    /// The end of its standard error.
    pub stderr: String,
}

impl Transport {
    /// Starts a process and speaks over its standard input and output.
    pub fn stdio(program: &Program, limits: &Limits) -> Result<Self, SpawnError> {
        Ok(Self::Stdio(Box::new(stdio::Stdio::start(program, limits)?)))
    }

    /// A transport to a peer in this process, and the peer's side.
    pub fn memory(limits: &Limits) -> (Self, Peer) {
        let (near, far) = memory::Memory::pair(limits);
        (Self::Memory(near), far)
    }

    /// An endpoint that speaks Streamable HTTP.
    pub fn http(client: &HttpClient, url: &str, headers: &[(String, String)], limits: &Limits) -> Self {
        Self::Http(Box::new(http::Http::new(client.clone(), url.to_owned(), headers.to_vec(), limits)))
    }

    /// An endpoint that speaks HTTP+SSE.
    pub fn sse(client: &HttpClient, url: &str, headers: &[(String, String)], limits: &Limits) -> Self {
        Self::Sse(Box::new(sse::Sse::new(client.clone(), url.to_owned(), headers.to_vec(), limits)))
    }

    /// Its name in the file format.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
            Self::Memory(_) => "memory",
        }
    }

    /// Sends a message; on pipes it goes out while arrivals are awaited.
    pub fn send(&mut self, outgoing: Outgoing) {
        match self {
            Self::Stdio(stdio) => stdio.send(&outgoing.body),
            Self::Http(http) => http.send(outgoing),
            Self::Sse(sse) => sse.send(outgoing),
            Self::Memory(memory) => memory.send(&outgoing.body),
        }
    }

    /// Keeps what is queued for a process from being written, or ends that: messages that follow each other go out together,
    /// and the process is woken once.
    pub fn hold(&mut self, holds: bool) {
        match self {
            Self::Stdio(stdio) => stdio.hold(holds),
            Self::Http(_) | Self::Sse(_) | Self::Memory(_) => {}
        }
    }

    /// Reads what a process has written by now, so that [`Transport::receive`] has it without waiting.
    pub fn read_at_once(&mut self) {
        match self {
            Self::Stdio(stdio) => stdio.read_at_once(),
            Self::Http(_) | Self::Sse(_) | Self::Memory(_) => {}
        }
    }

    /// True if a request that is sent now goes out at once, with nothing before it.
    pub fn sends_at_once(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http(http) => http.sends_at_once(),
            Self::Sse(_) | Self::Memory(_) => false,
        }
    }

    /// Sends bytes exactly as they are.
    pub fn send_raw(&mut self, bytes: &Bytes, request: Option<u64>) {
        let outgoing = || Outgoing { body: bytes.clone(), request, headers: Vec::new() };
        match self {
            Self::Stdio(stdio) => stdio.send_raw(bytes),
            Self::Http(http) => http.send(outgoing()),
            Self::Sse(sse) => sse.send(outgoing()),
            Self::Memory(memory) => memory.send_raw(bytes),
        }
    }

    /// True if everything sent has gone out.
    pub fn is_flushed(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.is_flushed(),
            Self::Http(http) => http.is_flushed(),
            Self::Sse(sse) => sse.is_flushed(),
            Self::Memory(memory) => memory.is_flushed(),
        }
    }

    /// Passes the negotiated revision to the transport; HTTP sends it with every later message.
    pub fn agreed(&mut self, revision: Option<Revision>) {
        match self {
            Self::Http(http) => http.agreed(revision),
            Self::Stdio(_) | Self::Sse(_) | Self::Memory(_) => {}
        }
    }

    /// Gives the server a stream of its own, where the transport has such.
    pub fn listen(&mut self) {
        match self {
            Self::Http(http) => http.listen(),
            Self::Stdio(_) | Self::Sse(_) | Self::Memory(_) => {}
        }
    }

    /// True if giving up an exchange cancels its request, and if so, does it.
    pub fn abandon(&mut self, request: u64) -> bool {
        match self {
            Self::Http(http) => {
                http.abandon(request);
                true
            }
            Self::Stdio(_) | Self::Sse(_) | Self::Memory(_) => false,
        }
    }

    /// Marks a request as done: it has its reply, or was given up.
    pub fn settled(&mut self, request: u64) {
        match self {
            Self::Http(http) => http.settled(request),
            Self::Stdio(_) | Self::Sse(_) | Self::Memory(_) => {}
        }
    }

    /// Waits until messages can go out; true if they can in time.
    pub async fn is_ready(&mut self, until: Instant) -> bool {
        match self {
            Self::Sse(sse) => sse.is_ready(until).await,
            Self::Stdio(_) | Self::Http(_) | Self::Memory(_) => true,
        }
    }

    /// The obstacle that keeps messages from going out, if any.
    pub fn obstacle(&self) -> Option<&'static str> {
        match self {
            Self::Sse(sse) => sse.obstacle(),
            Self::Stdio(_) | Self::Http(_) | Self::Memory(_) => None,
        }
    }

    /// The beginning of a message that the server has not ended, when there is one.
    pub fn unfinished(&self) -> Option<Bytes> {
        match self {
            Self::Stdio(stdio) => stdio.unfinished(),
            Self::Memory(memory) => memory.unfinished(),
            Self::Http(_) | Self::Sse(_) => None,
        }
    }

    /// True if a message is a line, so that any other line may be log output.
    pub fn has_lines(&self) -> bool {
        match self {
            Self::Stdio(_) | Self::Memory(_) => true,
            Self::Http(_) | Self::Sse(_) => false,
        }
    }

    /// The next arrival. Safe to cancel.
    pub async fn receive(&mut self) -> Arrival {
        match self {
            Self::Stdio(stdio) => stdio.receive().await,
            Self::Http(http) => http.receive().await,
            Self::Sse(sse) => sse.receive().await,
            Self::Memory(memory) => memory.receive().await,
        }
    }

    /// Standard error of the server so far.
    pub fn stderr(&self) -> String {
        match self {
            Self::Stdio(stdio) => stdio.stderr(),
            Self::Http(_) | Self::Sse(_) | Self::Memory(_) => String::new(),
        }
    }

    /// The id of the process that was started for it.
    pub fn process_id(&self) -> Option<u32> {
        match self {
            Self::Stdio(stdio) => stdio.process_id(),
            Self::Http(_) | Self::Sse(_) | Self::Memory(_) => None,
        }
    }

    /// Ends the connection and, with it, the process.
    pub async fn close(self, limits: &Limits) -> Ended {
        match self {
            Self::Stdio(stdio) => stdio.close(limits).await,
            Self::Http(http) => Box::pin(http.close(limits)).await,
            Self::Sse(sse) => sse.close(limits).await,
            Self::Memory(memory) => memory.close().await,
        }
    }
}
