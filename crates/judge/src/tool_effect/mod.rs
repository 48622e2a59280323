//! The effect of a tool, as far as it can be known before the tool is called.
//!
//! Annotations decide where there are any. Without them the tool's texts decide: its name first, because a name that
//! begins with a reading verb (`get_deleted_items`) says more than a word in a description; then its title, its
//! arguments, its description, and its mention in the server's instructions.

mod scan_plan;
mod verbs;

use std::fmt;

use serde_json::Value;

use crate::generate::{singular, words};

pub(crate) use verbs::{VerbKind, verb};

pub use scan_plan::{Consent, PlannedTool, ScanPlan};

use verbs::verb_in_prose;

/// The effect of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// It says that it only reads.
    Reads,
    /// It says that it writes.
    Writes {
        /// The annotation that says so.
        hint: &'static str,
    },
    /// It does not say so, but its words do.
    LooksLikeWriting {
        /// The word.
        word: String,
        /// The place of the word.
        place: WordPlace,
    },
    /// Nothing says that it writes.
    Unclear,
}

/// The place of a word that looks like writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPlace {
    /// The tool's name.
    Name,
    /// The tool's title.
    Title,
    /// The tool's description.
    Description,
    /// The name of an argument.
    Argument,
    /// The server's instructions.
    Instructions,
}

impl fmt::Display for WordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "its name",
            Self::Title => "its title",
            Self::Description => "its description",
            Self::Argument => "its arguments",
            Self::Instructions => "the server's instructions",
        })
    }
}

impl fmt::Display for ToolEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads => f.write_str("says that it only reads: `readOnlyHint: true`"),
            Self::Writes { hint } => write!(f, "says that it writes: `{hint}`"),
            Self::LooksLikeWriting { word, place } => write!(f, "looks like it writes: `{word}` in {place}"),
            Self::Unclear => f.write_str("says nothing about writing"),
        }
    }
}

/// Classifies a tool by its annotations, its words and the server's instructions.
pub fn tool_effect(tool: &Value, instructions: Option<&str>) -> ToolEffect {
    let hint = |name: &str| tool.get("annotations").and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    match (hint("readOnlyHint"), hint("destructiveHint")) {
        (_, Some(true)) => return ToolEffect::Writes { hint: "destructiveHint: true" },
        (Some(false), _) => return ToolEffect::Writes { hint: "readOnlyHint: false" },
        (Some(true), _) => return ToolEffect::Reads,
        (None, Some(false) | None) => {}
    }
    let looks = |word: String, place| ToolEffect::LooksLikeWriting { word, place };
    let text = |key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default();
    let is_arithmetic = has_only_numbers(tool);
    let arguments = Arguments::of(tool);
    let title = match text("title") {
        "" => tool.pointer("/annotations/title").and_then(Value::as_str).unwrap_or_default(),
        title => title,
    };
    let verbs = [
        (verb_of_name(text("name"), is_arithmetic), WordPlace::Name),
        (first_verb(&words(title), is_arithmetic), WordPlace::Title),
    ];
    for (verb, place) in verbs {
        match verb {
            Some((word, VerbKind::Changes | VerbKind::Acts)) => return looks(word, place),
            // An output file is written by whatever name.
            Some((_, VerbKind::Reads)) => {
                return arguments.output.map_or(ToolEffect::Unclear, |word| looks(word, WordPlace::Argument));
            }
            None => {}
        }
    }
    if let Some(word) = arguments.output.or(arguments.acting) {
        return looks(word, WordPlace::Argument);
    }
    if let Some(word) = word_of_description(text("description"), is_arithmetic) {
        return looks(word, WordPlace::Description);
    }
    match instructions.and_then(|instructions| word_of_instructions(instructions, text("name"))) {
        Some(word) => looks(word, WordPlace::Instructions),
        None => ToolEffect::Unclear,
    }
}

/// The verb that decides in a name, and its kind.
pub(crate) fn verb_of_name(name: &str, is_arithmetic: bool) -> Option<(String, VerbKind)> {
    let words = words(name);
    let ends_in_reading =
        words.len() > 1 && words.last().is_some_and(|last| matches!(last.as_str(), "get" | "list" | "read" | "search"));
    let found = words.iter().enumerate().find_map(|(at, word)| {
        let known = verb(word)?;
        let is_sum = is_arithmetic && word == "add";
        // `commit_list` lists commits, `API-post-search` searches.
        let is_object = known.is_noun && ends_in_reading;
        (!is_sum && !is_object).then_some((at, known))
    });
    let (at, found) = found?;
    if found.kind == VerbKind::Reads {
        // `get_or_create_user`, `find_and_replace`, `search_replace`.
        let second = words[at + 1..].windows(2).find(|pair| matches!(pair[0].as_str(), "and" | "or"));
        let second = second.map(|pair| &pair[1]).or_else(|| words.get(at + 1).filter(|word| *word == "replace"));
        if let Some(second) = second.and_then(|word| verb(word)).filter(|verb| verb.kind != VerbKind::Reads) {
            return Some((second.word.to_owned(), second.kind));
        }
    }
    Some((found.word.to_owned(), found.kind))
}

/// Words with which descriptions begin before the verb comes.
const BEGINNINGS: &[&str] = &[
    "a",
    "allow",
    "allows",
    "an",
    "can",
    "helps",
    "it",
    "lets",
    "permanently",
    "please",
    "safely",
    "the",
    "this",
    "to",
    "tool",
    "use",
    "used",
    "user",
    "users",
    "will",
    "you",
    "your",
];

/// Words that speak of harm wherever they are.
const HARMFUL: &[&str] = &[
    "delete",
    "deletes",
    "destructive",
    "destroys",
    "erases",
    "irreversible",
    "irreversibly",
    "overwrite",
    "overwrites",
    "permanently",
];

/// Words that deny what follows them.
const DENIALS: &[&str] = &["cannot", "don", "doesn", "never", "no", "non", "not", "without"];

/// The word of a description that looks like writing: its first verb, or one that speaks of harm.
fn word_of_description(description: &str, is_arithmetic: bool) -> Option<String> {
    let words = words(&description[..description.floor_char_boundary(2_000)]);
    match first_verb(&words, is_arithmetic) {
        Some((_, VerbKind::Reads)) => None,
        Some((word, VerbKind::Changes | VerbKind::Acts)) => Some(word),
        None => harmful(&words),
    }
}

/// The verb with which prose begins.
fn first_verb(words: &[String], is_arithmetic: bool) -> Option<(String, VerbKind)> {
    let first = words.iter().find(|word| !BEGINNINGS.contains(&word.as_str()))?;
    let verb = verb_in_prose(first).filter(|verb| !(is_arithmetic && verb.word == "add"))?;
    Some((verb.word.to_owned(), verb.kind))
}

fn harmful(words: &[String]) -> Option<String> {
    let is_denied = |at: usize| words[at.saturating_sub(3)..at].iter().any(|word| DENIALS.contains(&word.as_str()));
    let found = words.iter().enumerate().find(|(at, word)| HARMFUL.contains(&word.as_str()) && !is_denied(*at));
    found.map(|(_, word)| word.clone())
}

/// The word that a sentence of the instructions uses for a tool it names.
fn word_of_instructions(instructions: &str, name: &str) -> Option<String> {
    if name.len() < 3 {
        return None;
    }
    let instructions = &instructions[..instructions.floor_char_boundary(20_000)];
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    // What a sentence says of a tool comes after the tool's name.
    let said_of_it = |sentence: &'_ str| {
        let mut places = sentence.match_indices(name).map(|(at, _)| (at, at + name.len()));
        let whole = places.find(|(start, end)| {
            !is_part(sentence[..*start].chars().next_back()) && !is_part(sentence[*end..].chars().next())
        });
        whole.map(|(_, end)| words(&sentence[end..]))
    };
    instructions.split(['.', '\n', ';']).filter_map(said_of_it).find_map(|words| {
        let writes = ["changes", "modifies", "removes", "sends", "writes", "write", "modify", "remove"];
        harmful(&words).or_else(|| words.iter().find(|word| writes.contains(&word.as_str())).cloned())
    })
}

/// Argument names that speak of writing.
#[derive(Default)]
struct Arguments {
    /// A place where output goes.
    output: Option<String>,
    /// Something that is done, which counts where the name of the tool says nothing.
    acting: Option<String>,
}

impl Arguments {
    fn of(tool: &Value) -> Self {
        let mut found = Self::default();
        let properties = tool.pointer("/inputSchema/properties").and_then(Value::as_object);
        let (mut path, mut content) = (false, None);
        // Only an identifier is a name with a meaning.
        let is_name = |name: &&String| name.len() <= 64 && !name.contains(char::is_whitespace);
        for name in properties.into_iter().flat_map(serde_json::Map::keys).filter(is_name) {
            let words = words(name);
            let has = |known: &[&str]| words.iter().any(|word| known.contains(&singular(word)));
            let is_path = has(&["dir", "directory", "file", "filename", "filepath", "folder", "path"]);
            path |= is_path;
            if is_path && has(&["dest", "destination", "download", "export", "out", "output", "save"])
                || matches!(words.iter().map(String::as_str).collect::<Vec<_>>()[..], ["save" | "write", "to"])
                || has(&["overwrite"])
            {
                found.output.get_or_insert_with(|| name.clone());
            }
            if has(&["bash", "cmd", "command", "pid", "shell"]) {
                found.acting.get_or_insert_with(|| name.clone());
            }
            if has(&["content", "contents"]) || matches!(name.as_str(), "new_text" | "new_string" | "newText") {
                content = Some(name.clone());
            }
        }
        found.acting = found.acting.or(content.filter(|_| path));
        found
    }
}

/// True if the tool takes numbers and nothing else: its `add` is a sum.
pub(crate) fn has_only_numbers(tool: &Value) -> bool {
    let properties = tool.pointer("/inputSchema/properties").and_then(Value::as_object);
    properties.is_some_and(|properties| {
        let is_number =
            |schema: &Value| matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number"));
        !properties.is_empty() && properties.values().all(is_number)
    })
}

#[cfg(test)]
mod tests;
