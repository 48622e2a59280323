//! `fuzz-memory [CALLS]`: fuzzes the built-in mock over an in-memory connection, on one thread, and says how fast.
//! Planning, judging and the mock's own work are all in it.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcprove_engine::{
    Consent, FuzzScan, InfoOptions, PlanOptions, Progress, RunOptions, ScanKind, ScanOptions, ScanResult, Sink,
    Stopper, Storing, plan, plan_scan, run, server_info,
};
use mcprove_model::{Event, ServerSpec, Target};
use mcprove_wire::{Limits, Tokens};

const MANIFEST: &str = "mock_server:
  name: echo
  tools:
    - name: echo
      inputSchema: { type: object, properties: { text: { type: string } }, required: [text] }
      response: ok
";

/// Counts the calls; events are not what is measured.
struct Calls(usize);

impl Sink for Calls {
    fn event(&mut self, _: Event) {}
    fn progress(&mut self, _: &Progress<'_>) {}
    fn scanned(&mut self, _: usize, result: ScanResult) {
        if let ScanResult::Fuzz(fuzzed) = result {
            self.0 += fuzzed.calls;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs = std::env::args().nth(1).map_or(Ok(100_000), |calls| calls.parse())?;
    let folder = tempfile::tempdir()?;
    let manifest = folder.path().join("echo.yml");
    std::fs::write(&manifest, MANIFEST)?;
    let target =
        Target::Mock { manifest: manifest.to_string_lossy().into_owned(), virtual_time: false, keep_state: false };
    let server = Arc::new(ServerSpec { name: "mock".to_owned(), target, ..ServerSpec::default() });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (own_program, limits) = (Path::new(""), Limits::default());
    let tokens = Tokens::default();
    let asking =
        InfoOptions { fixture: None, own_program, timeout: TIMEOUT, probe_timeout: TIMEOUT, limits, tokens: &tokens };
    let info = runtime.block_on(server_info(&server, &asking)).map_err(|failure| failure.message)?;
    let plan = plan(&plan_scan(&server, &info.catalog, &scan(runs)).cases, &PlanOptions::default());
    let (_stopper, stop) = Stopper::pair();
    let (mut calls, began) = (Calls(0), Instant::now());
    runtime.block_on(run(&plan, options(), stop, &mut calls));
    let (calls, seconds) = (u32::try_from(calls.0)?, began.elapsed().as_secs_f64());
    writeln!(io::stdout(), "{calls} calls in {seconds:.2} s, {:.0} calls/s", f64::from(calls) / seconds)?;
    Ok(())
}

const TIMEOUT: Duration = Duration::from_secs(5);

fn scan(runs: usize) -> ScanOptions {
    let (command, call) = (String::new(), String::new());
    let fuzz = FuzzScan { runs, time: None, strict_input: false, attempts: 100, command, call };
    ScanOptions {
        kind: ScanKind::Fuzz(fuzz),
        consent: Consent::Cautious,
        tools: Vec::new(),
        given: BTreeMap::new(),
        fixture: None,
        start: TIMEOUT,
        timeout: TIMEOUT,
        seed: 1,
    }
}

fn options() -> RunOptions {
    RunOptions {
        jobs: 1,
        one_by_one: false,
        cores: 1,
        timeout: TIMEOUT,
        strict: false,
        fail_fast: false,
        keep_frames: false,
        own_program: PathBuf::new(),
        program: String::new(),
        started_unix_ms: 0,
        findings: Vec::new(),
        fix: false,
        record: false,
        no_model: false,
        probe_timeout: TIMEOUT,
        isolation: None,
        is_whole: false,
        storing: Storing::Compare,
        again: Vec::new(),
        limits: Limits::default(),
        environment: [].into(),
        prestart: false,
        tokens: Tokens::default(),
    }
}
