//! The connections of a listener: bounded in number, in the time they may say nothing, and in what is kept of their bodies.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::Notify;

/// Time in which a new connection must have sent the head of a request.
const FIRST_HEAD: Duration = Duration::from_secs(10);

/// The connections of one listener. Where there are too many, the one that has waited longest without a request is closed.
#[derive(Clone, Debug)]
pub struct Connections(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    most: usize,
    serial: u64,
    open: HashMap<u64, Entry>,
    /// Connections without a request, by the order in which they began to wait.
    idle: BTreeMap<u64, u64>,
}

#[derive(Debug)]
struct Entry {
    /// Requests that are not answered yet.
    requests: usize,
    idle_since: Option<u64>,
    is_heard: bool,
    closed: Arc<Notify>,
}

/// An open connection; dropping it makes room for another.
#[derive(Debug)]
pub struct Connection {
    all: Connections,
    id: u64,
    closed: Arc<Notify>,
}

/// A request that is not answered yet: its connection stays open.
#[derive(Debug)]
pub struct OpenRequest {
    all: Connections,
    id: u64,
}

impl Connections {
    /// At most this many connections at a time.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Mutex::new(State { most, serial: 0, open: HashMap::new(), idle: BTreeMap::new() })))
    }

    /// Takes a new connection; `None` if all there may be have open requests.
    pub fn admit(&self) -> Option<Arc<Connection>> {
        let mut state = self.state();
        if state.open.len() >= state.most && !state.close_idle() {
            return None;
        }
        state.serial += 1;
        let (id, closed) = (state.serial, Arc::new(Notify::new()));
        let entry = Entry { requests: 0, idle_since: Some(id), is_heard: false, closed: Arc::clone(&closed) };
        state.open.insert(id, entry);
        state.idle.insert(id, id);
        drop(state);
        Some(Arc::new(Connection { all: self.clone(), id, closed }))
    }

    /// Closes the connection that has waited longest without a request: no more can be accepted.
    pub fn make_room(&self) {
        self.state().close_idle();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn close_idle(&mut self) -> bool {
        let Some((_, id)) = self.idle.pop_first() else { return false };
        if let Some(entry) = self.open.remove(&id) {
            entry.closed.notify_one();
        }
        true
    }
}

impl Connection {
    /// The head of a request came.
    pub fn heard(&self) {
        if let Some(entry) = self.all.state().open.get_mut(&self.id) {
            entry.is_heard = true;
        }
    }

    /// A whole request came: until it is answered, the connection is not closed for others.
    pub fn request(&self) -> OpenRequest {
        let mut state = self.all.state();
        let State { open, idle, .. } = &mut *state;
        if let Some(entry) = open.get_mut(&self.id) {
            entry.requests += 1;
            entry.is_heard = true;
            if let Some(since) = entry.idle_since.take() {
                idle.remove(&since);
            }
        }
        drop(state);
        OpenRequest { all: self.all.clone(), id: self.id }
    }

    /// Ends when the connection is to be closed: no head came in time, or there are too many connections.
    pub async fn over(&self) {
        tokio::select! {
            () = self.closed.notified() => return,
            () = tokio::time::sleep(FIRST_HEAD) => {}
        }
        if self.all.state().open.get(&self.id).is_some_and(|entry| entry.is_heard) {
            self.closed.notified().await;
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.all.state();
        if let Some(since) = state.open.remove(&self.id).and_then(|entry| entry.idle_since) {
            state.idle.remove(&since);
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut state = self.all.state();
        state.serial += 1;
        let State { open, idle, serial, .. } = &mut *state;
        if let Some(entry) = open.get_mut(&self.id) {
            entry.requests -= 1;
            if entry.requests == 0 {
                entry.idle_since = Some(*serial);
                idle.insert(*serial, self.id);
            }
        }
    }
}

/// The body of an answer, with the request that is open until the body is gone.
#[derive(Debug)]
pub struct AnswerBody<B> {
    body: B,
    _request: Option<OpenRequest>,
}

impl<B> AnswerBody<B> {
    /// A body, and the request that it answers.
    pub fn new(body: B, request: Option<OpenRequest>) -> Self {
        Self { body, _request: request }
    }
}

impl<B: Body + Unpin> Body for AnswerBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Room for what is kept of all clients of a listener.
#[derive(Clone, Debug)]
pub struct Room(Arc<Counted>);

#[derive(Debug)]
struct Counted {
    most: usize,
    used: AtomicUsize,
}

/// Room that is taken; dropping it gives it back.
#[derive(Debug)]
pub struct TakenRoom {
    room: Room,
    bytes: usize,
}

impl Room {
    /// Room for this many bytes.
    pub fn new(most: usize) -> Self {
        Self(Arc::new(Counted { most, used: AtomicUsize::new(0) }))
    }

    /// No room yet, to be taken bit by bit.
    pub fn nothing(&self) -> TakenRoom {
        TakenRoom { room: self.clone(), bytes: 0 }
    }

    /// Takes room, if there is as much.
    pub fn take(&self, bytes: usize) -> Option<TakenRoom> {
        let mut taken = self.nothing();
        taken.grow(bytes).then_some(taken)
    }
}

impl TakenRoom {
    /// Takes more room; false if there is none.
    #[must_use]
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Counted { most, used } = &*self.room.0;
        let has_room = used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= *most;
        if has_room {
            self.bytes += bytes;
        } else {
            used.fetch_sub(bytes, Ordering::Relaxed);
        }
        has_room
    }

    /// Gives all of it back.
    pub fn clear(&mut self) {
        self.room.0.used.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for TakenRoom {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_over(connection: &Connection) -> bool {
        tokio::time::timeout(Duration::ZERO, connection.over()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_waited_longest_without_a_request_makes_room() {
        let all = Connections::new(2);
        let (first, second) = (all.admit().expect("room"), all.admit().expect("room"));
        let request = first.request();
        let third = all.admit().expect("the second one has none");
        assert!(is_over(&second).await && !is_over(&first).await && !is_over(&third).await);
        let other = third.request();
        assert!(all.admit().is_none(), "all have requests");
        drop(request);
        let fourth = all.admit().expect("the first was answered");
        assert!(is_over(&first).await && !is_over(&fourth).await);
        drop((other, third, fourth, first, second));
        let state = all.state();
        assert_eq!((state.open.len(), state.idle.len()), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_head_is_closed_after_a_while() {
        let all = Connections::new(2);
        let (silent, used) = (all.admit().expect("room"), all.admit().expect("room"));
        used.heard();
        silent.over().await;
        assert!(tokio::time::timeout(Duration::from_mins(10), used.over()).await.is_err());
    }

    #[test]
    fn room_is_given_back() {
        let room = Room::new(10);
        let mut first = room.take(6).expect("room");
        assert!(room.take(5).is_none() && first.grow(4) && !first.grow(1));
        drop(first);
        assert!(room.take(10).is_some());
    }
}
