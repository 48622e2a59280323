//! Location of a server, and the client's capabilities.

use std::time::Duration;

use serde_json::Value;

use crate::{HttpSettings, Origin, Revision, WaitFor, password_in, without_password};

/// A server as a suite or a command line describes it. Strings may still hold `{{fixture}}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSpec {
    /// Its display name: a key of `servers:`, or the command.
    pub name: String,
    /// Its location.
    pub target: Target,
    /// The protocol revision to speak.
    pub protocol: Protocol,
    /// Capabilities of the client.
    pub client: ClientCapabilities,
    /// True if replies of a shape that official clients refuse are accepted (`implicit: off`).
    pub accepts_any_shape: bool,
    /// Authentication of the client, if a header is not enough.
    pub auth: Option<Auth>,
    /// Values that came from the environment and must not be shown.
    pub secrets: Vec<String>,
    /// Its strings with variables, for files that name it.
    pub origins: Vec<Origin>,
    /// The confinement of a server that is started; `None` starts it unconfined.
    pub sandbox: Option<Sandbox>,
    /// Waiting for a server that may still be starting.
    pub ready: Option<Ready>,
    /// Settings of HTTP requests, if the suite has any.
    pub http: Option<HttpSettings>,
    /// The server that a recording is made anew from.
    pub refresh: Option<Box<Target>>,
}

/// Waiting for a server that may still be starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The time after which it is given up.
    pub within: Duration,
    /// Probe that must succeed first; without it, the handshake is retried until it succeeds.
    pub probe: Option<WaitFor>,
}

/// The confinement of a server: it may write to its fixture copy, its temporary folder, known caches and what is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Further files and folders that it may write to.
    pub writable: Vec<String>,
    /// True if the server must not be started without a sandbox.
    pub required: bool,
}

/// Location of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A process that speaks over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables added to the caller's environment.
        env: Vec<(String, String)>,
        /// Its folder; the caller's when absent.
        cwd: Option<String>,
        /// An image to run the command in.
        docker: Option<String>,
    },
    /// A server that runs already.
    Remote {
        /// Its transport.
        transport: Remote,
        /// Its URL; of an event stream for HTTP+SSE.
        url: String,
        /// Extra headers.
        headers: Vec<(String, String)>,
    },
    /// The built-in mock, in this process.
    Mock {
        /// The path of its manifest.
        manifest: String,
        /// True if its delays take no time, and are measured as if they did.
        virtual_time: bool,
        /// True if all sessions of a run speak to one server, whose faults go on counting.
        keep_state: bool,
    },
    /// A recorded event log that is played again.
    Cassette {
        /// The path of the log.
        path: String,
    },
}

/// Transport of a server that has a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remote {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of the 2024-11-05 revision.
    Sse,
}

impl Remote {
    /// All of them, by name.
    pub const ALL: [Self; 2] = [Self::Http, Self::Sse];

    /// Its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// The transport of a name, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|transport| transport.name().eq_ignore_ascii_case(name))
    }
}

/// Authentication of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// OAuth 2: a token is requested with the client's own credentials.
    ClientCredentials(ClientCredentials),
    /// OAuth 2.1 as hosts use it: everything is found out from the server.
    Oauth(Box<crate::oauth::OauthSettings>),
    /// Every request is signed with AWS Signature Version 4.
    AwsSigV4(AwsSigV4),
}

/// The credentials of an OAuth 2 client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCredentials {
    /// The URL that issues tokens.
    pub token_endpoint: String,
    /// The client's id.
    pub client_id: String,
    /// The client's secret, which is among the secrets of its server.
    pub client_secret: String,
    /// The requested scope.
    pub scope: Option<String>,
}

/// The scope and the keys of AWS signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsSigV4 {
    /// The region, such as `us-east-1`.
    pub region: String,
    /// The service, such as `execute-api`.
    pub service: String,
    /// The source of the keys.
    pub keys: AwsKeySource,
}

/// The source of the keys of AWS signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AwsKeySource {
    /// Keys that came from the environment.
    Given(AwsKeys),
    /// A profile of a credentials file, read when a session is opened.
    Profile {
        /// The file.
        path: String,
        /// The name of the profile.
        name: String,
    },
}

/// The keys of AWS signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsKeys {
    /// The access key id.
    pub access_key_id: String,
    /// The secret access key.
    pub secret_access_key: String,
    /// The session token of temporary keys.
    pub session_token: Option<String>,
}

impl Default for Target {
    fn default() -> Self {
        Self::Stdio { command: String::new(), args: Vec::new(), env: Vec::new(), cwd: None, docker: None }
    }
}

impl Target {
    /// A Streamable HTTP endpoint.
    pub fn http(url: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        Self::Remote { transport: Remote::Http, url: url.into(), headers }
    }

    /// The transport's name in the file format.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Remote { transport, .. } => transport.name(),
            Self::Mock { .. } => "mock",
            Self::Cassette { .. } => "cassette",
        }
    }

    /// The password in its URL, if there is one.
    pub fn password(&self) -> Option<&str> {
        match self {
            Self::Remote { url, .. } => password_in(url),
            Self::Stdio { .. } | Self::Mock { .. } | Self::Cassette { .. } => None,
        }
    }

    /// The command line or URL, for display.
    pub fn label(&self) -> String {
        match self {
            Self::Stdio { command, args, .. } => {
                let mut label = command.clone();
                for arg in args {
                    label.push(' ');
                    label.push_str(arg);
                }
                label
            }
            Self::Remote { url, .. } => without_password(url).into_owned(),
            Self::Mock { manifest, .. } => format!("mock {manifest}"),
            Self::Cassette { path } => format!("cassette {path}"),
        }
    }
}

/// The protocol revision to speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The newest revision with a handshake; modern only when the server names nothing else.
    #[default]
    Legacy,
    /// The stateless revision.
    Modern,
    /// Ask the server first.
    Auto,
    /// Exactly this one.
    Exactly(Revision),
}

impl Protocol {
    /// Its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
            Self::Auto => "auto",
            Self::Exactly(revision) => revision.as_str(),
        }
    }
}

/// Capabilities of the client, and its scripted answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientCapabilities {
    /// Folders answered to `roots/list`; declared when present.
    pub roots: Option<Vec<String>>,
    /// The folders once they have changed, which is after the setup steps of a case and before its act.
    pub roots_changed: Option<Vec<String>>,
    /// Answers to `sampling/createMessage`, in order; the last one repeats. Declared when not empty.
    pub sampling: Vec<SamplingReply>,
    /// The answer to `elicitation/create`; declared when present.
    pub elicitation: Option<ElicitationReply>,
    /// Further answers to `elicitation/create`, in order; the last one repeats.
    pub further_elicitations: Vec<ElicitationReply>,
    /// Answers to requests for input by their key (2026-07-28): what the user enters, or a whole answer.
    pub input_responses: Vec<(String, Value)>,
    /// The capabilities claimed in a handshake in place of what is true.
    pub claimed: Option<Value>,
    /// Sampling and elicitation are declared, and what no script answers is handed to the caller.
    pub by_hand: bool,
}

/// A scripted answer to `sampling/createMessage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingReply {
    /// The text of the assistant's message.
    pub text: String,
    /// The model's name.
    pub model: String,
    /// Reason for the end of the model's reply.
    pub stop_reason: String,
}

/// A scripted answer to `elicitation/create`.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationReply {
    /// Action of the user.
    pub action: ElicitationAction,
    /// Input of the user; sent with `accept` only, and never in answer to a `mode: "url"` request.
    pub content: Value,
    /// True if links are followed too (`mode: "url"`, since 2025-11-25), and so declared.
    pub url: bool,
}

/// Action of a user on an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElicitationAction {
    /// Fills it in.
    Accept,
    /// Says no.
    Decline,
    /// Closes it.
    Cancel,
}
