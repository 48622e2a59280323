//! `fuzz`: what `mcprove fuzz --stateful` cannot learn from a server.

use mcprove_judge::sequences::invariant_ids;
use mcprove_model::{
    Diagnostics, FuzzDictionary, FuzzInvariant, FuzzLink, LinkPart, LinkedTool, Node, Vocabulary, nearest,
};
use serde_json::{Value, json};

use crate::assertion_file::templates::Scope;
use crate::assertion_file::{expectation, texts};
use crate::field::{self, Field};
use crate::schema::fragment;

const FIELDS: &[Field] = &[
    Field::optional("invariants", || {
        fragment::list(
            "Calls whose reply must hold after every change.",
            fragment::map("A call.", Value::Object(field::properties(INVARIANT)), &["tool", "expect"]),
        )
    }),
    Field::optional("links", || {
        fragment::list(
            "Which tools are about the same kind of thing, where their names do not say so.",
            field::map("The tools about one kind of thing.", LINK),
        )
    }),
    Field::optional("off", || fragment::texts("Ids of findings that are not demanded of this server.")),
];

const INVARIANT: &[Field] = &[
    Field::optional("args", || fragment::any_map("Its arguments.")),
    Field::required("expect", || fragment::expect(Vocabulary::Tool)),
    Field::required("tool", || fragment::text("A tool that only reads.")),
];

const LINK: &[Field] = &[
    Field::optional("count", || tool_schema("The tool that counts all.")),
    Field::optional("create", || tool_schema("The tool that makes one and gives it a key.")),
    Field::optional("delete", || {
        tool_schema("The tool that deletes one: its name, or its name and the argument that takes the key.")
    }),
    Field::optional("key", || fragment::text("The name under which replies have the key; `id` when left out.")),
    Field::optional("list", || tool_schema("The tool that lists all.")),
    Field::optional("read", || {
        tool_schema("The tool that shows one: its name, or its name and the argument that takes the key.")
    }),
    Field::optional("search", || {
        tool_schema("The tool that lists those with a text: its name, or its name and the argument for the text.")
    }),
    Field::optional("set", || tool_schema("The tool that makes or replaces one under a key of the caller's.")),
    Field::required("thing", || fragment::text("The kind of thing.")),
    Field::optional("update", || {
        tool_schema("The tool that changes one: its name, or its name and the argument that takes the key.")
    }),
];

const PARTS: &[(&str, LinkPart)] = &[
    ("count", LinkPart::Count),
    ("create", LinkPart::Create),
    ("delete", LinkPart::Delete),
    ("list", LinkPart::List),
    ("read", LinkPart::Read),
    ("search", LinkPart::Search),
    ("set", LinkPart::Set),
    ("update", LinkPart::Update),
];

/// Decodes `fuzz`.
pub(super) fn decode(node: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> FuzzDictionary {
    found.known_keys(node, "`fuzz`", &field::keys(FIELDS));
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    let mut dictionary = FuzzDictionary::default();
    if let Some(links) = part("links") {
        let links = found.list(links, "`links`").iter();
        dictionary.links = links.filter_map(|link| decode_link(link, found)).collect();
    }
    if let Some(invariants) = part("invariants") {
        let invariants = found.list(invariants, "`invariants`").iter();
        dictionary.invariants = invariants.filter_map(|demand| decode_invariant(demand, scope, found)).collect();
    }
    if let Some(off) = part("off") {
        for item in off.as_list().unwrap_or_default() {
            let Some(id) = item.as_text().filter(|id| !invariant_ids().any(|known| known == *id)) else { continue };
            let help = match nearest(id, invariant_ids()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("invariants are {}", invariant_ids().collect::<Vec<_>>().join(", ")),
            };
            found.error_with_help("unknown-invariant", item.span, format!("unknown invariant `{id}`"), help);
        }
        dictionary.off = texts::list(off, "`off`", found);
    }
    dictionary
}

fn decode_link(node: &Node, found: &mut Diagnostics<'_>) -> Option<FuzzLink> {
    field::entries(node, "a link", LINK, found)?;
    let Some(thing) = node.get("thing").filter(|thing| !thing.is_null()) else {
        let help = "write `- {thing: note, key: id, create: add_note, read: {show: id}}`";
        found.error_with_help("missing-key", node.span, "this link has no `thing`", help);
        return None;
    };
    let thing = found.text(thing, "`thing`")?.to_owned();
    let key = match node.get("key").filter(|key| !key.is_null()) {
        Some(key) => found.text(key, "`key`")?.to_owned(),
        None => "id".to_owned(),
    };
    let mut tools = Vec::new();
    for (name, part) in PARTS {
        let Some(value) = node.get(name).filter(|value| !value.is_null()) else { continue };
        if value.as_map().is_some() {
            for (entry, argument) in texts::map(value, &format!("`{name}`"), found) {
                let tool = entry.key.text.to_string();
                let argument = Some(argument.to_owned()).filter(|argument| !argument.is_empty());
                tools.push(LinkedTool { part: *part, tool, argument, span: entry.key.span });
            }
        } else if let Some(tool) = found.text(value, &format!("`{name}`")) {
            tools.push(LinkedTool { part: *part, tool: tool.to_owned(), argument: None, span: value.span });
        }
    }
    Some(FuzzLink { thing, key, tools })
}

fn decode_invariant(node: &Node, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<FuzzInvariant> {
    field::entries(node, "an invariant", INVARIANT, found)?;
    let mut missing = |key: &str| {
        let help = "write `- {tool: check_ledger, expect: {contains: [balanced]}}`";
        found.error_with_help("missing-key", node.span, format!("this invariant has no `{key}`"), help);
    };
    let Some(tool) = node.get("tool").filter(|tool| !tool.is_null()) else {
        missing("tool");
        return None;
    };
    let Some(expect) = node.get("expect").filter(|expect| !expect.is_null()) else {
        missing("expect");
        return None;
    };
    let args = match node.get("args").filter(|args| !args.is_null()) {
        Some(args) => {
            found.map(args, "`args`")?;
            args.to_json()
        }
        None => json!({}),
    };
    Some(FuzzInvariant {
        tool: found.text(tool, "`tool`")?.to_owned(),
        args,
        expect: expectation::decode(Some(expect), Vocabulary::Tool, scope, found),
        written: expect.to_json(),
        span: node.span,
    })
}

/// The JSON Schema of `fuzz`.
pub(super) fn schema() -> Value {
    field::map("What `mcprove fuzz --stateful --suite FILE` cannot learn from a server.", FIELDS)
}

fn tool_schema(what: &str) -> Value {
    json!({"description": what, "type": ["string", "object"], "additionalProperties": {"type": "string"}})
}
