//! The replies of a language model, saved next to the suite and played again.
//!
//! A cassette holds the model's input before its first answer (prompts, tools, faults, budgets) and each of its
//! answers. It is played only in a conversation that begins the same way; the servers are called as always, so every
//! gate judges a replay as it judges a live run. Secrets are masked.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mcprove_model::{
    Agent, AgentModel, Case, ChatReply, ChatTool, Fault, Finding, NamedModel, Redactor, StopReason, is_active,
};
use mcprove_suite::load::bounded_read;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::transcript::{Called, Stopped, Transcript};

/// The folder of cassettes, next to the suite.
pub(crate) const FOLDER: &str = "cassettes";
/// Format version that this program writes; readers refuse versions they do not know.
const FORMAT: u32 = 1;

/// A recorded conversation.
#[derive(Debug, Serialize, Deserialize)]
struct Cassette {
    format: u32,
    head: Head,
    exchanges: Vec<Recorded>,
}

/// The start of a conversation; a replay must begin the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    agent: String,
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    turns: Vec<String>,
    tools: Vec<ChatTool>,
    faults: Vec<String>,
    max_tokens: u64,
    max_turns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tool_calls: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_budget: Option<u64>,
}

/// An answer of the model, and the results of the calls it asked for.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    reply: ChatReply,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    results: Vec<RecordedResult>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RecordedResult {
    text: String,
    is_error: bool,
}

/// The start of a conversation, before it is masked.
pub(super) struct Beginning<'a> {
    pub(super) case: &'a Case,
    pub(super) agent: &'a Agent,
    pub(super) system: Option<String>,
    pub(super) turns: Vec<String>,
    pub(super) tools: &'a [ChatTool],
    /// Tokens that were issued for its servers.
    pub(super) tokens: Vec<String>,
}

/// Where the conversation of a case is, or would be, recorded; `None` for one whose model is a script.
pub(crate) fn path_of(case: &Case, trial: u32) -> Option<PathBuf> {
    let named = named_model(case.agent()?)?;
    let folder = Path::new(case.source.path()).parent().unwrap_or(Path::new("")).join(FOLDER);
    let run = if trial > 1 { format!(".run-{trial}") } else { String::new() };
    // Cases of several models have their model in their name.
    Some(folder.join(format!("{}__{}{run}.json", slug(&case.name), slug(&named.id))))
}

/// The language model of an agent, when it has one.
pub(super) fn named_model(agent: &Agent) -> Option<&NamedModel> {
    match &agent.model {
        AgentModel::Script(_) => None,
        AgentModel::Named(named) => Some(named),
    }
}

/// A conversation that is being recorded.
#[derive(Debug)]
pub(super) struct Recorder {
    path: PathBuf,
    redactor: Redactor,
    cassette: Cassette,
}

impl Recorder {
    pub(super) fn new(beginning: &Beginning<'_>, path: PathBuf) -> Self {
        let redactor = redactor_of(beginning);
        let head = head(beginning, &redactor);
        Self { path, redactor, cassette: Cassette { format: FORMAT, head, exchanges: Vec::new() } }
    }

    pub(super) fn take(&mut self, reply: &ChatReply) {
        let reply = masked(reply, &self.redactor);
        self.cassette.exchanges.push(Recorded { reply, results: Vec::new() });
    }

    pub(super) fn add_results(&mut self, called: &[Called]) {
        if let Some(last) = self.cassette.exchanges.last_mut() {
            last.results = results(called, &self.redactor);
        }
    }

    /// Writes the cassette, unless the model could not be asked to the end.
    pub(super) fn write(self, transcript: &Transcript) -> Option<Finding> {
        if transcript.reason() == StopReason::ProviderError {
            return None;
        }
        let shown = self.path.display().to_string();
        if let Ok(earlier) = read(&self.path)
            && earlier.head.agent != self.cassette.head.agent
        {
            let message = format!("the cassette `{shown}` is of the agent `{}`", earlier.head.agent);
            return Some(Finding::error("cassette", message).help("give one of the two agents another name"));
        }
        match write_cassette(&self.path, &self.cassette) {
            Ok(()) => Some(Finding::note("recorded", format!("the conversation was recorded in `{shown}`"))),
            Err(error) => {
                let message = format!("the cassette `{shown}` could not be written: {error}");
                Some(Finding::error("cassette", message).help("make its folder writable"))
            }
        }
    }
}

/// Writes a cassette whole or not at all; its folder may not lead elsewhere.
pub(crate) fn write_cassette(path: &Path, cassette: &impl Serialize) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    if fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_symlink()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "its folder is a symbolic link"));
    }
    let mut text = printable(&serde_json::to_string_pretty(cassette)?);
    text.push('\n');
    // An unpredictable name, so that no link is there already.
    let mut draft = tempfile::Builder::new().prefix(".mcprove-").tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    draft.persist(path)?;
    Ok(())
}

/// JSON with everything as `\u` escapes that acts on who looks at it; the same value.
fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_active(c) {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

/// A recorded conversation that is played.
#[derive(Debug)]
pub(super) struct Replay {
    path: PathBuf,
    redactor: Redactor,
    cassette: Cassette,
    at: usize,
    /// Calls whose results differ from the recorded ones.
    differing: usize,
}

impl Replay {
    /// A cassette that fits the conversation; a finding says why it does not.
    pub(super) fn open(beginning: &Beginning<'_>, path: PathBuf) -> Result<Self, Box<Finding>> {
        let redactor = redactor_of(beginning);
        let shown = path.display().to_string();
        let unusable = |message: String| {
            Box::new(Finding::error("cassette", message).help("record it again with `mcprove run --record`"))
        };
        let cassette =
            read(&path).map_err(|why| unusable(format!("the cassette `{shown}` cannot be played: {why}")))?;
        let now = head(beginning, &redactor);
        if let Some(difference) = difference(&cassette.head, &now) {
            let message = format!("the cassette `{shown}` is of another conversation: {difference}");
            return Err(unusable(message));
        }
        Ok(Self { path, redactor, cassette, at: 0, differing: 0 })
    }

    pub(super) fn next(&mut self) -> Result<ChatReply, Stopped> {
        let Some(recorded) = self.cassette.exchanges.get(self.at) else {
            let message = format!(
                "the cassette `{}` has {} answers of the model, and one more is asked for",
                self.path.display(),
                self.cassette.exchanges.len()
            );
            let finding = Finding::error("cassette", message).help("record it again with `mcprove run --record`");
            return Err(Stopped::with(StopReason::CassetteMismatch, finding));
        };
        self.at += 1;
        Ok(recorded.reply.clone())
    }

    pub(super) fn add_results(&mut self, called: &[Called]) {
        let Some(recorded) = self.at.checked_sub(1).and_then(|at| self.cassette.exchanges.get(at)) else { return };
        let now = results(called, &self.redactor);
        self.differing += recorded.results.iter().zip(&now).filter(|(then, now)| then != now).count();
    }

    /// Findings about the replay at the end of the conversation.
    pub(super) fn finish(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let left = self.cassette.exchanges.len().saturating_sub(self.at);
        if left > 0 {
            let message =
                format!("the cassette `{}` goes on: {left} answers of the model were not used", self.path.display());
            findings.push(Finding::warning("cassette", message).help("record it again with `mcprove run --record`"));
        }
        if self.differing > 0 {
            let message =
                format!("{} tool results differ from those the model answered to when it was recorded", self.differing);
            findings.push(Finding::note("cassette", message));
        }
        findings
    }
}

fn read(path: &Path) -> Result<Cassette, String> {
    let text = bounded_read::read_to_string(path).map_err(|error| error.to_string())?;
    let cassette: Cassette = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if cassette.format != FORMAT {
        return Err(format!("its format is {}, and only {FORMAT} is known", cassette.format));
    }
    Ok(cassette)
}

fn head(beginning: &Beginning<'_>, redactor: &Redactor) -> Head {
    let Beginning { case, agent, system, turns, tools, tokens: _ } = beginning;
    masked(
        &Head {
            agent: case.name.clone(),
            model: agent.model.name().to_owned(),
            system_prompt: system.clone(),
            turns: turns.clone(),
            tools: tools.to_vec(),
            faults: agent.faults.iter().map(fault).collect(),
            max_tokens: agent.budget.max_tokens,
            max_turns: agent.budget.max_turns,
            max_tool_calls: agent.budget.max_tool_calls,
            token_budget: agent.budget.token_budget,
        },
        redactor,
    )
}

/// The first part in which two beginnings differ.
fn difference(then: &Head, now: &Head) -> Option<String> {
    if then.agent != now.agent {
        return Some(format!("it is of the agent `{}`", then.agent));
    }
    if then.model != now.model {
        return Some(format!("the model was `{}`", then.model));
    }
    if then.system_prompt != now.system_prompt {
        return Some("the system prompt is another".to_owned());
    }
    if then.turns != now.turns {
        let at = then.turns.iter().zip(&now.turns).take_while(|(then, now)| then == now).count();
        return Some(format!("what the user says differs from turn {} on", at + 1));
    }
    if then.faults != now.faults {
        let listed = |faults: &[String]| if faults.is_empty() { "none".to_owned() } else { faults.join(", ") };
        return Some(format!("the faults were {}, and are {}", listed(&then.faults), listed(&now.faults)));
    }
    if let Some(difference) = tools_differ(&then.tools, &now.tools) {
        return Some(difference);
    }
    (then != now).then(|| "the budgets of the agent are others".to_owned())
}

fn tools_differ(then: &[ChatTool], now: &[ChatTool]) -> Option<String> {
    let find = |tools: &[ChatTool], name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    for tool in then {
        match find(now, &tool.name) {
            None => return Some(format!("the tool `{}` is gone", tool.name)),
            Some(other) if other != *tool => return Some(format!("the tool `{}` has changed", tool.name)),
            Some(_) => {}
        }
    }
    let new = now.iter().find(|tool| find(then, &tool.name).is_none())?;
    Some(format!("the tool `{}` is new", new.name))
}

fn fault(fault: &Fault) -> String {
    let of = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
    let kind = fault.kind;
    format!("{}={kind} on {}.{}", fault.name, of(&fault.server), of(&fault.tool))
}

fn results(called: &[Called], redactor: &Redactor) -> Vec<RecordedResult> {
    let result =
        |call: &Called| RecordedResult { text: redactor.text(&call.text).into_owned(), is_error: call.is_error };
    called.iter().map(result).collect()
}

fn redactor_of(beginning: &Beginning<'_>) -> Redactor {
    let servers = beginning.case.servers().flat_map(|server| server.secrets.iter());
    let key = named_model(beginning.agent)
        .and_then(|named| named.provider.as_ref()?.key.as_ref())
        .and_then(|key| key.value.as_ref().map(|value| &value.0));
    Redactor::new(servers.chain(key).chain(&beginning.tokens).map(String::as_str))
}

/// A value with every secret in its texts and keys masked.
fn masked<T: Serialize + for<'d> Deserialize<'d> + Clone>(value: &T, redactor: &Redactor) -> T {
    let json = serde_json::to_value(value).unwrap_or_default();
    serde_json::from_value(masked_json(json, redactor)).unwrap_or_else(|_| value.clone())
}

fn masked_json(value: Value, redactor: &Redactor) -> Value {
    match value {
        Value::String(text) => Value::String(redactor.text(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| masked_json(item, redactor)).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (redactor.text(&key).into_owned(), masked_json(value, redactor)))
            .collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// A part of a file's name.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '.' {
            slug.extend(c.to_lowercase());
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches(['-', '.']).chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_names_of_files() {
        assert_eq!(slug("Recovers from a hung `search` tool!"), "recovers-from-a-hung-search-tool");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("claude-sonnet-4-5"), "claude-sonnet-4-5");
    }

    #[test]
    fn secrets_do_not_reach_a_cassette() {
        let redactor = Redactor::new(["s3cret-value"]);
        let reply = ChatReply { text: "the key is s3cret-value".into(), ..ChatReply::default() };
        let kept = serde_json::to_string(&masked(&reply, &redactor)).expect("JSON");
        assert!(!kept.contains("s3cret-value"), "{kept}");
    }

    #[test]
    fn what_acts_on_a_reader_is_escaped_in_a_cassette() {
        let json = serde_json::to_string_pretty(&["\u{202e}abc\u{e0041}é🎉\n"]).expect("JSON");
        let printed = printable(&json);
        assert_eq!(printed, "[\n  \"\\u202eabc\\udb40\\udc41é🎉\\n\"\n]");
        assert_eq!(serde_json::from_str::<Value>(&printed).ok(), serde_json::from_str(&json).ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_cassette_is_not_written_through_a_link() {
        let home = tempfile::tempdir().expect("a folder");
        let outside = tempfile::tempdir().expect("a folder");
        let linked = home.path().join(FOLDER);
        std::os::unix::fs::symlink(outside.path(), &linked).expect("a link");
        let refused = write_cassette(&linked.join("one.json"), &"text").expect_err("refused");
        assert_eq!(refused.to_string(), "its folder is a symbolic link");
        assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 0);
    }
}
