//! Every place of a schema in an input schema, and the kind of the place.
//!
//! Rules ask about places, not about text: a string under `properties` is an argument, the same text under `not` is the
//! opposite of one, and under `allOf` it speaks of the same value as its neighbours. The tree is built once a tool and
//! shared by all rules.

use super::forced::Forced;
use super::same_value::SameValue;
use crate::schema_budget::{MAPS, TooComplex, measure};
use crate::spanned_json::{Json, JsonKind};

/// The number of JSON values, and of bytes, from which on a schema is measured.
const LARGE: u32 = 5_000;
const LONG: usize = 100_000;

/// The schemas of one input schema, in the order of its text; the first is the whole.
#[derive(Debug, Default)]
pub(crate) struct SchemaTree<'t> {
    sites: Vec<Site<'t>>,
    has_references: bool,
    too_complex: Option<TooComplex>,
    pub(super) same_value: SameValue,
    pub(super) forced: Forced,
}

/// The number of a site in its tree.
pub(crate) type SiteId = usize;

/// A place of a schema.
#[derive(Clone, Debug)]
pub(crate) struct Site<'t> {
    /// The schema: a map, or a boolean.
    pub(crate) json: Json<'t>,
    /// Its subject.
    pub(crate) role: Role,
    /// The schema whose keyword holds it.
    pub(crate) owner: Option<SiteId>,
    /// True if it only describes when something else holds (`not`, `if`, `contains`, `propertyNames`), and so never
    /// constrains an argument.
    pub(crate) condition: bool,
    words: [u32; Word::COUNT],
}

/// Subject of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// All arguments of the tool.
    Root,
    /// The value under a name of `properties`.
    Property,
    /// The values under names of `patternProperties`.
    PatternProperty,
    /// The values under names that are not listed: `additionalProperties`, `unevaluatedProperties`.
    MapValue,
    /// The items of a list.
    Item,
    /// One item of a list: `prefixItems`, or `items` as a list.
    TupleItem,
    /// Whatever refers to it: `$defs`, `definitions`.
    Definition,
    /// The same value as its owner, always.
    AllOf,
    /// The same value as its owner, as one of several possibilities.
    AnyOf,
    /// The same value as its owner, sometimes: `then`, `else`, `dependentSchemas`.
    Conditional,
    /// Nothing that is accepted: `not`, `if`, `contains`, `propertyNames`.
    Condition,
}

impl Role {
    /// True if it speaks of the same value as its owner.
    pub(crate) fn is_in_place(self) -> bool {
        match self {
            Self::AllOf | Self::AnyOf | Self::Conditional => true,
            Self::Root
            | Self::Property
            | Self::PatternProperty
            | Self::MapValue
            | Self::Item
            | Self::TupleItem
            | Self::Definition
            | Self::Condition => false,
        }
    }
}

/// The keywords that rules ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    AdditionalItems,
    AdditionalProperties,
    AllOf,
    AnyOf,
    Const,
    Default,
    Definitions,
    Dependencies,
    DependentSchemas,
    Description,
    Enum,
    Format,
    Items,
    MaxItems,
    MaxLength,
    MaxProperties,
    MinItems,
    Not,
    OneOf,
    If,
    Pattern,
    PatternProperties,
    PrefixItems,
    Properties,
    Ref,
    Required,
    Type,
    UnevaluatedItems,
    UnevaluatedProperties,
    UniqueItems,
    WriteOnly,
}

impl Word {
    const COUNT: usize = Self::WriteOnly as usize + 1;

    fn of(key: &str) -> Option<Self> {
        Some(match key {
            "additionalItems" => Self::AdditionalItems,
            "additionalProperties" => Self::AdditionalProperties,
            "allOf" => Self::AllOf,
            "anyOf" => Self::AnyOf,
            "const" => Self::Const,
            "default" => Self::Default,
            "definitions" => Self::Definitions,
            "dependencies" => Self::Dependencies,
            "dependentSchemas" => Self::DependentSchemas,
            "description" => Self::Description,
            "enum" => Self::Enum,
            "format" => Self::Format,
            "items" => Self::Items,
            "maxItems" => Self::MaxItems,
            "maxLength" => Self::MaxLength,
            "maxProperties" => Self::MaxProperties,
            "minItems" => Self::MinItems,
            "not" => Self::Not,
            "oneOf" => Self::OneOf,
            "if" => Self::If,
            "pattern" => Self::Pattern,
            "patternProperties" => Self::PatternProperties,
            "prefixItems" => Self::PrefixItems,
            "properties" => Self::Properties,
            "$ref" => Self::Ref,
            "required" => Self::Required,
            "type" => Self::Type,
            "unevaluatedItems" => Self::UnevaluatedItems,
            "unevaluatedProperties" => Self::UnevaluatedProperties,
            "uniqueItems" => Self::UniqueItems,
            "writeOnly" => Self::WriteOnly,
            _ => return None,
        })
    }
}

/// Form of a keyword that holds schemas.
enum Holds {
    One(Role),
    List(Role),
    Map(Role),
    /// A schema, or a list of them for a tuple.
    OneOrTuple,
    /// Names with schemas, or with lists of names (draft 7).
    Dependencies,
}

fn holds(key: &str) -> Option<Holds> {
    Some(match key {
        "properties" => Holds::Map(Role::Property),
        "patternProperties" => Holds::Map(Role::PatternProperty),
        "$defs" | "definitions" => Holds::Map(Role::Definition),
        "dependentSchemas" => Holds::Map(Role::Conditional),
        "dependencies" => Holds::Dependencies,
        "additionalProperties" | "unevaluatedProperties" => Holds::One(Role::MapValue),
        "items" => Holds::OneOrTuple,
        "additionalItems" | "unevaluatedItems" => Holds::One(Role::Item),
        "prefixItems" => Holds::List(Role::TupleItem),
        "allOf" => Holds::List(Role::AllOf),
        "anyOf" | "oneOf" => Holds::List(Role::AnyOf),
        "then" | "else" => Holds::One(Role::Conditional),
        "not" | "if" | "contains" | "propertyNames" => Holds::One(Role::Condition),
        _ => return None,
    })
}

impl<'t> SchemaTree<'t> {
    /// Finds every schema in an input schema; the memory of an earlier tree is used again.
    pub(crate) fn rebuild(&mut self, schema: Json<'t>) {
        self.clear();
        self.add(schema, Role::Root, None);
        let is_large =
            self.sites.len() > MAPS || schema.next_slot() - schema.slot() > LARGE || schema.raw().len() > LONG;
        if is_large || self.has_references {
            self.too_complex = measure(&schema.to_value()).err();
        }
        if self.too_complex.is_some() {
            self.sites.clear();
        }
    }

    /// The reason why the schema is not looked into; it has no sites then.
    pub(crate) fn too_complex(&self) -> Option<&TooComplex> {
        self.too_complex.as_ref()
    }

    /// Forgets all schemas.
    pub(crate) fn clear(&mut self) {
        self.sites.clear();
        self.same_value = SameValue::default();
        self.forced = Forced::default();
        self.has_references = false;
        self.too_complex = None;
    }

    /// The schemas in the order of the text.
    pub(crate) fn sites(&self) -> impl DoubleEndedIterator<Item = (SiteId, &Site<'t>)> {
        self.sites.iter().enumerate()
    }

    /// One of the schemas.
    pub(crate) fn site(&self, id: SiteId) -> &Site<'t> {
        &self.sites[id]
    }

    /// The schema at a place.
    pub(crate) fn site_of(&self, json: Json<'t>) -> Option<SiteId> {
        self.sites.binary_search_by_key(&json.slot(), |site| site.json.slot()).ok()
    }

    /// The schemas that a schema holds by its own keywords.
    pub(crate) fn held_by(&self, id: SiteId) -> impl Iterator<Item = (SiteId, &Site<'t>)> {
        let end = self.sites[id].json.next_slot();
        let within = self.sites.iter().enumerate().skip(id + 1).take_while(move |(_, site)| site.json.slot() < end);
        within.filter(move |(_, site)| site.owner == Some(id))
    }

    /// The target of a `$ref`, if that is a schema of this tree.
    pub(crate) fn referred(&self, id: SiteId) -> Option<SiteId> {
        let reference = self.sites[id].word(Word::Ref)?.as_text()?;
        self.resolve(&reference)
    }

    /// The schema a reference names: `#`, a JSON Pointer, an anchor, or the `$id` of a schema of this tree.
    pub(crate) fn resolve(&self, reference: &str) -> Option<SiteId> {
        let root = self.sites.first()?.json;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() { root } else { self.identified(document)? };
        if fragment.is_empty() || fragment.starts_with('/') {
            let pointer = percent_decoded(fragment);
            return self.site_of(base.pointed(&pointer)?);
        }
        self.sites.iter().position(|site| {
            let named = |word: &str| site.json.get(word).is_some_and(|name| name.is_text(fragment));
            let old_anchor = site.json.get("$id").and_then(Json::as_text);
            named("$anchor")
                || named("$dynamicAnchor")
                || old_anchor.is_some_and(|id| id.strip_prefix('#') == Some(fragment))
        })
    }

    /// The owners that speak of the same value, from the nearest to the farthest.
    pub(crate) fn same_value_owners(&self, id: SiteId) -> impl Iterator<Item = SiteId> {
        let mut here = id;
        std::iter::from_fn(move || {
            let site = &self.sites[here];
            here = site.owner.filter(|_| site.role.is_in_place())?;
            Some(here)
        })
    }

    /// Number of levels of values above it.
    pub(crate) fn depth(&self, id: SiteId) -> usize {
        let site = &self.sites[id];
        let level = match site.role {
            Role::Property | Role::PatternProperty | Role::MapValue | Role::Item | Role::TupleItem => 1,
            Role::Root | Role::Definition | Role::AllOf | Role::AnyOf | Role::Conditional | Role::Condition => 0,
        };
        level + site.owner.map_or(0, |owner| self.depth(owner))
    }

    /// True if it or a schema in it refers to others.
    pub(crate) fn refers(&self, id: SiteId) -> bool {
        let end = self.sites[id].json.next_slot();
        self.sites[id..].iter().take_while(|site| site.json.slot() < end).any(|site| site.has(Word::Ref))
    }

    /// True if the dialect knows `unevaluatedProperties` (2019-09 and later; 2020-12 is what MCP takes when none is named).
    pub(crate) fn is_modern(&self) -> bool {
        let dialect = self.sites.first().and_then(|root| root.json.get("$schema")).and_then(Json::as_text);
        !dialect.is_some_and(|dialect| dialect.contains("/draft-0"))
    }

    /// The name of a schema's value in a finding, without an article: `property x`, `item of property x`.
    pub(crate) fn noun(&self, id: SiteId) -> String {
        let site = &self.sites[id];
        let name = || site.json.key().and_then(Json::as_text).unwrap_or_default();
        let owner = || site.owner.map_or_else(String::new, |owner| self.noun(owner));
        match site.role {
            Role::Root => "input".to_owned(),
            Role::Property => format!("property `{}`", name()),
            Role::PatternProperty => format!("property like `{}`", name()),
            Role::Definition => format!("definition `{}`", name()),
            Role::MapValue => format!("value of {}", owner()),
            Role::Item | Role::TupleItem => format!("item of {}", owner()),
            Role::AllOf | Role::AnyOf | Role::Conditional | Role::Condition => owner(),
        }
    }

    /// True if the schema refers to parts of itself, and so may go round in circles.
    pub(crate) fn has_references(&self) -> bool {
        self.has_references
    }

    fn add(&mut self, json: Json<'t>, role: Role, owner: Option<SiteId>) {
        if !json.is_map() && json.as_bool().is_none() {
            return;
        }
        let mut words = [0; Word::COUNT];
        for (key, value) in json.members() {
            if let Some(word) = key.as_text().and_then(|key| Word::of(&key)) {
                words[word as usize] = value.slot();
            }
        }
        self.has_references |= words[Word::Ref as usize] != 0;
        let under_condition = owner.is_some_and(|owner| self.sites[owner].condition);
        let id = self.sites.len();
        self.sites.push(Site { json, role, owner, condition: under_condition || role == Role::Condition, words });
        for (key, value) in json.members() {
            if let Some(holds) = key.as_text().and_then(|key| holds(&key)) {
                self.add_held(&holds, value, id);
            }
        }
    }

    fn add_held(&mut self, holds: &Holds, value: Json<'t>, owner: SiteId) {
        let is_list = value.kind() == JsonKind::List;
        match holds {
            Holds::One(role) => self.add(value, *role, Some(owner)),
            Holds::OneOrTuple if is_list => value.items().for_each(|item| self.add(item, Role::TupleItem, Some(owner))),
            Holds::OneOrTuple => self.add(value, Role::Item, Some(owner)),
            Holds::List(role) => value.items().for_each(|item| self.add(item, *role, Some(owner))),
            Holds::Map(role) => value.members().for_each(|(_, value)| self.add(value, *role, Some(owner))),
            Holds::Dependencies => {
                value.members().for_each(|(_, value)| self.add(value, Role::Conditional, Some(owner)));
            }
        }
    }

    fn identified(&self, id: &str) -> Option<Json<'t>> {
        let has_id = |site: &&Site<'t>| {
            site.json.get("$id").and_then(Json::as_text).is_some_and(|own| own.trim_end_matches('#') == id)
        };
        self.sites.iter().find(has_id).map(|site| site.json)
    }
}

impl<'t> Site<'t> {
    /// The value of a keyword.
    pub(crate) fn word(&self, word: Word) -> Option<Json<'t>> {
        // Slot 0 is the document itself, which is under no keyword.
        let slot = self.words[word as usize];
        (slot != 0).then(|| self.json.source().at(slot))
    }

    /// True if a keyword is there.
    pub(crate) fn has(&self, word: Word) -> bool {
        self.words[word as usize] != 0
    }

    /// True if `type` names a type, alone or in a list.
    pub(crate) fn allows_type(&self, name: &str) -> bool {
        self.word(Word::Type).is_some_and(|kind| kind.is_text(name) || kind.items().any(|kind| kind.is_text(name)))
    }

    /// The names and schemas of `properties`.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (Json<'t>, Json<'t>)> + use<'t> {
        self.word(Word::Properties).into_iter().flat_map(Json::members)
    }

    /// True if `properties` or `patternProperties` say anything about a value under a name.
    pub(crate) fn declares_properties(&self) -> bool {
        let filled = |word: Word| self.word(word).is_some_and(|map| map.is_map() && !map.is_empty());
        filled(Word::Properties) || filled(Word::PatternProperties)
    }

    /// True if it lists the properties there are, be it none.
    pub(crate) fn lists_properties(&self) -> bool {
        self.word(Word::Properties).is_some_and(Json::is_map) || self.declares_properties()
    }

    /// True if `properties` lists a name.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.word(Word::Properties).is_some_and(|map| map.get(name).is_some())
    }

    /// True if `required` names at least one property.
    pub(crate) fn requires_something(&self) -> bool {
        self.word(Word::Required).is_some_and(|list| list.kind() == JsonKind::List && !list.is_empty())
    }
}

/// The fragment of a URI without its percent signs; what is not an escape stays.
fn percent_decoded(fragment: &str) -> std::borrow::Cow<'_, str> {
    if !fragment.contains('%') {
        return fragment.into();
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = escaped.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spanned_json::SpannedJson;

    fn with_tree(schema: &str, look: impl FnOnce(&SchemaTree<'_>)) {
        // A schema is never alone: slot 0 belongs to the document around it.
        let json = SpannedJson::parse(format!("[{schema}]")).expect(schema);
        let mut tree = SchemaTree::default();
        tree.rebuild(json.at(1));
        look(&tree);
    }

    #[test]
    fn every_schema_is_found_with_its_role() {
        let schema = r##"{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},
            "b":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/D"}],"not":{"properties":{"x":{}}}}},
            "patternProperties":{"^x":true},"additionalProperties":{"prefixItems":[{},{}],"items":false},
            "allOf":[{"if":{},"then":{},"else":{}}],"$defs":{"D":{"items":[{}]}},"title":{"type":"x"},
            "dependencies":{"a":["b"],"b":{"type":"object"}},"enum":[{"properties":{"q":{}}}]}"##;
        with_tree(schema, |tree| {
            let told: Vec<String> = tree
                .sites()
                .map(|(id, site)| {
                    format!("{:?} {}{}", site.role, tree.noun(id), if site.condition { " if" } else { "" })
                })
                .collect();
            assert_eq!(
                told,
                [
                    "Root input",
                    "Property property `a`",
                    "Item item of property `a`",
                    "Property property `b`",
                    "AnyOf property `b`",
                    "AnyOf property `b`",
                    "Condition property `b` if",
                    "Property property `x` if",
                    "PatternProperty property like `^x`",
                    "MapValue value of input",
                    "TupleItem item of value of input",
                    "TupleItem item of value of input",
                    "Item item of value of input",
                    "AllOf input",
                    "Condition input if",
                    "Conditional input",
                    "Conditional input",
                    "Definition definition `D`",
                    "TupleItem item of definition `D`",
                    "Conditional input",
                ]
            );
            assert_eq!(tree.referred(5), Some(17));
            assert_eq!(tree.held_by(3).map(|(id, _)| id).collect::<Vec<_>>(), [4, 5, 6]);
            assert_eq!(tree.same_value_owners(15).collect::<Vec<_>>(), [13, 0]);
        });
    }

    #[test]
    fn references_are_resolved_within_the_schema() {
        let schema = r##"{"$defs":{"a/b":{"$anchor":"here"},"ü":{"$id":"https://example.com/u"},"o":{"$id":"#old"}}}"##;
        with_tree(schema, |tree| {
            for (reference, found) in [
                ("#", Some(0)),
                ("#/$defs/a~1b", Some(1)),
                ("#here", Some(1)),
                ("#/$defs/%C3%BC", Some(2)),
                ("https://example.com/u", Some(2)),
                ("https://example.com/u#", Some(2)),
                ("#old", Some(3)),
                ("#/$defs", None),
                ("#/$defs/none", None),
                ("#nowhere", None),
                ("https://example.com/other", None),
            ] {
                assert_eq!(tree.resolve(reference), found, "{reference}");
            }
        });
    }
}
