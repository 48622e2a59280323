//! Which suites a command is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcprove_model::{Finding, ServerSpec, Target};
use mcprove_suite::load::{LoadOptions, Loaded, ServerOverride, load};

use crate::context::Context;
use crate::failure::Failure;
use crate::subject::words;

/// Where suites are looked for when none is named.
const DEFAULT_SUITES: &[&str] = &["mcprove.yml", "mcptest.yml", "evals"];

/// Which suites a command is about.
#[derive(Debug, clap::Args)]
pub(crate) struct Suites {
    /// Suite files or folders [default: mcprove.yml, mcptest.yml or evals/].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// One more suite folder or file.
    #[arg(long, value_name = "DIR", visible_alias = "config")]
    suite: Vec<PathBuf>,
    /// A folder copied for each case; `{{fixture}}` is the copy.
    #[arg(long, value_name = "DIR")]
    fixture: Option<PathBuf>,
}

impl Suites {
    /// Loads them; `server` takes the place of the servers in the files.
    pub(crate) fn load(&self, server: Option<ServerOverride>) -> Result<Loaded, Failure> {
        let mut paths: Vec<PathBuf> = self.paths.iter().chain(&self.suite).cloned().collect();
        if paths.is_empty() {
            let found = DEFAULT_SUITES.iter().map(Path::new).find(|path| path.exists());
            paths.push(found.map(Path::to_owned).ok_or_else(|| {
                Failure::new(
                    format!("no suite was named, and there is no {} here", DEFAULT_SUITES.join(", ")),
                    "name a suite (`mcprove run PATH`); a first one is in the README",
                )
            })?);
        }
        if let Some(fixture) = &self.fixture
            && !fixture.is_dir()
        {
            return Err(Failure::new(
                format!("the fixture folder `{}` does not exist", fixture.display()),
                "give `--fixture` an existing folder",
            ));
        }
        let names = Context::variable_names();
        Ok(load(
            &paths,
            &LoadOptions {
                environment: &|name| Context::variable(name),
                known_variables: &names,
                fixture: self.fixture.clone(),
                server,
                ci: Context::variable("CI").is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false")),
            },
        ))
    }
}

/// The warnings of a suite that can be run; one that cannot is a failure with everything that is wrong.
pub(crate) fn usable(loaded: &Loaded, strict: bool) -> Result<Vec<Finding>, Failure> {
    if loaded.findings.iter().any(|finding| finding.fails(strict)) {
        return Err(Failure::Suite(loaded.findings.clone()));
    }
    Ok(loaded.findings.clone())
}

/// The server of a `--server "CMD ARGS"`, split as a shell would.
pub(crate) fn server_command(text: &str) -> Result<ServerOverride, Failure> {
    let mut words = words("--server", text)?.into_iter();
    Ok(ServerOverride { command: words.next().unwrap_or_default(), args: words.collect() })
}

/// Puts another address in the place of every server; what the client offers stays as each case wants it.
pub(crate) fn at_address(loaded: &mut Loaded, target: &Target) {
    for case in &mut loaded.cases {
        Arc::make_mut(case).replace_servers(&mut |server| {
            Arc::new(ServerSpec { name: target.label(), target: target.clone(), ..ServerSpec::clone(server) })
        });
    }
}
