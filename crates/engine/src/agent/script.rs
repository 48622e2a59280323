//! A scripted model: deterministic, without a key and without a network.

use std::borrow::Cow;

use mcprove_judge::target::Target;
use mcprove_model::{
    ChatCall, ChatReply, Finding, Node, Observation, Outcome, Repeat, ScriptAction, ScriptCall, ScriptStep, SourceFile,
    StopReason, When, first_json,
};
use mcprove_suite::template::{Variables, substitute_by};
use serde_json::{Value, json};

use super::toolbox::{ToolLookup, Toolbox};
use super::transcript::{Called, Stopped};

/// A script on its way.
#[derive(Debug)]
pub(super) struct Player<'s> {
    steps: &'s [ScriptStep],
    source: &'s SourceFile,
    variables: Variables,
    /// The step that is due.
    at: usize,
    /// Number of times it was taken.
    taken: u64,
    /// Number of calls made.
    calls: usize,
    /// The last results: true if an error, and the text.
    last: Vec<(bool, String)>,
    /// Values for references: `last` and `results`.
    seen: Observation,
}

impl<'s> Player<'s> {
    pub(super) fn new(steps: &'s [ScriptStep], source: &'s SourceFile, variables: Variables) -> Self {
        let seen = Observation::new(Outcome::Cancelled, "");
        Self { steps, source, variables, at: 0, taken: 0, calls: 0, last: Vec::new(), seen }
    }

    /// The next turn of the model.
    pub(super) fn next(&mut self, toolbox: &Toolbox) -> Result<ChatReply, Stopped> {
        while let Some(step) = self.steps.get(self.at) {
            let is_over = match step.repeat {
                Repeat::Times(times) => self.taken >= times,
                Repeat::Forever => false,
            };
            if is_over || !self.holds(step.when.as_ref())? {
                self.at += 1;
                self.taken = 0;
                continue;
            }
            self.taken += 1;
            return match &step.action {
                ScriptAction::Say(text) => {
                    let text = as_text(&self.filled(text)?);
                    Ok(ChatReply { text, ..ChatReply::default() })
                }
                ScriptAction::Call(calls) => {
                    let calls: Result<Vec<ChatCall>, Stopped> =
                        calls.iter().map(|call| self.call(call, toolbox)).collect();
                    Ok(ChatReply { calls: calls?, ..ChatReply::default() })
                }
            };
        }
        Err(Stopped::by(StopReason::ScriptEnded))
    }

    /// Takes the results of the calls of a turn.
    pub(super) fn add_results(&mut self, called: &[Called]) {
        self.last = called.iter().map(|call| (call.is_error, call.text.clone())).collect();
        let told: Vec<Value> = called.iter().map(result_of).collect();
        let mut results = self.seen.extra.get("results").and_then(Value::as_array).cloned().unwrap_or_default();
        results.extend(told.iter().cloned());
        let last = match told.as_slice() {
            [one] => one.clone(),
            many => {
                let texts: Vec<&str> = called.iter().map(|call| call.text.as_str()).collect();
                json!({
                    "text": texts.join("\n"),
                    "json": many.iter().map(|one| one["json"].clone()).collect::<Vec<_>>(),
                })
            }
        };
        self.seen.extra = json!({"last": last, "results": results});
    }

    fn holds(&self, when: Option<&When>) -> Result<bool, Stopped> {
        Ok(match when {
            None => true,
            Some(When::Error) => self.last.iter().any(|(is_error, _)| *is_error),
            Some(When::Ok) => !self.last.is_empty() && self.last.iter().all(|(is_error, _)| !is_error),
            Some(When::Contains(text)) => {
                if self.last.is_empty() {
                    return Ok(false);
                }
                let text = as_text(&self.filled(text)?);
                self.last.iter().any(|(_, seen)| seen.contains(&text))
            }
        })
    }

    fn call(&mut self, call: &ScriptCall, toolbox: &Toolbox) -> Result<ChatCall, Stopped> {
        let tool = as_text(&self.filled(&call.tool)?);
        let arguments = self.filled(&call.args)?;
        let name = match toolbox.find(call.server.as_deref(), &tool) {
            ToolLookup::One(tool) => tool.known_as.clone(),
            // The model of a real agent may also name a missing tool, and gets an error for it.
            ToolLookup::None => match &call.server {
                Some(server) => format!("{server}.{tool}"),
                None => tool,
            },
            ToolLookup::Several(servers) => {
                let message = format!("the tool `{tool}` is of {}", servers.join(" and "));
                return Err(self.stopped(&call.tool, message, "say which with `server:`"));
            }
        };
        self.calls += 1;
        Ok(ChatCall { id: format!("call-{}", self.calls), name, arguments, claims: call.claims.clone() })
    }

    /// A value with its references filled in; one that leads nowhere stops the script.
    fn filled(&self, node: &Node) -> Result<Value, Stopped> {
        let mut wrong = None;
        let filled = substitute_by(node, &mut |name| {
            if let Some(value) = self.variables.get(name) {
                return Some(value.clone());
            }
            if !matches!(name.split(['.', '[']).next(), Some("last" | "results")) {
                return None;
            }
            let found = Target::parse(name).and_then(|target| target.look_up(&self.seen).map(Cow::into_owned));
            match found {
                Ok(value) => Some(value),
                Err(why) => {
                    let why = if self.seen.extra.is_null() { "no tool was called yet".to_owned() } else { why };
                    wrong.get_or_insert(format!("`{{{{{name}}}}}` leads nowhere: {why}"));
                    None
                }
            }
        });
        match wrong {
            None => Ok(filled.to_json()),
            Some(message) => Err(self.stopped(node, message, "look at the results of the calls in the trace")),
        }
    }

    fn stopped(&self, node: &Node, message: String, help: &'static str) -> Stopped {
        let finding = Finding::error("script", message).at(self.source.place(node.span)).help(help);
        Stopped::with(StopReason::ScriptError, finding)
    }
}

/// A result as references see it: its text, and its JSON when it has any.
fn result_of(called: &Called) -> Value {
    let json = first_json(&called.text).or_else(|| called.result.get("structuredContent").cloned());
    match json {
        Some(json) => json!({"text": called.text, "json": json}),
        None => json!({"text": called.text}),
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use mcprove_model::Span;

    use super::*;

    fn node(value: Value) -> Node {
        Node::from_json(Span::default(), value)
    }

    fn call(tool: &str, args: Value) -> ScriptStep {
        let call = ScriptCall { server: None, tool: node(json!(tool)), args: node(args), claims: None };
        ScriptStep {
            when: None,
            action: ScriptAction::Call(vec![call]),
            repeat: Repeat::Times(1),
            span: Span::default(),
        }
    }

    fn say(text: &str) -> ScriptStep {
        let action = ScriptAction::Say(node(json!(text)));
        ScriptStep { when: None, action, repeat: Repeat::Times(1), span: Span::default() }
    }

    fn called(text: &str, is_error: bool) -> Called {
        Called {
            server: Some("s".into()),
            tool: "t".into(),
            args: json!({}),
            turn: 0,
            hop: 0,
            result: json!({}),
            text: text.into(),
            is_error,
        }
    }

    /// The actions of a script if the calls of its turns are answered so, in order.
    fn played(steps: &[ScriptStep], answers: &[&[Called]]) -> Vec<String> {
        let source = SourceFile::new("a.yaml", "");
        let toolbox = Toolbox::new(vec![("s".into(), vec![json!({"name": "search"}), json!({"name": "read"})])]);
        let mut player = Player::new(steps, &source, Variables::new());
        let mut answers = answers.iter();
        let mut told = Vec::new();
        for _ in 0..12 {
            match player.next(&toolbox) {
                Ok(reply) if reply.calls.is_empty() => {
                    told.push(reply.text);
                    break;
                }
                Ok(reply) => {
                    let calls: Vec<String> =
                        reply.calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
                    told.push(calls.join(" + "));
                    match answers.next() {
                        Some(answer) => player.add_results(answer),
                        None => break,
                    }
                }
                Err(stopped) => {
                    let why = stopped.finding.map(|finding| finding.message).unwrap_or_default();
                    told.push(format!("{:?} {why}", stopped.reason));
                    break;
                }
            }
        }
        told
    }

    #[test]
    fn a_step_that_does_not_hold_is_passed_over() {
        let when = |when: When, step: ScriptStep| ScriptStep { when: Some(when), ..step };
        let steps = [call("search", json!({})), when(When::Error, say("sorry")), say("Found: {{last.text}}")];
        assert_eq!(played(&steps, &[&[called("boom", true)]]), ["search {}", "sorry"]);
        assert_eq!(played(&steps, &[&[called("two", false)]]), ["search {}", "Found: two"]);
        let contains = When::Contains(node(json!("moved")));
        let steps = [call("search", json!({})), when(contains, call("read", json!({}))), say("done")];
        assert_eq!(played(&steps, &[&[called("it moved", false)]]), ["search {}", "read {}"]);
        assert_eq!(played(&steps, &[&[called("here", false)]]), ["search {}", "done"]);
        let steps = [when(When::Ok, say("too early")), call("search", json!({})), when(When::Ok, say("fine"))];
        assert_eq!(played(&steps, &[&[called("x", false)]]), ["search {}", "fine"]);
    }

    #[test]
    fn results_are_quoted_with_their_types() {
        let steps = [
            call("search", json!({})),
            call("read", json!({"id": "{{last.json.items[0].id}}", "note": "of {{results[0].json.items.length}}"})),
            say("{{results[1].text}}"),
        ];
        let answers: &[&[Called]] = &[&[called("{\"items\": [{\"id\": 7}]}", false)], &[called("text", false)]];
        assert_eq!(played(&steps, answers), ["search {}", "read {\"id\":7,\"note\":\"of 1\"}", "text"]);
    }

    #[test]
    fn a_script_says_why_it_cannot_go_on() {
        let steps = [say("{{last.text}}")];
        assert_eq!(played(&steps, &[]), ["ScriptError `{{last.text}}` leads nowhere: no tool was called yet"]);
        let steps = [call("search", json!({})), say("{{last.json.id}}")];
        let told = played(&steps, &[&[called("prose", false)]]);
        assert!(told[1].contains("`last` has no `json`"), "{told:?}");
        assert_eq!(played(&[call("search", json!({}))], &[&[called("x", false)]]), ["search {}", "ScriptEnded "]);
    }

    #[test]
    fn steps_are_repeated() {
        let twice = ScriptStep { repeat: Repeat::Times(2), ..call("search", json!({})) };
        let error = called("no", true);
        assert_eq!(
            played(&[twice, say("done")], &[from_ref(&error), from_ref(&error)]),
            ["search {}", "search {}", "done"]
        );
        let forever = ScriptStep { repeat: Repeat::Forever, when: Some(When::Error), ..call("search", json!({})) };
        let steps = [call("search", json!({})), forever, say("well again")];
        let answers: &[&[Called]] = &[from_ref(&error), from_ref(&error), &[called("ok", false)]];
        assert_eq!(played(&steps, answers), ["search {}", "search {}", "search {}", "well again"]);
    }
}
