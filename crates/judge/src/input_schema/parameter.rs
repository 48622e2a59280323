//! The parameters of a tool, and what the schemas of an object declare together.

use super::tree::{SchemaTree, Site, SiteId, Word};
use crate::spanned_json::Json;

/// A parameter of a tool.
#[derive(Debug)]
pub(crate) struct Parameter<'t> {
    pub(crate) name: String,
    pub(crate) schema: Json<'t>,
    /// True if the root requires it.
    pub(crate) required: bool,
    /// True if anything is said about it in words, by whatever schema of its value.
    pub(crate) described: bool,
    /// True if its type is said.
    pub(crate) typed: bool,
}

impl<'t> SchemaTree<'t> {
    /// The parameters that the root declares, itself or by the schemas it is combined of.
    pub(crate) fn parameters(&self) -> Vec<Parameter<'t>> {
        let mut parameters: Vec<Parameter<'t>> = Vec::new();
        if self.sites().next().is_none() {
            return parameters;
        }
        let members = self.members(0);
        let is_required = |name: &str| {
            let lists = members.iter().filter_map(|id| self.site(*id).word(Word::Required));
            lists.flat_map(Json::items).any(|required| required.is_text(name))
        };
        for (key, schema) in members.iter().flat_map(|id| self.site(*id).properties()) {
            let Some(name) = key.as_text().map(String::from) else { continue };
            let site = self.site_of(schema);
            let described = site.is_some_and(|id| self.is_described(id));
            let typed = site.is_some_and(|id| !self.accepts_anything(id));
            if let Some(known) = parameters.iter_mut().find(|known| known.name == name) {
                known.described |= described;
                known.typed |= typed;
            } else {
                let required = is_required(&name);
                parameters.push(Parameter { name, schema, required, described, typed });
            }
        }
        parameters
    }

    /// True if the values of a string are listed, by whatever schema of the same value.
    pub(crate) fn lists_values(&self, id: SiteId) -> bool {
        let whole = self.same_value_owners(id).last().unwrap_or(id);
        self.reaches(whole, |_, site| site.has(Word::Enum) || site.has(Word::Const))
    }

    /// True if any schema of the same object declares a property.
    pub(crate) fn is_declared(&self, object: SiteId, name: &str) -> bool {
        self.any_of_object(object, &|site| site.declares(name))
    }

    /// True if any schema of the same object takes properties that are not declared, with a schema of their own.
    pub(crate) fn takes_undeclared(&self, object: SiteId) -> bool {
        self.any_of_object(object, &|site| {
            let filled = |word: Word| site.word(word).is_some_and(|schema| schema.is_map() && !schema.is_empty());
            filled(Word::PatternProperties) || filled(Word::AdditionalProperties) || filled(Word::UnevaluatedProperties)
        })
    }

    fn is_described(&self, id: SiteId) -> bool {
        let said = |site: &Site<'t>| {
            site.word(Word::Description).and_then(Json::as_text).is_some_and(|text| !text.trim().is_empty())
        };
        self.reaches(id, |_, site| said(site))
    }

    /// True if something is true of a schema, or of any other that speaks of the same object with it.
    fn any_of_object(&self, object: SiteId, holds: &dyn Fn(&Site<'t>) -> bool) -> bool {
        holds(self.site(object)) || self.groups().of(object).flatten().any(|id| holds(self.site(*id)))
    }
}
