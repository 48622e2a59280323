//! Frames, transports, sessions and processes: the communication with servers.
//!
//! Whatever a server does is data here ([`mcprove_model::Outcome`], [`OpenFailure`], oddities); only our own
//! mistakes are errors. This is the one room that opens sockets and starts processes.

mod ambiguous;
mod bounded_lines;
mod command;
mod connections;
mod fault;
mod flood;
mod frame_log;
mod host_pipe;
mod limits;
mod line_pipe;
mod listener;
mod memory_reservation;
mod message;
mod non_protocol_output;
pub mod oauth;
mod process;
mod process_group;
#[cfg(any(test, not(unix)))]
#[cfg_attr(unix, expect(dead_code, reason = "its test runs everywhere, and it is used on Windows"))]
mod process_tree;
mod process_usage;
mod program_file;
mod provider;
mod raw_http;
mod raw_pipe;
mod ready;
mod relay;
mod remove_folder;
mod request_source;
mod sandbox;
mod session;
mod sse_parser;
mod temporary_folder;
pub mod transport;
mod watchdog;
mod watched_program;

pub use ambiguous::is_ambiguous;
pub use bounded_lines::{BoundedLines, LinePart};
pub use command::{Background, Captured, FilterCommand, captured_command, command_output, run_command, start_detached};
pub use connections::{AnswerBody, Connection, Connections, OpenRequest, Room, TakenRoom};
pub use fault::{Injector, Strike, inject_http, inject_lines};
pub use host_pipe::{accept_pipe, connect_pipe};
pub use limits::Limits;
pub use listener::Listener;
pub use message::{Message, Reply, ReplyBody, classify};
pub use process::{Program, SpawnError, StderrTail};
pub use process_usage::{ProcessUsage, process_usage};
#[cfg(windows)]
pub use program_file::search_programs;
pub use provider::{ModelAsk, ProviderFailure, RetryPolicy, ask_model};
pub use raw_http::{HttpRoute, RawReply, RawRequest, send_raw};
pub use raw_pipe::{RawEnding, RawLine, RawPipe};
pub use ready::wait_until_reachable;
pub use relay::{
    ClientEnds, HttpRelay, Order, RelayEnd, Tap, TappedMessage, TappedMessages, Upstream, Why, pass_readable,
    relay_lines, relay_stdio,
};
pub use remove_folder::remove_folder;
pub use request_source::{Authority, RequestSource};
pub use sandbox::{
    CONFINED, Caches, Refusal, SandboxPolicy, SandboxSetup, SandboxSupport, prepare_sandbox, refusal_in, run_confined,
    sandbox_support, writable_paths,
};
pub use session::{
    Closing, Endpoint, Finished, Listing, LiveRequest, Negotiated, OpenFailure, Question, ServerRequest, Session,
    SessionOptions, Stage, Step, ToolCall, roots_result,
};
pub use sse_parser::{SseEvent, SseParser, TooLong};
pub use temporary_folder::TemporaryFolder;
pub use transport::{AwsSigner, CredentialsSource, HttpClient, TokenSource, Tokens, Transport};
pub use watchdog::{Guard, TEMPORARY, WATCHDOG, arm, watch_over};
pub use watched_program::{WatchedEnd, watch_program};
