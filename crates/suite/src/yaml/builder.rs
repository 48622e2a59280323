//! Builds the spanned tree from the parser's events.

use std::collections::HashMap;

use mcprove_model::{Diagnostics, Entry, Finding, Key, Kind, Node, ScalarStyle, SourceFile, Span};
use saphyr_parser::{Event, Parser, Tag};

use super::merge::{self, Merge};
use super::offsets::Offsets;
use super::syntax_error::{self, SyntaxError};
use super::{extent, scalar};

/// Deeper files are refused, so that walking a tree never exhausts the stack.
const MAX_DEPTH: usize = 200;

/// Maximum size that aliases may add to a file. A larger one is a "billion laughs" file, not a suite.
const MAX_ALIASED: usize = 500_000;

/// More documents than this in one file are a mistake.
const MAX_DOCUMENTS: usize = 20_000;

pub(super) fn build(source: &SourceFile) -> (Vec<Node>, Vec<Finding>) {
    // The mark would otherwise count as a character of the first document.
    let bom = if source.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let text = &source.text()[bom..];
    let mut builder = Builder {
        source,
        base: bom,
        text,
        offsets: Offsets::new(text),
        found: Diagnostics::new(source),
        frames: Vec::new(),
        documents: Vec::new(),
        anchors: HashMap::new(),
        aliased: 0,
        last_end: 0,
        last_template: None,
    };
    builder.run();
    (builder.documents, builder.found.into_findings())
}

struct Builder<'s> {
    source: &'s SourceFile,
    base: usize,
    text: &'s str,
    offsets: Offsets,
    found: Diagnostics<'s>,
    frames: Vec<Frame>,
    documents: Vec<Node>,
    anchors: HashMap<usize, Node>,
    aliased: usize,
    /// End of the last thing that was read: block collections end there, and absent values are placed after it.
    last_end: usize,
    /// Where the last template without quotes ended.
    last_template: Option<usize>,
}

/// A collection that is still open.
struct Frame {
    start: usize,
    anchor: usize,
    content: Content,
}

enum Content {
    List(Vec<Node>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<Entry>,
    merges: Vec<Merge>,
    pending: Pending,
    /// A `{{name}}` without quotes, which YAML takes for a map in a map.
    is_template: bool,
}

/// State of the entry being read.
#[derive(Default)]
enum Pending {
    #[default]
    Nothing,
    Key(Key),
    Merge(Key),
    /// The key cannot be used; its value is dropped.
    Unusable,
}

/// Control flow of the reader.
#[derive(PartialEq)]
enum Flow {
    Go,
    Stop,
}

impl<'s> Builder<'s> {
    fn run(&mut self) {
        let mut parser = Parser::new_from_str(self.text);
        while let Some(next) = parser.next_event() {
            let flow = match next {
                Ok((event, span)) => {
                    self.take(event, self.offsets.byte(span.start.index()), self.offsets.byte(span.end.index()))
                }
                Err(error) => {
                    self.syntax_error(error.info(), self.offsets.byte(error.marker().index()));
                    Flow::Stop
                }
            };
            if flow == Flow::Stop {
                break;
            }
        }
    }

    fn take(&mut self, event: Event<'s>, start: usize, end: usize) -> Flow {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd => Flow::Go,
            Event::DocumentStart(explicit) => {
                if self.documents.len() >= MAX_DOCUMENTS {
                    let message = format!("the file has more than {MAX_DOCUMENTS} documents");
                    let span = self.span(start, end);
                    self.found.error_with_help("too-large", span, message, "divide it into several files");
                    return Flow::Stop;
                }
                // Anchors live in one document only.
                self.anchors.clear();
                if explicit {
                    self.last_end = end;
                }
                Flow::Go
            }
            Event::DocumentEnd => {
                self.last_end = self.last_end.max(start);
                Flow::Go
            }
            Event::Alias(anchor) => self.alias(anchor, start, end),
            Event::Scalar(text, style, anchor, tag) => {
                let style = Style::of(style, &text, anchor, tag.is_some());
                let span = self.scalar_span(&style, start, end);
                let node = self.scalar(&text, &style, tag.as_deref(), span);
                self.last_end = self.last_end.max(span.end as usize - self.base);
                self.anchored(anchor, &node);
                self.push(node);
                Flow::Go
            }
            Event::SequenceStart(anchor, tag) => {
                let start = self.collection_start(start, anchor, tag.as_deref());
                let is_value = matches!(
                    self.frames.last(),
                    Some(Frame { content: Content::Map(OpenMap { pending, .. }), .. })
                        if !matches!(pending, Pending::Nothing)
                );
                let start = if is_value { extent::list_start(self.text, self.last_end, start) } else { start };
                self.check_collection_tag(tag.as_deref(), "seq", start);
                self.open(Frame { start, anchor, content: Content::List(Vec::new()) })
            }
            Event::MappingStart(anchor, tag) => {
                let start = self.collection_start(start, anchor, tag.as_deref());
                self.check_collection_tag(tag.as_deref(), "map", start);
                self.open(Frame { start, anchor, content: Content::Map(OpenMap::default()) })
            }
            Event::SequenceEnd => {
                self.close(start, b'[', b']');
                Flow::Go
            }
            Event::MappingEnd => {
                self.close(start, b'{', b'}');
                Flow::Go
            }
        }
    }

    fn open(&mut self, frame: Frame) -> Flow {
        if self.frames.len() >= MAX_DEPTH {
            self.too_deep(frame.start);
            return Flow::Stop;
        }
        self.last_end = self.last_end.max(frame.start);
        self.frames.push(frame);
        Flow::Go
    }

    fn close(&mut self, at: usize, opener: u8, closer: u8) {
        let Some(frame) = self.frames.pop() else { return };
        let bytes = self.text.as_bytes();
        let end = if bytes.get(frame.start) == Some(&opener) && bytes.get(at) == Some(&closer) {
            at + 1
        } else {
            self.last_end.max(frame.start)
        };
        self.last_end = self.last_end.max(end);
        let span = self.span(frame.start, end);
        let node = match frame.content {
            Content::List(mut items) => {
                items.shrink_to_fit();
                Node { span, kind: Kind::List(items) }
            }
            Content::Map(map) if map.is_template => {
                self.last_template = Some(end);
                let whole = extent::plain_word_end(self.text, end) + self.base;
                self.found.error_with_help(
                    "unquoted-template",
                    span,
                    "without quotes, `{{` begins a map",
                    format!("write \"{}\"", self.slice(Span { end: Span::new(whole, 0).start, ..span })),
                );
                // As text it gives no second finding where the value is used.
                Node::text_at(span, self.slice(span))
            }
            Content::Map(map) => {
                let mut entries = merge::finish(map.entries, map.merges, &mut self.found);
                entries.shrink_to_fit();
                Node { span, kind: Kind::Map(entries) }
            }
        };
        self.anchored(frame.anchor, &node);
        self.push(node);
    }

    /// Puts a finished node where it belongs: into the open list or map, or among the documents.
    fn push(&mut self, node: Node) {
        let Some(frame) = self.frames.last_mut() else {
            self.documents.push(node);
            return;
        };
        let map = match &mut frame.content {
            Content::List(items) => {
                items.push(node);
                return;
            }
            Content::Map(map) => map,
        };
        match std::mem::take(&mut map.pending) {
            Pending::Nothing => {
                let text = self.text.as_bytes();
                let is_template = frame.start + 1 + self.base == node.span.start as usize
                    && text.get(frame.start..frame.start + 2) == Some(b"{{");
                map.is_template |= is_template;
                map.pending = key_of(node, is_template, &mut self.found);
            }
            Pending::Key(key) => map.entries.push(Entry { key, value: node }),
            Pending::Merge(key) => {
                let position = map.entries.len();
                map.merges.push(Merge { position, entries: merge::merged_entries(&key, node, &mut self.found) });
            }
            Pending::Unusable => {}
        }
    }

    fn anchored(&mut self, anchor: usize, node: &Node) {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
    }

    fn alias(&mut self, anchor: usize, start: usize, end: usize) -> Flow {
        let span = self.span(start, end);
        self.last_end = self.last_end.max(end);
        let Some(target) = self.anchors.get(&anchor) else {
            self.found.error_with_help(
                "yaml-syntax",
                span,
                format!("`{}` is inside the value it names, or names a value of another document", self.slice(span)),
                "an alias can repeat a finished value of the same document only",
            );
            self.push(Node { span, kind: Kind::Scalar(scalar::read("", ScalarStyle::Plain)) });
            return Flow::Go;
        };
        let size = Size::of(target);
        self.aliased += size.weight;
        if self.aliased > MAX_ALIASED {
            let message = format!("aliases repeat more than {MAX_ALIASED} values");
            self.found.error_with_help("too-large", span, message, "write the values out, or use fewer aliases");
            return Flow::Stop;
        }
        if self.frames.len() + size.height > MAX_DEPTH {
            self.too_deep(start);
            return Flow::Stop;
        }
        let node = Node { span, kind: target.kind.clone() };
        self.push(node);
        Flow::Go
    }

    fn scalar(&mut self, text: &str, style: &Style, tag: Option<&Tag>, span: Span) -> Node {
        let style = match style {
            Style::Absent | Style::AbsentWithProperties | Style::Plain => ScalarStyle::Plain,
            Style::Quoted => ScalarStyle::Quoted,
            Style::Block => ScalarStyle::Block,
        };
        let mut read = scalar::read(text, style);
        if let Some(tag) = tag {
            match scalar::tagged(core_tag(tag), &read.text) {
                Some(Ok(meaning)) => read.meaning = meaning,
                Some(Err(wanted)) => self.found.error(
                    "bad-tag",
                    span,
                    format!("`{}` is tagged `!!{}` but is not {wanted}", read.text, core_tag(tag)),
                ),
                None => self.unknown_tag(tag, span),
            }
        }
        Node { span, kind: Kind::Scalar(read) }
    }

    fn scalar_span(&self, style: &Style, start: usize, end: usize) -> Span {
        match style {
            Style::Absent => {
                let is_key = matches!(
                    self.frames.last(),
                    Some(Frame { content: Content::Map(OpenMap { pending: Pending::Nothing, .. }), .. })
                );
                let at = if is_key { start } else { extent::after_indicator(self.text, self.last_end, b":-?") };
                self.span(at, at)
            }
            Style::AbsentWithProperties => self.span(end, end),
            Style::Plain => {
                let start = self.content_start(start, end);
                self.span(start, extent::trimmed_end(self.text, start, end))
            }
            Style::Quoted => {
                let start = self.content_start(start, end);
                self.span(start, extent::quoted_end(self.text, start))
            }
            Style::Block => {
                let header = extent::block_scalar_start(self.text, self.last_end, end);
                self.span(header, extent::trimmed_end(self.text, header, end))
            }
        }
    }

    /// Where a scalar begins behind its anchor and tag; a plain scalar may itself hold `!` or `&`, never begin with one.
    fn content_start(&self, start: usize, end: usize) -> usize {
        extent::skip_properties(self.text, start).min(end)
    }

    fn collection_start(&self, start: usize, anchor: usize, tag: Option<&Tag>) -> usize {
        if anchor > 0 || tag.is_some() { extent::skip_properties(self.text, start) } else { start }
    }

    fn check_collection_tag(&mut self, tag: Option<&Tag>, expected: &str, start: usize) {
        let Some(tag) = tag else { return };
        if core_tag(tag) != expected {
            self.unknown_tag(tag, self.span(start, start));
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, span: Span) {
        // Editors and other tools understand tags of their own; here they mean nothing.
        let name = if tag.is_yaml_core_schema() { format!("!!{}", tag.suffix) } else { tag.to_string() };
        let message = format!("the tag `{name}` is ignored");
        self.found.warning("unknown-tag", span, message, Some("remove the tag".to_owned()));
    }

    fn too_deep(&mut self, at: usize) {
        let span = self.span(at, at);
        self.found.error("too-deep", span, format!("lists and maps are nested deeper than {MAX_DEPTH} levels"));
    }

    fn syntax_error(&mut self, info: &str, at: usize) {
        // What follows a template without quotes cannot be read either; one finding is enough.
        if at <= self.last_end && self.last_template == Some(self.last_end) {
            return;
        }
        let open = self.frames.last().map(|frame| frame.start);
        let open = open.filter(|start| matches!(self.text.as_bytes().get(*start), Some(b'[' | b'{')));
        let error = SyntaxError { info, at: at + self.base, open: open.map(|start| start + self.base) };
        self.found.add(syntax_error::explain(self.source, &error));
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(start + self.base, end + self.base)
    }

    fn slice(&self, span: Span) -> &'s str {
        self.source.slice(span)
    }
}

/// Form of a scalar in the text, which decides where its span begins and ends.
enum Style {
    /// Left out altogether.
    Absent,
    /// Left out, but for an anchor or a tag.
    AbsentWithProperties,
    Plain,
    Quoted,
    Block,
}

impl Style {
    fn of(style: saphyr_parser::ScalarStyle, text: &str, anchor: usize, tagged: bool) -> Self {
        match style {
            saphyr_parser::ScalarStyle::Plain if !text.is_empty() => Self::Plain,
            saphyr_parser::ScalarStyle::Plain if anchor > 0 || tagged => Self::AbsentWithProperties,
            saphyr_parser::ScalarStyle::Plain => Self::Absent,
            saphyr_parser::ScalarStyle::SingleQuoted | saphyr_parser::ScalarStyle::DoubleQuoted => Self::Quoted,
            saphyr_parser::ScalarStyle::Literal | saphyr_parser::ScalarStyle::Folded => Self::Block,
        }
    }
}

/// The name of a tag of the core schema (`!!str`, also in its long forms), or its whole text.
fn core_tag(tag: &Tag) -> &str {
    const PREFIX: &str = "tag:yaml.org,2002:";
    if tag.handle.is_empty() && tag.suffix == "!" {
        // The non-specific tag: "take it literally".
        return "str";
    }
    match tag.suffix.strip_prefix(PREFIX) {
        Some(name) if tag.handle.is_empty() => name,
        _ if tag.is_yaml_core_schema() => &tag.suffix,
        _ => "",
    }
}

fn key_of(node: Node, is_template: bool, found: &mut Diagnostics<'_>) -> Pending {
    let span = node.span;
    match node.kind {
        Kind::Scalar(scalar) => {
            let is_merge = scalar.text == "<<" && scalar.style == ScalarStyle::Plain;
            let key = Key { text: scalar.text, span };
            if is_merge { Pending::Merge(key) } else { Pending::Key(key) }
        }
        Kind::List(_) | Kind::Map(_) => {
            if !is_template {
                found.error_with_help(
                    "complex-key",
                    span,
                    "a key must be text, not a list or a map",
                    "put the key in quotes",
                );
            }
            Pending::Unusable
        }
    }
}

/// Size of a tree, to keep repeated ones in bounds.
#[derive(Clone, Copy)]
struct Size {
    /// Values and keys, and their text in units of 32 bytes.
    weight: usize,
    height: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        match &node.kind {
            Kind::Scalar(scalar) => Self { weight: 1 + scalar.text.len() / 32, height: 0 },
            Kind::List(items) => items.iter().map(Self::of).fold(Self { weight: 1, height: 1 }, Self::with),
            Kind::Map(entries) => entries.iter().fold(Self { weight: 1, height: 1 }, |sum, entry| {
                let child = Self::of(&entry.value);
                sum.with(Self { weight: child.weight + 1 + entry.key.text.len() / 32, height: child.height })
            }),
        }
    }

    fn with(self, child: Self) -> Self {
        Self { weight: self.weight + child.weight, height: self.height.max(child.height + 1) }
    }
}
