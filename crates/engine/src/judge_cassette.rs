//! Replies of judges, recorded next to their suites and played again: `cassettes/STEM.judges.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mcprove_model::{Case, FNV_START, Question, Redactor, fnv1a};
use mcprove_suite::load::bounded_read;
use serde::{Deserialize, Serialize};

use crate::agent::{FOLDER, write_cassette};

/// The recordings of a run, each read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgeCassettes {
    files: Arc<Mutex<BTreeMap<PathBuf, Replies>>>,
}

/// The replies of one file, by the judge's model and what it was asked.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Replies {
    replies: BTreeMap<String, String>,
}

impl JudgeCassettes {
    /// The recorded reply to a question.
    pub(crate) fn find(&self, case: &Case, key: &str) -> Option<String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = path_of(case);
        let replies = files.entry(path.clone()).or_insert_with(|| read(&path));
        replies.replies.get(key).cloned()
    }

    /// Records a reply; what was recorded before stays.
    pub(crate) fn store(&self, case: &Case, key: String, reply: &str, tokens: &[String]) -> Result<(), String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let path = path_of(case);
        let replies = files.entry(path.clone()).or_insert_with(|| read(&path));
        let secrets = case.servers().flat_map(|server| server.secrets.iter()).chain(tokens).map(String::as_str);
        replies.replies.insert(key, Redactor::new(secrets).text(reply).into_owned());
        write_cassette(&path, replies)
            .map_err(|error| format!("the cassette `{}` could not be written: {error}", path.display()))
    }
}

/// The key of a question: who is asked, and a hash of everything that is asked.
pub(crate) fn key_of(model: &str, question: &Question, prompt: &str) -> String {
    let hash = fnv1a(FNV_START, prompt.bytes().chain(question.sample.to_string().bytes()));
    format!("{model} {hash:016x}")
}

fn path_of(case: &Case) -> PathBuf {
    let suite = Path::new(case.source.path());
    let stem = suite.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    suite.parent().unwrap_or(Path::new("")).join(FOLDER).join(format!("{stem}.judges.json"))
}

fn read(path: &Path) -> Replies {
    bounded_read::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
