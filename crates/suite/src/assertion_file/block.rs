//! Which blocks there are, and which one a document has: exactly one.

use mcprove_model::{
    Act, CallTool, Diagnostics, Entry, Expectation, Key, Kind, Node, SETTLE, SamplingReply, Span, Vocabulary,
};

use super::templates::Scope;
use super::{
    assert_completion, assert_logging, assert_notifications, assert_prompts, assert_raw, assert_resources,
    assert_sampling, assert_tool, expectation, texts, trajectory,
};
use crate::field::{self, Field};

/// Every block, sorted by its key.
pub(crate) const BLOCKS: &[Block] = &[
    assert_tool::BLOCK,
    assert_completion::BLOCK,
    assert_logging::BLOCK,
    assert_notifications::BLOCK,
    assert_prompts::BLOCK,
    assert_raw::BLOCK,
    assert_resources::BLOCK,
    assert_sampling::BLOCK,
    trajectory::BLOCK,
];

/// One kind of block.
pub(crate) struct Block {
    /// Its key in a document.
    pub(crate) key: &'static str,
    /// One sentence for the documentation.
    pub(crate) summary: &'static str,
    /// The keys under it, sorted; of the document, where it has companions.
    pub(crate) fields: &'static [Field],
    /// Further keys of the document that belong to it.
    pub(crate) companions: &'static [&'static str],
    /// True if it speaks to a server.
    pub(crate) needs_server: bool,
    /// Turns it into what a case does and expects.
    pub(crate) decode: DecodeBlock,
}

/// Decodes a block and reports what is wrong with it.
pub(crate) type DecodeBlock = fn(&Input<'_>, &mut Diagnostics<'_>) -> Option<DecodedBlock>;

/// Input of a block decoder: a block, or a test of a suite. Its keys are known.
#[derive(Clone, Copy)]
pub(crate) struct Input<'n> {
    /// The map with the keys: the block, the document that it is spread over, or the test.
    pub(crate) node: &'n Node,
    /// The key that it is written under.
    pub(crate) key: &'n str,
    /// Its description for messages.
    pub(crate) what: &'n str,
    /// The keys that it may have.
    pub(crate) keys: &'n [&'static str],
    /// The place of what is missing.
    pub(crate) place: Span,
    /// Its `expect`, with what the suite expects of every test.
    pub(crate) expect: Option<&'n Node>,
    /// The variables it may use.
    pub(crate) scope: &'n Scope,
}

impl<'n> Input<'n> {
    /// A key with its value.
    pub(crate) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.node.as_map()?.iter().find(|entry| entry.key.text == key)
    }

    /// Decodes `expect`.
    pub(crate) fn expect(&self, vocabulary: Vocabulary, found: &mut Diagnostics<'_>) -> Expectation {
        expectation::decode(self.expect, vocabulary, self.scope, found)
    }

    /// The keys that say what is expected, where there are more than `expect`: a map of these alone.
    pub(crate) fn expectations(&self, keys: &[&str]) -> Option<Node> {
        let own = self.node.as_map()?.iter().filter(|entry| keys.contains(&entry.key.text.as_str()));
        let mut entries: Vec<Entry> = own.filter(|entry| entry.key.text != "expect").cloned().collect();
        if let Some(expect) = self.expect {
            let span = self.entry("expect").map_or(self.place, |entry| entry.key.span);
            entries.push(Entry { key: Key { text: "expect".into(), span }, value: expect.clone() });
        }
        (!entries.is_empty()).then_some(Node { span: self.node.span, kind: Kind::Map(entries) })
    }

    /// The tool and the arguments of a call.
    pub(crate) fn call(&self, found: &mut Diagnostics<'_>) -> Option<CallTool> {
        let caller = Caller { node: self.node, what: self.what, span: self.place, keys: self.keys };
        call(&caller, self.scope, found)
    }

    /// True if a missing key is there under a wrong name: the finding about that name says what to do.
    pub(crate) fn is_misspelt(&self, missing: &str) -> bool {
        texts::is_misspelt(self.node.as_map().unwrap_or_default(), missing, self.keys)
    }

    /// A text that must be there and not be empty.
    pub(crate) fn named(&self, key: &str, found: &mut Diagnostics<'_>) -> Option<Node> {
        if self.node.get(key).is_none() && self.is_misspelt(key) {
            return None;
        }
        named(self.node, key, self.place, found)
    }
}

/// A decoded block.
pub(crate) struct DecodedBlock {
    pub(crate) act: Act,
    pub(crate) expect: Expectation,
    /// Scripted answers of a model, for blocks that have them.
    pub(crate) script: Option<Script>,
}

/// Scripted answers of a model, and the key of the block that holds them.
pub(crate) struct Script {
    /// The answers in order, if the block has any.
    pub(crate) replies: Option<Vec<SamplingReply>>,
    pub(crate) span: Span,
}

impl DecodedBlock {
    pub(crate) fn new(act: Act, expect: Expectation) -> Self {
        Self { act, expect, script: None }
    }
}

impl Block {
    /// Its key and those of its companions.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.key).chain(self.companions.iter().copied())
    }
}

/// True if a key of a document belongs to a block.
pub(crate) fn is_key(key: &str) -> bool {
    BLOCKS.iter().any(|block| block.keys().any(|own| own == key))
}

/// The key under which a suite file lists tests of the block that a key belongs to.
pub(crate) fn list_key(key: &str) -> &'static str {
    match BLOCKS.iter().find(|block| block.keys().any(|own| own == key)) {
        Some(block) if block.key != "assert" => block.key,
        Some(_) | None => "tools",
    }
}

/// True if a key of a document belongs to a block that is spread over several keys.
pub(crate) fn is_spread(key: &str) -> bool {
    BLOCKS.iter().any(|block| !block.companions.is_empty() && block.keys().any(|own| own == key))
}

/// The block of a document.
pub(crate) struct Chosen<'n> {
    pub(crate) block: &'static Block,
    pub(crate) entry: &'n Entry,
}

/// Finds the one block of a document; none, or more than one, is reported.
pub(crate) fn choose<'n>(entries: &'n [Entry], found: &mut Diagnostics<'_>) -> Option<Chosen<'n>> {
    let mut chosen: Option<Chosen<'n>> = None;
    for entry in entries {
        let Some(block) = BLOCKS.iter().find(|block| block.keys().any(|key| key == entry.key.text)) else { continue };
        match &chosen {
            Some(first) if first.block.key == block.key => {}
            Some(first) => {
                let line = found.source().position(first.entry.key.span.start).line;
                found.error_with_help(
                    "two-blocks",
                    entry.key.span,
                    format!(
                        "`{}` is a second block; the first is `{}` on line {line}",
                        entry.key.text, first.entry.key.text
                    ),
                    "give each block a file or a `---` document of its own",
                );
            }
            None => chosen = Some(Chosen { block, entry }),
        }
    }
    if chosen.is_none() {
        report_no_block(entries, found);
    }
    chosen
}

impl Chosen<'_> {
    /// Decodes the block.
    pub(crate) fn decode(&self, document: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<DecodedBlock> {
        let Entry { key, value } = self.entry;
        let what = format!("`{}`", self.block.key);
        let (node, keys) = if self.block.companions.is_empty() {
            let keys = field::keys(self.block.fields);
            found.map(value, &what)?;
            found.known_keys(value, &what, &keys);
            (value, keys)
        } else {
            (document, super::known_keys())
        };
        let (key, place, expect) = (&key.text, key.span, node.get("expect"));
        (self.block.decode)(&Input { node, key, what: &what, keys: &keys, place, expect, scope }, found)
    }
}

/// A call of a tool with arguments; templates in both are checked.
pub(crate) fn call(caller: &Caller<'_>, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<CallTool> {
    let tool = tool(caller, found);
    let args = arguments(caller.node, found);
    if let Some(tool) = &tool {
        scope.check(tool, found);
    }
    scope.check(&args, found);
    Some(CallTool {
        injected: None,
        tool: tool?,
        args,
        cancel_after: None,
        lose_response: false,
        claims: None,
        repeat: 1,
        beside: Vec::new(),
        fuzz: None,
        negative_path: None,
        settle: SETTLE,
        transform: None,
        metamorphic: None,
    })
}

/// Reports the second of two requests in one block.
pub(crate) fn report_second(first: &Entry, second: &Entry, found: &mut Diagnostics<'_>) {
    let message = format!("`{}` is a second request; the first is `{}`", second.key.text, first.key.text);
    let help = "give each request a file or a `---` document of its own";
    found.error_with_help("two-acts", second.key.span, message, help);
}

/// A text that may be left out.
pub(crate) fn text(node: &Node, key: &str, found: &mut Diagnostics<'_>) -> Option<Node> {
    let value = node.get(key).filter(|value| !value.is_null())?;
    found.text(value, &format!("`{key}`")).map(|_| value.clone())
}

/// A text that must be there and not be empty; `span` is where its absence is reported.
pub(crate) fn named(node: &Node, key: &str, span: Span, found: &mut Diagnostics<'_>) -> Option<Node> {
    let Some(value) = node.get(key) else {
        found.error_with_help("missing-key", span, format!("there is no `{key}`"), format!("add `{key}:`"));
        return None;
    };
    let is_empty = value.is_null() || found.text(value, &format!("`{key}`"))?.trim().is_empty();
    if is_empty {
        found.error("missing-key", if value.is_null() { span } else { value.span }, format!("`{key}` is empty"));
        return None;
    }
    Some(value.clone())
}

/// The text under a key that is there, which must not be left empty.
pub(crate) fn required_text(node: &Node, entry: &Entry, found: &mut Diagnostics<'_>) -> Option<Node> {
    named(node, &entry.key.text, entry.key.span, found)
}

/// The arguments of a call: a map, or nothing.
pub(crate) fn arguments(block: &Node, found: &mut Diagnostics<'_>) -> Node {
    match block.get("args") {
        Some(args) if !args.is_null() => {
            found.map(args, "`args`");
            args.clone()
        }
        Some(_) | None => Node::empty_map(block.span),
    }
}

/// A node that calls a tool: its description for messages, its place, and its keys.
pub(crate) struct Caller<'n> {
    pub(crate) node: &'n Node,
    pub(crate) what: &'n str,
    pub(crate) span: Span,
    pub(crate) keys: &'n [&'static str],
}

/// The name of the tool to call; its absence is reported.
fn tool(caller: &Caller<'_>, found: &mut Diagnostics<'_>) -> Option<Node> {
    match caller.node.get("tool") {
        Some(tool) if !tool.is_null() => {
            let name = found.text(tool, "`tool`")?;
            if name.trim().is_empty() {
                found.error("no-tool", tool.span, "`tool` is empty");
                return None;
            }
            Some(tool.clone())
        }
        None if texts::is_misspelt(caller.node.as_map().unwrap_or_default(), "tool", caller.keys) => None,
        Some(_) | None => {
            found.error_with_help(
                "no-tool",
                caller.span,
                format!("{} names no tool", caller.what),
                "add `tool:` with the name of the tool to call",
            );
            None
        }
    }
}

fn report_no_block(entries: &[Entry], found: &mut Diagnostics<'_>) {
    let Some(first) = entries.first() else { return };
    let known: Vec<&str> = BLOCKS.iter().map(|block| block.key).collect();
    let all = super::known_keys();
    if known.iter().any(|block| texts::is_misspelt(entries, block, &all)) {
        return;
    }
    found.error_with_help(
        "no-block",
        first.key.span,
        "nothing is asserted: no block says what to do",
        format!("add `assert:` or one of {}", known[1..].join(", ")),
    );
}
