//! A flow from one server to another that nothing declares safe, and its finding.

use mcprove_model::{Finding, Place, Severity, WirePlace, escape_line, shorten};

use super::routing::Routing;
use super::rules::CROSS_SERVER;

/// The most characters of a carried piece that are shown.
const SHOWN: usize = 200;

/// One end of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Position of the call among the calls of the trace, from 0.
    pub call: usize,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
}

/// Kind of the carried piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A text, verbatim.
    Text,
    /// An object, equal in all its members.
    Object,
}

/// Reason why the suite's declaration does not make a flow safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// Nothing is declared.
    Undeclared,
    /// The pair of servers is not listed.
    Unlisted {
        /// The opposite direction is.
        reverse_listed: bool,
    },
    /// The piece did not go through a required sanitizer.
    Unsanitized {
        /// The required sanitizers.
        required: Vec<String>,
        /// Treatment of the piece by them.
        routing: Routing,
    },
}

/// Output of one server in the input of another, unmodified, that the suite does not declare safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The call whose result said it.
    pub producer: Hop,
    /// The later call that carries it.
    pub consumer: Hop,
    /// Its place in the arguments, as a JSON Pointer.
    pub pointer: String,
    /// Kind of the piece.
    pub carried: Carried,
    /// The longest piece that was carried, as it is: neither shortened nor masked.
    pub piece: String,
    /// Number of other pieces that the same two calls share.
    pub others: usize,
    /// Everything that keeps the flow from being safe; never empty.
    pub unmet: Vec<Unmet>,
}

impl Flow {
    /// Its finding; `mask` takes secrets out of the piece before it is shortened.
    pub fn finding(&self, mask: &dyn Fn(&str) -> String) -> Finding {
        let piece = mask(&self.piece);
        let piece = escape_line(&shorten(&piece, SHOWN)).into_owned();
        let what = match self.carried {
            Carried::Text => "text",
            Carried::Object => "an object",
        };
        let others = match self.others {
            0 => String::new(),
            1 => " (and one more piece)".to_owned(),
            more => format!(" (and {more} more pieces)"),
        };
        let mut finding = Finding::new(
            CROSS_SERVER.id,
            Severity::High,
            format!(
                "{} is handed {what} that {} returned, unmodified{others}",
                self.consumer.shown(),
                self.producer.shown()
            ),
        )
        .compared(self.wanted(), format!("`{piece}`"))
        .help(self.advice());
        let pointer = format!("/params/arguments{}", self.pointer);
        finding.place = Some(Place::Wire(WirePlace { server: self.consumer.server.clone(), pointer }));
        finding
    }

    fn wanted(&self) -> String {
        let reasons: Vec<String> = self.unmet.iter().map(|unmet| self.reason(unmet)).collect();
        reasons.join("; and ")
    }

    fn reason(&self, unmet: &Unmet) -> String {
        let (from, to) = (name(&self.producer.server), name(&self.consumer.server));
        match unmet {
            Unmet::Undeclared => format!("no output of {from} in the input of {to}: no boundary is declared safe"),
            Unmet::Unlisted { reverse_listed: false } => format!("{from} to {to} among `allowed_flows`"),
            Unmet::Unlisted { reverse_listed: true } => {
                format!("{from} to {to} among `allowed_flows`, which lists only the opposite direction")
            }
            Unmet::Unsanitized { required, routing } => {
                let required: Vec<String> = required.iter().map(|tool| name(tool)).collect();
                let required = required.join(" or ");
                match routing {
                    Routing::NotCalled => format!("a way through {required}, which was not called in between"),
                    Routing::OtherInput => {
                        format!("a way through {required}, which was called in between, on something else")
                    }
                    Routing::NotItsOutput | Routing::Routed => {
                        format!("a way through {required}, whose output does not hold what was sent on")
                    }
                }
            }
        }
    }

    fn advice(&self) -> String {
        let is_unlisted = |unmet: &Unmet| matches!(unmet, Unmet::Undeclared | Unmet::Unlisted { .. });
        let mut advice = Vec::new();
        if self.unmet.iter().any(is_unlisted) {
            let (from, to) = (yaml(&self.producer.server), yaml(&self.consumer.server));
            advice.push(format!(
                "if this flow is meant, write in the suite\n\
                 security:\n  trust_boundary:\n    allowed_flows:\n      - from: {from}\n        to: {to}"
            ));
        }
        if self.unmet.contains(&Unmet::Undeclared) {
            advice.push(
                "or send it through a tool that cleans it, and name that tool under `required_sanitizers`".into(),
            );
        }
        for unmet in &self.unmet {
            let Unmet::Unsanitized { required, .. } = unmet else { continue };
            let required: Vec<String> = required.iter().map(|tool| name(tool)).collect();
            advice.push(format!(
                "hand the text to {} and send on what it returns, or take the tool out of `required_sanitizers`",
                required.join(" or ")
            ));
        }
        advice.push(format!("axis {}, {}", CROSS_SERVER.axis, CROSS_SERVER.source));
        advice.join("\n")
    }
}

impl Hop {
    fn shown(&self) -> String {
        let (server, tool) = (escape_line(&self.server), escape_line(&self.tool));
        format!("`{server}.{tool}` (call {})", self.call + 1)
    }
}

fn name(name: &str) -> String {
    format!("`{}`", escape_line(name))
}

/// A name as YAML wants it: quoted where it could be read as something else.
fn yaml(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(unmet: Vec<Unmet>) -> Flow {
        Flow {
            producer: Hop { call: 0, server: "fetcher".into(), tool: "fetch_page".into() },
            consumer: Hop { call: 2, server: "database".into(), tool: "run_query".into() },
            pointer: "/sql".into(),
            carried: Carried::Text,
            piece: format!("key sk-12345678 \u{1b}[31m{}", "x".repeat(500)),
            others: 0,
            unmet,
        }
    }

    #[test]
    fn a_finding_names_both_calls_the_piece_the_paper_and_what_to_write() {
        let finding = flow(vec![Unmet::Undeclared]).finding(&|text| text.replace("sk-12345678", "***"));
        assert_eq!(finding.rule, "SEC-060");
        assert_eq!(finding.severity, Severity::High);
        assert_eq!(
            finding.message,
            "`database.run_query` (call 3) is handed text that `fetcher.fetch_page` (call 1) returned, unmodified"
        );
        let actual = finding.actual.unwrap_or_default();
        assert!(actual.starts_with("`key *** \\x1b[31mxxx") && actual.chars().count() < 260, "{actual}");
        let help = finding.help.unwrap_or_default();
        assert!(help.contains("      - from: fetcher\n        to: database"), "{help}");
        assert!(help.contains("cross-server-trust-propagation") && help.contains("arXiv:2601.17549"), "{help}");
        let place = Place::Wire(WirePlace { server: "database".into(), pointer: "/params/arguments/sql".into() });
        assert_eq!(finding.place, Some(place));
    }

    #[test]
    fn every_unmet_clause_is_told() {
        let required = vec!["sanitize_text".to_owned()];
        let unmet = vec![
            Unmet::Unlisted { reverse_listed: true },
            Unmet::Unsanitized { required, routing: Routing::OtherInput },
        ];
        let finding = flow(unmet).finding(&str::to_owned);
        assert_eq!(
            finding.expected.as_deref(),
            Some(
                "`fetcher` to `database` among `allowed_flows`, which lists only the opposite direction; and \
                 a way through `sanitize_text`, which was called in between, on something else"
            )
        );
    }

    #[test]
    fn names_that_yaml_would_misread_are_quoted() {
        assert_eq!(yaml("fetcher-2"), "fetcher-2");
        assert_eq!(yaml("no"), "\"no\"");
        assert_eq!(yaml("a: b"), "\"a: b\"");
        assert_eq!(yaml("7"), "\"7\"");
    }
}
