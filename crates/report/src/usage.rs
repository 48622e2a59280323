//! Usage of the agents of a run: tokens and cost.

use mcprove_model::{AgentRecord, CaseFinished, Report, Usage};
use serde::Serialize;

/// Usage of one or more agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Used {
    prompt_tokens: u64,
    completion_tokens: u64,
    /// In millionths of a US dollar, as far as prices are known.
    cost_usd_micros: u64,
    /// True if tokens were used whose price is not known.
    has_unpriced: bool,
}

impl Used {
    /// Usage of all agents of a report; `None` if no language model was called.
    pub(crate) fn of(report: &Report) -> Option<Self> {
        let mut used = Self::default();
        for finished in report.cases.iter().filter_map(|case| case.finished.as_ref()) {
            used.add(finished);
        }
        (used.total() > 0).then_some(used)
    }

    /// Usage of one agent.
    pub(crate) fn by(agent: &AgentRecord) -> Self {
        let Usage { prompt_tokens, completion_tokens } = agent.usage;
        let has_unpriced = agent.cost_usd_micros.is_none() && agent.usage.total() > 0;
        let cost_usd_micros = agent.cost_usd_micros.unwrap_or_default();
        Self { prompt_tokens, completion_tokens, cost_usd_micros, has_unpriced }
    }

    /// Takes in one more case.
    pub(crate) fn add(&mut self, finished: &CaseFinished) {
        let Some(agent) = &finished.agent else { return };
        let other = Self::by(agent);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.cost_usd_micros = self.cost_usd_micros.saturating_add(other.cost_usd_micros);
        self.has_unpriced |= other.has_unpriced;
    }

    /// Tokens and money in words; nothing when no language model was asked.
    pub(crate) fn text(self) -> Option<String> {
        let total = self.total();
        match (total, self.cost_usd_micros, self.has_unpriced) {
            (0, _, _) => None,
            (_, 0, true) => Some(format!("{total} tokens")),
            (_, micros, false) => Some(format!("{total} tokens, {}", dollars(micros))),
            (_, micros, true) => Some(format!("{total} tokens, {} and what has no known price", dollars(micros))),
        }
    }

    fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

/// An amount of money with four places, of which the last is rounded.
fn dollars(micros: u64) -> String {
    let places = micros.saturating_add(50) / 100;
    format!("${}.{:04}", places / 10_000, places % 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_four_places() {
        assert_eq!(dollars(0), "$0.0000");
        assert_eq!(dollars(4_550), "$0.0046");
        assert_eq!(dollars(12_345_678), "$12.3457");
    }

    #[test]
    fn tokens_without_a_price_are_told() {
        let used = |cost_usd_micros, has_unpriced| Used {
            prompt_tokens: 7,
            completion_tokens: 3,
            cost_usd_micros,
            has_unpriced,
        };
        assert_eq!(used(0, true).text().as_deref(), Some("10 tokens"));
        assert_eq!(used(100, false).text().as_deref(), Some("10 tokens, $0.0001"));
        assert!(used(100, true).text().is_some_and(|text| text.ends_with("no known price")));
        assert_eq!(Used::default().text(), None);
    }
}
