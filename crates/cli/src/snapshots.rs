//! Snapshot files: compared with new replies, and written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_engine::snapshot_path;
use mcprove_judge::snapshot::{SnapshotFile, difference};
use mcprove_model::{Case, CaseReport, Report, Snapshot, SnapshotKind, Verdict};
use mcprove_suite::load::bounded_read;

use crate::atomic_write;
use crate::failure::Failure;

/// Status of a stored reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// It is not stored yet.
    New,
    /// It is not what is stored; the diff shows how.
    Changed(String),
    /// It is what is stored.
    Match,
    /// It is stored, but no case of the file has this name.
    Obsolete,
    /// The case was not called, and why.
    Skipped(String),
    /// No reply came, and why; true where the server could not even be reached.
    Error(String, bool),
}

impl Status {
    /// The word in the list.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::New => "NEW",
            Self::Changed(_) => "CHANGED",
            Self::Match => "MATCH",
            Self::Obsolete => "OBSOLETE",
            Self::Skipped(_) => "SKIP",
            Self::Error(_, _) => "ERROR",
        }
    }
}

/// One stored reply, or one that is not stored yet.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The case's name.
    pub(crate) name: String,
    /// The snapshot file.
    pub(crate) file: PathBuf,
    /// Its status.
    pub(crate) status: Status,
}

/// All stored replies, and the files as they should be.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// In the order of the cases; what is obsolete comes after the cases of its file.
    pub(crate) judged: Vec<Judged>,
    files: BTreeMap<PathBuf, (SnapshotFile, SnapshotFile)>,
}

/// Compares what a run took down with what is stored. `cases` are all there are, also those that were not selected.
pub(crate) fn judge(cases: &[Arc<Case>], report: &Report) -> Result<Judgement, Failure> {
    let mut judgement = Judgement::default();
    let mut names: BTreeMap<PathBuf, BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        let path = snapshot_path(Path::new(case.source.path()));
        judgement.open(&path)?;
        names.entry(path).or_default().insert(&case.name);
    }
    let mut files: Vec<PathBuf> = Vec::new();
    for case in &report.cases {
        let path = snapshot_path(Path::new(&case.started.file));
        judgement.open(&path)?;
        judgement.case(case, &path);
        if !files.contains(&path) {
            files.push(path);
        }
    }
    for path in files {
        let known = names.remove(&path).unwrap_or_default();
        judgement.obsolete(&path, |name| known.contains(name));
    }
    for path in orphans(cases) {
        judgement.open(&path)?;
        judgement.obsolete(&path, |_| false);
    }
    Ok(judgement)
}

impl Judgement {
    /// Writes the files as they should be; one that holds nothing any more is removed.
    pub(crate) fn store(&self) -> Result<(), Failure> {
        for (path, (before, after)) in &self.files {
            if before != after {
                write(path, after)?;
            }
        }
        Ok(())
    }

    /// Number of replies with this word.
    pub(crate) fn count(&self, word: &str) -> usize {
        self.judged.iter().filter(|judged| judged.status.word() == word).count()
    }

    fn open(&mut self, path: &Path) -> Result<(), Failure> {
        if !self.files.contains_key(path) {
            let file = read(path)?;
            self.files.insert(path.to_owned(), (file.clone(), file));
        }
        Ok(())
    }

    fn case(&mut self, case: &CaseReport, path: &Path) {
        let name = &case.started.name;
        let Some((before, after)) = self.files.get_mut(path) else { return };
        let Some(finished) = &case.finished else { return };
        let taken = finished.snapshots.iter().find(|snapshot| snapshot.kind == SnapshotKind::Case);
        let status = match (&finished.verdict, taken) {
            (Verdict::Skipped { reason }, _) => Status::Skipped(reason.clone()),
            (_, Some(snapshot)) => {
                after.set(snapshot.clone());
                match before.get(SnapshotKind::Case, name) {
                    None => Status::New,
                    Some(stored) if stored == snapshot.text => Status::Match,
                    Some(stored) => Status::Changed(difference(stored, &snapshot.text)),
                }
            }
            (verdict, None) => {
                let first = finished.findings.first().map(|finding| finding.message.clone());
                let reason = first.unwrap_or_else(|| "there is no reply to store".to_owned());
                Status::Error(reason, *verdict == Verdict::Error)
            }
        };
        self.judged.push(Judged { name: name.clone(), file: path.to_owned(), status });
    }

    fn obsolete(&mut self, path: &Path, is_known: impl Fn(&str) -> bool) {
        let Some((before, after)) = self.files.get_mut(path) else { return };
        let is_gone = |section: &Snapshot| section.kind == SnapshotKind::Case && !is_known(&section.name);
        for section in before.sections.iter().filter(|section| is_gone(section)) {
            let judged = Judged { name: section.name.clone(), file: path.to_owned(), status: Status::Obsolete };
            self.judged.push(judged);
        }
        after.sections.retain(|section| !is_gone(section));
    }
}

/// Stores the values that the checks of a run named, and says what was written.
pub(crate) fn store_values(report: &Report) -> Result<Vec<String>, Failure> {
    let mut files: BTreeMap<PathBuf, SnapshotFile> = BTreeMap::new();
    let mut stored: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut by_name: BTreeMap<(PathBuf, &str), (&str, &str)> = BTreeMap::new();
    for case in &report.cases {
        let values = case.finished.iter().flat_map(|finished| &finished.snapshots);
        for value in values.filter(|value| value.kind == SnapshotKind::Value) {
            let path = snapshot_path(Path::new(&case.started.file));
            let (name, text) = (case.started.name.as_str(), value.text.as_str());
            let (first, known) = *by_name.entry((path.clone(), &value.name)).or_insert((name, text));
            if known != text {
                let message = format!("`{first}` and `{name}` want to store different values as `{}`", value.name);
                return Err(Failure::new(message, "give each a name of its own; nothing was stored"));
            }
            if !files.contains_key(&path) {
                files.insert(path.clone(), read(&path)?);
            }
            if let Some(file) = files.get_mut(&path) {
                file.set(value.clone());
                *stored.entry(path).or_default() += 1;
            }
        }
    }
    let mut lines = Vec::new();
    for (path, file) in &files {
        write(path, file)?;
        let count = stored.get(path).copied().unwrap_or_default();
        let values = if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
        lines.push(format!("stored {values} in {}", path.display()));
    }
    Ok(lines)
}

/// Snapshot files whose suite file is gone, in the folders of these cases.
fn orphans(cases: &[Arc<Case>]) -> Vec<PathBuf> {
    let known: BTreeSet<PathBuf> = cases.iter().map(|case| snapshot_path(Path::new(case.source.path()))).collect();
    let folders: BTreeSet<&Path> = known.iter().filter_map(|path| path.parent()).collect();
    let mut orphans = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_snapshot = path.extension().is_some_and(|extension| extension == "snap");
            let suite = |extension: &str| {
                let stem = path.file_stem().map(|stem| Path::new(stem).to_owned()).unwrap_or_default();
                let mut name = stem.into_os_string();
                name.push(extension);
                folder.with_file_name(name).exists()
            };
            // A suite that was not named today still has its snapshots.
            if is_snapshot && !known.contains(&path) && !suite(".yaml") && !suite(".yml") {
                orphans.push(path);
            }
        }
    }
    orphans.sort();
    orphans
}

fn read(path: &Path) -> Result<SnapshotFile, Failure> {
    match bounded_read::read_to_string(path) {
        Ok(text) => SnapshotFile::parse(&text).map_err(|error| {
            let message = format!("`{}`, {error}", path.display());
            Failure::new(message, "fix the file, or remove it and store the replies again with `--update`")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(SnapshotFile::default()),
        Err(error) => {
            Err(Failure::new(format!("`{}` could not be read: {error}", path.display()), "look at its permissions"))
        }
    }
}

/// The folder that the folder of snapshots is in, which no link may lead out of.
pub(crate) fn above(path: &Path) -> &Path {
    path.parent().and_then(Path::parent).unwrap_or_else(|| Path::new(""))
}

fn write(path: &Path, file: &SnapshotFile) -> Result<(), Failure> {
    let written = if file.sections.is_empty() {
        fs::remove_file(path).or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    } else {
        atomic_write::write_within(above(path), path, file.write().as_bytes())
    };
    written.map_err(|error| {
        Failure::new(format!("`{}` could not be written: {error}", path.display()), "look at its permissions")
    })
}
