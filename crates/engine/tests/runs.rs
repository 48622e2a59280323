//! Golden event lists: small suites on the built-in mock in virtual time, or on a few lines of shell.
//!
//! Each folder below `runs/` is a suite. Each `*.events` file in it is one run; the name of the file states the options,
//! such as `jobs=4,isolation=run.events` (`plain.events` has none). `SNAPSHOTS=overwrite` rewrites the files.

use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{PlanOptions, Progress, RunOptions, Sink, Stopper, Storing, plan, run};
use mcprove_model::{CaseFinished, Direction, Event, Finding, Frame, Isolation, Plan, Verdict};
use mcprove_suite::load::{LoadOptions, load};
use mcprove_wire::Limits;

#[test]
fn every_run_is_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let mut wrong = Vec::new();
    for golden in goldens(&folder) {
        let events = record(golden.parent().expect("a folder"), &RunName::of(&golden));
        if std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite") {
            fs::write(&golden, events).expect("writable");
        } else if fs::read_to_string(&golden).expect("readable") != events {
            wrong.push(format!("{}\n{events}", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "not as recorded (SNAPSHOTS=overwrite accepts):\n{}", wrong.join("\n"));
}

/// Every golden list, in order.
fn goldens(folder: &Path) -> Vec<PathBuf> {
    let files = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
    };
    let suites = files(folder).into_iter().filter(|path| path.is_dir());
    let mut goldens: Vec<PathBuf> = suites
        .flat_map(|suite| files(&suite))
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
        .collect();
    goldens.sort();
    assert!(goldens.len() > 10, "the suites are found");
    goldens
}

/// The options that the name of a golden list states.
struct RunName(String);

impl RunName {
    fn of(golden: &Path) -> Self {
        Self(golden.file_stem().expect("a name").to_string_lossy().into_owned())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }

    fn has(&self, name: &str) -> bool {
        self.0.split(',').any(|option| option == name)
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.value(name).map(|value| value.parse().expect("a number"))
    }
}

/// Runs a suite and renders its events.
fn record(folder: &Path, name: &RunName) -> String {
    let variables = [("CONFIG_DIR", folder.to_string_lossy().into_owned())];
    let loaded = load(
        &[folder.to_owned()],
        &LoadOptions {
            environment: &|wanted| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone()),
            known_variables: &[],
            fixture: None,
            server: None,
            ci: false,
        },
    );
    let mistakes: Vec<&Finding> = loaded.findings.iter().filter(|finding| finding.severity.fails()).collect();
    assert!(mistakes.is_empty(), "{}: {mistakes:#?}", folder.display());
    let options = PlanOptions {
        trials: NonZeroU32::new(u32::try_from(name.number("trials").unwrap_or(1)).expect("few")).expect("not zero"),
        shard: name.value("shard").map(|shard| shard.replace('-', "/").parse().expect("a shard")),
        ..PlanOptions::default()
    };
    let plan = plan(&loaded.cases, &options);
    let (stopper, stop) = Stopper::pair();
    let mut list = EventList {
        text: String::new(),
        folder: folder.to_string_lossy().into_owned(),
        frames: Vec::new(),
        stopper,
        stop_after: name.number("interrupt"),
        verdicts_only: name.has("verdicts"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(&plan, run_options(name, &plan), stop, &mut list));
    list.text
}

fn run_options(name: &RunName, plan: &Plan) -> RunOptions {
    let jobs = name.number("jobs");
    RunOptions {
        jobs: jobs.unwrap_or_else(|| mcprove_engine::wanted_side_by_side(plan, 2)),
        one_by_one: jobs.is_none(),
        cores: 2,
        timeout: Duration::from_secs(10),
        strict: name.has("strict"),
        fail_fast: name.has("fail_fast"),
        keep_frames: true,
        own_program: PathBuf::from("mcprove"),
        program: "test".to_owned(),
        started_unix_ms: 0,
        findings: Vec::new(),
        fix: false,
        record: false,
        probe_timeout: Duration::from_secs(2),
        isolation: name.value("isolation").map(|isolation| match isolation {
            "case" => Isolation::Case,
            "file" => Isolation::File,
            "run" => Isolation::Run,
            other => panic!("isolation={other}"),
        }),
        is_whole: plan.shard.is_none(),
        storing: Storing::Compare,
        again: Vec::new(),
        limits: Limits::default(),
        environment: Arc::from([]),
    }
}

/// Renders events as they come.
struct EventList {
    text: String,
    folder: String,
    /// The requests and notifications that the case has sent so far, with their session.
    frames: Vec<String>,
    stopper: Stopper,
    /// The case after which the run is interrupted.
    stop_after: Option<usize>,
    /// True where it is not decided how far a case comes before it is interrupted.
    verdicts_only: bool,
}

impl Sink for EventList {
    fn event(&mut self, event: Event) {
        match event {
            Event::RunStarted(started) => {
                self.line(&format!("run of {} cases, {} jobs", started.total, started.jobs));
                if let Some(shard) = started.shard {
                    self.line(&format!("shard {} of {}, {} cases in all", shard.number, shard.of, shard.cases));
                }
            }
            Event::Finding { finding } => self.finding("", &finding),
            Event::CaseStarted(started) => {
                let file = Path::new(&started.file).file_name().unwrap_or_default().to_string_lossy().into_owned();
                let trial = if started.trial > 1 { format!(", trial {}", started.trial) } else { String::new() };
                let variant = started.variant.map(|variant| format!(", {variant}")).unwrap_or_default();
                self.line(&format!(
                    "case {} {} ({file}:{}{trial}{variant})",
                    started.index, started.name, started.line
                ));
            }
            Event::Connected(connected) if !self.verdicts_only => {
                let of = connected.server.map(|server| format!(" {server}")).unwrap_or_default();
                self.line(&format!("  session {}{of}: {}", connected.session, connected.transport));
            }
            Event::Connected(_) => {}
            Event::Frame { session, frame, .. } => self.frames.extend(sent(session, &frame)),
            Event::CaseFinished(finished) => self.finished(&finished),
            Event::RunFinished(finished) => {
                self.line(if finished.interrupted { "run interrupted" } else { "run finished" });
            }
        }
    }

    fn progress(&mut self, _: &Progress<'_>) {}
}

impl EventList {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}", line.replace(&self.folder, "[SUITE]"));
    }

    fn finding(&mut self, indent: &str, finding: &Finding) {
        self.line(&format!("{indent}{} {}: {}", finding.severity.word(), finding.rule, finding.message));
    }

    fn finished(&mut self, finished: &CaseFinished) {
        let frames = std::mem::take(&mut self.frames);
        if !self.verdicts_only {
            if !frames.is_empty() {
                self.line(&format!("  sent {}", frames.join(", ")));
            }
            for call in &finished.calls {
                let subject = call.subject.as_deref().unwrap_or_default();
                let answered = if call.reply.is_some() { "answered" } else { "no answer" };
                self.line(&format!("  {:?} {subject}: {answered}", call.role));
            }
        }
        let verdict = match &finished.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Failed => "failed".to_owned(),
            Verdict::Skipped { reason } => format!("skipped: {reason}"),
            Verdict::Error => "error".to_owned(),
        };
        self.line(&format!("  {verdict}"));
        for finding in &finished.findings {
            self.finding("  ", finding);
        }
        if self.stop_after == Some(finished.index) {
            self.stopper.stop();
        }
    }
}

/// The method of a message that was sent, if the frame is one.
fn sent(session: u32, frame: &Frame) -> Option<String> {
    if frame.direction != Direction::Sent {
        return None;
    }
    let message: serde_json::Value = serde_json::from_slice(&frame.body).ok()?;
    let method = message.get("method")?.as_str()?.to_owned();
    Some(if session == 0 { method } else { format!("{method} in {session}") })
}
