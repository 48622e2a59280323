//! Assertion files → one suite file with the same verdicts. Pure: documents in, text out.
//!
//! Differences between the kinds are carried over: every test gets a server of its own (`restart_policy: per_test`), and
//! a dollar sign that means itself in an assertion file is doubled, because suite files replace `${NAME}` everywhere.

pub mod mcptest;

use std::collections::HashSet;
use std::path::Path;

use mcprove_model::{Diagnostics, Entry, Finding, Key, Kind, Node, SourceFile, Span};
use serde_json::{Value, json};

use crate::assertion_file::{self, STEPS};
use crate::environment::{SECRET, with_doubled_dollars};
use crate::load::Parsed;
use crate::schema::editor_line;
use crate::server;
use crate::suite_file::is_suite;
use crate::yaml;

/// A suite file, and what could not be carried over.
#[derive(Debug, Default)]
pub struct Converted {
    /// The text of the suite file.
    pub text: String,
    /// Number of its tests.
    pub tests: usize,
    /// Problems of the conversion; the text is complete only without errors.
    pub findings: Vec<Finding>,
}

/// Turns assertion files into one suite file.
pub fn convert(files: &[Parsed]) -> Converted {
    let mut conversion = Conversion::default();
    let mut findings = Vec::new();
    for file in files {
        let mut found = Diagnostics::new(&file.source);
        for (index, document) in file.documents.iter().enumerate() {
            if is_suite(document) {
                let help = "name the folder of assertion files alone";
                found.error_with_help("already-a-suite", document.span, "this is a suite file already", help);
            } else {
                conversion.document(&file.source, document, index + 1, file.documents.len(), &mut found);
            }
        }
        findings.extend(found.into_findings());
    }
    if (1..conversion.count).contains(&conversion.implicit_off) {
        let message = "`implicit: off` is not carried over: some tests have it and others do not";
        let finding = Finding::error("not-converted", message);
        findings.push(finding.help("convert the files that have it separately"));
    }
    Converted { text: conversion.text(), tests: conversion.count, findings }
}

#[derive(Default)]
struct Conversion {
    /// Servers by their name, each once.
    servers: Vec<(String, Node)>,
    /// Tests by the key of their list, in the order the lists were first needed.
    lists: Vec<(&'static str, Vec<Node>)>,
    names: HashSet<String>,
    /// Texts that are not to be shown, each once.
    redact: Vec<Node>,
    count: usize,
    /// Number of tests that turn implicit checks off.
    implicit_off: usize,
}

impl Conversion {
    fn document(
        &mut self,
        source: &SourceFile,
        document: &Node,
        number: usize,
        of: usize,
        found: &mut Diagnostics<'_>,
    ) {
        let Some(block) = assertion_file::block_of(document) else {
            found.error("no-block", document.span, "nothing is asserted here");
            return;
        };
        let list = assertion_file::block::list_key(&block.key.text);
        let file = Path::new(source.path());
        let mut test = vec![entry("name", text(self.name(file, document, number, of)))];
        if let Some(server) = document.get("server").filter(|_| !assertion_file::block::is_spread(&block.key.text)) {
            let name = self.server(server);
            test.push(entry("server", text(name)));
        }
        for part in document.as_map().unwrap_or_default() {
            let key = part.key.text.as_str();
            let is_step = STEPS.contains(&key);
            let is_kept = is_step || matches!(key, "cases" | "mask" | "skip" | "skip_unless_env" | "tags" | "timeout");
            if is_kept && !part.value.is_null() || assertion_file::block::is_spread(key) {
                test.push(Entry { key: part.key.clone(), value: literal(&part.value) });
            } else if assertion_file::block::is_key(key) {
                test.extend(literal(&part.value).as_map().unwrap_or_default().iter().cloned());
            }
        }
        let test = Node { span: Span::default(), kind: Kind::Map(test) };
        match self.lists.iter_mut().find(|(key, _)| *key == list) {
            Some((_, tests)) => tests.push(test),
            None => self.lists.push((list, vec![test])),
        }
        self.count += 1;
        self.implicit_off += usize::from(assertion_file::implicit::is_off(document, found));
        if let Some(redact) = document.get("redact").filter(|redact| !redact.is_null()) {
            let texts = redact.map_text(&mut |text, _| Some(Value::String(braced(text))));
            for text in found.one_or_many(&texts) {
                if self.redact.iter().all(|known| known.to_json() != text.to_json()) {
                    self.redact.push(text.clone());
                }
            }
        }
        if let Some(matrix) = document.get("matrix").filter(|matrix| !matrix.is_null()) {
            let message = "`matrix` is not carried over: that of a suite file is for all of its tests";
            found.error_with_help("not-converted", matrix.span, message, "remove it, and write it in the suite file");
        }
    }

    /// A name that no other test has.
    fn name(&mut self, file: &Path, document: &Node, number: usize, of: usize) -> String {
        let base = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let written = document.get("name").and_then(Node::as_text).filter(|name| !name.trim().is_empty());
        let name = match written {
            Some(name) => escaped(name),
            None if of > 1 => format!("{base}#{number}"),
            None => base,
        };
        let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let with_folder = folder.map(|folder| format!("{folder}/{name}"));
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut names = std::iter::once(name.clone()).chain(with_folder).chain(numbered);
        // There is always one that is new: the numbers do not end.
        names.find(|name| self.names.insert(name.clone())).unwrap_or(name)
    }

    /// The name of a server: one that is written in the same way is the same server.
    fn server(&mut self, server: &Node) -> String {
        let server = for_suite(server);
        if let Some((name, _)) = self.servers.iter().find(|(_, known)| known.to_json() == server.to_json()) {
            return name.clone();
        }
        let name =
            if self.servers.is_empty() { "server".to_owned() } else { format!("server{}", self.servers.len() + 1) };
        self.servers.push((name.clone(), server));
        name
    }

    fn text(&self) -> String {
        let mut entries = Vec::new();
        if !self.servers.is_empty() {
            let servers = self.servers.iter().map(|(name, server)| entry(name, server.clone())).collect();
            entries.push(entry("servers", Node { span: Span::default(), kind: Kind::Map(servers) }));
        }
        if !self.redact.is_empty() {
            entries.push(entry("redact", Node { span: Span::default(), kind: Kind::List(self.redact.clone()) }));
        }
        if self.implicit_off > 0 {
            entries.push(entry("implicit", text("off".to_owned())));
        }
        let options = json!({"restart_policy": "per_test"});
        entries.push(entry("run_options", Node::from_json(Span::default(), options)));
        for (key, tests) in &self.lists {
            entries.push(entry(key, Node { span: Span::default(), kind: Kind::List(tests.clone()) }));
        }
        editor_line("suite") + &yaml::write(&Node { span: Span::default(), kind: Kind::Map(entries) }, 0)
    }
}

/// A server as a suite file writes it: the command as a list, and `$VAR` in `env` and `headers` as `${VAR}`.
fn for_suite(server: &Node) -> Node {
    let mut entries = Vec::new();
    for part in server.as_map().unwrap_or_default() {
        let value = match part.key.text.as_str() {
            "command" => match part.value.as_text() {
                // A text would be split into words.
                Some(command) => {
                    let word = text(with_secrets(command));
                    Node { span: part.value.span, kind: Kind::List(vec![word]) }
                }
                None => part.value.clone(),
            },
            "env" | "headers" => part.value.map_text(&mut |text, _| Some(Value::String(braced(text)))),
            key if server::keys::WORDS.contains(&key) => {
                part.value.map_text(&mut |text, _| Some(Value::String(with_secrets(text))))
            }
            _ => literal(&part.value),
        };
        entries.push(Entry { key: part.key.clone(), value });
    }
    Node { span: server.span, kind: Kind::Map(entries) }
}

/// A tree whose texts mean in a suite file what they say.
fn literal(node: &Node) -> Node {
    node.map_text(&mut |text, _| {
        let escaped = escaped(text);
        (escaped != text).then_some(Value::String(escaped))
    })
}

/// A text in which no dollar sign begins a reference.
pub(crate) fn escaped(text: &str) -> String {
    with_doubled_dollars(text, has_meaning)
}

/// True if dollar signs of that number, before that text, would not mean themselves.
pub(crate) fn has_meaning(count: usize, after: &str) -> bool {
    count > 1 || after.starts_with('{')
}

/// A text in which no dollar sign begins a reference but those before `{secret:`, which both kinds of files read alike.
fn with_secrets(text: &str) -> String {
    with_doubled_dollars(text, |count, after| !after.starts_with(&SECRET[1..]) && has_meaning(count, after))
}

/// A text in which every variable is written with braces.
fn braced(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        result.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        let length = crate::environment::name_length(after);
        if let Some(behind) = after.strip_prefix('$') {
            result.push_str("$$");
            rest = behind;
        } else if length > 0 {
            result.push_str("${");
            result.push_str(&after[..length]);
            result.push('}');
            rest = &after[length..];
        } else {
            result.push('$');
            rest = after;
        }
    }
    result.push_str(rest);
    result
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: Key { text: key.into(), span: Span::default() }, value }
}

fn text(text: String) -> Node {
    Node::text_at(Span::default(), text)
}
