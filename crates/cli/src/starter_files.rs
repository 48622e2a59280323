//! Assertion files for people who have none yet: made from what a server offers, and from what it answered.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mcprove_engine::{Catalog, Consent, NOWHERE, PlannedCall, expanded_template, prompt_arguments, tool_name};
use mcprove_judge::first_expectation::first_expectation;
use mcprove_judge::harm::HarmGuard;
use mcprove_judge::scan_verdict::ScanJudgement;
use mcprove_judge::tool_effect::ScanPlan;
use mcprove_model::{FailureCause, Observation, Redactor, ServerSpec, Target, ToolVerdict, shorten};
use mcprove_suite::starter::{FileNames, Starter};
use mcprove_suite::template::FIXTURE;
use mcprove_suite::written_server::{FileKind, WrittenServer};
use serde_json::{Value, json};

use crate::atomic_write;
use crate::context::Context;
use crate::failure::Failure;

/// Why a test is not run in which a secret was masked.
const SHOWN_SECRET: &str = "`***` is a secret that the server shows; write what is meant, then remove this line";

/// The server that files are written for.
pub(crate) struct Described<'s> {
    /// The server itself.
    server: &'s ServerSpec,
    /// The same as the files say it.
    pub(crate) written: WrittenServer,
    /// True if it was given a copy of a folder, which is `{{fixture}}` in what was sent and answered.
    fixture: bool,
    /// Hides the secrets of the server, if it was given any.
    secrets: Option<Redactor>,
}

impl<'s> Described<'s> {
    /// A server that was given a copy of a folder, or none.
    pub(crate) fn new(server: &'s ServerSpec, fixture: Option<&Path>) -> Self {
        let fixture = fixture.is_some();
        let templates: &[&str] = if fixture { &[FIXTURE] } else { &[] };
        let written = WrittenServer::of(&here(server), FileKind::Assertion, templates);
        let has_secrets = !server.secrets.is_empty() || crate::logins::tokens().count() > 0;
        let secrets = has_secrets.then(|| crate::logins::redactor(server.secrets.iter().map(String::as_str)));
        Self { server, written, fixture, secrets }
    }

    /// A name of the server's without its secrets.
    fn shown<'n>(&self, name: &'n str) -> Cow<'n, str> {
        self.secrets.as_ref().map_or(Cow::Borrowed(name), |secrets| secrets.text(name))
    }

    /// The file for a tool, a resource or a prompt. Where it would show a secret, it shows a mask, and is not run as it is.
    fn file<'f>(&self, stem: &str, names: &mut FileNames, mut starter: Starter<'f>) -> StarterFile<'f> {
        if let Some(secrets) = &self.secrets
            && secrets.finds(starter.text().as_bytes())
        {
            let texts = starter.remarks.iter_mut().chain(&mut starter.known).chain(&mut starter.masks);
            for text in texts.chain([&mut starter.name]) {
                *text = secrets.text(text).into_owned();
            }
            secrets.json(&mut starter.content);
            starter.skip = Some(SHOWN_SECRET.to_owned());
        }
        StarterFile { name: format!("{}.yaml", names.stem(&self.shown(stem))), starter }
    }
}

/// The server with paths below the current folder as the files of a project write them: relative.
fn here(server: &ServerSpec) -> ServerSpec {
    let mut server = server.clone();
    let Ok(folder) = std::env::current_dir() else { return server };
    let prefix = format!("{}/", folder.display());
    if let Target::Stdio { command, args, cwd: None, .. } = &mut server.target
        && prefix != "/"
    {
        for text in args.iter_mut().chain(std::iter::once(command)) {
            if let Some(rest) = text.strip_prefix(&prefix) {
                *text = format!("./{rest}");
            }
        }
    }
    server
}

/// A file that is to be written.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Its name below the folder.
    pub(crate) name: String,
    /// Its text.
    pub(crate) text: String,
}

/// An assertion file that is to be written.
#[derive(Debug)]
pub(crate) struct StarterFile<'s> {
    /// Its name below the folder.
    pub(crate) name: String,
    /// Its content.
    pub(crate) starter: Starter<'s>,
}

/// Assertion files as texts.
pub(crate) fn texts(files: &[StarterFile<'_>]) -> Vec<TextFile> {
    files.iter().map(text).collect()
}

/// An assertion file as a text.
pub(crate) fn text(file: &StarterFile<'_>) -> TextFile {
    TextFile { name: file.name.clone(), text: file.starter.text() }
}

/// The written files.
#[derive(Debug, Default)]
pub(crate) struct WrittenFiles {
    /// Those that were written.
    pub(crate) added: Vec<PathBuf>,
    /// Those that were there already, and stayed as they were.
    pub(crate) kept: Vec<PathBuf>,
    /// Number of tools whose names a suite cannot hold.
    pub(crate) unnameable: usize,
}

impl WrittenFiles {
    /// The same, of a server with so many tools that a suite cannot name.
    pub(crate) fn without(self, unnameable: usize) -> Self {
        Self { unnameable, ..self }
    }

    /// Summary of the files for the terminal.
    pub(crate) fn files_summary(&self, folder: &Path) -> String {
        let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        let mut text = format!("wrote {} to {}\n", files(self.added.len()), folder.display());
        if !self.kept.is_empty() {
            let kept = files(self.kept.len());
            let _ = writeln!(text, "kept {kept} of an earlier time; `--overwrite` replaces what is there");
        }
        if self.unnameable > 0 {
            let tools = if self.unnameable == 1 { "1 tool".to_owned() } else { format!("{} tools", self.unnameable) };
            let _ = writeln!(text, "left out {tools} without a name, or with one of more than 4 KiB");
        }
        text
    }
}

/// Result of writing a first suite, as JSON.
#[derive(Debug)]
pub(crate) struct NewSuiteReport<'w> {
    /// The files.
    pub(crate) written: &'w WrittenFiles,
    /// The score of the audit, where one was made.
    pub(crate) score: Option<usize>,
    /// Number of replies stored.
    pub(crate) snapshots: usize,
    /// The workflow that was written or kept.
    pub(crate) workflow: Option<&'static str>,
    /// The variables of the environment that the files need.
    pub(crate) variables: Vec<String>,
    /// The command that runs the files.
    pub(crate) next: String,
}

impl<'w> NewSuiteReport<'w> {
    /// Files alone.
    pub(crate) fn of(written: &'w WrittenFiles) -> Self {
        Self { written, score: None, snapshots: 0, workflow: None, variables: Vec::new(), next: String::new() }
    }

    /// The document that `--json` prints.
    pub(crate) fn as_json(&self, folder: &Path) -> Value {
        let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        json!({
            "folder": folder.display().to_string(),
            "written": paths(&self.written.added),
            "kept": paths(&self.written.kept),
            "score": self.score,
            "snapshots": self.snapshots,
            "workflow": self.workflow,
            "variables": self.variables,
            "next": self.next,
        })
    }
}

/// A file for each tool of a scan, with its answer as the first expectation.
pub(crate) fn of_scan<'d>(
    called: &[PlannedCall],
    described: &'d Described<'_>,
    names: &mut FileNames,
) -> Vec<StarterFile<'d>> {
    let machine = MachineValues::of(described.server);
    let called = called.iter().filter(|called| is_nameable(&called.tool));
    called.map(|called| of_called(called, described, &machine, names)).collect()
}

/// Number of tools without a name, which no suite can call.
pub(crate) fn unnameable(catalog: &Catalog) -> usize {
    catalog.tools.iter().filter(|tool| !is_nameable(tool_name(tool))).count()
}

/// Bytes of a name that a person would keep in a test.
const LONGEST_NAME: usize = 4 << 10;

/// True if a suite can call a tool of that name; braces in it are written so that they mean themselves.
fn is_nameable(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= LONGEST_NAME
}

fn of_called<'d>(
    called: &PlannedCall,
    described: &'d Described<'_>,
    machine: &MachineValues,
    names: &mut FileNames,
) -> StarterFile<'d> {
    let Described { written: server, fixture, .. } = described;
    let nothing = json!({});
    let input = called.input.as_ref().unwrap_or(&nothing);
    let replies: Vec<&Observation> = called.replies.iter().collect();
    let mut remarks =
        vec!["Written by mcprove from what the tool answered. Change `expect` to what you really want.".to_owned()];
    remarks.extend(server.remark());
    let machine = machine.shown_by(&replies);
    let mut masks = Vec::new();
    if !machine.is_empty() {
        remarks.push("The reply shows values of this machine's environment, so its snapshot is masked.".to_owned());
        masks.push("(?s).+".to_owned());
    }
    let skipped = called.skipped.as_ref().map(|reason| {
        let reason = reason.split(';').next().unwrap_or(reason);
        format!("{reason}; remove this line to call it")
    });
    let standing = called.judged.as_ref().filter(|_| skipped.is_none()).map(standing).unwrap_or_default();
    remarks.extend(standing.remark);
    let starter = Starter {
        name: names.title(&described.shown(&called.tool)),
        remarks,
        server,
        fixture: *fixture,
        skip: skipped.or(standing.skip),
        needs: standing.needs,
        known: standing.known,
        masks,
        block: "assert",
        content: {
            let expect = standing.expect.unwrap_or_else(|| first_expectation(input, &replies, &machine));
            call(&called.tool, input, &expect)
        },
    };
    described.file(&called.tool, names, starter)
}

/// Status of a test whose tool may not work.
#[derive(Debug, Default)]
pub(crate) struct StarterStatus {
    skip: Option<String>,
    needs: Option<String>,
    known: Option<String>,
    expect: Option<Value>,
    remark: Option<String>,
}

/// Status of the test of a tool, by the verdict about it: what is broken is a known defect, never a test that passes.
fn standing(judged: &ScanJudgement) -> StarterStatus {
    let known = |expect: Value| StarterStatus {
        known: Some(shorten(&judged.sentence, 300).into_owned()),
        expect: Some(expect),
        ..StarterStatus::default()
    };
    match judged.verdict {
        ToolVerdict::Works | ToolVerdict::Skipped => StarterStatus::default(),
        ToolVerdict::Crashed => known(json!({"not_error": true})),
        ToolVerdict::ErrorAsSuccess => known(json!({"is_error": true})),
        ToolVerdict::TimedOut => StarterStatus {
            skip: Some(format!("{}; remove this line to call it", judged.sentence)),
            ..StarterStatus::default()
        },
        ToolVerdict::Fails(FailureCause::InputNotFound | FailureCause::Other) => StarterStatus {
            remark: Some(
                "The tool rejects these arguments. Give it some that work, and say what it answers.".to_owned(),
            ),
            ..StarterStatus::default()
        },
        ToolVerdict::Fails(_) => {
            let needs = judged.evidence.as_deref().and_then(variable_in);
            let reason = shorten(&judged.sentence, 200).into_owned();
            let expect = Some(json!({"not_error": true}));
            match needs {
                Some(_) => StarterStatus { needs, expect, remark: Some(reason), ..StarterStatus::default() },
                None => StarterStatus { skip: Some(reason), expect, ..StarterStatus::default() },
            }
        }
    }
}

/// The variable of the environment that an error asks for.
fn variable_in(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let endings = ["KEY", "TOKEN", "SECRET", "PASSWORD", "URL", "HOST", "ID", "USER", "PATH"];
    let mut words = text.split(|c: char| !is_part(c));
    let named = words.find(|word| {
        let starts = word.starts_with(|c: char| c.is_ascii_uppercase());
        starts && word.contains('_') && endings.iter().any(|ending| word.ends_with(ending))
    });
    named.map(str::to_owned)
}

/// A file for each resource, template and prompt that a server offers, each with the verdict about it where it was tried.
pub(crate) fn of_offer<'d>(
    catalog: &Catalog,
    described: &'d Described<'_>,
    tried: &dyn Fn(&str) -> Option<ToolVerdict>,
    names: &mut FileNames,
) -> Vec<StarterFile<'d>> {
    let Described { written: server, fixture, .. } = described;
    let text = |item: &Value, key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut files = Vec::new();
    let mut add = |stem: String, name: String, made_up: Option<&str>, block: &'static str, content: Value| {
        let verdict = tried(&name);
        let (skip, known) = match verdict {
            None => (made_up.map(str::to_owned), None),
            Some(ToolVerdict::Works) => (None, None),
            Some(ToolVerdict::Crashed | ToolVerdict::ErrorAsSuccess) => {
                (None, Some("it could not be read when this file was written".to_owned()))
            }
            Some(verdict) => {
                let word = match verdict {
                    ToolVerdict::Fails(cause) => cause.sentence(),
                    _ => verdict.word(),
                };
                let reason = made_up.unwrap_or("remove this line to try it");
                (Some(format!("{word}; {reason}")), None)
            }
        };
        let starter = Starter {
            remarks: server.remark().into_iter().collect(),
            fixture: *fixture,
            skip,
            known,
            ..Starter::new(names.title(&described.shown(&name)), server, block, content)
        };
        files.push(described.file(&stem, names, starter));
    };
    for resource in catalog.resources.iter().filter(|resource| is_nameable(&text(resource, "uri"))) {
        let (uri, name) = (text(resource, "uri"), text(resource, "name"));
        let stem = format!("resource-{}", if name.is_empty() { &uri } else { &name });
        let content = json!({"read": uri, "expect": {"not_empty": true}});
        add(stem, format!("resource {uri}"), None, "assert_resources", content);
    }
    for template in catalog.templates.iter().filter(|template| is_nameable(&text(template, "uriTemplate"))) {
        let (uri, name) = (text(template, "uriTemplate"), text(template, "name"));
        let stem = format!("template-{}", if name.is_empty() { &uri } else { &name });
        let content = json!({"read": expanded_template(&uri), "expect": {"not_empty": true}});
        let fill = "fill in the variables of the URI, then remove this line";
        add(stem, format!("template {uri}"), Some(fill), "assert_resources", content);
    }
    for prompt in catalog.prompts.iter().filter(|prompt| is_nameable(&text(prompt, "name"))) {
        let name = text(prompt, "name");
        let arguments = prompt_arguments(prompt);
        let fill = (!arguments.is_empty()).then_some("fill in the arguments, then remove this line");
        let get =
            if arguments.is_empty() { json!({"name": name}) } else { json!({"name": name, "arguments": arguments}) };
        let content = json!({"get": get, "expect": {"not_empty": true}});
        add(format!("prompt-{name}"), format!("prompt {name}"), fill, "assert_prompts", content);
    }
    files
}

/// A file for each tool, with an input made from its schema; nothing is called.
pub(crate) fn of_tools<'d>(
    catalog: &Catalog,
    described: &'d Described<'_>,
    consent: Consent,
    names: &mut FileNames,
) -> Vec<StarterFile<'d>> {
    let Described { written: server, fixture, .. } = described;
    let mut files = Vec::new();
    let plan = ScanPlan::new(&catalog.tools, catalog.instructions.as_deref(), consent, &[]);
    let planned = catalog.tools.iter().zip(&plan.tools);
    for (tool, planned) in planned.filter(|(tool, _)| is_nameable(tool_name(tool))) {
        let name = tool_name(tool);
        let guard = HarmGuard::new(tool, &planned.effect, NOWHERE);
        let made = guard.input(tool, 0, catalog.places.as_ref());
        let skip = match (&made, &planned.skipped) {
            (Err(why), _) => Some(format!("no valid input could be made: {why}")),
            (Ok(_), Some(_)) => Some(format!("it {}; remove this line to call it", planned.effect)),
            (Ok(_), None) => None,
        };
        let input = made.unwrap_or_else(|_| json!({}));
        let mut remarks =
            vec!["The arguments are made from the tool's schema. Say what you expect of the reply.".to_owned()];
        remarks.extend(server.remark());
        let content = call(name, &input, &json!({"not_error": true}));
        let title = names.title(&described.shown(name));
        let starter = Starter { remarks, fixture: *fixture, skip, ..Starter::new(title, server, "assert", content) };
        files.push(described.file(name, names, starter));
    }
    files
}

/// The content of an `assert` block.
pub(crate) fn call(tool: &str, input: &Value, expect: &Value) -> Value {
    if input.as_object().is_some_and(serde_json::Map::is_empty) {
        return json!({"tool": tool, "expect": expect});
    }
    json!({"tool": tool, "args": input, "expect": expect})
}

/// The number of files that are written without a question.
const MANY_FILES: usize = 1_000;

/// Writes files into a folder, which is made if need be; what is there already stays unless it may be replaced.
pub(crate) fn write_all(folder: &Path, files: &[TextFile], overwrite: bool) -> Result<WrittenFiles, Failure> {
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new(format!("`{}` could not be written: {error}", path.display()), "give a folder that can be written")
    };
    if files.len() > MANY_FILES {
        let many = format!("{} files would be written to `{}`", files.len(), folder.display());
        let answer = Context::ask(&format!("{many}. Go on? [y/N] "));
        if !answer.is_some_and(|answer| matches!(answer.trim(), "y" | "Y" | "yes")) {
            return Err(Failure::new(many, "run it in a terminal and confirm, or choose tools with `--tool`"));
        }
    }
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut done = WrittenFiles::default();
    for file in files {
        let path = folder.join(&file.name);
        if fs::symlink_metadata(&path).is_ok() && !overwrite {
            done.kept.push(path);
            continue;
        }
        atomic_write::write_within(folder, &path, file.text.as_bytes()).map_err(|error| failed(&path, &error))?;
        done.added.push(path);
    }
    Ok(done)
}

/// Values that belong into no file: those of this machine's environment, with which a reply would be another one elsewhere,
/// and the secrets of a server, in whatever encoding.
pub(crate) struct MachineValues {
    values: Vec<String>,
    secrets: Redactor,
}

impl MachineValues {
    /// The values of the environment, and the secrets of this server.
    pub(crate) fn of(server: &ServerSpec) -> Self {
        let names = Context::variable_names();
        let own = names.iter().filter_map(|name| Context::variable(name));
        let values = own.chain(server.secrets.iter().cloned()).filter(|value| value.len() >= Redactor::SHORTEST);
        let secrets = crate::logins::redactor(server.secrets.iter().map(String::as_str));
        Self { values: values.collect(), secrets }
    }

    /// Those that replies show, and every line that has an encoded secret.
    pub(crate) fn shown_by(&self, replies: &[&Observation]) -> Vec<String> {
        let is_shown = |value: &&String| replies.iter().any(|reply| reply.text.contains(value.as_str()));
        let mut shown: Vec<String> = self.values.iter().filter(is_shown).cloned().collect();
        let has_secret = |text: &str| matches!(self.secrets.text(text), Cow::Owned(_));
        for reply in replies.iter().filter(|reply| has_secret(&reply.text)) {
            let lines = || reply.text.lines().map(str::trim).filter(|line| !line.is_empty());
            let before = shown.len();
            shown.extend(lines().filter(|line| has_secret(line)).map(str::to_owned));
            if shown.len() == before {
                // A secret that is broken into lines is in none of them.
                shown.extend(lines().map(str::to_owned));
            }
        }
        shown
    }
}

#[cfg(test)]
#[path = "starter_files_tests.rs"]
mod tests;
