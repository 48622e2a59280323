//! Findings one a line, as compilers write them, for those that come by the thousand.

use std::fmt::Write as _;

use mcprove_model::Severity;

use crate::escape;
use crate::snippet::severity_role;
use crate::style::{Role, Style};

/// A finding in the few words that fit on a line.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<'a> {
    /// The file or server.
    pub source: &'a str,
    /// Line and column, when there are some.
    pub position: Option<(u32, u32)>,
    /// Severity of the finding.
    pub severity: Severity,
    /// Which rule speaks.
    pub rule: &'a str,
    /// The message, in pieces that are written one after the other.
    pub message: &'a [&'a str],
}

impl OneLine<'_> {
    /// Writes `source:line:column: severity[rule]: message` and a line break.
    pub fn write(&self, out: &mut String, style: &Style) {
        out.push_str(&escape::line(self.source));
        if let Some((line, column)) = self.position {
            let _ = write!(out, ":{line}:{column}");
        }
        out.push_str(": ");
        let head = format!("{}[{}]", self.severity.word(), self.rule);
        out.push_str(&style.paint(severity_role(self.severity), &head));
        out.push_str(&style.paint(Role::Strong, ":"));
        out.push(' ');
        for piece in self.message {
            out.push_str(&escape::line(piece));
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_takes_one_line_whatever_is_in_it() {
        let mut out = String::new();
        let finding = OneLine {
            source: "a.json",
            position: Some((3, 7)),
            severity: Severity::Critical,
            rule: "SCH-003",
            message: &["tool `", "x\n::error::y", "`: \u{1b}[31many value"],
        };
        finding.write(&mut out, &Style::default());
        OneLine { position: None, source: "local", ..finding }.write(&mut out, &Style::default());
        assert_eq!(
            out,
            "a.json:3:7: critical[SCH-003]: tool `x\\n::error::y`: \\x1b[31many value\n\
             local: critical[SCH-003]: tool `x\\n::error::y`: \\x1b[31many value\n"
        );
    }
}
