//! Secrets that pass through a model.

use mcprove_model::Severity;

use super::{Example, Rule, Scope};
use crate::input_schema::{Role, Word};
use crate::lint::{RuleFaults, ToolView};
use crate::spanned_json::Json;

pub(super) const RULE: Rule = Rule {
    id: "USE-010",
    name: "sensitive-parameter",
    summary: "a parameter asks for a password, key or token",
    severity: Severity::Warning,
    why: "Arguments are written by a model: a secret that is one of them has been in its context, in logs and \
          transcripts. Credentials belong into the configuration of the server.",
    help: "take it from the environment or configuration of the server, or mark it `writeOnly: true` if it must be \
           an argument",
    bad: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"api_key": {"type": "string", "description": "The key of the archive"}}}}"#,
    ),
    good: Example::Tool(
        r#"{"name": "search_letters", "description": "Searches the archive for letters and returns their titles", "inputSchema": {"type": "object", "properties": {"page_token": {"type": "string", "description": "Where to go on"}}}}"#,
    ),
    fix: None,
    run: Scope::Tool(run),
};

/// Names, without separators and case, that ask for a secret; also as the end of a longer name.
const SECRETS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authtoken",
    "bearertoken",
    "clientsecret",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "secretkey",
    "webhooksecret",
];
/// Names that do so only by themselves: a `page_token` is none.
const SECRETS_ALONE: &[&str] = &["bearer", "jwt", "token"];

fn run<'c>(view: &ToolView<'_, 'c>, faults: &mut RuleFaults<'_, 'c>) {
    for (_, site) in view.tree.sites() {
        if site.role != Role::Property
            || site.condition
            || site.word(Word::WriteOnly).and_then(Json::as_bool) == Some(true)
        {
            continue;
        }
        let Some(name) = site.json.key().and_then(Json::as_text) else { continue };
        let plain: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        if SECRETS.iter().any(|secret| plain.ends_with(secret)) || SECRETS_ALONE.contains(&plain.as_str()) {
            faults.add(site.json, format!("parameter `{name}` asks for a secret, which a model would have to know"));
        }
    }
}
