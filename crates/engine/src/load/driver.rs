//! The driver of a load: it opens the sessions, lets the clients and the pacer go, and waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use mcprove_judge::load::{Schedule, memory_growth};
use mcprove_model::{Finding, LoadBegin, LoadRecord, UsageSample};
use mcprove_wire::{OpenFailure, process_usage};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::client::{Client, Pace, Shared};
use super::pacer::Pacer;
use super::recorder::{Recorder, Timeline};
use super::reference::{Reference, reference};
use super::sessions::{NotOpened, Phases, Sessions};
use super::workload::LoadCall;
use super::{LoadMeter, LoadOptions, SessionPer};
use crate::runtime_pool::RuntimePool;
use crate::stop::Stop;

/// Number of sessions that are opened at the same time.
const OPENING: usize = 8;
/// Calls per second that one thread is able to make.
const RATE_OF_WORKER: f64 = 10_000.0;
/// The time between the last preparation and the first call.
const READY: Duration = Duration::from_millis(5);
/// The longest pause between two samples of the use of the machine.
const SAMPLES: Duration = Duration::from_secs(1);
/// The time in which a session that is being opened may come to be when the run is stopped.
pub(super) const OPENING_GRACE: Duration = Duration::from_millis(500);
/// The time in which the sessions of a load that is stopped must be closed.
const CLOSING_GRACE: Duration = Duration::from_secs(3);

/// The surroundings of a load.
pub(super) struct Surroundings {
    pub(super) sessions: Sessions,
    pub(super) meter: Arc<LoadMeter>,
    /// The user wants the load to end.
    pub(super) stop: Stop,
    /// True if the time of the runtime is virtual.
    pub(super) is_virtual: bool,
}

/// The calls of a load, and the replies they get alone.
#[derive(Clone, Debug)]
pub(super) struct ReferencedCalls {
    pub(super) calls: Vec<LoadCall>,
    pub(super) references: Vec<Reference>,
    pub(super) order: Vec<usize>,
}

/// The result of work; `None` if the run is stopped and it is not done shortly after: a session that is being opened when the
/// signal comes can still be closed.
pub(super) async fn unless_stopped<T>(stop: &mut Stop, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return Some(done),
        () = stop.stopped() => {}
    }
    timeout(OPENING_GRACE, work).await.ok()
}

/// Runs a load to its end, or until the run is stopped.
pub(super) async fn drive(
    options: &LoadOptions,
    work: &ReferencedCalls,
    around: &Surroundings,
) -> Result<(LoadRecord, Vec<Finding>), Box<OpenFailure>> {
    let shared = Arc::new(Shared {
        options: options.clone(),
        sessions: around.sessions.clone(),
        calls: work.calls.clone(),
        references: work.references.clone(),
        order: work.order.clone(),
        opening: Semaphore::new(OPENING),
        budget: AtomicI64::new(options.budget().map_or(i64::MAX, |calls| i64::try_from(calls).unwrap_or(i64::MAX))),
        next_number: AtomicU64::new(0),
        started: work.calls.iter().map(|_| AtomicU64::new(0)).collect(),
        active: AtomicU64::new(0),
        is_stopping: AtomicBool::new(false),
    });
    let mut stop = around.stop.clone();
    let (clients, senders) = clients(&shared);
    let workers = RuntimePool::of(if around.is_virtual { 1 } else { workers(options, clients.len()) });
    let (clients, opened) = prepared(clients, &shared, &workers, &mut stop).await?;
    let pace = pace(options, work.calls.len(), around);
    let began = (!around.is_virtual).then(|| begin_of(pace.begin)).flatten();
    for (opened, client) in opened.iter().zip(&clients) {
        if let Some(Ok(phases)) = opened {
            pace.recorder.opened(phases, client.pid());
        }
    }
    // They were opened at the same time: those that could be are what the others were refused with.
    for failure in opened.iter().flatten().filter_map(|opened| opened.as_ref().err()) {
        pace.recorder.not_opened(failure);
    }
    let (mut tasks, mut stops) = (JoinSet::new(), Vec::new());
    for (at, client) in clients.into_iter().enumerate() {
        let (stops_client, stopped) = oneshot::channel();
        stops.push(stops_client);
        tasks.spawn_on(client.run(pace.clone(), stopped), &workers.runtime(at % workers.size()));
    }
    // Calls of the warm-up are not among those that are asked for.
    let in_warm_up =
        || Schedule::new((*pace.shape).clone()).take_while(|start| *start < options.warm_up).count() as u64;
    let last_arrival = options.calls.map_or(u64::MAX, |calls| calls.saturating_add(in_warm_up()));
    for worker in (0..workers.size()).filter(|_| options.is_open) {
        let (part, parts) = options.part();
        let of_worker = |(at, sender): (usize, &Sender)| (at % workers.size() == worker).then(|| sender.clone());
        let pacer = Pacer {
            schedule: Schedule::new((*pace.shape).clone()).first(last_arrival).shard(part, parts),
            begin: pace.begin,
            clients: senders.iter().enumerate().map(of_worker).collect(),
            is_virtual: around.is_virtual,
        };
        tasks.spawn_on(pacer.run(), &workers.runtime(worker));
    }
    drop(senders);
    let watching = watch(options, &pace.recorder);
    let stopped = {
        let all = async { while tasks.join_next().await.is_some() {} };
        tokio::select! {
            biased;
            () = all => None,
            () = watching => None,
            () = stop.stopped() => Some(Instant::now()),
        }
    };
    if stopped.is_some() {
        shared.is_stopping.store(true, Ordering::Relaxed);
        // A client that has ended by now listens no more.
        for stops_client in stops {
            let _ = stops_client.send(());
        }
        let closing = async { while tasks.join_next().await.is_some() {} };
        if timeout(CLOSING_GRACE, closing).await.is_err() {
            tasks.shutdown().await;
        }
    }
    settled(&shared, &pace.recorder, stopped.is_some()).await;
    let Ok(recorder) = Arc::try_unwrap(pace.recorder) else { unreachable!("every client has ended") };
    let (record, oddities) = recorder.into_record(work.calls.iter().map(|call| call.name.as_str()), stopped);
    let growth = memory_growth(&record.usage);
    Ok((LoadRecord { plan: options.described(), growth, began, ..record }, oddities))
}

/// The way to hand calls to a client.
type Sender = mpsc::UnboundedSender<super::pacer::Arrival>;

/// Number of threads: one for each core and client. An open loop has one up to a rate that it is able to make, because each
/// would spin while it waits for the next call and take the core from a server on this machine.
fn workers(options: &LoadOptions, clients: usize) -> usize {
    let is_slow = options.is_open && options.shape.highest() <= RATE_OF_WORKER;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if is_slow { 1 } else { cores.min(clients).max(1) }
}

/// The clients of this shard, and the ways to hand them calls.
fn clients(shared: &Arc<Shared>) -> (Vec<Client>, Vec<Sender>) {
    let options = &shared.options;
    let (part, parts) = options.part();
    let mut senders = Vec::new();
    let numbers = (0..options.clients).filter(|number| number % parts == part);
    // A shard without a client of its own still has its part of the arrivals.
    let numbers: Vec<u32> = if options.is_open && options.clients <= part { vec![part] } else { numbers.collect() };
    let clients = numbers.into_iter().map(|number| {
        let arrivals = options.is_open.then(|| {
            let (sender, receiver) = mpsc::unbounded_channel();
            senders.push(sender);
            receiver
        });
        Client::new(number, Arc::clone(shared), arrivals)
    });
    (clients.collect(), senders)
}

/// Result of opening the session of a client; `None` where it is not needed at the beginning.
type Opened = Option<Result<Phases, NotOpened>>;

/// Opens the sessions that are needed at the beginning. Where none can be opened, the load fails; a client whose session
/// cannot be opened tries again with its first call.
async fn prepared(
    clients: Vec<Client>,
    shared: &Shared,
    workers: &RuntimePool,
    stop: &mut Stop,
) -> Result<(Vec<Client>, Vec<Opened>), Box<OpenFailure>> {
    let options = &shared.options;
    let first = if options.is_open { f64::INFINITY } else { options.shape.level(Duration::ZERO) };
    let (_, parts) = options.part();
    let mut opening = JoinSet::new();
    let mut ready: Vec<(usize, Client, Opened)> = Vec::new();
    for (at, mut client) in clients.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "a number of clients")]
        let is_needed = ((at as u64 * u64::from(parts)) as f64) < first;
        if options.session_per == SessionPer::Client && is_needed {
            let preparing = async move {
                let opened = client.prepare().await;
                (at, client, Some(opened))
            };
            opening.spawn_on(preparing, &workers.runtime(at % workers.size()));
        } else {
            ready.push((at, client, None));
        }
    }
    let all = async {
        while let Some(opened) = opening.join_next().await {
            ready.extend(opened.ok());
        }
    };
    if unless_stopped(stop, all).await.is_none() {
        opening.shutdown().await;
    }
    let is_open = |(_, _, opened): &(usize, Client, Opened)| opened.as_ref().is_some_and(Result::is_ok);
    if !ready.iter().any(is_open)
        && let Some(at) = ready.iter().position(|(_, _, opened)| opened.is_some())
        && let Some(Err(failure)) = ready.swap_remove(at).2
    {
        return Err(failure.failure);
    }
    ready.sort_by_key(|(at, ..)| *at);
    Ok(ready.into_iter().map(|(_, client, opened)| (client, opened)).unzip())
}

/// The begin and the end of the load, and its record.
fn pace(options: &LoadOptions, calls: usize, around: &Surroundings) -> Pace {
    let ready = Instant::now() + READY;
    let begin = options.begin.filter(|_| !around.is_virtual).map_or(ready, |at| Instant::from_std(at).max(ready));
    let shape = Arc::new(options.shape.clone().after(options.warm_up));
    let end = begin + shape.length();
    let measured = (begin + options.warm_up, end);
    let timeline = Timeline {
        begin: measured.0,
        end: measured.1,
        window: options.window(),
        is_open_ended: options.is_open_ended(),
    };
    let recorder = Recorder::new(timeline, calls, Arc::clone(&around.meter));
    Pace { begin, end, shape, recorder: Arc::new(recorder) }
}

/// A moment that has not come, by the clock that all machines share.
fn begin_of(begin: Instant) -> Option<LoadBegin> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at = u64::try_from((now + begin.saturating_duration_since(Instant::now())).as_millis()).ok()?;
    Some(LoadBegin { first_unix_ms: at, last_unix_ms: at })
}

/// Samples the use of the machine and turns the meter; never ends.
async fn watch(options: &LoadOptions, recorder: &Recorder) {
    let mut ticks = interval(options.window().min(SAMPLES));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turned = Instant::now();
    loop {
        ticks.tick().await;
        let took = turned.elapsed();
        if took >= SAMPLES {
            turned = Instant::now();
            recorder.meter.rotate(took);
        }
        let pids = options.pid.map_or_else(|| recorder.pids(), |pid| vec![pid]);
        if pids.is_empty() {
            continue;
        }
        let calls = recorder.meter.answered();
        // Reading the files of the system must not hold up replies.
        let Ok(Some(usage)) = tokio::task::spawn_blocking(move || process_usage(&pids)).await else { continue };
        recorder.used(UsageSample {
            at_us: 0,
            calls,
            cpu_us: usage.cpu_us,
            memory: usage.memory,
            files: usage.files,
            threads: usage.threads,
            processes: usage.processes,
        });
    }
}

/// Decides about replies that differ from their references: the reference is made again, alone. A tool that now answers
/// differently by itself is not blamed. Where the run was stopped, nothing more is asked, and what is not known is not wrong.
async fn settled(shared: &Shared, recorder: &Recorder, is_stopped: bool) {
    let doubtful = recorder.doubtful();
    if doubtful.is_empty() {
        return;
    }
    if is_stopped {
        for call in &doubtful {
            recorder.settle(*call, false);
        }
        return;
    }
    let mut session = shared.open().await.ok();
    for call in &doubtful {
        let again = match &mut session {
            Some((session, _)) => {
                reference(&shared.calls[*call], session, shared.options.timeout).await.ok().map(|again| again.result)
            }
            None => None,
        };
        // A server that no longer answers at all was wrong before.
        recorder.settle(*call, again.is_none_or(|again| again == shared.references[*call].result));
    }
    if let Some((session, _)) = session {
        session.close().await;
    }
}
