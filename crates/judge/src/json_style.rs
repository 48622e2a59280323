//! The layout of a JSON text, so that additions match it.

use crate::spanned_json::{Json, JsonKind, SpannedJson};

/// The habits of a whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    /// Text after a comma within a line.
    comma: &'static str,
    /// Text between a key and its value.
    colon: &'static str,
    /// `Some(true)` if short lists are on one line; `None` if there are none to learn from.
    inline_lists: Option<bool>,
}

/// Position and layout of a new member in a map.
#[derive(Debug)]
pub(crate) struct Slotting<'t> {
    /// The byte after which it goes.
    pub(crate) offset: u32,
    /// Text before its key, after the comma.
    before: &'t str,
    /// Text between its key and its value.
    colon: &'t str,
    /// Indentation of the parts of its value.
    unit: &'t str,
    inline_lists: bool,
    comma: &'static str,
    first: bool,
}

impl JsonStyle {
    /// Looks how a text is written.
    pub(crate) fn of(json: &SpannedJson) -> Self {
        let text = json.text();
        let mut style = Self { comma: "", colon: ":", inline_lists: None };
        let first_member = json.roots().find_map(first_member);
        if let Some((key, value)) = first_member
            && between(text, key, value).ends_with(' ')
        {
            (style.comma, style.colon) = (" ", ": ");
        }
        // Without a list to learn from, small objects show the same habit.
        let example = json.roots().find_map(|root| first_plain(root, JsonKind::List));
        let example = example.or_else(|| json.roots().find_map(|root| first_plain(root, JsonKind::Map)));
        style.inline_lists = example.map(|example| !example.raw().contains('\n'));
        style
    }

    /// Layout for a new member of a map: after `anchor`, a member of it, or as the only one.
    pub(crate) fn slotting<'t>(&self, map: Json<'t>, anchor: Option<(Json<'t>, Json<'t>)>) -> Slotting<'t>
    where
        Self: 't,
    {
        let text = map.source().text();
        let Some((key, value)) = anchor else {
            let colon = if self.comma.is_empty() { ":" } else { ": " };
            let offset = map.span().start + 1;
            return Slotting {
                offset,
                before: "",
                colon,
                unit: "",
                inline_lists: true,
                comma: self.comma,
                first: true,
            };
        };
        let before = self.before(text, map, key);
        let colon = Some(between(text, key, value)).filter(|colon| !colon.contains('\n')).unwrap_or(self.colon);
        let inline_lists = !before.contains('\n') || self.inline_lists == Some(true);
        let unit = unit(text, map, before);
        Slotting { offset: value.span().end, before, colon, unit, inline_lists, comma: self.comma, first: false }
    }

    /// One more item for a list that has some.
    pub(crate) fn more_items(&self, list: Json<'_>, end: Json<'_>, items: &[Json<'_>]) -> String {
        let text = list.source().text();
        let space = space_before(text, end.span().start as usize);
        let only = list.items().nth(1).is_none();
        let space = if space.contains('\n') || !only { space } else { self.comma };
        items.iter().fold(String::new(), |all, item| all + "," + space + item.raw())
    }

    fn before<'t>(&self, text: &'t str, map: Json<'t>, key: Json<'t>) -> &'t str
    where
        Self: 't,
    {
        let space = space_before(text, key.span().start as usize);
        let first = map.slot() + 1 == key.slot();
        if space.contains('\n') || !first {
            return space;
        }
        let second = map.members().nth(1).map(|(key, _)| space_before(text, key.span().start as usize));
        second.unwrap_or(self.comma)
    }
}

impl Slotting<'_> {
    /// The text of new members, given by key and value.
    pub(crate) fn members(&self, members: &[(&str, String)]) -> String {
        let mut added = String::new();
        for (index, (key, value)) in members.iter().enumerate() {
            if !self.first {
                added.push(',');
                added.push_str(self.before);
            } else if index > 0 {
                added.push(',');
                added.push_str(self.comma);
            }
            added.push('"');
            added.push_str(key);
            added.push('"');
            added.push_str(self.colon);
            added.push_str(value);
        }
        added
    }

    /// The text of a list of strings as the value of a member.
    pub(crate) fn list(&self, items: &[Json<'_>]) -> String {
        let raw: Vec<&str> = items.iter().map(|item| item.raw()).collect();
        if self.inline_lists {
            return format!("[{}]", raw.join(&format!(",{}", self.comma)));
        }
        let outer = self.before;
        let inner = format!("{outer}{}", self.unit);
        format!("[{inner}{}{outer}]", raw.join(&format!(",{inner}")))
    }
}

/// Indentation of the members of a map relative to the map; two spaces if that cannot be seen.
fn unit<'t>(text: &'t str, map: Json<'_>, before: &'t str) -> &'t str {
    let indent = |space: &'t str| space.rsplit('\n').next().unwrap_or_default();
    let outer = indent(space_before(text, map.span().end as usize - 1));
    indent(before).strip_prefix(outer).filter(|unit| !unit.is_empty()).unwrap_or("  ")
}

fn between<'t>(text: &'t str, a: Json<'_>, b: Json<'_>) -> &'t str {
    &text[a.span().end as usize..b.span().start as usize]
}

/// The white space that ends at a byte.
fn space_before(text: &str, end: usize) -> &str {
    let head = &text[..end];
    &head[head.trim_end_matches([' ', '\t', '\n', '\r']).len()..]
}

fn first_member(json: Json<'_>) -> Option<(Json<'_>, Json<'_>)> {
    json.members().next().or_else(|| json.items().find_map(first_member))
}

/// The first list or map that has parts, none of which has parts of its own.
fn first_plain(json: Json<'_>, kind: JsonKind) -> Option<Json<'_>> {
    let is_plain = |json: Json<'_>| !matches!(json.kind(), JsonKind::List | JsonKind::Map);
    let mut parts = json.items().chain(json.members().map(|(_, value)| value));
    if json.kind() == kind && !json.is_empty() && parts.clone().all(is_plain) {
        return Some(json);
    }
    parts.find_map(|part| first_plain(part, kind))
}
