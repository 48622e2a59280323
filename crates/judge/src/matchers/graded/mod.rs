//! Matchers that a language model decides, or a script in its place. They only read grades, which the engine fetched before.

mod decode;
pub mod eval;
pub mod prompt;
pub mod rubric;

pub(super) use decode::{ANSWER_RELEVANCE, CONTEXT_FAITHFULNESS, FACTUALITY, LLM_JUDGE, LLM_JURY};
pub use decode::{decode_judge, judge_schema, script_schema};

use mcprove_model::{Grade, Judge, Mismatch, Question, StoredValues};
use serde_json::{Value, json};

use super::{Matcher, shown};
use crate::excerpt;
use rubric::{Marks, Rubric};

/// The names of the matchers that are graded, sorted.
pub(crate) const GRADED: &[&str] = &["answer-relevance", "context-faithfulness", "factuality", "llm-judge", "llm-jury"];

/// Beginning of the targets about the agreement of judges.
pub(crate) const JURY: &str = "jury";

/// The least score where nothing is said.
pub const THRESHOLD: f64 = 0.7;

/// Question to judges about a value, and the required grades.
#[derive(Clone, Debug)]
pub struct Graded {
    /// Description of a good value.
    pub rubric: String,
    /// The judges, at least one.
    pub jurors: Vec<Juror>,
    /// Number of times each is asked.
    pub samples: usize,
    /// The required grade.
    pub marking: Marking,
    /// The required combination of all votes.
    pub fold: Fold,
    /// True if other checks may look at how far the judges agree.
    pub is_jury: bool,
}

/// One of those who grade.
#[derive(Clone, Debug)]
pub struct Juror {
    /// The judge.
    pub judge: Judge,
    /// The least score.
    pub threshold: f64,
}

/// Required grade.
#[derive(Clone, Debug)]
pub enum Marking {
    /// One score, at least the threshold of the juror.
    Score,
    /// Requirements that are met or not; so large a share of them must be met.
    Requirements {
        /// Each with a name and a text.
        all: Vec<(String, String)>,
        /// The least share.
        share: f64,
    },
    /// Weighted criteria, or a tree of questions.
    Rubric(Rubric),
}

/// Required combination of the votes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fold {
    /// More than half of them pass.
    Majority,
    /// So large a share of them passes, and they agree so far.
    Quorum(f64, Option<f64>),
    /// The mean of the scores is so high.
    Mean(f64),
    /// The median of the scores is so high.
    Median(f64),
    /// More than half of them pass; of an even split this is said.
    MajorityOr(bool),
}

/// Evaluation of one answer of a judge.
#[derive(Clone, Debug)]
struct Vote {
    by: String,
    marks: Marks,
    reasoning: String,
}

/// Evaluation of all answers.
#[derive(Clone, Debug)]
pub struct Decision {
    /// True if the value is good enough.
    pub passed: bool,
    /// The score that stands for all.
    pub score: f64,
    /// The votes of the judges, in one line.
    pub words: String,
}

impl Graded {
    /// One judge, one answer, one score.
    pub fn score(rubric: String, judge: Judge, threshold: f64) -> Self {
        let jurors = vec![Juror { judge, threshold }];
        Self { rubric, jurors, samples: 1, marking: Marking::Score, fold: Fold::Majority, is_jury: false }
    }

    /// The questions about a value.
    pub fn questions_about(&self, candidate: &str) -> Vec<Question> {
        let criteria = match &self.marking {
            Marking::Score => Vec::new(),
            Marking::Requirements { all, .. } => all.clone(),
            Marking::Rubric(rubric) => rubric.questions(candidate),
        };
        let question = |judge: &Judge, sample| Question {
            judge: judge.clone(),
            sample,
            rubric: self.rubric.clone(),
            criteria: criteria.clone(),
            candidate: candidate.to_owned(),
        };
        self.jurors
            .iter()
            .flat_map(|juror| (0..self.samples).map(move |sample| question(&juror.judge, sample)))
            .collect()
    }

    /// Evaluates the grades of a value; the error names a missing one.
    pub fn decide(&self, candidate: &str, stored: &StoredValues) -> Result<Decision, String> {
        let votes = self.votes(candidate, stored)?;
        let scores: Vec<f64> = votes.iter().map(|vote| vote.marks.score).collect();
        let passing = votes.iter().filter(|vote| vote.marks.passed).count();
        let share = share(passing, votes.len());
        let mean = scores.iter().sum::<f64>() / count(scores.len());
        let (passed, score) = match self.fold {
            Fold::Majority => (share > 0.5, mean),
            Fold::Quorum(quorum, agreement) => {
                let agrees = agreement.is_none_or(|least| alpha(&scores).is_some_and(|alpha| alpha >= least));
                (share >= quorum && agrees, mean)
            }
            Fold::Mean(least) => (mean >= least, mean),
            Fold::Median(least) => (median(&scores) >= least, median(&scores)),
            Fold::MajorityOr(tie) => (share > 0.5 || passing * 2 == votes.len() && tie, mean),
        };
        let words: Vec<String> = votes.iter().map(Vote::words).collect();
        Ok(Decision { passed, score, words: words.join(" | ") })
    }

    /// The score that is asked for, for people.
    pub fn asked(&self) -> String {
        let least = self.jurors.first().map_or(THRESHOLD, |juror| juror.threshold);
        match (&self.marking, self.fold) {
            (Marking::Rubric(rubric), Fold::Majority) => format!("a score of at least {}", rubric.least()),
            (Marking::Requirements { share, .. }, _) => format!("a share of {share} of the criteria"),
            (_, Fold::Majority | Fold::MajorityOr(_)) => {
                format!("a score of at least {least}, by more than half of the answers")
            }
            (_, Fold::Quorum(quorum, None)) => format!("a share of {quorum} of the judges with at least {least}"),
            (_, Fold::Quorum(quorum, Some(alpha))) => {
                format!("a share of {quorum} of the judges with at least {least}, and an agreement of {alpha}")
            }
            (_, Fold::Mean(least) | Fold::Median(least)) => format!("a score of at least {least}"),
        }
    }

    fn votes(&self, candidate: &str, stored: &StoredValues) -> Result<Vec<Vote>, String> {
        let questions = self.questions_about(candidate);
        let mut votes = Vec::new();
        for (juror, asked) in self.jurors.iter().zip(questions.chunks(self.samples.max(1))) {
            let mut grades = Vec::new();
            for question in asked {
                let grade = stored.grades.find(question).cloned().or_else(|| question.judge.scripted(question));
                grades.push(grade.ok_or_else(|| "was not graded".to_owned())?);
            }
            // Of criteria, the majority is taken one by one, so that all samples are one vote.
            if let Marking::Requirements { all, share } = &self.marking {
                votes.push(requirements(all, *share, &grades)?);
                continue;
            }
            for grade in grades {
                let marks = match &self.marking {
                    Marking::Rubric(rubric) => rubric.mark(&grade, candidate)?,
                    Marking::Score | Marking::Requirements { .. } => {
                        let score = grade.score.ok_or("has a grade without a score")?;
                        Marks { passed: score >= juror.threshold, score, notes: Vec::new() }
                    }
                };
                votes.push(Vote { by: grade.by, marks, reasoning: grade.reasoning });
            }
        }
        Ok(votes)
    }

    /// Agreement of the judges.
    fn agreement(&self, candidate: &str, stored: &StoredValues) -> Option<Value> {
        let votes = self.votes(candidate, stored).ok()?;
        let scores: Vec<f64> = votes.iter().map(|vote| vote.marks.score).collect();
        let alpha = alpha(&scores);
        let band = match alpha {
            Some(alpha) if alpha >= 0.8 => "high",
            Some(alpha) if alpha >= 0.667 => "medium",
            Some(_) | None => "low",
        };
        let passing = votes.iter().filter(|vote| vote.marks.passed).count();
        let mut jury = json!({
            "confidence": band,
            "escalate": band == "low",
            "passing": share(passing, votes.len()),
        });
        // A single judge has no agreement: such a target leads nowhere.
        if let Some(alpha) = alpha {
            jury["agreement"] = json!(alpha);
        }
        Some(jury)
    }
}

impl Matcher for Graded {
    fn judge(&self, value: &Value) -> Result<(), Mismatch> {
        self.judge_with(value, &StoredValues::default())
    }

    fn judge_with(&self, value: &Value, stored: &StoredValues) -> Result<(), Mismatch> {
        let candidate = shown(value);
        let expected = self.asked();
        let actual = excerpt::around(&candidate, 0..0);
        match self.decide(&candidate, stored) {
            Ok(decision) if decision.passed => Ok(()),
            Ok(decision) => {
                let message = format!("is not good enough, model-graded: {}", decision.words);
                Err(Mismatch { message, expected, actual, ..Mismatch::default() })
            }
            Err(reason) => Err(Mismatch { message: reason, expected, actual, ..Mismatch::default() }),
        }
    }

    fn is_graded(&self) -> bool {
        true
    }

    fn questions(&self, value: &Value) -> Vec<Question> {
        self.questions_about(&shown(value))
    }

    fn makes_remarks(&self) -> bool {
        true
    }

    fn remark(&self, value: &Value, stored: &StoredValues) -> Option<String> {
        let decision = self.decide(&shown(value), stored).ok()?;
        Some(format!("model-graded: {}", decision.words))
    }

    fn supplies(&self, value: &Value, stored: &StoredValues) -> Option<(&'static str, Value)> {
        self.is_jury.then(|| Some((JURY, self.agreement(&shown(value), stored)?)))?
    }
}

impl Vote {
    fn words(&self) -> String {
        let notes = self.marks.notes.join(", ");
        let notes = if notes.is_empty() { String::new() } else { format!(" ({notes})") };
        format!("`{}` gave {:.2}{notes}: {}", self.by, self.marks.score, self.reasoning)
    }
}

/// The vote on requirements: each is met if more than half of the samples say so.
fn requirements(all: &[(String, String)], least: f64, grades: &[Grade]) -> Result<Vote, String> {
    let mut notes = Vec::new();
    let mut met = 0;
    for (name, _) in all {
        let mut yes = 0;
        for grade in grades {
            let own = grade.of(name).ok_or_else(|| format!("has a grade without the criterion `{name}`"))?;
            yes += usize::from(own.score >= 0.5);
        }
        let is_met = yes * 2 > grades.len();
        met += usize::from(is_met);
        notes.push(format!("{name}={}", if is_met { "pass" } else { "fail" }));
    }
    let score = share(met, all.len());
    let by = grades.first().map(|grade| grade.by.clone()).unwrap_or_default();
    let reasoning: Vec<&str> = grades.iter().map(|grade| grade.reasoning.as_str()).collect();
    Ok(Vote { by, marks: Marks { passed: score >= least, score, notes }, reasoning: reasoning.join("; ") })
}

/// Agreement of several scores between 0 and 1: 1 for the same score, lower the more they differ.
fn alpha(scores: &[f64]) -> Option<f64> {
    if scores.len() < 2 {
        return None;
    }
    let mean = scores.iter().sum::<f64>() / count(scores.len());
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / count(scores.len() - 1);
    Some(1.0 - 4.0 * variance)
}

fn median(scores: &[f64]) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { count(part) / count(whole) }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_nobody_graded_never_passes() {
        let graded = Graded::score("Greets.".to_owned(), Judge::default(), 0.0);
        let judged = graded.judge_with(&json!("hello"), &StoredValues::default());
        assert!(judged.expect_err("not graded").message.contains("not graded"));
    }

    #[test]
    fn judges_agree_fully_or_not_at_all() {
        assert_eq!(alpha(&[0.4]), None);
        assert_eq!(alpha(&[0.4, 0.4, 0.4]), Some(1.0));
        assert_eq!(alpha(&[0.0, 1.0]), Some(-1.0));
        assert!((median(&[0.1, 0.9, 0.5, 0.7]) - 0.6).abs() < 1e-9);
    }
}
