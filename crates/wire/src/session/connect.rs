//! From an address to an open session, with the ways round that the specification asks for.

use mcprove_model::Protocol;
use tokio::time::Instant;

use super::{OpenFailure, Session, SessionOptions};
use crate::transport::{HttpClient, Transport};
use crate::{Limits, Program};

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A program to start.
    Stdio(Program),
    /// Streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Extra header fields.
        headers: Vec<(String, String)>,
    },
    /// HTTP+SSE.
    Sse {
        /// The address of the stream.
        url: String,
        /// Extra header fields.
        headers: Vec<(String, String)>,
    },
}

impl Endpoint {
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
        if failure.died_of_probe {
            // A legacy server may well end when its first message is not `initialize`.
            let legacy = SessionOptions { protocol: Protocol::Legacy, ..options.clone() };
            return Self::open(endpoint.transport(client, &options.limits)?, &legacy, deadline).await;
        }
        let may_be_older = matches!(options.protocol, Protocol::Legacy | Protocol::Auto | Protocol::Exactly(_))
            && matches!(failure.status, Some(400 | 404 | 405));
        if let Endpoint::Http { url, headers } = endpoint
            && may_be_older
        {
            // "Backwards Compatibility" of the transport: a server that takes no POST may speak HTTP+SSE.
            let older = Endpoint::Sse { url: url.clone(), headers: headers.clone() };
            let legacy = SessionOptions {
                protocol: match options.protocol {
                    Protocol::Auto => Protocol::Legacy,
                    Protocol::Legacy | Protocol::Modern | Protocol::Exactly(_) => options.protocol,
                },
                ..options.clone()
            };
            if let Ok(session) = Self::open(older.transport(client, &options.limits)?, &legacy, deadline).await {
                return Ok(session);
            }
        }
        Err(failure)
    }
}
