//! Selection of the applied rules.

use mcprove_model::nearest;

use super::{Group, RULES, Rule};

/// Selection by the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectionOptions<'a> {
    /// Every rule, instead of those of strictness only.
    pub all: bool,
    /// These rules or groups, instead of those of strictness.
    pub select: &'a [String],
    /// All but these rules or groups.
    pub allow: &'a [String],
}

/// The rules that are applied, sorted by id.
#[derive(Clone, Debug)]
pub struct Selection {
    rules: Vec<&'static Rule>,
}

impl Selection {
    /// Every rule.
    pub fn all() -> Self {
        Self { rules: RULES.iter().collect() }
    }

    /// The rules asked for; a word that names none of them is an error that says what it may have meant.
    pub fn new(options: SelectionOptions<'_>) -> Result<Self, String> {
        for word in options.select.iter().chain(options.allow) {
            known(word)?;
        }
        let named = |rule: &Rule, words: &[String]| words.iter().any(|word| names(word, rule));
        let asked = |rule: &Rule| match (options.all, options.select) {
            (true, _) => true,
            (false, []) => rule.group() == Group::Strictness,
            (false, select) => named(rule, select),
        };
        Ok(Self { rules: RULES.iter().filter(|rule| asked(rule) && !named(rule, options.allow)).collect() })
    }

    /// The rules.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static Rule> {
        self.rules.iter().copied()
    }
}

/// True if a word is the id, the name or the group of a rule.
pub(crate) fn names(word: &str, rule: &Rule) -> bool {
    let word = word.trim();
    [rule.id, rule.name, rule.group().prefix()].iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Checks that a word names a rule or a group; the error suggests a similar name.
pub(crate) fn known(word: &str) -> Result<(), String> {
    if RULES.iter().any(|rule| names(word, rule)) {
        return Ok(());
    }
    let words = RULES.iter().flat_map(|rule| [rule.id, rule.name]).chain(Group::ALL.map(Group::prefix));
    Err(match nearest(word.trim(), words) {
        Some(near) => format!("unknown rule `{word}`; did you mean `{near}`?"),
        None => format!("unknown rule `{word}`; `mcprove explain` lists them"),
    })
}
