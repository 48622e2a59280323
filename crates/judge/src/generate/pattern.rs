//! Texts that match a pattern.
//!
//! The syntax tree is walked by hand rather than sampled by a library: a text has to fit a length, read like
//! something a person would write, and the anchors that nearly every pattern has must not be an obstacle.

use std::collections::HashMap;
use std::rc::Rc;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::seeded_random::Dice;

/// The longest text written for a pattern, in characters.
const LONGEST: usize = 65_536;

/// Characters in the order in which they are preferred.
const PREFERRED: [(char, char); 7] =
    [('a', 'z'), ('A', 'Z'), ('0', '9'), ('-', '-'), ('_', '_'), (' ', '~'), ('\u{a1}', '\u{17f}')];

/// A pattern that texts can be written for.
#[derive(Debug)]
pub(crate) struct Writer {
    tree: Hir,
    shortest: usize,
}

/// Requirements on a string besides the pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextOptions {
    /// Its length in characters, as nearly as the pattern allows.
    pub(crate) length: usize,
    /// True if characters are taken from everything the pattern allows rather than from the plainest.
    pub(crate) mixed: bool,
}

impl Writer {
    /// Reads a pattern; none when it cannot be understood.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let tree = ParserBuilder::new().nest_limit(100).build().parse(&translated(pattern)).ok()?;
        let shortest = shortest(&tree);
        (shortest <= LONGEST).then_some(Self { tree, shortest })
    }

    /// The length of the shortest text.
    pub(crate) fn shortest(&self) -> usize {
        self.shortest
    }

    /// A text that should match; look-arounds and boundaries are ignored, so it has to be checked.
    pub(crate) fn text(&self, options: TextOptions, dice: &mut Dice) -> String {
        let mut printer = PatternPrinter {
            text: String::new(),
            written: 0,
            spare: options.length.min(LONGEST).saturating_sub(self.shortest),
            mixed: options.mixed,
            dice,
            letters: HashMap::new(),
        };
        printer.write(&self.tree);
        printer.text
    }
}

struct PatternPrinter<'d> {
    text: String,
    written: usize,
    /// Number of characters that may be added to the shortest string.
    spare: usize,
    mixed: bool,
    dice: &'d mut Dice,
    /// The ranges that a class is written with, by its place in the tree: a class may have hundreds, and be written thousands of
    /// times.
    letters: HashMap<usize, Rc<[(char, char)]>>,
}

impl PatternPrinter<'_> {
    fn write(&mut self, tree: &Hir) {
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0);
                self.written += text.chars().count();
                self.text.push_str(&text);
            }
            HirKind::Class(class) => {
                let letter = self.letter(class);
                self.text.extend(letter);
                self.written += 1;
            }
            HirKind::Repetition(repetition) => self.repeat(repetition),
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.write(part)),
            HirKind::Alternation(branches) => self.branch(branches),
        }
    }

    /// Takes a branch that the spare characters allow.
    fn branch(&mut self, branches: &[Hir]) {
        let least = branches.iter().map(shortest).min().unwrap_or(0);
        let affordable: Vec<&Hir> = branches.iter().filter(|branch| shortest(branch) - least <= self.spare).collect();
        let Some(branch) = self.dice.pick(&affordable) else { return };
        self.spare -= shortest(branch) - least;
        self.write(branch);
    }

    fn repeat(&mut self, repetition: &Repetition) {
        let each = shortest(&repetition.sub).max(1);
        let room = repetition.max.map_or(usize::MAX, |most| (most - repetition.min) as usize);
        let more = (self.spare / each).min(room);
        // An optional part is taken now and then even when there is room for it, so that texts differ.
        let more = if more == 1 && room == 1 && self.dice.chance(50) { 0 } else { more };
        self.spare -= more * each;
        for _ in 0..(repetition.min as usize).saturating_add(more) {
            if self.written > LONGEST {
                return;
            }
            self.write(&repetition.sub);
        }
    }

    fn letter(&mut self, class: &Class) -> Option<char> {
        let mixed = self.mixed;
        let known = self.letters.entry(std::ptr::from_ref(class).addr());
        let ranges = Rc::clone(known.or_insert_with(|| chosen_ranges(class, mixed).into()));
        self.one_of(&ranges)
    }

    fn one_of(&mut self, ranges: &[(char, char)]) -> Option<char> {
        let sizes = ranges.iter().map(|(first, last)| *last as usize - *first as usize + 1);
        let mut chosen = self.dice.below(sizes.clone().sum());
        for ((first, _), size) in ranges.iter().zip(sizes) {
            if chosen < size {
                // A range over the surrogates has a gap; its first character is used instead.
                return u32::try_from(*first as usize + chosen).ok().and_then(char::from_u32).or(Some(*first));
            }
            chosen -= size;
        }
        None
    }
}

/// The ranges that letters of a class are taken from: the plainest, or all that can be printed.
fn chosen_ranges(class: &Class, mixed: bool) -> Vec<(char, char)> {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    };
    let printable = within(&ranges, (' ', '~'));
    if mixed && !printable.is_empty() {
        return printable;
    }
    let plain = PREFERRED.iter().map(|preferred| within(&ranges, *preferred)).find(|found| !found.is_empty());
    plain.unwrap_or(ranges)
}

/// The parts of ranges that are within one range.
fn within(ranges: &[(char, char)], (first, last): (char, char)) -> Vec<(char, char)> {
    let cut = ranges.iter().map(|(from, to)| ((*from).max(first), (*to).min(last)));
    cut.filter(|(from, to)| from <= to).collect()
}

/// The fewest characters that match; an upper bound where bytes and characters differ would be wrong, so it is counted.
fn shortest(tree: &Hir) -> usize {
    match tree.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).chars().count(),
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => shortest(&repetition.sub).saturating_mul(repetition.min as usize),
        HirKind::Capture(capture) => shortest(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(shortest).fold(0, usize::saturating_add),
        HirKind::Alternation(branches) => branches.iter().map(shortest).min().unwrap_or(0),
    }
}

/// An ECMAScript pattern as the parser understands it: ASCII classes, no look-arounds.
fn translated(pattern: &str) -> String {
    let pattern = without_look_arounds(pattern);
    let mut text = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let Some(escaped) = letters.next() else { break };
                let set = match escaped {
                    'd' => "0-9",
                    'w' => "A-Za-z0-9_",
                    's' => " ",
                    _ => {
                        text.extend(['\\', escaped]);
                        continue;
                    }
                };
                let (open, close) = if in_class { ("", "") } else { ("[", "]") };
                text.extend([open, set, close]);
            }
            '[' if in_class => text.push_str("\\["),
            '[' => {
                in_class = true;
                text.push('[');
            }
            ']' => {
                in_class = false;
                text.push(']');
            }
            // A dot is any character to the parser; people mean letters.
            _ => text.push(letter),
        }
    }
    text
}

/// Leaves out `(?=…)`, `(?!…)`, `(?<=…)` and `(?<!…)`: texts are checked afterwards.
fn without_look_arounds(pattern: &str) -> String {
    let mut text = pattern.to_owned();
    for opening in ["(?=", "(?!", "(?<=", "(?<!"] {
        while let Some(start) = text.find(opening) {
            let Some(length) = group_length(&text[start..]) else { return text };
            text.replace_range(start..start + length, "");
        }
    }
    text
}

/// The length of the group a text begins with.
fn group_length(text: &str) -> Option<usize> {
    let (mut depth, mut escaped, mut in_class) = (0_usize, false, false);
    for (offset, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::checked::Checked;
    use super::*;

    fn written(pattern: &str, length: usize) -> Option<String> {
        let writer = Writer::new(pattern)?;
        let checked = Checked::default();
        let mut dice = Dice::new(1);
        (0..60)
            .map(|attempt| writer.text(TextOptions { length, mixed: attempt > 5 }, &mut dice))
            .find(|text| checked.matches(pattern, text))
    }

    #[test]
    fn texts_match_the_patterns_of_real_tools() {
        for pattern in [
            "^[a-z]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^[\w.+-]+@[\w-]+\.[\w.]+$",
            "^(GET|POST|PUT)$",
            r"^https?:\/\/.+",
            "^#[0-9a-fA-F]{6}$",
            r"^v?\d+\.\d+\.\d+(-[a-z0-9.]+)?$",
            "^(?=.*[A-Z])(?=.*[0-9]).{8,}$",
            "^(?!foo)[a-z]{3}$",
            r"^\S+$",
            r"^[^/\\]+$",
            r"\bword\b",
            "[[]x",
            r"^\p{L}+$",
            r"^(?<year>\d{4})$",
            r"^[-+]?\d+(\.\d+)?([eE][-+]?\d+)?$",
            "",
        ] {
            assert!(written(pattern, 10).is_some(), "{pattern}");
        }
    }

    #[test]
    fn the_length_is_met_where_the_pattern_allows() {
        assert_eq!(written("^[a-z]+$", 12).map(|text| text.len()), Some(12));
        assert_eq!(written("^[a-z]{3}$", 12).map(|text| text.len()), Some(3));
        assert_eq!(written("^(a|bb)*$", 1000).map(|text| text.len() >= 900), Some(true));
        assert_eq!(Writer::new("^(ab){5}$").map(|writer| writer.shortest()), Some(10));
    }

    #[test]
    fn hostile_patterns_are_refused_or_bounded() {
        assert!(Writer::new("a{1000000}").is_none());
        assert!(Writer::new("(").is_none());
        assert!(Writer::new(&"(".repeat(5000)).is_none());
        let mut dice = Dice::new(1);
        let writer = Writer::new("((a*)*)*").expect("understood");
        assert!(writer.text(TextOptions { length: 1_000_000_000, mixed: false }, &mut dice).len() <= LONGEST + 1);
    }
}
