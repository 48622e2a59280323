//! The ways to make one value simpler, in the order in which they are tried.

use serde_json::{Map, Number, Value};

/// A key longer than this is shortened: it is not the name of a property that someone chose.
const LONG_KEY: usize = 24;

/// The most characters that are left out anywhere at once.
const WINDOW: usize = 3;

/// The longest text in which they are.
const WINDOWED: usize = 40;

/// The search for simpler forms of one value; the result of each form is fed back.
#[derive(Debug)]
pub(crate) struct Simpler {
    stages: Vec<Stage>,
}

/// One way to make a value simpler, and how far it has got.
#[derive(Debug)]
enum Stage {
    /// Leave out parts: keys, items, characters.
    Drop(Parts),
    /// Leave out a few characters anywhere: `../` goes as a whole or not at all.
    Window { size: usize, start: usize },
    /// Put an inner value in the place of the outer one, this many levels down.
    Lift { levels: usize },
    /// Put plain letters in the place of odd ones.
    Plain(Parts),
    /// Put a letter that people know in the place of all that are left from beyond ASCII.
    Familiar { tried: bool },
    /// Shorten keys.
    Keys { next: usize },
    /// Try these values.
    Try(Vec<Value>),
    /// Go towards zero by halving; `low` is known not to do.
    Halve { low: i128, middle: i128 },
    /// Go towards one by halving the exponent of a large float; `low` is known not to do.
    Exponent { low: i32, middle: i32 },
}

/// A part of a sequence, moving along and getting smaller.
#[derive(Debug)]
struct Parts {
    size: usize,
    start: usize,
}

impl Simpler {
    /// The ways for a value; the top of an input stays what it is.
    pub(crate) fn of(value: &Value, top: bool) -> Self {
        let mut stages = match value {
            Value::Null | Value::Bool(false) => Vec::new(),
            Value::Bool(true) => vec![Stage::Try(vec![Value::Bool(false)])],
            Value::Number(number) => of_number(number),
            Value::String(text) => {
                let length = text.chars().count();
                vec![
                    Stage::Drop(Parts::of(length)),
                    Stage::Window { size: WINDOW, start: 0 },
                    Stage::Plain(Parts::of(length)),
                    Stage::Familiar { tried: false },
                ]
            }
            Value::Array(items) => {
                vec![Stage::Drop(Parts::of(items.len())), Stage::Lift { levels: height(value) / 2 }]
            }
            Value::Object(map) => vec![
                Stage::Drop(Parts::of(map.len())),
                Stage::Lift { levels: height(value) / 2 },
                Stage::Keys { next: 0 },
            ],
        };
        if top {
            stages.retain(|stage| !matches!(stage, Stage::Lift { .. }));
        }
        stages.reverse();
        Self { stages }
    }

    /// The next simpler form; none when all were tried.
    pub(crate) fn next(&mut self, value: &Value) -> Option<Value> {
        while let Some(stage) = self.stages.last_mut() {
            if let Some(simpler) = stage.next(value) {
                return Some(simpler);
            }
            self.stages.pop();
        }
        None
    }

    /// Takes the result of the last form.
    pub(crate) fn heard(&mut self, did: bool) {
        if let Some(stage) = self.stages.last_mut() {
            stage.heard(did);
        }
    }
}

impl Stage {
    fn next(&mut self, value: &Value) -> Option<Value> {
        match self {
            Self::Drop(parts) => dropped(value, parts),
            Self::Window { size, start } => without_window(value.as_str()?, size, start),
            Self::Lift { levels } => {
                *levels = (*levels).min(height(value).saturating_sub(1));
                if *levels == 0 { None } else { inner(value, *levels).cloned() }
            }
            Self::Plain(parts) => plainer(value, parts),
            Self::Familiar { tried } => {
                let familiar = |letter: char| if letter.is_ascii() { letter } else { 'é' };
                let text: String = value.as_str()?.chars().map(familiar).collect();
                (!*tried && Some(text.as_str()) != value.as_str()).then(|| text.into())
            }
            Self::Keys { next } => shorter_key(value, next),
            Self::Try(values) => {
                while !is_simpler(values.last()?, value) {
                    values.pop();
                }
                values.last().cloned()
            }
            Self::Halve { low, middle } => {
                let high = value.as_i64()?;
                let half = (i128::from(high) - *low) / 2;
                *middle = *low + half;
                if half == 0 { None } else { Some(Value::from(i64::try_from(*middle).ok()?)) }
            }
            Self::Exponent { low, middle } => {
                let high = exponent(value.as_f64()?);
                *middle = i32::midpoint(*low, high);
                let candidate = Value::from(format!("1e{middle}").parse::<f64>().ok()?);
                (*middle > *low && *middle < high || candidate != *value && *middle == high).then_some(candidate)
            }
        }
    }

    fn heard(&mut self, did: bool) {
        match self {
            // What follows has moved to where the part was.
            Self::Drop(parts) => parts.start += if did { 0 } else { parts.size },
            Self::Window { start, .. } => *start += usize::from(!did),
            Self::Plain(parts) => parts.start += parts.size,
            Self::Lift { levels } => *levels = if did { *levels } else { *levels / 2 },
            Self::Familiar { tried } => *tried = true,
            Self::Keys { next } => *next += 1,
            Self::Try(values) => {
                values.pop();
                if did {
                    values.clear();
                }
            }
            Self::Halve { low, middle } => *low = if did { *low } else { *middle },
            Self::Exponent { low, middle } => *low = if did { *low } else { *middle },
        }
    }
}

impl Parts {
    fn of(length: usize) -> Self {
        Self { size: length, start: 0 }
    }

    /// The part to look at in a sequence of this length; none when the parts cannot get smaller than `smallest`.
    fn range(&mut self, length: usize, smallest: usize) -> Option<std::ops::Range<usize>> {
        self.size = self.size.min(length);
        if self.start >= length {
            self.size /= 2;
            self.start = 0;
        }
        if self.size < smallest.max(1) || length == 0 {
            return None;
        }
        Some(self.start..(self.start + self.size).min(length))
    }
}

fn dropped(value: &Value, parts: &mut Parts) -> Option<Value> {
    match value {
        Value::Object(map) => {
            let gone = parts.range(map.len(), 1)?;
            let left = map.iter().enumerate().filter(|(index, _)| !gone.contains(index));
            Some(Value::Object(left.map(|(_, (key, value))| (key.clone(), value.clone())).collect()))
        }
        Value::Array(items) => {
            let gone = parts.range(items.len(), 1)?;
            Some(items[..gone.start].iter().chain(&items[gone.end..]).cloned().collect())
        }
        Value::String(text) => {
            let letters: Vec<char> = text.chars().collect();
            let gone = parts.range(letters.len(), 1)?;
            Some(letters[..gone.start].iter().chain(&letters[gone.end..]).collect::<String>().into())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn without_window(text: &str, size: &mut usize, start: &mut usize) -> Option<Value> {
    let letters: Vec<char> = text.chars().collect();
    if *start + *size > letters.len() {
        (*size, *start) = (*size - 1, 0);
    }
    // One at a time was tried before, and a long text has too many places.
    if *size < 2 || *size > letters.len() || letters.len() > WINDOWED {
        return None;
    }
    Some(letters[..*start].iter().chain(&letters[*start + *size..]).collect::<String>().into())
}

fn plainer(value: &Value, parts: &mut Parts) -> Option<Value> {
    let letters: Vec<char> = value.as_str()?.chars().collect();
    // Characters of a long text are not looked at one by one.
    let smallest = letters.len() / 64;
    loop {
        let range = parts.range(letters.len(), smallest)?;
        if letters[range.clone()].iter().any(|letter| *letter != 'a') {
            let plain =
                letters.iter().enumerate().map(|(index, letter)| if range.contains(&index) { 'a' } else { *letter });
            return Some(plain.collect::<String>().into());
        }
        parts.start += parts.size;
    }
}

fn shorter_key(value: &Value, next: &mut usize) -> Option<Value> {
    let map = value.as_object()?;
    let (at, (long, _)) = map.iter().enumerate().skip(*next).find(|(_, (key, _))| key.len() > LONG_KEY)?;
    *next = at;
    let half: String = long.chars().take(long.chars().count() / 2).collect();
    if map.contains_key(&half) {
        return None;
    }
    let renamed = |key: &String| if key == long { half.clone() } else { key.clone() };
    Some(Value::Object(map.iter().map(|(key, value)| (renamed(key), value.clone())).collect::<Map<_, _>>()))
}

fn of_number(number: &Number) -> Vec<Stage> {
    if number.as_i64() == Some(0) {
        return Vec::new();
    }
    let mut first = vec![Value::from(0)];
    let float = number.as_f64().unwrap_or(0.0);
    if !number.is_i64() && float.abs() < 1e15 {
        first.extend(format!("{:.0}", float.trunc()).parse::<i64>().ok().map(Value::from));
    }
    let positive = number.as_i64().and_then(i64::checked_neg).filter(|positive| *positive > 0);
    let positive = positive.into_iter().map(Value::from).collect();
    first.reverse();
    let mut stages = vec![Stage::Try(first), Stage::Try(positive), Stage::Halve { low: 0, middle: 0 }];
    if float.abs() >= 1e15 && !number.is_i64() {
        stages.push(Stage::Exponent { low: 0, middle: 0 });
    }
    stages
}

/// True if a candidate is nearer to the simplest value of its type: an earlier success may have gone further.
fn is_simpler(candidate: &Value, value: &Value) -> bool {
    match (candidate.as_f64(), value.as_f64()) {
        (Some(new), Some(old)) if new.abs() < old.abs() => true,
        // The same size without a sign, or without a fraction that is nothing.
        (Some(new), Some(old)) => new.abs() <= old.abs() && candidate.to_string().len() < value.to_string().len(),
        (_, _) => candidate != value,
    }
}

fn exponent(float: f64) -> i32 {
    let text = format!("{float:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

/// Number of levels of lists and objects.
fn height(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(height).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The highest inner value some levels down.
fn inner(value: &Value, levels: usize) -> Option<&Value> {
    (0..levels).try_fold(value, |value, _| match value {
        Value::Array(items) => items.iter().max_by_key(|item| height(item)),
        Value::Object(map) => map.values().max_by_key(|item| height(item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}
