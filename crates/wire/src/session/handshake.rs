//! Agreeing on a protocol revision, in either era.

use std::time::Duration;

use bytes::Bytes;
use mcprove_model::{Era, Exchange, Finding, Outcome, Protocol, Revision, RpcError, cause_line, escape_line, shorten};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Negotiated, OpenFailure, Session, Stage};

const METHOD_NOT_FOUND: i64 = -32601;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Reason for a failed negotiation.
pub(super) struct Refusal {
    message: String,
    help: Option<String>,
    evidence: Option<Bytes>,
    stage: Stage,
    status: Option<u16>,
    /// The server says that it speaks the modern era only.
    only_modern: bool,
    /// A fresh connection may do better with this protocol.
    again: Option<Protocol>,
    /// True if the server was silent, so its standard error may contain the cause.
    silent: bool,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            evidence: None,
            stage: Stage::Handshake,
            status: None,
            only_modern: false,
            again: None,
            silent: false,
        }
    }

    /// Closes the session and gathers what it leaves behind.
    pub(super) async fn into_failure(self, session: Session) -> OpenFailure {
        let non_protocol = session.non_protocol.count();
        let closing = session.close().await;
        // A server that cannot start mostly says why, once, on standard error.
        let message = match reason(&closing.stderr) {
            Some(reason) if self.silent => format!("{}; its stderr: {reason}", self.message),
            Some(_) | None => self.message,
        };
        let about_output = || {
            (non_protocol > 0)
                .then(|| "its output is not JSON-RPC: is this an MCP server that speaks over stdio?".to_owned())
        };
        let help = self.help.or_else(|| about_npx(&closing.stderr)).or_else(about_output);
        OpenFailure {
            stage: self.stage,
            message,
            help,
            evidence: self.evidence,
            status: self.status,
            again: self.again,
            closing,
        }
    }
}

impl Session {
    /// Agrees on a revision as the options ask.
    pub(super) async fn agree(
        &mut self,
        protocol: Protocol,
        probe_timeout: Duration,
        deadline: Instant,
    ) -> Result<(), Refusal> {
        match protocol {
            Protocol::Modern => self.discover(Revision::NEWEST, deadline).await,
            Protocol::Exactly(revision) => match revision.era() {
                Era::Modern => self.discover(revision, deadline).await,
                Era::Legacy => {
                    self.initialize(revision, deadline).await?;
                    exactly(revision, self.negotiated.revision)
                }
            },
            Protocol::Legacy => self.initialize_or_fall_over(deadline).await,
            // HTTP+SSE belongs to the legacy era; there is nothing to ask.
            Protocol::Auto if self.transport.name() == "sse" => {
                self.initialize(Revision::NEWEST_LEGACY, deadline).await
            }
            Protocol::Auto => self.probe(probe_timeout, deadline).await,
        }
    }

    /// The handshake; a server that refuses it because it speaks the modern era only is spoken to in that way.
    async fn initialize_or_fall_over(&mut self, deadline: Instant) -> Result<(), Refusal> {
        match self.initialize(Revision::NEWEST_LEGACY, deadline).await {
            Err(refusal) if refusal.only_modern => {
                let agreed = self.discover(Revision::NEWEST, deadline).await;
                // It may well have taken its refusal for the end, or hold to the era of the first message.
                agreed.map_err(|refusal| Refusal { again: Some(Protocol::Modern), ..refusal })
            }
            other => other,
        }
    }

    /// The handshake of the legacy era: `initialize`, its result, `notifications/initialized`.
    async fn initialize(&mut self, offered: Revision, deadline: Instant) -> Result<(), Refusal> {
        self.speak(offered);
        let params = json!({
            "protocolVersion": offered.as_str(),
            "capabilities": self.declared_capabilities(),
            "clientInfo": {"name": "mcprove", "version": env!("CARGO_PKG_VERSION")},
        });
        let exchange = self.request("initialize", params, deadline).await;
        let result = self.result_of(exchange)?;
        self.negotiated = negotiated(&result)?;
        if !self.accepts_any_handshake {
            refused_by_clients(&result)?;
        }
        self.transport.agreed(Some(self.negotiated.revision));
        self.check_capabilities();
        self.notify("notifications/initialized", &Value::Null);
        self.transport.listen();
        Ok(())
    }

    /// The modern era has no handshake; `server/discover` lists the capabilities.
    async fn discover(&mut self, wanted: Revision, deadline: Instant) -> Result<(), Refusal> {
        self.speak(wanted);
        let mut exchange = self.request("server/discover", Value::Null, deadline).await;
        if self.takes_after_all(&exchange) {
            exchange = self.request("server/discover", Value::Null, deadline).await;
        }
        if let Outcome::Error(error) = &exchange.outcome
            && !is_modern_error(error)
        {
            return Err(Refusal {
                help: Some("try `protocol: legacy`, or `auto`".to_owned()),
                ..Refusal::new(format!(
                    "the server does not speak {wanted}: `server/discover` was answered with {error}"
                ))
            });
        }
        let result = self.result_of(exchange)?;
        self.discovered(&result, wanted)
    }

    /// Asks in the modern way first, and takes anything but a modern answer for a legacy server.
    async fn probe(&mut self, probe_timeout: Duration, deadline: Instant) -> Result<(), Refusal> {
        self.speak(Revision::NEWEST);
        let until = deadline.min(Instant::now() + probe_timeout);
        let mut exchange = self.request("server/discover", Value::Null, until).await;
        if self.takes_after_all(&exchange) {
            exchange = self.request("server/discover", Value::Null, deadline).await;
        }
        match &exchange.outcome {
            Outcome::Result(result) => match newest_legacy(&strings(result.get("supportedVersions"))) {
                Some(revision) => self.initialize(revision, deadline).await,
                None => self.discovered(&result.clone(), Revision::NEWEST),
            },
            Outcome::Error(error) if is_modern_error(error) => match newest_legacy(&supported(error)) {
                Some(revision) => self.initialize(revision, deadline).await,
                None => self.result_of(exchange).map(drop),
            },
            Outcome::Closed { what, .. } => Err(Refusal {
                again: Some(Protocol::Legacy),
                ..Refusal::new(format!("{what} when it was asked for `server/discover`"))
            }),
            Outcome::Error(_)
            | Outcome::Malformed(_)
            | Outcome::Refused(_)
            | Outcome::TimedOut { .. }
            // A server that starts slowly takes the probe late, and may then hold to the era it was asked in.
            | Outcome::Cancelled => self.initialize_or_fall_over(deadline).await,
        }
    }

    /// True if a server refused a revision and names it among those it speaks. A client asks again with a revision the
    /// server names (2026-07-28, "Protocol Version Header"); we know one modern revision, so it is the same.
    fn takes_after_all(&self, exchange: &Exchange) -> bool {
        let Outcome::Error(error) = &exchange.outcome else { return false };
        error.code == UNSUPPORTED_VERSION && supported(error).contains(&self.negotiated.revision.as_str())
    }

    fn discovered(&mut self, result: &Value, wanted: Revision) -> Result<(), Refusal> {
        let supported = strings(result.get("supportedVersions"));
        if !supported.contains(&wanted.as_str()) {
            return Err(Refusal {
                evidence: Some(Bytes::from(result.to_string())),
                ..Refusal::new(format!(
                    "the server does not list {wanted} among its revisions: {}",
                    supported.join(", ")
                ))
            });
        }
        self.negotiated = Negotiated {
            result: result.clone(),
            revision: wanted,
            server_name: Self::identity(result, "name"),
            server_version: Self::identity(result, "version"),
            capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
            instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
        };
        self.transport.agreed(Some(wanted));
        self.check_capabilities();
        Ok(())
    }

    fn check_capabilities(&mut self) {
        if !self.negotiated.capabilities.is_object() {
            let text = format!(
                "the server's `capabilities` are not an object: {}",
                shorten(&self.negotiated.capabilities.to_string(), 80)
            );
            self.keep_odd(Finding::warning("bad-capabilities", text));
        }
    }
}

fn exactly(wanted: Revision, got: Revision) -> Result<(), Refusal> {
    if wanted == got {
        return Ok(());
    }
    Err(Refusal {
        help: Some(format!("use `protocol: {got}`, or `legacy` for whatever the server prefers")),
        ..Refusal::new(format!("the server does not speak {wanted}: it answered with {got}"))
    })
}

fn is_method_not_found(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Error(error) if error.code == METHOD_NOT_FOUND)
}

fn is_modern_error(error: &RpcError) -> bool {
    matches!(error.code, HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION)
}

/// The revisions that an error names.
fn supported(error: &RpcError) -> Vec<&str> {
    let named = error.data.as_ref().and_then(|data| data.get("supported").or_else(|| data.get("supportedVersions")));
    strings(named)
}

fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// True if an error names revisions, all of them modern.
fn names_only_modern(error: &RpcError) -> bool {
    let known: Vec<_> = supported(error).into_iter().filter_map(Revision::parse).collect();
    !known.is_empty() && known.iter().all(|revision| revision.era() == Era::Modern)
}

/// The newest known revision of a list that knows no modern one.
fn newest_legacy(names: &[&str]) -> Option<Revision> {
    let known = names.iter().filter_map(|name| Revision::parse(name));
    known.max().filter(|revision| revision.era() == Era::Legacy)
}

impl Session {
    /// The result of a request of the handshake, or why there is none.
    fn result_of(&self, exchange: Exchange) -> Result<Value, Refusal> {
        let obstacle = self.transport.obstacle().filter(|_| matches!(exchange.outcome, Outcome::TimedOut { .. }));
        // `404` with "method not found" is the modern era's way to refuse a method, not a missing URL.
        let status = self.status.filter(|status| *status != 404 || !is_method_not_found(&exchange.outcome));
        let outcome = result_of(exchange).map_err(|refusal| match obstacle {
            Some(obstacle) => Refusal {
                message: obstacle.to_owned(),
                help: Some("is this the address of the event stream? it often ends in `/sse`".to_owned()),
                ..refusal
            },
            None => refusal,
        });
        outcome.map_err(|refusal| Refusal { status: refusal.status.or(status), ..refusal })
    }
}

fn result_of(exchange: Exchange) -> Result<Value, Refusal> {
    let method = exchange.method;
    let evidence = exchange.reply;
    Err(match exchange.outcome {
        Outcome::Result(result) => return Ok(result),
        Outcome::Error(error) => {
            let named = match supported(&error).join(", ") {
                names if names.is_empty() => String::new(),
                names => format!("; it speaks {}", shorten(&escape_line(&names), 200)),
            };
            Refusal {
                only_modern: names_only_modern(&error),
                evidence,
                ..Refusal::new(format!("the server refused `{method}`: {error}{named}"))
            }
        }
        Outcome::Malformed(malformed) => Refusal {
            evidence: Some(malformed.evidence),
            ..Refusal::new(format!("the answer to `{method}` is broken: {}", malformed.fault))
        },
        Outcome::Refused(refused) => Refusal {
            help: refused.help,
            evidence: Some(refused.evidence).filter(|bytes| !bytes.is_empty()),
            stage: if refused.status.is_none() { Stage::Start } else { Stage::Handshake },
            status: refused.status,
            ..Refusal::new(refused.what)
        },
        Outcome::TimedOut { after_ms } => Refusal {
            evidence,
            silent: true,
            ..Refusal::new(format!(
                "the server did not answer `{method}` within {:.1} s",
                Duration::from_millis(after_ms).as_secs_f64()
            ))
        },
        Outcome::Closed { what, .. } => {
            Refusal { silent: true, ..Refusal::new(format!("{what} before it answered `{method}`")) }
        }
        Outcome::Cancelled => Refusal::new(format!("`{method}` was cancelled")),
    })
}

fn negotiated(result: &Value) -> Result<Negotiated, Refusal> {
    let refuse = |message: String| Refusal {
        help: Some(format!("known revisions: {}", Revision::ALL.map(Revision::as_str).join(", "))),
        evidence: Some(Bytes::from(result.to_string())),
        ..Refusal::new(message)
    };
    let version = match result.get("protocolVersion") {
        Some(Value::String(version)) => version,
        Some(other) => return Err(refuse(format!("the server's `protocolVersion` is not text: {other}"))),
        None => return Err(refuse("the server's answer to `initialize` has no `protocolVersion`".to_owned())),
    };
    let Some(revision) = Revision::parse(version) else {
        let version = shorten(&escape_line(version), 40).into_owned();
        return Err(refuse(format!("the server wants the unknown protocol revision \"{version}\"")));
    };
    if revision.era() == Era::Modern {
        return Err(refuse(format!("the server answered `initialize` with {revision}, which has no `initialize`")));
    }
    let info = |key: &str| {
        let text = result.get("serverInfo").and_then(|info| info.get(key)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Ok(Negotiated {
        result: result.clone(),
        revision,
        server_name: info("name"),
        server_version: info("version"),
        capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
        instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
    })
}

/// Refuses a handshake that the official SDK clients refuse, so that hosts built on them never connect: `serverInfo` needs
/// `name` and `version`, `capabilities` must be an object of objects.
fn refused_by_clients(result: &Value) -> Result<(), Refusal> {
    let refuse = |fault: &str, help: &str| {
        Err(Refusal {
            help: Some(format!("{help}; `implicit: off` in a suite connects anyway")),
            evidence: Some(Bytes::from(result.to_string())),
            ..Refusal::new(format!("official clients refuse the answer to `initialize`: {fault}"))
        })
    };
    let info = "answer with `serverInfo: {name, version}`";
    let Some(identity) = result.get("serverInfo") else { return refuse("it has no `serverInfo`", info) };
    for key in ["name", "version"] {
        if !identity.get(key).is_some_and(Value::is_string) {
            return refuse(&format!("its `serverInfo` has no `{key}`"), info);
        }
    }
    let declare = "declare each capability as an object, `{}` at least";
    match result.get("capabilities") {
        None => refuse("it has no `capabilities`", declare),
        Some(Value::Object(capabilities)) => {
            let known = ["tools", "resources", "prompts", "logging", "completions"];
            // The Python client takes null for an absent capability.
            let wrong = known.iter().find(|name| {
                capabilities.get(**name).is_some_and(|capability| !capability.is_object() && !capability.is_null())
            });
            match wrong {
                Some(name) => refuse(&format!("its capability `{name}` is not an object"), declare),
                None => Ok(()),
            }
        }
        Some(_) => refuse("its `capabilities` are not an object", declare),
    }
}

/// The first line of standard error, and the one that says why.
fn reason(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let shown = |line: &str| shorten(&escape_line(line.trim()), 200).into_owned();
    let at = cause_line(&lines)?;
    let first = if at > 0 { format!("{} … ", shown(lines[0])) } else { String::new() };
    Some(format!("{first}{}", shown(lines[at])))
}

/// The help for `npx` without `-y`: it waits for a confirmation before it installs a package.
fn about_npx(stderr: &str) -> Option<String> {
    let is_asked = stderr.contains("canceled due to missing packages");
    is_asked.then(|| "npx asks before it installs a package: add `-y` to its arguments".to_owned())
}
