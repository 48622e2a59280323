//! Random schemas and values for tests: any schema at all, and schemas that are known to be satisfiable.

use serde_json::{Map, Value, json};

use super::format;
use super::oracle::Oracle;
use super::seeded_random::Dice;

const NAMES: [&str; 6] = ["a", "b", "id", "path", "kind", "x-y"];
const PATTERNS: [&str; 10] =
    ["^[a-z]+$", "[0-9]", "^.{2,}$", "^a", "e$", r"^\w+$", r"^\S*$", "^(a|b|example)", "^[^0-9]*$", "o|e|[A-Z]"];
const TEXTS: [&str; 12] =
    ["", "a", "ab", "example", "Zoë", "42", "a1", "A-9", "hello world", "e", "value", "longer text of several words"];

/// Any schema, satisfiable or not.
pub(crate) fn random_schema(seed: u64) -> Value {
    let mut dice = Dice::new(seed);
    let mut schema = any_schema(&mut dice, 3);
    if let Value::Object(map) = &mut schema {
        let defs: Map<String, Value> = (0..3).map(|number| (format!("d{number}"), any_schema(&mut dice, 2))).collect();
        map.insert("$defs".to_owned(), Value::Object(defs));
    } else {
        schema = json!({"allOf": [schema], "$defs": {"d0": {}, "d1": {"type": "string"}, "d2": {"type": "integer"}}});
    }
    schema
}

/// Any value, of the kind that the schemas speak of.
pub(crate) fn random_value(seed: u64) -> Value {
    any_value(&mut Dice::new(seed), 3)
}

/// A schema built around a value that it accepts.
pub(crate) fn satisfiable_schema(seed: u64) -> (Value, Value) {
    let mut dice = Dice::new(seed);
    let value = any_value(&mut dice, 3);
    let mut sketcher = Sketcher { dice, definitions: Map::new() };
    let mut schema = sketcher.around(&value, 3);
    if !schema.is_object() {
        schema = json!({"allOf": [schema]});
    }
    if let Value::Object(map) = &mut schema {
        map.insert("$defs".to_owned(), Value::Object(sketcher.definitions));
    }
    (schema, value)
}

fn any_value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 10 }) {
        0 => Value::Null,
        1 => json!(dice.chance(50)),
        2 => json!(small(dice) - 10),
        3 => json!(f64::from(u32::try_from(dice.below(400)).unwrap_or(0)) / 4.0 - 20.0),
        4 | 5 => json!(TEXTS[dice.below(TEXTS.len())]),
        6 | 7 => Value::Array((0..dice.below(4)).map(|_| any_value(dice, depth - 1)).collect()),
        _ => {
            let names: Vec<&str> = (0..dice.below(4)).map(|_| NAMES[dice.below(NAMES.len())]).collect();
            Value::Object(names.into_iter().map(|name| (name.to_owned(), any_value(dice, depth - 1))).collect())
        }
    }
}

fn any_schema(dice: &mut Dice, depth: usize) -> Value {
    if dice.chance(4) {
        return Value::Bool(dice.chance(70));
    }
    let mut map = Map::new();
    for _ in 0..=dice.below(3) {
        let (keyword, value) = any_keyword(dice, depth);
        map.insert(keyword.to_owned(), value);
    }
    Value::Object(map)
}

fn any_keyword(dice: &mut Dice, depth: usize) -> (&'static str, Value) {
    const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let deeper = depth.saturating_sub(1);
    let schemas = |dice: &mut Dice, most: usize| -> Value {
        (0..=dice.below(most)).map(|_| any_schema(dice, deeper)).collect::<Vec<_>>().into()
    };
    match dice.below(if depth == 0 { 16 } else { 32 }) {
        0..=4 => ("type", json!(TYPES[dice.below(7)])),
        5 => ("type", json!([TYPES[dice.below(7)], "null"])).tidy(),
        6 => ("enum", (0..=dice.below(3)).map(|_| any_value(dice, 1)).collect::<Vec<_>>().into()),
        7 => ("const", any_value(dice, 1)),
        8 => ("minimum", json!(small(dice) - 10)),
        9 => ("maximum", json!(small(dice))),
        10 => ("exclusiveMinimum", json!(small(dice) - 5)),
        11 => ("multipleOf", [json!(2), json!(3), json!(0.5), json!(0.1), json!(7)][dice.below(5)].clone()),
        12 => ("minLength", json!(dice.below(12))),
        13 => ("maxLength", json!(dice.below(12))),
        14 => ("pattern", json!(PATTERNS[dice.below(PATTERNS.len())])),
        15 => ("$ref", json!(["#/$defs/d0", "#/$defs/d1", "#/$defs/d2", "#"][dice.below(4)])),
        16 => ("minItems", json!(dice.below(4))),
        17 => ("maxItems", json!(dice.below(4))),
        18 => ("uniqueItems", json!(dice.chance(70))),
        19 => ("items", any_schema(dice, deeper)),
        20 => ("prefixItems", schemas(dice, 2)),
        21 => ("contains", any_schema(dice, deeper)),
        22 => ("properties", named_schemas(dice, deeper)),
        23 => ("required", some_names(dice)),
        24 => ("additionalProperties", any_schema(dice, deeper)),
        25 => ("patternProperties", json!({PATTERNS[dice.below(4)]: any_schema(dice, deeper)})),
        26 => ("minProperties", json!(dice.below(4))),
        27 => ("anyOf", schemas(dice, 3)),
        28 => ("oneOf", schemas(dice, 3)),
        29 => ("allOf", schemas(dice, 2)),
        30 => ("not", any_schema(dice, deeper)),
        _ => match dice.below(5) {
            0 => ("if", any_schema(dice, deeper)),
            1 => ("then", any_schema(dice, deeper)),
            2 => ("propertyNames", any_schema(dice, 0)),
            3 => ("dependentRequired", json!({NAMES[dice.below(6)]: [NAMES[dice.below(6)]]})),
            _ => ("dependentSchemas", json!({NAMES[dice.below(6)]: any_schema(dice, deeper)})),
        },
    }
}

trait Tidy {
    fn tidy(self) -> Self;
}

impl Tidy for (&'static str, Value) {
    /// A list of types may not name one twice.
    fn tidy(mut self) -> Self {
        if let Value::Array(items) = &mut self.1 {
            items.dedup();
        }
        self
    }
}

fn named_schemas(dice: &mut Dice, depth: usize) -> Value {
    let count = 1 + dice.below(3);
    Value::Object((0..count).map(|_| (NAMES[dice.below(6)].to_owned(), any_schema(dice, depth))).collect())
}

fn some_names(dice: &mut Dice) -> Value {
    let mut names: Vec<&str> = (0..=dice.below(2)).map(|_| NAMES[dice.below(6)]).collect();
    names.sort_unstable();
    names.dedup();
    json!(names)
}

fn small(dice: &mut Dice) -> i64 {
    i64::try_from(dice.below(30)).unwrap_or(0)
}

/// Builds schemas around values.
struct Sketcher {
    dice: Dice,
    definitions: Map<String, Value>,
}

impl Sketcher {
    fn around(&mut self, value: &Value, depth: usize) -> Value {
        let mut schema = self.keywords_around(value, depth);
        if depth == 0 {
            return schema;
        }
        if self.dice.chance(50) {
            self.combine(&mut schema, value, depth - 1);
        }
        if self.dice.chance(15) {
            let name = format!("s{}", self.definitions.len());
            self.definitions.insert(name.clone(), schema);
            schema = json!({"$ref": format!("#/$defs/{name}")});
        }
        schema
    }

    fn combine(&mut self, schema: &mut Value, value: &Value, depth: usize) {
        match self.dice.below(6) {
            0 => schema["allOf"] = json!([self.around(value, depth), self.around(value, depth)]),
            1 => {
                let mut branches = vec![any_schema(&mut self.dice, depth), self.around(value, depth)];
                let turn = self.dice.below(2);
                branches.rotate_left(turn);
                schema["anyOf"] = json!(branches);
            }
            2 => {
                let own = self.around(value, depth);
                let others = (0..2).map(|_| any_schema(&mut self.dice, depth)).filter(|other| refuses(other, value));
                schema["oneOf"] = others.chain([own]).collect::<Vec<_>>().into();
            }
            3 => {
                let other = any_schema(&mut self.dice, depth);
                if refuses(&other, value) {
                    schema["not"] = other;
                }
            }
            4 => {
                let condition = any_schema(&mut self.dice, depth);
                if usable(&condition) {
                    let consequence = if refuses(&condition, value) { ["else", "then"] } else { ["then", "else"] };
                    schema["if"] = condition;
                    schema[consequence[0]] = self.around(value, depth);
                    if self.dice.chance(50) {
                        schema[consequence[1]] = any_schema(&mut self.dice, depth);
                    }
                }
            }
            _ => {
                if self.dice.chance(50) {
                    schema["enum"] = json!([any_value(&mut self.dice, 1), value]);
                    if schema["enum"][0] == schema["enum"][1] {
                        schema["enum"] = json!([value]);
                    }
                }
            }
        }
        if let Value::Object(map) = schema {
            // Branches of other seeds may refer to definitions that are not there.
            let text = Value::Object(map.clone()).to_string();
            if text.contains("#/$defs/d") || text.contains("\"#\"") {
                for keyword in ["anyOf", "oneOf", "not", "if", "then", "else"] {
                    map.remove(keyword);
                }
            }
        }
    }

    fn keywords_around(&mut self, value: &Value, depth: usize) -> Value {
        let mut map = Map::new();
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_i64() => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        if self.dice.chance(85) {
            map.insert("type".into(), if self.dice.chance(80) { json!(kind) } else { types_with_null(kind) });
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) => self.around_number(&mut map, value.as_f64().unwrap_or(0.0)),
            Value::String(text) => self.around_text(&mut map, text),
            Value::Array(items) => self.around_list(&mut map, items, depth),
            Value::Object(properties) => self.around_record(&mut map, properties, depth),
        }
        Value::Object(map)
    }

    fn around_number(&mut self, map: &mut Map<String, Value>, number: f64) {
        let room = f64::from(u8::try_from(self.dice.below(6)).unwrap_or(0)) / 2.0;
        if self.dice.chance(50) {
            map.insert("minimum".into(), json!(number - room));
        }
        if self.dice.chance(50) {
            map.insert("maximum".into(), json!(number + room));
        }
        if self.dice.chance(30) {
            map.insert("exclusiveMaximum".into(), json!(number + room + 0.25));
        }
        let step = [1.0, 2.0, 0.25, 0.5, 3.0][self.dice.below(5)];
        if number % step == 0.0 && self.dice.chance(40) {
            map.insert("multipleOf".into(), json!(step));
        }
    }

    fn around_text(&mut self, map: &mut Map<String, Value>, text: &str) {
        let length = text.chars().count();
        let pattern = PATTERNS[self.dice.below(PATTERNS.len())];
        if self.dice.chance(40) && !refuses(&json!({"pattern": pattern}), &json!(text)) {
            map.insert("pattern".into(), json!(pattern));
        }
        if self.dice.chance(40) {
            map.insert("minLength".into(), json!(length.saturating_sub(self.dice.below(3))));
        }
        if self.dice.chance(40) {
            map.insert("maxLength".into(), json!(length + self.dice.below(3)));
        }
    }

    fn around_list(&mut self, map: &mut Map<String, Value>, items: &[Value], depth: usize) {
        let depth = depth.saturating_sub(1);
        if self.dice.chance(40) {
            map.insert("minItems".into(), json!(items.len().saturating_sub(self.dice.below(2))));
        }
        if self.dice.chance(40) {
            map.insert("maxItems".into(), json!(items.len() + self.dice.below(2)));
        }
        if self.dice.chance(40) && !refuses(&json!({"uniqueItems": true}), &json!(items)) {
            map.insert("uniqueItems".into(), json!(true));
        }
        let Some(one) = items.first() else { return };
        match self.dice.below(3) {
            0 => {
                let prefix: Vec<Value> = items.iter().map(|item| self.around(item, depth)).collect();
                map.insert("prefixItems".into(), json!(prefix));
                if self.dice.chance(50) {
                    map.insert("items".into(), json!(false));
                }
            }
            1 => {
                let branches: Vec<Value> = items.iter().map(|item| self.around(item, depth)).collect();
                map.insert("items".into(), json!({"anyOf": branches}));
            }
            _ => {
                let contained = self.around(one, depth);
                if !refuses(&json!({"contains": contained.clone(), "maxContains": 1}), &json!(items)) {
                    map.insert("maxContains".into(), json!(1));
                }
                map.insert("contains".into(), contained);
            }
        }
    }

    fn around_record(&mut self, map: &mut Map<String, Value>, properties: &Map<String, Value>, depth: usize) {
        let depth = depth.saturating_sub(1);
        let mut named = Map::new();
        let mut required = Vec::new();
        for (name, value) in properties {
            if self.dice.chance(80) {
                named.insert(name.clone(), self.around(value, depth));
            }
            if self.dice.chance(60) {
                required.push(name.clone());
            }
        }
        for name in NAMES {
            if !properties.contains_key(name) && self.dice.chance(20) {
                named.insert(name.to_owned(), any_value_schema(&mut self.dice));
            }
        }
        if self.dice.chance(30) && properties.keys().all(|name| named.contains_key(name)) {
            map.insert("additionalProperties".into(), json!(false));
        }
        if self.dice.chance(20) {
            map.insert("minProperties".into(), json!(properties.len()));
        }
        if self.dice.chance(20) {
            map.insert("maxProperties".into(), json!(properties.len()));
        }
        if self.dice.chance(20) {
            map.insert("propertyNames".into(), json!({"maxLength": 4}));
        }
        if self.dice.chance(20)
            && let Some(name) = properties.keys().next()
        {
            map.insert("dependentRequired".into(), json!({NAMES[self.dice.below(6)]: [name]}));
        }
        map.insert("properties".into(), Value::Object(named));
        map.insert("required".into(), json!(required));
    }
}

fn any_value_schema(dice: &mut Dice) -> Value {
    match dice.below(3) {
        0 => json!({"type": "string", "format": "date", "default": format::texts("date").expect("known")[0]}),
        1 => json!({"type": "integer"}),
        _ => json!({"type": "array", "items": {"type": "string"}}),
    }
}

fn types_with_null(kind: &str) -> Value {
    if kind == "null" { json!(["null", "string"]) } else { json!([kind, "null"]) }
}

fn usable(schema: &Value) -> bool {
    Oracle::new(schema).is_ok()
}

fn refuses(schema: &Value, value: &Value) -> bool {
    Oracle::new(schema).is_ok_and(|oracle| !oracle.accepts(value))
}
