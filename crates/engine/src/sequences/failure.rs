//! A failure that a sequence shows, and the least that shows it.

use mcprove_judge::sequences::{Breach, Reply, SequenceModel, Step, StepTarget};
use mcprove_model::{Finding, shorten};
use serde_json::Value;

/// Maximum length of arguments and replies shown.
const SHOWN: usize = 200;

/// A failure of a sequence of calls.
#[derive(Clone, Debug)]
pub struct SequenceFailure {
    /// The broken invariant.
    pub breach: Breach,
    /// The smallest sequence that shows it, with the reply to each step.
    pub steps: Vec<(Step, Reply)>,
    /// The name of the tool of each step.
    pub names: Vec<String>,
    /// The way in which it was reproduced.
    pub reproduced: Reproduced,
    /// Number of times that it was seen.
    pub times: usize,
}

/// The way in which a failure comes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reproduced {
    /// One call after the other on a fresh server.
    InOrder,
    /// The steps from the first of these numbers to before the second are open at once.
    AtOnce {
        /// The first of them.
        from: usize,
        /// The end of them.
        until: usize,
    },
    /// The last step is repeated this many times.
    Repeated {
        /// The number of times.
        times: usize,
    },
}

/// The name of what a step does.
pub(crate) fn name_of(model: &SequenceModel, target: StepTarget) -> String {
    match target {
        StepTarget::Tool(at) => model.tools[at].name.clone(),
        StepTarget::Resources => "resources/list".to_owned(),
        StepTarget::Resource => "resources/read".to_owned(),
        StepTarget::Restart => "(restart)".to_owned(),
    }
}

impl SequenceFailure {
    /// The number of calls of the smallest sequence.
    pub fn calls(&self) -> usize {
        match self.reproduced {
            Reproduced::Repeated { times } => self.steps.len() - 1 + times,
            Reproduced::InOrder | Reproduced::AtOnce { .. } => self.steps.len(),
        }
    }

    /// The finding; `again` is the command that finds it again.
    pub(crate) fn finding(&self, again: &str) -> Finding {
        let mut finding = Finding::error(self.breach.rule.clone(), self.breach.message.clone());
        let lines = self.steps.iter().zip(&self.names).enumerate().map(|(at, ((step, reply), name))| {
            let mark = match self.reproduced {
                Reproduced::AtOnce { from, until } if (from..until).contains(&at) => " (at once)".to_owned(),
                Reproduced::Repeated { times } if at + 1 == self.steps.len() => format!(" ({times} times)"),
                Reproduced::InOrder | Reproduced::AtOnce { .. } | Reproduced::Repeated { .. } => String::new(),
            };
            let args = match &step.args {
                Value::Object(map) if map.is_empty() => String::new(),
                args => format!(" {}", shorten(&args.to_string(), SHOWN)),
            };
            let kind = if reply.is_fine { "" } else { "error: " };
            format!("{}. {name}{args}{mark} -> {kind}{}", at + 1, shorten(reply.text.trim(), SHOWN))
        });
        finding.actual = Some(lines.collect::<Vec<_>>().join("\n"));
        finding.help(format!("again: {again}"))
    }
}
