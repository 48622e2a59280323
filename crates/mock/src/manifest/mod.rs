//! Capabilities of a mock: the decoded manifest.

mod answer;
mod ask;
mod block;
mod content;
mod schema;
mod snapshot;
mod tool;

use std::collections::BTreeSet;

use mcprove_model::{Diagnostics, FaultKind, Node, Span};
use serde_json::{Value, json};

pub(crate) use answer::{Answer, ErrorAnswer};
pub(crate) use ask::{Ask, AskMethod, Round};
pub(crate) use content::{Prompt, Resource, Template};
pub(crate) use snapshot::tools_of;
pub(crate) use tool::{Change, Level, Task, Tool};

pub use schema::schema;

use block::Block;

/// Maximum number of tools, and of everything else that is offered.
const MOST: usize = 50_000;

/// Capabilities and replies of a mock.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Further members of its identity, and its instructions.
    pub(crate) title: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) page_size: Option<usize>,
    pub(crate) cache: Cache,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) tools: Vec<Tool>,
    /// The tools after the catalog has changed, when it can.
    pub(crate) changed_tools: Option<Vec<Tool>>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<Template>,
    pub(crate) prompts: Vec<Prompt>,
}

/// Caching hints for clients of the modern era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) ttl_ms: u64,
    pub(crate) scope: &'static str,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            name: "mcprove-mock".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
            instructions: None,
            page_size: None,
            cache: Cache { ttl_ms: 0, scope: "public" },
            fault: None,
            tools: Vec::new(),
            changed_tools: None,
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
        }
    }
}

impl Manifest {
    /// The names of all its tools, also of those that come with a change of the catalog.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().chain(self.changed_tools.iter().flatten()).map(|tool| tool.name.as_str())
    }

    /// Name and version of the server.
    pub(crate) fn identity(&self) -> Value {
        let mut identity = json!({"name": self.name, "version": self.version});
        if let Some(title) = &self.title {
            identity["title"] = json!(title);
        }
        identity
    }

    /// True if a list of this kind can change.
    pub(crate) fn can_change(&self, change: &Change) -> bool {
        let announced = self.tools.iter().chain(self.changed_tools.iter().flatten());
        *change == Change::Tools && self.changed_tools.is_some()
            || announced.flat_map(|tool| &tool.notifies).any(|other| other == change)
    }
}

const KEYS: &[&str] = &[
    "name",
    "version",
    "title",
    "instructions",
    "page_size",
    "cache",
    "fault",
    "tools",
    "list_changed",
    "resources",
    "resource_templates",
    "prompts",
];

const CACHE_KEYS: &[&str] = &["ttl_ms", "scope"];
const CHANGED_KEYS: &[&str] = &["tools"];

/// Decodes a manifest: `mock_server: {…}`, or its content at the top level.
pub(crate) fn decode(document: &Node, found: &mut Diagnostics<'_>) -> Option<Manifest> {
    let (body, what) = match document.get("mock_server") {
        Some(body) => {
            found.known_keys(document, "the manifest", &["mock_server"]);
            (body, "`mock_server`")
        }
        None => (document, "the manifest"),
    };
    let block = Block::open(body, what, KEYS, found)?;
    let mut manifest = Manifest::default();
    if let Some(name) = block.text("name", found) {
        manifest.name = name;
    }
    if let Some(version) = block.text("version", found) {
        manifest.version = version;
    }
    manifest.title = block.text("title", found);
    manifest.instructions = block.text("instructions", found);
    manifest.page_size = page_size(&block, found);
    manifest.cache = cache(&block, found).unwrap_or(manifest.cache);
    manifest.fault = fault(&block, found);
    manifest.tools = tools(block.list("tools", found), found);
    manifest.changed_tools = block.get("list_changed").and_then(|node| {
        let changed = Block::open(node, "`list_changed`", CHANGED_KEYS, found)?;
        Some(tools(changed.list("tools", found), found))
    });
    let resources = within(block.list("resources", found), "resources", found);
    manifest.resources = resources.iter().filter_map(|node| content::resource(node, found)).collect();
    let templates = within(block.list("resource_templates", found), "resource templates", found);
    manifest.templates = templates.iter().filter_map(|node| content::template(node, found)).collect();
    let prompts = within(block.list("prompts", found), "prompts", found);
    manifest.prompts = prompts.iter().filter_map(|node| content::prompt(node, found)).collect();
    distinct("resource", manifest.resources.iter().map(|r| (r.uri.as_str(), r.span)), found);
    distinct("prompt", manifest.prompts.iter().map(|p| (p.name.as_str(), p.span)), found);
    Some(manifest)
}

fn tools(nodes: &[Node], found: &mut Diagnostics<'_>) -> Vec<Tool> {
    let nodes = within(nodes, "tools", found);
    let tools: Vec<Tool> = nodes.iter().filter_map(|node| tool::decode(node, found)).collect();
    distinct("tool", tools.iter().map(|tool| (tool.name.as_str(), tool.span)), found);
    tools
}

/// A list that is not longer than any client could use; a longer one takes hundreds of megabytes.
fn within<'n>(nodes: &'n [Node], what: &str, found: &mut Diagnostics<'_>) -> &'n [Node] {
    let Some(first_too_many) = nodes.get(MOST) else { return nodes };
    let message = format!("there are {} {what}, and at most {MOST} can be offered", nodes.len());
    found.error_with_help("bad-value", first_too_many.span, message, "leave some of them out");
    &[]
}

/// Reports duplicate names, since the second could not be called.
fn distinct<'a>(what: &str, names: impl Iterator<Item = (&'a str, Span)>, found: &mut Diagnostics<'_>) {
    let mut seen = BTreeSet::new();
    for (name, span) in names {
        if !seen.insert(name) {
            let message = format!("there is a second {what} `{name}`");
            found.error_with_help("duplicate-name", span, message, "rename one of them, or remove it");
        }
    }
}

fn page_size(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Option<usize> {
    let size = block.count("page_size", found)?;
    if size == 0 {
        let span = block.get("page_size").map_or(block.node.span, |node| node.span);
        found.error_with_help("bad-number", span, "`page_size` is 0", "give 1 or more, or leave it out");
        return None;
    }
    usize::try_from(size).ok()
}

fn cache(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Option<Cache> {
    let cache = Block::open(block.get("cache")?, "`cache`", CACHE_KEYS, found)?;
    let scope = match cache.get("scope").map(|node| (node, node.as_text())) {
        None | Some((_, Some("public"))) => "public",
        Some((_, Some("private"))) => "private",
        Some((node, _)) => {
            found.error_with_help("bad-value", node.span, "`scope` has no such value", "give `public` or `private`");
            "public"
        }
    };
    Some(Cache { ttl_ms: cache.count("ttl_ms", found).unwrap_or_default(), scope })
}

/// A fault, as `--fault` takes it.
fn fault(block: &Block<'_>, found: &mut Diagnostics<'_>) -> Option<FaultKind> {
    let node = block.get("fault")?;
    match found.text(node, "`fault`")?.parse() {
        Ok(fault) => Some(fault),
        Err(message) => {
            let (what, help) = message.split_once(": ").unwrap_or((&message, ""));
            found.error_with_help("bad-fault", node.span, what, help.to_owned());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::SourceFile;

    use super::*;

    /// Every block of a manifest, under the heading its page has for it.
    const BLOCKS: &[(&str, &[&str])] = &[
        ("The server", KEYS),
        ("`cache`", CACHE_KEYS),
        ("`list_changed`", CHANGED_KEYS),
        ("A tool", tool::KEYS),
        ("An answer", answer::KEYS),
        ("`error`", answer::ERROR_KEYS),
        ("`input_required`", ask::ROUND_KEYS),
        ("A request", ask::ASK_KEYS),
        ("`task`", tool::TASK_KEYS),
        ("`progress`", tool::PROGRESS_KEYS),
        ("A log message", tool::LOG_KEYS),
        ("A resource", content::RESOURCE_KEYS),
        ("A resource template", content::TEMPLATE_KEYS),
        ("A prompt", content::PROMPT_KEYS),
        ("An argument", content::ARGUMENT_KEYS),
    ];

    #[test]
    fn a_list_that_no_client_could_use_is_refused() {
        let manifest = |count: usize| {
            let tools: Vec<String> = (0..count).map(|number| format!("{{name: t{number}}}")).collect();
            crate::read(&SourceFile::new("m.yaml", format!("tools: [{}]\n", tools.join(","))))
        };
        let (offer, findings) = manifest(MOST);
        assert!(offer.is_some() && findings.is_empty(), "{findings:?}");
        let (offer, findings) = manifest(MOST + 1);
        let said: Vec<_> = findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!((offer.is_none(), said), (true, vec!["there are 50001 tools, and at most 50000 can be offered"]));
    }

    #[test]
    fn the_schema_has_every_key_and_no_other() {
        let schema = schema();
        let names = [
            "server",
            "cache",
            "list_changed",
            "tool",
            "answer",
            "error",
            "round",
            "request",
            "task",
            "progress",
            "log",
            "resource",
            "resource_template",
            "prompt",
            "argument",
        ];
        for (name, (heading, keys)) in names.into_iter().zip(BLOCKS) {
            let definition = &schema["$defs"][name];
            let mut choices = definition["anyOf"].as_array().into_iter().flatten().chain([definition]);
            let block = choices.find_map(|choice| choice["properties"].as_object()).expect("a block");
            let named: BTreeSet<&str> = block.keys().map(String::as_str).collect();
            assert_eq!(named, keys.iter().copied().collect(), "{heading}");
        }
    }

    /// The mistakes of a manifest: those of the schema, and those of the decoder.
    fn mistakes(text: &str) -> (Vec<String>, Vec<String>) {
        let source = SourceFile::new("mock.yaml".to_owned(), text.to_owned());
        let (documents, findings) = mcprove_suite::yaml::parse(&source);
        assert_eq!(findings, [], "{text}");
        let mut found = Diagnostics::new(&source);
        decode(&documents[0], &mut found);
        let failing = found.into_findings().into_iter().filter(|finding| finding.fails(false));
        let errors = mcprove_judge::argument_errors(&schema(), &documents[0].to_json()).expect("a schema");
        (errors, failing.map(|finding| finding.message).collect())
    }

    #[test]
    fn the_schema_takes_what_the_decoder_takes() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let files = [
            "mock/weather.yml",
            "mock/conformance.yml",
            "suite-file/library.mock.yaml",
            "first-suite/fixtures/tools.yml",
        ];
        for file in files {
            let text = std::fs::read_to_string(format!("{examples}/{file}")).expect("an example");
            assert_eq!(mistakes(&text), (Vec::new(), Vec::new()), "{file}");
        }
        for good in [
            "{}",
            "mock_server: {name: x, pageSize: 2}",
            "tools: [{name: a, inputSchema: {type: object}, roots_list: true, logs: [working], progress: 3}]",
            "tools: [{name: a, responses: [{when: args.x, error: no}, {sequence: [1, {error: again}]}], notifies: tools}]",
            "resource_templates: [{uriTemplate: \"x:{y}\", mimeType: text/plain, complete: {y: [a]}}]",
            "prompts: [{name: p, arguments: [city], text: hi, input_required: {state: s}}]",
        ] {
            assert_eq!(mistakes(good), (Vec::new(), Vec::new()), "{good}");
        }
        for bad in [
            "tool: []",
            "mock_server: {}\nname: x",
            "page_size: 0",
            "cache: {scope: shared}",
            "tools: [{title: a}]",
            "tools: [{name: a, nams: b}]",
            "tools: [{name: a, responses: [{when: args.x}]}]",
            "tools: [{name: a, responses: [{result: x, error: y}]}]",
            "tools: [{name: a, logs: [{level: loud}]}]",
            "tools: [{name: a, progress: -1}]",
            "tools: [{name: a, input_required: {description: x}}]",
            "resources: [{name: a}]",
            "prompts: [{name: p, arguments: [{values: [a]}]}]",
        ] {
            let (schema, decoder) = mistakes(bad);
            assert!(!schema.is_empty() && !decoder.is_empty(), "{bad}: {schema:?} {decoder:?}");
        }
    }

    #[test]
    fn the_published_schema_is_fresh() {
        let path = std::path::PathBuf::from("../../schema/mock.json");
        snapbox::Assert::new()
            .action_env("SNAPSHOTS")
            .eq(format!("{:#}\n", schema()), snapbox::Data::read_from(&path, None).raw());
    }

    #[test]
    fn the_page_about_the_manifest_names_every_key_and_no_other() {
        let page = include_str!("../../../../docs/mock.md");
        for (heading, keys) in BLOCKS {
            let row = format!("| **{heading}** |");
            let line = page.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row {heading}"));
            let cells = line[row.len()..].split('|').next().unwrap_or_default();
            let named: BTreeSet<&str> = cells.split('`').skip(1).step_by(2).collect();
            assert_eq!(named, keys.iter().copied().collect(), "{heading}");
        }
    }
}
