//! What the commands share that tour a server's tools.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mcprove_engine::{Consent, Stopper, TourOptions, Toured, Visit, tour};
use mcprove_model::{Redactor, Report, ServerSpec, Severity, Target, escape_line, nearest, shorten};
use mcprove_report::Shows;
use mcprove_suite::duration;

use crate::confinement::Confinement;
use crate::context::Context;
use crate::execution::{interrupts, runtime};
use crate::failure::Failure;
use crate::live::{Approval, Listeners, Listening};
use crate::seed_arguments::seed_arguments;
use crate::subject::Subject;

/// How a server's tools are toured.
#[derive(Debug, clap::Args)]
pub(crate) struct Touring {
    /// Only this tool, also if it looks like it writes.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Call tools that write or look like it, too.
    #[arg(long, conflicts_with = "read_only")]
    include_writes: bool,
    /// Call only tools that say that they only read.
    #[arg(long)]
    read_only: bool,
    /// A folder that is copied before anything is called; `{{fixture}}` in the server's arguments, or its path, is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// A YAML or JSON file with arguments to use: a map from tools to arguments, or to lists of them.
    #[arg(long = "seed-args", value_name = "FILE")]
    given: Option<PathBuf>,
    /// Do not ask before the first call.
    #[arg(short, long)]
    yes: bool,
    /// How long the server may take to start, and each call [default: 60s and 15s].
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// What generated inputs are made from.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write everything that happened, every frame, to a log file.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    confinement: Confinement,
}

/// How long a server may take to start where nobody says: `npx` and its like may have to fetch it first.
const START: Duration = Duration::from_mins(1);

/// How long a call may take where nobody says.
const CALL: Duration = Duration::from_secs(15);

/// What stands for the copy of the fixture folder.
const FIXTURE: &str = "{{fixture}}";

impl Touring {
    /// Tours the tools; the report has a case for each.
    pub(crate) fn tour(&self, visit: Visit, context: &Context) -> Result<Report, Failure> {
        Ok(self.tour_with_replies(visit, context)?.0)
    }

    /// Tours the tools, and also hands out what was called; nothing of it when the tour was dropped half way.
    pub(crate) fn tour_with_replies(
        &self,
        visit: Visit,
        context: &Context,
    ) -> Result<(Report, Option<Toured>), Failure> {
        let mut server = self.server()?;
        self.confinement.apply(&mut server, context);
        let log = self.events.as_deref().map(create_log).transpose()?;
        let listening = Listening {
            log,
            shown: false,
            each_once: true,
            shows: Shows::Calls,
            redactor: Redactor::new(server.secrets.iter().map(String::as_str)),
        };
        if context.live {
            context.complain(&format!("calling the tools of {} …\n", escape_line(&server.name)));
        }
        let approval = if self.yes || Confinement::is_effective(&server) { Approval::Given } else { Approval::Asked };
        let mut listeners = Listeners::new(context, listening).approved(approval);
        let given = self.given.as_deref().map(|path| seed_arguments(path, context)).transpose()?.unwrap_or_default();
        let options = TourOptions {
            visit,
            consent: consent(self.include_writes, self.read_only),
            given,
            tool: self.tool.clone(),
            fixture: self.fixture.clone(),
            start: self.timeout.unwrap_or(START),
            timeout: self.timeout(),
            seed: self.seed,
            strict: false,
            own_program: context.own_program.clone(),
            program: concat!("mcprove ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_unix_ms: Context::unix_ms(),
            limits: context.limits,
        };
        let (stopper, stop) = Stopper::pair();
        let toured = runtime(1)?.block_on(async {
            tokio::select! {
                // Signals are listened to before anything is started.
                biased;
                () = interrupts(&stopper) => None,
                toured = tour(&server, &options, &stop, &mut listeners) => Some(toured),
            }
        });
        let heard = listeners.finish();
        let toured = match toured {
            Some(Ok(toured)) => Some(toured),
            None => None,
            Some(Err(failure)) => {
                return Err(Failure::unreachable(&failure));
            }
        };
        if heard.declined {
            return Err(declined());
        }
        if let Some(error) = heard.log_error {
            return Err(Failure::new(error, "give `--events` a path that can be written"));
        }
        if toured.is_none() || stop.is_stopped() {
            if heard.report.cases.is_empty() {
                return Err(Failure::Interrupted);
            }
            context.complain("interrupted: not every tool was called\n");
            return Ok((heard.report, toured));
        }
        if heard.report.cases.is_empty() {
            // A list that could not be had is not an empty list.
            if let Some(failed) = heard.report.findings.iter().find(|finding| finding.severity >= Severity::Error) {
                return Err(Failure::of(failed));
            }
            let listed = toured.map(|toured| toured.listed).unwrap_or_default();
            return Err(no_such_tool(self.tool.as_deref(), &listed));
        }
        Ok((heard.report, toured))
    }

    /// The server; where it is given the path of the fixture, it gets the copy.
    pub(crate) fn server(&self) -> Result<ServerSpec, Failure> {
        let mut server = self.subject.spec()?;
        let Some(fixture) = &self.fixture else { return Ok(server) };
        if !fixture.is_dir() {
            return Err(Failure::new(
                format!("the fixture folder `{}` does not exist", fixture.display()),
                "give `--fixture` an existing folder",
            ));
        }
        let Target::Stdio { args, env, cwd, .. } = &mut server.target else { return Ok(server) };
        let real = fixture.canonicalize().ok().map(|path| path.to_string_lossy().into_owned());
        for arg in args.iter_mut() {
            if Path::new(arg) == fixture
                || real.is_some() && Path::new(arg).canonicalize().ok() == fixture.canonicalize().ok()
            {
                FIXTURE.clone_into(arg);
            } else if let Some(real) = &real {
                *arg = arg.replace(real.as_str(), FIXTURE);
            }
        }
        let texts = args.iter().chain(env.iter().map(|(_, value)| value)).chain(cwd.iter());
        if self.include_writes && !texts.into_iter().any(|text| text.contains(FIXTURE)) {
            return Err(Failure::new(
                "the server is not told of the fixture folder, so its tools would write somewhere else",
                "write `{{fixture}}` where the server takes its folder, or leave out `--fixture`",
            ));
        }
        Ok(server)
    }

    /// The sandbox of the server.
    pub(crate) fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Whether a server was named at all.
    pub(crate) fn is_named(&self) -> bool {
        self.subject.is_named()
    }

    /// Takes a server that was named later.
    pub(crate) fn set_server(&mut self, command: String) {
        self.subject.set_server(command);
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(CALL)
    }

    /// The folder that was copied.
    pub(crate) fn fixture(&self) -> Option<&Path> {
        self.fixture.as_deref()
    }
}

/// What the flags of a scan allow it to call.
pub(crate) fn consent(include_writes: bool, read_only: bool) -> Consent {
    match (include_writes, read_only) {
        (true, _) => Consent::IncludeWrites,
        (false, true) => Consent::ReadOnly,
        (false, false) => Consent::Cautious,
    }
}

/// The failure where the user did not want the calls.
pub(crate) fn declined() -> Failure {
    Failure::NothingSelected {
        message: "no tool was called, as you decided".to_owned(),
        help: "`--read-only` calls only tools that say that they only read; `--yes` does not ask".to_owned(),
    }
}

/// The failure where a server has no tool of a name, or none at all.
pub(crate) fn no_such_tool(wanted: Option<&str>, listed: &[String]) -> Failure {
    let listed = || listed.iter().map(String::as_str);
    let help = match wanted.and_then(|name| nearest(name, listed())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if listed().next().is_none() => "`mcprove doctor` says what it offers".to_owned(),
        None => format!("it has {}", shorten(&listed().collect::<Vec<_>>().join(", "), 300)),
    };
    let message = match wanted {
        Some(name) => format!("the server has no tool `{name}`"),
        None => "the server has no tools".to_owned(),
    };
    Failure::NothingSelected { message, help }
}

/// Creates an event log, and says what people call it.
pub(crate) fn create_log(path: &Path) -> Result<(String, File), Failure> {
    let shown = path.display().to_string();
    match File::create(path) {
        Ok(file) => Ok((shown, file)),
        Err(error) => {
            Err(Failure::new(format!("the event log `{shown}` could not be created: {error}"), "give another path"))
        }
    }
}
