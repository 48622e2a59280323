//! `http` of a server: deadlines, redirects and TLS of requests over HTTP.

use std::ops::RangeInclusive;

use mcprove_model::{ClientCertificate, Diagnostics, Entry, HttpSettings, Node, TlsSettings};
use serde_json::{Value, json};

use crate::assertion_file::{block, texts, time};
use crate::context::Context;
use crate::field::{self, Field};
use crate::schema::fragment;

const REDIRECTS: RangeInclusive<u64> = 0..=50;

const FIELDS: &[Field] = &[
    Field::optional("connect_timeout", || fragment::duration("The time to connect in; `5s` when left out.")),
    Field::optional("max_redirects", || {
        fragment::count_within("How many redirects are followed; 5 when left out.", &REDIRECTS)
    }),
    Field::optional("timeout", || fragment::duration("The time a request is answered in; `30s` when left out.")),
    Field::optional("tls", || field::map("Certificates and versions of TLS.", TLS)),
    Field::optional("user_agent_override", || {
        fragment::flag("Requests say that they come from mcprove; true when left out.")
    }),
];

const TLS: &[Field] = &[
    Field::optional("ca_bundle_path", || {
        fragment::text("A PEM file of trusted roots, in place of those of the platform.")
    }),
    Field::optional("insecure_skip_verify", || fragment::flag("Any certificate of the server is accepted.")),
    Field::optional(
        "min_version",
        || json!({"enum": ["1.2", "1.3", 1.2, 1.3], "description": "The oldest version; 1.2 when left out."}),
    ),
    Field::optional("mtls", || field::map("A certificate that the client shows.", MTLS)),
];

const MTLS: &[Field] = &[
    Field::optional("ca_bundle_path", || {
        fragment::text("A PEM file of trusted roots; it takes the place of that of `tls`.")
    }),
    Field::required("client_cert_path", || fragment::text("A PEM file with the client's certificate.")),
    Field::required("client_key_path", || fragment::text("A PEM file with its private key.")),
];

/// The settings of a server; paths are relative to the folder of the suite.
pub(super) fn decode(entry: &Entry, context: &Context<'_>, found: &mut Diagnostics<'_>) -> HttpSettings {
    let node = &entry.value;
    let mut settings = HttpSettings::default();
    found.known_keys(node, "`http`", &field::keys(FIELDS));
    settings.timeout = time::optional(node, "timeout", found).unwrap_or(settings.timeout);
    settings.connect_timeout = time::optional(node, "connect_timeout", found).unwrap_or(settings.connect_timeout);
    if let Some(most) = part(node, "max_redirects") {
        let most = found.count_within(most, "`max_redirects`", REDIRECTS).and_then(|most| u8::try_from(most).ok());
        settings.max_redirects = most.unwrap_or(settings.max_redirects);
    }
    if let Some(flag) = part(node, "user_agent_override") {
        settings.sends_user_agent = found.boolean(flag, "`user_agent_override`").unwrap_or(true);
    }
    if let Some(tls) = node.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == "tls") {
        settings.tls = decode_tls(tls, context, found);
    }
    settings
}

/// The JSON Schema of `http`.
pub(super) fn schema() -> Value {
    field::map("How requests over HTTP are made.", FIELDS)
}

fn decode_tls(entry: &Entry, context: &Context<'_>, found: &mut Diagnostics<'_>) -> TlsSettings {
    let node = &entry.value;
    let mut tls = TlsSettings::default();
    if node.is_null() {
        return tls;
    }
    found.known_keys(node, "`tls`", &field::keys(TLS));
    if let Some(flag) = part(node, "insecure_skip_verify") {
        tls.skips_verification = found.boolean(flag, "`insecure_skip_verify`").unwrap_or_default();
    }
    tls.ca_bundle = path(node, "ca_bundle_path", context, found);
    if let Some(version) = part(node, "min_version") {
        // Unquoted, it is a number.
        match version.to_json() {
            Value::String(text) if text == "1.2" => {}
            Value::String(text) if text == "1.3" => tls.requires_1_3 = true,
            Value::Number(number) if number.as_f64() == Some(1.2) => {}
            Value::Number(number) if number.as_f64() == Some(1.3) => tls.requires_1_3 = true,
            _ => {
                found.error_with_help("wrong-type", version.span, "unknown version of TLS", "write \"1.2\" or \"1.3\"");
            }
        }
    }
    if let Some(mtls) = node.as_map().unwrap_or_default().iter().find(|entry| entry.key.text == "mtls") {
        decode_mtls(mtls, &mut tls, context, found);
    }
    tls
}

fn decode_mtls(entry: &Entry, tls: &mut TlsSettings, context: &Context<'_>, found: &mut Diagnostics<'_>) {
    let node = &entry.value;
    if node.is_null() || found.map(node, "`mtls`").is_none() {
        return;
    }
    found.known_keys(node, "`mtls`", &field::keys(MTLS));
    tls.ca_bundle = path(node, "ca_bundle_path", context, found).or(tls.ca_bundle.take());
    let entries = node.as_map().unwrap_or_default();
    let mut named = |key: &str| {
        if texts::is_misspelt(entries, key, &field::keys(MTLS)) {
            return None;
        }
        let path = block::named(node, key, entry.key.span, found)?;
        path.as_text().map(|path| context.path(path))
    };
    let (certificate, key) = (named("client_cert_path"), named("client_key_path"));
    tls.client = certificate.zip(key).map(|(certificate, key)| ClientCertificate { certificate, key });
}

fn part<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|part| !part.is_null())
}

fn path(node: &Node, key: &str, context: &Context<'_>, found: &mut Diagnostics<'_>) -> Option<String> {
    texts::optional(node, key, found).map(|path| context.path(path))
}
