//! What an input schema lets through: which objects are open, which arguments may be missing, what is unbounded.
//!
//! Schemas under `allOf`, `anyOf`, `$ref` and the like speak of the same value together, so none of these questions can
//! be answered by one of them alone. Closing one branch of an `allOf` with `additionalProperties: false` rejects what
//! its neighbours declare; requiring every property of an object that holds itself leaves no finite value.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
    let rivals = rivals(tree);
    let mut search = OpenObjects { tree, rivals, head: 0, open: Vec::new(), composed: Vec::new(), alone: Vec::new() };
    for (id, site) in tree.sites() {
        if !site.condition && !site.role.is_in_place() {
            search.head = id;
            search.visit(id);
        }
    }
    search.settled()
}

struct OpenObjects<'a, 't> {
    tree: &'a SchemaTree<'t>,
    /// Schemas of one and the same property that stand in different schemas of the same object.
    rivals: Vec<Vec<SiteId>>,
    /// Where the visit began that is under way.
    head: SiteId,
    /// What is open, and where the visit began that found it.
    open: Vec<(SiteId, Close, SiteId)>,
    /// What is referred to together with other properties.
    composed: Vec<SiteId>,
    /// What is referred to by itself, and where the visit began that found it.
    alone: Vec<(SiteId, SiteId)>,
}

impl OpenObjects<'_, '_> {
    /// What is open once it is known which definitions others build upon: those must stay open for what is added.
    fn settled(self) -> Vec<(SiteId, Close)> {
        let Self { tree, open, composed, alone, .. } = self;
        let is_base = |id: SiteId| composed.contains(&id);
        // A definition that is only ever built upon is no use of what it refers to.
        let mut used: Vec<SiteId> = Vec::new();
        let stands =
            |id: SiteId, used: &[SiteId]| !is_base(id) || tree.site(id).role != Role::Definition || used.contains(&id);
        loop {
            let more = alone.iter().find(|(target, head)| !used.contains(target) && stands(*head, &used));
            let Some((target, _)) = more else { break };
            used.push(*target);
        }
        let mut open: Vec<(SiteId, Close)> = open
            .into_iter()
            .filter(|(_, _, head)| stands(*head, &used))
            .map(|(id, close, head)| (id, if is_base(head) { Close::Author } else { close }))
            .collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        open.dedup_by_key(|(id, _)| *id);
        open
    }

    fn found(&mut self, id: SiteId, close: Close) {
        self.open.push((id, close, self.head));
    }

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
        let rivals = self.rivals.iter().filter(|rivals| rivals.contains(&id)).flatten();
        if rivals.clone().any(|rival| *rival != id && tree.describes_properties(*rival)) {
            // Each of them must let through what the others declare.
            parts.iter().for_each(|part| self.mark_composed(part));
            if !closed && tree.describes_properties(id) {
                self.found(id, Close::Author);
            }
            return;
        }
        match (site.lists_properties(), describing.as_slice()) {
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
                    self.found(id, close);
                }
            }
        }
    }

    /// No other schema says anything about its properties.
    fn alone(&mut self, id: SiteId, site: &Site<'_>, closed: bool) {
        if closed {
            return;
        }
        let listed = site.lists_properties();
        let root = site.role == Role::Root;
        let said_open = site.has(Word::AdditionalProperties) || site.has(Word::UnevaluatedProperties);
        let unknown = site.has(Word::Ref) && self.tree.referred(id).is_none();
        if unknown && (root || listed) {
            self.found(id, Close::Author);
        } else if unknown || said_open && !site.declares_properties() {
            // An object that says it takes anything, or a reference that leads nowhere.
        } else if listed || root && !site.has(Word::Ref) {
            self.found(id, Close::Additional);
        } else if site.allows_type("object") {
            self.found(id, Close::Author);
        }
    }

    /// All that is said about properties is said by one part.
    fn pass_on(&mut self, part: &Part) {
        match part {
            Part::Reference(target) => self.alone.push((*target, self.head)),
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

/// Properties that several schemas of the same object speak of, each with all its schemas, and so on within them.
fn rivals(tree: &SchemaTree<'_>) -> Vec<Vec<SiteId>> {
    /// More than any schema written by hand has; circles could otherwise go on for long.
    const ENOUGH: usize = 200;
    let mut groups: Vec<Vec<SiteId>> = Vec::new();
    let mut waiting: Vec<Vec<SiteId>> = tree.groups().iter().map(|group| group[..1].to_vec()).collect();
    while let Some(group) = waiting.pop() {
        let mut members = Vec::new();
        group.iter().for_each(|id| drop(tree.reaches(*id, &mut members, &|_| false)));
        let mut properties: BTreeMap<Cow<'_, str>, Vec<SiteId>> = BTreeMap::new();
        for (name, schema) in members.iter().flat_map(|id| tree.site(*id).properties()) {
            if let (Some(name), Some(site)) = (name.as_text(), tree.site_of(schema)) {
                properties.entry(name).or_default().push(site);
            }
        }
        for mut rivals in properties.into_values().filter(|sites| sites.len() > 1) {
            rivals.sort_unstable();
            if groups.len() < ENOUGH && !groups.contains(&rivals) {
                groups.push(rivals.clone());
                waiting.push(rivals);
            }
        }
    }
    groups
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
            if self.holds_itself(name, id) { circular.push(name) } else { missing.push(name) }
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

    /// The schemas that speak of the same value, for each value of which several speak; the first is the whole.
    fn groups(&self) -> &[Vec<SiteId>] {
        self.groups.get_or_init(|| {
            let heads = self.sites().filter(|(id, site)| !site.role.is_in_place() && self.has_parts(*id));
            heads
                .map(|(id, _)| {
                    let mut members = Vec::new();
                    self.reaches(id, &mut members, &|_| false);
                    members
                })
                .collect()
        })
    }

    /// Whether other schemas may speak of the same value.
    fn has_parts(&self, id: SiteId) -> bool {
        const WORDS: [Word; 7] =
            [Word::AllOf, Word::AnyOf, Word::OneOf, Word::Ref, Word::If, Word::DependentSchemas, Word::Dependencies];
        let site = self.site(id);
        WORDS.iter().any(|word| site.has(*word))
    }

    /// The other schemas that speak of the same value.
    fn parts(&self, id: SiteId) -> Vec<Part> {
        if !self.has_parts(id) {
            return Vec::new();
        }
        let site = self.site(id);
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
        self.reaches(id, &mut Vec::new(), &Site::lists_properties)
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
    fn holds_itself(&self, name: Json<'t>, object: SiteId) -> bool {
        if !self.has_references() {
            return false;
        }
        let Some(name) = name.as_text() else { return false };
        let holds = |id: SiteId, whole: SiteId| {
            let schema = self.site(id).word(Word::Properties).and_then(|map| map.get(&name));
            let schema = schema.and_then(|schema| self.site_of(schema));
            schema.is_some_and(|id| [object, whole].iter().any(|target| self.must_hold(id, *target, &mut Vec::new())))
        };
        // Whatever schema of the same object speaks of the property, all of it holds for the value; and the object may be
        // part of several wholes that refer to it.
        let whole = self.same_value_owners(object).last().unwrap_or(object);
        holds(object, whole)
            || self.groups().iter().any(|group| {
                group.contains(&object)
                    && group.iter().any(|member| holds(*member, group.first().copied().unwrap_or(whole)))
            })
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
