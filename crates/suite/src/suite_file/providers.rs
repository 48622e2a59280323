//! `providers`: who runs language models, and which of them a model is asked of.

use std::sync::Arc;

use mcprove_judge::matchers;
use mcprove_model::{Diagnostics, Dialect, Entry, Kind, Node, Price, Provider, ProviderKey, Secret, Span, nearest};
use serde_json::{Value, json};

use super::Unit;
use crate::assertion_file::texts;
use crate::context::Reader;
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("api_key_env", || {
        fragment::text("The variable of the environment that holds the key; none is sent when left out.")
    }),
    Field::optional("base_url", || fragment::text("The base URL, without the path of the request.")),
    Field::optional("organization", || fragment::text("The organisation requests are made for.")),
    Field::optional("prices", || {
        json!({
            "type": ["object", "null"],
            "additionalProperties": field::map("In US dollars for a million tokens.", PRICE),
            "description": "Prices of models, by the prefix of their names.",
        })
    }),
    Field::optional(
        "type",
        || json!({"enum": ["anthropic", "openai"], "description": "The API dialect; `openai` when left out."}),
    ),
];

const PRICE: &[Field] = &[
    Field::required(
        "input",
        || json!({"type": "number", "minimum": 0, "description": "The price of what the model reads."}),
    ),
    Field::required(
        "output",
        || json!({"type": "number", "minimum": 0, "description": "The price of what it writes."}),
    ),
];

/// A provider that is known without being written down.
struct BuiltIn {
    name: &'static str,
    dialect: Dialect,
    base_url: &'static str,
    variable: &'static str,
    /// Prefixes of the names of its models.
    models: &'static [&'static str],
}

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "anthropic",
        dialect: Dialect::Anthropic,
        base_url: "https://api.anthropic.com",
        variable: "ANTHROPIC_API_KEY",
        models: &["claude"],
    },
    BuiltIn {
        name: "google",
        dialect: Dialect::OpenAi,
        base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
        variable: "GEMINI_API_KEY",
        models: &["gemini"],
    },
    BuiltIn {
        name: "openai",
        dialect: Dialect::OpenAi,
        base_url: "https://api.openai.com/v1",
        variable: "OPENAI_API_KEY",
        models: &["chatgpt", "gpt-", "o1", "o3", "o4"],
    },
];

/// Decodes the `providers` of all files together; the built-in ones that are not among them come after.
pub(super) fn decode(units: &[Unit], reader: &mut Reader<'_, '_>, found: &mut [Diagnostics<'_>]) -> Vec<Arc<Provider>> {
    let mut providers: Vec<Arc<Provider>> = Vec::new();
    for (unit, found) in units.iter().zip(found) {
        let Some(node) = unit.node.get("providers").filter(|node| !node.is_null()) else { continue };
        for entry in found.map(node, "`providers`").unwrap_or_default() {
            if providers.iter().all(|known| known.name != entry.key.text) {
                providers.extend(decode_provider(entry, reader, found).map(Arc::new));
            }
        }
    }
    // Keys are looked at only where something could use them.
    if units.iter().any(|unit| asks_models(&unit.node)) {
        for built_in in BUILT_IN {
            if providers.iter().all(|known| known.name != built_in.name) {
                providers.push(Arc::new(Provider {
                    name: built_in.name.to_owned(),
                    dialect: built_in.dialect,
                    base_url: built_in.base_url.to_owned(),
                    key: Some(key(built_in.variable, reader)),
                    organization: None,
                    prices: Vec::new(),
                }));
            }
        }
    }
    providers
}

/// True if something in a suite asks a language model.
fn asks_models(suite: &Node) -> bool {
    const LISTS: &[&str] = &["agents", "evals", "judge"];
    LISTS.iter().any(|key| suite.get(key).is_some()) || is_graded(suite)
}

/// True if a model-graded check is somewhere in it.
fn is_graded(node: &Node) -> bool {
    match &node.kind {
        Kind::Map(entries) => entries
            .iter()
            .any(|entry| entry.key.text == "eval" || matchers::is_graded(&entry.key.text) || is_graded(&entry.value)),
        Kind::List(items) => items.iter().any(is_graded),
        Kind::Scalar(_) => false,
    }
}

/// The JSON Schema of `providers`.
pub(super) fn schema() -> Value {
    json!({
        "type": ["object", "null"],
        "additionalProperties": field::map("A provider.", FIELDS),
        "description": "Providers of language models, by name: local servers too. `anthropic`, `google` and `openai` are built in.",
    })
}

/// The provider of a model: the named one, the one known by the model's prefix, or the only one of the suite.
pub(super) fn of_model(
    model: &str,
    named: Option<&Node>,
    place: Span,
    providers: &[Arc<Provider>],
    found: &mut Diagnostics<'_>,
) -> Option<Arc<Provider>> {
    let find = |name: &str| providers.iter().find(|provider| provider.name == name).cloned();
    if let Some(named) = named {
        let name = found.text(named, "`provider`")?;
        let provider = find(name);
        if provider.is_none() {
            let names = || providers.iter().map(|provider| provider.name.as_str());
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "add it to `providers:`".to_owned(),
            };
            found.error_with_help("unknown-provider", named.span, format!("unknown provider `{name}`"), help);
        }
        return provider;
    }
    if let Some(provider) = provider_of_model(model, providers) {
        return Some(provider);
    }
    let own = own_providers(providers);
    let message = format!("it is not known who runs the model `{model}`");
    let help = if own.is_empty() {
        "add `providers: {name: {base_url: …}}` with an OpenAI-compatible URL; a recorded conversation needs none"
            .to_owned()
    } else {
        let names: Vec<&str> = own.iter().map(|provider| provider.name.as_str()).collect();
        format!("write `model: {{provider: …, id: {model}}}` with one of {}", names.join(", "))
    };
    if own.is_empty() {
        // A recorded conversation can be played without a provider; without one, the test cannot be run.
        found.warning("unknown-provider", place, message, Some(help));
    } else {
        found.error_with_help("unknown-provider", place, message, help);
    }
    None
}

/// The provider that the name of a model leads to, or the only one that the suite describes.
pub fn provider_of_model(model: &str, providers: &[Arc<Provider>]) -> Option<Arc<Provider>> {
    let begins = |built_in: &&BuiltIn| built_in.models.iter().any(|beginning| model.starts_with(beginning));
    let find = |name: &str| providers.iter().find(|provider| provider.name == name).cloned();
    if let Some(provider) = BUILT_IN.iter().find(begins).and_then(|built_in| find(built_in.name)) {
        return Some(provider);
    }
    match own_providers(providers)[..] {
        [only] => Some(Arc::clone(only)),
        _ => None,
    }
}

/// The providers that the suite describes.
fn own_providers(providers: &[Arc<Provider>]) -> Vec<&Arc<Provider>> {
    let is_own = |provider: &&Arc<Provider>| BUILT_IN.iter().all(|built_in| built_in.name != provider.name);
    providers.iter().filter(is_own).collect()
}

fn decode_provider(entry: &Entry, reader: &mut Reader<'_, '_>, found: &mut Diagnostics<'_>) -> Option<Provider> {
    let (name, node) = (&entry.key.text, &entry.value);
    let what = format!("the provider `{name}`");
    field::entries(node, &what, FIELDS, found)?;
    let built_in = BUILT_IN.iter().find(|built_in| built_in.name == name);
    let dialect = match texts::optional(node, "type", found) {
        None => Some(built_in.map_or(Dialect::OpenAi, |built_in| built_in.dialect)),
        Some("anthropic") => Some(Dialect::Anthropic),
        Some("openai") => Some(Dialect::OpenAi),
        Some(other) => {
            let span = node.get("type").map_or(node.span, |kind| kind.span);
            let help = "write `openai` for chat completions, or `anthropic` for messages";
            found.error_with_help("unknown-kind", span, format!("unknown type of provider `{other}`"), help);
            None
        }
    };
    let base_url = match (texts::optional(node, "base_url", found), built_in) {
        (Some(url), _) if url.starts_with("http://") || url.starts_with("https://") => Some(url.trim_end_matches('/')),
        (Some(_), _) => {
            let span = node.get("base_url").map_or(node.span, |url| url.span);
            let help = "write for example `http://localhost:11434/v1`";
            found.error_with_help("bad-url", span, "`base_url` is not an HTTP URL", help);
            None
        }
        (None, Some(built_in)) => Some(built_in.base_url),
        (None, None) => {
            let message = format!("{what} has no `base_url`");
            found.error_with_help("missing-key", entry.key.span, message, "add `base_url:`");
            None
        }
    };
    let variable = texts::optional(node, "api_key_env", found).or(built_in.map(|built_in| built_in.variable));
    let key = variable.map(|variable| key(variable, reader));
    let organization = texts::optional(node, "organization", found).map(str::to_owned);
    let prices = decode_prices(node, found);
    Some(Provider {
        name: name.to_string(),
        dialect: dialect?,
        base_url: base_url?.to_owned(),
        key,
        organization,
        prices,
    })
}

/// A key; whether it is needed is known when the test is run: a recorded conversation is replayed without.
fn key(variable: &str, reader: &mut Reader<'_, '_>) -> ProviderKey {
    let value = (reader.context.environment.lookup)(variable).filter(|value| !value.trim().is_empty());
    if let Some(value) = &value
        && !reader.secrets.contains(value)
    {
        reader.secrets.push(value.clone());
    }
    ProviderKey { variable: variable.to_owned(), value: value.map(Secret) }
}

fn decode_prices(node: &Node, found: &mut Diagnostics<'_>) -> Vec<(String, Price)> {
    let Some(map) = node.get("prices").filter(|map| !map.is_null()) else { return Vec::new() };
    let mut prices = Vec::new();
    for entry in found.map(map, "`prices`").unwrap_or_default() {
        let what = format!("the price of `{}`", entry.key.text);
        found.known_keys(&entry.value, &what, &field::keys(PRICE));
        let dollars = |key: &str| entry.value.get(key).and_then(|price| price.as_number()?.as_f64());
        match (dollars("input"), dollars("output")) {
            (Some(input), Some(output)) if input >= 0.0 && output >= 0.0 => {
                prices.push((entry.key.text.to_string(), Price { input, output }));
            }
            (Some(_) | None, Some(_) | None) => {
                let help = "write `{input: 3.0, output: 15.0}`, in US dollars for a million tokens";
                found.error_with_help("wrong-type", entry.value.span, format!("{what} is not two numbers"), help);
            }
        }
    }
    prices
}
