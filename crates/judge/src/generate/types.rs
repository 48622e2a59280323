//! Sets of JSON types.

use serde_json::{Map, Value};

use super::decimal;

/// A set of JSON types; whole numbers and numbers with a fraction are distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const BOOLEAN: Self = Self(2);
    pub(crate) const WHOLE: Self = Self(4);
    pub(crate) const FRACTION: Self = Self(8);
    pub(crate) const NUMBER: Self = Self(4 | 8);
    pub(crate) const TEXT: Self = Self(16);
    pub(crate) const LIST: Self = Self(32);
    pub(crate) const RECORD: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    /// The types that a `type` keyword names; unknown names are left out.
    pub(crate) fn named(keyword: &Value) -> Self {
        match keyword {
            Value::String(name) => Self::of_name(name),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).fold(Self::NONE, |types, name| types.or(Self::of_name(name)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Self::ALL,
        }
    }

    /// The type of a value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if decimal::is_whole(number) => Self::WHOLE,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::TEXT,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::RECORD,
        }
    }

    /// The types that the keywords of a schema speak of.
    pub(crate) fn spoken_of(schema: &Map<String, Value>) -> Self {
        let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
        let mut types = Self::NONE;
        if has(&[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "propertyNames",
        ]) {
            types = types.or(Self::RECORD);
        }
        if has(&["items", "prefixItems", "minItems", "contains", "uniqueItems"]) {
            types = types.or(Self::LIST);
        }
        if has(&["pattern", "format", "minLength", "maxLength"]) {
            types = types.or(Self::TEXT);
        }
        if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            types = types.or(Self::NUMBER);
        }
        types
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn of_name(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::WHOLE,
            "number" => Self::NUMBER,
            "string" => Self::TEXT,
            "array" => Self::LIST,
            "object" => Self::RECORD,
            _ => Self::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_are_numbers_without_a_fraction() {
        assert!(Types::named(&json!("number")).has(Types::of(&json!(1))));
        assert!(Types::named(&json!("integer")).has(Types::of(&json!(1.0))));
        assert!(!Types::named(&json!(["integer", "null"])).has(Types::of(&json!(1.5))));
        assert!(Types::named(&json!("strnig")).is_empty());
        assert_eq!(Types::ALL.without(Types::NUMBER).and(Types::NUMBER), Types::NONE);
    }
}
