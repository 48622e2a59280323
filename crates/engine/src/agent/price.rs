//! Prices of models, as far as known.

use mcprove_model::{NamedModel, Price, Usage};

/// Prices by the beginning of the model's name, in US dollars for a million tokens, as the providers publish them
/// (November 2026). What a suite says under `prices` wins; what neither knows has no cost in the report.
const KNOWN: &[(&str, Price)] = &[
    ("claude-haiku-4-5", Price { input: 1.0, output: 5.0 }),
    ("claude-opus-4-5", Price { input: 5.0, output: 25.0 }),
    ("claude-sonnet-4", Price { input: 3.0, output: 15.0 }),
    ("gpt-4.1", Price { input: 2.0, output: 8.0 }),
    ("gpt-4.1-mini", Price { input: 0.4, output: 1.6 }),
    ("gpt-4o", Price { input: 2.5, output: 10.0 }),
    ("gpt-4o-mini", Price { input: 0.15, output: 0.6 }),
];

/// Cost of tokens of a model, in millionths of a US dollar.
pub(crate) fn cost_usd_micros(model: &NamedModel, usage: Usage) -> Option<u64> {
    let own = model.provider.iter().flat_map(|provider| &provider.prices).map(|(name, price)| (name.as_str(), *price));
    let price = longest(own, &model.id).or_else(|| longest(KNOWN.iter().copied(), &model.id))?;
    // A dollar for a million tokens is a millionth of a dollar for one.
    let micros = tokens(usage.prompt_tokens) * price.input + tokens(usage.completion_tokens) * price.output;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is rounded and not negative")]
    Some(micros.round() as u64)
}

/// The price with the longest name that the model's begins with.
fn longest<'p>(prices: impl Iterator<Item = (&'p str, Price)>, model: &str) -> Option<Price> {
    prices.filter(|(name, _)| model.starts_with(name)).max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn tokens(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcprove_model::{Dialect, Provider};

    use super::*;

    fn model(id: &str, prices: Vec<(String, Price)>) -> NamedModel {
        let provider = Provider {
            name: "p".to_owned(),
            dialect: Dialect::OpenAi,
            base_url: String::new(),
            key: None,
            organization: None,
            prices,
        };
        NamedModel { id: id.to_owned(), provider: Some(Arc::new(provider)) }
    }

    #[test]
    fn the_longest_name_and_the_suite_win() {
        let usage = Usage { prompt_tokens: 1_000, completion_tokens: 100 };
        assert_eq!(cost_usd_micros(&model("claude-sonnet-4-5", Vec::new()), usage), Some(4_500));
        assert_eq!(cost_usd_micros(&model("gpt-4o-mini", Vec::new()), usage), Some(210));
        assert_eq!(cost_usd_micros(&model("llama3", Vec::new()), usage), None);
        let own = vec![("gpt-4o".to_owned(), Price { input: 1.0, output: 1.0 })];
        assert_eq!(cost_usd_micros(&model("gpt-4o-mini", own), usage), Some(1_100));
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(KNOWN.is_sorted_by_key(|(name, _)| *name));
    }
}
