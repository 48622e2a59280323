//! A client on rmcp, in both eras of the protocol: an implementation that is not ours, so that our mock is not only
//! tested by our own reading of the specification. What it is asked it answers, and what it hears it counts.

#![expect(deprecated, reason = "the mock still asks what the newest revision deprecates")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, ListRootsResult, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, Role, Root, SamplingMessage,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;

/// A client that agrees to everything. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Guest {
    /// How many progress notifications it heard.
    pub progress: Arc<AtomicUsize>,
    /// How many log messages it heard.
    pub logs: Arc<AtomicUsize>,
    /// How many changes it heard of.
    pub changes: Arc<AtomicUsize>,
}

impl ClientHandler for Guest {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_sampling().enable_elicitation().enable_roots().build();
        // Left alone, rmcp offers a revision without a handshake in its handshake.
        ClientConfig::new(capabilities, Implementation::new("guest", "1.0.0"))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(SamplingMessage::new(Role::Assistant, "Paris"), "model".to_owned()))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept)
            .with_content(json!({"name": "Ada", "color": "blue", "response": "yes"})))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///guest")]))
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_logging_message(&self, _: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.logs.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
