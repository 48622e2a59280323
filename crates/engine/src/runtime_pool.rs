//! The threads that lanes, and the clients of a load, run on.
//!
//! Each has a runtime of its own: a session and its process stay on one thread, and nothing is woken across threads but the
//! loop that takes the results. A runtime that hands tasks from thread to thread costs a short session a tenth of its time.

use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Threads for lanes: the one that asks for them, and helpers.
#[derive(Debug)]
pub(crate) struct RuntimePool {
    helpers: Vec<PoolThread>,
    /// Number of lanes on each thread; the calling thread is the first.
    busy: Vec<usize>,
}

#[derive(Debug)]
struct PoolThread {
    handle: Handle,
    /// Dropped when the helper may go.
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl RuntimePool {
    /// As many threads as are wanted, or as many as there can be.
    pub(crate) fn of(threads: usize) -> Self {
        let helpers: Vec<_> = (1..threads).map_while(|_| PoolThread::start()).collect();
        Self { busy: vec![0; helpers.len() + 1], helpers }
    }

    /// Number of threads.
    pub(crate) fn size(&self) -> usize {
        self.busy.len()
    }

    /// Starts a lane on the least busy thread; `lane` gets the index of that thread and returns it when it ends. Of threads that
    /// are equally busy, a lane that stays `apart` gets a helper.
    pub(crate) fn begin<F>(&mut self, running: &mut JoinSet<usize>, apart: bool, lane: impl FnOnce(usize) -> F)
    where
        F: Future<Output = usize> + Send + 'static,
    {
        let by_load = |place: &usize| (self.busy[*place], apart == (*place == 0));
        let place = (0..self.size()).min_by_key(by_load).unwrap_or(0);
        self.busy[place] += 1;
        match place.checked_sub(1) {
            Some(helper) => running.spawn_on(lane(place), &self.helpers[helper].handle),
            None => running.spawn(lane(place)),
        };
    }

    /// The runtime of a thread; the calling thread is the first.
    pub(crate) fn runtime(&self, place: usize) -> Handle {
        place.checked_sub(1).map_or_else(Handle::current, |helper| self.helpers[helper].handle.clone())
    }

    /// A lane has ended on this thread.
    pub(crate) fn ended(&mut self, place: usize) {
        self.busy[place] -= 1;
    }
}

impl PoolThread {
    fn start() -> Option<Self> {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let (over, awaited) = oneshot::channel();
        // Nothing is ever sent: it ends when the other side is dropped.
        let work = move || drop(runtime.block_on(awaited));
        let thread = std::thread::Builder::new().name("lanes".to_owned()).spawn(work).ok()?;
        Some(Self { handle, over: Some(over), thread: Some(thread) })
    }
}

impl Drop for PoolThread {
    fn drop(&mut self) {
        self.over = None;
        // Tasks that still run there are dropped with the runtime, which ends their processes: wait until that is done.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_that_stays_apart_gets_a_helper_where_one_is_free() {
        let mut pool = RuntimePool::of(2);
        let mut running = JoinSet::new();
        for apart in [true, false, true] {
            pool.begin(&mut running, apart, std::future::ready);
        }
        assert_eq!(pool.busy, [1, 2]);
        let mut places = Vec::new();
        while let Some(place) = running.join_next().await {
            places.push(place.expect("no panic"));
        }
        places.sort_unstable();
        assert_eq!(places, [0, 1, 1]);
    }
}
