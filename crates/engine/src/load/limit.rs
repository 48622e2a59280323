//! The search for the highest rate that a server holds: a load per rate, until the limit is known.

use mcprove_judge::load::{LimitSearch, Shape, Tried, is_own_limit, own_delay, why_not_held};
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
    // The last load of each rate that was held.
    let mut kept: Vec<(f64, (LoadRecord, Vec<Finding>))> = Vec::new();
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
            own_delay_us: own_delay(&record),
            errors: record.error_share(),
            broken,
        });
        search.observe(&Tried::of(&record, is_held));
        if is_held {
            kept.retain(|(other, _)| !is_same(*other, rate));
            kept.push((rate, (record, oddities)));
        } else {
            last = Some((record, oddities));
            // The next rate begins when the server has worked off what this one left behind.
            recovered(&of_step, work, around).await;
        }
    }
    limit.held = search.held();
    limit.range = search.range();
    limit.is_own = limit.held.is_some_and(|held| is_own_limit(&limit.steps, held));
    let best = kept.into_iter().find(|(rate, _)| limit.held.is_some_and(|held| is_same(*rate, held)));
    let best = best.map(|(_, loaded)| loaded);
    let (record, oddities) = best.or(last).unwrap_or_default();
    Ok((LoadRecord { limit: Some(limit), interrupted: is_interrupted, ..record }, oddities))
}

fn is_same(rate: f64, other: f64) -> bool {
    (rate - other).abs() <= f64::EPSILON * rate
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
