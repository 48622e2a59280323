//! Golden event lists: small suites on the built-in mock in virtual time, or on a few lines of shell.
//!
//! Each folder below `runs/` is a suite. Each `*.events` file in it is one run; the name of the file states the options,
//! such as `jobs=4,isolation=run.events` (`plain.events` has none). `SNAPSHOTS=overwrite` rewrites the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{
    Consent, FuzzScan, InfoOptions, PlanOptions, Progress, RunOptions, ScanKind, ScanOptions, Sink, Stopper, Storing,
    plan, plan_scan, run, server_info,
};
use mcprove_judge::negative::PROBES;
use mcprove_model::{
    Case, CaseFinished, Direction, Event, Finding, Frame, Isolation, Plan, ServerSpec, Target, Verdict,
};
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

/// Runs a suite, or a scan of `mock.yaml`, and renders its events.
fn record(folder: &Path, name: &RunName) -> String {
    let (cases, findings) = match name.value("scan") {
        Some(kind) => scan(folder, kind),
        None => (suite(folder), Vec::new()),
    };
    let options = PlanOptions {
        trials: NonZeroU32::new(u32::try_from(name.number("trials").unwrap_or(1)).expect("few")).expect("not zero"),
        shard: name.value("shard").map(|shard| shard.replace('-', "/").parse().expect("a shard")),
        ..PlanOptions::default()
    };
    let plan = plan(&cases, &options);
    let (stopper, stop) = Stopper::pair();
    let mut list = EventList {
        text: String::new(),
        folder: folder.to_string_lossy().into_owned(),
        frames: Vec::new(),
        stopper,
        stop_after: name.number("interrupt"),
        verdicts_only: name.has("verdicts"),
    };
    let options = RunOptions { findings, ..run_options(name, &plan) };
    runtime().block_on(run(&plan, options, stop, &mut list));
    list.text
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// The cases of a scan of the mock in a folder.
fn scan(folder: &Path, kind: &str) -> (Vec<Arc<Case>>, Vec<Finding>) {
    let manifest = folder.join("mock.yaml").to_string_lossy().into_owned();
    let target = Target::Mock { manifest, virtual_time: true, keep_state: false };
    let server = Arc::new(ServerSpec { name: "mock".to_owned(), target, ..ServerSpec::default() });
    let info = InfoOptions {
        fixture: None,
        own_program: Path::new("mcprove"),
        timeout: Duration::from_secs(10),
        probe_timeout: Duration::from_secs(2),
        limits: Limits::default(),
        tokens: &mcprove_wire::Tokens::default(),
    };
    let info = runtime().block_on(server_info(&server, &info)).expect("the mock is here");
    let kind = match kind {
        "audit" => ScanKind::Audit { repeat: false },
        "repeat" => ScanKind::Audit { repeat: true },
        "negative" => ScanKind::Probe { probes: PROBES.iter().collect(), oversized: 1000 },
        "fuzz" => ScanKind::Fuzz(FuzzScan {
            runs: 20,
            time: None,
            strict_input: false,
            attempts: 50,
            command: "mcprove fuzz".to_owned(),
            call: "mcprove call".to_owned(),
        }),
        other => panic!("scan={other}"),
    };
    let options = ScanOptions {
        kind,
        consent: Consent::Cautious,
        tools: Vec::new(),
        given: BTreeMap::new(),
        fixture: None,
        start: Duration::from_secs(10),
        timeout: Duration::from_secs(5),
        seed: 1,
    };
    let planned = plan_scan(&server, &info.catalog, &options);
    (planned.cases, planned.findings)
}

/// The cases of a suite.
fn suite(folder: &Path) -> Vec<Arc<Case>> {
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
    loaded.cases
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
        no_model: false,
        probe_timeout: Duration::from_secs(2),
        prestart: name.has("prestart"),
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
        tokens: mcprove_wire::Tokens::default(),
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
                let file = if file.is_empty() { "no file".to_owned() } else { file };
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
