//! Answers that commands and language models grade.

use mcprove_model::{Case, Finding, Observation, Outcome, Score, Verdict, shorten};
use mcprove_wire::FilterCommand;
use serde_json::{Value, json};

use crate::case_run::CaseContext;
use crate::record::CaseRecord;
use crate::{expectations, grading};

/// The least score where the suite names none.
const THRESHOLD: f64 = 0.7;

/// Lets every scorer grade the answer; one that cannot is an error, never a pass.
pub(crate) async fn perform(case: &Case, score: &Score, record: &mut CaseRecord, context: &CaseContext) -> Verdict {
    // Both spellings: those of mcptest, and those of this page.
    let input = json!({
        "input": score.prompt,
        "output": score.response,
        "criteria": score.rubric,
        "metadata": {"test": case.name},
        "prompt": score.prompt,
        "response": score.response,
        "rubric": score.rubric,
    })
    .to_string();
    let threshold = case.expect.threshold.unwrap_or(THRESHOLD);
    let mut has_failed = false;
    for scorer in score.scorers.iter() {
        let place = || case.source.place(score.span);
        let mut variables = scorer.env.clone();
        variables.push(("MCPTEST_TEST_NAME".to_owned(), case.name.clone()));
        let cwd = scorer.cwd.as_deref();
        let filter = FilterCommand { words: &scorer.words, variables: &variables, cwd, deadline: scorer.timeout };
        let printed = filter.run(&input).await;
        let graded = printed.and_then(|printed| {
            let graded: Value =
                serde_json::from_str(&printed).map_err(|error| format!("it printed no JSON: {error}"))?;
            grade(&graded, threshold).map(|passed| (passed, graded))
        });
        match graded {
            Ok((passed, graded)) => {
                let reasoning = graded.get("reasoning").and_then(Value::as_str).unwrap_or("it gave no reason");
                let text = format!("graded by `{}`: {}", scorer.name, shorten(reasoning, 500));
                let finding = if passed { Finding::note("graded", text) } else { Finding::error("graded", text) };
                record
                    .findings
                    .push(finding.at(place()).compared(format!("a score of {threshold}"), graded.to_string()));
            }
            Err(reason) => {
                has_failed = true;
                record
                    .findings
                    .push(Finding::error("scorer", format!("`{}` cannot grade: {reason}", scorer.name)).at(place()));
            }
        }
    }
    let mut seen = Observation::new(Outcome::Cancelled, String::new());
    seen.extra = json!({"response": score.response});
    grading::supply(&mut seen, &case.expect, case, context, record).await;
    if !record.is_ungraded {
        record.findings.extend(expectations::judge(&case.source, &case.expect, &seen));
    }
    if has_failed { Verdict::Error } else { record.verdict(context.strict) }
}

/// True if a grade is a pass: by its score, or by its verdict if it has no score.
fn grade(graded: &Value, threshold: f64) -> Result<bool, String> {
    match (graded.get("score").and_then(Value::as_f64), graded.get("verdict").and_then(Value::as_str)) {
        (_, Some("fail")) => Ok(false),
        (Some(score), _) => Ok(score >= threshold),
        (None, Some("pass")) => Ok(true),
        (None, _) => Err("it printed neither a `score` nor a `verdict` of pass or fail".to_owned()),
    }
}
