//! Findings as rustc shows them: the message, the place, the line with a caret, the expected and actual values.
//!
//! A finding quotes its own line, so this needs no file. The line is drawn cell by cell because what is shown is not what
//! was written: tabs, escapes and wide characters take other widths, and the caret must be under the marked text.

use std::fmt::Write as _;

use mcprove_model::{Finding, Place, Severity, TextPlace, escape_line};
use unicode_width::UnicodeWidthChar as _;

use crate::escape;
use crate::style::{Role, Style};
use crate::wrap::wrapped;

/// Lines of expected, actual or diff that are shown; the rest is counted.
const BLOCK_LINES: usize = 60;
/// Columns assumed where the terminal's width is not known.
const DEFAULT_WIDTH: usize = 120;

/// Renders findings for a person, one after the other with an empty line between them.
pub fn render_findings(findings: &[Finding], style: &Style) -> String {
    let mut out = String::new();
    let left_out = findings.len().saturating_sub(SHOWN);
    for (index, finding) in findings.iter().enumerate() {
        // The last one may say why there are so many.
        if left_out > 0 && (SHOWN - 1..findings.len() - 1).contains(&index) {
            continue;
        }
        if left_out > 0 && index == findings.len() - 1 {
            let _ = writeln!(out, "\n… {left_out} more are left out …");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        render_finding(&mut out, finding, style);
    }
    out
}

/// Number of findings that are shown at a time.
const SHOWN: usize = 1_000;

/// Renders one finding; every line ends with a line break.
pub(crate) fn render_finding(out: &mut String, finding: &Finding, style: &Style) {
    let role = severity_role(finding.severity);
    let head = format!("{}[{}]", finding.severity.word(), escape::line(&finding.rule));
    let message = format!(": {}", escape::line(&finding.message));
    let _ = writeln!(out, "{}{}", style.paint(role, &head), style.paint(Role::Strong, &message));

    let digits = match &finding.place {
        Some(Place::Text(place)) => place.line.to_string().len(),
        Some(Place::Wire(_)) | None => 1,
    };
    let margin = " ".repeat(digits);
    match &finding.place {
        Some(Place::Text(place)) => source_line(out, place, role, style),
        Some(Place::Wire(place)) => {
            let arrow = style.paint(Role::Frame, "-->");
            let server = escape::line(&place.server);
            let _ = writeln!(out, "{margin}{arrow} {server}, at `{}`", escape::line(&place.pointer));
        }
        None => {}
    }
    remarks(out, &margin, finding, style);
}

/// The role of a severity's word.
pub(crate) fn severity_role(severity: Severity) -> Role {
    match severity {
        Severity::Note => Role::Note,
        Severity::Warning => Role::Warning,
        Severity::Error | Severity::High | Severity::Critical => Role::Bad,
    }
}

fn remarks(out: &mut String, margin: &str, finding: &Finding, style: &Style) {
    // A diff shows both sides; long texts next to it would only repeat them.
    let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.lines().nth(1).is_some());
    let diff_alone = finding.diff.is_some() && (long(&finding.expected) || long(&finding.actual));
    let plain = |_: &str| Role::Plain;
    if !diff_alone {
        if let Some(expected) = &finding.expected {
            remark(out, margin, "expected", expected, plain, style);
        }
        if let Some(actual) = &finding.actual {
            remark(out, margin, "  actual", actual, plain, style);
        }
    }
    if let Some(diff) = &finding.diff {
        remark(out, margin, "diff (- expected, + actual)", diff, diff_role, style);
    }
    if let Some(evidence) = &finding.evidence {
        let reply = evidence.reply.as_deref().unwrap_or("none came");
        for (label, text) in [(" request", evidence.request.as_str()), ("   reply", reply)] {
            remark(out, margin, label, text, plain, style);
        }
    }
    if let Some(help) = &finding.help {
        remark(out, margin, "help", help, plain, style);
    }
}

/// One `= label: text`; a text of several lines goes below its label behind a gutter.
fn remark(out: &mut String, margin: &str, label: &str, text: &str, role: fn(&str) -> Role, style: &Style) {
    let sign = style.paint(Role::Frame, "=");
    let label_width = label.chars().count() + 1;
    let label = style.paint(Role::Strong, &format!("{label}:"));
    let mut lines = escape::lines(text);
    let first = lines.next().unwrap_or_default();
    let Some(second) = lines.next() else {
        let first = if text.is_empty() { "(empty)".into() } else { first };
        let before = margin.len() + 4 + label_width;
        let pieces = wrapped(&first, style.width.map(|width| width.saturating_sub(before)));
        let gutter = style.paint(Role::Frame, "│");
        for (number, piece) in pieces.into_iter().enumerate() {
            let piece = style.paint(role(&first), &piece);
            let _ = match number {
                0 => writeln!(out, "{margin} {sign} {label} {piece}"),
                // A gutter of our own, because no line may begin with what a server sent.
                _ => writeln!(out, "{margin} {}{gutter} {piece}", " ".repeat(1 + label_width)),
            };
        }
        return;
    };
    let _ = writeln!(out, "{margin} {sign} {label}");
    let gutter = style.paint(Role::Frame, "│");
    for line in [first, second].into_iter().chain(lines.by_ref()).take(BLOCK_LINES) {
        let _ = writeln!(out, "{margin}   {gutter} {}", style.paint(role(&line), &line));
    }
    let left_out = lines.count();
    if left_out > 0 {
        let _ = writeln!(out, "{margin}   {gutter} … {left_out} more lines");
    }
}

fn diff_role(line: &str) -> Role {
    match line.as_bytes().first() {
        Some(b'-') => Role::Removed,
        Some(b'+') => Role::Added,
        Some(b'@') => Role::Hunk,
        Some(_) | None => Role::Plain,
    }
}

/// `--> file:line:column`, the line itself, and carets under the span.
fn source_line(out: &mut String, place: &TextPlace, role: Role, style: &Style) {
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let bar = style.paint(Role::Frame, "|");
    let arrow = style.paint(Role::Frame, "-->");
    let _ = writeln!(out, "{margin}{arrow} {}:{}:{}", escape::line(&place.file), place.line, place.column);
    let room = style.width.unwrap_or(DEFAULT_WIDTH).saturating_sub(number.len() + 3).max(20);
    let drawn = draw(place, room);
    let _ = writeln!(out, "{margin} {bar}");
    let line = format!("{} {bar} {}", style.paint(Role::Frame, &number), drawn.line);
    let _ = writeln!(out, "{}", line.trim_end());
    let carets = style.paint(role, &"^".repeat(drawn.carets));
    let _ = writeln!(out, "{margin} {bar} {}{carets}", " ".repeat(drawn.before));
}

struct Drawn {
    line: String,
    before: usize,
    carets: usize,
}

/// The line as shown and where the carets go, cut around the span when it is wider than `room`.
fn draw(place: &TextPlace, room: usize) -> Drawn {
    let cells = cells(&place.excerpt);
    let index = |column: u32| usize::try_from(column).unwrap_or(usize::MAX).saturating_sub(1).min(cells.len());
    let start = index(place.column);
    let end = if place.end_line > place.line { cells.len() } else { index(place.end_column).max(start) };
    let width = |from: usize, to: usize| cells[from..to].iter().map(|cell| cell.width).sum::<usize>();

    let total = width(0, cells.len());
    let (mut from, mut to) = (0, cells.len());
    if total > room {
        // A third of the room before the span keeps what leads to it in view.
        let lead = room / 3;
        if width(0, start) > lead {
            from = start;
            let mut before = 1;
            while from > 0 && before + cells[from - 1].width <= lead {
                from -= 1;
                before += cells[from].width;
            }
        }
        to = from;
        let mut used = 1 + usize::from(from > 0);
        while to < cells.len() && used + cells[to].width <= room {
            used += cells[to].width;
            to += 1;
        }
    }
    let mut line = String::new();
    if from > 0 {
        line.push('…');
    }
    cells[from..to].iter().for_each(|cell| line.push_str(&cell.text));
    if to < cells.len() {
        line.push('…');
    }
    let before = usize::from(from > 0) + width(from, start.min(to));
    let carets = width(start.min(to), end.min(to)).max(1);
    Drawn { line, before, carets }
}

struct Cell {
    text: String,
    width: usize,
}

/// The displayed form of each character of a line.
fn cells(line: &str) -> Vec<Cell> {
    let commands = escape::command_starts(line);
    line.char_indices()
        .map(|(at, c)| {
            let text = if c == '\t' {
                "    ".to_owned()
            } else if commands.binary_search(&at).is_ok() {
                escape::shown(c == ':').to_owned()
            } else {
                escape_line(c.encode_utf8(&mut [0; 4])).into_owned()
            };
            let width = text.chars().map(|c| c.width().unwrap_or(0)).sum();
            Cell { text, width }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(excerpt: &str, column: u32, end_column: u32) -> TextPlace {
        TextPlace { file: "a.yaml".to_owned(), line: 7, column, end_line: 7, end_column, excerpt: excerpt.to_owned() }
    }

    /// The drawn line, and the part of it above the carets.
    fn marked(excerpt: &str, column: u32, end_column: u32, room: usize) -> (String, String) {
        let drawn = draw(&place(excerpt, column, end_column), room);
        let mut at = 0;
        let mut above = String::new();
        for c in drawn.line.chars() {
            if at >= drawn.before && at < drawn.before + drawn.carets {
                above.push(c);
            }
            at += c.width().unwrap_or(0);
        }
        (drawn.line, above)
    }

    #[test]
    fn carets_stand_under_what_is_meant() {
        for (excerpt, column, end, wanted) in [
            ("  contain: x", 3, 10, "contain"),
            ("\tcontain: x", 2, 9, "contain"),
            ("名前: contain", 5, 12, "contain"),
            ("e\u{301}: contain", 5, 12, "contain"),
            ("\u{1b}[1m: contain", 7, 14, "contain"),
            ("::a: contain", 6, 13, "contain"),
        ] {
            assert_eq!(marked(excerpt, column, end, 100).1, wanted, "{excerpt:?}");
        }
    }

    #[test]
    fn a_span_at_or_past_the_end_has_one_caret() {
        for column in [5, 6, 900] {
            let drawn = draw(&place("abcd", column, column), 100);
            assert_eq!((drawn.before, drawn.carets), (4, 1));
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_span() {
        let excerpt = format!("{} needle {}", "a".repeat(500), "b".repeat(500));
        let (line, above) = marked(&excerpt, 502, 508, 60);
        assert_eq!(above, "needle");
        assert!(line.chars().count() <= 60, "{line}");
        assert!(line.starts_with('…') && line.ends_with('…'), "{line}");

        let (line, above) = marked(&excerpt, 1, 1001, 60);
        assert_eq!(line.chars().count(), 60);
        assert_eq!(above.chars().count(), 59, "carets stop where the line is cut");
    }
}
