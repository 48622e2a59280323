//! Between a client that started us and a server that we start.

use std::pin::Pin;
use std::time::Duration;

use mcprove_model::{Direction, ProcessEnd, WirePart};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::Tap;
use super::line_cutter::LineCutter;
use super::pump::{Flow, Observer, Pumped, pump};
use crate::Limits;
use crate::fault::{Injector, inject_lines};
use crate::process::{Pipes, Process, Program, SpawnError};
use crate::process_group::Ending;

/// Idle time before a server is ended, once its client has left or after a signal: it may still be writing a reply that
/// has a reader.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time for the rest of a server's output once it has exited: another process may hold the pipe.
const REST: Duration = Duration::from_millis(300);

/// Our own three streams, which the client holds the other ends of.
#[derive(Debug)]
pub struct ClientEnds<R, W, E> {
    /// Messages from the client.
    pub input: R,
    /// Destination of the server's messages.
    pub output: W,
    /// Destination of the server's standard error.
    pub stderr: E,
}

/// Command to the relay from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// SIGHUP came; the server gets it.
    HangUp,
    /// SIGINT came; the server gets it.
    Interrupt,
    /// SIGTERM came; the server gets it.
    Terminate,
    /// The conversation has taken long enough.
    TimeUp,
}

/// Cause of the end of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The client closed its side.
    ClientLeft,
    /// The server closed its side or exited.
    ServerLeft,
    /// A signal came.
    Signalled,
    /// Its time was up.
    TimeUp,
}

/// End of a conversation.
#[derive(Clone, Debug)]
pub struct RelayEnd {
    /// Cause of the end.
    pub why: Why,
    /// Exit of the server process.
    pub end: ProcessEnd,
    /// True if the server did not end by itself and had to be ended.
    pub forced: bool,
    /// The end of its standard error.
    pub stderr: String,
}

/// Starts a server and relays between it and the client until one of them leaves; then the other is closed too. Faults
/// come between the server and the tap, which sees what the client sees.
pub async fn relay_stdio<R, W, E>(
    program: &Program,
    client: ClientEnds<R, W, E>,
    (tap, faults): (&Tap, Option<&Injector>),
    orders: &mut mpsc::UnboundedReceiver<Order>,
    limits: Limits,
) -> Result<RelayEnd, SpawnError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Send + Unpin + 'static,
{
    let (process, pipes) = Process::start_echoing(program, limits.stderr_bytes, client.stderr)?;
    let (sending, receiving) = (Flow::default(), Flow::default());
    let cutter = || LineCutter::new(limits.message_bytes);
    let mut sent = LineTap { tap, session: 0, direction: Direction::Sent, cutter: cutter() };
    let mut received = LineTap { tap, session: 0, direction: Direction::Received, cutter: cutter() };
    let (from_server, to_server) = faulty(pipes, faults);
    let conversation = Conversation {
        process,
        up: Some(Box::pin(pump(client.input, to_server, &sending, &mut sent))),
        down: Some(Box::pin(pump(from_server, client.output, &receiving, &mut received))),
        flow: &receiving,
        grace: limits.exit_grace,
    };
    let end = conversation.run(orders).await;
    sent.finish().await;
    received.finish().await;
    Ok(end)
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The pipes of a server, with faults in front of them.
fn faulty(pipes: Pipes, faults: Option<&Injector>) -> (Reader, Writer) {
    let Some(injector) = faults.filter(|injector| injector.is_needed()) else {
        return (Box::new(pipes.stdout), Box::new(pipes.stdin));
    };
    // One pipe a direction, so that dropping an end closes it.
    let (to_server, asked) = tokio::io::duplex(64 << 10);
    let (answers, from_server) = tokio::io::duplex(64 << 10);
    let injector = injector.clone();
    tokio::spawn(async move { inject_lines(&injector, "0", (asked, answers), (pipes.stdout, pipes.stdin)).await });
    (Box::new(from_server), Box::new(to_server))
}

/// Relays between a client and a server that are both streams of lines, until one of them leaves; the tap is informed.
pub async fn relay_lines<C, S>(client: C, server: S, tap: &Tap, session: u32, limits: Limits)
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (from_client, mut to_client) = tokio::io::split(client);
    let (from_server, mut to_server) = tokio::io::split(server);
    let (sending, receiving) = (Flow::default(), Flow::default());
    let cutter = || LineCutter::new(limits.message_bytes);
    let mut sent = LineTap { tap, session, direction: Direction::Sent, cutter: cutter() };
    let mut received = LineTap { tap, session, direction: Direction::Received, cutter: cutter() };
    let by = {
        let up = pump(from_client, &mut to_server, &sending, &mut sent);
        let down = pump(from_server, &mut to_client, &receiving, &mut received);
        tokio::pin!(up, down);
        tokio::select! {
            pumped = &mut up => match pumped {
                Pumped::SourceEnded => Direction::Sent,
                // A server that does not read may still speak.
                Pumped::SinkClosed => match down.await {
                    Pumped::SourceEnded => Direction::Received,
                    Pumped::SinkClosed => Direction::Sent,
                },
            },
            pumped = &mut down => match pumped {
                Pumped::SourceEnded => Direction::Received,
                Pumped::SinkClosed => Direction::Sent,
            },
        }
    };
    sent.finish().await;
    received.finish().await;
    tap.observe(session, by, WirePart::Closed, bytes::Bytes::new()).await;
    // What is closed already cannot be closed again.
    let _ = to_server.shutdown().await;
    let _ = to_client.shutdown().await;
}

/// Observes one direction as lines.
struct LineTap<'e> {
    tap: &'e Tap,
    session: u32,
    direction: Direction,
    cutter: LineCutter,
}

impl LineTap<'_> {
    /// Observes the last line, even without a line break.
    async fn finish(mut self) {
        if let Some(rest) = self.cutter.finish() {
            self.tap.observe(self.session, self.direction, WirePart::Message, rest).await;
        }
    }
}

impl Observer for LineTap<'_> {
    async fn observe(&mut self, bytes: &[u8]) {
        for line in self.cutter.push(bytes) {
            self.tap.observe(self.session, self.direction, WirePart::Message, line).await;
        }
    }
}

struct Conversation<'f, U, D> {
    process: Process,
    /// Client to server; dropping it closes the server's input.
    up: Option<Pin<Box<U>>>,
    /// Server to client.
    down: Option<Pin<Box<D>>>,
    flow: &'f Flow,
    grace: Duration,
}

impl<U: Future<Output = Pumped>, D: Future<Output = Pumped>> Conversation<'_, U, D> {
    async fn run(mut self, orders: &mut mpsc::UnboundedReceiver<Order>) -> RelayEnd {
        let why = self.until_one_leaves(orders).await;
        let patience = match why {
            Why::ClientLeft => {
                self.up = None;
                PATIENCE
            }
            Why::TimeUp => {
                self.up = None;
                self.grace
            }
            Why::ServerLeft => self.grace,
            Why::Signalled => PATIENCE,
        };
        let forced = !self.exits_within(patience, orders).await;
        self.up = None;
        let Self { process, mut down, flow, grace, .. } = self;
        let finish = process.finish(grace);
        tokio::pin!(finish);
        let (end, stderr) = loop {
            tokio::select! {
                ended = &mut finish => break ended,
                () = carried(&mut down) => down = None,
            }
        };
        // What it said last is still on its way.
        tokio::select! {
            biased;
            () = carried(&mut down) => {}
            () = flow.quiet_for(REST) => {}
        }
        RelayEnd { why, end, forced, stderr }
    }

    async fn until_one_leaves(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) -> Why {
        loop {
            tokio::select! {
                pumped = ended(&mut self.up) => {
                    self.up = None;
                    match pumped {
                        Pumped::SourceEnded => return Why::ClientLeft,
                        // A server that does not read may still speak.
                        Pumped::SinkClosed => {}
                    }
                }
                pumped = ended(&mut self.down) => {
                    self.down = None;
                    return match pumped {
                        Pumped::SourceEnded => Why::ServerLeft,
                        Pumped::SinkClosed => Why::ClientLeft,
                    };
                }
                _ = self.process.exited() => return Why::ServerLeft,
                Some(order) = orders.recv() => {
                    return match order.ending() {
                        Some(ending) => {
                            self.process.end_group(ending);
                            Why::Signalled
                        }
                        None => Why::TimeUp,
                    };
                }
            }
        }
    }

    /// True if the server exits by itself before it has been quiet for too long; another signal ends the waiting.
    async fn exits_within(&mut self, patience: Duration, orders: &mut mpsc::UnboundedReceiver<Order>) -> bool {
        let quiet = self.flow.quiet_for(patience);
        tokio::pin!(quiet);
        loop {
            tokio::select! {
                biased;
                _ = self.process.exited() => return true,
                () = carried(&mut self.down) => self.down = None,
                Some(_) = orders.recv() => return false,
                () = &mut quiet => return false,
            }
        }
    }
}

impl Order {
    /// The signal for the server.
    fn ending(self) -> Option<Ending> {
        match self {
            Self::HangUp => Some(Ending::HungUp),
            Self::Interrupt => Some(Ending::Interrupted),
            Self::Terminate => Some(Ending::Asked),
            Self::TimeUp => None,
        }
    }
}

/// Waits for the end of a direction; one that has ended stays pending.
async fn ended<P: Future<Output = Pumped>>(direction: &mut Option<Pin<Box<P>>>) -> Pumped {
    match direction {
        Some(pumping) => pumping.as_mut().await,
        None => std::future::pending().await,
    }
}

async fn carried<P: Future<Output = Pumped>>(direction: &mut Option<Pin<Box<P>>>) {
    ended(direction).await;
}
