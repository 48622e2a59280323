//! The parser of server-sent events: events do not depend on how they are cut into pieces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_wire::{SseEvent, SseParser, TooLong};

const LIMIT: usize = 4096;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let whole = parse(text, text.len().max(1));
    let pieces = parse(text, usize::from(*first) + 1);
    assert_eq!(whole, pieces);
});

fn parse(text: &[u8], piece: usize) -> Result<(Vec<SseEvent>, bool), TooLong> {
    let mut parser = SseParser::new(LIMIT);
    let mut events = Vec::new();
    for piece in text.chunks(piece) {
        events.extend(parser.push(piece)?);
    }
    Ok((events, parser.is_inside()))
}
