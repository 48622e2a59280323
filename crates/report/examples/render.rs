//! Renders an event log without a run: `cargo run -p mcprove-report --example render -- html < run.ndjson > report.html`.
//!
//! For work on the formats and for measuring them; people use `mcprove report`.

use std::error::Error;
use std::io::{self, Write as _};

use mcprove_model::Report;
use mcprove_report::{Events, Format, Terminal, TerminalOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "terminal".to_owned());
    let events = Events::new(io::stdin().lock());
    let mut out = io::stdout().lock();
    if name == "terminal" {
        let mut terminal = Terminal::new(out, TerminalOptions { color: true, ..TerminalOptions::default() });
        for event in events {
            terminal.event(&event?)?;
        }
        return Ok(());
    }
    let format = Format::find(&name).ok_or_else(|| format!("no format is called `{name}`"))?;
    let mut report = Report::default();
    for event in events {
        report.add(event?);
    }
    out.write_all((format.render)(&report).as_bytes())?;
    Ok(())
}
