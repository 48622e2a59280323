//! Memory that sessions keep: bounded for each, and for all of them together.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes kept by all sessions of this process.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// The room for something that is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// This session has used up its own.
    UsedUp,
    /// All sessions together have used up what there is; that is not the fault of this one.
    UsedByOthers,
}

/// Bytes that one session keeps of one kind of message; dropping it releases them.
#[derive(Debug, Default)]
pub(crate) struct MemoryReservation {
    /// Bytes of this session, whether or not there was room for them: its own bound does not depend on others.
    brought: usize,
    /// Bytes of them that are kept.
    kept: usize,
}

impl MemoryReservation {
    /// Counts something that is to be kept, if there is room for it.
    pub(crate) fn add(&mut self, bytes: usize, most: usize, most_of_all: usize) -> Room {
        if self.brought.saturating_add(bytes) > most {
            return Room::UsedUp;
        }
        self.brought += bytes;
        if ALL.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > most_of_all {
            ALL.fetch_sub(bytes, Ordering::Relaxed);
            return Room::UsedByOthers;
        }
        self.kept += bytes;
        Room::Enough
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        ALL.fetch_sub(self.kept, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_dropped_gives_its_room_back() {
        let mut first = MemoryReservation::default();
        assert_eq!(first.add(6, 10, usize::MAX), Room::Enough);
        assert_eq!(first.add(6, 10, usize::MAX), Room::UsedUp);
        let mut second = MemoryReservation::default();
        assert_eq!(second.add(6, 20, 0), Room::UsedByOthers);
        drop(first);
        assert_eq!(second.add(6, 20, usize::MAX), Room::Enough);
    }

    #[test]
    fn a_session_that_brings_too_much_is_named_also_when_others_have_used_all_the_room() {
        let mut flooding = MemoryReservation::default();
        assert_eq!(flooding.add(6, 10, 0), Room::UsedByOthers);
        assert_eq!(flooding.add(6, 10, 0), Room::UsedUp);
    }
}
