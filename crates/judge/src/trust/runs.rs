//! Verbatim runs: long stretches of a server's input that another server said before.
//!
//! Every run of 64 characters holds one of the windows of 33 that begin at a multiple of 32. Those windows of the
//! inputs are looked up in everything that was said, which is read once; where one is found, the run around it is
//! measured on the texts themselves. Only the first time a server said something counts: whatever a later result would
//! carry, the first one carries too. Where that first time is too short and a later one may not be (the same phrase
//! with another end), all windows of the full length around it are looked up as well. So the work grows with the size
//! of the trace and not with the pairs in it.

use std::borrow::Cow;
use std::ops::Range;

use super::rolling::{HashedMap, Sieve, windows};

/// The fewest characters of a run.
pub(super) const LEAST: usize = 64;
const WINDOW: usize = LEAST - STRIDE + 1;
const STRIDE: usize = 32;
/// Number of windows looked up at once; more cost another reading instead of more memory.
const BATCH: usize = 4_000_000;

/// A text in the input of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToldText<'t> {
    pub(super) server: usize,
    pub(super) position: usize,
    pub(super) text: &'t str,
}

/// A text a server said.
#[derive(Clone, Debug)]
pub(super) struct SaidText<'t> {
    pub(super) server: usize,
    pub(super) position: usize,
    pub(super) text: Cow<'t, str>,
}

/// A run that another server said before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Index of the input text that contains it.
    pub(super) told: usize,
    /// The bytes it takes there.
    pub(super) range: Range<usize>,
    /// Index of the output text that it comes from.
    pub(super) said: usize,
    /// True if both texts go on before it, so that its first characters may be the same by chance.
    pub(super) parts_before: bool,
    /// True if both texts go on after it.
    pub(super) parts_after: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    told: usize,
    offset: usize,
    end: usize,
    hash: u64,
}

#[derive(Clone, Copy, Debug)]
struct Occurrence {
    server: usize,
    said: usize,
    offset: usize,
}

/// The runs of at least [`LEAST`] characters that were said by another server before they were an input.
///
/// Said texts must be in the order of the trace.
pub(super) fn runs(told_texts: &[ToldText<'_>], said_texts: &[SaidText<'_>]) -> Vec<Run> {
    let mut samples = Vec::new();
    for (index, told) in told_texts.iter().enumerate() {
        if told.text.len() < LEAST {
            continue;
        }
        let mut count = 0_usize;
        windows(told.text, WINDOW, |range, hash| {
            if count.is_multiple_of(STRIDE) {
                samples.push(Sample { told: index, offset: range.start, end: range.end, hash });
            }
            count += 1;
        });
    }
    let mut runs = Vec::new();
    let unsure = trace_back(&samples, WINDOW, told_texts, said_texts, &mut runs);
    drop(samples);
    for batch in unsure.chunks(BATCH / STRIDE) {
        let exact: Vec<Sample> = batch.iter().flat_map(|sample| full_windows(*sample, told_texts)).collect();
        trace_back(&exact, LEAST, told_texts, said_texts, &mut runs);
    }
    runs.sort_unstable_by_key(|run| (run.told, run.range.start, run.range.end, run.said));
    runs.dedup();
    runs
}

/// Finds where samples were said first, and the runs around them; gives back the samples in too short a run.
fn trace_back(
    samples: &[Sample],
    size: usize,
    told_texts: &[ToldText<'_>],
    said_texts: &[SaidText<'_>],
    runs: &mut Vec<Run>,
) -> Vec<Sample> {
    let found = first_sayings(samples, size, said_texts);
    let mut unsure = Vec::new();
    // Where the last run from each server ends, in the text at hand.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut current = usize::MAX;
    for sample in samples {
        if sample.told != current {
            current = sample.told;
            ends.clear();
        }
        let told = told_texts[sample.told];
        let mut too_short = false;
        for at in found.get(&sample.hash).into_iter().flatten() {
            let inside = |(server, end): &(usize, usize)| *server == at.server && sample.end <= *end;
            if at.server == told.server || said_texts[at.said].position >= told.position || ends.iter().any(inside) {
                continue;
            }
            match around(*sample, told.text, *at, &said_texts[at.said].text) {
                Some(run) => {
                    ends.retain(|(server, _)| *server != at.server);
                    ends.push((at.server, run.range.end));
                    runs.push(run);
                }
                None => too_short = true,
            }
        }
        if too_short {
            unsure.push(*sample);
        }
    }
    unsure
}

/// First occurrence of each sample in the output of each server.
fn first_sayings(samples: &[Sample], size: usize, said_texts: &[SaidText<'_>]) -> HashedMap<Vec<Occurrence>> {
    let mut found: HashedMap<Vec<Occurrence>> = HashedMap::default();
    if samples.is_empty() {
        return found;
    }
    let mut sieve = Sieve::for_about(samples.len());
    found.reserve(samples.len());
    for sample in samples {
        sieve.put(sample.hash);
        found.entry(sample.hash).or_default();
    }
    for (index, said) in said_texts.iter().enumerate() {
        windows(&said.text, size, |range, hash| {
            if sieve.may_hold(hash)
                && let Some(places) = found.get_mut(&hash)
                && !places.iter().any(|place| place.server == said.server)
            {
                places.push(Occurrence { server: said.server, said: index, offset: range.start });
            }
        });
    }
    found
}

/// The longest run around a sample, when it is long enough.
fn around(sample: Sample, told: &str, at: Occurrence, said: &str) -> Option<Run> {
    let (left, right) = (&told[..sample.offset], &told[sample.offset..]);
    let (said_left, said_right) = (&said[..at.offset], &said[at.offset..]);
    let same_after = right.bytes().zip(said_right.bytes()).take_while(|(a, b)| a == b).count();
    let same_before = left.bytes().rev().zip(said_left.bytes().rev()).take_while(|(a, b)| a == b).count();
    // Equal bytes may end within a character.
    let end = told.floor_char_boundary(sample.offset + same_after);
    let start = told.ceil_char_boundary(sample.offset - same_before);
    let in_said = at.offset - (sample.offset - start)..at.offset + (end - sample.offset);
    if told[start..end].chars().take(LEAST).count() < LEAST {
        return None;
    }
    // A quote ends a string of JSON text, which is as much an end as that of the text.
    let goes_on_before = said[..in_said.start].chars().next_back().is_some_and(|c| c != '"');
    let goes_on_after = said[in_said.end..].chars().next().is_some_and(|c| c != '"');
    Some(Run {
        told: sample.told,
        range: start..end,
        said: at.said,
        parts_before: start > 0 && goes_on_before,
        parts_after: end < told.len() && goes_on_after,
    })
}

/// The windows of full length that hold a sample.
fn full_windows(sample: Sample, told_texts: &[ToldText<'_>]) -> Vec<Sample> {
    let text = told_texts[sample.told].text;
    let start = text[..sample.offset].char_indices().rev().take(STRIDE - 1).last().map_or(sample.offset, |(at, _)| at);
    let end = text[sample.offset..].char_indices().nth(LEAST).map_or(text.len(), |(at, _)| sample.offset + at);
    let mut found = Vec::new();
    windows(&text[start..end], LEAST, |range, hash| {
        found.push(Sample { told: sample.told, offset: start + range.start, end: start + range.end, hash });
    });
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// True if any run exists, by trying everything.
    fn has_run(told: &str, said: &[&str]) -> bool {
        let chars: Vec<char> = told.chars().collect();
        chars.windows(LEAST).any(|window| {
            let window: String = window.iter().collect();
            said.iter().any(|text| text.contains(&window))
        })
    }

    fn found(told: &str, said: &[&str]) -> Vec<Run> {
        let told_texts = [ToldText { server: 1, position: 100, text: told }];
        let said_texts: Vec<SaidText<'_>> = said
            .iter()
            .enumerate()
            .map(|(position, text)| SaidText { server: 0, position, text: Cow::Borrowed(text) })
            .collect();
        runs(&told_texts, &said_texts)
    }

    /// Letters in no order that repeats.
    fn letters(seed: u32, count: usize) -> String {
        let mut state = seed;
        let mut letter = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + u8::try_from((state >> 16) % 26).unwrap_or(0))
        };
        (0..count).map(|_| letter()).collect()
    }

    #[test]
    fn a_run_is_measured_to_its_ends() {
        let said = letters(3, 300);
        let told = format!("INSERT '{}' NOW", &said[40..200]);
        let runs = found(&told, &[&said]);
        assert_eq!(runs.len(), 1);
        assert_eq!(&told[runs[0].range.clone()], &said[40..200]);
        assert!(runs[0].parts_before && runs[0].parts_after);
        let whole = found(&said, &[&said]);
        assert_eq!(whole[0].range, 0..300);
        assert!(!whole[0].parts_before && !whole[0].parts_after);
    }

    #[test]
    fn sixty_three_characters_are_no_run_and_sixty_four_are() {
        let said = letters(5, 300);
        for start in 0..40 {
            assert!(found(&format!("#{}#", &said[start..start + 63]), &[&said]).is_empty());
            assert_eq!(found(&format!("#{}#", &said[start..start + 64]), &[&said]).len(), 1);
        }
    }

    #[test]
    fn a_later_text_with_the_same_beginning_is_not_hidden_by_the_first() {
        let common = letters(9, 60);
        let (first, later) = (format!("{common}!"), format!("{common} and then it goes on"));
        let runs = found(&later, &[&first, &later]);
        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].said, runs[0].range.clone()), (1, 0..later.len()));
    }

    #[test]
    fn characters_count_not_bytes() {
        let said: String = letters(1, 70).chars().map(|c| if c == 'a' { '漢' } else { 'é' }).collect();
        let said = format!("{said}{}", letters(2, 20));
        let cut = |count: usize| said.chars().take(count).collect::<String>();
        assert!(found(&format!("{}#", cut(63)), &[&said]).is_empty());
        assert_eq!(found(&format!("{}#", cut(64)), &[&said]).len(), 1);
    }

    #[test]
    fn the_same_server_and_later_results_do_not_count() {
        let text = letters(3, 100);
        let said = |server, position| SaidText { server, position, text: Cow::Borrowed(text.as_str()) };
        let told_texts = [ToldText { server: 1, position: 5, text: &text }];
        assert!(runs(&told_texts, &[said(1, 0)]).is_empty());
        assert!(runs(&told_texts, &[said(0, 6)]).is_empty());
        assert_eq!(runs(&told_texts, &[said(0, 0), said(2, 1), said(0, 2)]).len(), 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn a_run_is_found_exactly_when_there_is_one(
            pieces in prop::collection::vec("[ab]{4}|é漢", 1..40),
            said in prop::collection::vec(prop::collection::vec(0_usize..40, 1..40), 1..4),
            told in prop::collection::vec(0_usize..40, 1..40),
        ) {
            let text = |order: &[usize]| order.iter().map(|i| pieces[i % pieces.len()].as_str()).collect::<String>();
            let said: Vec<String> = said.iter().map(|order| text(order)).collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            let told = text(&told);
            let runs = found(&told, &said);
            prop_assert_eq!(!runs.is_empty(), has_run(&told, &said), "{} {:?}", told, said);
            for run in runs {
                let part = &told[run.range];
                prop_assert!(part.chars().count() >= LEAST);
                prop_assert!(said[run.said].contains(part));
            }
        }
    }
}
