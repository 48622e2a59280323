//! A rule: what it is about, and the ruling it makes on evidence.

use mcprove_model::Revision;

use super::evidence::{Channel, Evidence, Spot, Step, What};

/// A rule of the protocol.
#[derive(Debug)]
pub struct Rule {
    /// Its id in reports and on the command line.
    pub id: &'static str,
    /// Behaviour of a conforming server, in one line.
    pub title: &'static str,
    /// The clauses of the specification it stands for.
    pub clauses: &'static [&'static str],
    /// The strictest level among its clauses.
    pub level: Level,
    /// The first and the last revision it applies to.
    pub revisions: (Revision, Revision),
    /// The transport it applies to; both if absent.
    pub channel: Option<Channel>,
    /// The section of the specification.
    pub section: &'static str,
    /// The client that breaks, and how.
    pub why: &'static str,
    /// An exchange that breaks it.
    pub bad: &'static str,
    /// An exchange that keeps it.
    pub good: &'static str,
    /// The rules whose failure makes this one meaningless.
    pub blocked_by: &'static [&'static str],
    /// Judges the evidence.
    pub judge: fn(&mut Ruling<'_>),
}

impl Rule {
    /// True if the rule applies to a revision and transport.
    pub fn applies(&self, revision: Revision, channel: Channel) -> bool {
        (self.revisions.0..=self.revisions.1).contains(&revision) && self.channel.is_none_or(|own| own == channel)
    }
}

/// Requirement level of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// MUST or MUST NOT.
    Must,
    /// SHOULD or SHOULD NOT.
    Should,
    /// Follows from the schema, from JSON-RPC or from plain text.
    Derived,
}

impl Level {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Derived => "derived",
        }
    }
}

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The clause.
    pub clause: &'static str,
    /// True if it fails the rule, else it is a warning.
    pub fails: bool,
    /// Description of the violation.
    pub message: String,
    /// The message it is about.
    pub spot: Option<Spot>,
    /// The request.
    pub request: Option<String>,
    /// The reply.
    pub reply: Option<String>,
}

/// The reason for a rule having nothing to judge.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// The server does not declare the feature.
    NotApplicable(String),
    /// The server lacks what a test needs.
    NotTestable(String),
    /// Nothing happened that could have broken the rule.
    NotExercised(String),
}

/// A judgement in progress.
#[derive(Debug)]
pub struct Ruling<'e> {
    /// The evidence.
    pub evidence: &'e Evidence,
    /// The violations.
    pub violations: Vec<Violation>,
    /// Number of things checked.
    pub checked: usize,
    /// Reason why nothing was checked, if so.
    pub absent: Option<Absent>,
    /// True if a reply could not be read, which another rule reports.
    pub has_garbled_reply: bool,
}

impl<'e> Ruling<'e> {
    /// A ruling on evidence.
    pub fn new(evidence: &'e Evidence) -> Self {
        Self { evidence, violations: Vec::new(), checked: 0, absent: None, has_garbled_reply: false }
    }

    /// Counts a check.
    pub fn ok(&mut self) {
        self.checked += 1;
    }

    /// A violation that fails.
    pub fn fail(&mut self, clause: &'static str, step: &Step<'_>, message: impl Into<String>) {
        self.add(clause, true, Some(step), message.into());
    }

    /// A violation that warns.
    pub fn warn(&mut self, clause: &'static str, step: &Step<'_>, message: impl Into<String>) {
        self.add(clause, false, Some(step), message.into());
    }

    /// A violation of the severity that a condition decides.
    pub fn fail_if(&mut self, fails: bool, clause: &'static str, step: &Step<'_>, message: impl Into<String>) {
        self.add(clause, fails, Some(step), message.into());
    }

    /// A violation in a message that came in.
    pub fn at(&mut self, clause: &'static str, fails: bool, spot: Spot, message: impl Into<String>) {
        let recording = &self.evidence.recordings[spot.0];
        let reply = match &recording.entries[spot.1].what {
            What::Received(payload) => Some(payload.text()),
            _ => None,
        };
        let request = recording.request_of(spot.0, spot.1);
        self.violations.push(Violation {
            clause,
            fails,
            message: message.into(),
            spot: Some(spot),
            request: request.map(|step| step.sent.text()),
            reply,
        });
    }

    /// A violation without a message to show.
    pub fn general(&mut self, clause: &'static str, fails: bool, message: impl Into<String>) {
        self.violations.push(Violation {
            clause,
            fails,
            message: message.into(),
            spot: None,
            request: None,
            reply: None,
        });
    }

    /// Says that the server does not declare the feature.
    pub fn not_applicable(&mut self, why: impl Into<String>) {
        self.absent = Some(Absent::NotApplicable(why.into()));
    }

    /// Says what the server lacks.
    pub fn not_testable(&mut self, why: impl Into<String>) {
        self.absent = Some(Absent::NotTestable(why.into()));
    }

    /// Says that nothing put the rule to the test.
    pub fn not_exercised(&mut self, why: impl Into<String>) {
        self.absent = Some(Absent::NotExercised(why.into()));
    }

    fn add(&mut self, clause: &'static str, fails: bool, step: Option<&Step<'_>>, message: String) {
        if step.is_some_and(Step::is_garbled) {
            self.has_garbled_reply = true;
            return;
        }
        self.violations.push(Violation {
            clause,
            fails,
            message,
            spot: step.map(|step| step.reply_spot().unwrap_or_else(|| step.spot())),
            request: step
                .map(|step| if step.sent.bytes.is_empty() { step.entry.step.clone() } else { step.sent.text() }),
            reply: step.map(Step::reply_text),
        });
    }
}
