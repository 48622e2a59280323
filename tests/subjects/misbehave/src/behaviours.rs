//! What can be wrong with a server, as one sorted table.

use serde_json::Value;

use crate::{bombs, effects, floods, server::Server, texts};

/// A way to misbehave.
pub(crate) struct Behaviour {
    /// The first word of the command line.
    pub(crate) name: &'static str,
    /// The word after it.
    pub(crate) arg: Arg,
    /// The method at which it happens unless `--at` says otherwise; [`ALL`] for every one, empty where none is meant.
    pub(crate) at: &'static str,
    /// What the server does, in one line.
    pub(crate) summary: &'static str,
    /// How it is done.
    pub(crate) effect: Effect,
}

/// The `at` of a behaviour that happens at every method.
pub(crate) const ALL: &str = "all";

const INIT: &str = "initialize";
const LIST: &str = "tools/list";
const CALL: &str = "tools/call";

/// The argument of a behaviour, with its default.
#[derive(Clone, Copy)]
pub(crate) enum Arg {
    None,
    Number(u64),
    Text(&'static str),
}

/// Where in the life of the server a behaviour interferes.
pub(crate) enum Effect {
    /// Nowhere.
    Nothing,
    /// Before the first byte is read.
    Start(fn(&mut Server)),
    /// Before a request is answered.
    Before(fn(&mut Server, &Value)),
    /// The honest reply, changed: server, request, reply.
    Reply(fn(&Server, &Value, &mut Value)),
    /// The reply as bytes, line end included.
    Bytes(fn(&Server, &Value) -> Vec<u8>),
    /// In place of any reply.
    Instead(fn(&mut Server, &Value)),
    /// After a request was answered.
    After(fn(&mut Server)),
    /// When a notification came.
    Notified(fn(&mut Server)),
    /// When standard input is at its end.
    End(fn(&mut Server)),
}

use Arg::{None, Number, Text};
use Effect::{After, Before, Bytes, End, Instead, Nothing, Notified, Reply, Start};

impl Behaviour {
    /// How it is called: name and argument.
    pub(crate) fn call(&self) -> String {
        match self.arg {
            None => self.name.to_owned(),
            Number(default) => format!("{} [{default}]", self.name),
            Text(default) => format!("{} [{default}]", self.name),
        }
    }
}

const fn row(name: &'static str, arg: Arg, at: &'static str, effect: Effect, summary: &'static str) -> Behaviour {
    Behaviour { name, arg, at, summary, effect }
}

/// Every behaviour, sorted by name.
#[rustfmt::skip] // one row, one line
pub(crate) const BEHAVIOURS: &[Behaviour] = &[
    row("abort-after-call", None, CALL, After(|_| std::process::abort()), "dies by a signal once it has answered a call"),
    row("abort-after-initialize", None, INIT, After(|_| std::process::abort()), "dies by a signal once it has shaken hands"),
    row("abort-at-end", None, "", End(|_| std::process::abort()), "dies by a signal when its input is closed"),
    row("abort-at-start", None, "", Start(|_| std::process::abort()), "dies by a signal before it reads anything"),
    row("abort-mid-call", None, CALL, Before(|_, _| std::process::abort()), "dies by a signal instead of answering"),
    row("abort-mid-line", None, CALL, Instead(effects::abort_mid_line), "dies by a signal in the middle of its reply"),
    row("ansi", None, CALL, Bytes(effects::ansi), "wraps the reply in terminal colours"),
    row("bad-number", None, CALL, Bytes(effects::bad_number), "replies with a number no float can hold"),
    row("bad-output", None, ALL, Reply(effects::bad_output), "returns structured content against its own output schema"),
    row("batch", None, CALL, Bytes(effects::batch), "replies with a batch of one"),
    row("big-ids", Number(10), CALL, Before(floods::big_ids), "asks so many things first under ids of a megabyte"),
    row("big-notifications", Number(80), CALL, Before(floods::big_notifications), "sends so many notifications of a megabyte first"),
    row("big-requests", Number(80), CALL, Before(floods::big_requests), "sends so many requests of a megabyte first"),
    row("bogus-version", Text("1999-01-01"), INIT, Reply(effects::version), "agrees on a protocol version that never was"),
    row("bom", None, "", Start(effects::bom), "starts its output with a byte order mark"),
    row("both", None, CALL, Reply(effects::both), "replies with a result and an error"),
    row("cancel-aware", Text("cancelled.json"), CALL, Instead(effects::cancel_aware), "waits for a cancellation and writes it to the file"),
    row("caps-wrong-type", None, INIT, Reply(effects::caps_wrong_type), "declares capabilities that are not objects"),
    row("control-text", None, CALL, Reply(effects::control_text), "returns text that clears screens and forges lines of a report"),
    row("crash-on-wrong-type", None, CALL, Before(effects::crash_on_wrong_type), "dies by a signal when `text` is no string"),
    row("crlf", None, ALL, Bytes(effects::crlf), "ends its lines with CR LF"),
    row("cyclic-ref", None, LIST, Reply(effects::cyclic_ref), "has schemas that refer to themselves"),
    row("deep-json", Number(100_000), CALL, Bytes(effects::deep_json), "replies with objects nested so deep"),
    row("duplicate-is-error", None, CALL, Bytes(floods::duplicate_is_error), "says that the call failed and that it did not"),
    row("duplicate-keys", None, CALL, Bytes(effects::duplicate_keys), "replies with two results under one key"),
    row("early-reply", Number(0), ALL, Instead(floods::early_reply), "answers the first call before it is made, and again if the number is 1"),
    row("endless-document", Number(1 << 20), CALL, Before(floods::endless_document), "prints so many bytes of lines that might become a message"),
    row("endless-line", None, CALL, Instead(effects::endless_line), "starts a reply that never ends"),
    row("endless-pages", None, LIST, Reply(effects::endless_pages), "always has one more page of tools"),
    row("error-null", None, CALL, Reply(effects::error_null), "replies with a result and `error: null`"),
    row("exit-after-initialize", Number(0), INIT, After(effects::exit), "exits with the code once it has shaken hands"),
    row("exit-at-start", Number(3), "", Start(effects::exit_at_start), "says `API_KEY not set` on stderr and exits with the code"),
    row("exit-mid-call", Number(7), CALL, Before(effects::exit_mid_call), "exits with the code instead of answering"),
    row("exit-mid-line", Number(0), CALL, Instead(effects::exit_mid_line), "exits in the middle of its reply"),
    row("float-id", None, CALL, Reply(effects::float_id), "replies to 1 as 1.0"),
    row("flood", Number(10_000), CALL, Before(effects::flood), "sends so many log notifications first"),
    row("flood-then-log", Number(5_000), "", End(floods::flood_then_log), "sends so many notifications and then log output when its input is closed"),
    row("garbage-first", None, INIT, Before(effects::garbage), "prints log lines on stdout first"),
    row("grandchild", Number(987), "", Start(effects::grandchild), "leaves a child asleep for so many seconds that ignores TERM and HUP and holds the pipes"),
    row("growing-notifications", Number(5), CALL, Before(floods::growing_notifications), "sends so many notifications of a megabyte that grow when they are read"),
    row("growing-objects", Number(8 << 20), CALL, Bytes(floods::growing_objects), "replies with so many bytes of small objects"),
    row("growing-reply", Number(8 << 20), CALL, Bytes(floods::growing_reply), "replies with so many bytes of zeros and commas"),
    row("half-a-reply", None, CALL, Instead(effects::half_a_reply), "writes half a reply and falls silent"),
    row("hang-on-oversized", Number(100_000), CALL, Instead(effects::hang_on_oversized), "never answers again when `text` has more bytes than that"),
    row("hostile-error", None, INIT, Reply(texts::hostile_error), "refuses with a text that wants to be obeyed"),
    row("hostile-names", None, ALL, Reply(texts::hostile), "has tools whose names, and answers whose texts, want to be obeyed"),
    row("huge-line", Number(16 << 20), CALL, Bytes(effects::huge_line), "replies with a text of so many bytes"),
    row("ignore-eof", None, "", End(effects::outlive), "goes on living when stdin is closed"),
    row("ignore-sigterm", None, "", Start(effects::ignore_sigterm), "goes on living when stdin is closed and when told to end"),
    row("input-bomb", Text("ref-chain"), LIST, Reply(bombs::input), "has an input schema that takes for ever to judge"),
    row("invalid-utf8", None, CALL, Bytes(effects::invalid_utf8), "replies with bytes that are no text"),
    row("json-log-lines", None, ALL, Before(effects::json_log_line), "prints a JSON log line on stdout before each reply"),
    row("late", Number(1_000), CALL, Instead(effects::late), "answers after so many milliseconds, cancelled or not"),
    row("lenient", None, ALL, Reply(effects::lenient), "calls what it was never told of with whatever it is given, though its schema is closed"),
    row("long-methods", Number(4), CALL, Before(floods::long_methods), "sends so many notifications whose methods have twenty megabytes"),
    row("many-tools", Number(1_000), LIST, Reply(effects::many_tools), "lists so many tools on one page"),
    row("missing-id", None, CALL, Reply(effects::missing_id), "replies without an id"),
    row("never-reads", None, "", Start(effects::outlive), "never reads what it is sent"),
    row("no-jsonrpc", None, CALL, Reply(effects::no_jsonrpc), "replies without `jsonrpc`"),
    row("no-name-tool", None, LIST, Reply(effects::no_name_tool), "lists a tool without a name"),
    row("no-schema-tool", None, LIST, Reply(effects::no_schema_tool), "lists a tool without an input schema"),
    row("non-object-result", None, CALL, Reply(effects::non_object_result), "replies with a string for a result"),
    row("none", None, "", Nothing, "behaves"),
    row("nul", None, CALL, Bytes(effects::nul), "puts NUL bytes around the reply"),
    row("null-id", None, CALL, Reply(effects::null_id), "replies with the id null"),
    row("old-version", Text("2024-11-05"), INIT, Reply(effects::version), "agrees on an older protocol version"),
    row("out-of-order", Number(200), CALL, Instead(effects::out_of_order), "answers the next request first if one comes within so many milliseconds"),
    row("output-bomb", Text("ref-chain"), ALL, Reply(bombs::output), "has an output schema that takes for ever to judge"),
    row("pages", Number(3), LIST, Reply(effects::pages), "lists its tools on so many pages, as it should"),
    row("ping-client", None, CALL, Instead(effects::ping_client), "pings the client and returns its answer"),
    row("pretty", None, CALL, Bytes(effects::pretty), "spreads the reply over several lines"),
    row("progress", Number(3), CALL, Before(effects::progress), "reports progress so many times if it was given a token"),
    row("reads-no-more", None, INIT, Before(effects::read_no_more), "reads nothing once it has shaken hands, so that the pipe fills up"),
    row("repeat-cursor", None, LIST, Reply(effects::repeat_cursor), "gives the same cursor on every page"),
    row("reply-to-notification", None, "", Notified(effects::reply_to_notification), "replies to what wants no reply"),
    row("request-flood", Number(20_000), CALL, Before(effects::request_flood), "asks the client so many things first"),
    row("requests-same-id", None, CALL, Instead(effects::requests_same_id), "asks the client twice under one id and returns its answers"),
    row("requests-unknown", None, CALL, Instead(effects::requests_unknown), "asks the client what it cannot know and returns its answers"),
    row("rpc-error", Number(32_603), CALL, Reply(effects::rpc_error), "replies with the JSON-RPC error of that code, negated"),
    row("silent", None, ALL, Instead(|_, _| ()), "reads and never answers"),
    row("slow-bytes", Number(2), CALL, Instead(effects::slow_bytes), "writes its reply byte by byte, so many milliseconds apart"),
    row("speaks-after-eof", None, "", End(effects::speak_after_eof), "goes on talking when stdin is closed"),
    row("stderr-flood", Number(1 << 20), "", Start(effects::stderr_flood), "writes so many bytes to stderr first"),
    row("string-error-code", None, CALL, Reply(effects::string_error_code), "replies with an error whose code is a string"),
    row("string-id", None, CALL, Reply(effects::string_id), "replies to 1 as \"1\""),
    row("structured", None, CALL, Reply(effects::structured), "returns structured content and no text"),
    row("twice", None, CALL, Instead(effects::twice), "replies twice, not the same"),
    row("wrong-id", None, CALL, Reply(effects::wrong_id), "replies to a request nobody made"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_has_no_name_twice() {
        assert!(BEHAVIOURS.is_sorted_by(|a, b| a.name < b.name));
    }
}
