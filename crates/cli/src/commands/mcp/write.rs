//! `write_test`: a test is stored only if it loads, and if it starts nothing that a person did not name.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use mcprove_model::Case;
use serde_json::{Value, json};

use super::commands;
use super::reads::{self, Allowed};
use super::servers::Refusal;
use super::tools::{Arguments, Inner};
use crate::commands::drive::rendered;
use crate::suites::load_as_written;

impl Inner {
    /// Writes a test that loads, and that starts nothing but servers that are known.
    pub(super) fn write_test(&self, arguments: &Arguments) -> Result<Value, String> {
        let (shown, content) = (arguments.required("path")?, arguments.required("content")?);
        let path = self.folder.writable(shown)?;
        if path.exists() && !arguments.flag("overwrite") {
            return Err(format!("`{shown}` exists; `overwrite: true` replaces it"));
        }
        if let Some(importer) = self.folder.importer_of(&path) {
            return Err(format!(
                "`{shown}` is imported by `{}`, which may use servers that this file names; write another file, or ask a person to \
                 change it",
                self.folder.shown(&importer)
            ));
        }
        let parent = path.parent().unwrap_or_else(|| Path::new("."));
        let made: Vec<&Path> = parent.ancestors().take_while(|folder| !folder.exists()).collect();
        let stored = self.store(shown, content, &path, parent);
        if stored.is_err() {
            // The deepest is first; one that something else was written to stays.
            for folder in made {
                drop(fs::remove_dir(folder));
            }
        }
        stored
    }

    fn store(&self, shown: &str, content: &str, path: &Path, parent: &Path) -> Result<Value, String> {
        let failed = |error: std::io::Error| format!("`{shown}` could not be written: {error}");
        fs::create_dir_all(parent).map_err(failed)?;
        // It is loaded from a file next to its place, because paths in it are relative to that.
        let variables = reads::variables_of(&self.servers.files());
        reads::of_file(
            shown,
            content,
            &Allowed { root: self.folder.root(), folder: parent, variables: Some(&variables) },
        )?;
        let mut file =
            tempfile::Builder::new().prefix(".mcprove-").suffix(".yaml").tempfile_in(parent).map_err(failed)?;
        file.write_all(content.as_bytes()).map_err(failed)?;
        let loaded = load_as_written(&[file.path().to_owned()]);
        let named = file.path().display().to_string();
        if loaded.findings.iter().any(|finding| finding.fails(false)) {
            return Err(rendered(&loaded.findings).replace(&named, shown));
        }
        if loaded.cases.is_empty() {
            return Err("the content has no test".to_owned());
        }
        commands::of_file(shown, content)?;
        for case in &loaded.cases {
            commands::of_case(case)?;
            self.may_be_run(case)?;
        }
        let warnings = rendered(&loaded.findings).replace(&named, shown);
        file.persist(path).map_err(|error| failed(error.error))?;
        let next = format!("`run_suite` with `path: {shown}`");
        Ok(json!({"path": shown, "tests": loaded.cases.len(), "warnings": warnings, "next": next}))
    }

    /// Refuses a test of a server that only its writer named.
    fn may_be_run(&self, case: &Case) -> Result<(), String> {
        for server in case.servers() {
            let Some(refusal) = self.servers.refusal(server) else { continue };
            let label = server.target.label();
            return Err(match refusal {
                Refusal::Unknown => format!(
                    "`{label}` is no server that a suite or a configuration names; `list_servers` lists them, and \
                     `propose_tests` shows how each is written"
                ),
                Refusal::Variable(variable) => format!(
                    "`env` of `{label}` has `{variable}`, with a value that no suite or configuration gives it; variables decide \
                     what a program starts, so ask a person to add it"
                ),
                Refusal::Setting(key) => format!(
                    "`{key}` of `{label}` differs from that of the suite or configuration that names the server; it decides what \
                     is sent where and what a server may do, so ask a person to change it"
                ),
            });
        }
        Ok(())
    }
}
