//! Variables from files that the user names; no file is read that was not asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcprove_model::SourceFile;
use mcprove_suite::env_file;
use mcprove_suite::load::bounded_read;

use crate::context::Context;
use crate::failure::Failure;

/// Variables that suites refer to as `${NAME}`: set by a command, from the environment, or from the named files.
pub(crate) struct KnownVariables {
    set: BTreeMap<String, String>,
    of_files: BTreeMap<String, String>,
}

impl KnownVariables {
    /// Reads the files; what a later one sets wins over an earlier one.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut of_files = BTreeMap::new();
        for path in paths {
            let text = bounded_read::read_written(path).map_err(|error| {
                let help = "give `--env-file` a file of lines `NAME=value`";
                Failure::new(format!("`{}` could not be read: {error}", path.display()), help)
            })?;
            let (variables, findings) = env_file::parse(&SourceFile::new(path.display().to_string(), text));
            if !findings.is_empty() {
                return Err(Failure::Config(findings));
            }
            of_files.extend(variables);
        }
        Ok(Self { set: BTreeMap::new(), of_files })
    }

    /// Sets variables over everything else.
    pub(crate) fn with(mut self, variables: &[(String, String)]) -> Self {
        self.set.extend(variables.iter().cloned());
        self
    }

    /// The value of a variable; what is set in the environment wins over files.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let set = self.set.get(name).cloned();
        set.or_else(|| Context::variable(name)).or_else(|| self.of_files.get(name).cloned())
    }

    /// The names of all variables, for "did you mean".
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Context::variable_names();
        names.extend(self.set.keys().chain(self.of_files.keys()).cloned());
        names
    }
}
