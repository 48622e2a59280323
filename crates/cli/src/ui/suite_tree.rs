//! The suites of the page: their tests before anything runs, and a number that changes when one of their files does.

use std::path::PathBuf;

use mcprove_model::Case;
use serde_json::{Value, json};

use crate::changes::Dependencies;
use crate::suites::{default_paths, load_as_written};

/// The suites that the page watches.
#[derive(Default)]
pub(super) struct Watched {
    paths: Vec<PathBuf>,
    dependencies: Dependencies,
}

impl Watched {
    /// The tests of suites, or only the stamp where it is the one that the page knows.
    pub(super) fn tests(&mut self, given: &Value) -> Value {
        let named = given.get("paths").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut paths: Vec<PathBuf> = named.filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        if paths.is_empty() {
            paths.extend(default_paths().ok());
        }
        let stamp = self.dependencies.stamp().to_string();
        if paths == self.paths && given.get("stamp").and_then(Value::as_str) == Some(&stamp) {
            return json!({"stamp": stamp});
        }
        let loaded = load_as_written(&paths);
        self.dependencies = Dependencies::of(&paths, &loaded.cases, &[]);
        self.paths = paths;
        let tests: Vec<Value> = loaded.cases.iter().map(|case| test_of(case)).collect();
        json!({
            "stamp": self.dependencies.stamp().to_string(),
            "paths": self.paths,
            "tests": tests,
            "findings": loaded.findings,
        })
    }
}

fn test_of(case: &Case) -> Value {
    json!({
        "name": case.name,
        "file": case.source.path(),
        "line": case.source.position(case.span.start).line,
        "tags": case.tags,
        "server": case.server.as_ref().map(|server| &server.name),
        "is_skipped": case.skip.is_some(),
    })
}
