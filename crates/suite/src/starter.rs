//! Assertion files to continue by hand: a server, one block, and comments around them. Pure: values in, text
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mcprove_model::{Entry, Key, Kind, Node, ScalarStyle, Span};
use serde_json::{Map, Value, json};

use crate::schema::editor_line;
use crate::template::{FIXTURE, literal_value};
use crate::written_server::WrittenServer;
use crate::yaml;

/// One assertion file.
#[derive(Clone, Debug)]
pub struct Starter<'s> {
    /// The case's name.
    pub name: String,
    /// Comments at the top of the file, one per line.
    pub remarks: Vec<String>,
    /// The server under test.
    pub server: &'s WrittenServer,
    /// True if `{{fixture}}` in the block stands for a folder; all other braces mean themselves.
    pub fixture: bool,
    /// Why it is not to be run, if so.
    pub skip: Option<String>,
    /// The variable of the environment that it needs, if it does.
    pub needs: Option<String>,
    /// The known defect for which it fails, if so.
    pub known: Option<String>,
    /// Masks of its snapshots.
    pub masks: Vec<String>,
    /// The key of the block.
    pub block: &'static str,
    /// Content of the block.
    pub content: Value,
}

impl<'s> Starter<'s> {
    /// A file that says no more than what is asked of which server.
    pub fn new(name: String, server: &'s WrittenServer, block: &'static str, content: Value) -> Self {
        let remarks = Vec::new();
        Self {
            name,
            remarks,
            server,
            fixture: false,
            skip: None,
            needs: None,
            known: None,
            masks: Vec::new(),
            block,
            content,
        }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = editor_line("assertion");
        for remark in &self.remarks {
            let _ = writeln!(text, "# {}", one_line(remark));
        }
        let mut map = Map::new();
        map.insert("name".to_owned(), json!(self.name));
        map.insert("server".to_owned(), self.server.block());
        if let Some(skip) = &self.skip {
            map.insert("skip".to_owned(), json!(skip));
        }
        if let Some(name) = &self.needs {
            map.insert("skip_unless_env".to_owned(), json!(name));
        }
        if let Some(known) = &self.known {
            map.insert("known".to_owned(), json!(known));
        }
        if !self.masks.is_empty() {
            map.insert("mask".to_owned(), json!(self.masks));
        }
        let templates: &[&str] = if self.fixture { &[FIXTURE] } else { &[] };
        map.insert(self.block.to_owned(), literal_value(&self.content, templates));
        text.push_str(&yaml::write(&spread(node(&Value::Object(map))), 0));
        text
    }
}

/// Unique file names, made from arbitrary names.
#[derive(Debug, Default)]
pub struct FileNames {
    taken: BTreeSet<String>,
    titles: BTreeSet<String>,
    /// The number that was tried last for a name, so that a thousand files of one name do not count from 2 again.
    numbers: BTreeMap<String, usize>,
}

impl FileNames {
    /// A title for a test: the name itself, with a number if another test has it.
    pub fn title(&mut self, name: &str) -> String {
        if self.titles.insert(name.to_owned()) {
            return name.to_owned();
        }
        loop {
            let number = self.next_number(format!("title {name}"));
            let title = format!("{name} ({number})");
            if self.titles.insert(title.clone()) {
                return title;
            }
        }
    }

    fn next_number(&mut self, name: String) -> usize {
        let number = self.numbers.entry(name).or_insert(1);
        *number += 1;
        *number
    }

    /// A name for a file, without its extension.
    pub fn stem(&mut self, name: &str) -> String {
        let mut stem = String::new();
        for c in name.chars() {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                stem.push(c);
            } else if !stem.ends_with('-') {
                stem.push('-');
            }
        }
        let stem = stem.trim_matches('-');
        let stem: String = if stem.is_empty() { "unnamed".to_owned() } else { stem.chars().take(80).collect() };
        let stem = if is_device(&stem) { format!("tool-{stem}") } else { stem };
        let mut name = stem.clone();
        // Names that differ in case only are one file on many disks.
        while !self.taken.insert(name.to_lowercase()) {
            name = format!("{stem}-{}", self.next_number(stem.to_lowercase()));
        }
        name
    }
}

/// True if Windows takes this for a device, whatever extension a file of that name has.
fn is_device(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    let is_numbered = |rest: &str| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_digit());
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || ["com", "lpt"].iter().any(|port| stem.strip_prefix(port).is_some_and(is_numbered))
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn node(value: &Value) -> Node {
    Node::from_json(Span::default(), value.clone())
}

/// The tree with texts of several lines written as lines.
fn spread(mut node: Node) -> Node {
    match &mut node.kind {
        Kind::Scalar(scalar) => {
            if scalar.is_text() && scalar.text.contains('\n') {
                scalar.style = ScalarStyle::Block;
            }
        }
        Kind::List(items) => items.iter_mut().for_each(|item| *item = spread(item.clone())),
        Kind::Map(entries) => {
            for Entry { key: Key { .. }, value } in entries {
                *value = spread(value.clone());
            }
        }
    }
    node
}

#[cfg(test)]
mod tests {
    use mcprove_model::{ServerSpec, Target};

    use super::*;
    use crate::written_server::FileKind;

    #[test]
    fn tests_of_one_name_are_numbered() {
        let mut names = FileNames::default();
        let titles: Vec<String> = ["dup", "dup", "dup (2)", "dup"].map(|name| names.title(name)).into();
        assert_eq!(titles, ["dup", "dup (2)", "dup (2) (2)", "dup (3)"]);
        let stems: Vec<String> = ["dup", "Dup", "dup-2", "dup"].map(|name| names.stem(name)).into();
        assert_eq!(stems, ["dup", "Dup-2", "dup-2-2", "dup-3"]);
    }

    #[test]
    fn a_starter_reads_like_a_file_somebody_wrote() {
        let server = ServerSpec {
            target: Target::Stdio {
                command: "npx".to_owned(),
                args: vec!["my-server".to_owned(), "{{fixture}}".to_owned()],
                env: vec![("API_KEY".to_owned(), "s3cr3t".to_owned())],
                cwd: None,
                docker: None,
            },
            ..ServerSpec::default()
        };
        let server = WrittenServer::of(&server, FileKind::Assertion, &[FIXTURE]);
        let starter = Starter {
            name: "reads a file".to_owned(),
            remarks: vec!["first\nlook".to_owned()],
            server: &server,
            fixture: true,
            skip: None,
            needs: None,
            known: None,
            masks: Vec::new(),
            block: "assert",
            content: json!({"tool": "read", "args": {"path": "{{fixture}}/a"}, "expect": {"equals": "a\nb", "not_contains": ["{{x}}"]}}),
        };
        let text = starter.text();
        assert_eq!(
            text,
            "# yaml-language-server: $schema=https://raw.githubusercontent.com/mcprove/mcprove/main/schema/assertion.json\n\
             # first look\nname: reads a file\nserver:\n  command: npx\n  args: [my-server, \"{{fixture}}\"]\n  env:\n    \
             API_KEY: \"${API_KEY}\"\nassert:\n  tool: read\n  args:\n    path: \"{{fixture}}/a\"\n  expect:\n    \
             equals: |-\n      a\n      b\n    not_contains: [\"{{'{{'}}x}}\"]\n"
        );
        assert!(!text.contains("s3cr3t"));
    }

    #[test]
    fn file_names_are_harmless_and_unique() {
        let mut names = FileNames::default();
        let stems: Vec<_> = ["get sum", "../../etc/passwd", "Get-Sum", "???", "ä", "CON", "com1", "combine"]
            .map(|name| names.stem(name))
            .into();
        assert_eq!(
            stems,
            ["get-sum", "etc-passwd", "Get-Sum-2", "unnamed", "unnamed-2", "tool-CON", "tool-com1", "combine"]
        );
        assert_eq!(names.stem(&"x".repeat(5_000)).len(), 80);
    }
}
