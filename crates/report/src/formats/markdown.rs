//! Markdown for a GitHub step summary: a headline, the failures folded, a table of everything.
//!
//! Names are in `<code>` with every character that Markdown or HTML would read written as a reference; longer texts are
//! in fences longer than any run of backticks in them. GitHub refuses a summary of more than 1 MiB, so a large run shows its
//! failures first and says how much was left out.

use std::fmt::Write as _;

use mcprove_model::{CaseReport, Report, Summary};

use super::{Format, Shows};
use crate::explanation::{explain_plainly, sub_results_plainly};
use crate::matrix::{Cell, Matrix};
use crate::reliability::Reliability;
use crate::snippet::render_findings;
use crate::status::{Status, duration_us, title};
use crate::style::Style;
use crate::time_breakdown::Times;
use crate::{duration, escape, load};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "markdown",
    extension: "md",
    summary: "Markdown for a GitHub step summary",
    shows: Shows::Verdicts,
    render,
};

/// Bytes after which no further failure is explained.
const EXPLAINED_BYTES: usize = 500_000;
/// Bytes after which no further row is written.
const WHOLE_BYTES: usize = 900_000;
/// From this many cases on, those that passed are folded.
const FOLD_CASES: usize = 20;

fn render(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "### mcprove: {}\n", headline(report));
    if !report.findings.is_empty() {
        fenced(&mut out, &render_findings(&report.findings, &Style::default()));
        out.push('\n');
    }
    let (bad, good): (Vec<_>, Vec<_>) = report
        .cases
        .iter()
        .partition(|case| matches!(Status::of(case), Status::Failed | Status::Error | Status::Unfinished));
    if let Some((_, record)) = load::load_of(report) {
        out.push_str(&load::markdown(record));
    }
    failures(&mut out, &bad);
    parts(&mut out, &good);
    let trials = Reliability::of(report);
    matrix(&mut out, &Matrix::of(&trials));
    reliability(&mut out, &trials);
    times(&mut out, report);
    if !good.is_empty() || !bad.is_empty() {
        let folded = report.cases.len() >= FOLD_CASES;
        if folded {
            let _ = writeln!(out, "<details><summary>all {} cases</summary>\n", report.cases.len());
        }
        table(&mut out, bad.iter().chain(&good).copied());
        if folded {
            out.push_str("\n</details>\n");
        }
    }
    out
}

fn headline(report: &Report) -> String {
    let Summary { passed, failed, skipped, errors, unfinished } = report.summary();
    let mut parts = vec![format!("{passed} passed")];
    for (count, word) in
        [(failed, "failed"), (errors, "could not run"), (unfinished, "did not end"), (skipped, "skipped")]
    {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    let mut line = parts.join(", ");
    if let Some(finished) = report.end() {
        let _ = write!(line, " in {}", duration::human(finished.duration_us));
        if finished.interrupted {
            line.push_str(" (interrupted)");
        }
    }
    line
}

fn failures(out: &mut String, bad: &[&CaseReport]) {
    for (shown, case) in bad.iter().enumerate() {
        if out.len() > EXPLAINED_BYTES {
            let _ =
                writeln!(out, "… and {} more that did not pass; the HTML report has them all.\n", bad.len() - shown);
            return;
        }
        let place = case.started.place();
        let place = escape::line(&place);
        let (sign, name) = (sign(case), code(&title(&case.started)));
        let _ = writeln!(out, "<details><summary>{sign} {name} {}</summary>\n", code(&place));
        fenced(out, &explain_plainly(case));
        out.push_str("\n</details>\n\n");
    }
}

/// Results of the probes and tools of cases that passed.
fn parts(out: &mut String, good: &[&CaseReport]) {
    for case in good {
        let told = sub_results_plainly(case);
        if told.is_empty() || out.len() > EXPLAINED_BYTES {
            continue;
        }
        let _ = writeln!(out, "<details><summary>{} {}</summary>\n", sign(case), code(&title(&case.started)));
        fenced(out, &told);
        out.push_str("\n</details>\n\n");
    }
}

/// Every case in every column, when the run is a matrix.
fn matrix(out: &mut String, matrix: &Matrix<'_>) {
    if matrix.rows.is_empty() {
        return;
    }
    out.push_str("#### Matrix\n\n| Case |");
    for column in &matrix.columns {
        let _ = write!(out, " {} |", code(&escape::line(column)));
    }
    let _ = writeln!(out, "\n|---|{}", ":---:|".repeat(matrix.columns.len()));
    for row in &matrix.rows {
        if out.len() > WHOLE_BYTES {
            out.push_str("\nMore rows were left out.\n");
            break;
        }
        let _ = write!(out, "| {} |", code(&escape::line(row.name)));
        for cell in &row.cells {
            let cell = Cell::of(*cell);
            let _ = write!(out, " {}{} |", cell.sign(), cell.word());
        }
        out.push('\n');
    }
    out.push('\n');
}

fn reliability(out: &mut String, trials: &Reliability) {
    if !trials.repeated() {
        return;
    }
    out.push_str("#### Reliability\n\n| Case | Trials | Passed | pass@k | pass^k |\n|---|---:|---:|:---:|:---:|\n");
    for row in trials.rows() {
        if out.len() > WHOLE_BYTES {
            out.push_str("\nMore rows were left out.\n");
            break;
        }
        let yes_no = |yes: bool| {
            if row.run == 0 {
                "–"
            } else if yes {
                "yes"
            } else {
                "no"
            }
        };
        let name = code(&row.title());
        let flaky = if row.flaky() { format!(" **{}**", row.reason()) } else { String::new() };
        let (capable, reliable) = (yes_no(row.capable()), yes_no(row.reliable()));
        let trials = row.run + row.skipped;
        let _ = writeln!(out, "| {name}{flaky} | {trials} | {} | {capable} | {reliable} |", row.passed);
    }
    let (judged, capable, reliable) = (trials.judged(), trials.capable(), trials.reliable());
    let _ = writeln!(out, "\npass@k: {capable}/{judged} capable, pass^k: {reliable}/{judged} reliable\n");
    for row in trials.flaky() {
        if let Some(failing) = row.failing.as_ref().filter(|_| out.len() < WHOLE_BYTES) {
            let (name, message) = (code(&row.title()), code(&escape::line(&failing.message)));
            let _ = writeln!(out, "- {name} failed in trial {}: {message}", failing.trial);
        }
    }
    out.push('\n');
}

/// Where the time went, and what would have made it less.
fn times(out: &mut String, report: &Report) {
    if let Some(text) = Times::of(report).and_then(|times| times.text()) {
        let _ = writeln!(out, "Time: {}\n", text.replace('<', "&lt;"));
    }
    if let Some(hint) = report.end().and_then(|end| end.hint) {
        let _ = writeln!(out, "Hint: {}\n", code(&escape::line(&hint)));
    }
}

fn table<'a>(out: &mut String, cases: impl Iterator<Item = &'a CaseReport>) {
    out.push_str("| Status | Case | Duration |\n|---|---|---:|\n");
    let mut cases = cases.peekable();
    while let Some(case) = cases.next_if(|_| out.len() < WHOLE_BYTES) {
        let reason = match Status::of(case) {
            Status::Skipped(reason) if !reason.is_empty() => format!(" ({})", code(&escape::line(reason))),
            Status::Skipped(_) | Status::Passed | Status::Failed | Status::Error | Status::Unfinished => String::new(),
        };
        let (sign, name) = (sign(case), code(&title(&case.started)));
        let time = match Status::of(case) {
            Status::Skipped(_) | Status::Unfinished => String::new(),
            Status::Passed | Status::Failed | Status::Error => duration::human(duration_us(case)).replace('<', "&lt;"),
        };
        let _ = writeln!(out, "| {sign} | {name}{reason} | {time} |");
    }
    let left_out = cases.count();
    if left_out > 0 {
        let _ = writeln!(out, "\n… and {left_out} more; the HTML report has them all.");
    }
}

fn sign(case: &CaseReport) -> &'static str {
    match Status::of(case) {
        Status::Passed => "✅ passed",
        Status::Failed => "❌ failed",
        Status::Skipped(_) => "⚪ skipped",
        Status::Error => "💥 could not run",
        Status::Unfinished => "💥 did not end",
    }
}

/// One line as `<code>`, in which nothing but text is left.
fn code(line: &str) -> String {
    let mut safe = String::with_capacity(line.len() + 16);
    safe.push_str("<code>");
    for c in line.chars() {
        match c {
            '&' | '<' | '>' | '"' | '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '$' | ':' | '@' | '!' | '#' => {
                let _ = write!(safe, "&#{};", u32::from(c));
            }
            _ => safe.push(c),
        }
    }
    safe.push_str("</code>");
    safe
}

/// A block that its text cannot close.
fn fenced(out: &mut String, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}text\n{}\n{fence}", text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let mut out = String::new();
        fenced(&mut out, "a\n````\nb");
        assert_eq!(out, "`````text\na\n````\nb\n`````\n");
    }

    #[test]
    fn a_name_is_text_and_nothing_else() {
        assert_eq!(code("a|b <i> *c* &amp;"), "<code>a&#124;b &#60;i&#62; &#42;c&#42; &#38;amp;</code>");
    }
}
