//! The server of a case when the command line or a matrix overrides it.

use std::sync::Arc;

use crate::{ClientCapabilities, Column, ColumnServer, Protocol, Remote, ServerSpec, Target};

/// A replacement for parts of a server. What it does not name stays: headers, environment, folder, client capabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Override {
    /// The name of the result; that of the new server, or the old name, when absent.
    pub name: Option<Arc<str>>,
    /// The new server.
    pub server: Option<NewServer>,
    /// The protocol revision to speak.
    pub protocol: Option<Protocol>,
    /// An image for servers that are started; the image that a suite names gives way.
    pub docker: Option<String>,
    /// True if servers that are started, and are in no container, run in a sandbox.
    pub sandbox: bool,
}

/// The server that takes the place of another.
#[derive(Clone, Debug, PartialEq)]
pub enum NewServer {
    /// A command or URL. The old server's environment, headers and authentication are kept; given headers win.
    Target {
        /// The command or URL, with what was given for it.
        target: Target,
        /// True if the transport was named; otherwise a URL is spoken to as the old server's URL was.
        is_transport_named: bool,
        /// Values in it that must not be shown.
        secrets: Vec<String>,
    },
    /// A server that is described as a whole. Only the answers that the case scripts for it are kept.
    Described(Arc<ServerSpec>),
}

impl NewServer {
    /// A process.
    pub fn command(command: &str, args: &[String]) -> Self {
        let (command, args) = (command.to_owned(), args.to_vec());
        let target = Target::Stdio { command, args, env: Vec::new(), cwd: None, docker: None };
        Self::Target { target, is_transport_named: false, secrets: Vec::new() }
    }

    /// A URL.
    pub fn url(url: &str) -> Self {
        let target = Target::http(url, Vec::new());
        Self::Target { target, is_transport_named: false, secrets: Vec::new() }
    }
}

impl Override {
    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The override of a matrix variant.
    pub fn of_variant(column: &Column) -> Self {
        let server = column.server.as_ref().map(|server| match server {
            ColumnServer::Command { command, args } => NewServer::command(command, args),
            ColumnServer::Url(url) => NewServer::url(url),
            ColumnServer::Described(spec) => NewServer::Described(Arc::clone(spec)),
        });
        let protocol = column.protocol.map(Protocol::Exactly);
        Self { name: Some(Arc::clone(&column.name)), server, protocol, ..Self::default() }
    }

    /// The server as it is with this override.
    #[must_use]
    pub fn apply(&self, own: &ServerSpec) -> ServerSpec {
        let mut server = match &self.server {
            Some(NewServer::Target { target, is_transport_named, secrets }) => {
                let mut server = own.clone();
                let was_started = matches!(server.target, Target::Stdio { .. });
                server.target = merged(server.target, target, *is_transport_named);
                // A process keeps the name that the suite gives it; that of another kind of server is misleading.
                if !(was_started && matches!(server.target, Target::Stdio { .. })) {
                    server.name = server.target.label();
                }
                server.secrets.extend(secrets.iter().cloned());
                // They name places in the command or URL that is gone.
                server.origins = Vec::new();
                server
            }
            Some(NewServer::Described(described)) => {
                let client = client_for(&described.client, own.client.clone());
                let accepts_any_shape = own.accepts_any_shape || described.accepts_any_shape;
                ServerSpec { client, accepts_any_shape, ..ServerSpec::clone(described) }
            }
            None => own.clone(),
        };
        if let Some(name) = &self.name {
            server.name = name.to_string();
        }
        if let Some(protocol) = self.protocol {
            server.protocol = protocol;
        }
        if let (Target::Stdio { docker, .. }, Some(image)) = (&mut server.target, &self.docker) {
            *docker = Some(image.clone());
        }
        if self.sandbox && matches!(server.target, Target::Stdio { docker: None, .. }) {
            server.sandbox.get_or_insert_default().required = true;
        }
        server
    }
}

/// The new target with what the old one keeps.
fn merged(own: Target, given: &Target, is_transport_named: bool) -> Target {
    match given.clone() {
        Target::Stdio { command, args, env, cwd, docker } => match own {
            Target::Stdio { env: own_env, cwd: own_cwd, docker: own_docker, .. } => Target::Stdio {
                command,
                args,
                env: with_variables(env, own_env),
                cwd: own_cwd.or(cwd),
                docker: own_docker.or(docker),
            },
            Target::Remote { .. } | Target::Mock { .. } | Target::Cassette { .. } => {
                Target::Stdio { command, args, env, cwd, docker }
            }
        },
        Target::Remote { transport, url, headers } => match own {
            Target::Remote { transport: own, headers: own_headers, .. } => Target::Remote {
                // A URL alone says nothing about the transport.
                transport: if is_transport_named || transport != Remote::Http { transport } else { own },
                url,
                headers: with_headers(own_headers, headers),
            },
            Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => {
                Target::Remote { transport, url, headers }
            }
        },
        played @ (Target::Mock { .. } | Target::Cassette { .. }) => played,
    }
}

/// Variables with those of the suite, which win unless they are empty.
fn with_variables(given: Vec<(String, String)>, own: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_given = |name: &str| given.iter().any(|(other, _)| other == name);
    let own: Vec<_> = own.into_iter().filter(|(name, value)| !value.is_empty() || !is_given(name)).collect();
    given.into_iter().chain(own).collect()
}

/// Headers with others, of which each replaces one of its name.
fn with_headers(mut own: Vec<(String, String)>, given: Vec<(String, String)>) -> Vec<(String, String)> {
    own.retain(|(name, _)| !given.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    own.extend(given);
    own
}

/// The client capabilities for a server of the suite: its own, and the answers that belong to the case.
fn client_for(described: &ClientCapabilities, own: ClientCapabilities) -> ClientCapabilities {
    ClientCapabilities {
        roots: described.roots.clone().or(own.roots),
        roots_changed: described.roots_changed.clone().or(own.roots_changed),
        sampling: if own.sampling.is_empty() { described.sampling.clone() } else { own.sampling },
        further_elicitations: match described.elicitation {
            Some(_) => described.further_elicitations.clone(),
            None => own.further_elicitations,
        },
        elicitation: described.elicitation.clone().or(own.elicitation),
        input_responses: own.input_responses,
        claimed: own.claimed,
        by_hand: described.by_hand || own.by_hand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Revision, SamplingReply, Sandbox};

    fn variant(server: Option<ColumnServer>, protocol: Option<Revision>) -> Override {
        Override::of_variant(&Column { name: "c".into(), server, protocol })
    }

    fn pairs() -> Vec<(String, String)> {
        vec![("K".to_owned(), "v".to_owned())]
    }

    fn http(url: &str, headers: Vec<(String, String)>) -> Target {
        Target::http(url, headers)
    }

    #[test]
    fn a_command_keeps_the_environment_and_a_url_the_headers() {
        let command = ColumnServer::Command { command: "ruby".to_owned(), args: vec!["s.rb".to_owned()] };
        let stdio = ServerSpec {
            target: Target::Stdio {
                command: "python".to_owned(),
                args: Vec::new(),
                env: pairs(),
                cwd: Some("d".to_owned()),
                docker: None,
            },
            secrets: vec!["s3cret".to_owned()],
            ..ServerSpec::default()
        };
        let remote = ServerSpec { target: http("http://a", pairs()), ..ServerSpec::default() };
        let made = variant(Some(command.clone()), None).apply(&stdio);
        assert_eq!((made.name.as_str(), made.target.label().as_str()), ("c", "ruby s.rb"));
        assert!(matches!(&made.target, Target::Stdio { env, cwd: Some(_), .. } if *env == pairs()));
        assert_eq!(made.secrets, stdio.secrets);

        let url = || Some(ColumnServer::Url("http://b".to_owned()));
        assert_eq!(variant(url(), None).apply(&stdio).target.label(), "http://b");
        assert_eq!(variant(url(), None).apply(&remote).target, http("http://b", pairs()));
        assert_eq!(variant(Some(command), None).apply(&remote).target.transport(), "stdio");
    }

    #[test]
    fn a_given_header_replaces_the_one_of_its_name_and_a_named_transport_counts() {
        let own = ServerSpec {
            target: Target::Remote { transport: Remote::Sse, url: "http://a".to_owned(), headers: pairs() },
            ..ServerSpec::default()
        };
        let given = |headers: Vec<(String, String)>, is_transport_named| {
            let server =
                NewServer::Target { target: http("http://b", headers), is_transport_named, secrets: Vec::new() };
            Override { server: Some(server), ..Override::default() }.apply(&own)
        };
        let kept = given(vec![("X".to_owned(), "1".to_owned())], false);
        assert_eq!(kept.target.transport(), "sse");
        assert!(matches!(kept.target, Target::Remote { headers, .. } if headers.len() == 2));
        let replaced = given(vec![("k".to_owned(), "2".to_owned())], true);
        assert_eq!(replaced.target, http("http://b", vec![("k".to_owned(), "2".to_owned())]));
        assert_eq!(replaced.name, "http://b");
    }

    #[test]
    fn a_server_of_the_suite_is_taken_as_described_with_the_answers_of_the_case() {
        let reply = |text: &str| SamplingReply {
            text: text.to_owned(),
            model: "m".to_owned(),
            stop_reason: "endTurn".to_owned(),
        };
        let own = ServerSpec {
            client: ClientCapabilities { sampling: vec![reply("mine")], ..ClientCapabilities::default() },
            ..ServerSpec::default()
        };
        let described = ServerSpec {
            target: http("http://v2", pairs()),
            client: ClientCapabilities {
                roots: Some(vec!["/a".to_owned()]),
                sampling: vec![reply("its")],
                ..ClientCapabilities::default()
            },
            secrets: vec!["s3cret".to_owned()],
            ..ServerSpec::default()
        };
        let made = variant(Some(ColumnServer::Described(Arc::new(described.clone()))), None).apply(&own);
        assert_eq!((&made.target, &made.secrets), (&described.target, &described.secrets));
        assert_eq!(made.client.sampling, own.client.sampling);
        assert_eq!(made.client.roots, described.client.roots);
    }

    #[test]
    fn a_revision_changes_nothing_else_and_an_image_or_a_sandbox_is_for_processes() {
        let own = ServerSpec { name: "own".to_owned(), ..ServerSpec::default() };
        let made = variant(None, Some(Revision::V2025_06_18)).apply(&own);
        let wanted =
            ServerSpec { name: "c".to_owned(), protocol: Protocol::Exactly(Revision::V2025_06_18), ..own.clone() };
        assert_eq!(made, wanted);

        let image = Override { docker: Some("node".to_owned()), ..Override::default() };
        let made = image.apply(&own);
        assert!(matches!(&made.target, Target::Stdio { docker: Some(image), .. } if image == "node"));
        let other = Override { docker: Some("python".to_owned()), ..Override::default() };
        let made = other.apply(&made);
        assert!(
            matches!(&made.target, Target::Stdio { docker: Some(image), .. } if image == "python"),
            "the caller's wins"
        );
        let confined = Override { sandbox: true, ..Override::default() };
        assert_eq!(confined.apply(&own).sandbox, Some(Sandbox { required: true, ..Sandbox::default() }));
        assert_eq!(confined.apply(&made).sandbox, None, "a container is a wall of its own");
        let remote = ServerSpec { target: http("http://a", pairs()), ..ServerSpec::default() };
        assert_eq!(image.apply(&remote), remote);
    }
}
