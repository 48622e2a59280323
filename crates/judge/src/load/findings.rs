//! Defects of a server that a load shows, whatever the gates are.

use std::collections::BTreeMap;

use mcprove_model::{
    ErrorStats, Finding, LoadError, LoadRecord, LoadWindow, Severity, number_text, per_second, share, size_text,
};

use super::gate::{Gate, Quantity};

/// Growth below this, in bytes per call, is not reported without a gate.
const SMALL_GROWTH: f64 = 100.0;
/// Growth of the whole run below this, in bytes, is not reported without a gate.
const SMALL_TOTAL: f64 = 1e6;
/// Share of the best throughput below which a server with more clients has slowed down.
const SLOWED: f64 = 0.6;

/// The defects that a load shows. Failed calls are warnings where a gate bounds them, and errors elsewhere.
pub fn findings(load: &LoadRecord) -> Vec<Finding> {
    let mut found = not_opened(load);
    found.extend(failed_calls(load));
    found.extend(no_call(load));
    found.extend(nothing_compared(load));
    found.extend(growth(load));
    found.extend(slower_with_clients(load));
    found
}

/// True if a gate bounds one of the quantities.
fn has_gate(load: &LoadRecord, quantities: &[Quantity]) -> bool {
    let mut gates = load.plan.gates.iter().filter_map(|gate| Gate::parse(gate).ok());
    gates.any(|gate| quantities.contains(&gate.quantity))
}

/// Sessions that could not be opened, by the phase that failed.
fn not_opened(load: &LoadRecord) -> Vec<Finding> {
    let tried = load.sessions + load.unopened;
    let finding = |(phase, errors): (&String, &ErrorStats)| {
        let message = format!("{} of {tried} sessions could not be opened: the {phase} failed", errors.count);
        let mut finding = Finding::error("no-session", message)
            .help("lower `--clients`, raise the server's limit, or look at its log");
        if has_gate(load, &[Quantity::Errors]) {
            finding.severity = Severity::Warning;
        }
        let plural = if errors.concurrent == 1 { "" } else { "s" };
        finding.actual =
            Some(format!("{}; first with {} concurrent session{plural}", errors.example, errors.concurrent));
        finding
    };
    load.not_opened.iter().map(finding).collect()
}

fn failed_calls(load: &LoadRecord) -> Vec<Finding> {
    let bounds = |quantities: &[Quantity]| has_gate(load, quantities);
    let severity = |is_bounded: bool| if is_bounded { Severity::Warning } else { Severity::Error };
    let total = load.total();
    let mut found = Vec::new();
    for (kind, errors) in load.errors() {
        // Wrong replies are found among those that were judged.
        let is_judged = kind == LoadError::WrongReply;
        let (of, calls) = if is_judged { (load.checked.max(errors.count), "judged replies") } else { (total, "calls") };
        let percent = number_text(share(errors.count, of) * 100.0);
        let (rule, what, help) = match kind {
            LoadError::Timeout => (
                "lost-reply",
                "got no reply in time",
                "answer every request; raise `--timeout` if the calls are slow on purpose",
            ),
            LoadError::WrongReply => {
                ("wrong-under-load", "were not as expected", "look for state that concurrent calls share")
            }
            LoadError::Closed => {
                ("failed-call", "lost the server, or the connection to it", "look for its end in its log")
            }
            LoadError::NoSession => ("failed-call", "had no session", "lower `--clients`, or raise the server's limit"),
            LoadError::Refused => ("failed-call", "were refused by HTTP", "look at the status"),
            LoadError::Malformed => ("failed-call", "got a broken reply", "send one JSON-RPC response per request"),
            LoadError::RpcError => ("failed-call", "got a JSON-RPC error", "call it alone with `mcprove call`"),
            LoadError::ToolError => ("failed-call", "got a result with `isError`", "call it alone with `mcprove call`"),
        };
        let message = format!("{} of {of} {calls} {what} ({percent} %)", errors.count);
        let is_bounded = bounds(&[Quantity::Errors]) || is_judged && bounds(&[Quantity::Wrong]);
        let mut finding = Finding::error(rule, message).help(help);
        finding.severity = severity(is_bounded);
        let plural = if errors.concurrent == 1 { "" } else { "s" };
        let begins = begin_of_failures(load, errors.concurrent);
        finding.actual =
            Some(format!("{}; first with {} concurrent call{plural}{begins}", errors.example, errors.concurrent));
        found.push(finding);
    }
    if load.dropped > 0 {
        let percent = number_text(share(load.dropped, total) * 100.0);
        let message = format!(
            "{} of {total} arrivals were dropped ({percent} %): no session had room for them in time",
            load.dropped
        );
        let mut finding = Finding::error("dropped-arrival", message)
            .help("the server is slower than the rate; lower `--rate`, or raise `--clients` or `--in-flight`");
        finding.severity = severity(bounds(&[Quantity::Errors, Quantity::Dropped]));
        found.push(finding);
    }
    found
}

/// The finding of a closed loop about the number of clients from which on calls fail: those with which none failed, or the way to
/// find them.
fn begin_of_failures(load: &LoadRecord, concurrent: u64) -> String {
    // One call at a time needs no other to fail, and a part of a load does not know the others.
    if load.plan.is_open || concurrent <= 1 {
        return String::new();
    }
    let used = || load.windows.iter().filter(|window| window.clients > 0);
    let failing = used().filter(|window| window.errors + window.dropped > 0).map(|window| window.clients).min();
    // A window with few calls has none that failed by chance.
    let is_clean = |window: &&LoadWindow| {
        window.completed >= window.clients && failing.is_some_and(|failing| window.clients < failing.min(concurrent))
    };
    let clean = used().filter(is_clean).map(|window| window.clients).max();
    let most = used().map(|window| window.clients).max().unwrap_or(0);
    match clean {
        Some(1) => "; none failed with one client".to_owned(),
        Some(clean) => format!("; none failed with {clean} clients"),
        None if most > 1 => format!("; `--ramp 1@2s,..{most}@30s` shows with how many clients it begins"),
        None => String::new(),
    }
}

/// A load without a call proves nothing.
fn no_call(load: &LoadRecord) -> Option<Finding> {
    (load.total() == 0 && !load.interrupted).then(|| {
        Finding::error("no-load", "no call was made in the measured time").help("raise `--duration` or the rate")
    })
}

/// Replies whose content was not compared, because no call answers the same twice.
fn nothing_compared(load: &LoadRecord) -> Option<Finding> {
    (load.checked == 0 && load.answered() > 0 && load.plan.check_every > 0).then(|| {
        let text =
            "the content of no reply was judged: no call answers the same each time, and no test says what to expect";
        Finding::note("unsteady-reply", text).help("load the tests of a suite, whose `expect` judges replies")
    })
}

fn growth(load: &LoadRecord) -> Option<Finding> {
    let growth = load.growth?;
    let grows = growth.is_steady && growth.low > SMALL_GROWTH && growth.total > SMALL_TOTAL;
    grows.then(|| {
        let total = size_text(growth.total);
        if growth.is_certain {
            let message = format!("the memory of the server grows with every call: {growth}, {total} in all");
            return Finding::warning("memory-growth", message)
                .help("look for what is kept per call; `--gate 'memory growth < 1MB/1000 calls'` fails the run");
        }
        let message =
            format!("the memory of the server grew by {total}: a leak, or a heap that has not been collected yet");
        let mut finding = Finding::note("memory-growth", message).help("run it longer to know: `--duration 2m`");
        // A gate that was not decided is said aloud.
        if has_gate(load, &[Quantity::MemoryGrowth]) {
            finding.severity = Severity::Warning;
        }
        finding
    })
}

/// Throughput that falls when clients are added. A server that is merely busy keeps its throughput.
fn slower_with_clients(load: &LoadRecord) -> Option<Finding> {
    if load.plan.is_open || load.plan.window_us == 0 {
        return None;
    }
    let mut levels: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut before = 0;
    for window in &load.windows {
        // The first window of a level has clients that are still connecting.
        if window.clients == before {
            levels.entry(window.clients).or_default().push(per_second(window.completed, load.plan.window_us));
        }
        before = window.clients;
    }
    levels.retain(|clients, windows| *clients > 0 && windows.len() >= 2);
    let (most, last) = levels.pop_last()?;
    let least_of = |windows: &[f64]| windows.iter().copied().fold(f64::INFINITY, f64::min);
    let (few, best) =
        levels.iter().map(|(clients, windows)| (*clients, least_of(windows))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let now = last.iter().copied().fold(0.0, f64::max);
    (now < best * SLOWED).then(|| {
        let message = format!(
            "throughput falls when clients are added: {}/s with {few} clients, {}/s with {most}",
            number_text(best),
            number_text(now)
        );
        Finding::warning("slower-with-clients", message)
            .help("look for work per call that grows with the number of sessions, and for locks")
    })
}

#[cfg(test)]
mod tests {
    use mcprove_model::{CallStats, LoadPlan, LoadWindow, UsageSample};

    use super::*;

    fn load(calls: u64, errors: &[(LoadError, u64)]) -> LoadRecord {
        let mut stats = CallStats::default();
        (0..calls).for_each(|_| stats.latency.record(1000));
        for (kind, count) in errors {
            stats.errors.insert(*kind, ErrorStats { count: *count, example: "no reply".to_owned(), concurrent: 50 });
        }
        LoadRecord { calls: [("echo".to_owned(), stats)].into(), ..LoadRecord::default() }
    }

    fn rules(load: &LoadRecord) -> Vec<(String, Severity)> {
        findings(load).into_iter().map(|finding| (finding.rule.into_owned(), finding.severity)).collect()
    }

    #[test]
    fn a_healthy_load_is_clean_and_none_at_all_is_not() {
        assert!(rules(&load(100, &[])).is_empty());
        assert_eq!(rules(&load(0, &[])), [("no-load".to_owned(), Severity::Error)]);
    }

    #[test]
    fn lost_and_wrong_replies_are_named_and_bounded_by_gates() {
        let mut bad = load(100, &[(LoadError::Timeout, 3), (LoadError::WrongReply, 2)]);
        bad.dropped = 1;
        let named = ["lost-reply", "wrong-under-load", "dropped-arrival"];
        assert_eq!(rules(&bad), named.map(|rule| (rule.to_owned(), Severity::Error)));
        bad.plan.gates = vec!["errors < 10%".to_owned()];
        assert_eq!(rules(&bad), named.map(|rule| (rule.to_owned(), Severity::Warning)));
        let text = findings(&bad)[0].actual.clone().unwrap_or_default();
        assert!(text.contains("first with 50 concurrent calls"), "{text}");
    }

    #[test]
    fn failures_that_need_many_clients_say_how_many_were_fine() {
        let window = |clients: u64, completed: u64, errors: u64| LoadWindow {
            clients,
            completed,
            errors,
            ..LoadWindow::default()
        };
        let said = |windows: &[LoadWindow], is_open: bool| {
            let mut load = load(100, &[(LoadError::Timeout, 3)]);
            load.windows = windows.to_vec();
            load.plan.is_open = is_open;
            findings(&load)[0].actual.clone().unwrap_or_default()
        };
        let ramp = [window(20, 100, 0), window(48, 90, 0), window(52, 80, 1), window(60, 70, 0), window(80, 70, 2)];
        assert_eq!(said(&ramp, false), "no reply; first with 50 concurrent calls; none failed with 48 clients");
        // Too few calls to know.
        let short = [window(20, 100, 0), window(48, 3, 0), window(52, 80, 1)];
        assert!(said(&short, false).ends_with("; none failed with 20 clients"));
        let constant = [window(80, 100, 2), window(80, 100, 0)];
        let ramp = "; `--ramp 1@2s,..80@30s` shows with how many clients it begins";
        assert!(said(&constant, false).ends_with(ramp), "{}", said(&constant, false));
        assert_eq!(said(&constant, true), "no reply; first with 50 concurrent calls");
    }

    #[test]
    fn sessions_that_cannot_be_opened_are_named_by_phase() {
        let mut refusing = load(100, &[]);
        (refusing.sessions, refusing.unopened) = (4, 6);
        let stats = |count: u64| ErrorStats { count, example: "busy".to_owned(), concurrent: 5 };
        refusing.not_opened = [("handshake".to_owned(), stats(4)), ("list".to_owned(), stats(2))].into();
        let found = findings(&refusing);
        let messages: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "4 of 10 sessions could not be opened: the handshake failed",
                "2 of 10 sessions could not be opened: the list failed"
            ]
        );
        assert_eq!(found[0].actual.as_deref(), Some("busy; first with 5 concurrent sessions"));
        assert_eq!(rules(&refusing)[0], ("no-session".to_owned(), Severity::Error));
        refusing.plan.gates = vec!["errors < 10%".to_owned()];
        assert_eq!(rules(&refusing)[0].1, Severity::Warning);
    }

    #[test]
    fn steady_growth_is_named() {
        let mut leaking = load(100, &[]);
        let sample =
            |n: u64| UsageSample { calls: n * 1000, memory: n * 1_000_000, processes: 1, ..UsageSample::default() };
        leaking.usage = (0..30).map(sample).collect();
        leaking.growth = crate::load::memory_growth(&leaking.usage);
        assert_eq!(rules(&leaking), [("memory-growth".to_owned(), Severity::Warning)]);
    }

    #[test]
    fn throughput_that_falls_is_named_and_throughput_that_stays_is_not() {
        let window = |clients: u64, count: u64| {
            let mut window = LoadWindow { clients, completed: count, ..LoadWindow::default() };
            (0..count).for_each(|_| window.latency.record(1000));
            window
        };
        let shape = |levels: &[(u64, u64)]| LoadRecord {
            plan: LoadPlan { window_us: 1_000_000, ..LoadPlan::default() },
            windows: levels.iter().flat_map(|(clients, count)| (0..4).map(move |_| window(*clients, *count))).collect(),
            ..load(100, &[])
        };
        assert!(rules(&shape(&[(1, 100), (8, 400), (64, 390)])).is_empty());
        assert_eq!(
            rules(&shape(&[(1, 100), (8, 400), (64, 90)])),
            [("slower-with-clients".to_owned(), Severity::Warning)]
        );
    }
}
