//! `assert_logging`: set a log level, perhaps call a tool, and judge what is logged.

use mcprove_judge::log_level;
use mcprove_model::{Act, Diagnostics, Logging, Node, Vocabulary};

use super::block::{self, Block, DecodedBlock, Input};
use super::time;
use crate::field::Field;
use crate::schema::fragment;

pub(crate) const BLOCK: Block = Block {
    key: "assert_logging",
    summary: "Set a log level, perhaps call a tool, and judge what is logged.",
    fields: FIELDS,
    companions: &[],
    needs_server: true,
    decode,
};

const FIELDS: &[Field] = &[
    Field::optional("args", || fragment::any_map("The arguments of the call.")),
    Field::optional("expect", || fragment::expect(Vocabulary::Logging)),
    Field::optional("set_level", || fragment::text("The level that is set first.")),
    Field::optional("settle", time::settle_schema),
    Field::optional("tool", || fragment::text("The tool to call then.")),
];

#[expect(clippy::unnecessary_wraps, reason = "every block is decoded by a function like this")]
fn decode(input: &Input<'_>, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
    let node = input.node;
    let has = |key: &str| node.get(key).is_some_and(|value| !value.is_null());
    let level = block::text(node, "set_level", found);
    if let Some(level) = &level {
        input.scope.check(level, found);
        report_level(level, input, found);
    }
    let call = if has("tool") {
        input.call(found).map(Box::new)
    } else {
        if has("args") {
            input.call(found);
        } else if !has("set_level") {
            let help = "add `set_level:`, or `tool:` with the name of the tool to call";
            let message = "`assert_logging` neither sets a level nor calls a tool";
            found.error_with_help("nothing-done", input.place, message, help);
        }
        None
    };
    let expect = input.expect(Vocabulary::Logging, found);
    Some(DecodedBlock::new(Act::Logging(Logging { level, call, settle: time::settle(node, found) }), expect))
}

fn report_level(level: &Node, input: &Input<'_>, found: &mut Diagnostics<'_>) {
    let Some(text) = level.as_text().filter(|text| !log_level::is_known(text)) else { return };
    if input.scope.is_templated(level) {
        return;
    }
    let message = format!("unknown log level `{text}`; `assert_raw` can send it to test the rejection");
    found.error_with_help("unknown-level", level.span, message, log_level::help(text));
}
