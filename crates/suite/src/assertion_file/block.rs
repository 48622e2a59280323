//! Which blocks there are, and which one a document has: exactly one.

use mcprove_model::{Act, Diagnostics, Entry, Expectation, Node, Span};

use super::templates::Scope;
use super::{assert_tool, texts};

/// Every block, sorted by its key.
pub(super) const BLOCKS: &[Block] = &[
    assert_tool::BLOCK,
    Block::unsupported("assert_completion"),
    Block::unsupported("assert_logging"),
    Block::unsupported("assert_notifications"),
    Block::unsupported("assert_prompts"),
    Block::unsupported("assert_resources"),
    Block::unsupported("assert_sampling"),
    Block { companions: &["audit_log", "trace"], needs_server: false, ..Block::unsupported("trajectory") },
];

/// One kind of block.
pub(super) struct Block {
    /// Its key in a document.
    pub(super) key: &'static str,
    /// Further keys of the document that belong to it.
    pub(super) companions: &'static [&'static str],
    /// Whether it speaks to a server.
    pub(super) needs_server: bool,
    /// Turns it into what a case does and expects; `None` while the block is only known by name.
    pub(super) decode: Option<DecodeBlock>,
}

/// Decodes a block and reports what is wrong with it.
pub(super) type DecodeBlock = fn(&Input<'_>, &mut Diagnostics<'_>) -> Option<Asked>;

/// What a block is decoded from.
pub(super) struct Input<'n> {
    /// The block's key and value.
    pub(super) entry: &'n Entry,
    /// The variables it may use.
    pub(super) scope: &'n Scope,
}

/// What a block asks for.
pub(super) struct Asked {
    pub(super) act: Act,
    pub(super) expect: Expectation,
}

impl Block {
    const fn unsupported(key: &'static str) -> Self {
        Self { key, companions: &[], needs_server: true, decode: None }
    }

    /// Its key and those of its companions.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.key).chain(self.companions.iter().copied())
    }
}

/// The block of a document.
pub(super) struct Chosen<'n> {
    pub(super) block: &'static Block,
    pub(super) entry: &'n Entry,
}

/// Finds the one block of a document; none, or more than one, is reported.
pub(super) fn choose<'n>(entries: &'n [Entry], found: &mut Diagnostics<'_>) -> Option<Chosen<'n>> {
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
                    format!("`{}` is a second block beside `{}` on line {line}", entry.key.text, first.entry.key.text),
                    "give each block a file or a `---` document of its own",
                );
            }
            None => {
                if block.decode.is_none() {
                    found.error(
                        "unsupported-block",
                        entry.key.span,
                        format!("`{}` is not supported by this version", entry.key.text),
                    );
                }
                chosen = Some(Chosen { block, entry });
            }
        }
    }
    if chosen.is_none() {
        report_no_block(entries, found);
    }
    chosen
}

impl Chosen<'_> {
    /// Decodes the block.
    pub(super) fn decode(&self, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<Asked> {
        (self.block.decode?)(&Input { entry: self.entry, scope }, found)
    }
}

/// The arguments of a call: a map, or nothing.
pub(super) fn arguments(block: &Node, found: &mut Diagnostics<'_>) -> Node {
    match block.get("args") {
        Some(args) if !args.is_null() => {
            found.map(args, "`args`");
            args.clone()
        }
        Some(_) | None => Node::empty_map(block.span),
    }
}

/// Who calls a tool: how to speak of it, where it is, and which keys it has.
pub(super) struct Caller<'n> {
    pub(super) node: &'n Node,
    pub(super) what: &'static str,
    pub(super) span: Span,
    pub(super) keys: &'static [&'static str],
}

/// The name of the tool to call; its absence is reported.
pub(super) fn tool(caller: &Caller<'_>, found: &mut Diagnostics<'_>) -> Option<Node> {
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
        "nothing is asserted: there is no block that says what to do",
        format!("add `assert:` or one of {}", known[1..].join(", ")),
    );
}
