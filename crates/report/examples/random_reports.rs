//! Writes reports of random event logs in every format: `random_reports COUNT FOLDER`, then `FOLDER/17.junit.xml` and so on.
//!
//! For `tests/consumers/run`, which gives them to the programs that read such files.

#[path = "../tests/random/mod.rs"]
mod random;

use std::error::Error;
use std::fs;
use std::path::Path;

use mcprove_model::Report;
use mcprove_report::FORMATS;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().ok_or("how many?")?.parse()?;
    let folder = arguments.next().ok_or("in which folder?")?;
    fs::create_dir_all(&folder)?;
    // Always the same logs, so that what fails fails again.
    let mut runner = TestRunner::deterministic();
    for number in 0..count {
        let report = Report::fold(random::run().new_tree(&mut runner).map_err(|reason| reason.to_string())?.current());
        for format in FORMATS {
            let file = format!("{number}.{}.{}", format.name, format.extension);
            fs::write(Path::new(&folder).join(file), (format.render)(&report))?;
        }
    }
    Ok(())
}
