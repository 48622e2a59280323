//! Files that are played as servers: manifests of mocks, and recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mcprove_mock::{Mock, MockOptions, Offer};
use mcprove_model::{Finding, Place};
use mcprove_suite::load::PlayedFile;
use mcprove_wire::{Closing, Limits, OpenFailure, Stage, Transport};

use crate::virtual_time::VirtualTime;

/// Findings about the files that suites play as servers, each file checked once; reported before anything runs.
pub fn problems_of_played(files: &[PlayedFile]) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| seen.insert(&file.path)) {
        let problems = mcprove_mock::load(&file.path).1;
        if is_outside(file) && problems.iter().any(|finding| finding.place.is_some()) {
            let message = format!(
                "`{}` cannot be played: it has {} problems, which are not shown because it is outside the suite's folder",
                file.path.display(),
                problems.len()
            );
            let finding = Finding::error("outside-folder", message).at(file.place.clone());
            findings.push(finding.help("move it into the folder of the suite to see them"));
            continue;
        }
        for mut finding in problems {
            if finding.place.is_none() {
                finding.place = Some(Place::Text(file.place.clone()));
                if finding.rule == "unreadable-file" {
                    finding.help = Some("fix the path; it is relative to the folder of the suite".to_owned());
                }
            }
            findings.push(finding);
        }
    }
    findings
}

/// True if a file is not in the folder of the suite that names it: it may be anything, and is not quoted.
fn is_outside(file: &PlayedFile) -> bool {
    let suite = Path::new(&file.place.file)
        .parent()
        .map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    match (file.path.canonicalize(), suite.and_then(|folder| folder.canonicalize().ok())) {
        (Ok(path), Some(folder)) => !path.starts_with(folder),
        _ => false,
    }
}

/// The offer of a file, or the finding about it.
type Read = Result<Offer, Option<Box<Finding>>>;

/// The files of a run, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct MockFiles {
    read: Arc<Mutex<BTreeMap<String, Read>>>,
    /// The servers that all sessions share, by their file.
    kept: Arc<Mutex<BTreeMap<String, Mock>>>,
}

/// The way a file is played.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlayOptions {
    /// True if delays take no time.
    pub(crate) virtual_time: bool,
    /// True if all sessions share one server.
    pub(crate) keep_state: bool,
}

impl MockFiles {
    /// A server made of a file: each session gets one of its own, as it would get a process, unless one is kept for all.
    pub(crate) fn connect(
        &self,
        file: &str,
        play: PlayOptions,
        limits: &Limits,
    ) -> Result<Transport, Box<OpenFailure>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let offer = read.entry(file.to_owned()).or_insert_with(|| {
            let (offer, findings) = mcprove_mock::load(Path::new(file));
            let error = findings.into_iter().find(|finding| finding.severity.fails());
            match (offer, error) {
                (Some(offer), None) => Ok(offer),
                (_, error) => Err(error.map(Box::new)),
            }
        });
        match offer {
            Ok(offer) => {
                let mut options = MockOptions::default();
                if play.virtual_time {
                    options.clock = Arc::new(VirtualTime::default());
                }
                if !play.keep_state {
                    return Ok(Mock::new(offer.clone(), options).connect(limits));
                }
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                let mock = kept.entry(file.to_owned()).or_insert_with(|| Mock::new(offer.clone(), options));
                Ok(mock.connect(limits))
            }
            Err(error) => Err(Box::new(not_playable(error.as_deref(), file))),
        }
    }
}

fn not_playable(error: Option<&Finding>, file: &str) -> OpenFailure {
    OpenFailure {
        stage: Stage::Start,
        message: error.map_or_else(|| format!("`{file}` cannot be played"), |error| error.message.clone()),
        help: error.and_then(|error| error.help.clone()),
        evidence: None,
        status: None,
        again: None,
        closing: Closing::default(),
    }
}
