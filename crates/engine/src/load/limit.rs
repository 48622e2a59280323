//! The search for the highest rate that a server holds: a load per rate, until the limit is known.

use mcprove_judge::load::{LimitSearch, Shape, why_not_held};
use mcprove_model::{Finding, LoadRecord, RateLimit, RateStep};
use mcprove_wire::OpenFailure;
use tokio::time::Instant;

use super::LoadOptions;
use super::driver::{ReferencedCalls, Surroundings, drive};

/// Loads the server at rising rates until it breaks; the record is that of the highest rate held.
pub(super) async fn find_limit(
    options: &LoadOptions,
    work: &ReferencedCalls,
    around: &Surroundings,
) -> Result<(LoadRecord, Vec<Finding>), Box<OpenFailure>> {
    let mut search = LimitSearch::new(options.shape.highest());
    let mut limit = RateLimit::default();
    let mut best: Option<(LoadRecord, Vec<Finding>)> = None;
    let mut last = None;
    let mut is_interrupted = false;
    while let Some(rate) = search.next_rate() {
        let shape = Shape::constant(rate, options.shape.length());
        let of_step = LoadOptions { shape, begin: None, calls: None, ..options.clone() };
        let (record, oddities) = match drive(&of_step, work, around).await {
            Ok(loaded) => loaded,
            Err(failure) if limit.steps.is_empty() => return Err(failure),
            // The rate before has ended the server: what was found until then is known.
            Err(failure) => {
                limit.lost = Some(failure.message.clone());
                break;
            }
        };
        // Half of a measurement says nothing about its rate.
        if record.interrupted {
            is_interrupted = true;
            last.get_or_insert((record, oddities));
            break;
        }
        let broken = why_not_held(&record, rate, &options.gates);
        let is_held = broken.is_none();
        limit.steps.push(RateStep {
            rate,
            achieved: record.throughput(),
            p99_us: record.latency().quantile(0.99),
            errors: record.error_share(),
            broken,
        });
        let is_decided = search.observe(is_held);
        if !is_held {
            // The next rate begins when the server has worked off what the last one left behind.
            recovered(&of_step, work, around).await;
        }
        if is_held && is_decided {
            best = Some((record, oddities));
        } else {
            last = Some((record, oddities));
        }
    }
    limit.held = search.held();
    let (record, oddities) = best.or(last).unwrap_or_default();
    Ok((LoadRecord { limit: Some(limit), interrupted: is_interrupted, ..record }, oddities))
}

/// Waits until a call is answered again.
async fn recovered(options: &LoadOptions, work: &ReferencedCalls, around: &Surroundings) {
    let mut stop = around.stop.clone();
    let waiting = async {
        if let Ok(mut session) = around.sessions.open(Instant::now() + options.start).await {
            if let Some(call) = work.calls.first() {
                call.request.perform(&mut session, Instant::now() + options.timeout).await;
            }
            session.close().await;
        }
    };
    tokio::select! {
        biased;
        () = stop.stopped() => {}
        () = waiting => {}
    }
}
