//! A language model that is asked for real.

use mcprove_model::{ChatReply, Finding, NamedModel, Provider, StopReason};
use mcprove_wire::{HttpClient, ModelAsk, RetryPolicy, ask_model};

use super::model_source::Ask;
use super::transcript::Stopped;

/// A language model at its provider.
#[derive(Debug)]
pub(super) struct LiveModel<'s> {
    pub(super) http: HttpClient,
    pub(super) model: &'s NamedModel,
    pub(super) provider: &'s Provider,
    pub(super) max_tokens: u64,
}

impl LiveModel<'_> {
    /// Asks the model; whatever goes wrong on the way is the end of the run, not of the program.
    pub(super) async fn answer(&self, ask: Ask<'_>) -> Result<ChatReply, Stopped> {
        let wanted = ModelAsk {
            model: &self.model.id,
            system: ask.system,
            messages: ask.messages,
            tools: ask.toolbox.shown(),
            max_tokens: self.max_tokens,
        };
        match ask_model(&self.http, self.provider, &wanted, ask.deadline, RetryPolicy::default()).await {
            Ok(reply) => Ok(reply),
            Err(failure) if failure.timed_out && failure.status.is_none() => Err(Stopped::by(StopReason::TimeBudget)),
            Err(failure) => {
                let mut finding = Finding::error("provider", failure.what);
                finding.help = failure.help;
                Err(Stopped::with(StopReason::ProviderError, finding))
            }
        }
    }
}
