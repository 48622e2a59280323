//! `initialize` and `server/discover`: who the mock is and what it can do, in the way of each era.

use mcprove_model::{Era, Revision};
use serde_json::{Map, Value, json};

use super::Call;
use crate::era::{TASKS_EXTENSION, supported_versions};
use crate::manifest::{Change, Level, Manifest};
use crate::rpc::{INVALID_REQUEST, Refusal};
use crate::session::Agreed;

/// Capabilities that follow from a manifest. What it does not give is not declared, and asking for it is refused.
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct Abilities {
    pub(super) tools: bool,
    pub(super) resources: bool,
    pub(super) prompts: bool,
    pub(super) completions: bool,
    pub(super) logs: bool,
    pub(super) tasks: bool,
}

impl Abilities {
    pub(super) fn of(manifest: &Manifest) -> Self {
        let tools = || manifest.tools.iter().chain(manifest.changed_tools.iter().flatten());
        let resources = !manifest.resources.is_empty() || !manifest.templates.is_empty();
        let prompts = !manifest.prompts.is_empty();
        Self {
            // A server with nothing at all is most likely one whose tools are still to come.
            tools: tools().next().is_some() || !resources && !prompts,
            resources,
            prompts,
            completions: !manifest.templates.is_empty() || manifest.prompts.iter().any(|p| !p.arguments.is_empty()),
            logs: tools().any(|tool| !tool.logs.is_empty()),
            tasks: tools().any(|tool| tool.task.is_some()),
        }
    }
}

impl Call<'_> {
    pub(super) fn initialize(&self) -> Result<Value, Refusal> {
        // Echo a revision we know; otherwise offer the newest one with a handshake (2025-11-25, "Lifecycle").
        let wanted = Revision::parse(self.text("protocolVersion")?);
        let revision = wanted.filter(|revision| revision.era() == Era::Legacy).unwrap_or(Revision::NEWEST_LEGACY);
        let capabilities = self.object("capabilities")?;
        let mut state = self.session.state();
        if state.agreed.is_some() {
            return Err(Refusal::new(INVALID_REQUEST, "`initialize` was sent before"));
        }
        state.agreed = Some(Agreed { revision, capabilities, log_level: Level::Debug });
        drop(state);
        let mut result = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.capabilities(Era::Legacy),
            "serverInfo": self.manifest.identity(),
        });
        self.instruct(&mut result);
        Ok(result)
    }

    pub(super) fn discover(&self) -> Value {
        let mut result = json!({
            "supportedVersions": supported_versions(),
            "capabilities": self.capabilities(Era::Modern),
        });
        self.instruct(&mut result);
        result
    }

    fn capabilities(&self, era: Era) -> Value {
        let mut capabilities = capabilities_of(self.manifest, era);
        // A client need not listen to what a server does not declare.
        if self.session.mock.faults.announce_changes() && capabilities.get("tools").is_some() {
            capabilities["tools"]["listChanged"] = json!(true);
        }
        capabilities
    }

    fn instruct(&self, result: &mut Value) {
        if let Some(instructions) = &self.manifest.instructions {
            result["instructions"] = json!(instructions);
        }
    }
}

fn capabilities_of(manifest: &Manifest, era: Era) -> Value {
    let abilities = Abilities::of(manifest);
    let list = |change: &Change| if manifest.can_change(change) { json!({"listChanged": true}) } else { json!({}) };
    let mut capabilities = Map::new();
    if abilities.tools {
        capabilities.insert("tools".to_owned(), list(&Change::Tools));
    }
    if abilities.resources {
        let mut resources = list(&Change::Resources);
        resources["subscribe"] = json!(true);
        capabilities.insert("resources".to_owned(), resources);
    }
    if abilities.prompts {
        capabilities.insert("prompts".to_owned(), list(&Change::Prompts));
    }
    if abilities.completions {
        capabilities.insert("completions".to_owned(), json!({}));
    }
    // Legacy clients may always set a level; the modern era deprecates logging, so it is declared only where it is used.
    if abilities.logs || era == Era::Legacy {
        capabilities.insert("logging".to_owned(), json!({}));
    }
    if abilities.tasks && era == Era::Modern {
        capabilities.insert("extensions".to_owned(), json!({TASKS_EXTENSION: {}}));
    }
    Value::Object(capabilities)
}
