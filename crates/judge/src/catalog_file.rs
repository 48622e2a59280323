//! Tools from text: what `tools/list` answered, in any of the forms people save it in.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use mcprove_model::{Position, SourceFile, Span, shorten};
use serde_json::{Value, json};

use crate::catalog::{Catalog, Document, Listing, Origin, ToolAt};
use crate::spanned_json::{Json, JsonKind, SpannedJson};

/// The forms of a catalog, for the message about any other.
const EXPECTED: &str = "expected what `tools/list` answers: `{\"tools\": [...]}`, the bare array of tools, the JSON-RPC \
                        response, or an event log of `mcprove run --events FILE`";

/// Reason why a text is not a catalog of tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError {
    /// The file.
    pub path: String,
    /// The position in it, if that says more than the file alone.
    pub position: Option<Position>,
    /// Description of the error.
    pub message: String,
    /// The accepted forms.
    pub help: &'static str,
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(Position { line, column }) => write!(f, "{}:{line}:{column}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

impl std::error::Error for CatalogError {}

impl Catalog {
    /// Reads the tools in a file's content; a catalog without tools is not an error.
    pub fn read(path: &str, content: Vec<u8>) -> Result<Self, CatalogError> {
        let reader = Reader { path };
        let json = reader.parse(content)?;
        let first = json.roots().next().ok_or_else(|| reader.error(None, "the file is empty"))?;
        if first.get("event").is_some_and(|event| event.as_text().is_some()) {
            return reader.log(&json);
        }
        let pages = if json.roots().len() == 1 { reader.document(first)? } else { reader.lines(&json)? };
        for page in &pages {
            reader.check(&json, *page)?;
        }
        let tools = pages.iter().flat_map(|page| page.tools(&json, 0)).collect();
        let document = Document::new(Origin::File { path: path.to_owned() }, json);
        Ok(Self { documents: vec![document], listings: vec![Listing { tools }] })
    }

    /// The tools that a server just listed.
    pub fn of_server(server: &str, tools: &[Value]) -> Self {
        let text = json!({ "tools": tools }).to_string();
        let json = SpannedJson::parse(text).expect("JSON that was just written reads back");
        let tools = json.roots().filter_map(page).flat_map(|page| page.tools(&json, 0)).collect();
        let document = Document::new(Origin::Server { name: server.to_owned() }, json);
        Self { documents: vec![document], listings: vec![Listing { tools }] }
    }
}

/// One list of tools in a text.
#[derive(Clone, Copy)]
struct Page {
    root: u32,
    list: u32,
}

impl Page {
    fn tools(self, json: &SpannedJson, document: usize) -> impl Iterator<Item = ToolAt> {
        let Self { root, list } = self;
        let items = json.at(list).items().enumerate();
        items.map(move |(index, tool)| ToolAt { document, slot: tool.slot(), list, root, index })
    }
}

/// The list of tools in a result, bare or in a JSON-RPC response.
fn page(root: Json<'_>) -> Option<Page> {
    let tools = root.get("tools").or_else(|| root.get("result")?.get("tools"))?;
    (tools.kind() == JsonKind::List).then(|| Page { root: root.slot(), list: tools.slot() })
}

struct Reader<'a> {
    path: &'a str,
}

impl Reader<'_> {
    fn parse(&self, content: Vec<u8>) -> Result<SpannedJson, CatalogError> {
        if content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff") {
            return Err(self.error(None, "the file is UTF-16; save it as UTF-8"));
        }
        let text = String::from_utf8(content)
            .map_err(|error| self.error(None, format!("byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
        match SpannedJson::parse(text) {
            Ok(json) => Ok(json),
            Err((text, error)) => {
                let position = SourceFile::new("", text).position(Span::new(error.offset, 0).start);
                Err(self.error(Some(position), format!("not JSON: {}", error.message)))
            }
        }
    }

    /// A file of one document.
    fn document(&self, root: Json<'_>) -> Result<Vec<Page>, CatalogError> {
        if let Some(page) = page(root) {
            return Ok(vec![page]);
        }
        if root.kind() == JsonKind::List {
            let is_tool = |item: Json<'_>| item.get("name").or_else(|| item.get("inputSchema")).is_some();
            if root.is_empty() || root.items().any(is_tool) {
                return Ok(vec![Page { root: root.slot(), list: root.slot() }]);
            }
            // A batch of responses holds one page each.
            let pages = root.items().map(page).map(|page| page.map(|page| Page { root: root.slot(), ..page }));
            return pages.collect::<Option<_>>().ok_or_else(|| self.error(None, "this array holds no tools"));
        }
        Err(self.error(None, other_shape(root)))
    }

    /// A file of several documents: pages one after the other, perhaps among other messages of the conversation.
    fn lines(&self, json: &SpannedJson) -> Result<Vec<Page>, CatalogError> {
        let mut pages = Vec::new();
        for root in json.roots() {
            match page(root) {
                Some(page) => pages.push(page),
                None if root.get("jsonrpc").is_some() => {}
                None => return Err(self.error(Some(position(root)), other_shape(root))),
            }
        }
        if pages.is_empty() {
            return Err(self.error(None, "none of these messages is the result of `tools/list`"));
        }
        Ok(pages)
    }

    /// Reports entries of a tool list that are not objects.
    fn check(&self, json: &SpannedJson, page: Page) -> Result<(), CatalogError> {
        match json.at(page.list).items().enumerate().find(|(_, tool)| !tool.is_map()) {
            None => Ok(()),
            Some((index, other)) => {
                let message = format!("tool {index} is {}, expected an object", other.kind_name());
                Err(self.error(Some(position(other)), message))
            }
        }
    }

    /// Every list of tools that the servers of a run answered with, each once.
    fn log(&self, log: &SpannedJson) -> Result<Catalog, CatalogError> {
        let mut catalog = Catalog { documents: Vec::new(), listings: Vec::new() };
        let mut open = HashMap::new();
        let mut seen = HashSet::new();
        for event in log.roots() {
            let Some(message) = message(event) else { continue };
            let root = message.at(0);
            let session = (event.get("index").and_then(Json::as_count), event.get("session").and_then(Json::as_count));
            if root.get("method").is_some_and(|method| method.is_text("tools/list")) {
                // A request without a cursor asks for the first page of a new listing.
                if root.get("params").and_then(|params| params.get("cursor")).is_none() {
                    open.remove(&session);
                }
                continue;
            }
            let Some(page) = page(root).filter(|_| root.get("method").is_none()) else { continue };
            if !seen.insert(hash(message.at(page.list).raw())) {
                continue;
            }
            let listing = *open.entry(session).or_insert_with(|| {
                catalog.listings.push(Listing::default());
                catalog.listings.len() - 1
            });
            let tools: Vec<_> = page.tools(&message, catalog.documents.len()).collect();
            catalog.listings[listing].tools.extend(tools);
            let origin = Origin::Log { path: self.path.to_owned(), line: position(event).line };
            catalog.documents.push(Document::new(origin, message));
        }
        if catalog.documents.is_empty() {
            return Err(self.error(None, "this event log holds no result of `tools/list`"));
        }
        Ok(catalog)
    }

    fn error(&self, position: Option<Position>, message: impl Into<String>) -> CatalogError {
        CatalogError { path: self.path.to_owned(), position, message: message.into(), help: EXPECTED }
    }
}

/// The message in an event, if it may be about tools.
fn message(event: Json<'_>) -> Option<SpannedJson> {
    let text = event.get("frame")?.get("text").filter(|text| text.raw().contains("tools"))?;
    SpannedJson::parse(text.as_text()?).ok().filter(|message| message.roots().len() == 1)
}

fn other_shape(root: Json<'_>) -> String {
    if let Some(tools) = root.get("tools").or_else(|| root.get("result")?.get("tools")) {
        return format!("`tools` is {}, expected an array", tools.kind_name());
    }
    if let Some(error) = root.get("error") {
        let text = error.get("message").and_then(Json::as_text).unwrap_or_default();
        let code = error.get("code").map_or("without a code", Json::raw);
        return format!("this is a JSON-RPC error ({code}): {}", shorten(&text, 200));
    }
    match root.kind() {
        JsonKind::Map if root.is_empty() => "this object is empty".to_owned(),
        JsonKind::Map => {
            let keys: Vec<_> = root.members().take(5).filter_map(|(key, _)| key.as_text()).collect();
            format!("this object has no tools; its keys are `{}`", shorten(&keys.join("`, `"), 200))
        }
        _ => format!("this is {}", root.kind_name()),
    }
}

/// Start of a value; computed only for errors, or once for a page of a log.
fn position(value: Json<'_>) -> Position {
    let head = &value.source().text()[..value.span().start as usize];
    let line = head.bytes().filter(|byte| *byte == b'\n').count();
    let column = head.chars().rev().take_while(|c| *c != '\n').count();
    Position { line: Span::new(line + 1, 0).start, column: Span::new(column + 1, 0).start }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;

    fn read(text: &str) -> Result<Catalog, CatalogError> {
        Catalog::read("tools.json", text.as_bytes().to_vec())
    }

    fn names(text: &str) -> Vec<Vec<String>> {
        let catalog = read(text).expect(text);
        let name = |tool: &ToolAt| catalog.tool(tool).get("name").expect("a name").raw().to_owned();
        catalog.listings.iter().map(|listing| listing.tools.iter().map(name).collect()).collect()
    }

    #[test]
    fn every_form_of_a_catalog_is_read() {
        let b = TOOL.replace("\"a\"", "\"b\"");
        for text in [
            format!("{{\"tools\":[{TOOL},{b}]}}"),
            format!("\u{feff}{{\"tools\":[{TOOL},{b}],\"nextCursor\":\"x\"}}\n"),
            format!("[{TOOL},{b}]"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[{TOOL},{b}]}}}}"),
            format!("{{\"result\":{{\"tools\":[{TOOL}]}}}}\n{{\"result\":{{\"tools\":[{b}]}}}}\n"),
            format!("[{{\"result\":{{\"tools\":[{TOOL}]}}}},{{\"result\":{{\"tools\":[{b}]}}}}]"),
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"x\"}}\n{{\"jsonrpc\":\"2.0\",\"result\":{{\"tools\":[{TOOL},{b}]}}}}"
            ),
        ] {
            assert_eq!(names(&text), [["\"a\"", "\"b\""]], "{text}");
        }
    }

    #[test]
    fn no_tools_is_a_catalog_and_not_an_error() {
        for text in ["{\"tools\":[]}", "[]", "{\"result\":{\"tools\":[]}}"] {
            assert_eq!(read(text).expect(text).tool_count(), 0);
        }
    }

    #[test]
    fn anything_else_says_what_it_is_and_what_was_expected() {
        for (text, told) in [
            ("", "tools.json: the file is empty"),
            ("{}", "tools.json: this object is empty"),
            ("{\"a\":1,\"b\":2}", "tools.json: this object has no tools; its keys are `a`, `b`"),
            ("3", "tools.json: this is a number"),
            ("[1,2]", "tools.json: this array holds no tools"),
            ("{\"tools\":{\"a\":{}}}", "tools.json: `tools` is an object, expected an array"),
            ("{\"tools\":[\n 7]}", "tools.json:2:2: tool 0 is a number, expected an object"),
            ("[{\"name\":\"a\"},null]", "tools.json:1:15: tool 1 is null, expected an object"),
            ("{\"a\":\n  tru}", "tools.json:2:3: not JSON: expected a JSON value here"),
            ("<tools/>", "tools.json:1:1: not JSON: expected a JSON value here"),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}",
                "tools.json: this is a JSON-RPC error (-32601): Method not found",
            ),
            (
                "{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}",
                "tools.json: none of these messages is the result of `tools/list`",
            ),
            ("{\"tools\":[]}\n{\"x\":1}", "tools.json:2:1: this object has no tools; its keys are `x`"),
            ("{\"event\":\"run_finished\"}", "tools.json: this event log holds no result of `tools/list`"),
        ] {
            let error = read(text).expect_err(text);
            assert_eq!(error.to_string(), told, "{text}");
            assert!(error.help.starts_with("expected what `tools/list` answers"));
        }
        let error = Catalog::read("a", b"\xff\xfe{\0}\0".to_vec()).expect_err("UTF-16");
        assert_eq!(error.message, "the file is UTF-16; save it as UTF-8");
        assert_eq!(Catalog::read("a", b"{\"\xff\"}".to_vec()).expect_err("bytes").message, "byte 2 is not UTF-8");
    }

    fn frame(index: u32, direction: &str, body: &str) -> String {
        let frame = json!({"at_us": 1, "direction": direction, "kind": "reply", "text": body});
        json!({"event": "frame", "index": index, "session": 0, "frame": frame}).to_string()
    }

    fn answer(tool: &str) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"tools\":[{}]}}}}", TOOL.replace("\"a\"", tool))
    }

    #[test]
    fn the_lists_of_an_event_log_are_joined_by_page_and_told_once() {
        let ask = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let more = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"c"}}"#;
        let mut lines = vec!["{\"event\":\"run_started\"}".to_owned()];
        for index in 0..2 {
            // The second case talks to the same server, so it has nothing new to say.
            lines.push(frame(index, "sent", ask));
            lines.push(frame(index, "received", &answer("\"a\"")));
            lines.push(frame(index, "sent", more));
            lines.push(frame(index, "received", &answer("\"b\"")));
        }
        lines.push(frame(1, "sent", ask));
        lines.push(frame(1, "received", &answer("\"c\"")));
        let log = lines.join("\n");
        assert_eq!(names(&log), [vec!["\"a\"", "\"b\""], vec!["\"c\""]]);

        let catalog = read(&log).expect("a log");
        let tool = catalog.listings[0].tools[1];
        let document = &catalog.documents[tool.document];
        assert_eq!(document.label(), "tools.json:5");
        let schema = catalog.tool(&tool).get("inputSchema").expect("a schema");
        assert_eq!(catalog.pointer(&tool, schema), "/result/tools/0/inputSchema");
        assert!(catalog.editable_text().is_none());
    }

    #[test]
    fn places_are_those_of_the_file() {
        let catalog =
            read("{\n  \"tools\": [\n    {\"name\": \"ä\", \"inputSchema\": {\"type\": \"object\"}}\n  ]\n}\n")
                .expect("tools");
        let tool = catalog.listings[0].tools[0];
        let document = &catalog.documents[0];
        let schema = catalog.tool(&tool).get("inputSchema").expect("a schema");
        let place = document.place(schema).expect("a file");
        assert_eq!((place.line, place.column, place.end_column), (3, 19, 32));
        assert_eq!(place.excerpt, "    {\"name\": \"ä\", \"inputSchema\": {\"type\": \"object\"}}");
        assert_eq!(catalog.pointer(&tool, schema), "/tools/0/inputSchema");
        let place = document.place(catalog.tool(&tool)).expect("a file");
        assert_eq!((place.line, place.column, place.end_column), (3, 5, 6));
    }

    #[test]
    fn what_a_server_lists_has_no_file() {
        let catalog = Catalog::of_server("local", &[json!({"name": "a"}), json!(3)]);
        assert_eq!((catalog.tool_count(), catalog.tools_without_schema()), (2, 2));
        assert!(catalog.documents[0].place(catalog.tool(&catalog.listings[0].tools[0])).is_none());
    }
}
