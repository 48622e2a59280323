//! The methods a mock knows, one file a group. A request comes in, a result or a refusal goes out.

mod completion;
mod handshake;
mod input;
mod lists;
mod prompts;
mod replay;
mod resources;
mod subscriptions;
mod tasks;
mod tools;

use std::sync::Arc;

use mcprove_model::Era;
use serde_json::{Value, json};

use crate::era::{Caller, SERVER_INFO};
use crate::manifest::{Level, Manifest};
use crate::message_sink::MessageSink;
use crate::rpc::{Ended, METHOD_NOT_FOUND, Refusal, Request};
use crate::session::Session;
use lists::List;

/// A request that is being answered.
struct Call<'c> {
    session: &'c Arc<Session>,
    manifest: &'c Manifest,
    request: &'c Request,
    sink: &'c MessageSink,
    caller: Caller,
}

/// Methods whose results say how long they may be kept (2026-07-28, "Caching").
const CACHEABLE: &[&str] =
    &["prompts/list", "resources/list", "resources/read", "resources/templates/list", "server/discover", "tools/list"];

/// Answers a request.
pub(crate) async fn answer(session: &Arc<Session>, request: &Request, sink: &MessageSink) -> Result<Value, Ended> {
    let Some(manifest) = session.manifest() else { return replay::answer(session, request).await };
    let call = Call { session, manifest, request, sink, caller: session.caller(request)? };
    let result = call.result().await?;
    Ok(match call.caller.era() {
        Era::Legacy => result,
        Era::Modern => call.dress(result),
    })
}

impl Call<'_> {
    async fn result(&self) -> Result<Value, Ended> {
        let offers = handshake::Abilities::of(self.manifest);
        let result = match (self.caller.era(), self.request.method.as_str()) {
            (Era::Legacy, "initialize") => self.initialize()?,
            (Era::Legacy, "ping") => json!({}),
            (Era::Legacy, "logging/setLevel") => self.set_log_level()?,
            (Era::Legacy, "resources/subscribe") if offers.resources => self.subscribe()?,
            (Era::Legacy, "resources/unsubscribe") if offers.resources => self.unsubscribe()?,
            (Era::Modern, "server/discover") => self.discover(),
            (Era::Modern, "subscriptions/listen") => self.listen().await?,
            (Era::Modern, "tasks/get") if offers.tasks => self.get_task()?,
            (Era::Modern, "tasks/update") if offers.tasks => self.update_task()?,
            (Era::Modern, "tasks/cancel") if offers.tasks => self.cancel_task()?,
            (_, "tools/list") if offers.tools => self.list(List::Tools)?,
            (_, "tools/call") if offers.tools => self.call_tool().await?,
            (_, "resources/list") if offers.resources => self.list(List::Resources)?,
            (_, "resources/templates/list") if offers.resources => self.list(List::Templates)?,
            (_, "resources/read") if offers.resources => self.read_resource().await?,
            (_, "prompts/list") if offers.prompts => self.list(List::Prompts)?,
            (_, "prompts/get") if offers.prompts => self.get_prompt().await?,
            (_, "completion/complete") if offers.completions => self.complete()?,
            (_, method) => {
                return Err(Refusal::new(METHOD_NOT_FOUND, format!("the method `{method}` is not known here")).into());
            }
        };
        Ok(result)
    }

    /// Adds the fields of a modern result: its type, the server's identity, and how long it may be cached.
    fn dress(&self, result: Value) -> Value {
        let mut dressed = json!({"resultType": "complete"});
        if let (Some(dressed), Value::Object(result)) = (dressed.as_object_mut(), result) {
            dressed.extend(result);
        }
        if dressed["resultType"] == "complete" && CACHEABLE.contains(&self.request.method.as_str()) {
            dressed["ttlMs"] = json!(self.manifest.cache.ttl_ms);
            dressed["cacheScope"] = json!(self.manifest.cache.scope);
        }
        if !dressed["_meta"].is_object() {
            dressed["_meta"] = json!({});
        }
        dressed["_meta"][SERVER_INFO] = self.manifest.identity();
        dressed
    }

    fn params(&self) -> &Value {
        &self.request.params
    }

    /// A member of the params that must be a text.
    fn text(&self, name: &str) -> Result<&str, Refusal> {
        match self.params().get(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Refusal::params(format!("`{name}` must be text (at /{name})"))),
            None => Err(Refusal::params(format!("`{name}` is missing (at the top)"))),
        }
    }

    /// A member of the params that may be absent and is an object otherwise.
    fn object(&self, name: &str) -> Result<Value, Refusal> {
        match self.params().get(name) {
            None => Ok(json!({})),
            Some(value) if value.is_object() => Ok(value.clone()),
            Some(_) => Err(Refusal::params(format!("`{name}` must be an object (at /{name})"))),
        }
    }

    fn set_log_level(&self) -> Result<Value, Refusal> {
        let name = self.text("level")?;
        let Some(level) = Level::parse(name) else {
            let known = Level::ALL.map(|(name, _)| name).join(", ");
            return Err(Refusal::params(format!("unknown log level `{name}` (at /level); known: {known}")));
        };
        if let Some(agreed) = &mut self.session.state().agreed {
            agreed.log_level = level;
        }
        Ok(json!({}))
    }
}
