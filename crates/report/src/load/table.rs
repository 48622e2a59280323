//! A load as a table for the terminal and for Markdown.

use std::fmt::Write as _;

use mcprove_model::{LatencyHistogram, LoadRecord, duration_text, number_text, share, size_text};
use serde::Serialize;

use super::PERCENTILES;
use crate::columns::columns;
use crate::escape;
use crate::style::{Role, Style};

/// The load as a table for the terminal.
pub(crate) fn table(load: &LoadRecord, style: &Style) -> String {
    let mut text = String::new();
    for (name, value) in headlines(load) {
        let _ = writeln!(text, "{} {}", style.paint(Role::Faint, &format!("{name:<12}")), escape::line(&value));
    }
    let rows = rows(load);
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|at| rows.iter().map(|row| columns(&row[at])).chain([HEAD[at].len()]).max().unwrap_or(0))
        .collect();
    text.push('\n');
    let head: Vec<String> = HEAD.iter().map(|name| (*name).to_owned()).collect();
    let _ = writeln!(text, "{}", style.paint(Role::Strong, &line(&head, &widths)));
    for row in &rows {
        let _ = writeln!(text, "{}", line(row, &widths));
    }
    if let Some(limit) = &load.limit {
        text.push('\n');
        for step in &limit.steps {
            let result = step.broken.as_deref().unwrap_or("held");
            let role = if step.broken.is_none() { Role::Good } else { Role::Bad };
            let _ = writeln!(
                text,
                "{:>10}/s  p99 {:>9}  {}",
                number_text(step.rate),
                micros(step.p99_us),
                style.paint(role, &escape::line(result))
            );
        }
    }
    text
}

/// The load as Markdown.
pub(crate) fn markdown(load: &LoadRecord) -> String {
    let mut text = String::from("#### Load\n\n");
    for (name, value) in headlines(load) {
        let _ = writeln!(text, "- {name}: {}", cell(&value));
    }
    let _ = write!(text, "\n| {} |\n|---|", HEAD.join(" | "));
    let _ = writeln!(text, "{}", "---:|".repeat(HEAD.len() - 1));
    for row in rows(load) {
        let cells: Vec<String> = row.iter().map(|value| cell(value)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    if let Some(limit) = &load.limit {
        text.push_str("\n| rate | answered | p99 | errors | |\n|---:|---:|---:|---:|---|\n");
        for step in &limit.steps {
            let _ = writeln!(
                text,
                "| {}/s | {}/s | {} | {} % | {} |",
                number_text(step.rate),
                number_text(step.achieved),
                micros(step.p99_us),
                number_text(step.errors * 100.0),
                cell(step.broken.as_deref().unwrap_or("held"))
            );
        }
    }
    text.push('\n');
    text
}

/// A load as a table for the page of a report.
#[derive(Debug, Serialize)]
pub(crate) struct LoadTable {
    facts: Vec<(&'static str, String)>,
    head: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl LoadTable {
    pub(crate) fn of(load: &LoadRecord) -> Self {
        Self { facts: headlines(load), head: &HEAD, rows: rows(load) }
    }
}

const HEAD: [&str; 10] = ["", "calls", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "max"];

/// The facts above the table.
pub(super) fn headlines(load: &LoadRecord) -> Vec<(&'static str, String)> {
    let mut facts = vec![("load", described(load))];
    if load.interrupted {
        facts.push(("interrupted", format!("after {}: the load was not made to its end", micros(load.measured_us))));
    }
    if let Some(limit) = &load.limit {
        let held = limit.held.map_or("no rate was held".to_owned(), |rate| format!("{}/s held", number_text(rate)));
        let held = match limit.range {
            Some((low, high)) => {
                format!("{held}; tries disagree from {}/s to {}/s", number_text(low), number_text(high))
            }
            None => held,
        };
        let held = if limit.is_own { format!("{held}, limited by mcprove itself") } else { held };
        let held = if load.interrupted { format!("{held} so far") } else { held };
        facts.push(("limit", held));
    }
    facts.push((
        "throughput",
        format!("{}/s, {} calls in {}", number_text(load.throughput()), load.answered(), micros(load.measured_us)),
    ));
    let mut errors: Vec<String> =
        load.errors().iter().map(|(kind, errors)| format!("{} {kind}", errors.count)).collect();
    if load.dropped > 0 {
        errors.push(format!("{} dropped", load.dropped));
    }
    let percent = number_text(load.error_share() * 100.0);
    facts.push((
        "errors",
        if errors.is_empty() { "none".to_owned() } else { format!("{percent} %: {}", errors.join(", ")) },
    ));
    let wrong = load.errors().get(&mcprove_model::LoadError::WrongReply).map_or(0, |errors| errors.count);
    let checked = match load.checked.max(wrong) {
        0 => "no reply: no call answers the same each time".to_owned(),
        checked => format!("{checked} replies, {wrong} wrong"),
    };
    facts.push(("checked", checked));
    let failed: Vec<String> =
        load.not_opened.iter().map(|(phase, errors)| format!("{} failed in the {phase}", errors.count)).collect();
    let failed = if failed.is_empty() { String::new() } else { format!("; {}", failed.join(", ")) };
    facts.push(("sessions", format!("{} opened over {}, {}{failed}", load.sessions, load.transport, load.protocol)));
    if !load.lag.is_empty() {
        facts.push(("own delay", format!("p99 {}", micros(load.lag.quantile(0.99)))));
    }
    facts.extend(usage(load).map(|usage| ("server", usage)));
    facts.extend(load.growth.map(|growth| ("growth", growth.to_string())));
    facts
}

/// The load that was asked for, in words.
fn described(load: &LoadRecord) -> String {
    let plan = &load.plan;
    let stages: Vec<&str> = plan.shape.split(',').collect();
    let level = |stage: &str| {
        let level = stage.split('@').next().unwrap_or_default();
        let number = |level: f64| if plan.is_open { number_text(level) } else { level.to_string() };
        level.parse().map_or(level.to_owned(), number)
    };
    let many = |number: u32, what: &str| if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") };
    let what = match (plan.is_open, plan.clients) {
        (true, _) => "/s",
        (false, 1) => " client",
        (false, _) => " clients",
    };
    let shape = match stages.as_slice() {
        [one] => format!("{}{what}", level(one)),
        _ => format!("{}{what}", plan.shape),
    };
    let clients = if plan.is_open { format!(" on {}", many(plan.clients, "session")) } else { String::new() };
    let in_flight = if plan.in_flight > 1 { format!(", up to {} calls each", plan.in_flight) } else { String::new() };
    let per =
        if plan.session_per == "client" { String::new() } else { format!(", a session per {}", plan.session_per) };
    format!("{shape}{clients}{in_flight}{per}")
}

/// True if the processor time of the server is known: what a process used that has ended is not.
pub(super) fn counts_cpu(load: &LoadRecord) -> bool {
    load.usage.windows(2).all(|pair| pair[0].cpu_us <= pair[1].cpu_us)
}

fn usage(load: &LoadRecord) -> Option<String> {
    let (first, last) = (load.usage.first()?, load.usage.last()?);
    let most = |of: fn(&mcprove_model::UsageSample) -> u64| load.usage.iter().map(of).max().unwrap_or(0);
    let cpu = share(last.cpu_us.saturating_sub(first.cpu_us), last.at_us.saturating_sub(first.at_us));
    #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 bytes")]
    let memory = size_text(most(|sample| sample.memory) as f64);
    let cpu = if counts_cpu(load) { format!("{} % of a core, ", number_text(cpu * 100.0)) } else { String::new() };
    let processes = most(|sample| sample.processes);
    let plural = if processes == 1 { "" } else { "es" };
    Some(format!(
        "{cpu}{memory}, {} files, {} threads, {processes} process{plural}",
        most(|sample| sample.files),
        most(|sample| sample.threads)
    ))
}

/// The rows of the table: each kind of call, all of them, and the phases of sessions.
fn rows(load: &LoadRecord) -> Vec<Vec<String>> {
    let row = |name: &str, latency: &LatencyHistogram| {
        let quantiles = PERCENTILES.iter().map(|(_, share)| micros(latency.quantile(*share)));
        let mut row = vec![escape::name(name).into_owned(), latency.count().to_string()];
        row.extend(quantiles);
        row.push(micros(latency.max()));
        row
    };
    let mut rows: Vec<_> = load.calls.iter().map(|(name, stats)| row(name, &stats.latency)).collect();
    if rows.len() > 1 {
        rows.push(row("all calls", &load.latency()));
    }
    for phase in ["start", "handshake", "list"] {
        rows.extend(load.phases.get(phase).map(|latency| row(phase, latency)));
    }
    rows
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (at, (value, width)) in row.iter().zip(widths).enumerate() {
        let padding = " ".repeat(width.saturating_sub(columns(value)));
        let _ = if at == 0 { write!(text, "{value}{padding}") } else { write!(text, "  {padding}{value}") };
    }
    text.trim_end().to_owned()
}

/// A duration as the table shows it.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
pub(super) fn micros(us: u64) -> String {
    duration_text(us as f64)
}

/// A text in a cell: what Markdown or HTML would read is written as a reference.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for c in escape::line(text).chars() {
        match c {
            '|' | '<' | '>' | '&' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' => {
                let _ = write!(cell, "&#{};", u32::from(c));
            }
            c => cell.push(c),
        }
    }
    cell
}
