//! The frame reader: whatever bytes come in whatever pieces, every line comes out once, whole or said not to be, and can
//! be told for what it is.

#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::fuzz_target;
use mcprove_wire::transport::Arrival;
use mcprove_wire::{Limits, Transport, classify};
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::{Builder, Runtime};

const LIMIT: usize = 300;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    thread_local!(static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() });
    RUNTIME.with(|cell| {
        let runtime = cell.get_or_init(|| Builder::new_current_thread().build().expect("a runtime"));
        runtime.block_on(read(usize::from(*first) + 1, text));
    });
});

async fn read(piece: usize, text: &[u8]) {
    let limits = Limits { message_bytes: LIMIT, ..Limits::default() };
    let (mut near, mut peer) = Transport::memory(&limits);
    let feed = async move {
        for piece in text.chunks(piece) {
            peer.stream.write_all(piece).await.expect("it is read");
        }
    };
    let take = async {
        let mut lines = text.split(|byte| *byte == b'\n');
        loop {
            match near.receive().await {
                Arrival::Message(line) => {
                    assert_eq!(Some(&line[..]), lines.next(), "a line is what was written");
                    let _ = classify(&line);
                }
                Arrival::Oversized(head) => {
                    let line = lines.next().expect("there was a line");
                    assert!(line.len() > LIMIT && line.starts_with(&head), "only a long line is cut");
                }
                Arrival::Torn(rest) => assert_eq!(Some(&rest[..]), lines.next(), "the rest is what was written"),
                Arrival::Closed { .. } => return,
                other => panic!("lines give {other:?}"),
            }
        }
    };
    tokio::join!(feed, take);
}
