//! Effect of catalog changes on the users of a server.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::schema_change::{Effect, schema_changes};

/// Severity of a change, from worst to harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Existing users may fail: an input accepts less, an output promises less, or it is gone.
    Breaking,
    /// Something is possible that was not, and nothing is lost.
    Additive,
    /// Only what people and models read is different.
    DescriptionOnly,
}

impl Class {
    /// The word in lists and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Additive => "additive",
            Self::DescriptionOnly => "description-only",
        }
    }
}

/// A change of what a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogChange {
    /// Its severity.
    pub class: Class,
    /// The changed item, e.g. "tool `echo`".
    pub subject: String,
    /// The change.
    pub what: String,
}

/// The lists of a catalog: the key, what an item is called, and what it is known by.
const LISTS: &[(&str, &str, &str)] = &[
    ("prompts", "prompt", "name"),
    ("resourceTemplates", "resource template", "uriTemplate"),
    ("resources", "resource", "uri"),
    ("tools", "tool", "name"),
];

/// A catalog as it is stored: the lists, each ordered by what its items are known by.
pub fn catalog_document(tools: &[Value], resources: &[Value], templates: &[Value], prompts: &[Value]) -> Value {
    let ordered = |items: &[Value], key: &str| {
        let mut items = items.to_vec();
        items.sort_by_cached_key(|item| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned());
        items
    };
    json!({
        "tools": ordered(tools, "name"),
        "resources": ordered(resources, "uri"),
        "resourceTemplates": ordered(templates, "uriTemplate"),
        "prompts": ordered(prompts, "name"),
    })
}

/// Everything that changed between two catalogs, the worst first.
pub fn catalog_changes(old: &Value, new: &Value) -> Vec<CatalogChange> {
    let mut changes = Changes(Vec::new());
    for (key, word, name) in LISTS {
        let (before, now) = (by_name(old, key, name), by_name(new, key, name));
        for (name, item) in &before {
            let subject = format!("{word} `{name}`");
            match now.get(name) {
                None => changes.add(Class::Breaking, &subject, "is gone"),
                Some(later) => changes.item(&subject, key, item, later),
            }
        }
        for name in now.keys().filter(|name| !before.contains_key(*name)) {
            changes.add(Class::Additive, &format!("{word} `{name}`"), "is new");
        }
    }
    changes.0.sort_by(|a, b| (a.class, &a.subject).cmp(&(b.class, &b.subject)));
    changes.0
}

struct Changes(Vec<CatalogChange>);

impl Changes {
    fn add(&mut self, class: Class, subject: &str, what: impl Into<String>) {
        self.0.push(CatalogChange { class, subject: subject.to_owned(), what: what.into() });
    }

    fn item(&mut self, subject: &str, list: &str, old: &Value, new: &Value) {
        for key in ["title", "description", "icons", "_meta"] {
            if old.get(key) != new.get(key) {
                self.add(Class::DescriptionOnly, subject, format!("`{key}` changed"));
            }
        }
        match list {
            "tools" => {
                self.schema(subject, "inputSchema", (old, new), Class::Breaking, Class::Additive);
                self.output(subject, old, new);
                self.hints(subject, old, new);
            }
            "prompts" => self.arguments(subject, old, new),
            _ => {
                if old.get("mimeType") != new.get("mimeType") {
                    let (before, now) = (shown(old.get("mimeType")), shown(new.get("mimeType")));
                    self.add(Class::Breaking, subject, format!("`mimeType` changed from {before} to {now}"));
                }
                for key in ["name", "annotations", "size"] {
                    if old.get(key) != new.get(key) {
                        self.add(Class::DescriptionOnly, subject, format!("`{key}` changed"));
                    }
                }
            }
        }
    }

    fn schema(&mut self, subject: &str, key: &str, (old, new): (&Value, &Value), narrows: Class, widens: Class) {
        let any = Value::Bool(true);
        let changes = schema_changes(old.get(key).unwrap_or(&any), new.get(key).unwrap_or(&any));
        for change in changes {
            let class = match change.effect {
                Effect::Narrows => narrows,
                Effect::Widens => widens,
                Effect::Replaces => Class::Breaking,
                Effect::Adds => Class::Additive,
                Effect::Words => Class::DescriptionOnly,
            };
            self.add(class, subject, format!("`{key}{}`: {}", change.pointer, change.what));
        }
    }

    fn output(&mut self, subject: &str, old: &Value, new: &Value) {
        match (old.get("outputSchema"), new.get("outputSchema")) {
            (None, Some(_)) => self.add(Class::Additive, subject, "`outputSchema` is new"),
            (Some(_), None) => self.add(Class::Breaking, subject, "`outputSchema` is gone"),
            (_, _) => self.schema(subject, "outputSchema", (old, new), Class::Additive, Class::Breaking),
        }
    }

    /// Hosts use hints to decide if they ask before a call.
    fn hints(&mut self, subject: &str, old: &Value, new: &Value) {
        let hint = |tool: &Value, name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).cloned();
        for (name, safe) in
            [("readOnlyHint", true), ("destructiveHint", false), ("idempotentHint", true), ("openWorldHint", false)]
        {
            let (before, now) = (hint(old, name), hint(new, name));
            if before == now {
                continue;
            }
            let is_lost = before == Some(Value::Bool(safe));
            let class = if is_lost { Class::Breaking } else { Class::DescriptionOnly };
            let (before, now) = (shown(before.as_ref()), shown(now.as_ref()));
            self.add(class, subject, format!("`{name}` changed from {before} to {now}"));
        }
    }

    fn arguments(&mut self, subject: &str, old: &Value, new: &Value) {
        let (before, now) = (by_name(old, "arguments", "name"), by_name(new, "arguments", "name"));
        let is_required = |argument: &Value| argument.get("required") == Some(&Value::Bool(true));
        for (name, argument) in &before {
            match now.get(name) {
                None => self.add(Class::Breaking, subject, format!("the argument `{name}` is gone")),
                Some(later) => {
                    match (is_required(argument), is_required(later)) {
                        (false, true) => self.add(Class::Breaking, subject, format!("`{name}` is required now")),
                        (true, false) => {
                            self.add(Class::Additive, subject, format!("`{name}` is not required any more"));
                        }
                        (_, _) => {}
                    }
                    if argument.get("description") != later.get("description") {
                        let what = format!("the description of `{name}` changed");
                        self.add(Class::DescriptionOnly, subject, what);
                    }
                }
            }
        }
        for (name, argument) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let class = if is_required(argument) { Class::Breaking } else { Class::Additive };
            let word = if is_required(argument) { "required argument" } else { "argument" };
            self.add(class, subject, format!("the {word} `{name}` is new"));
        }
    }
}

fn by_name<'c>(catalog: &'c Value, list: &str, name: &str) -> BTreeMap<&'c str, &'c Value> {
    let items = catalog.get(list).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| Some((item.get(name)?.as_str()?, item))).collect()
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(more: &Value) -> Value {
        let mut tool = json!({"name": "t"});
        if let (Some(tool), Some(more)) = (tool.as_object_mut(), more.as_object()) {
            tool.extend(more.clone());
        }
        json!({"tools": [tool]})
    }

    fn classes(old: &Value, new: &Value) -> Vec<Class> {
        catalog_changes(old, new).into_iter().map(|change| change.class).collect()
    }

    #[test]
    fn an_input_that_narrows_or_an_output_that_widens_breaks() {
        use Class::{Additive, Breaking, DescriptionOnly};
        let (narrow, wide) = (json!({"enum": ["a"]}), json!({"enum": ["a", "b"]}));
        for (old, new, wanted) in [
            (json!({"inputSchema": wide}), json!({"inputSchema": narrow}), Breaking),
            (json!({"inputSchema": narrow}), json!({"inputSchema": wide}), Additive),
            (json!({"outputSchema": wide}), json!({"outputSchema": narrow}), Additive),
            (json!({"outputSchema": narrow}), json!({"outputSchema": wide}), Breaking),
            (json!({"outputSchema": narrow}), json!({}), Breaking),
            (json!({}), json!({"outputSchema": narrow}), Additive),
            (json!({"description": "a"}), json!({"description": "b"}), DescriptionOnly),
            (json!({"annotations": {"readOnlyHint": true}}), json!({}), Breaking),
            (json!({}), json!({"annotations": {"readOnlyHint": true}}), DescriptionOnly),
            (
                json!({"inputSchema": {"properties": {"a": {"description": "x"}}}}),
                json!({"inputSchema": {"properties": {"a": {"description": "y"}}}}),
                DescriptionOnly,
            ),
        ] {
            assert_eq!(classes(&tool(&old), &tool(&new)), [wanted], "{old} → {new}");
        }
    }

    #[test]
    fn what_comes_and_goes_is_told_the_worst_first() {
        let old = json!({"tools": [{"name": "a"}], "prompts": [{"name": "p", "arguments": [{"name": "x"}]}]});
        let new = json!({
            "tools": [{"name": "b"}],
            "prompts": [{"name": "p", "arguments": [{"name": "x", "required": true}]}],
            "resources": [{"uri": "a://b"}],
        });
        let told: Vec<String> = catalog_changes(&old, &new)
            .into_iter()
            .map(|change| format!("{}: {} {}", change.class.word(), change.subject, change.what))
            .collect();
        assert_eq!(
            told,
            [
                "breaking: prompt `p` `x` is required now",
                "breaking: tool `a` is gone",
                "additive: resource `a://b` is new",
                "additive: tool `b` is new",
            ]
        );
    }
}
