//! Output of the findings of a catalog: as lines, as JSON, as annotations, and as a SARIF file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::mem;

use mcprove_judge::LintFault;
use mcprove_model::{Finding, Redactor, Severity};
use mcprove_report::{Format, OneLine, Style, to_safe_json_line};
use serde_json::json;

use crate::finding_report::as_report;

/// Form of the printed output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// A line a finding, and a summary.
    Lines,
    /// For each rule a count and a few findings, and a summary.
    Rules,
    /// One JSON object.
    Json,
    /// GitHub workflow commands.
    Annotations,
}

/// Where it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    /// Standard output is taken by something else.
    Error,
}

/// So many findings of each rule are printed where rules are summed up.
const EXAMPLES: usize = 3;

/// The findings of one rule.
#[derive(Debug, Default)]
struct RuleCount {
    name: &'static str,
    findings: usize,
    tools: usize,
    /// The last tool: findings come tool by tool.
    last: Option<String>,
    /// The lines of the first few.
    examples: String,
}

/// Prints findings as they come, and counts them.
pub(crate) struct CatalogReport {
    printed: Printed,
    out: BufWriter<Box<dyn Write>>,
    style: Style,
    /// True if each finding is printed with its help.
    helpful: bool,
    line: String,
    /// Kept for formats that are written as a whole.
    findings: Option<Vec<Finding>>,
    counts: Counts,
    /// The findings by the id of their rule.
    rules: BTreeMap<&'static str, RuleCount>,
    started_unix_ms: u64,
    /// The secrets of the server that was asked.
    secrets: Redactor,
    /// Nothing can be done once a reader has gone away or a disk is full, but it must not pass unseen.
    failed: Option<io::Error>,
}

/// Number of findings of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) critical: usize,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) notes: usize,
    pub(crate) fixable: usize,
    pub(crate) ignored: usize,
}

/// Extent of the check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looked {
    pub(crate) tools: usize,
    /// Tools without an input schema that could be looked at.
    pub(crate) without_schema: usize,
    /// True if nothing but input schemas is looked at.
    pub(crate) only_schemas: bool,
}

impl Looked {
    /// True if there was nothing to look at.
    pub(crate) fn is_nothing(self) -> bool {
        self.tools == 0 || self.only_schemas && self.without_schema == self.tools
    }
}

/// Options of a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatalogReportOptions {
    pub(crate) printed: Printed,
    pub(crate) stream: Stream,
    pub(crate) style: Style,
    pub(crate) helpful: bool,
    /// True if a SARIF file is written in the end.
    pub(crate) sarif: bool,
    /// When the program began.
    pub(crate) started_unix_ms: u64,
}

impl CatalogReport {
    pub(crate) fn new(options: CatalogReportOptions, secrets: Redactor) -> Self {
        let out: Box<dyn Write> = match options.stream {
            Stream::Output => Box::new(io::stdout()),
            Stream::Error => Box::new(io::stderr()),
        };
        let whole = options.sarif || options.printed == Printed::Annotations;
        let mut report = Self {
            printed: options.printed,
            out: BufWriter::with_capacity(64 * 1024, out),
            style: options.style,
            helpful: options.helpful,
            line: String::new(),
            findings: whole.then(Vec::new),
            counts: Counts::default(),
            rules: BTreeMap::new(),
            started_unix_ms: options.started_unix_ms,
            secrets,
            failed: None,
        };
        if options.printed == Printed::Json {
            report.write("{\"findings\": [");
        }
        report
    }

    /// Reports one more finding.
    pub(crate) fn add(&mut self, fault: &LintFault<'_>) {
        match fault.severity() {
            Severity::Note => self.counts.notes += 1,
            Severity::Warning => self.counts.warnings += 1,
            Severity::Error | Severity::High => self.counts.errors += 1,
            Severity::Critical => self.counts.critical += 1,
        }
        self.counts.fixable += usize::from(fault.fixable);
        match self.printed {
            Printed::Lines => {
                let line = self.line_of(fault);
                self.write(&line);
                self.line = line;
            }
            Printed::Rules => self.count(fault),
            Printed::Json => self.write_json(fault),
            Printed::Annotations => {}
        }
        if let Some(findings) = &mut self.findings {
            findings.push(fault.finding());
        }
    }

    /// Counts a finding that is not printed.
    pub(crate) fn ignore(&mut self) {
        self.counts.ignored += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Writes the end of the output; returns the SARIF file, if one was asked for.
    pub(crate) fn finish(mut self, looked: Looked) -> io::Result<Option<String>> {
        match self.printed {
            Printed::Lines | Printed::Rules => {
                let mut text = String::new();
                for (id, rule) in mem::take(&mut self.rules) {
                    let (findings, tools) = (counted(rule.findings, "finding"), counted(rule.tools, "tool"));
                    let _ = writeln!(text, "{id} {}: {findings} in {tools}\n{}", rule.name, rule.examples.trim_end());
                    if rule.findings > EXAMPLES {
                        let _ = writeln!(text, "  and {} more; `--verbose` shows all", rule.findings - EXAMPLES);
                    }
                    text.push('\n');
                }
                text.push_str(&self.counts.sentence(looked));
                self.write(&text);
            }
            Printed::Json => {
                let counts = self.counts;
                let summary = json!({
                    "tools": looked.tools,
                    "tools_without_schema": looked.without_schema,
                    "findings": counts.all(),
                    "critical": counts.critical,
                    "errors": counts.errors,
                    "warnings": counts.warnings,
                    "notes": counts.notes,
                    "fixable": counts.fixable,
                    "ignored": counts.ignored,
                });
                self.write(&format!("{}],\n \"summary\": {summary}}}\n", if counts.all() > 0 { "\n " } else { "" }));
            }
            Printed::Annotations => {}
        }
        let whole = self.findings.take().map(|findings| as_report(findings, self.started_unix_ms, &self.secrets));
        let render = |name: &str| Format::find(name).zip(whole.as_ref()).map(|(format, whole)| (format.render)(whole));
        if self.printed == Printed::Annotations {
            self.write(&render("github").unwrap_or_default());
        }
        let flushed = self.out.flush();
        match self.failed.map_or(flushed, Err) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            Ok(()) | Err(_) => Ok(render("sarif")),
        }
    }

    fn count(&mut self, fault: &LintFault<'_>) {
        let is_example = self.rules.get(fault.rule.id).is_none_or(|rule| rule.findings < EXAMPLES);
        let line = if is_example { self.line_of(fault) } else { String::new() };
        let rule = self.rules.entry(fault.rule.id).or_default();
        rule.name = fault.rule.name;
        rule.findings += 1;
        let tool = fault.tool().unwrap_or_default();
        if rule.last.as_deref() != Some(&*tool) {
            rule.tools += 1;
            rule.last = Some(tool.into_owned());
        }
        if is_example {
            rule.examples.push_str("  ");
            rule.examples.push_str(&line);
        }
    }

    fn line_of(&mut self, fault: &LintFault<'_>) -> String {
        let mut line = mem::take(&mut self.line);
        line.clear();
        let (tool, pointer) = (fault.tool(), fault.pointer());
        let (before, after) = if tool.is_some() { ("tool `", "`: ") } else { ("", "") };
        let tool = tool.unwrap_or_default();
        let place = fault.position();
        let source = fault.source();
        let finding = OneLine {
            source: place.map_or(&*source, |(file, _)| file),
            position: place.map(|(_, position)| (position.line, position.column)),
            severity: fault.severity(),
            rule: fault.rule.id,
            message: &[before, &tool, after, &fault.message, " (at ", &pointer, ")"],
        };
        finding.write(&mut line, &self.style);
        if self.helpful {
            line.push_str("    help: ");
            line.push_str(fault.help());
            line.push('\n');
        }
        line
    }

    fn write_json(&mut self, fault: &LintFault<'_>) {
        let place = fault.position();
        let finding = json!({
            "rule": fault.rule.id,
            "name": fault.rule.name,
            "severity": fault.severity().word(),
            "tool": fault.tool(),
            "message": fault.message,
            "help": fault.help(),
            "fixable": fault.fixable,
            "source": place.map_or_else(|| fault.source(), |(file, _)| file.into()),
            "line": place.map(|(_, position)| position.line),
            "column": place.map(|(_, position)| position.column),
            "pointer": fault.pointer(),
        });
        let comma = if self.counts.all() > 1 { "," } else { "" };
        self.write(&format!("{comma}\n  {}", to_safe_json_line(&finding)));
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(self.secrets.text(text).as_bytes()).err();
        }
    }
}

impl Counts {
    pub(crate) fn all(self) -> usize {
        self.critical + self.errors + self.warnings + self.notes
    }

    fn sentence(self, looked: Looked) -> String {
        let tools = counted(looked.tools, "tool");
        let mut text = match self.all() {
            0 if looked.tools == 0 => return "there are no tools: nothing was checked\n".to_owned(),
            0 if looked.is_nothing() => {
                return format!("{tools} without an input schema: nothing was checked (`--all` says why)\n");
            }
            0 => format!("{tools} checked, no findings"),
            all => {
                let kinds = [
                    (self.critical, counted_as(self.critical, "critical")),
                    (self.errors, counted(self.errors, "error")),
                    (self.warnings, counted(self.warnings, "warning")),
                    (self.notes, counted(self.notes, "note")),
                ];
                let kinds: Vec<String> =
                    kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
                format!("{} ({}) in {tools}", counted(all, "finding"), kinds.join(", "))
            }
        };
        if self.ignored > 0 {
            let _ = write!(text, "; {} ignored", self.ignored);
        }
        if looked.without_schema > 0 && looked.only_schemas {
            let verb = if looked.without_schema == 1 { "has" } else { "have" };
            let count = looked.without_schema;
            let _ = write!(text, "; {count} of them {verb} no input schema to look at (`--all` says why)");
        }
        if self.fixable > 0 {
            let _ = write!(text, "; {} fixable with `--fix`", self.fixable);
        }
        if self.all() > 0 {
            text += "; `mcprove explain RULE` says why";
        }
        text + "\n"
    }
}

pub(crate) fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn counted_as(number: usize, what: &str) -> String {
    format!("{number} {what}")
}
