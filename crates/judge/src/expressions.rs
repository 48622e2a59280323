//! Programs of authors that may compute without end: jq and CEL.
//!
//! Nothing inside their interpreters bounds time or memory. A program whose cost can be bounded by reading it is evaluated
//! in place; any other is handed to [`set_apart`]'s function, which runs [`answer`] in a process that the system bounds.

use std::sync::OnceLock;
use std::thread;

use mcprove_model::bounded_json;
use serde_json::Value;

use crate::excerpt;
use crate::jq::Program;
use crate::matchers::cel;
use crate::schema_budget::on_deep_stack;

/// The longest program, in bytes.
pub(crate) const LONGEST: usize = 16 << 10;
/// The deepest nesting of a program.
pub(crate) const DEEPEST: usize = 250;
/// The steps and bytes that a program may take in the process of the caller.
const IN_PLACE: u64 = 1 << 24;
/// The stack of a program in a process of its own. It is a part of what the process may take.
const STACK: usize = 128 << 20;
/// The longest message about a program.
const LONGEST_MESSAGE: usize = 300;

/// The language of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Cel,
    Jq,
}

/// The cost of a program, as far as it can be read off it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Its nesting.
    pub(crate) depth: usize,
    /// Number of times that it goes through the parts of a value: each may multiply by the size of the value.
    pub(crate) loops: u32,
    /// Number of times that it uses a value twice: each may double the size.
    pub(crate) doublings: u32,
    /// True if nothing is known: it may recurse, or count as far as it likes.
    pub(crate) is_unbounded: bool,
}

impl Cost {
    /// Both one after the other, or one around the other.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            depth: self.depth.max(other.depth),
            loops: self.loops.saturating_add(other.loops),
            doublings: self.doublings.saturating_add(other.doublings),
            is_unbounded: self.is_unbounded || other.is_unbounded,
        }
    }

    /// The same, one level deeper.
    pub(crate) fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// True if the program is cheap for a value of this size.
    fn is_cheap(self, bytes: u64) -> bool {
        let loops = bytes.max(16).checked_pow(self.loops.saturating_add(1));
        let steps = 1_u64.checked_shl(self.doublings).and_then(|factor| loops?.checked_mul(factor));
        !self.is_unbounded && steps.is_some_and(|steps| steps <= IN_PLACE)
    }
}

/// A function that gives a request to [`answer`] in a process of its own, within its bounds.
pub type Apart = fn(&[u8]) -> Result<Vec<u8>, String>;

static APART: OnceLock<Apart> = OnceLock::new();

/// Sets the function that evaluates programs in a process of their own; the first call counts. Without it they are evaluated in
/// place, without bounds.
pub fn set_apart(apart: Apart) {
    let _ = APART.set(apart);
}

/// The value that a program gives for a value, by `here` where that is cheap.
pub(crate) fn evaluate(
    (language, text): (Language, &str),
    cost: Cost,
    value: &Value,
    here: impl FnOnce() -> Result<Value, String> + Send,
) -> Result<Value, String> {
    let given = value.to_string();
    let evaluated = match APART.get().filter(|_| !cost.is_cheap(given.len() as u64)) {
        Some(apart) => apart(&request(language, text, &given)).and_then(|answer| answered(&answer)),
        // A level of a program takes several frames.
        None => on_deep_stack(cost.depth * 4, here),
    };
    evaluated.map_err(|reason| excerpt::head(&reason, LONGEST_MESSAGE).into_owned())
}

/// Two lines: the program, and the value. Each is JSON, and no deeper than what it was made of.
fn request(language: Language, text: &str, given: &str) -> Vec<u8> {
    let name = match language {
        Language::Cel => "cel",
        Language::Jq => "jq",
    };
    format!("{}\n{given}", serde_json::json!([name, text])).into_bytes()
}

/// The answer to a request, for a process that has nothing else to do: the bounds are those of the process.
pub fn answer(request: &[u8]) -> Vec<u8> {
    let evaluated = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || requested(request));
        thread.map_err(|error| error.to_string())?.join().map_err(|_| "it panicked".to_owned())?
    });
    match evaluated {
        Ok(value) => format!("ok\n{value}").into_bytes(),
        Err(reason) => format!("no\n{}", excerpt::head(&reason, LONGEST_MESSAGE)).into_bytes(),
    }
}

fn requested(request: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(request).map_err(|error| error.to_string())?;
    let (program, value) = text.split_once('\n').ok_or("there is no value")?;
    let [language, program]: [String; 2] = serde_json::from_str(program).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_str(value).map_err(|error| error.to_string())?;
    match language.as_str() {
        // The stack of this thread has the room that others make for themselves.
        "jq" => Program::parse_here(&program)?.run_here(&value),
        _ => cel::run_here(&cel::compile_here(&program)?, &value),
    }
}

fn answered(answer: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(answer).map_err(|error| error.to_string())?;
    match text.split_once('\n') {
        Some(("ok", value)) => {
            bounded_json::parse(value).ok_or_else(|| "its value is too large or too deep".to_owned())
        }
        Some(("no", reason)) => Err(reason.to_owned()),
        Some(_) | None => Err("it gave no value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_are_answered() {
        for (language, program, value, expected) in [
            (Language::Jq, ".a\n| . + 1", json!({"a": 1}), Ok(json!(2))),
            (Language::Jq, "def f: f; error(\"no\")", json!(1), Err("\"no\"")),
            (Language::Jq, "[.[] | [.]]", json!(["a\nb"]), Ok(json!([["a\nb"]]))),
            (Language::Jq, &format!(".{}", " | .".repeat(80)), json!(1), Ok(json!(1))),
            (Language::Cel, &format!("1{} == 101", " + 1".repeat(100)), json!(1), Ok(json!(true))),
            (Language::Cel, "value.all(x, x > 0)", json!([1, 2]), Ok(json!(true))),
            (Language::Cel, "value.size()", json!([1, 2]), Ok(json!(null))),
            (Language::Cel, "value.gone == 1", json!({}), Err("No such key: gone")),
        ] {
            let answer = answered(&answer(&request(language, program, &value.to_string())));
            assert_eq!(answer, expected.map_err(str::to_owned), "{program}");
        }
    }

    #[test]
    fn what_is_cheap_depends_on_the_value() {
        let walk = Cost { depth: 3, ..Cost::default() };
        assert!(walk.is_cheap(16 << 20) && !walk.is_cheap(17 << 20));
        let nested = Cost { loops: 2, ..walk };
        assert!(nested.is_cheap(256) && !nested.is_cheap(257));
        assert!(!Cost { doublings: 40, ..walk }.is_cheap(1));
        assert!(!Cost { doublings: 4_000, loops: 4_000, ..walk }.is_cheap(1));
        assert!(!Cost { is_unbounded: true, ..walk }.is_cheap(1));
    }
}
