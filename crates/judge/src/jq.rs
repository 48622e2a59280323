//! jq programs: one value in, one value out, without clock, environment or further input.

use std::fmt;

use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars, data, unwrap_valr};
use jaq_json::{Val, read};
use serde_json::Value;

mod cost;

use crate::expressions::{self, Cost, DEEPEST, LONGEST, Language};
use crate::schema_budget::on_deep_stack;

type Data = data::JustLut<Val>;

/// Functions that read what is outside the value, or end the program.
const IMPURE: &[&str] = &[
    "debug",
    "debug_empty",
    "env",
    "halt",
    "halt_error",
    "input",
    "inputs",
    "localtime",
    "now",
    "stderr",
    "stderr_empty",
];

/// A compiled program.
pub struct Program {
    text: String,
    filter: Filter<Data>,
    cost: Cost,
}

impl fmt::Debug for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Program").field(&self.text).finish()
    }
}

impl Program {
    /// Compiles a program; the error is a message for its author.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        on_deep_stack(text.len(), || Self::parse_here(text))
    }

    /// The same on the stack of this thread.
    pub(crate) fn parse_here(text: &str) -> Result<Self, String> {
        let cost = cost::of(text);
        if cost.depth > DEEPEST {
            return Err(format!("it is nested more than {DEEPEST} levels deep"));
        }
        let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let funs = jaq_core::funs::<Data>().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let defs = defs.filter(|def| !IMPURE.contains(&def.name));
        let modules = Loader::new(defs).load(&arena, File { code: text, path: () });
        let modules = modules.map_err(|errors| {
            let message = errors.iter().find_map(|(_, error)| match error {
                jaq_core::load::Error::Lex(errors) => Some(before(text, errors.first()?.1)),
                jaq_core::load::Error::Parse(errors) => Some(before(text, errors.first()?.1)),
                jaq_core::load::Error::Io(_) => None,
            });
            message.unwrap_or_else(|| "modules cannot be loaded".to_owned())
        })?;
        let funs = funs.filter(|(name, _, _)| !IMPURE.contains(name));
        let filter = Compiler::default().with_funs(funs).compile(modules).map_err(|errors| {
            let undefined = errors.iter().flat_map(|(_, errors)| errors).map(|(name, _)| format!("`{name}`"));
            format!("undefined: {}", undefined.collect::<Vec<_>>().join(", "))
        })?;
        Ok(Self { text: text.to_owned(), filter, cost })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The one value that the program makes of a value; anything else is an error.
    pub fn run(&self, input: &Value) -> Result<Value, String> {
        expressions::evaluate((Language::Jq, &self.text), self.cost, input, || self.run_here(input))
    }

    /// The same in this process, for as long as it takes.
    pub(crate) fn run_here(&self, input: &Value) -> Result<Value, String> {
        let input = read::parse_single(input.to_string().as_bytes()).map_err(|error| error.to_string())?;
        let context = Ctx::<Data>::new(&self.filter.lut, Vars::new([]));
        let mut outputs = self.filter.id.run((context, input)).map(unwrap_valr);
        match (outputs.next(), outputs.next()) {
            (Some(Ok(one)), None) => serde_json::from_str(&one.to_string())
                .map_err(|error| format!("the value cannot be written as JSON: {error}")),
            (Some(Err(error)), _) | (_, Some(Err(error))) => Err(error.to_string()),
            (None, _) => Err("the program has no output; it must have exactly one".to_owned()),
            (Some(Ok(_)), Some(Ok(_))) => Err("the program has several outputs; it must have exactly one".to_owned()),
        }
    }
}

/// The program of a command line that is nothing but a call of `jq` with a program.
pub fn of_command(words: &[String]) -> Option<&str> {
    match words {
        [jq, program] if jq == "jq" => Some(program),
        [jq, option, program] if jq == "jq" && matches!(option.as_str(), "-c" | "--compact-output") => Some(program),
        _ => None,
    }
}

/// The text before the place where the parser stopped.
fn before(text: &str, rest: &str) -> String {
    let at = text.len().saturating_sub(rest.len());
    if rest.is_empty() { "unexpected end of the program".to_owned() } else { format!("syntax error at byte {at}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_value_becomes_one_value() {
        for (program, input, output) in [
            (".result.content[0].text", json!({"result": {"content": [{"text": "hi"}]}}), json!("hi")),
            (".result.id = \"fixed\"", json!({"result": {"id": 3}}), json!({"result": {"id": "fixed"}})),
            ("ascii_downcase", json!("ECHO"), json!("echo")),
            ("[.[] | select(. > 1)] | length", json!([1, 2, 3]), json!(2)),
            (".n + 1", json!({"n": 1.5}), json!(2.5)),
            ("test(\"^a\")", json!("abc"), json!(true)),
        ] {
            assert_eq!(Program::parse(program).expect(program).run(&input), Ok(output), "{program}");
        }
    }

    #[test]
    fn anything_but_one_value_is_an_error() {
        for (program, input) in
            [(".[]", json!([1, 2])), ("empty", json!(1)), (".a", json!([1])), ("error(\"x\")", json!(1))]
        {
            assert!(Program::parse(program).expect(program).run(&input).is_err(), "{program}");
        }
    }

    #[test]
    fn programs_are_bounded_before_they_are_compiled() {
        for (program, why) in [
            (format!("{}.{}", "[".repeat(300), "]".repeat(300)), "nested more than 250 levels"),
            (format!("{}.", ". | ".repeat(2_000)), "nested more than 250 levels"),
            (format!("{}1", "-".repeat(8_000)), "nested more than 250 levels"),
            (format!("{}1", "1 as $x | ".repeat(1_000)), "nested more than 250 levels"),
            (format!("{}.", "def f: ".repeat(1_000)), "syntax error"),
            (format!("\"{}\"", "x".repeat(20_000)), "longer than 16384 bytes"),
        ] {
            let fault = Program::parse(&program).expect_err(why);
            assert!(fault.contains(why) || why == "syntax error", "{why}: {fault}");
        }
    }

    #[test]
    fn what_is_no_program_or_reads_the_outside_is_refused() {
        for program in [".result.content[", "nosuch", "now", "env", "input", "}"] {
            assert!(Program::parse(program).is_err(), "{program}");
        }
    }

    #[test]
    fn a_call_of_jq_is_a_program() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of_command(&words("jq .a")), Some(".a"));
        assert_eq!(of_command(&words("jq -c .a")), Some(".a"));
        assert_eq!(of_command(&words("node x.js")), None);
        assert_eq!(of_command(&words("jq -f file .a")), None);
    }
}
