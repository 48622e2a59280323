//! Arguments of calls in sequences: plain words and small numbers, so that a server has no reason to refuse or change
//! them, from small sets, so that calls meet.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::generate::{Dice, Oracle, Places, hash};
use crate::harm::{HarmGuard, argument_schema};

use super::batch::Batch;
use super::key;
use super::model::SequenceModel;
use super::role::{Role, SequenceTool};
use super::step::Bind;
use super::world::{Life, Thing, World};

/// Words that are written.
const WORDS: &[&str] = &["alpha", "beta", "gamma", "delta"];

/// Keys of our own: some begin with another, some differ in case alone, none is a word of a sentence.
const KEYS: &[&str] = &["kiwi", "kiw", "Kiwi", "plum", "kiwis"];

/// Calls with two things in their list, in percent.
const TWO: usize = 35;

/// Inputs made for each tool.
const BASES: u64 = 3;

/// The surroundings of a server, as far as arguments depend on them.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Paths that inputs may name.
    pub places: Option<Places>,
    /// Guards for the inputs of the tools of the model, in their order.
    pub guards: Vec<HarmGuard>,
    /// Arguments that the user gave for the tools of the model, in their order.
    pub given: Vec<Vec<Value>>,
}

/// Inputs of one tool, ready to be varied.
#[derive(Debug)]
pub(super) struct Inputs {
    bases: Vec<Value>,
    oracle: Option<Oracle>,
    folder: Option<String>,
    guard: HarmGuard,
    given: Vec<Value>,
}

/// The key that a call is to name.
#[derive(Clone, Debug)]
pub(super) enum KeyChoice {
    /// Any that fits.
    Any,
    /// That of this thing.
    Thing(usize, String),
    /// One that never existed.
    Missing(u64),
}

/// Arguments, and the places in them that earlier replies fill.
pub(super) type Made = (Value, Vec<Bind>);

impl Inputs {
    pub(super) fn new(tool: &SequenceTool, at: usize, seed: u64, around: &Surroundings) -> Self {
        let guard = around.guards.get(at).cloned().unwrap_or_else(HarmGuard::off);
        let given = around.given.get(at).cloned().unwrap_or_default();
        let mut bases = given.clone();
        let listed = tool.batch.as_ref().map_or_else(|| tool.listed.clone(), |batch| batch.listed(&tool.listed));
        for number in 0..BASES {
            let seed = hash(seed, &number.to_le_bytes());
            let small = guard.input(&listed, seed, around.places.as_ref());
            let full = guard.fuller_input(&listed, seed, around.places.as_ref());
            bases.extend(small.into_iter().chain(full));
        }
        bases.dedup();
        Self {
            bases,
            oracle: Oracle::new(&argument_schema(&tool.listed)).ok(),
            folder: around.places.as_ref().map(|places| places.folder.clone()),
            guard,
            given,
        }
    }

    /// True if no valid input could be made.
    pub(super) fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    fn accepts(&self, args: &Value) -> bool {
        self.oracle.as_ref().is_none_or(|oracle| oracle.accepts(args)) && self.guard.allows(args)
    }

    /// Arguments for a call.
    pub(super) fn make(
        &self,
        tool: &SequenceTool,
        choice: &KeyChoice,
        context: &Context<'_>,
        dice: &mut Dice,
    ) -> Option<Made> {
        let whole = dice.pick(&self.bases)?;
        // Arguments that the user gave are sent as they are, now and then.
        if !self.given.is_empty() && matches!(choice, KeyChoice::Any) && dice.chance(30) {
            return Some((dice.pick(&self.given)?.clone(), Vec::new()));
        }
        let one = self.make_one(tool, whole, choice, context, dice)?;
        Some(match &tool.batch {
            Some(batch) => self.several(batch, tool, (whole, choice), one, context, dice),
            None => one,
        })
    }

    /// Arguments with one thing in their list, or two.
    fn several(
        &self,
        batch: &Batch,
        tool: &SequenceTool,
        (whole, choice): (&Value, &KeyChoice),
        (first, mut binds): Made,
        context: &Context<'_>,
        dice: &mut Dice,
    ) -> Made {
        let is_writing = matches!(tool.role, Role::Create | Role::Set | Role::Delete);
        let is_two = is_writing && !matches!(choice, KeyChoice::Missing(_)) && dice.chance(TWO);
        let second =
            if is_two { self.make_one(tool, whole, &context.other(tool, choice, dice), context, dice) } else { None };
        let key = |args: &Value| tool.parts(args).first().and_then(|part| key::part_key(tool, part));
        let second = second.filter(|(args, _)| key(args).is_none() || key(args) != key(&first));
        let Some((second, more)) = second else { return (first, binds) };
        let parts: Vec<Value> =
            [&first, &second].into_iter().flat_map(|args| tool.parts(args)).map(Cow::into_owned).collect();
        let both = batch.whole(parts);
        if !self.accepts(&both) {
            return (first, binds);
        }
        binds.extend(more.into_iter().map(|bind| Bind { at: batch.second(&bind.at), ..bind }));
        (both, binds)
    }

    /// Arguments for a call about one thing.
    fn make_one(
        &self,
        tool: &SequenceTool,
        whole: &Value,
        choice: &KeyChoice,
        context: &Context<'_>,
        dice: &mut Dice,
    ) -> Option<Made> {
        let mut base = tool.parts(whole).into_iter().next()?.into_owned();
        // What is read back is read whole.
        if let (Role::Read, KeyChoice::Thing(..), Value::Object(map)) = (tool.role, choice, &mut base) {
            map.retain(|name, _| tool.required.contains(name) || Some(name) == tool.key.as_ref());
        }
        let mut args = base.clone();
        let mut binds = Vec::new();
        let names: Vec<String> = args.as_object()?.keys().cloned().collect();
        for name in names {
            let is_required = tool.required.contains(&name);
            if !is_required && Some(&name) != tool.key.as_ref() && dice.chance(40) {
                args.as_object_mut()?.shift_remove(&name);
                continue;
            }
            if Some(&name) == tool.key.as_ref() {
                continue;
            }
            if let Some(value) = self.varied(tool, &name, args.get(&name)?, context, dice, &mut binds) {
                args[&name] = value;
            }
        }
        // What is narrowed or sorted is asked for on purpose only.
        for name in [&tool.limit, &tool.offset, &tool.cursor, &tool.sort].into_iter().flatten() {
            if matches!(tool.role, Role::List | Role::Search) && !tool.required.contains(name) {
                args.as_object_mut()?.shift_remove(name);
            }
        }
        if !self.accepts(&tool.whole(args.clone())) {
            args = base;
            binds.clear();
        }
        self.choose_key(tool, choice, context, dice, (args, binds))
    }

    /// A plain value like the one that was made; `None` to leave it.
    fn varied(
        &self,
        tool: &SequenceTool,
        name: &str,
        made: &Value,
        context: &Context<'_>,
        dice: &mut Dice,
        binds: &mut Vec<Bind>,
    ) -> Option<Value> {
        let own = tool.schema.get("properties").and_then(|all| all.get(name)).cloned().unwrap_or_default();
        if let Some((known, thing)) = context.referred(tool, name, dice) {
            if let Some((step, path)) = &thing.origin {
                binds.push(Bind { at: tool.place(name), step: *step, path: path.clone() });
            }
            return Some(as_type(&thing.key, &known, made));
        }
        if let Some(options) = own.get("enum").and_then(Value::as_array) {
            return dice.pick(options).cloned();
        }
        let is_said = ["const", "pattern", "format", "default", "examples"].iter().any(|key| own.get(key).is_some());
        match made {
            Value::String(text) if is_path(text, self.folder.as_deref()) => None,
            Value::String(_) if !is_said => {
                let is_fresh = dice.chance(50);
                let word = if is_fresh { format!("word{}", context.number) } else { (*dice.pick(WORDS)?).to_owned() };
                Some(Value::from(word))
            }
            Value::Number(number) if !is_said && number.is_i64() | number.is_u64() => Some(json!(1 + dice.below(4))),
            Value::Bool(_) => Some(Value::Bool(dice.chance(50))),
            Value::Null | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn choose_key(
        &self,
        tool: &SequenceTool,
        choice: &KeyChoice,
        context: &Context<'_>,
        dice: &mut Dice,
        (mut args, mut binds): Made,
    ) -> Option<Made> {
        let Some(name) = &tool.key else { return Some((tool.whole(args), binds)) };
        let at = format!("/{}", key::escaped(name));
        let old = args.get(name).cloned().unwrap_or_else(|| own_type(tool, name));
        let value = match choice {
            KeyChoice::Thing(family, key) => {
                let thing = context.world.things.get(&(*family, key.clone()))?;
                if let Some((step, path)) = &thing.origin {
                    binds.push(Bind { at: tool.place(name), step: *step, path: path.clone() });
                }
                as_type(&thing.key, key, &old)
            }
            KeyChoice::Missing(number) => match &old {
                Value::Number(_) => json!(990_000 + number),
                Value::String(text) if is_path(text, self.folder.as_deref()) => {
                    Value::from(format!("{}/missing-{number}.txt", self.folder.as_deref().unwrap_or("/nonexistent")))
                }
                _ => Value::from(format!("missing-{number}")),
            },
            KeyChoice::Any => {
                let is_said = tool.schema.pointer(&format!("/properties{at}/enum")).is_some();
                match (&old, dice.pick(KEYS)) {
                    (Value::String(text), Some(word)) if is_path(text, self.folder.as_deref()) => {
                        Value::from(format!("{}/{word}.txt", self.folder.as_deref().unwrap_or("/nonexistent")))
                    }
                    (Value::String(_), Some(word)) if !is_said => Value::from(*word),
                    (Value::Number(_), _) if !is_said => json!(1 + dice.below(5)),
                    (old, _) => old.clone(),
                }
            }
        };
        let plain = args.clone();
        args[name] = value;
        let args = tool.whole(args);
        if self.accepts(&args) {
            return Some((args, binds));
        }
        // A key that the schema does not allow is not sent; one of the schema's own may do.
        matches!(choice, KeyChoice::Any).then(|| (tool.whole(plain), Vec::new()))
    }

    /// Arguments with something wrong in them: at the end of a list, in a field, or in a key.
    pub(super) fn spoilt(tool: &SequenceTool, (mut args, mut binds): Made, dice: &mut Dice) -> Option<Made> {
        let map = args.as_object_mut()?;
        let lists: Vec<String> = map
            .iter()
            .filter(|(_, value)| value.as_array().is_some_and(|items| !items.is_empty()))
            .map(|(name, _)| name.clone())
            .collect();
        if let Some(name) = dice.pick(&lists) {
            let items = map.get_mut(name)?.as_array_mut()?;
            let mut broken = items.last()?.clone();
            match &mut broken {
                Value::Object(inner) => {
                    let first = inner.keys().next().cloned();
                    first.map(|first| inner.insert(first, json!({"wrong": true})));
                }
                other => *other = json!({"wrong": true}),
            }
            items.push(broken);
            return Some((args, binds));
        }
        let own: Vec<String> = map.keys().filter(|name| Some(*name) != tool.key.as_ref()).cloned().collect();
        let name = dice.pick(&own)?;
        let wrong = match map.get(name)? {
            Value::String(_) if dice.chance(50) => json!(""),
            Value::String(_) => json!(7),
            Value::Number(_) if dice.chance(60) => json!(-1_000_000),
            _ => json!("wrong"),
        };
        map.insert(name.clone(), wrong);
        binds.retain(|bind| bind.at != format!("/{name}"));
        Some((args, binds))
    }
}

/// The things that arguments may name.
pub(super) struct Context<'c> {
    pub(super) model: &'c SequenceModel,
    pub(super) world: &'c World,
    /// The number of the call, for words that were not used before.
    pub(super) number: u32,
}

impl Context<'_> {
    /// The key of a second thing in the same call.
    fn other(&self, tool: &SequenceTool, choice: &KeyChoice, dice: &mut Dice) -> KeyChoice {
        let KeyChoice::Thing(family, key) = choice else { return KeyChoice::Any };
        let others: Vec<&String> =
            self.world.in_state(*family, Life::Live).map(|(other, _)| other).filter(|other| *other != key).collect();
        match dice.pick(&others) {
            Some(other) => KeyChoice::Thing(*family, (*other).clone()),
            None if tool.role == Role::Delete => choice.clone(),
            None => KeyChoice::Any,
        }
    }

    /// A thing of another kind that an argument names: `project_id` is the key of a project.
    fn referred(&self, tool: &SequenceTool, name: &str, dice: &mut Dice) -> Option<(String, &Thing)> {
        let plain = name.replace(['_', '-'], "").to_lowercase();
        let family = self.model.families.iter().position(|family| {
            let noun = family.noun.replace('_', "");
            !noun.is_empty()
                && family.noun != tool.noun
                && ["id", "key", "name", "uuid", ""].iter().any(|end| plain == format!("{noun}{end}"))
        })?;
        let live: Vec<(&String, &Thing)> = self.world.in_state(family, Life::Live).collect();
        let (key, thing) = dice.pick(&live)?;
        Some(((*key).clone(), thing))
    }
}

/// A key in the type that an argument has.
fn as_type(key: &Value, text: &str, old: &Value) -> Value {
    match (key, old) {
        (Value::Number(_), Value::String(_)) => Value::from(text),
        (Value::String(text), Value::Number(_)) => text.parse::<i64>().map_or_else(|_| key.clone(), Value::from),
        (_, _) => key.clone(),
    }
}

fn own_type(tool: &SequenceTool, name: &str) -> Value {
    match tool.schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str) {
        Some("integer" | "number") => json!(1),
        Some(_) | None => json!("a"),
    }
}

fn is_path(text: &str, folder: Option<&str>) -> bool {
    text.starts_with('/') || folder.is_some_and(|folder| text.starts_with(folder))
}

/// The text of a field by which a search should find a thing.
pub(super) fn telling_text(thing: &Thing) -> Option<&str> {
    let texts = thing.fields.values().filter_map(Value::as_str).filter(|text| text.len() >= 3);
    texts.max_by_key(|text| text.starts_with("word"))
}
