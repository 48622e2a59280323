//! Files that are played as servers: manifests of mocks, and recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use mcprove_mock::{Mock, MockOptions, Offer};
use mcprove_model::{Finding, Place};
use mcprove_suite::load::PlayedFile;
use mcprove_wire::{Closing, Limits, OpenFailure, Stage, Transport};

use crate::virtual_time::VirtualTime;

/// What is wrong with the files that suites play as servers, each file looked at once; told before anything runs.
pub fn problems_of_played(files: &[PlayedFile]) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| seen.insert(&file.path)) {
        for mut finding in mcprove_mock::load(&file.path).1 {
            if finding.place.is_none() {
                finding.place = Some(Place::Text(file.place.clone()));
                if finding.rule == "unreadable-file" {
                    finding.help = Some("mend the path; it is relative to the folder of the suite".to_owned());
                }
            }
            findings.push(finding);
        }
    }
    findings
}

/// What a file offers, or what is wrong with it.
type Read = Result<Offer, Option<Box<Finding>>>;

/// The files of a run, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played {
    read: Arc<Mutex<BTreeMap<String, Read>>>,
}

impl Played {
    /// A server made of a file: each session gets one of its own, as it would get a process.
    pub(crate) fn connect(
        &self,
        file: &str,
        virtual_time: bool,
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
                if virtual_time {
                    options.clock = Arc::new(VirtualTime::default());
                }
                Ok(Mock::new(offer.clone(), options).connect(limits))
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
