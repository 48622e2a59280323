//! The folder that tools work on during a tour: a copy, looked at after each call and put back as it was.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use mcprove_judge::generate::Places;
use mcprove_judge::harm::HarmGuard;
use mcprove_judge::tool_effect::ToolEffect;
use mcprove_model::{Observation, Outcome, ServerSpec};
use mcprove_suite::template::{FIXTURE, Variables};
use mcprove_wire::{Guard, TEMPORARY, remove_folder};
use serde_json::Value;
use tempfile::TempDir;

use crate::fixture::FixtureCopy;

/// Replacement for the path of the copy in all output of a scan.
const TEMPLATE: &str = "{{fixture}}";

/// A path that no machine has: it replaces the scratch folder in all output of a scan.
pub const NOWHERE: &str = "/nonexistent";

/// The scratch folder in inputs that are planned before there is one.
pub(crate) const SCRATCH: &str = "/nonexistent/mcprove-scratch";

/// A planned input as it is written to files: the scratch folder is a path that no machine has.
pub(crate) fn written(value: &Value) -> Value {
    with_template(value, SCRATCH, NOWHERE)
}

/// A private folder for paths that are made up; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    path: String,
    /// Removes the folder if we are killed before we can.
    _guard: Guard,
}

impl Scratch {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(&format!("{TEMPORARY}scratch-")).tempdir()?;
        let guard = Guard::folder(folder.path());
        let path = folder.path().canonicalize()?.to_string_lossy().into_owned();
        Ok(Self { folder, path, _guard: guard })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The server with the folder among those it may write to.
    pub(crate) fn writable_for(&self, server: &ServerSpec) -> ServerSpec {
        let mut server = server.clone();
        if let Some(sandbox) = &mut server.sandbox {
            sandbox.writable.push(self.path.clone());
        }
        server
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Folders that were made unwritable must go as well; the temporary folder's own drop would leave them.
        let _ = remove_folder(self.folder.path());
    }
}

/// A copy of the fixture, or nothing when there is none, and a scratch folder.
#[derive(Debug)]
pub(crate) struct FixtureGuard {
    copy: Option<Copy>,
    scratch: Scratch,
    variables: Variables,
}

#[derive(Debug)]
struct Copy {
    original: PathBuf,
    fixture: FixtureCopy,
    path: String,
    state: FolderState,
}

impl FixtureGuard {
    pub(crate) fn new(original: Option<&Path>) -> io::Result<Self> {
        let mut variables = Variables::default();
        let scratch = Scratch::new()?;
        let Some(original) = original else { return Ok(Self { copy: None, scratch, variables }) };
        let fixture = FixtureCopy::make(original)?;
        let path = fixture.path().to_string_lossy().into_owned();
        variables.set(FIXTURE, Value::String(path.clone()));
        let state = FolderState::read(fixture.path())?;
        let copy = Copy { original: original.to_owned(), fixture, path, state };
        Ok(Self { copy: Some(copy), scratch, variables })
    }

    /// The server with the scratch folder among those it may write to.
    pub(crate) fn writable_for(&self, server: &ServerSpec) -> ServerSpec {
        self.scratch.writable_for(server)
    }

    /// Guard for the inputs that may be sent to a tool.
    pub(crate) fn guard(&self, tool: &Value, effect: &ToolEffect, given: &[Value]) -> HarmGuard {
        let guard = HarmGuard::new(tool, effect, self.scratch.path()).with_given(given);
        match &self.copy {
            Some(copy) => guard.with_fixture(&copy.path),
            None => guard,
        }
    }

    /// The copy of the fixture.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.copy.as_ref().map(|copy| copy.path.as_str())
    }

    /// Folder of made-up paths.
    pub(crate) fn scratch(&self) -> &str {
        self.scratch.path()
    }

    /// Variables for the server's description.
    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Paths that inputs may name; `None` without a fixture.
    pub(crate) fn places(&self) -> Option<Places> {
        let copy = self.copy.as_ref()?;
        let files = || copy.state.0.iter().filter(|(_, kind)| matches!(kind, Entry::File(_, _))).map(|(path, _)| path);
        // What is hidden belongs to programs: a commit message of git is a poor example of a file.
        let is_hidden = |path: &str| path.split('/').any(|part| part.starts_with('.'));
        let file = files().find(|path| !is_hidden(path)).or_else(|| files().next());
        Some(Places {
            file: file.map(|path| format!("{}/{path}", copy.path)),
            folder: copy.path.clone(),
            fresh: format!("{}/made-by-mcprove", copy.path),
        })
    }

    /// Restores the copy and lists the changes since it was made.
    pub(crate) fn restore(&self) -> io::Result<Vec<String>> {
        let Some(copy) = &self.copy else { return Ok(Vec::new()) };
        let changes = copy.state.changes(&FolderState::read(copy.fixture.path()).unwrap_or_default());
        if !changes.is_empty() {
            copy.fixture.renew(&copy.original)?;
        }
        Ok(changes)
    }

    /// The same paths with `{{fixture}}` in the place of the copy.
    pub(crate) fn places_as_templates(&self) -> Option<Places> {
        let (places, copy) = (self.places()?, self.copy.as_ref()?);
        let template = |path: &str| path.replace(&copy.path, TEMPLATE);
        Some(Places {
            file: places.file.as_deref().map(template),
            folder: template(&places.folder),
            fresh: template(&places.fresh),
        })
    }

    /// A planned input with the paths of this machine in the place of its templates.
    pub(crate) fn filled(&self, value: &Value) -> Value {
        let value = with_template(value, SCRATCH, self.scratch.path());
        match &self.copy {
            Some(copy) => with_template(&value, TEMPLATE, &copy.path),
            None => value,
        }
    }

    /// A value with `{{fixture}}` in the place of the copy's path.
    pub(crate) fn as_template(&self, value: &Value) -> Value {
        let value = with_template(value, self.scratch.path(), NOWHERE);
        match &self.copy {
            Some(copy) => with_template(&value, &copy.path, TEMPLATE),
            None => value,
        }
    }

    /// An answer of a tool with `{{fixture}}` in the place of the copy's path.
    pub(crate) fn seen_as_template(&self, seen: Observation) -> Observation {
        match &seen.outcome {
            Outcome::Result(result) => Observation::of_tool_call(Outcome::Result(self.as_template(result))),
            _ => seen,
        }
    }
}

pub(crate) fn with_template(value: &Value, path: &str, template: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(path, template)),
        Value::Array(items) => Value::Array(items.iter().map(|item| with_template(item, path, template)).collect()),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, item)| (key.clone(), with_template(item, path, template))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Everything in a folder, by its path below it.
#[derive(Debug, Default, PartialEq, Eq)]
struct FolderState(BTreeMap<String, Entry>);

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder,
    /// Its length and a hash of its content: fixtures may be large.
    File(u64, u64),
    Other,
}

/// More than this of a file is not looked at: a server can make one of a terabyte with a single call.
const LOOKED_AT: u64 = 64 << 20;

fn file(path: &Path) -> io::Result<Entry> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut hasher = DefaultHasher::new();
    let mut rest = file.take(LOOKED_AT);
    let mut part = vec![0; 64 << 10];
    loop {
        let count = rest.read(&mut part)?;
        if count == 0 {
            return Ok(Entry::File(length, hasher.finish()));
        }
        hasher.write(&part[..count]);
    }
}

impl FolderState {
    fn read(folder: &Path) -> io::Result<Self> {
        let mut found = BTreeMap::new();
        let mut open = vec![folder.to_owned()];
        while let Some(next) = open.pop() {
            for entry in fs::read_dir(&next)? {
                let entry = entry?;
                let path = entry.path();
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
                let kind = entry.file_type()?;
                let state = if kind.is_dir() {
                    open.push(path);
                    Entry::Folder
                } else if kind.is_file() {
                    file(&path)?
                } else {
                    Entry::Other
                };
                found.insert(name, state);
            }
        }
        Ok(Self(found))
    }

    /// Differences to a later state, one line each.
    fn changes(&self, later: &Self) -> Vec<String> {
        let gone = self.0.keys().filter(|path| !later.0.contains_key(*path)).map(|path| format!("removed {path}"));
        let changed = later.0.iter().filter_map(|(path, state)| match self.0.get(path) {
            None => Some(format!("created {path}")),
            Some(before) if before != state => Some(format!("changed {path}")),
            Some(_) => None,
        });
        gone.chain(changed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_tool_did_is_told_and_undone_and_the_original_never_changes() {
        let original = tempfile::tempdir().expect("a folder");
        fs::create_dir(original.path().join("sub")).expect("a subfolder");
        fs::write(original.path().join("sub/a.txt"), "a").expect("a file");
        fs::write(original.path().join("b.txt"), "b").expect("a file");
        let fixture_guard = FixtureGuard::new(Some(original.path())).expect("a copy");
        let places = fixture_guard.places().expect("places");
        assert!(places.file.as_ref().is_some_and(|file| file.ends_with("/b.txt")));
        assert_eq!(fixture_guard.restore().expect("fine"), Vec::<String>::new());

        fs::write(places.fresh.clone(), "new").expect("written");
        fs::remove_file(format!("{}/b.txt", places.folder)).expect("removed");
        fs::write(format!("{}/sub/a.txt", places.folder), "changed").expect("written");
        let changes = fixture_guard.restore().expect("put back");
        assert_eq!(changes, ["removed b.txt", "created made-by-mcprove", "changed sub/a.txt"]);
        assert_eq!(fixture_guard.restore().expect("fine"), Vec::<String>::new());
        assert_eq!(fs::read(original.path().join("sub/a.txt")).expect("read"), b"a");

        let path = format!("{}/sub/a.txt", places.folder);
        assert_eq!(fixture_guard.as_template(&json!({"p": [path]})), json!({"p": ["{{fixture}}/sub/a.txt"]}));
    }

    #[test]
    fn without_a_fixture_nothing_is_looked_at() {
        let fixture_guard = FixtureGuard::new(None).expect("nothing to copy");
        assert_eq!(fixture_guard.places(), None);
        assert_eq!(fixture_guard.restore().expect("fine"), Vec::<String>::new());
    }
}
