//! A client of a load: it owns a session and keeps calls open on it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use mcprove_judge::load::Shape;
use mcprove_model::{LoadError, Outcome};
use mcprove_wire::{Finished, Session};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

use super::driver::OPENING_GRACE;
use super::pacer::Arrival;
use super::recorder::{CallVerdict, Ended, Recorder};
use super::reference::{Reference, is_unanswered};
use super::sessions::{NotOpened, Phases, Sessions};
use super::workload::{LoadCall, LoadRequest};
use super::{LoadOptions, SessionPer};

/// After how many calls the record of a session is dropped.
const FORGET: u64 = 64;
/// The pause after a session could not be opened.
const RETRY: Duration = Duration::from_millis(100);
/// The pause of a client that is not needed at the moment.
const IDLE: Duration = Duration::from_millis(10);
/// A session without open calls is looked at this often.
const LOOK: Duration = Duration::from_secs(1);

/// State shared by the clients of a load.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: LoadOptions,
    pub(super) sessions: Sessions,
    pub(super) calls: Vec<LoadCall>,
    pub(super) references: Vec<Reference>,
    /// The order of calls, by position.
    pub(super) order: Vec<usize>,
    /// Sessions that may be opened at the same time.
    pub(super) opening: Semaphore,
    /// Calls that may still be started, of a closed loop.
    pub(super) budget: AtomicI64,
    pub(super) next_number: AtomicU64,
    /// Number of calls of each kind that were started, by position.
    pub(super) started: Vec<AtomicU64>,
    pub(super) active: AtomicU64,
    /// True once the load is stopped before its end.
    pub(super) is_stopping: AtomicBool,
}

/// A moment of the load and its end; known once all clients are ready.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    pub(super) begin: Instant,
    pub(super) end: Instant,
    /// The shape with the warm-up.
    pub(super) shape: Arc<Shape>,
    pub(super) recorder: Arc<Recorder>,
}

/// A client.
pub(super) struct Client {
    /// Its number in the whole load.
    number: u32,
    shared: Arc<Shared>,
    /// The calls it is handed, in an open loop.
    arrivals: Option<mpsc::UnboundedReceiver<Arrival>>,
    waiting: VecDeque<Arrival>,
    session: Option<Box<Session>>,
    pid: Option<u32>,
    /// Calls that were made on the session.
    used: u64,
    open: Vec<OpenCall>,
    is_active: bool,
    /// True once no more calls will be handed to it.
    is_drained: bool,
    /// True while it opens or closes a session.
    is_switching: Arc<AtomicBool>,
}

/// A call that waits for its reply.
struct OpenCall {
    id: u64,
    call: usize,
    intended: Instant,
    sent: Instant,
    /// Number of calls of the load that were open when it was sent, itself included.
    concurrent: u64,
    judged: bool,
}

impl Client {
    pub(super) fn new(number: u32, shared: Arc<Shared>, arrivals: Option<mpsc::UnboundedReceiver<Arrival>>) -> Self {
        Self {
            number,
            shared,
            arrivals,
            waiting: VecDeque::new(),
            session: None,
            pid: None,
            used: 0,
            open: Vec::new(),
            is_active: false,
            is_drained: false,
            is_switching: Arc::default(),
        }
    }

    /// Opens its session ahead of the load, or when a call needs it.
    pub(super) async fn prepare(&mut self) -> Result<Phases, NotOpened> {
        let (session, phases) = self.shared.open().await?;
        self.pid = session.process_id();
        self.session = Some(session);
        self.used = 0;
        Ok(phases)
    }

    /// The process of its session.
    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Makes calls until the load is over, or is stopped, and closes the session.
    pub(super) async fn run(mut self, pace: Pace, mut stopped: oneshot::Receiver<()>) {
        let is_switching = Arc::clone(&self.is_switching);
        {
            let mut calling = std::pin::pin!(self.call(&pace));
            let is_stopped = tokio::select! {
                biased;
                () = &mut calling => false,
                stopped = &mut stopped => stopped.is_ok(),
            };
            // Replies are not waited for; a session that is being opened or closed is, or it would be left behind.
            if is_stopped && is_switching.load(Ordering::Relaxed) {
                let _ = timeout(OPENING_GRACE, calling).await;
            }
        }
        self.rest();
        self.close(&pace).await;
    }

    /// Makes calls until the load is over, and waits for their replies.
    async fn call(&mut self, pace: &Pace) {
        loop {
            let more = self.fill(pace).await;
            let is_over = !more && self.open.is_empty() && self.waiting.is_empty();
            if is_over || self.shared.is_stopping.load(Ordering::Relaxed) {
                return;
            }
            self.wait(pace).await;
        }
    }

    /// Starts calls for as long as there is room; false once no more will come.
    async fn fill(&mut self, pace: &Pace) -> bool {
        loop {
            if self.open.len() >= self.shared.options.in_flight as usize {
                return true;
            }
            if self.is_worn_out() {
                if !self.open.is_empty() {
                    return true;
                }
                self.close(pace).await;
            }
            let arrival = match self.next_arrival(pace) {
                Next::Call(arrival) => arrival,
                Next::Later => return true,
                Next::Never => return false,
            };
            if self.session.is_none() {
                self.is_switching.store(true, Ordering::Relaxed);
                let is_open = self.open_session(pace, &arrival).await;
                self.is_switching.store(false, Ordering::Relaxed);
                if self.shared.is_stopping.load(Ordering::Relaxed) {
                    return false;
                }
                if !is_open {
                    continue;
                }
            }
            self.start(arrival, pace);
        }
    }

    fn is_worn_out(&self) -> bool {
        match self.shared.options.session_per {
            SessionPer::Client => false,
            SessionPer::Calls(number) => self.session.is_some() && self.used >= number,
        }
    }

    /// The call that is to be started now.
    fn next_arrival(&mut self, pace: &Pace) -> Next {
        let Some(arrivals) = &mut self.arrivals else { return self.next_of_loop(pace) };
        loop {
            let arrival = match self.waiting.pop_front() {
                Some(arrival) => arrival,
                None => match arrivals.try_recv() {
                    Ok(arrival) => arrival,
                    Err(mpsc::error::TryRecvError::Empty) => return Next::Later,
                    Err(mpsc::error::TryRecvError::Disconnected) => return Next::Never,
                },
            };
            // A caller would have given up by now.
            if arrival.intended.elapsed() > self.shared.options.timeout {
                pace.recorder.dropped(arrival.intended);
                continue;
            }
            return Next::Call(arrival);
        }
    }

    /// The next call of a closed loop: at once, if this client is one of those that are wanted at the moment.
    fn next_of_loop(&mut self, pace: &Pace) -> Next {
        let now = Instant::now();
        if now >= pace.end {
            return Next::Never;
        }
        let level = pace.shape.level(now.saturating_duration_since(pace.begin));
        if now < pace.begin || f64::from(self.number) + 0.5 >= level {
            self.rest();
            return Next::Later;
        }
        // Calls of the warm-up are not among those that are asked for.
        let is_measured = now >= pace.begin + self.shared.options.warm_up;
        if is_measured && self.shared.budget.fetch_sub(1, Ordering::Relaxed) <= 0 {
            return Next::Never;
        }
        if !self.is_active {
            self.is_active = true;
            pace.recorder.active(self.shared.active.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Next::Call(Arrival { number: self.shared.next_number.fetch_add(1, Ordering::Relaxed), intended: now })
    }

    /// Counts the client as inactive.
    fn rest(&mut self) {
        if std::mem::take(&mut self.is_active) {
            self.shared.active.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Opens a session for a call; where that fails, the call has failed.
    async fn open_session(&mut self, pace: &Pace, arrival: &Arrival) -> bool {
        let sent = Instant::now();
        match self.prepare().await {
            Ok(phases) => {
                pace.recorder.opened(&phases, self.pid);
                true
            }
            Err(failure) => {
                pace.recorder.not_opened(&failure);
                let at = Instant::now();
                let concurrent = pace.recorder.meter.started(at);
                pace.recorder.ended(Ended {
                    call: self.shared.call_of(arrival.number),
                    intended: arrival.intended,
                    sent,
                    at,
                    concurrent,
                    verdict: CallVerdict::Failed(LoadError::NoSession, failure.failure.message),
                });
                sleep(RETRY).await;
                false
            }
        }
    }

    fn start(&mut self, arrival: Arrival, pace: &Pace) {
        let Some(session) = &mut self.session else { return };
        let call = self.shared.call_of(arrival.number);
        let is_idle = self.open.is_empty();
        // Before it is sent: the server may have answered by the time that the system has taken it.
        let sent = Instant::now();
        let id = match &self.shared.calls[call].request {
            LoadRequest::Tool { name, arguments } => session.start_call(name, arguments),
            LoadRequest::Other { method, params } => session.start(method, params),
        };
        if is_idle && self.arrivals.is_some() {
            pace.recorder.lag(arrival.intended, sent);
        }
        self.used += 1;
        if self.arrivals.is_none() {
            pace.recorder.active(self.shared.active.load(Ordering::Relaxed));
        }
        self.open.push(OpenCall {
            id,
            call,
            intended: arrival.intended,
            sent,
            concurrent: pace.recorder.meter.started(sent),
            judged: self.shared.is_judged(call),
        });
    }

    /// Waits for a reply, a call that is to start, or the time limit of a call.
    async fn wait(&mut self, pace: &Pace) {
        let timeout = self.shared.options.timeout;
        let until = self.open.iter().map(|open| open.sent + timeout).min();
        let has_room = self.open.len() < self.shared.options.in_flight as usize && !self.is_worn_out();
        let finished = {
            let session = &mut self.session;
            // A single caller has a core of its own to watch for its reply.
            let watched =
                self.open.first().filter(|_| self.arrivals.is_none() && self.shared.is_alone()).map(|open| open.id);
            let finish = async {
                if let (Some(session), Some(id)) = (&mut *session, watched) {
                    session.stay_awake_for(id).await;
                }
                match session {
                    Some(session) => session.finish_any(until.unwrap_or_else(|| Instant::now() + LOOK)).await,
                    None => std::future::pending().await,
                }
            };
            let arrive = async {
                match &mut self.arrivals {
                    Some(arrivals) if has_room && !self.is_drained => arrivals.recv().await,
                    // A closed loop begins its next call when a reply comes; a client that is not needed looks again later.
                    None if has_room && self.open.is_empty() => {
                        sleep(IDLE).await;
                        None
                    }
                    Some(_) | None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                finished = finish => finished,
                arrival = arrive => {
                    self.is_drained = arrival.is_none() && self.arrivals.is_some();
                    self.waiting.extend(arrival);
                    return;
                }
            }
        };
        match finished {
            Some(finished) => {
                let is_unreachable =
                    matches!(&finished.exchange.outcome, Outcome::Refused(refused) if is_unanswered(refused));
                self.take(finished, pace).await;
                // Where nothing listens, a client waits before it calls again.
                if is_unreachable && self.arrivals.is_none() && self.open.is_empty() {
                    sleep(RETRY).await;
                }
            }
            None => self.expire(pace).await,
        }
    }

    /// Takes a reply, and with it the end of a session that is gone.
    async fn take(&mut self, finished: Finished, pace: &Pace) {
        let Some(at) = self.open.iter().position(|open| open.id == finished.id) else { return };
        let open = self.open.swap_remove(at);
        let call = &self.shared.calls[open.call];
        let Finished { mut exchange, at: mut ended, .. } = finished;
        let Some(session) = &mut self.session else { return };
        if session.goes_on(&exchange) {
            let params = match &call.request {
                LoadRequest::Tool { name, arguments } => session.tool_params(name, arguments),
                LoadRequest::Other { params, .. } => params.clone(),
            };
            exchange = session.go_on(exchange, &params, open.sent + self.shared.options.timeout).await;
            ended = Instant::now();
        }
        let revision = session.negotiated().revision;
        let verdict = self.shared.references[open.call].verdict(call, &exchange, open.judged, revision);
        // Of a reply whose content cannot be compared, only its shape is judged, which does not count.
        let is_wrong = matches!(verdict, CallVerdict::Failed(LoadError::WrongReply, _));
        if open.judged && (is_wrong || self.shared.references[open.call].judges(call)) {
            pace.recorder.checked(open.intended);
        }
        let OpenCall { call, intended, sent, concurrent, .. } = open;
        pace.recorder.ended(Ended { call, intended, sent, at: ended, concurrent, verdict });
        if self.used.is_multiple_of(FORGET) || !session.is_open() {
            pace.recorder.odd(session.forget());
        }
        let is_gone = matches!(exchange.outcome, Outcome::Closed { .. }) || !session.is_open();
        if is_gone && self.open.is_empty() {
            self.close(pace).await;
        }
    }

    /// Gives up the calls whose time is over.
    async fn expire(&mut self, pace: &Pace) {
        let timeout = self.shared.options.timeout;
        let Some(session) = &mut self.session else { return };
        if !session.is_open() && self.open.is_empty() {
            self.close(pace).await;
            return;
        }
        while let Some(at) = self.open.iter().position(|open| open.sent + timeout <= Instant::now()) {
            let OpenCall { id, call, intended, sent, concurrent, .. } = self.open.swap_remove(at);
            // A wait for each would hold up the calls that are to start.
            session.start_cancel(id, "timed out");
            session.give_up(id);
            let text = format!("no reply after {} ms", timeout.as_millis());
            let verdict = CallVerdict::Failed(LoadError::Timeout, text);
            pace.recorder.ended(Ended { call, intended, sent, at: Instant::now(), concurrent, verdict });
        }
    }

    async fn close(&mut self, pace: &Pace) {
        if let Some(session) = self.session.take() {
            self.is_switching.store(true, Ordering::Relaxed);
            pace.recorder.closed(self.pid.take());
            let closing = session.close().await;
            self.is_switching.store(false, Ordering::Relaxed);
            pace.recorder.odd(closing.oddities);
        }
    }
}

/// The next call of a client.
enum Next {
    Call(Arrival),
    /// None at the moment.
    Later,
    /// No more.
    Never,
}

impl Shared {
    /// True if no more than one call is open at a time.
    fn is_alone(&self) -> bool {
        self.options.in_flight == 1 && self.active.load(Ordering::Relaxed) <= 1
    }

    /// The kind of the call with a number.
    fn call_of(&self, number: u64) -> usize {
        let at = usize::try_from(number % self.order.len().max(1) as u64).unwrap_or(0);
        self.order.get(at).copied().unwrap_or(0)
    }

    /// True if the reply to the next call is one of those that are judged.
    fn is_judged(&self, call: usize) -> bool {
        let number = self.started[call].fetch_add(1, Ordering::Relaxed);
        is_sampled(number, self.options.check_every.max(1))
    }
}

/// True for one number of every `every` that follow each other, the first among them. The position changes from one group to
/// the next: calls and sessions take turns, and a fixed position would judge some of them always and others never.
fn is_sampled(number: u64, every: u64) -> bool {
    // Fibonacci hashing: the high bits of the product are spread evenly.
    let position = ((number / every).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % every;
    number % every == position
}

#[cfg(test)]
mod tests {
    use super::is_sampled;

    #[test]
    fn one_of_every_n_is_judged_whoever_takes_turns() {
        let sampled: Vec<u64> = (0..10_000).filter(|number| is_sampled(*number, 10)).collect();
        assert_eq!((sampled.len(), sampled[0]), (1_000, 0));
        for sessions in [2, 3, 5, 10, 20] {
            for session in 0..sessions {
                let share = sampled.iter().filter(|number| *number % sessions == session).count();
                assert!(share as u64 * sessions > 500, "{session} of {sessions}: {share}");
            }
        }
        assert!((0..5).all(|number| is_sampled(number, 1)));
    }
}
