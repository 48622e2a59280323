//! `auth`: how a client shows a remote server who it is.

use mcprove_model::{Auth, AwsKeySource, AwsKeys, AwsSigV4, ClientCredentials, Entry, Node};
use serde_json::{Value, json};

use super::keys::{self, Key, Of};
use super::{Decoder, oauth};
use crate::assertion_file::{block, texts};
use crate::context::FileKind;
use crate::field::{self, Field};
use crate::schema::fragment;
use crate::suite_file::unsupported_keys;
use oauth::Login;

const KEYS: &[Key] = &[
    Key::of_suites("aws_sigv4", Of::Remote, || {
        field::map("Every request is signed with AWS Signature Version 4.", AWS)
    }),
    Key::of_suites("headers", Of::Remote, || {
        keys::headers_schema("Headers of every request, whose values are never shown.")
    }),
    Key::of_suites("bearer_token_env", Of::Remote, || {
        fragment::text("The variable of the environment that holds the token.")
    }),
    Key::of_both("oauth", Of::Remote, oauth_schema).in_assertions(oauth::schema),
];

const AWS: &[Field] = &[
    Field::required("credentials", || field::map("The keys.", CREDENTIALS)),
    Field::required("region", || fragment::text("The region, for example `us-east-1`.")),
    Field::required("service", || fragment::text("The service, for example `execute-api`.")),
];

const CREDENTIALS: &[Field] = &[
    Field::optional("name", || fragment::text("The profile; `default` when left out.")),
    Field::required("source", || {
        json!({
            "enum": ["from_environment", "profile"],
            "description": "`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`, or a profile of the credentials file.",
        })
    }),
];

const CLIENT_CREDENTIALS: &[Field] = &[
    Field::required("client_id", || fragment::text("The client's id.")),
    Field::required("client_secret_env", || {
        fragment::text("The variable of the environment that holds the client's secret.")
    }),
    Field::optional(
        "grant",
        || json!({"const": "client_credentials", "description": "The grant; the only one, so it can be left out."}),
    ),
    Field::optional("scope", || fragment::text("The requested scope.")),
    Field::required("token_endpoint", || fragment::text("The token endpoint.")),
];

/// Ways of the other tool, and what to do instead.
pub(crate) const OUTSIDE: &[(&str, &str)] = &[("web_bot_auth", "use `bearer_token_env`, or `headers`")];

/// The keys of `auth` in a kind of file, sorted.
pub(crate) fn names(kind: FileKind) -> Vec<&'static str> {
    keys::known(KEYS, kind)
}

/// The JSON Schema of `auth`.
pub(crate) fn schema(kind: FileKind) -> Value {
    fragment::map("Authentication of the client.", Value::Object(keys::properties(KEYS, kind)), &[])
}

fn oauth_schema() -> Value {
    let own = field::map("A token is asked for with the client's own credentials.", CLIENT_CREDENTIALS);
    json!({
        "anyOf": [own, oauth::schema()],
        "description": "OAuth 2: a client's own credentials, or with `flow` a login as hosts make it.",
    })
}

impl Decoder<'_, '_, '_, '_> {
    /// The headers with those that `auth` adds, and what takes more than that.
    pub(super) fn auth(&mut self, mut headers: Vec<(String, String)>) -> (Vec<(String, String)>, Option<Auth>) {
        let own = self.node.get("auth").or(self.described.default_auth).filter(|auth| !auth.is_null());
        let Some(node) = own else { return (headers, None) };
        let Some(entries) = self.found.map(node, "`auth`") else { return (headers, None) };
        let kind = self.described.kind;
        if kind == FileKind::Suite {
            unsupported_keys::known_keys(entries, "`auth`", &names(kind), OUTSIDE, self.found);
            headers.extend(self.hidden_headers(node));
        } else {
            self.found.known_keys(node, "`auth`", &names(kind));
        }
        let is_way = |entry: &&Entry| entry.key.text != "headers" && names(kind).contains(&entry.key.text.as_str());
        let mut ways = entries.iter().filter(is_way);
        let Some(way) = ways.next() else { return (headers, None) };
        let rival = match ways.next() {
            Some(other) => {
                Some((other.key.span, format!("`{}` and `{}` are mutually exclusive", way.key.text, other.key.text)))
            }
            None if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) => {
                Some((way.key.span, format!("`{}` and an `Authorization` header are mutually exclusive", way.key.text)))
            }
            None => None,
        };
        if let Some((span, message)) = rival {
            self.found.error_with_help("wrong-key", span, message, "keep one of the two");
        }
        let (token, auth) = match way.key.text.as_str() {
            "aws_sigv4" => (None, self.aws(way)),
            "oauth" => match self.oauth(way) {
                Some(Login::Token(token)) => (Some(token), None),
                Some(Login::Auth(auth)) => (None, Some(auth)),
                None => (None, None),
            },
            _ => (self.reader.required_secret(&way.value, "`bearer_token_env`", self.found), None),
        };
        headers.extend(token.map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))));
        (headers, auth)
    }

    /// Headers whose values are never shown: a text, or `{env: NAME}`.
    fn hidden_headers(&mut self, auth: &Node) -> Vec<(String, String)> {
        let headers = self.headers(auth);
        self.reader.secrets.extend(headers.iter().map(|(_, value)| value.clone()).filter(|value| !value.is_empty()));
        headers
    }

    /// A login with a `flow`, or in suites a client's own credentials.
    fn oauth(&mut self, entry: &Entry) -> Option<Login> {
        if entry.value.get("flow").is_some() {
            return oauth::decode(&entry.value, self.reader, self.found);
        }
        if self.described.kind == FileKind::Suite {
            return self.client_credentials(entry).map(|own| Login::Auth(Auth::ClientCredentials(own)));
        }
        if self.found.map(&entry.value, "`oauth`").is_some() {
            let help = "add `flow: authorization_code`, or `flow: client_credentials`";
            self.found.error_with_help("missing-key", entry.value.span, "`oauth` has no `flow`", help);
            oauth::decode(&entry.value, self.reader, self.found);
        }
        None
    }

    fn client_credentials(&mut self, entry: &Entry) -> Option<ClientCredentials> {
        let node = &entry.value;
        field::entries(node, "`oauth`", CLIENT_CREDENTIALS, self.found)?;
        if let Some(grant) = node.get("grant").filter(|grant| grant.as_text() != Some("client_credentials")) {
            self.found.error_with_help("wrong-type", grant.span, "unknown `grant`", "write `client_credentials`");
        }
        let token_endpoint = self.named(entry, "token_endpoint", CLIENT_CREDENTIALS);
        let client_id = self.named(entry, "client_id", CLIENT_CREDENTIALS);
        let secret = self.named(entry, "client_secret_env", CLIENT_CREDENTIALS)?;
        let client_secret = self.reader.required_secret(&secret, "`client_secret_env`", self.found);
        Some(ClientCredentials {
            token_endpoint: token_endpoint?.as_text()?.to_owned(),
            client_id: client_id?.as_text()?.to_owned(),
            client_secret: client_secret?,
            scope: texts::optional(node, "scope", self.found).map(str::to_owned),
        })
    }

    /// A text that must be there, unless its key is misspelt, which is reported.
    fn named(&mut self, entry: &Entry, key: &str, fields: &'static [Field]) -> Option<Node> {
        let entries = entry.value.as_map().unwrap_or_default();
        let is_misspelt = texts::is_misspelt(entries, key, &field::keys(fields));
        if is_misspelt { None } else { block::named(&entry.value, key, entry.key.span, self.found) }
    }

    /// Signatures of AWS: with keys of the environment, or of a profile.
    fn aws(&mut self, entry: &Entry) -> Option<Auth> {
        let node = &entry.value;
        field::entries(node, "`aws_sigv4`", AWS, self.found)?;
        let (region, service) = (self.named(entry, "region", AWS), self.named(entry, "service", AWS));
        let Some(credentials) = node.get("credentials").filter(|credentials| !credentials.is_null()) else {
            let help = "add `credentials: {source: from_environment}`";
            self.found.error_with_help("missing-key", entry.key.span, "`aws_sigv4` has no `credentials`", help);
            return None;
        };
        field::entries(credentials, "`credentials`", CREDENTIALS, self.found)?;
        let source = block::named(credentials, "source", entry.key.span, self.found)?;
        let keys = self.aws_keys(credentials, &source)?;
        let (region, service) = (region?.as_text()?.to_owned(), service?.as_text()?.to_owned());
        Some(Auth::AwsSigV4(AwsSigV4 { region, service, keys }))
    }

    fn aws_keys(&mut self, credentials: &Node, source: &Node) -> Option<AwsKeySource> {
        let lookup = self.reader.context.environment.lookup;
        match source.as_text() {
            Some("from_environment") => {
                let mut key = |name: &str| {
                    let name = Node::text_at(source.span, name.to_owned());
                    self.reader.required_secret(&name, "`source`", self.found)
                };
                let (access_key_id, secret_access_key) = (key("AWS_ACCESS_KEY_ID"), key("AWS_SECRET_ACCESS_KEY"));
                Some(AwsKeySource::Given(AwsKeys {
                    access_key_id: access_key_id?,
                    secret_access_key: secret_access_key?,
                    session_token: self.reader.secret("AWS_SESSION_TOKEN"),
                }))
            }
            Some("profile") => {
                let home = || lookup("HOME").or_else(|| lookup("USERPROFILE")).unwrap_or_default();
                let path =
                    lookup("AWS_SHARED_CREDENTIALS_FILE").unwrap_or_else(|| format!("{}/.aws/credentials", home()));
                let name = texts::optional(credentials, "name", self.found).unwrap_or("default").to_owned();
                Some(AwsKeySource::Profile { path, name })
            }
            _ => {
                let help = "write `from_environment`, or `profile` with a `name`";
                self.found.error_with_help("wrong-type", source.span, "unknown `source` of credentials", help);
                None
            }
        }
    }
}
