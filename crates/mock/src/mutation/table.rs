//! The table of mutations, each with the rule that must notice it.

use mcprove_model::Revision;

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

/// A way to break one rule.
#[derive(Debug)]
pub struct Mutation {
    /// Its name.
    pub name: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// Description of the server's misbehaviour.
    pub what: &'static str,
    /// The first and the last revision it can be seen in.
    pub revisions: (Revision, Revision),
    /// The transport it can be seen on; both if absent.
    pub transport: Option<&'static str>,
    /// True if it takes a process to see it.
    pub needs_process: bool,
}

const fn both(name: &'static str, rule: &'static str, what: &'static str, revisions: (Revision, Revision)) -> Mutation {
    Mutation { name, rule, what, revisions, transport: None, needs_process: false }
}

const fn stdio(
    name: &'static str,
    rule: &'static str,
    what: &'static str,
    revisions: (Revision, Revision),
) -> Mutation {
    Mutation { name, rule, what, revisions, transport: Some("stdio"), needs_process: false }
}

const fn process(
    name: &'static str,
    rule: &'static str,
    what: &'static str,
    revisions: (Revision, Revision),
) -> Mutation {
    Mutation { name, rule, what, revisions, transport: Some("stdio"), needs_process: true }
}

const fn http(name: &'static str, rule: &'static str, what: &'static str, revisions: (Revision, Revision)) -> Mutation {
    Mutation { name, rule, what, revisions, transport: Some("http"), needs_process: false }
}

/// The fault of the guard that a mutation about tokens stands for.
pub(crate) fn issuer_fault(mutation: &str) -> Option<&'static str> {
    Some(match mutation {
        "token-other-audience" => "accepts-other-audience",
        "token-expired" => "accepts-expired",
        "token-tampered" => "accepts-tampered",
        "token-in-query" => "accepts-query",
        "token-revoked" => "accepts-revoked",
        "token-scope-ignored" => "ignores-scope",
        "token-scope-hidden" => "hides-scope",
        "token-session-shared" => "shares-sessions",
        _ => return None,
    })
}

/// Every mutation.
pub static MUTATIONS: &[Mutation] = &[
    both("handshake-incomplete", "mcp-handshake", "leaves a required field out of the handshake", (A, E)),
    stdio("banner", "mcp-stdout", "prints a line when it starts", (A, E)),
    stdio("stray-json", "mcp-stdout", "logs a line of JSON to standard output", (A, E)),
    stdio("pretty-prints", "mcp-stdout", "writes a reply on several lines", (A, E)),
    both("echo-version", "mcp-version-negotiation", "echoes any version", (A, D)),
    both("string-ids", "mcp-id-echo", "returns ids as strings", (A, E)),
    both("result-and-error", "mcp-envelope", "adds `error: null` to results", (A, E)),
    both("no-jsonrpc", "mcp-envelope", "leaves out `jsonrpc`", (A, E)),
    both("string-code", "mcp-envelope", "writes error codes as strings", (A, E)),
    both("twice", "mcp-one-reply", "answers calls that report progress twice", (A, E)),
    stdio("answers-notification", "mcp-one-reply", "answers unknown notifications with an error", (A, E)),
    both("bad-instructions", "mcp-schema-valid", "sends a number as `instructions`", (A, E)),
    both("list-unknown", "mcp-declared-works", "declares prompts and does not know `prompts/list`", (A, E)),
    both("needs-params", "mcp-declared-works", "refuses `tools/list` without params", (A, D)),
    both("no-schema-type", "mcp-tool-definition", "leaves out the `type` of an input schema", (A, E)),
    both("bad-type", "mcp-input-schema", "uses the type `int` in an input schema", (A, E)),
    both("bad-output-schema", "mcp-tool-output-schema", "has an output schema of an unknown type", (C, E)),
    both("null-cursor", "mcp-paging", "sends `nextCursor: null` on the last page", (A, E)),
    both("same-cursor", "mcp-paging", "sends the same cursor forever", (A, E)),
    both("no-content", "mcp-tool-result", "leaves `content` out of results", (A, E)),
    both("needs-arguments", "mcp-tool-result", "refuses calls without `arguments`", (A, E)),
    both("missing-structured", "mcp-structured-output", "leaves out the structured content", (C, E)),
    both("wrong-structured", "mcp-structured-output", "leaves out a required property", (C, E)),
    http("text-plain", "mcp-http-content-type", "answers with `text/plain`", (B, E)),
    http("notification-200", "mcp-http-accepted", "answers notifications with 200", (B, E)),
    http("get-404", "mcp-http-get", "answers GET with 404", (B, D)),
    http("dead-session-400", "mcp-session-gone", "answers terminated sessions with 400", (B, D)),
    stdio("ignores-eof", "mcp-exits-on-eof", "goes on when its input is closed", (A, E)),
    process("ignores-sigterm", "mcp-no-orphans", "ignores SIGTERM", (A, E)),
    stdio("dies-on-garbage", "mcp-survives-malformed", "exits on a line that is not JSON", (A, E)),
    both("ignores-jsonrpc", "mcp-survives-malformed", "serves messages without `jsonrpc`", (A, E)),
    both("empty-for-unknown", "mcp-unknown-method", "answers unknown methods with an empty result", (A, E)),
    http("unknown-200", "mcp-unknown-method", "answers unknown methods with HTTP 200", (E, E)),
    both("no-validation", "mcp-validates-input", "executes calls with invalid arguments", (A, E)),
    http("any-origin", "mcp-foreign-origin", "serves every origin", (A, E)),
    both("any-version", "mcp-unsupported-version", "serves every version", (E, E)),
    both("meta-optional", "mcp-request-meta", "serves requests without `_meta`", (E, E)),
    both("strict-meta", "mcp-optional-meta", "refuses unknown `_meta` keys", (A, E)),
    both("no-result-type", "mcp-result-type", "leaves `resultType` out of lists", (E, E)),
    both("no-ttl", "mcp-cache-hints", "leaves `ttlMs` out of contents", (E, E)),
    both("negative-ttl", "mcp-cache-hints", "sends `ttlMs: -1`", (E, E)),
    both("server-request", "mcp-no-server-requests", "asks for roots before it lists tools", (E, E)),
    http("version-header-ignored", "mcp-version-header-match", "ignores the version header", (E, E)),
    http("method-header-ignored", "mcp-method-header", "ignores `Mcp-Method`", (E, E)),
    http("name-header-ignored", "mcp-name-header", "ignores `Mcp-Name`", (E, E)),
    http("upper-values", "mcp-header-syntax", "compares `Mcp-Method` without regard to case", (E, E)),
    both("bad-annotation", "mcp-x-mcp-header", "annotates a parameter with a header name that has a blank", (E, E)),
    http("param-header-ignored", "mcp-param-header", "ignores `Mcp-Param-*`", (E, E)),
    both("reserved-code", "mcp-error-codes", "uses the reserved code -32050", (E, E)),
    both("serves-ping", "mcp-removed-methods", "answers ping", (E, E)),
    stdio("hidden-tool", "mcp-same-lists", "hides a tool from later connections", (E, E)),
    stdio("cursor-memory", "mcp-no-affinity", "knows the cursors of their own connection alone", (E, E)),
    both("no-ack", "mcp-listen", "does not acknowledge subscriptions", (E, E)),
    both("string-tag", "mcp-subscription-tag", "tags subscriptions with the id as a string", (E, E)),
    both("ack-everything", "mcp-only-asked", "acknowledges what was not asked for", (E, E)),
    stdio("undeclared-change", "mcp-only-asked", "notifies changes of prompts, which it does not declare", (A, D)),
    both("asks-nothing", "mcp-input-required", "asks for input without a question", (E, E)),
    both("asks-undeclared", "mcp-asks-declared", "asks clients that did not declare elicitation", (E, E)),
    both("state-unchecked", "mcp-request-state", "accepts any request state", (E, E)),
    both("retry-error", "mcp-input-responses", "refuses retries without answers", (E, E)),
    both("phantom-version", "mcp-listed-versions", "lists a version it does not serve", (E, E)),
    both("modern-initialize", "mcp-listed-versions", "answers `initialize` with 2026-07-28", (A, D)),
    both("anonymous", "mcp-server-info", "leaves the server info out of calls", (E, E)),
    both("unasked-logs", "mcp-log-consent", "logs to requests that did not ask for it", (E, E)),
    both("undeclared-prompts", "mcp-capability-declared", "serves prompts without declaring them", (A, E)),
    both("capability-true", "mcp-capability-shape", "declares prompts with `true`", (A, E)),
    both("ghost-resource", "mcp-resources-readable", "lists a resource that cannot be read", (A, E)),
    both("missing-empty", "mcp-missing-resource", "answers missing resources with empty contents", (A, E)),
    both("any-uri", "mcp-resource-uri", "serves contents for an invalid URI", (A, E)),
    both("system-role", "mcp-prompts-gettable", "sends prompt messages of the role `system`", (A, E)),
    both("prompt-internal-error", "mcp-prompt-errors", "answers unknown prompts with -32603", (A, E)),
    both("raw-binary", "mcp-binary-content", "sends images that are not base64", (A, E)),
    both("unknown-tool-ok", "mcp-unknown-tool", "answers unknown tools with success", (A, E)),
    both("traceback", "mcp-error-style", "sends stack traces as error messages", (A, E)),
    both("asks-anyway", "mcp-undeclared-features", "asks for roots although the client has none", (A, D)),
    both("eager-roots", "mcp-before-initialized", "asks for roots with the handshake", (A, D)),
    both("ping-error", "mcp-ping", "answers ping with an error", (A, D)),
    both("drops-concurrent", "mcp-concurrent-requests", "loses one of many requests", (A, E)),
    http("any-version-header", "mcp-version-header", "ignores unknown version headers", (C, D)),
    http("no-session-needed", "mcp-session-required", "serves requests without a session id", (B, D)),
    http("counter-sessions", "mcp-session-ids", "counts its sessions", (B, D)),
    http("open-stream", "mcp-reply-stream", "leaves reply streams open", (B, E)),
    http("reply-on-get", "mcp-get-stream", "sends a reply on the GET stream", (B, D)),
    http("repeated-event-ids", "mcp-event-ids", "uses the event id 1 on every stream", (B, D)),
    both("string-token", "mcp-progress", "reports progress with the token as a string", (A, E)),
    both("falling-progress", "mcp-progress", "reports falling progress", (A, E)),
    stdio("answers-cancel", "mcp-stray-cancel", "answers cancellations of unknown requests", (A, E)),
    stdio("ignores-cancel", "mcp-cancelled-silent", "answers cancelled calls", (A, E)),
    both("ignores-cursor", "mcp-bad-cursor", "answers invalid cursors with the first page", (A, E)),
    both("duplicate-tool", "mcp-tool-names", "lists a tool twice", (A, E)),
    both("shuffled-tools", "mcp-tool-order", "lists tools in another order every time", (E, E)),
    both("silent-change", "mcp-list-changed", "adds a tool without a notification", (A, D)),
    both("any-level", "mcp-log-level", "accepts every log level", (A, D)),
    both("subscribe-unknown", "mcp-subscribe", "declares subscriptions and does not know them", (A, D)),
    both("bad-template", "mcp-templates", "lists a template with an unclosed brace", (A, E)),
    both("many-completions", "mcp-completion", "sends 101 completions", (A, E)),
    both("nested-form", "mcp-elicitation", "elicits a nested form", (C, E)),
    both("no-max-tokens", "mcp-sampling", "samples without `maxTokens`", (A, E)),
    both("asks-password", "mcp-no-secrets", "asks for a password in a form", (C, E)),
    http("auth-403", "mcp-auth-challenge", "answers requests without a token with 403", (B, E)),
    http("auth-unsigned", "mcp-auth-challenge", "takes tokens that are not signed", (B, E)),
    http("auth-open-notifications", "mcp-auth-challenge", "accepts notifications without a token", (B, E)),
    http("auth-no-metadata", "mcp-auth-resource", "publishes no resource metadata", (C, E)),
    http("auth-other-resource", "mcp-auth-resource", "publishes the metadata of another server", (C, E)),
    http("auth-parent-resource", "mcp-auth-resource", "publishes its host as the resource", (C, E)),
    http("auth-http-registration", "mcp-auth-server", "registers clients without encryption", (C, E)),
    http("auth-no-pkce", "mcp-auth-server", "names an authorization server without PKCE", (C, E)),
    http("auth-query", "mcp-auth-scopes", "advertises tokens in the query string", (C, E)),
    http("token-other-audience", "mcp-token-checked", "takes tokens for other servers", (C, E)),
    http("token-expired", "mcp-token-checked", "takes tokens that have expired", (C, E)),
    http("token-tampered", "mcp-token-checked", "does not check signatures", (C, E)),
    http("token-in-query", "mcp-token-checked", "takes tokens in the query", (C, E)),
    http("token-revoked", "mcp-token-revoked", "takes tokens that were revoked", (C, E)),
    http("token-scope-ignored", "mcp-token-scope", "takes tokens without its scope", (D, E)),
    http("token-scope-hidden", "mcp-token-scope", "does not name the scope that a token lacks", (D, E)),
    http("token-session-shared", "mcp-token-session", "lets users use the sessions of others", (B, D)),
    http("mints-session", "mcp-modern-http", "gives out session ids in 2026-07-28", (E, E)),
    both("bad-meta-key", "mcp-annotations", "sends a `_meta` key with a blank", (C, E)),
    both("writes-anyway", "mcp-read-only-hint", "changes a resource in a read-only tool", (B, E)),
    both("adds-again", "mcp-idempotent-hint", "adds to a resource each time an idempotent tool is called", (B, E)),
    both("overwrites", "mcp-destructive-hint", "overwrites a resource in a tool that is not destructive", (B, E)),
    both("mixed-scope", "mcp-cache-scope", "makes the second page private", (E, E)),
    both("unasked-task", "mcp-tasks-core", "makes tasks without declaring them", (D, D)),
    both("task-code", "mcp-tasks-extension", "answers clients without the extension with -32602", (E, E)),
];
