//! Texts: by their patterns, by their format, or by what the property is called.

use super::facts::Facts;
use super::pattern::TextOptions;
use super::place::Place;
use super::seeded_random::Dice;
use super::value_builder::{Cause, Failure, Maker};
use super::{format, names};

/// The longest text that is made.
const LONGEST: u64 = 65_536;

/// Maximum number of attempts to write a string for patterns.
const TRIES: usize = 48;

/// Words for texts that may be anything.
const WORDS: &[&str] = &["example", "alpha", "Grüße", "two words", "x", "hello", "beta-2", "naïve", "Zoë", "data"];

/// Makes a text that satisfies the facts.
pub(crate) fn make<'a>(
    maker: &mut Maker<'_, 'a>,
    facts: &Facts<'a>,
    place: &Place<'_>,
    variant: u32,
) -> Result<String, Failure> {
    let least = facts.length.least;
    if least > LONGEST {
        let reason = format!("at least {least} characters are asked for; at most {LONGEST} are made");
        return Err(Failure::at(place, Cause::Impossible, reason));
    }
    // Long texts are work, too: a list of many must end.
    maker.charge(u32::try_from(least / 32).unwrap_or(u32::MAX));
    let room = Room { least: to_size(least), most: to_size(facts.length.most.min(LONGEST)) };
    let mut dice = maker.dice(place, variant);
    let word = if maker.options.varied { *dice.pick(WORDS).unwrap_or(&"example") } else { names::text(place.name()) };
    let plain = plain(word, room, variant);
    if facts.patterns.is_empty() && facts.formats.is_empty() {
        return Ok(plain);
    }
    if let Some(text) = by_format(maker, facts, room, variant) {
        return Ok(text);
    }
    // In the newer drafts a format is a remark: a text that cannot have it may do without.
    let formats = maker.opinion.document.asserts_formats();
    if fits(maker, facts, room, formats, &plain) {
        return Ok(plain);
    }
    if let Some(text) = by_pattern(maker, facts, room, formats, &mut dice) {
        return Ok(text);
    }
    let reason = match facts.patterns.first() {
        Some(pattern) => format!("no text was found for the pattern `{pattern}`"),
        None => format!("no text of the format `{}` has the length", facts.formats.join("` and `")),
    };
    Err(Failure::at(place, Cause::Unlucky, reason))
}

/// Allowed length of a string.
#[derive(Clone, Copy, Debug)]
struct Room {
    least: usize,
    most: usize,
}

impl Room {
    fn holds(self, text: &str) -> bool {
        let length = text.chars().count();
        self.least <= length && length <= self.most
    }
}

fn fits(maker: &Maker<'_, '_>, facts: &Facts<'_>, room: Room, formats: bool, text: &str) -> bool {
    let checked = maker.opinion.checked;
    room.holds(text)
        && facts.patterns.iter().all(|pattern| checked.matches(pattern, text))
        && (!formats || facts.formats.iter().all(|format| checked.has_format(format, text)))
}

fn by_format(maker: &Maker<'_, '_>, facts: &Facts<'_>, room: Room, variant: u32) -> Option<String> {
    facts.formats.iter().find_map(|name| {
        let known = format::texts(name)?;
        let known = known.iter().skip(variant as usize).map(|text| (*text).to_owned());
        let more = variant.saturating_sub(u32::try_from(known.len()).unwrap_or(0));
        let lengths = [room.least, 0, room.least + 1, room.least + 4];
        let made = (0..4).flat_map(|step| lengths.map(|length| format::nth(name, more + step, length))).flatten();
        let short = format::texts(name).unwrap_or_default().iter().map(|text| (*text).to_owned());
        known.chain(made).chain(short).find(|text| fits(maker, facts, room, true, text))
    })
}

fn by_pattern<'a>(
    maker: &mut Maker<'_, 'a>,
    facts: &Facts<'a>,
    room: Room,
    formats: bool,
    dice: &mut Dice,
) -> Option<String> {
    let first = *facts.patterns.first()?;
    for attempt in 0..TRIES {
        let pattern = facts.patterns[attempt % facts.patterns.len()];
        let more = [4, 0, 8, 1, 16, 2, 32][attempt % 7];
        let mixed = attempt >= TRIES / 4;
        let mut text = written(maker, pattern, more, mixed, room, dice)?;
        // Patterns without anchors are satisfied one after the other in the same string.
        if attempt >= TRIES / 2 && facts.patterns.len() > 1 {
            for other in facts.patterns.iter().filter(|other| **other != pattern) {
                text.push_str(&written(maker, other, 0, mixed, Room { least: 0, ..room }, dice)?);
            }
        }
        if fits(maker, facts, room, formats, &text) {
            return Some(text);
        }
        let missing = room.least.saturating_sub(text.chars().count());
        if missing > 0 {
            let filler = "a".repeat(missing);
            let padded = [format!("{text}{filler}"), format!("{filler}{text}")];
            if let Some(text) = padded.into_iter().find(|text| fits(maker, facts, room, formats, text)) {
                return Some(text);
            }
        }
    }
    // A pattern that only refuses something is satisfied by ordinary words.
    let words = WORDS.iter().map(|word| plain(word, room, 0));
    let words: Vec<String> = words.collect();
    maker.writer(first)?;
    words.into_iter().find(|word| fits(maker, facts, room, formats, word))
}

fn written<'a>(
    maker: &mut Maker<'_, 'a>,
    pattern: &'a str,
    more: usize,
    mixed: bool,
    room: Room,
    dice: &mut Dice,
) -> Option<String> {
    let writer = maker.writer(pattern)?;
    let length = (writer.shortest() + more).max(room.least).min(room.most);
    Some(writer.text(TextOptions { length, mixed }, dice))
}

/// A word made to fit: numbered for each variant, repeated when it is too short, cut when it is too long.
fn plain(word: &str, room: Room, variant: u32) -> String {
    let numbered = if variant == 0 { word.to_owned() } else { format!("{word}-{variant}") };
    let length = numbered.chars().count();
    if length > room.most {
        return cut(word, room.most, variant);
    }
    if length >= room.least {
        return numbered;
    }
    let mut text = numbered;
    let mut length = length;
    while length < room.least {
        text.push(' ');
        text.push_str(word);
        length += 1 + word.chars().count().max(1);
    }
    let cut: String = text.chars().take(room.least).collect();
    // White space at the end is the first thing that a server trims.
    if cut.ends_with(' ') { format!("{}x", &cut[..cut.len() - 1]) } else { cut }
}

/// A short text: the beginning of a word, or letters that count the variants.
fn cut(word: &str, most: usize, variant: u32) -> String {
    if variant == 0 {
        return word.chars().take(most).collect();
    }
    let mut number = variant;
    let mut letters = String::new();
    for _ in 0..most.min(4) {
        let letter = u8::try_from(number % 26).unwrap_or(0);
        letters.insert(0, char::from(b'a' + letter));
        number /= 26;
    }
    letters
}

fn to_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_made_to_fit() {
        let room = |least, most| Room { least, most };
        assert_eq!(plain("example", room(0, 100), 0), "example");
        assert_eq!(plain("example", room(0, 100), 2), "example-2");
        assert_eq!(plain("example", room(0, 3), 0), "exa");
        assert_eq!(plain("example", room(0, 0), 5), "");
        assert_eq!(plain("example", room(10, 100), 0), "example ex");
        assert_eq!(plain("example", room(8, 100), 0), "examplex");
        let short: std::collections::BTreeSet<String> =
            (0..26).map(|variant| plain("a", room(1, 1), variant)).collect();
        assert_eq!(short.len(), 26);
    }
}
