//! `fuzz-memory [CALLS]`: fuzzes the built-in mock over an in-memory connection, on one thread, and says how fast.
//! Planning, judging and the mock's own work are all in it.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use mcprove_engine::{Consent, FuzzOptions, Progress, Sink, Stopper, fuzz};
use mcprove_model::{Event, ServerSpec, Target};
use mcprove_wire::Limits;

const MANIFEST: &str = "mock_server:
  name: echo
  tools:
    - name: echo
      inputSchema: { type: object, properties: { text: { type: string } }, required: [text] }
      response: ok
";

/// Nobody listens: what is told is not what is measured.
struct Nobody;

impl Sink for Nobody {
    fn event(&mut self, _: Event) {}
    fn progress(&mut self, _: &Progress<'_>) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().nth(1).map_or(Ok(100_000), |calls| calls.parse())?;
    let folder = tempfile::tempdir()?;
    let manifest = folder.path().join("echo.yml");
    std::fs::write(&manifest, MANIFEST)?;
    let target = Target::Mock { manifest: manifest.to_string_lossy().into_owned(), virtual_time: false };
    let server = ServerSpec { name: "mock".to_owned(), target, ..ServerSpec::default() };
    let options = FuzzOptions {
        consent: Consent::Cautious,
        tools: Vec::new(),
        runs,
        time: None,
        jobs: 1,
        seed: 1,
        given: BTreeMap::new(),
        start: Duration::from_secs(5),
        timeout: Duration::from_secs(5),
        strict_input: false,
        environment: [].into(),
        attempts: 100,
        keep_frames: false,
        command: String::new(),
        own_program: PathBuf::new(),
        program: String::new(),
        started_unix_ms: 0,
        limits: Limits::default(),
    };
    let (_stopper, stop) = Stopper::pair();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = runtime.block_on(fuzz(&server, &options, &stop, &mut Nobody)).map_err(|failure| failure.message)?;
    let run = run.ok_or("the run was stopped")?;
    let calls = u32::try_from(run.calls)?;
    let seconds = run.elapsed.as_secs_f64();
    writeln!(io::stdout(), "{calls} calls in {seconds:.2} s, {:.0} calls/s", f64::from(calls) / seconds)?;
    Ok(())
}
