//! Grades: fetched from language models, or from scripts in their place, before checks judge.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mcprove_judge::matchers::graded::prompt;
use mcprove_model::{
    AgentModel, Case, ChatMessage, Expectation, Finding, Grade, Judge, NamedModel, Observation, Provider, Question,
    Secret,
};
use mcprove_suite::suite_file::provider_of_model;
use mcprove_wire::{ModelAsk, RetryPolicy, ask_model};
use tokio::time::Instant;

use crate::agent::cost_usd_micros;
use crate::case_run::CaseContext;
use crate::judge_cassette::{self, JudgeCassettes};
use crate::record::CaseRecord;
use crate::spending;

/// Time a judge may take for one answer.
const DEADLINE: Duration = Duration::from_mins(2);

/// Maximum number of tokens in an answer of a judge.
const MAX_TOKENS: u64 = 1024;

/// Why a case is not run where language models are left out, if that is all it is about.
pub(crate) fn left_out(case: &Case, context: &CaseContext) -> Option<String> {
    if !context.no_model {
        return None;
    }
    let expect = &case.expect;
    let is_only_graded = expect.is_model_graded() && expect.all().all(|planned| planned.check.is_model_graded());
    let has_more = case.agent().is_some_and(|agent| {
        agent.recovery.is_some()
            || agent.tool_selection.is_some()
            || !agent.gates.is_empty()
            || !agent.trajectory.checks.is_empty()
    });
    (is_only_graded && !has_more && case.verify.is_empty())
        .then(|| "model-graded, and `--no-model` leaves language models out".to_owned())
}

/// Fetches the grades that checks depend on. A grade that is not to be had makes the case an error, never a pass.
pub(crate) async fn supply(
    seen: &mut Observation,
    expect: &Expectation,
    case: &Case,
    context: &CaseContext,
    record: &mut CaseRecord,
) {
    if !expect.is_model_graded() {
        return;
    }
    if context.no_model {
        seen.stored.grades.left_out = true;
        return;
    }
    let asked: Vec<(Question, _)> = expect
        .all()
        .flat_map(|planned| planned.check.questions(seen).into_iter().map(|question| (question, planned.span)))
        .collect();
    let mut cost = 0_u64;
    for (question, span) in asked {
        if seen.stored.grades.find(&question).is_some() {
            continue;
        }
        match Box::pin(grade(&question, case, context)).await {
            Ok((grade, micros)) => {
                cost = cost.saturating_add(micros);
                seen.stored.grades.given.push((question, grade));
            }
            Err(finding) => {
                record.is_ungraded = true;
                record.findings.push(finding.at(case.source.place(span)));
                return;
            }
        }
    }
    context.judges.add_cost(case, cost);
    let agent = record.agent.as_ref().and_then(|agent| agent.cost_usd_micros).unwrap_or_default();
    record.findings.extend(spending::of_judges(case, cost, agent));
    let supplied: Vec<_> = expect.all().filter_map(|planned| planned.check.supplies(seen)).collect();
    for (name, value) in supplied {
        if seen.extra.is_null() {
            seen.extra = serde_json::json!({});
        }
        seen.extra[name] = value;
    }
}

/// The replies of judges of a run, and what they cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judges {
    cassettes: JudgeCassettes,
    /// By the path of the suite, in millionths of a US dollar.
    costs: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Judges {
    fn add_cost(&self, case: &Case, cost: u64) {
        let mut costs = self.costs.lock().unwrap_or_else(PoisonError::into_inner);
        *costs.entry(case.source.path().to_owned()).or_default() += cost;
    }

    /// Cost of judges so far, by the path of the suite.
    pub(crate) fn costs(&self) -> BTreeMap<String, u64> {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The answer to one question, and what it cost.
async fn grade(question: &Question, case: &Case, context: &CaseContext) -> Result<(Grade, u64), Finding> {
    let of_suite = case.suite.as_ref().and_then(|suite| suite.judge.as_ref());
    let judge = &question.judge;
    if judge.is_script() || judge.model.is_none() && of_suite.is_some_and(Judge::is_script) {
        let script = if judge.script.is_some() { Some(judge) } else { of_suite };
        return script.and_then(|script| script.scripted(question)).map(|grade| (grade, 0)).ok_or_else(|| {
            Finding::error("judge", "the script of the judge has no grade for this value")
                .help("add a grade without `contains` at the end of `script:`")
        });
    }
    let (model, provider) = who(judge, of_suite, case).map_err(|finding| *finding)?;
    let text = prompt::text(question);
    let recorded = judge_cassette::key_of(&model, question, &text);
    let no_grade = |reason: String| {
        Finding::error("judge", format!("the judge `{model}` gave no grade: {reason}"))
            .help("run it again, or choose another model")
    };
    if let Some(reply) = context.judges.cassettes.find(case, &recorded).filter(|_| !context.record) {
        return prompt::grade(&reply, question, &model).map(|grade| (grade, 0)).map_err(no_grade);
    }
    if let Some(key) = provider.key.as_ref().filter(|key| key.value.as_ref().is_none_or(|Secret(key)| key.is_empty())) {
        let message =
            format!("the environment variable `{}` is not set, and the judge `{model}` needs it", key.variable);
        return Err(Finding::error("missing-key", message).help(
            "set the key; `--no-model` leaves model-graded checks out; `model: script` and recorded replies need none",
        ));
    }
    let messages = [ChatMessage::User { text }];
    let ask = ModelAsk {
        model: &model,
        system: Some(prompt::INSTRUCTIONS),
        messages: &messages,
        tools: &[],
        max_tokens: MAX_TOKENS,
    };
    let deadline = Instant::now() + DEADLINE;
    match ask_model(&context.opener.http, &provider, &ask, deadline, RetryPolicy::default()).await {
        Ok(reply) => {
            let grade = prompt::grade(&reply.text, question, &model).map_err(no_grade)?;
            if context.record {
                let stored =
                    context.judges.cassettes.store(case, recorded, &reply.text, &context.opener.tokens.given());
                stored.map_err(|reason| Finding::error("cassette", reason).help("make its folder writable"))?;
            }
            let named = NamedModel { id: model, provider: Some(Arc::new(provider)) };
            Ok((grade, cost_usd_micros(&named, reply.usage).unwrap_or_default()))
        }
        Err(failure) => {
            let mut finding = Finding::error("provider", failure.what);
            finding.help = failure.help;
            Err(finding)
        }
    }
}

/// The model that grades, and who runs it: the one that the check names, that of the suite, or that of the agent.
fn who(judge: &Judge, of_suite: Option<&Judge>, case: &Case) -> Result<(String, Provider), Box<Finding>> {
    let named = [Some(judge), of_suite].into_iter().flatten().find_map(|judge| Some((judge.model.clone()?, judge)));
    let providers = case.suite.as_ref().map(|suite| suite.providers.as_slice()).unwrap_or_default();
    if let Some((model, judge)) = named {
        let by_name = |name: &String| providers.iter().find(|provider| provider.name == *name).cloned();
        let provider = match &judge.provider {
            Some(name) => by_name(name),
            None => provider_of_model(&model, providers),
        };
        let unknown = || {
            Finding::error("unknown-provider", format!("it is not known who runs the judge `{model}`"))
                .help("add `providers: {name: {base_url: …}}` with an OpenAI-compatible URL, or write `model: script`")
        };
        return provider.map(|provider| (model.clone(), Provider::clone(&provider))).ok_or_else(|| Box::new(unknown()));
    }
    if let Some(AgentModel::Named(model)) = case.agent().map(|agent| &agent.model)
        && let Some(provider) = &model.provider
    {
        return Ok((model.id.clone(), Provider::clone(provider)));
    }
    let finding = Finding::error("judge", "no judge is named for this model-graded check");
    Err(Box::new(finding.help("add `model:` to it, or `judge: {model: …}` to the suite; `model: script` needs no key")))
}
