//! The table of rules for clients. A rule is a row here and a function in the file of its group.

mod capabilities;
mod http;
mod lifecycle;
mod messages;
mod modern;
mod requests;

use mcprove_model::Revision;

use super::rule::ClientRule;
use crate::conformance::{Channel, Level};

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

type Judge = fn(&mut super::rule::ClientRuling<'_>);

const fn must(id: &'static str, revisions: (Revision, Revision), section: &'static str, judge: Judge) -> ClientRule {
    ClientRule { id, level: Level::Must, revisions, channel: None, section, judge }
}

const fn should(id: &'static str, revisions: (Revision, Revision), section: &'static str, judge: Judge) -> ClientRule {
    ClientRule { level: Level::Should, ..must(id, revisions, section, judge) }
}

const fn http(id: &'static str, revisions: (Revision, Revision), section: &'static str, judge: Judge) -> ClientRule {
    ClientRule { channel: Some(Channel::Http), ..must(id, revisions, section, judge) }
}

const fn stdio(id: &'static str, revisions: (Revision, Revision), section: &'static str, judge: Judge) -> ClientRule {
    ClientRule { channel: Some(Channel::Stdio), ..must(id, revisions, section, judge) }
}

/// Every rule for clients.
pub static CLIENT_RULES: &[ClientRule] = &[
    must("client-first-message", (A, D), "basic/lifecycle#initialization", lifecycle::first_message),
    must("client-initialize-params", (A, D), "basic/lifecycle#initialization", lifecycle::initialize_params),
    must("client-initialized", (A, D), "basic/lifecycle#initialization", lifecycle::initialized),
    should("client-waits-for-initialize", (A, D), "basic/lifecycle#initialization", lifecycle::waits),
    must("client-one-initialize", (A, D), "basic/lifecycle#initialization", lifecycle::once),
    stdio("client-readable", (A, E), "basic/transports#stdio", messages::readable),
    must("client-jsonrpc", (A, E), "basic#messages", messages::jsonrpc),
    must("client-request-id", (A, E), "basic#requests", messages::request_id),
    must("client-unique-ids", (A, E), "basic#requests", messages::unique_ids),
    must("client-params-object", (A, E), "basic#requests", messages::params_object),
    must("client-notification-id", (A, E), "basic#notifications", messages::notification_id),
    must("client-no-batch", (C, E), "basic/transports", messages::no_batch),
    must("client-reply-shape", (A, E), "basic#responses", messages::reply_shape),
    must("client-known-reply", (A, E), "basic#responses", messages::known_reply),
    must("client-answers-requests", (A, D), "basic#responses", messages::answers_requests),
    must("client-one-reply", (A, D), "basic#responses", messages::one_reply),
    must("client-schema-valid", (A, E), "basic#schema", messages::schema_valid),
    must("client-known-method", (A, E), "basic/lifecycle#operation", requests::known_method),
    must("client-arguments", (A, E), "server/tools#calling-tools", requests::arguments),
    must("client-cursor", (A, E), "server/utilities/pagination#operations-supporting-pagination", requests::cursor),
    must("client-progress-token", (A, E), "basic/utilities/progress#progress-flow", requests::progress_token),
    must("client-cancel-known", (A, E), "basic/utilities/cancellation#behavior-requirements", requests::cancel_known),
    must(
        "client-cancel-finished",
        (A, E),
        "basic/utilities/cancellation#behavior-requirements",
        requests::cancel_finished,
    ),
    must(
        "client-cancel-initialize",
        (A, D),
        "basic/utilities/cancellation#behavior-requirements",
        requests::cancel_initialize,
    ),
    must("client-declared-capability", (C, E), "basic/lifecycle#operation", capabilities::declared),
    must("client-undeclared-answer", (A, D), "basic/lifecycle#operation", capabilities::undeclared_answer),
    should("client-capability-widening", (E, E), "basic#meta", capabilities::widening),
    http("client-accept", (B, E), "basic/transports#sending-messages-to-the-server", http::accept),
    http("client-content-type", (B, E), "basic/transports#sending-messages-to-the-server", http::content_type),
    http("client-session-id", (B, D), "basic/transports#session-management", http::session_id),
    http("client-session-restart", (B, D), "basic/transports#session-management", http::session_restart),
    http("client-version-header", (C, D), "basic/transports#protocol-version-header", http::version_header),
    http("client-get-accept", (B, D), "basic/transports#listening-for-messages-from-the-server", http::get_accept),
    http("client-token-always", (B, E), "basic/authorization#token-requirements", http::token_always),
    http("client-token-in-url", (B, E), "basic/authorization#token-requirements", http::token_in_url),
    must("client-request-meta", (E, E), "basic#meta", modern::request_meta),
    http("client-meta-header", (E, E), "basic/transports/streamable-http#protocol-version-header", modern::meta_header),
    http("client-method-header", (E, E), "basic/transports/streamable-http#request-headers", modern::method_header),
    http("client-name-header", (E, E), "basic/transports/streamable-http#request-headers", modern::name_header),
    http("client-param-header", (E, E), "basic/transports/streamable-http#client-behavior", modern::param_header),
    http("client-cancel-stream", (E, E), "basic/patterns/cancellation", modern::cancel_stream),
    must("client-no-replies", (E, E), "basic/transports/stdio#sending-messages", modern::no_replies),
    must("client-request-state", (E, E), "basic/patterns/mrtr", modern::request_state),
];
