//! OAuth as MCP uses it: what a client concludes from challenges, documents and redirects.
//!
//! Nothing here is sent: the exchanges are in `wire`. RFC 6750 (challenges), 9728 (resource metadata), 8414 (server
//! metadata), 7591 (registration), 8707 (`resource`), 9207 (`iss`).

mod callback;
mod challenge;
mod client_choice;
mod discovery;
mod login_record;
mod mask;
mod metadata;
mod obstacle;
mod scopes;
mod settings;
mod token_reply;

pub use callback::{ExpectedCallback, query_pairs, read_callback};
pub use challenge::{Challenge, bearer_challenge, parse_challenges, wants_dpop_nonce};
pub use client_choice::{ClientAuth, ClientChoice, choose_client, choose_client_auth};
pub use discovery::{
    Document, LoginDiscovery, canonical_resource, is_loopback_url, resource_metadata_urls, server_metadata_urls,
    split_url,
};
pub use login_record::{LoginRecord, RegisteredClient};
pub use mask::{HIDDEN_VALUE, is_secret_field, masked_form, masked_json, masked_query, secrets_in};
pub use metadata::{ResourceMatch, ResourceMetadata, ServerMetadata, match_resource};
pub use obstacle::{LoginObstacle, LoginStep, check_endpoints, check_issuer, check_pkce, check_resource, is_exposed};
pub use scopes::{choose_scopes, split_scopes, step_up_scopes, union_of_scopes};
pub use settings::{OauthGrant, OauthKey, OauthSettings};
pub use token_reply::{TokenReply, read_token_reply};
