//! The mechanical fix: closes objects and requires their properties, by edits of the text that change nothing else.
//!
//! It never invents a `type`, a `maxLength` or a `maxItems`: the right value is the author's to choose. It never requires a
//! property that has a default. It skips schemas that it would break: maps, schemas that others build upon, alternatives
//! that decide about the presence of properties, and objects that would have to hold themselves.

use mcprove_model::Edit;

use crate::catalog::{Catalog, ToolAt};
use crate::input_schema::{Close, Presence, SchemaTree, SiteId, Word, open_objects};
use crate::json_style::JsonStyle;
use crate::spanned_json::{Json, JsonKind};

/// Extent of the fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TightenOptions {
    /// Leaves a `required` list alone that names anything, so that optional arguments stay optional.
    pub keep_optional: bool,
}

/// A catalog's text after the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tightened {
    /// The text; the same as before when there was nothing to do.
    pub text: String,
    /// Number of changed schemas.
    pub changed: usize,
    /// The parameters that became required, in the order of the text.
    pub required: Vec<Required>,
}

/// Parameters of one object that became required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// The tool.
    pub tool: String,
    /// The JSON Pointer of the object's schema.
    pub pointer: String,
    /// The parameters.
    pub names: Vec<String>,
    /// Parameters that stay optional, because the object would otherwise have to hold itself without end.
    pub kept: Vec<String>,
}

impl Catalog {
    /// Closes every object that can be closed and requires every property that can be required.
    ///
    /// `None` when the tools were not read from a file that could be edited.
    pub fn tighten(&self, options: TightenOptions) -> Option<Tightened> {
        let text = self.editable_text()?;
        let style = JsonStyle::of(&self.documents.first()?.json);
        let mut edits = Vec::new();
        let mut required = Vec::new();
        let mut changed = 0;
        let mut tree = SchemaTree::default();
        for tool in self.listings.iter().flat_map(|listing| &listing.tools) {
            let Some(schema) = self.tool(tool).get("inputSchema").filter(|schema| schema.is_map()) else { continue };
            tree.rebuild(schema);
            for change in changes(&tree, options) {
                edits.extend(change.edits(&tree, &style));
                required.extend(self.told(tool, &tree, &change));
                changed += 1;
            }
        }
        edits.sort_unstable_by_key(|edit| edit.start);
        Some(Tightened { text: applied(text, &edits), changed, required })
    }

    fn told(&self, tool: &ToolAt, tree: &SchemaTree<'_>, change: &Change<'_>) -> Option<Required> {
        let presence = change.require.as_ref()?;
        let names = |names: &[Json<'_>]| names.iter().filter_map(|name| name.as_text()).map(Into::into).collect();
        let name = self.tool(tool).get("name").and_then(Json::as_text).unwrap_or_default();
        Some(Required {
            tool: name.into_owned(),
            pointer: self.pointer(tool, tree.site(change.site).json),
            names: names(&presence.missing),
            kept: names(&presence.circular),
        })
    }
}

/// One of the two things that the fix does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixStep {
    /// Accepts only what is declared.
    Close,
    /// Requires what is declared.
    Require,
}

impl FixStep {
    /// Its effect, in a few words.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Close => "accept only declared properties",
            Self::Require => "require every declared property",
        }
    }
}

/// Change of one schema.
pub(crate) struct Change<'t> {
    site: SiteId,
    close: Option<Close>,
    require: Option<Presence<'t>>,
}

/// Everything there is to do in an input schema, in the order of its text.
pub(crate) fn changes<'t>(tree: &SchemaTree<'t>, options: TightenOptions) -> Vec<Change<'t>> {
    let mut open = open_objects(tree).into_iter().filter(|(_, close)| *close != Close::Author).peekable();
    let mut changes = Vec::new();
    for (site, _) in tree.sites() {
        let close = open.next_if(|(open, _)| *open == site).map(|(_, close)| close);
        let require = tree.presence(site).filter(|presence| can_require(tree, site, presence, options));
        if close.is_some() || require.is_some() {
            changes.push(Change { site, close, require });
        }
    }
    changes
}

fn can_require(tree: &SchemaTree<'_>, site: SiteId, presence: &Presence<'_>, options: TightenOptions) -> bool {
    let kept = options.keep_optional && tree.site(site).requires_something();
    !presence.missing.is_empty() && !presence.decided_elsewhere && !kept
}

impl Change<'_> {
    /// Only one of the two things that may be done.
    pub(crate) fn only(self, part: FixStep) -> Option<Self> {
        match part {
            FixStep::Close => self.close.is_some().then_some(Self { require: None, ..self }),
            FixStep::Require => self.require.is_some().then_some(Self { close: None, ..self }),
        }
    }

    /// The schema that is changed.
    pub(crate) fn site(&self) -> SiteId {
        self.site
    }

    /// The edits that do it, ascending.
    pub(crate) fn edits(&self, tree: &SchemaTree<'_>, style: &JsonStyle) -> Vec<Edit> {
        let site = tree.site(self.site);
        let anchor = site.word(Word::Properties).and_then(|value| Some((value.key()?, value)));
        let slotting = style.slotting(site.json, anchor.or_else(|| site.json.members().last()));
        let mut edits = Vec::new();
        let mut members = Vec::new();
        if let Some(presence) = &self.require {
            match site.word(Word::Required) {
                None => members.push(("required", slotting.list(&presence.missing))),
                Some(list) => edits.push(extended(list, &presence.missing, style, || slotting.list(&presence.missing))),
            }
        }
        if let Some(close) = self.close {
            let (word, key) = match close {
                Close::Unevaluated => (Word::UnevaluatedProperties, "unevaluatedProperties"),
                Close::Additional | Close::Author => (Word::AdditionalProperties, "additionalProperties"),
            };
            match site.word(word) {
                None => members.push((key, "false".to_owned())),
                Some(value) => edits.push(replaced(value, "false".to_owned())),
            }
        }
        if !members.is_empty() {
            edits.push(Edit { start: slotting.offset, end: slotting.offset, text: slotting.members(&members) });
        }
        edits.sort_unstable_by_key(|edit| edit.start);
        edits
    }
}

/// The edit that adds names to a `required` list; an empty list or another value is replaced.
fn extended(list: Json<'_>, names: &[Json<'_>], style: &JsonStyle, whole: impl FnOnce() -> String) -> Edit {
    match list.items().last().filter(|_| list.kind() == JsonKind::List) {
        None => replaced(list, whole()),
        Some(tail) => {
            let end = tail.span().end;
            Edit { start: end, end, text: style.more_items(list, tail, names) }
        }
    }
}

fn replaced(value: Json<'_>, text: String) -> Edit {
    let span = value.span();
    Edit { start: span.start, end: span.end, text }
}

/// A text after ascending edits.
fn applied(text: &str, edits: &[Edit]) -> String {
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut result = String::with_capacity(text.len() + added);
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.start as usize]);
        result.push_str(&edit.text);
        done = edit.end as usize;
    }
    result.push_str(&text[done..]);
    result
}

#[cfg(test)]
mod tests;
