//! From a URL to an open session, with the fallbacks that the specification requires.

use mcprove_model::{Era, Protocol, Remote};
use tokio::time::Instant;

use super::{OpenFailure, Session, SessionOptions};
use crate::sandbox::failure_of_start;
use crate::transport::{HttpClient, Transport};
use crate::{Limits, Program};

/// Location of a server.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A program to start.
    Stdio(Program),
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: String,
        /// Extra headers.
        headers: Vec<(String, String)>,
    },
    /// HTTP+SSE.
    Sse {
        /// The URL of the stream.
        url: String,
        /// Extra headers.
        headers: Vec<(String, String)>,
    },
}

impl Endpoint {
    /// A server that runs already.
    pub fn remote(transport: Remote, url: String, headers: Vec<(String, String)>) -> Self {
        match transport {
            Remote::Http => Self::Http { url, headers },
            Remote::Sse => Self::Sse { url, headers },
        }
    }

    fn transport(&self, client: &HttpClient, limits: &Limits) -> Result<Transport, Box<OpenFailure>> {
        match self {
            Self::Stdio(program) => {
                Transport::stdio(program, limits).map_err(|error| Box::new(OpenFailure::not_started(&error)))
            }
            Self::Http { url, headers } => Ok(Transport::http(client, url, headers, limits)),
            Self::Sse { url, headers } => Ok(Transport::sse(client, url, headers, limits)),
        }
    }
}

impl Session {
    /// Reaches a server and agrees with it on a revision.
    pub async fn connect(
        endpoint: &Endpoint,
        client: &HttpClient,
        options: &SessionOptions,
        deadline: Instant,
    ) -> Result<Self, Box<OpenFailure>> {
        let transport = endpoint.transport(client, &options.limits)?;
        let failure = match Self::open(transport, options, deadline).await {
            Ok(session) => return Ok(session),
            Err(failure) => failure,
        };
        if let Endpoint::Stdio(program) = endpoint
            && let Some(error) = failure_of_start(program, &failure.closing.stderr)
        {
            return Err(Box::new(OpenFailure::not_started(&error)));
        }
        if let Some(protocol) = failure.again {
            // A server may well end when its first message is of the other era.
            let again = SessionOptions { protocol, ..options.clone() };
            return Self::open(endpoint.transport(client, &options.limits)?, &again, deadline).await;
        }
        match endpoint {
            Endpoint::Http { url, headers } if may_be_older(options.protocol, &failure) => {
                let older = Endpoint::Sse { url: url.clone(), headers: headers.clone() };
                Self::connect_older(&older, client, options, deadline).await.unwrap_or(Err(failure))
            }
            Endpoint::Http { .. } | Endpoint::Stdio(_) | Endpoint::Sse { .. } => Err(failure),
        }
    }

    /// Tries HTTP+SSE; `None` when the server does not speak it.
    async fn connect_older(
        endpoint: &Endpoint,
        client: &HttpClient,
        options: &SessionOptions,
        deadline: Instant,
    ) -> Option<Result<Self, Box<OpenFailure>>> {
        let mut transport = endpoint.transport(client, &options.limits).ok()?;
        // A stream without an `endpoint` event is another one, and may be silent forever.
        if !transport.is_ready(deadline.min(Instant::now() + options.probe_timeout)).await {
            return None;
        }
        Some(Self::open(transport, options, deadline).await)
    }
}

/// "Backwards Compatibility" of the transport: a server that does not take `initialize` may speak HTTP+SSE.
fn may_be_older(protocol: Protocol, failure: &OpenFailure) -> bool {
    let is_legacy = match protocol {
        Protocol::Legacy | Protocol::Auto => true,
        Protocol::Modern => false,
        Protocol::Exactly(revision) => revision.era() == Era::Legacy,
    };
    is_legacy && matches!(failure.status, Some(400 | 404 | 405))
}
