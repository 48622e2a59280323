//! The client of a request and its era, as the request states them.

use mcprove_model::{Era, Revision};
use serde_json::{Value, json};

use crate::manifest::Level;
use crate::rpc::{Refusal, Request, UNSUPPORTED_VERSION};

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The client of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Value,
    /// Log messages from this level on are wanted; nothing when none are.
    pub(crate) log_level: Option<Level>,
}

impl Caller {
    pub(crate) fn era(&self) -> Era {
        self.revision.era()
    }

    /// True if the client declared a capability, given as it would declare it: `{"sampling": {"tools": {}}}`.
    pub(crate) fn declares(&self, capability: &Value) -> bool {
        holds(&self.capabilities, capability)
    }

    pub(crate) fn declares_tasks(&self) -> bool {
        self.capabilities.pointer("/extensions/io.modelcontextprotocol~1tasks").is_some_and(Value::is_object)
    }
}

/// True if every member of `part` is in `whole` too, at every depth.
fn holds(whole: &Value, part: &Value) -> bool {
    let (Some(whole), Some(part)) = (whole.as_object(), part.as_object()) else { return whole.is_object() };
    part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| holds(whole, part)))
}

/// The revision a request names in its `_meta`, which makes it one of the modern era.
pub(crate) fn named_revision(params: &Value) -> Option<&Value> {
    params.get("_meta")?.get(PROTOCOL_VERSION)
}

/// The client of a modern request, as the request states it (2026-07-28, "Per-request protocol fields").
pub(crate) fn modern_caller(request: &Request) -> Result<Caller, Refusal> {
    let missing = |what: &str| Refusal::params(format!("`_meta` lacks `{what}`")).of_the_envelope();
    let meta = request.params.get("_meta").unwrap_or(&Value::Null);
    let Some(named) = meta.get(PROTOCOL_VERSION).and_then(Value::as_str) else {
        return Err(missing(PROTOCOL_VERSION));
    };
    let revision = Revision::parse(named).filter(|revision| revision.era() == Era::Modern);
    let Some(revision) = revision else { return Err(unsupported(named)) };
    let Some(capabilities) = meta.get(CLIENT_CAPABILITIES).filter(|value| value.is_object()) else {
        return Err(missing(CLIENT_CAPABILITIES));
    };
    let log_level = match meta.get(LOG_LEVEL) {
        None => None,
        Some(level) => match level.as_str().and_then(Level::parse) {
            Some(level) => Some(level),
            None => return Err(Refusal::params(format!("`{LOG_LEVEL}` is not a log level: {level}")).of_the_envelope()),
        },
    };
    Ok(Caller { revision, capabilities: capabilities.clone(), log_level })
}

fn unsupported(named: &str) -> Refusal {
    Refusal::new(UNSUPPORTED_VERSION, format!("unsupported protocol version `{named}`"))
        .with(json!({"supported": supported_versions(), "requested": named}))
}

/// The revisions whose requests carry their own `_meta`. The others are reached through `initialize`.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL.into_iter().filter(|revision| revision.era() == Era::Modern).map(Revision::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(meta: &Value) -> Result<Caller, Refusal> {
        modern_caller(&Request { id: json!(1), method: "x".to_owned(), params: json!({"_meta": meta}) })
    }

    #[test]
    fn modern_requests_must_say_who_asks() {
        let full = json!({PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {"sampling": {}}, LOG_LEVEL: "error"});
        let caller = ask(&full).expect("complete");
        assert_eq!((caller.era(), caller.log_level), (Era::Modern, Some(Level::Error)));
        for key in [PROTOCOL_VERSION, CLIENT_CAPABILITIES] {
            let mut meta = full.clone();
            meta.as_object_mut().expect("an object").remove(key);
            assert_eq!(ask(&meta).expect_err(key).code, crate::rpc::INVALID_PARAMS);
        }
        for named in ["2025-11-25", "1900-01-01"] {
            let mut meta = full.clone();
            meta[PROTOCOL_VERSION] = json!(named);
            let refusal = ask(&meta).expect_err(named);
            assert_eq!((refusal.code, &refusal.data.expect("data")["requested"]), (UNSUPPORTED_VERSION, &json!(named)));
        }
    }

    #[test]
    fn capabilities_are_compared_to_their_depth() {
        let caller = Caller {
            revision: Revision::NEWEST,
            capabilities: json!({"elicitation": {}, "sampling": {"tools": {}}, "extensions": {TASKS_EXTENSION: {}}}),
            log_level: None,
        };
        assert!(caller.declares(&json!({"sampling": {"tools": {}}})) && caller.declares(&json!({"elicitation": {}})));
        assert!(!caller.declares(&json!({"elicitation": {"url": {}}})) && !caller.declares(&json!({"roots": {}})));
        assert!(caller.declares_tasks());
    }
}
