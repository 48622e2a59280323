//! `mcprove agents compare`: two sets of runs of the same agent tests, without a judge.

use std::fmt::Write as _;
use std::path::PathBuf;

use mcprove_judge::agent_compare::{AgentRun, Comparison, Interval, Measured, agent_runs, compare, runs_needed};
use mcprove_model::{CaseReport, ExitStatus, Verdict, escape_line};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::logs::{self, Frames};
use crate::stdout::print;

/// Compare the runs of agents in two logs: passes, tools, arguments, tokens.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The logs are those of `mcprove run --trials N --events FILE` with two models, two versions of descriptions, \
                  or two prompts. Cases are matched by name. The test is exact and made case by case; it says nothing where \
                  there are few runs, and the output says how many it takes.\n\nExamples:\n  \
                  mcprove run agents.yaml --trials 10 --events before.ndjson\n  \
                  mcprove agents compare before.ndjson after.ndjson\n  \
                  mcprove agents compare before.ndjson after.ndjson --k 3 --json"
)]
pub(crate) struct Args {
    /// The operation on the logs.
    #[arg(value_name = "compare", value_parser = ["compare"], hide_possible_values = true)]
    action: String,
    /// The event log of the runs to compare with.
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The event log of the runs that are judged.
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// The number of runs of pass@k and pass^k [default: the fewest runs of a case].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    k: Option<u64>,
    /// The p-value below which a difference counts.
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = level)]
    alpha: f64,
    /// Print the comparison as JSON, and nothing else, on standard output.
    #[arg(long)]
    json: bool,
}

fn level(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "expected a number between 0 and 1, as in 0.05".to_owned())?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err("expected a number between 0 and 1, as in 0.05".to_owned()) }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    debug_assert_eq!(args.action, "compare");
    let before = read(&args.before, context)?;
    let after = read(&args.after, context)?;
    let Some(comparison) = compare(&before, &after, args.k) else {
        return Err(Failure::NothingSelected {
            message: "the logs have no agent test in common".to_owned(),
            help: "compare two runs of the same suite: cases are matched by name".to_owned(),
        });
    };
    if args.json {
        print(&format!("{}\n", as_json(&comparison, args.alpha)))?;
    } else {
        print(&as_text(&comparison, args.alpha))?;
    }
    let is_worse = comparison.p < args.alpha && comparison.difference() < 0.0;
    Ok(if is_worse { ExitStatus::Wrong } else { ExitStatus::Good })
}

fn read(path: &PathBuf, context: &Context) -> Result<Vec<AgentRun>, Failure> {
    let logs::Read { report, complaints } = logs::read(std::slice::from_ref(path), Frames::Keep)?;
    for complaint in complaints {
        context.write_stderr(&format!("warning: {complaint}\n"));
    }
    let runs = agent_runs(&report);
    let is_unfinished = |case: &&CaseReport| {
        case.finished.as_ref().is_none_or(|end| end.verdict == Verdict::Error)
            && runs.iter().any(|run| run.case == case.started.name)
    };
    let left_out = report.cases.iter().filter(is_unfinished).count();
    if left_out > 0 {
        let (path, all) = (path.display(), runs.len() + left_out);
        context.write_stderr(&format!(
            "warning: {left_out} of {all} runs in `{path}` did not come to a verdict and are left out\n"
        ));
    }
    if runs.is_empty() {
        return Err(Failure::NothingSelected {
            message: format!("`{}` has no runs of agents", path.display()),
            help: "give a log of `mcprove run --events FILE` of a suite with `agents:`".to_owned(),
        });
    }
    Ok(runs)
}

fn as_text(comparison: &Comparison, alpha: f64) -> String {
    let [one, two] = &comparison.sides;
    let mut text = String::new();
    let mut line = |what: &str, cell: &dyn Fn(&Measured) -> String| {
        let _ = writeln!(text, "  {what:18}  {:24}  {}", cell(one), cell(two));
    };
    line("", &|side| escape_line(&side.model).into_owned());
    line("runs", &|side| side.runs.to_string());
    line("passed", &|side| shown(side.pass_rate));
    line(&format!("pass@{}", comparison.k), &|side| percent(side.pass_at_k));
    line(&format!("pass^{}", comparison.k), &|side| percent(side.pass_hat_k));
    line("right tool first", &|side| side.selection.map_or_else(|| "-".to_owned(), shown));
    line("valid arguments", &|side| side.valid_arguments.map_or_else(|| "-".to_owned(), shown));
    line("calls per run", &|side| format!("{:.1}", side.calls));
    line("tokens per run", &|side| format!("{:.0}", side.tokens));
    line("cost per run", &|side| {
        side.cost_usd_micros.map_or_else(|| "-".to_owned(), |micros| format!("${:.4}", micros / 1e6))
    });
    for (name, side) in [("before", one), ("after", two)] {
        for (expected, chosen, count) in side.confusion.iter().take(CONFUSIONS) {
            let (expected, chosen) = (escape_line(expected), escape_line(chosen));
            let _ = writeln!(text, "{name}: `{chosen}` in the place of `{expected}`, {count} times");
        }
    }
    for case in &comparison.cases {
        let ((a, n), (b, m)) = (case.stratum.first, case.stratum.second);
        if a * m != b * n {
            let _ = writeln!(text, "{}: {a}/{n} before, {b}/{m} after", escape_line(&case.name));
        }
    }
    let fewest = comparison.cases.iter().map(|case| case.stratum.first.1.min(case.stratum.second.1)).min().unwrap_or(0);
    if comparison.k > fewest {
        let k = comparison.k;
        let _ = writeln!(
            text,
            "pass@{k} and pass^{k} are unknown: a case has only {fewest} runs; use `--k {fewest}` or more trials"
        );
    }
    if !comparison.unmatched.is_empty() {
        let _ = writeln!(text, "left out, because only one log has them: {}", comparison.unmatched.join(", "));
    }
    let _ = writeln!(text, "{}", conclusion(comparison, alpha));
    text
}

/// The most wrong choices that are listed of a side.
const CONFUSIONS: usize = 5;

/// The conclusion from the runs, and its limits.
fn conclusion(comparison: &Comparison, alpha: f64) -> String {
    let Comparison { p, sides: [one, two], .. } = comparison;
    let points = comparison.difference() * 100.0;
    if *p < alpha {
        let word = if points < 0.0 { "worse" } else { "better" };
        return format!("after is {word} by {:.1} points (exact test case by case, p = {p:.4})", points.abs());
    }
    if points.abs() < 1e-9 {
        return format!("no difference in passes (p = {p:.2})");
    }
    let needed = match runs_needed(one.pass_rate.value, two.pass_rate.value, alpha) {
        Some(runs) => format!("; to see a difference of that size, about {runs} runs on each side are needed"),
        None => String::new(),
    };
    format!("not proven: {points:+.1} points may be chance (p = {p:.2}){needed}")
}

fn shown(interval: Interval) -> String {
    let Interval { value, low, high } = interval;
    format!("{:.1} % ({:.1}-{:.1})", value * 100.0, low * 100.0, high * 100.0)
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{:.1} %", value * 100.0))
}

fn as_json(comparison: &Comparison, alpha: f64) -> Value {
    let interval = |interval: Interval| json!({"value": interval.value, "low": interval.low, "high": interval.high});
    let side = |side: &Measured| {
        let confusion = side.confusion.iter();
        json!({
            "model": side.model,
            "runs": side.runs,
            "passed": side.passed,
            "pass_rate": interval(side.pass_rate),
            "pass_at_k": side.pass_at_k,
            "pass_hat_k": side.pass_hat_k,
            "selection": side.selection.map(interval),
            "confusion": confusion.map(|(expected, chosen, count)| json!({"expected": expected, "chosen": chosen, "count": count})).collect::<Vec<_>>(),
            "valid_arguments": side.valid_arguments.map(interval),
            "calls_per_run": side.calls,
            "tokens_per_run": side.tokens,
            "cost_usd_per_run": side.cost_usd_micros.map(|micros| micros / 1e6),
        })
    };
    let cases = comparison.cases.iter().map(|case| {
        let ((a, n), (b, m)) = (case.stratum.first, case.stratum.second);
        json!({"name": case.name, "before": {"passed": a, "runs": n}, "after": {"passed": b, "runs": m}, "expected_tool": case.expected})
    });
    json!({
        "k": comparison.k,
        "before": side(&comparison.sides[0]),
        "after": side(&comparison.sides[1]),
        "cases": cases.collect::<Vec<_>>(),
        "unmatched": comparison.unmatched,
        "difference": comparison.difference(),
        "p": comparison.p,
        "alpha": alpha,
        "significant": comparison.p < alpha,
    })
}
