//! JUnit XML, as CI systems read it.
//!
//! JUnit has no standard. `junit` keeps to `junit-10.xsd` of Jenkins' xUnit plugin, which validates what it reads: one
//! `testsuite` per file, `failure` for what is wrong with the subject, `error` for what could not be run. That schema knows
//! no place of a case, so the text of a failure begins with it. `junit-lines` has `file` and `line` on every case, and
//! `skipped` on the root, for readers that link to them (GitLab, `CircleCI`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcprove_model::{CaseReport, Finding, Report, escape_text, shorten, utc_timestamp};

use super::{Format, Shows};
use crate::escape;
use crate::explanation::{explain_plainly, sub_results_plainly};
use crate::reliability::{Reliability, worst, worst_message};
use crate::status::{Status, UNFINISHED, duration_us, title};

/// See the module.
pub(super) const FORMAT: Format = Format {
    name: "junit",
    extension: "xml",
    summary: "JUnit XML for CI systems, valid for Jenkins",
    shows: Shows::Verdicts,
    render: |report| render(report, Attributes::OfSchema),
};

/// See the module.
pub(super) const WITH_LINES: Format = Format {
    name: "junit-lines",
    extension: "xml",
    summary: "JUnit XML with the file and line of each case",
    shows: Shows::Verdicts,
    render: |report| render(report, Attributes::WithPlaces),
};

/// Bytes of one text or attribute; the event log has all of it.
const TEXT_BYTES: usize = 64 << 10;

/// Which attributes are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attributes {
    /// Those that `junit-10.xsd` knows.
    OfSchema,
    /// Also the place of each case, and `skipped` on the root.
    WithPlaces,
}

fn render(report: &Report, attributes: Attributes) -> String {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let all: Vec<_> = report.cases.iter().collect();
    let total_us = report.end().map_or_else(|| sum_us(&all), |end| end.duration_us);
    let counts = Counts::of(&all);
    let skipped = match attributes {
        Attributes::OfSchema => String::new(),
        Attributes::WithPlaces => format!(" skipped=\"{}\"", counts.skipped),
    };
    let _ = writeln!(
        out,
        "<testsuites name=\"mcprove\" tests=\"{}\" failures=\"{}\" errors=\"{}\"{skipped} time=\"{}\">",
        counts.tests,
        counts.failures,
        counts.errors,
        seconds(total_us)
    );
    let started = report.head().map(|head| utc_timestamp(head.started_unix_ms));
    for (file, cases) in by_file(report) {
        suite(&mut out, file, &cases, started.as_deref(), attributes);
    }
    out.push_str("</testsuites>\n");
    out
}

/// The cases of each file, files in the order they first appear.
fn by_file(report: &Report) -> Vec<(&str, Vec<&CaseReport>)> {
    let mut suites: Vec<(&str, Vec<&CaseReport>)> = Vec::new();
    let mut known = BTreeMap::new();
    for case in &report.cases {
        // Cases that no file holds are those of a server.
        let server = case.started.server.as_deref().unwrap_or_default();
        let file = if case.started.file.is_empty() { server } else { case.started.file.as_str() };
        let at = *known.entry(file).or_insert_with(|| {
            suites.push((file, Vec::new()));
            suites.len() - 1
        });
        suites[at].1.push(case);
    }
    suites
}

fn suite(out: &mut String, file: &str, cases: &[&CaseReport], started: Option<&str>, attributes: Attributes) {
    let counts = Counts::of(cases);
    let name = attribute(file);
    let _ = write!(
        out,
        "  <testsuite name=\"{name}\" file=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
        counts.tests,
        counts.failures,
        counts.errors,
        counts.skipped,
        seconds(sum_us(cases))
    );
    if let Some(started) = started {
        let _ = write!(out, " timestamp=\"{started}\"");
    }
    out.push_str(">\n");
    let mut trials = Reliability::default();
    for (position, case) in cases.iter().enumerate() {
        trials.add(position, &case.started, case.finished.as_ref());
    }
    if trials.repeated() {
        let judged = trials.judged();
        out.push_str("    <properties>\n");
        let _ = writeln!(out, "      <property name=\"pass_at_k\" value=\"{}/{judged}\"/>", trials.capable());
        let _ = writeln!(out, "      <property name=\"pass_up_k\" value=\"{}/{judged}\"/>", trials.reliable());
        for flaky in trials.flaky() {
            let (name, line) = (flaky.reason().replace(' ', "_"), attribute(&flaky.flaky_line()));
            let _ = writeln!(out, "      <property name=\"{name}\" value=\"{line}\"/>");
        }
        out.push_str("    </properties>\n");
    }
    let class = attribute(&class_name(file));
    for case in cases {
        test_case(out, case, &class, attributes);
    }
    out.push_str("  </testsuite>\n");
}

fn test_case(out: &mut String, case: &CaseReport, class: &str, attributes: Attributes) {
    let (name, time) = (attribute(&title(&case.started)), seconds(duration_us(case)));
    let place = match attributes {
        Attributes::WithPlaces if case.started.line > 0 => {
            format!(" file=\"{}\" line=\"{}\"", attribute(&case.started.file), case.started.line)
        }
        Attributes::OfSchema | Attributes::WithPlaces => String::new(),
    };
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"{place} time=\"{time}\"");
    let element = match Status::of(case) {
        Status::Passed => {
            match sub_results_plainly(case) {
                none if none.is_empty() => out.push_str("/>\n"),
                told => {
                    let told = text(&told);
                    let _ = writeln!(out, ">\n      <system-out>{told}</system-out>\n    </testcase>");
                }
            }
            return;
        }
        Status::Skipped(reason) => {
            let _ = writeln!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>", attribute(reason));
            return;
        }
        Status::Failed => "failure",
        Status::Error | Status::Unfinished => "error",
    };
    let findings = case.finished.as_ref().map_or(&[] as &[Finding], |finished| &finished.findings);
    let message = if case.finished.is_some() { worst_message(findings) } else { UNFINISHED };
    let kind = worst(findings).map_or("unfinished", |finding| &*finding.rule);
    let _ = writeln!(
        out,
        ">\n      <{element} message=\"{}\" type=\"{}\">{}</{element}>",
        attribute(&escape::line(message)),
        attribute(kind),
        text(&format!("{}{}", beginning(case), explain_plainly(case)))
    );
    let stderr = case.finished.as_ref().map_or("", |finished| finished.stderr.as_str());
    if !stderr.is_empty() {
        let lines: Vec<_> = escape::lines(stderr).collect();
        let _ = writeln!(out, "      <system-err>{}</system-err>", text(&lines.join("\n")));
    }
    out.push_str("    </testcase>\n");
}

/// The place of a case as the beginning of a text; nothing where no file holds it.
fn beginning(case: &CaseReport) -> String {
    let (file, line) = (&case.started.file, case.started.line);
    if file.is_empty() { String::new() } else { format!("at {}:{line}\n\n", escape::line(file)) }
}

/// The file as a dotted name, which readers group by.
fn class_name(file: &str) -> String {
    let stem = file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file);
    stem.trim_start_matches(['.', '/']).replace(['/', '\\'], ".")
}

#[derive(Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn of(cases: &[&CaseReport]) -> Self {
        let mut counts = Self { tests: cases.len(), ..Self::default() };
        for case in cases {
            match Status::of(case) {
                Status::Passed => {}
                Status::Failed => counts.failures += 1,
                Status::Skipped(_) => counts.skipped += 1,
                Status::Error | Status::Unfinished => counts.errors += 1,
            }
        }
        counts
    }
}

fn sum_us(cases: &[&CaseReport]) -> u64 {
    cases.iter().map(|case| duration_us(case)).sum()
}

/// Seconds with three decimals: readers refuse exponents.
fn seconds(us: u64) -> String {
    format!("{}.{:03}", us / 1_000_000, us / 1_000 % 1_000)
}

fn text(text: &str) -> String {
    let bounded = shorten(text, TEXT_BYTES);
    let mut safe = String::with_capacity(bounded.len() + 16);
    for c in escape_text(&bounded).chars() {
        match c {
            // Where the file is printed in a job, `##[` would begin a command.
            '#' if safe.ends_with('#') => safe.push_str("&#35;"),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            // Alone it is allowed, but `]]>` is not.
            '>' => safe.push_str("&gt;"),
            // Escaping left only characters that XML 1.0 allows.
            _ => safe.push(c),
        }
    }
    safe
}

/// Text between double quotes; line breaks and tabs would become spaces there, so they are written as references.
fn attribute(value: &str) -> String {
    text(value).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_characters_of_xml_are_written() {
        assert_eq!(text("a<b>&c ]]> \u{1b}[31m\0\u{ffff}\r\n"), "a&lt;b&gt;&amp;c ]]&gt; \\x1b[31m\\x00\\u{ffff}\\r\n");
        assert_eq!(text("###[x]"), "#&#35;#[x]");
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
    }

    #[test]
    fn times_have_no_exponent() {
        assert_eq!(seconds(4), "0.000");
        assert_eq!(seconds(61_234_567), "61.234");
    }

    #[test]
    fn a_file_is_a_class() {
        assert_eq!(class_name("./evals/read.yaml"), "evals.read");
        assert_eq!(class_name("/a/b.c.yml"), "a.b.c");
    }
}
