//! The table of rules, most valuable first. A rule is a row in the file of its group.

mod auth;
mod calls;
mod content;
mod headers;
mod hints;
mod http;
mod lifecycle;
mod lists;
mod log;
mod messages;
mod meta;
mod modern;
mod names;
mod notifications;
mod process;
mod prompts;
mod resources;
mod server_requests;
mod sessions;
mod tasks;
mod tokens;
mod tools;
mod utilities;
mod versions;

use mcprove_model::Revision;

use super::rule::{Level, Rule, Ruling};

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

/// The id of the rule that everything depends on.
const HANDSHAKE: &str = "mcp-handshake";

/// Defaults for most rules.
const BASE: Rule = Rule {
    id: "",
    title: "",
    clauses: &[],
    level: Level::Must,
    revisions: (A, E),
    channel: None,
    section: "",
    why: "",
    bad: "",
    good: "",
    blocked_by: &[HANDSHAKE],
    judge: nothing,
};

fn nothing(_: &mut Ruling<'_>) {}

/// Every rule, most valuable first.
pub static RULES: &[Rule] = &[
    lifecycle::HANDSHAKE,
    process::STDOUT,
    versions::NEGOTIATION,
    messages::ID_ECHO,
    messages::ENVELOPE,
    messages::ONE_REPLY,
    messages::SCHEMA_VALID,
    lists::DECLARED_WORKS,
    tools::DEFINITION,
    tools::INPUT_SCHEMA,
    tools::OUTPUT_SCHEMA,
    lists::PAGING,
    calls::RESULT,
    calls::STRUCTURED,
    http::CONTENT_TYPE,
    http::ACCEPTED,
    http::GET,
    sessions::GONE,
    process::EXITS_ON_EOF,
    process::NO_ORPHANS,
    process::SURVIVES_MALFORMED,
    messages::UNKNOWN_METHOD,
    calls::VALIDATES_INPUT,
    http::FOREIGN_ORIGIN,
    versions::UNSUPPORTED,
    meta::REQUIRED,
    meta::OPTIONAL,
    modern::RESULT_TYPE,
    modern::CACHE_HINTS,
    server_requests::NONE_IN_MODERN,
    headers::VERSION_MATCH,
    headers::METHOD,
    headers::NAME,
    headers::SYNTAX,
    headers::ANNOTATION,
    headers::PARAM,
    messages::ERROR_CODES,
    versions::REMOVED_METHODS,
    lists::SAME_LISTS,
    lists::NO_AFFINITY,
    notifications::LISTEN,
    notifications::TAG,
    notifications::ONLY_ASKED,
    modern::INPUT_REQUIRED,
    server_requests::ONLY_DECLARED,
    modern::REQUEST_STATE,
    modern::INPUT_RESPONSES,
    versions::LISTED,
    modern::SERVER_INFO,
    log::CONSENT,
    lifecycle::CAPABILITY_DECLARED,
    lifecycle::CAPABILITY_SHAPE,
    resources::READABLE,
    resources::MISSING,
    resources::URI_CHECKED,
    prompts::GETTABLE,
    prompts::ERRORS,
    content::BINARY,
    calls::UNKNOWN_TOOL,
    calls::ERROR_STYLE,
    server_requests::UNDECLARED,
    server_requests::BEFORE_INITIALIZED,
    utilities::PING,
    utilities::CONCURRENT,
    http::VERSION_HEADER,
    sessions::REQUIRED,
    sessions::UNGUESSABLE,
    http::REPLY_STREAM,
    http::GET_STREAM,
    http::EVENT_IDS,
    notifications::PROGRESS,
    notifications::STRAY_CANCEL,
    notifications::CANCELLED_SILENT,
    lists::BAD_CURSOR,
    names::TOOL_NAMES,
    lists::TOOL_ORDER,
    notifications::LIST_CHANGED,
    log::LEVEL,
    resources::SUBSCRIBE,
    resources::TEMPLATES,
    utilities::COMPLETION,
    server_requests::ELICITATION,
    server_requests::SAMPLING,
    server_requests::SECRETS,
    auth::CHALLENGE,
    auth::RESOURCE,
    auth::SERVER,
    auth::SCOPES,
    tokens::CHECKED,
    tokens::SESSION,
    tokens::SCOPE,
    tokens::REVOKED,
    http::MODERN_ONLY,
    content::ANNOTATIONS,
    hints::READ_ONLY,
    hints::IDEMPOTENT,
    hints::DESTRUCTIVE,
    modern::CACHE_SCOPE,
    tasks::CORE,
    tasks::EXTENSION,
];
