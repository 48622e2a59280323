//! `metamorphic` of a tool test: relations between its result and those of related calls.

use mcprove_judge::target_sets;
use mcprove_model::{Diagnostics, Entry, Metamorphic, Node, Relation, Vocabulary, nearest};
use serde_json::{Value, json};

use crate::assertion_file::expectation;
use crate::assertion_file::templates::Scope;
use crate::field::{self, Field};
use crate::schema::fragment;

pub(crate) const KEY: &str = "metamorphic";

const VOCABULARY: Vocabulary = Vocabulary::Targets(&target_sets::METAMORPHIC);

/// Relations without parameters.
const PLAIN: &[(&str, Relation)] = &[
    ("arg_order_insensitive", Relation::ArgOrderInsensitive),
    ("case_insensitive", Relation::CaseInsensitive),
    ("idempotent", Relation::Idempotent),
    ("whitespace_insensitive", Relation::WhitespaceInsensitive),
];

/// Relations with parameters, and the names of these.
const WITH_PARAMETERS: &[(&str, &[&str])] = &[
    ("duplicate_insensitive", &["arg"]),
    ("filter_narrows", &["arg", "value"]),
    ("limit_prefix", &["arg"]),
    ("limit_superset", &["arg"]),
    ("monotone", &["arg"]),
    ("noop_filter", &["arg", "value"]),
    ("pages_concatenate", &["limit", "offset"]),
    ("sort_permutes", &["arg", "value"]),
    ("subset_under_filter", &["arg", "value"]),
    ("substitution_insensitive", &["arg", "from", "to"]),
    ("symmetric_args", &["arg_a", "arg_b"]),
];

/// Groups of relations by name.
const PRESETS: &[(&str, &[&str])] = &[
    ("text", &["case_insensitive", "whitespace_insensitive"]),
    ("universal", &["idempotent", "arg_order_insensitive"]),
];

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(VOCABULARY)),
    Field::optional("presets", || {
        json!({
            "type": ["array", "null"],
            "items": {"enum": PRESETS.iter().map(|(name, _)| *name).collect::<Vec<_>>()},
            "description": "`universal`: the same call again, and arguments in another order. `text`: case and white space.",
        })
    }),
    Field::optional(
        "relations",
        || json!({"type": ["array", "null"], "items": {"anyOf": relation_schemas()}, "description": "The relations."}),
    ),
];

/// Decodes the block.
pub(crate) fn decode(entry: &Entry, scope: &Scope, found: &mut Diagnostics<'_>) -> Option<Metamorphic> {
    let node = &entry.value;
    field::entries(node, "`metamorphic`", FIELDS, found)?;
    let part = |key: &str| node.get(key).filter(|part| !part.is_null());
    let mut relations = Vec::new();
    for preset in part("presets").map(|part| found.list(part, "`presets`")).unwrap_or_default() {
        let Some(name) = found.text(preset, "a preset") else { continue };
        match PRESETS.iter().find(|(preset, _)| *preset == name) {
            Some((_, names)) => relations.extend(names.iter().filter_map(|name| plain(name))),
            None => report_unknown(preset, name, PRESETS.iter().map(|(name, _)| *name), "preset", found),
        }
    }
    for relation in part("relations").map(|part| found.list(part, "`relations`")).unwrap_or_default() {
        relations.extend(decode_relation(relation, found));
    }
    if part("presets").is_none() && part("relations").is_none() {
        let message = "`metamorphic` has neither `presets` nor `relations`, so it checks nothing";
        found.error_with_help("nothing-asked", entry.key.span, message, "write for example `presets: [universal]`");
        return None;
    }
    let mut once: Vec<Relation> = Vec::new();
    for relation in relations {
        if !once.contains(&relation) {
            once.push(relation);
        }
    }
    let expect = expectation::decode(part("expect"), VOCABULARY, scope, found);
    Some(Metamorphic { relations: once, expect, span: entry.key.span })
}

/// The JSON Schema of the block.
pub(crate) fn schema() -> Value {
    field::map("Relations between its result and those of related calls, tried once everything else held.", FIELDS)
}

fn relation_schemas() -> Vec<Value> {
    let names: Vec<&str> = PLAIN.iter().map(|(name, _)| *name).collect();
    let with = WITH_PARAMETERS.iter().map(|(name, parameters)| {
        let properties: serde_json::Map<String, Value> =
            parameters.iter().map(|key| ((*key).to_owned(), json!({"description": "A name or a value."}))).collect();
        let inner = fragment::map("Its parameters.", Value::Object(properties), parameters);
        fragment::map("A relation with parameters.", json!({*name: inner}), &[*name])
    });
    std::iter::once(json!({"enum": names})).chain(with).collect()
}

fn plain(name: &str) -> Option<Relation> {
    PLAIN.iter().find(|(known, _)| *known == name).map(|(_, relation)| relation.clone())
}

fn decode_relation(node: &Node, found: &mut Diagnostics<'_>) -> Option<Relation> {
    let names = || PLAIN.iter().map(|(name, _)| *name).chain(WITH_PARAMETERS.iter().map(|(name, _)| *name));
    let Some([entry]) = node.as_map() else {
        let name = found.text(node, "a relation")?;
        let relation = plain(name);
        if relation.is_none() {
            if let Some((_, parameters)) = WITH_PARAMETERS.iter().find(|(known, _)| *known == name) {
                let message = format!("`{name}` needs {}", parameters.join(" and "));
                let help = format!("write `{{{name}: {{{}: …}}}}`", parameters.join(": …, "));
                found.error_with_help("missing-key", node.span, message, help);
            } else {
                report_unknown(node, name, names(), "relation", found);
            }
        }
        return relation;
    };
    let name = entry.key.text.as_str();
    let Some((_, parameters)) = WITH_PARAMETERS.iter().find(|(known, _)| *known == name) else {
        report_unknown(node, name, names(), "relation", found);
        return None;
    };
    found.map(&entry.value, &format!("`{name}`"))?;
    found.known_keys(&entry.value, &format!("`{name}`"), parameters);
    for key in *parameters {
        if entry.value.get(key).is_none() {
            let message = format!("`{name}` has no `{key}`");
            found.error_with_help("missing-key", entry.key.span, message, format!("add `{key}:`"));
            return None;
        }
    }
    let mut text = |key: &str| found.text(entry.value.get(key)?, &format!("`{key}`")).map(str::to_owned);
    Some(match name {
        "duplicate_insensitive" => Relation::DuplicateInsensitive { arg: text("arg")? },
        "filter_narrows" => Relation::FilterNarrows { arg: text("arg")?, value: entry.value.get("value")?.to_json() },
        "limit_prefix" => Relation::LimitPrefix { arg: text("arg")? },
        "limit_superset" => Relation::LimitSuperset { arg: text("arg")? },
        "pages_concatenate" => Relation::PagesConcatenate { limit: text("limit")?, offset: text("offset")? },
        "sort_permutes" => Relation::SortPermutes { arg: text("arg")?, value: entry.value.get("value")?.to_json() },
        "monotone" => Relation::Monotone { arg: text("arg")? },
        "noop_filter" => Relation::NoopFilter { arg: text("arg")?, value: entry.value.get("value")?.to_json() },
        "subset_under_filter" => {
            Relation::SubsetUnderFilter { arg: text("arg")?, value: entry.value.get("value")?.to_json() }
        }
        "substitution_insensitive" => {
            Relation::SubstitutionInsensitive { arg: text("arg")?, from: text("from")?, to: text("to")? }
        }
        _ => Relation::SymmetricArgs { arg_a: text("arg_a")?, arg_b: text("arg_b")? },
    })
}

fn report_unknown<'n>(
    node: &Node,
    name: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    what: &str,
    found: &mut Diagnostics<'_>,
) {
    let help = match nearest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.collect::<Vec<_>>().join(", ")),
    };
    found.error_with_help("unknown-relation", node.span, format!("there is no {what} `{name}`"), help);
}
