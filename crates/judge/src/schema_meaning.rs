//! What an input schema lets through: which objects are open, which arguments may be missing, what is unbounded.
//!
//! Schemas under `allOf`, `anyOf`, `$ref` and the like speak of the same value together, so none of these questions can
//! be answered by one of them alone. Closing one branch of an `allOf` with `additionalProperties: false` rejects what
//! its neighbours declare; requiring every property of an object that holds itself leaves no finite value.

use std::borrow::Cow;

use crate::pattern_length::bounds_length;
use crate::schema_tree::{Role, SchemaTree, Site, SiteId, Word};
use crate::spanned_json::{Json, JsonKind};

/// Formats whose values have a largest length in practice.
const BOUNDING_FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "time",
    "uuid",
];

/// How an open object can be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// By `additionalProperties: false` in the schema itself.
    Additional,
    /// By `unevaluatedProperties: false`, because other schemas of the same value declare properties too.
    Unevaluated,
    /// Only by its author: nothing says what belongs into it, or it is used in two ways.
    Author,
}

/// What an object says about which of its properties are there.
#[derive(Debug)]
pub(crate) struct Presence<'t> {
    /// The names that could be required and are not, as written, in the order of `properties`.
    pub(crate) missing: Vec<Json<'t>>,
    /// The names that cannot be required because the object would have to hold itself.
    pub(crate) circular: Vec<Json<'t>>,
    /// Whether nothing at all is required, here or by another schema of the same value.
    pub(crate) none: bool,
    /// Whether alternatives or limits decide what is there, so that requiring everything could contradict them.
    pub(crate) decided_elsewhere: bool,
}

/// What makes the size of a value unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Text,
    List,
}

/// Another schema that speaks of the same value.
enum Part {
    /// It always holds.
    And(SiteId),
    /// It always holds and stands elsewhere.
    Reference(SiteId),
    /// One of them holds.
    Or(Vec<SiteId>),
    /// It holds under a condition.
    Sometimes(SiteId),
}

impl Part {
    fn sites(&self) -> &[SiteId] {
        match self {
            Self::And(id) | Self::Reference(id) | Self::Sometimes(id) => std::slice::from_ref(id),
            Self::Or(ids) => ids,
        }
    }
}

/// The objects that accept properties nobody declared, in the order of the text.
pub(crate) fn open_objects(tree: &SchemaTree<'_>) -> Vec<(SiteId, Close)> {
    let mut search = OpenObjects { tree, open: Vec::new(), composed: Vec::new(), alone: Vec::new() };
    for (id, site) in tree.sites() {
        if !site.condition && !site.role.is_in_place() {
            search.visit(id);
        }
    }
    let OpenObjects { mut open, composed, alone, .. } = search;
    // A definition that others build upon must stay open for what they add.
    open.retain_mut(|(id, close)| {
        let shared = composed.contains(id);
        if shared {
            *close = Close::Author;
        }
        !shared || tree.site(*id).role != Role::Definition || alone.contains(id)
    });
    open.sort_unstable_by_key(|(id, _)| *id);
    open.dedup_by_key(|(id, _)| *id);
    open
}

struct OpenObjects<'a, 't> {
    tree: &'a SchemaTree<'t>,
    open: Vec<(SiteId, Close)>,
    /// What is referred to together with other properties.
    composed: Vec<SiteId>,
    /// What is referred to by itself.
    alone: Vec<SiteId>,
}

impl OpenObjects<'_, '_> {
    fn visit(&mut self, id: SiteId) {
        let tree = self.tree;
        let site = tree.site(id);
        if !site.json.is_map() || site.has(Word::Type) && !site.allows_type("object") {
            return;
        }
        let parts = tree.parts(id);
        let describing: Vec<&Part> =
            parts.iter().filter(|part| part.sites().iter().any(|id| tree.describes_properties(*id))).collect();
        let closed = is_closed(site);
        match (site.declares_properties(), describing.as_slice()) {
            (_, []) => self.alone(id, site, closed),
            (false, [only]) if !closed => self.pass_on(only),
            (declares, _) => {
                describing.iter().for_each(|part| self.mark_composed(part));
                if !closed {
                    let close = if declares && tree.covers(site, &describing) {
                        Close::Additional
                    } else if tree.is_modern() && !tree.evaluates_everything(id) {
                        Close::Unevaluated
                    } else {
                        Close::Author
                    };
                    self.open.push((id, close));
                }
            }
        }
    }

    /// No other schema says anything about its properties.
    fn alone(&mut self, id: SiteId, site: &Site<'_>, closed: bool) {
        if closed {
            return;
        }
        let listed = site.declares_properties() || site.has(Word::Properties);
        let root = site.role == Role::Root;
        let said_open = site.has(Word::AdditionalProperties) || site.has(Word::UnevaluatedProperties);
        let unknown = site.has(Word::Ref) && self.tree.referred(id).is_none();
        if unknown && (root || listed) {
            self.open.push((id, Close::Author));
        } else if unknown || said_open && !site.declares_properties() {
            // An object that says it takes anything, or a reference that leads nowhere.
        } else if listed || root && !site.has(Word::Ref) {
            self.open.push((id, Close::Additional));
        } else if site.allows_type("object") {
            self.open.push((id, Close::Author));
        }
    }

    /// All that is said about properties is said by one part.
    fn pass_on(&mut self, part: &Part) {
        match part {
            Part::Reference(target) => self.alone.push(*target),
            Part::And(_) | Part::Or(_) | Part::Sometimes(_) => part.sites().iter().for_each(|id| self.visit(*id)),
        }
    }

    /// Whatever is referred to from here on is composed with something else.
    fn mark_composed(&mut self, part: &Part) {
        for id in part.sites() {
            if let Part::Reference(target) = part {
                if self.composed.contains(target) {
                    continue;
                }
                self.composed.push(*target);
            }
            for inner in self.tree.parts(*id) {
                self.mark_composed(&inner);
            }
        }
    }
}

/// Whether nothing but what is declared gets in, or a schema says what else does.
fn is_closed(site: &Site<'_>) -> bool {
    let says = |word: Word| {
        site.word(word).is_some_and(|schema| schema.as_bool() == Some(false) || !schema.is_empty() && schema.is_map())
    };
    says(Word::AdditionalProperties) || says(Word::UnevaluatedProperties)
}

/// Whether a value of a property is never valid, so that the name is forbidden.
fn is_never(schema: Json<'_>) -> bool {
    let everything = |schema: Json<'_>| schema.as_bool() == Some(true) || schema.is_map() && schema.is_empty();
    schema.as_bool() == Some(false) || schema.get("not").is_some_and(everything)
}

impl<'t> SchemaTree<'t> {
    /// What an object says about the presence of its properties; `None` when it declares none of its own.
    pub(crate) fn presence(&self, id: SiteId) -> Option<Presence<'t>> {
        let site = self.site(id);
        if site.condition || site.word(Word::Properties).is_none_or(|map| !map.is_map() || map.is_empty()) {
            return None;
        }
        let declared_around = |name: Json<'_>| {
            name.as_text().is_some_and(|n| self.same_value_owners(id).any(|o| self.site(o).declares(&n)))
        };
        if site.properties().all(|(name, _)| declared_around(name)) {
            return None;
        }
        let required: Vec<Json<'t>> = site.word(Word::Required).into_iter().flat_map(Json::items).collect();
        let is_required = |name: Json<'t>| required.iter().any(|other| same_text(*other, name));
        let (mut missing, mut circular) = (Vec::new(), Vec::new());
        for (name, schema) in site.properties() {
            let twice = missing.iter().chain(&circular).any(|other| same_text(*other, name));
            if is_never(schema) || is_required(name) || twice {
                continue;
            }
            if self.holds_itself(schema, id) { circular.push(name) } else { missing.push(name) }
        }
        let around = || self.same_value_owners(id).any(|owner| self.site(owner).requires_something());
        let none = !site.requires_something()
            && !missing.is_empty()
            && !around()
            && !self.parts(id).iter().flat_map(Part::sites).any(|part| self.requires_somewhere(*part));
        let limited = |id: SiteId| self.limits_presence(id);
        let decided_elsewhere = limited(id) || self.same_value_owners(id).any(limited);
        Some(Presence { missing, circular, none, decided_elsewhere })
    }

    /// Whether any value at all is accepted, as far as its type goes.
    pub(crate) fn accepts_anything(&self, id: SiteId) -> bool {
        self.accepts_anything_but(id, &mut Vec::new())
    }

    /// Whether some schema of the same object says what the value under a name is.
    pub(crate) fn is_constrained(&self, object: SiteId, name: &str) -> bool {
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        self.constrains(whole, name, &mut Vec::new())
    }

    /// Whether the size of a string or list is bounded by any schema of the same value.
    pub(crate) fn is_bounded(&self, id: SiteId, size: Size) -> bool {
        self.bounds(id, size, &mut Vec::new())
            || self.same_value_owners(id).any(|owner| self.bounds(owner, size, &mut Vec::new()))
    }

    /// The other schemas that speak of the same value.
    fn parts(&self, id: SiteId) -> Vec<Part> {
        const WORDS: [Word; 7] =
            [Word::AllOf, Word::AnyOf, Word::OneOf, Word::Ref, Word::If, Word::DependentSchemas, Word::Dependencies];
        let site = self.site(id);
        if !WORDS.iter().any(|word| site.has(*word)) {
            return Vec::new();
        }
        let mut parts: Vec<Part> = self.referred(id).map(Part::Reference).into_iter().collect();
        let (mut any, mut one) = (Vec::new(), Vec::new());
        let any_of = site.word(Word::AnyOf).map_or(0..0, |list| list.slot()..list.next_slot());
        for (held, held_site) in self.held_by(id) {
            match held_site.role {
                Role::AllOf => parts.push(Part::And(held)),
                Role::AnyOf if any_of.contains(&held_site.json.slot()) => any.push(held),
                Role::AnyOf => one.push(held),
                Role::Conditional => parts.push(Part::Sometimes(held)),
                Role::Root
                | Role::Property
                | Role::PatternProperty
                | Role::MapValue
                | Role::Item
                | Role::TupleItem
                | Role::Definition
                | Role::Condition => {}
            }
        }
        parts.extend([any, one].into_iter().filter(|choice| !choice.is_empty()).map(Part::Or));
        parts
    }

    /// Whether this schema or another of the same value declares properties.
    fn describes_properties(&self, id: SiteId) -> bool {
        self.reaches(id, &mut Vec::new(), &|site| site.declares_properties())
    }

    /// Whether `unevaluatedProperties` would find nothing left: `additionalProperties` other than false takes all names.
    fn evaluates_everything(&self, id: SiteId) -> bool {
        let takes_all = |site: &Site<'t>| {
            site.word(Word::AdditionalProperties).is_some_and(|schema| schema.as_bool() != Some(false))
        };
        self.reaches(id, &mut Vec::new(), &takes_all)
    }

    fn requires_somewhere(&self, id: SiteId) -> bool {
        self.reaches(id, &mut Vec::new(), &Site::requires_something)
    }

    /// Whether something is true of this schema or another of the same value.
    fn reaches(&self, id: SiteId, seen: &mut Vec<SiteId>, holds: &dyn Fn(&Site<'t>) -> bool) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        holds(self.site(id)) || self.parts(id).iter().flat_map(Part::sites).any(|part| self.reaches(*part, seen, holds))
    }

    /// Whether an object declares every name that its parts declare, so that closing it rejects none of them.
    fn covers(&self, site: &Site<'t>, parts: &[&Part]) -> bool {
        let foreign = |other: &Site<'t>| {
            let pattern = other.word(Word::PatternProperties).is_some_and(|map| !map.is_empty());
            pattern || other.properties().any(|(name, _)| name.as_text().is_none_or(|name| !site.declares(&name)))
        };
        !parts.iter().flat_map(|part| part.sites()).any(|id| self.reaches(*id, &mut Vec::new(), &foreign))
    }

    /// Whether alternatives, conditions or a largest number decide which properties are there.
    fn limits_presence(&self, id: SiteId) -> bool {
        let site = self.site(id);
        let decides = |(held, held_site): (SiteId, &Site<'t>)| match held_site.role {
            Role::AnyOf | Role::Conditional | Role::Condition => self.requires_somewhere(held),
            Role::Root
            | Role::Property
            | Role::PatternProperty
            | Role::MapValue
            | Role::Item
            | Role::TupleItem
            | Role::Definition
            | Role::AllOf => false,
        };
        site.has(Word::MaxProperties) || self.held_by(id).any(decides)
    }

    /// Whether every value of a property would have to hold the object again, were all properties required.
    fn holds_itself(&self, schema: Json<'t>, object: SiteId) -> bool {
        self.has_references() && self.site_of(schema).is_some_and(|id| self.must_hold(id, object, &mut Vec::new()))
    }

    fn must_hold(&self, id: SiteId, object: SiteId, seen: &mut Vec<SiteId>) -> bool {
        if id == object {
            return true;
        }
        let site = self.site(id);
        if seen.contains(&id) || site.has(Word::Enum) || site.has(Word::Const) {
            return false;
        }
        seen.push(id);
        let is_type = |name: &str| site.word(Word::Type).is_some_and(|kind| kind.is_text(name));
        let in_part = |part: &Part, seen: &mut Vec<SiteId>| match part {
            Part::And(part) | Part::Reference(part) => self.must_hold(*part, object, seen),
            Part::Or(choice) => choice.iter().all(|part| self.must_hold(*part, object, &mut seen.clone())),
            Part::Sometimes(_) => false,
        };
        if self.parts(id).iter().any(|part| in_part(part, seen)) {
            return true;
        }
        let filled = is_type("array") && site.word(Word::MinItems).and_then(Json::as_count).is_some_and(|n| n > 0);
        let held: Vec<SiteId> = self
            .held_by(id)
            .filter(|(_, held)| match held.role {
                Role::Property => is_type("object"),
                Role::Item => filled,
                Role::Root
                | Role::PatternProperty
                | Role::MapValue
                | Role::TupleItem
                | Role::Definition
                | Role::AllOf
                | Role::AnyOf
                | Role::Conditional
                | Role::Condition => false,
            })
            .map(|(held, _)| held)
            .collect();
        held.into_iter().any(|held| self.must_hold(held, object, seen))
    }

    fn accepts_anything_but(&self, id: SiteId, seen: &mut Vec<SiteId>) -> bool {
        let site = self.site(id);
        if let Some(whole) = site.json.as_bool() {
            return whole;
        }
        if site.has(Word::Type) || site.has(Word::Enum) || site.has(Word::Const) {
            return false;
        }
        // A reference that leads nowhere is a fault of its own, and one that leads back here adds nothing.
        if site.has(Word::Ref) && self.referred(id).is_none() {
            return false;
        }
        if seen.contains(&id) {
            return true;
        }
        seen.push(id);
        self.parts(id).iter().all(|part| match part {
            Part::And(part) | Part::Reference(part) => self.accepts_anything_but(*part, seen),
            Part::Or(choice) => choice.iter().any(|part| self.accepts_anything_but(*part, seen)),
            Part::Sometimes(_) => true,
        })
    }

    fn constrains(&self, id: SiteId, name: &str, seen: &mut Vec<SiteId>) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        let own = self.site(id).word(Word::Properties).and_then(|map| map.get(name));
        if own.and_then(|schema| self.site_of(schema)).is_some_and(|schema| !self.accepts_anything(schema)) {
            return true;
        }
        self.parts(id).iter().any(|part| match part {
            Part::And(part) | Part::Reference(part) => self.constrains(*part, name, seen),
            Part::Or(choice) => choice.iter().all(|part| self.constrains(*part, name, &mut seen.clone())),
            Part::Sometimes(_) => false,
        })
    }

    fn bounds(&self, id: SiteId, size: Size, seen: &mut Vec<SiteId>) -> bool {
        if seen.contains(&id) {
            return false;
        }
        seen.push(id);
        let site = self.site(id);
        let own = match size {
            Size::Text => bounds_text(site),
            Size::List => self.bounds_list(id, site),
        };
        own || site.has(Word::Enum)
            || site.has(Word::Const)
            || self.parts(id).iter().any(|part| match part {
                Part::And(part) | Part::Reference(part) => self.bounds(*part, size, seen),
                Part::Or(choice) => choice.iter().all(|part| self.bounds(*part, size, &mut seen.clone())),
                Part::Sometimes(_) => false,
            })
    }

    fn bounds_list(&self, id: SiteId, site: &Site<'t>) -> bool {
        let never = |word: Word| site.word(word).is_some_and(|schema| schema.as_bool() == Some(false));
        let old_tuple = site.word(Word::Items).is_some_and(|items| items.kind() == JsonKind::List);
        let no_more = never(Word::Items)
            || never(Word::UnevaluatedItems) && (site.has(Word::PrefixItems) || old_tuple)
            || never(Word::AdditionalItems) && old_tuple;
        // Different values of an enumeration are as many as it has.
        let finite =
            |(_, held): (SiteId, &Site<'t>)| held.role == Role::Item && (held.has(Word::Enum) || held.has(Word::Const));
        let unique = site.word(Word::UniqueItems).and_then(Json::as_bool) == Some(true);
        site.has(Word::MaxItems) || no_more || unique && self.held_by(id).any(finite)
    }
}

fn bounds_text(site: &Site<'_>) -> bool {
    let text = |word: Word| site.word(word).and_then(Json::as_text);
    site.has(Word::MaxLength)
        || text(Word::Format).is_some_and(|format| BOUNDING_FORMATS.contains(&&*format))
        || text(Word::Pattern).is_some_and(|pattern| bounds_length(&pattern))
}

/// Whether two strings mean the same text, however they are written.
fn same_text(a: Json<'_>, b: Json<'_>) -> bool {
    let text: Option<Cow<'_, str>> = a.as_text();
    text.is_some_and(|text| b.is_text(&text))
}
