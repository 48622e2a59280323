//! Recursive work on a stack that is large enough for it.

use std::thread;

/// The depth that fits on the stack of any thread.
const SHALLOW: usize = 60;
/// The stack for everything else: what `CHAIN` and `DEEPEST` allow, in a debug build. Only pages that are used cost memory.
const STACK: usize = 512 << 20;

/// Runs work whose recursion is `depth` levels deep, where needed on a thread of its own.
pub(crate) fn on_deep_stack<T: Send>(depth: usize, work: impl FnOnce() -> T + Send) -> T {
    if depth <= SHALLOW {
        return work();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("schema".to_owned()).stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.expect("a thread can be started");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_recursion_has_room() {
        fn down(levels: usize) -> usize {
            let page = std::hint::black_box([1_u8; 4096]);
            if levels == 0 { 0 } else { usize::from(page[levels % 4096]) + down(levels - 1) }
        }
        assert_eq!(on_deep_stack(1, || 7), 7);
        assert_eq!(on_deep_stack(10_000, || down(10_000)), 10_000);
    }
}
