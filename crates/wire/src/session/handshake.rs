//! Agreeing on a protocol revision.

use bytes::Bytes;
use mcprove_model::{Exchange, Finding, Outcome, Protocol, Revision, escape_line, shorten};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Negotiated, OpenFailure, Session, Stage};

/// Why a handshake was not completed.
pub(super) struct Refusal {
    message: String,
    help: Option<String>,
    evidence: Option<Bytes>,
}

impl Refusal {
    /// Closes the session and gathers what it leaves behind.
    pub(super) async fn into_failure(self, session: Session) -> OpenFailure {
        let strays = session.strays.count();
        let closing = session.close().await;
        let help = self.help.or_else(|| last_words(&closing.stderr)).or_else(|| {
            (strays > 0).then(|| "its output is not JSON-RPC: is this an MCP server that speaks over stdio?".to_owned())
        });
        OpenFailure { stage: Stage::Handshake, message: self.message, help, evidence: self.evidence, closing }
    }
}

impl Session {
    /// The handshake of the legacy era: `initialize`, its result, `notifications/initialized`.
    pub(super) async fn shake_hands(&mut self, protocol: Protocol, deadline: Instant) -> Result<(), Refusal> {
        let offered = match protocol {
            Protocol::Exactly(revision) => revision,
            Protocol::Legacy | Protocol::Auto | Protocol::Modern => Revision::NEWEST_LEGACY,
        };
        let params = json!({
            "protocolVersion": offered.as_str(),
            "capabilities": self.declared_capabilities(),
            "clientInfo": {"name": "mcprove", "version": env!("CARGO_PKG_VERSION")},
        });
        let exchange = self.request("initialize", params, deadline).await;
        let result = initialize_result(exchange)?;
        self.negotiated = negotiated(&result)?;
        if !self.negotiated.capabilities.is_object() {
            self.oddities.push(Finding::warning(
                "bad-capabilities",
                format!(
                    "the server's `capabilities` are not an object: {}",
                    shorten(&self.negotiated.capabilities.to_string(), 80)
                ),
            ));
        }
        self.notify("notifications/initialized", &Value::Null);
        Ok(())
    }
}

fn initialize_result(exchange: Exchange) -> Result<Value, Refusal> {
    let plain = |message: String| Refusal { message, help: None, evidence: exchange.reply.clone() };
    match exchange.outcome {
        Outcome::Result(result) => Ok(result),
        Outcome::Error(error) => Err(plain(format!("the server refused `initialize`: {error}"))),
        Outcome::Malformed(malformed) => Err(Refusal {
            message: format!("the answer to `initialize` is broken: {}", malformed.fault),
            help: None,
            evidence: Some(malformed.evidence),
        }),
        Outcome::TimedOut { after_ms } => Err(plain(format!(
            "the server did not answer `initialize` within {:.1} s",
            std::time::Duration::from_millis(after_ms).as_secs_f64()
        ))),
        Outcome::Closed { what, .. } => Err(plain(format!("{what} before it answered `initialize`"))),
        Outcome::Cancelled => Err(plain("`initialize` was cancelled".to_owned())),
    }
}

fn negotiated(result: &Value) -> Result<Negotiated, Refusal> {
    let refuse = |message: String| Refusal {
        message,
        help: Some(format!("known revisions: {}", Revision::ALL.map(Revision::as_str).join(", "))),
        evidence: Some(Bytes::from(result.to_string())),
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
    let info = |key: &str| {
        let text = result.get("serverInfo").and_then(|info| info.get(key)).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Ok(Negotiated {
        revision,
        server_name: info("name"),
        server_version: info("version"),
        capabilities: result.get("capabilities").cloned().unwrap_or_else(|| json!({})),
    })
}

/// The last line of standard error that says something.
fn last_words(stderr: &str) -> Option<String> {
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(format!("its last words on standard error: {}", shorten(&escape_line(line.trim()), 200)))
}
