//! Grades that language models give, or scripts in their place.

use std::sync::Arc;

/// The tag of cases whose verdict a language model, or a script in its place, decides in part; reports mark them.
pub const MODEL_GRADED_TAG: &str = "model-graded";

/// A judge: a language model, or a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judge {
    /// The model; the judge of the suite when absent.
    pub model: Option<String>,
    /// The provider of the model, where the suite names one.
    pub provider: Option<String>,
    /// The grades of the model `script`.
    pub script: Option<Arc<[ScriptedGrade]>>,
}

impl Judge {
    /// The name of the model that needs no key and no network.
    pub const SCRIPT: &str = "script";

    /// True for a judge that is a script.
    pub fn is_script(&self) -> bool {
        self.script.is_some() || self.model.as_deref() == Some(Self::SCRIPT)
    }

    /// The grade of a script for a sample of a question: of the lines that apply, the one of the sample's number, or the last.
    pub fn scripted(&self, question: &Question) -> Option<Grade> {
        let script = self.script.as_ref()?;
        let applies = |line: &&ScriptedGrade| {
            line.contains.as_ref().is_none_or(|text| question.candidate.contains(text.as_str()))
        };
        let lines: Vec<&ScriptedGrade> = script.iter().filter(applies).collect();
        let line = lines.get(question.sample).or(lines.last())?;
        Some(Grade { by: Self::SCRIPT.to_owned(), ..line.grade.clone() })
    }
}

/// A grade of a scripted judge.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedGrade {
    /// A text that the graded value must contain for the grade to apply.
    pub contains: Option<String>,
    /// The grade.
    pub grade: Grade,
}

/// A question to a judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The judge.
    pub judge: Judge,
    /// Index among several answers to the same question, from 0.
    pub sample: usize,
    /// Description of a good value.
    pub rubric: String,
    /// Criteria that are graded one by one, each with a name and a description; if empty, one score for all.
    pub criteria: Vec<(String, String)>,
    /// The value to grade.
    pub candidate: String,
}

/// A grade.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grade {
    /// The model that gave it.
    pub by: String,
    /// From 0 to 1; absent where only criteria were graded.
    pub score: Option<f64>,
    /// The grades of criteria.
    pub criteria: Vec<CriterionGrade>,
    /// The judge's words.
    pub reasoning: String,
}

impl Grade {
    /// The grade of a criterion; the score of the whole where it has none of its own.
    pub fn of(&self, criterion: &str) -> Option<CriterionGrade> {
        let own = self.criteria.iter().find(|grade| grade.name == criterion).cloned();
        own.or_else(|| Some(CriterionGrade { name: criterion.to_owned(), score: self.score?, evidence: None }))
    }
}

/// The grade of one criterion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CriterionGrade {
    /// The criterion.
    pub name: String,
    /// From 0 to 1.
    pub score: f64,
    /// A quotation of the value that justifies it.
    pub evidence: Option<String>,
}

/// Grades that were given in a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grades {
    /// True if language models are left out of this run.
    pub left_out: bool,
    /// Answered questions.
    pub given: Vec<(Question, Grade)>,
}

impl Grades {
    /// The answer to a question.
    pub fn find(&self, question: &Question) -> Option<&Grade> {
        self.given.iter().find(|(asked, _)| asked == question).map(|(_, grade)| grade)
    }
}
