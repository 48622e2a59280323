//! The rule that decides whether a server holds a rate.
//!
//! A rate is held where every gate is kept, nearly all calls are answered well, and calls do not wait ever longer. The last
//! shows overload: a server that answers 100 calls per second and gets 105 keeps a tight latency for seconds, while
//! its queue grows without end. How slow the server is does not matter for it.

use mcprove_model::{LatencyHistogram, LoadRecord, LoadWindow, RateStep, duration_text, number_text};

use super::gate::{Gate, GateResult};

/// The share of calls that must be answered well, whatever the gates say.
const ANSWERED: f64 = 0.95;
/// The growth of the wait, in seconds per second, from which on a queue grows. The server answers 1 ÷ (1 + growth) of the rate.
const GROWS: f64 = 0.02;
/// Fewer calls at either end of the measurement show no growth.
const FEWEST: u64 = 5;
/// Delay of mcprove itself, in microseconds, that is reported with a rate that was not held.
const LATE: u64 = 5_000;
/// A session that has less than this share of the calls it may have open has room for more.
const ROOM: f64 = 0.5;
/// Rates up to this many times the highest rate held are next to it.
const NEXT: f64 = 2.0;

/// The reason why a rate was not held in a load at this rate; `None` if it was held.
pub fn why_not_held(load: &LoadRecord, rate: f64, gates: &[Gate]) -> Option<String> {
    let broken = gates.iter().find_map(|gate| match gate.judge(load) {
        GateResult::Broken(value) => Some(format!("{gate} is broken: {value}")),
        GateResult::Unknown(why) => Some(format!("{gate}: {why}")),
        GateResult::Kept(_) => None,
    });
    let why = broken.or_else(|| unanswered(load)).or_else(|| growing_queue(load, rate))?;
    let late = load.lag.quantile(0.99);
    Some(if late < LATE { why } else { format!("{why} (own delay of mcprove: p99 {})", micros(late)) })
}

/// The 99th percentile of mcprove's delay in a load. Where few enough calls were open that every session had room, nothing but
/// mcprove held up those that were sent late, whether or not their session was idle.
pub fn own_delay(load: &LoadRecord) -> u64 {
    let idle = load.lag.quantile(0.99);
    let mut service = LatencyHistogram::default();
    load.calls.values().for_each(|stats| service.merge(&stats.service));
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
    let open = load.throughput() * service.quantile(0.99) as f64 / 1e6;
    let has_room = open < f64::from(load.plan.in_flight) * f64::from(load.plan.clients) * ROOM;
    // A call that opens its session waits for the server.
    if !has_room || load.plan.session_per != "client" {
        return idle;
    }
    idle.max(load.latency().quantile(0.99).saturating_sub(service.quantile(0.99)))
}

/// True if mcprove was late at the rates next to the highest one held: most of what calls waited there was its own delay.
pub fn is_own_limit(steps: &[RateStep], held: f64) -> bool {
    let next: Vec<bool> = steps
        .iter()
        .filter(|step| step.broken.is_some() && (held..=held * NEXT).contains(&step.rate))
        .map(|step| step.own_delay_us >= LATE.max(step.p99_us / 2))
        .collect();
    let own = next.iter().filter(|is_own| **is_own).count();
    own > 0 && own * 2 >= next.len()
}

fn unanswered(load: &LoadRecord) -> Option<String> {
    let (well, total) = (load.answered(), load.total());
    (mcprove_model::share(well, total) < ANSWERED).then(|| format!("{well} of {total} calls were answered well"))
}

/// The calls of the last third of the measurement wait longer than those of the first, beyond what calls differ by anyway: all
/// but the quickest quarter of the one, and all but the slowest quarter of the other. A queue that a stall has left behind falls
/// in the last third, and one of overload goes on to grow.
fn growing_queue(load: &LoadRecord, rate: f64) -> Option<String> {
    let third = load.windows.len() / 3;
    let of = |windows: &[LoadWindow]| {
        let mut all = LatencyHistogram::with_digits(LatencyHistogram::COARSE);
        for window in windows {
            all.merge(&window.latency);
        }
        (all.count() >= FEWEST).then_some(all)
    };
    let late = load.windows.len() - third;
    let (first, last) = (of(&load.windows[..third])?, of(&load.windows[late..])?);
    let middle = of(&load.windows[third..late])?;
    // Where waits grow evenly, these are the waits after a quarter and after three quarters of the time.
    let (before, after) = (first.quantile(0.75), last.quantile(0.25));
    #[expect(clippy::cast_precision_loss, reason = "a load is shorter than 2^52 µs")]
    let time = load.plan.window_us as f64 * load.windows.len() as f64 / 2.0;
    #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
    let growth = after.saturating_sub(before) as f64 / time;
    let goes_on = last.quantile(0.5) > middle.quantile(0.5);
    (growth > GROWS && goes_on).then(|| {
        let answered = number_text(rate / (1.0 + growth));
        format!(
            "the queue grows: about {answered}/s are answered, and waits rise from {} to {}",
            micros(before),
            micros(after)
        )
    })
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
fn micros(us: u64) -> String {
    duration_text(us as f64)
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Machine, Server, default_gates};
    use super::*;

    #[test]
    fn a_slow_server_holds_what_it_answers() {
        // Every call takes 0.4 s, and any number of them at a time: nothing waits.
        let slow = Server { capacity: 1e5, workers: 40_000, distance: 0.4, jitter: 0.0 };
        for rate in [10.0, 100.0] {
            assert_eq!(why_not_held(&Machine::quiet(slow).load(rate), rate, &default_gates()), None, "{rate}");
        }
    }

    #[test]
    fn a_queue_that_grows_is_no_rate_held() {
        let model = Server { capacity: 100.0, workers: 1, distance: 0.0, jitter: 0.3 };
        assert_eq!(why_not_held(&Machine::quiet(model).load(98.0), 98.0, &default_gates()), None);
        let why = why_not_held(&Machine::quiet(model).load(106.0), 106.0, &default_gates()).expect("not held");
        assert!(why.starts_with("the queue grows: about 10"), "{why}");
    }

    #[test]
    fn calls_that_fail_are_not_answered_whatever_the_gates_say() {
        let model = Server { capacity: 1e3, workers: 1, distance: 0.0, jitter: 0.0 };
        let mut load = Machine::quiet(model).load(100.0);
        load.dropped = 30;
        let gates = [Gate::parse("p99 < 1s").expect("valid")];
        assert_eq!(why_not_held(&load, 100.0, &gates).as_deref(), Some("300 of 330 calls were answered well"));
        load.lag.record(20_000);
        let why = why_not_held(&load, 100.0, &gates).expect("not held");
        assert!(why.ends_with("(own delay of mcprove: p99 20.0 ms)"), "{why}");
    }

    #[test]
    fn a_rate_that_mcprove_cannot_make_is_not_the_limit_of_the_server() {
        let step = |rate: f64, own_delay_us: u64, broken: bool| RateStep {
            rate,
            p99_us: 900_000,
            own_delay_us,
            broken: broken.then(|| "late".to_owned()),
            ..RateStep::default()
        };
        let held = step(100.0, 1_000, false);
        for (steps, expected) in [
            (&[step(120.0, 800_000, true), step(110.0, 700_000, true)][..], true),
            (&[step(120.0, 800_000, true), step(110.0, 2_000, true), step(130.0, 2_000, true)], false),
            (&[step(120.0, 20_000, true)], false),
            // Far above, mcprove may be late; what counts is next to the limit.
            (&[step(400.0, 800_000, true), step(110.0, 2_000, true)], false),
            (&[], false),
        ] {
            assert_eq!(is_own_limit(&[std::slice::from_ref(&held), steps].concat(), 100.0), expected, "{steps:?}");
        }
    }

    #[test]
    fn calls_that_are_sent_late_though_there_was_room_are_late_by_mcprove() {
        let server = Server { capacity: 1e3, workers: 1, distance: 0.0, jitter: 0.0 };
        let mut load = Machine::quiet(server).load(100.0);
        for stats in load.calls.values_mut() {
            (0..10).for_each(|_| stats.latency.record(500_000));
        }
        (load.plan.in_flight, load.plan.clients, load.plan.session_per) = (1_000, 1, "client".to_owned());
        assert!(own_delay(&load).abs_diff(500_000) < 10_000, "{}", own_delay(&load));
        load.plan.session_per = "5".to_owned();
        assert_eq!(own_delay(&load), 0);
        // A session without room makes calls wait for the server.
        (load.plan.in_flight, load.plan.session_per) = (0, "client".to_owned());
        assert_eq!(own_delay(&load), 0);
    }
}
