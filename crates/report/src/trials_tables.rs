//! Results of cases that ran more than once, for the terminal: a table of the variants of a matrix, and one of trials.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::columns::fit;
use crate::escape;
use crate::matrix::{Cell, Matrix};
use crate::reliability::{Reliability, Trials};
use crate::style::{Role, Style};
use crate::terminal::{NAME_WIDTH, SCREENFUL, Verbosity};

/// The table of a matrix; what passed everywhere is left out where little is wanted.
pub(crate) fn matrix(text: &mut String, reliability: &Reliability, verbosity: Verbosity, style: &Style) {
    let Matrix { columns, rows } = Matrix::of(reliability);
    let rows: Vec<_> = rows.into_iter().filter(|row| verbosity != Verbosity::Quiet || !row.is_good()).collect();
    if rows.is_empty() {
        return;
    }
    let names: Vec<_> = rows.iter().map(|row| fit(&escape::line(row.name), NAME_WIDTH)).collect();
    let widest = names.iter().map(|name| name.width()).max().unwrap_or(0).max("case".len());
    let columns: Vec<_> = columns.into_iter().map(escape::line).collect();
    let widths: Vec<_> = columns.iter().map(|column| column.width().max("ERROR".len())).collect();
    let mut head = format!("case{}", " ".repeat(widest - "case".len()));
    for (column, width) in columns.iter().zip(&widths) {
        let _ = write!(head, "  {column}{}", " ".repeat(width - column.width()));
    }
    let _ = writeln!(text, "  {}", style.paint(Role::Strong, head.trim_end()));
    for (name, row) in names.iter().zip(rows) {
        let mut line = format!("  {name}{}", " ".repeat(widest - name.width()));
        let mut gap = 0;
        for (cell, width) in row.cells.into_iter().zip(&widths) {
            let cell = Cell::of(cell);
            let word = cell.word();
            let _ = write!(line, "{}  {}", " ".repeat(gap), style.paint(cell.role(), &word));
            gap = width.saturating_sub(word.width());
        }
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
}

/// The trials of each case, those that are flaky, and how many can and do pass.
pub(crate) fn trials(text: &mut String, reliability: &Reliability, style: &Style) {
    // A long table would scroll the summary away: then only the cases that did not pass every time are listed.
    let all = reliability.rows();
    let rows: Vec<_> = all.iter().filter(|row| all.len() < SCREENFUL || row.run > 0 && !row.reliable()).collect();
    let widest = rows.iter().map(|row| row.title().width()).max().unwrap_or(0);
    let pad = |name: &str| " ".repeat(widest.clamp(4, NAME_WIDTH).saturating_sub(name.width()));
    text.push('\n');
    if !rows.is_empty() {
        let head = format!("case{}  trials  passed  pass@k  pass^k", pad("case"));
        let _ = writeln!(text, "  {}", style.paint(Role::Strong, &head));
    }
    for row in rows {
        let name = row.title();
        let (role, yes_no) = (trials_role(row), |yes: bool| if yes { "yes" } else { "no" });
        let (capable, reliable) =
            if row.run == 0 { ("-", "-") } else { (yes_no(row.capable()), yes_no(row.reliable())) };
        let cells = format!("{:>6}  {:>6}  {capable:>6}  {reliable:>6}", row.run + row.skipped, row.passed);
        let _ = writeln!(text, "  {name}{}  {}", pad(&name), style.paint(role, &cells));
    }
    for row in reliability.flaky() {
        let reason = format!("{}:", row.reason());
        let _ = writeln!(text, "{} {}", style.paint(Role::Warning, &reason), row.flaky_line());
    }
    let (judged, capable, reliable) = (reliability.judged(), reliability.capable(), reliability.reliable());
    let _ = writeln!(text, "pass@k: {capable}/{judged} capable, pass^k: {reliable}/{judged} reliable");
}

fn trials_role(row: &Trials) -> Role {
    if row.run == 0 {
        Role::Skipped
    } else if row.reliable() {
        Role::Good
    } else if row.flaky() {
        Role::Warning
    } else {
        Role::Bad
    }
}
