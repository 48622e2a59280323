//! Which suites a command is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_engine::{override_servers, problems_of_played};
use mcprove_model::{Finding, Matrix, NewServer, Override, Place, Redactor, Target, some_of};
use mcprove_suite::load::{LoadOptions, Loaded, ServerOverride, is_settings_file, load};

use crate::context::Context;
use crate::env_files::KnownVariables;
use crate::failure::Failure;
use crate::subject::Subject;

/// Where suites are looked for when none is named.
pub(crate) const DEFAULT_SUITES: &[&str] = &["mcprove.yaml", "mcprove.yml", "mcptest.yaml", "mcptest.yml", "evals"];

/// Which suites a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Suites {
    /// Suite files or folders [default: mcprove.yaml, mcptest.yaml or evals/].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// One more suite folder or file.
    #[arg(long, value_name = "DIR", visible_alias = "config")]
    suite: Vec<PathBuf>,
    /// A folder copied for each case; `{{fixture}}` is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
    /// Read variables that are not set from this file (lines of `NAME=value`); may be repeated.
    #[arg(long, value_name = "FILE")]
    env_file: Vec<PathBuf>,
    /// Variables that a command sets itself.
    #[arg(skip)]
    variables: Vec<(String, String)>,
}

/// Attendance of a run; in an unattended one, a test with `only` is a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// As the environment says.
    Perhaps,
    /// Unattended.
    No,
}

/// Loads files with the caller's environment and nothing else: no other server, no other fixture.
pub(crate) fn load_as_written(paths: &[PathBuf]) -> Loaded {
    let names = Context::variable_names();
    let options = LoadOptions {
        environment: &|name| Context::variable(name),
        known_variables: &names,
        fixture: None,
        server: None,
        ci: false,
    };
    load(paths, &options)
}

impl Suites {
    /// The suite at a path.
    pub(crate) fn at(path: &Path, fixture: Option<&Path>) -> Self {
        Self {
            paths: vec![path.to_owned()],
            suite: Vec::new(),
            fixture: fixture.map(Path::to_owned),
            env_file: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// The same with variables that win over the environment.
    pub(crate) fn with_variables(self, variables: Vec<(String, String)>) -> Self {
        Self { variables, ..self }
    }

    /// The first that was named, if any was.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.paths.iter().chain(&self.suite).map(PathBuf::as_path).next()
    }

    /// The folder that was named as fixture.
    pub(crate) fn fixture(&self) -> Option<PathBuf> {
        self.fixture.clone()
    }

    /// Loads them with the server and the revision that were named in the place of their own.
    pub(crate) fn load_for(&self, subject: &Subject) -> Result<Loaded, Failure> {
        let given = subject.replacement()?;
        let mut loaded = self.load(stand_in(&given), Watched::Perhaps)?;
        loaded.cases = override_servers(&loaded.cases, &given);
        Ok(loaded)
    }

    /// The arguments that name them.
    pub(crate) fn words(&self) -> Vec<String> {
        let paths = self.paths.iter().chain(&self.suite).map(|path| path.display().to_string());
        let flag = |name: &str, path: &PathBuf| [name.to_owned(), path.display().to_string()];
        let fixture = self.fixture.iter().flat_map(|folder| flag("--fixture", folder));
        let variables = self.env_file.iter().flat_map(|file| flag("--env-file", file));
        paths.chain(fixture).chain(variables).collect()
    }

    /// The files that variables are taken from.
    pub(crate) fn env_files(&self) -> &[PathBuf] {
        &self.env_file
    }

    /// Where they are.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, Failure> {
        let mut paths: Vec<PathBuf> = self.paths.iter().chain(&self.suite).cloned().collect();
        if paths.is_empty() {
            paths.push(default_paths()?);
        }
        Ok(paths)
    }

    /// Loads them; `server` takes the place of the servers in the files.
    pub(crate) fn load(&self, server: Option<ServerOverride>, watched: Watched) -> Result<Loaded, Failure> {
        let paths = self.paths()?;
        if let Some(fixture) = &self.fixture
            && !fixture.is_dir()
        {
            return Err(Failure::new(
                format!("the fixture folder `{}` does not exist", fixture.display()),
                "give `--fixture` an existing folder",
            ));
        }
        let variables = KnownVariables::read(&self.env_file)?.with(&self.variables);
        let mut loaded = load(
            &paths,
            &LoadOptions {
                environment: &|name| variables.get(name),
                known_variables: &variables.names(),
                fixture: self.fixture.clone(),
                server,
                ci: watched == Watched::No || Context::in_ci(),
            },
        );
        let mut problems = problems_of_played(&loaded.played);
        if !problems.is_empty() {
            let secrets = Redactor::new(loaded.secrets.iter().map(String::as_str));
            for finding in &mut problems {
                secrets.finding(finding);
            }
            loaded.findings.append(&mut problems);
        }
        Ok(loaded)
    }
}

/// The suites that are meant when none is named.
pub(crate) fn default_paths() -> Result<PathBuf, Failure> {
    let found = DEFAULT_SUITES.iter().map(Path::new).find(|path| path.exists() && !is_settings_file(path));
    found.map(Path::to_owned).ok_or_else(|| {
        Failure::new(
            format!("no suite was named, and there is no {} here", DEFAULT_SUITES.join(", no ")),
            "name a suite (`mcprove run PATH`), or begin one: `mcprove init`",
        )
    })
}

/// The warnings of a suite that can be run; one that cannot is a failure with everything that is wrong.
pub(crate) fn usable(loaded: &Loaded, strict: bool) -> Result<Vec<Finding>, Failure> {
    if loaded.findings.iter().any(|finding| finding.fails(strict)) {
        return Err(Failure::Suite(with_one_no_fixture(loaded.findings.clone())));
    }
    Ok(loaded.findings.clone())
}

/// Places of a missing fixture that are named.
const FIXTURE_PLACES: usize = 3;

/// The findings with one about a fixture that was not given: every case that needs it says the same.
fn with_one_no_fixture(findings: Vec<Finding>) -> Vec<Finding> {
    let (missing, mut others): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.rule == "no-fixture");
    let places: Vec<String> = missing
        .iter()
        .filter_map(|finding| match finding.place.as_ref()? {
            Place::Text(place) => Some(format!("{}:{}", place.file, place.line)),
            Place::Wire(_) => None,
        })
        .collect();
    let count = missing.len();
    if let Some(mut first) = missing.into_iter().next() {
        if count > 1 {
            first.message = format!("{} ({count} places: {})", first.message, some_of(places.iter(), FIXTURE_PLACES));
        }
        others.insert(0, first);
    }
    others
}

/// The server of cases that name none: the command or URL that takes the place of the others.
pub(crate) fn stand_in(given: &Override) -> Option<ServerOverride> {
    match &given.server {
        Some(NewServer::Target { target: Target::Stdio { command, args, .. }, .. }) => {
            Some(ServerOverride { command: command.clone(), args: args.clone() })
        }
        Some(NewServer::Target { target: Target::Remote { url, .. }, .. }) => {
            Some(ServerOverride { command: url.clone(), args: Vec::new() })
        }
        Some(NewServer::Target { .. } | NewServer::Described(_)) | None => None,
    }
}

/// Gives every case these columns; servers and revisions that are not named stay as the case has them.
pub(crate) fn in_columns(loaded: &mut Loaded, named: &Matrix) {
    for case in &mut loaded.cases {
        let case = Arc::make_mut(case);
        let own = case.matrix.take().map(|own| Matrix::clone(&own)).unwrap_or_default();
        let servers = if named.servers.is_empty() { own.servers } else { named.servers.clone() };
        let revisions = if named.revisions.is_empty() { own.revisions } else { named.revisions.clone() };
        let matrix = Matrix { servers, revisions };
        case.matrix = (matrix != Matrix::default()).then(|| Arc::new(matrix));
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::TextPlace;

    use super::*;

    #[test]
    fn a_missing_fixture_is_one_finding_with_three_places() {
        let finding = |line: u32| {
            let (column, end_line, end_column) = (1, line, 2);
            let place =
                TextPlace { file: "a.yaml".to_owned(), line, column, end_line, end_column, excerpt: String::new() };
            Finding::error("no-fixture", "there is none").at(place)
        };
        let other = Finding::error("unknown-key", "x");
        let all: Vec<Finding> = (1..=369).map(finding).chain([other.clone()]).collect();
        let merged = with_one_no_fixture(all);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].message, "there is none (369 places: a.yaml:1, a.yaml:2, a.yaml:3 and 366 more)");
        assert_eq!(with_one_no_fixture(vec![other.clone(), finding(7)]), [finding(7), other]);
    }
}
