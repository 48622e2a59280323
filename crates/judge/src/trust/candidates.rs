//! Pieces of results in the arguments of later calls to other servers, before anything is said about their worth.

use std::borrow::Cow;
use std::ops::Range;

use mcprove_model::Boundary;

use super::haystack::Haystack;
use super::needles::Needles;
use super::outputs::{Output, SaidPart, outputs};
use super::parts::Want;
use super::propagation::{Record, leaf_texts};
use super::rolling::{HashedMap, Sieve, beginning, windows};
use super::runs::{self, Run, SaidText, ToldText};

/// The most characters that are looked at to recognise the beginning of a piece.
const BEGINNING: usize = 16;
/// Number of characters at an end of a run that may be equal by chance: the quote after a value, the break after a
/// line.
const CHANCE: usize = 2;

/// A piece that a call carries and an earlier result of another server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The call whose result said it.
    pub(super) producer: usize,
    /// Position of that result in the trace.
    pub(super) said: usize,
    /// The call that carries it.
    pub(super) consumer: usize,
    pub(super) what: What,
    /// True if it carries enough that was not familiar; set later.
    pub(super) is_strange: bool,
}

/// The carried content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A part of a text of the arguments.
    Text {
        /// Index of the text.
        told: usize,
        /// The bytes that are carried.
        range: Range<usize>,
        /// The same without what may be there by chance.
        core: Range<usize>,
    },
    /// An object of the arguments.
    Object {
        /// Index of the object.
        told: usize,
    },
}

/// First occurrence of something in the output of a server.
#[derive(Clone, Copy, Debug)]
struct Source {
    server: usize,
    reply: usize,
}

/// Texts of results, as far as they can matter for later calls.
#[derive(Debug)]
struct Sayings<'t> {
    pieces: Needles,
    piece_sources: Vec<Vec<Source>>,
    objects: HashedMap<Vec<Source>>,
    texts: Vec<SaidText<'t>>,
    /// The reply of each of the texts.
    replies: Vec<usize>,
}

/// Finds every piece that is carried from a server to another.
pub(super) fn candidates(record: &Record<'_>, haystack: &Haystack<'_>, boundary: &Boundary) -> Vec<Candidate> {
    let min_length = boundary.min_length.max(1);
    // Text sent to a required sanitizer is on its way, not at its end.
    let is_end = |call: usize| !record.is_sanitizer(call, boundary);
    let texts: Vec<usize> = (0..haystack.texts.len()).filter(|index| is_end(haystack.texts[*index].call)).collect();
    let objects: Vec<usize> = (0..haystack.objects.len())
        .filter(|index| {
            let object = &haystack.objects[*index];
            let length: usize = leaf_texts(object.members).iter().map(|text| text.chars().count()).sum();
            is_end(object.call) && length >= min_length
        })
        .collect();
    let said = listen(record, haystack, boundary, &Ends { texts: &texts, objects: &objects });

    let mut found = Vec::new();
    let source_of = |source: &Source, consumer: usize, what: What| {
        let reply = record.replies[source.reply];
        let asked = record.asked[consumer];
        (source.server != asked.server && reply.position < asked.position).then_some(Candidate {
            producer: reply.call,
            said: reply.position,
            consumer,
            what,
            is_strange: false,
        })
    };
    // Repetitions of a piece in one text count once.
    let mut last_text: Vec<Option<usize>> = vec![None; said.pieces.count()];
    for told in &texts {
        let text = &haystack.texts[*told];
        said.pieces.find(text.text, |id, start| {
            if last_text[id].replace(*told) == Some(*told) {
                return;
            }
            let range = start..start + said.pieces.text(id).len();
            let what = What::Text { told: *told, range: range.clone(), core: range };
            let sources = said.piece_sources[id].iter();
            found.extend(sources.filter_map(|source| source_of(source, text.call, what.clone())));
        });
    }
    for told in &objects {
        let object = &haystack.objects[*told];
        let sources = said.objects.get(&object.hash).into_iter().flatten();
        found.extend(sources.filter_map(|source| source_of(source, object.call, What::Object { told: *told })));
    }
    let told_texts: Vec<ToldText<'_>> = texts
        .iter()
        .map(|told| {
            let text = &haystack.texts[*told];
            let asked = record.asked[text.call];
            ToldText { server: asked.server, position: asked.position, text: text.text }
        })
        .collect();
    found.extend(runs::runs(&told_texts, &said.texts).into_iter().map(|run| {
        let told = texts[run.told];
        let reply = record.replies[said.replies[run.said]];
        let text = &haystack.texts[told];
        let core = core(text.text, &run);
        Candidate {
            producer: reply.call,
            said: reply.position,
            consumer: text.call,
            what: What::Text { told, range: run.range, core },
            is_strange: false,
        }
    }));
    found
}

/// The texts and objects at which a flow can end.
#[derive(Clone, Copy, Debug)]
struct Ends<'e> {
    texts: &'e [usize],
    objects: &'e [usize],
}

/// Reads all results once and keeps what may have been carried on.
fn listen<'t>(record: &Record<'t>, haystack: &Haystack<'_>, boundary: &Boundary, ends: &Ends<'_>) -> Sayings<'t> {
    let min_length = boundary.min_length.max(1);
    let start = min_length.min(BEGINNING);
    let ending = || ends.texts.iter().map(|told| haystack.texts[*told].text);
    let mut sieve = Sieve::for_about(ending().map(str::len).sum());
    ending().for_each(|text| windows(text, start, |_, hash| sieve.put(hash)));
    let any_long = ending().any(|text| text.len() >= runs::LEAST);

    let mut objects: HashedMap<Vec<Source>> = HashedMap::default();
    for told in ends.objects {
        objects.entry(haystack.objects[*told].hash).or_default();
    }
    let want = if objects.is_empty() { Want::Texts } else { Want::TextsAndObjects };
    let mut said = Sayings {
        pieces: Needles::new(start),
        piece_sources: Vec::new(),
        objects,
        texts: Vec::new(),
        replies: Vec::new(),
    };
    for (index, reply) in record.replies.iter().enumerate() {
        // What a required sanitizer returns is on its way onwards.
        if record.is_sanitizer(reply.call, boundary) {
            continue;
        }
        let source = Source { server: record.asked[reply.call].server, reply: index };
        let before = said.texts.len();
        outputs(reply.result, want, &mut |output| match output {
            Output::Text(part) => {
                let piece = part.text.trim();
                if piece.len() >= min_length
                    && beginning(piece, start).is_some_and(|hash| sieve.may_hold(hash))
                    && piece.chars().take(min_length).count() == min_length
                {
                    said.keep_piece(piece, source);
                }
                if any_long && !part.repeated && part.text.len() >= runs::LEAST {
                    said.keep_text(part, source, reply.position);
                }
            }
            Output::Object(hash) => {
                if let Some(sources) = said.objects.get_mut(&hash) {
                    add_first(sources, source);
                }
            }
        });
        // Which of two texts of a result counts as the first must not depend on the order of its keys.
        said.texts[before..].sort_unstable_by(|one, other| one.text.cmp(&other.text));
    }
    said
}

impl<'t> Sayings<'t> {
    fn keep_piece(&mut self, piece: &str, source: Source) {
        let id = self.pieces.add(piece);
        if id == self.piece_sources.len() {
            self.piece_sources.push(Vec::new());
        }
        add_first(&mut self.piece_sources[id], source);
    }

    fn keep_text(&mut self, part: SaidPart<'_, 't>, source: Source, position: usize) {
        let text = part.lasting.map_or_else(|| Cow::Owned(part.text.to_owned()), Cow::Borrowed);
        self.texts.push(SaidText { server: source.server, position, text });
        self.replies.push(source.reply);
    }
}

/// Whatever a server said more than once, the first time decides.
fn add_first(sources: &mut Vec<Source>, source: Source) {
    if !sources.iter().any(|known| known.server == source.server) {
        sources.push(source);
    }
}

/// A run without the characters at its ends that may be the same by chance, and without white space around.
fn core(text: &str, run: &Run) -> Range<usize> {
    let mut range = run.range.clone();
    if run.parts_before {
        range.start += text[range.clone()].chars().take(CHANCE).map(char::len_utf8).sum::<usize>();
    }
    if run.parts_after {
        range.end -= text[range.clone()].chars().rev().take(CHANCE).map(char::len_utf8).sum::<usize>();
    }
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start().len();
    start..start + inner.trim().len()
}

impl Candidate {
    /// The texts that are carried, trimmed.
    pub(super) fn texts<'t>(&self, haystack: &Haystack<'t>) -> Vec<&'t str> {
        match &self.what {
            What::Text { told, range, .. } => vec![haystack.texts[*told].text[range.clone()].trim()],
            What::Object { told } => leaf_texts(haystack.objects[*told].members),
        }
    }

    /// Its place in the arguments.
    pub(super) fn pointer<'h>(&self, haystack: &'h Haystack<'_>) -> &'h str {
        match &self.what {
            What::Text { told, .. } => &haystack.texts[*told].pointer,
            What::Object { told } => &haystack.objects[*told].pointer,
        }
    }

    /// Length of the carried text.
    pub(super) fn length(&self, haystack: &Haystack<'_>) -> usize {
        self.texts(haystack).iter().map(|text| text.len()).sum()
    }

    /// Index of its text, and the bytes there; objects come after all texts.
    pub(super) fn place(&self) -> ((bool, usize), Range<usize>) {
        match &self.what {
            What::Text { told, range, .. } => ((false, *told), range.clone()),
            What::Object { told } => ((true, *told), 0..0),
        }
    }

    /// True if it is a part of another.
    pub(super) fn lies_within(&self, other: &Self) -> bool {
        let ((place, range), (around, outer)) = (self.place(), other.place());
        place == around && outer.start <= range.start && range.end <= outer.end
    }
}
