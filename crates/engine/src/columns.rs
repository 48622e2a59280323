//! The columns of a matrix: the same cases on other servers, or in other protocol revisions.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Case, ClientCapabilities, Column, ColumnServer, Protocol, ServerSpec, Target};

/// Servers made so far, by column and by the server they were made from, so that cases that shared one still do.
pub(crate) type ServersOfColumns = HashMap<(Arc<str>, *const ServerSpec), Arc<ServerSpec>>;

/// The case as it is in each column, with the column's name; as it is where there are no columns.
pub(crate) fn in_columns(
    case: &Arc<Case>,
    columns: &[Column],
    servers: &mut ServersOfColumns,
) -> Vec<(Arc<Case>, Option<Arc<str>>)> {
    if columns.is_empty() {
        return vec![(Arc::clone(case), None)];
    }
    columns
        .iter()
        .map(|column| {
            let variant = Some(Arc::clone(&column.name));
            if case.server.is_none() {
                return (Arc::clone(case), variant);
            }
            let mut case = Case::clone(case);
            case.replace_servers(&mut |own| {
                let key = (Arc::clone(&column.name), Arc::as_ptr(own));
                Arc::clone(servers.entry(key).or_insert_with(|| Arc::new(server_for(column, own))))
            });
            (Arc::new(case), variant)
        })
        .collect()
}

/// What a case's server becomes in a column; it keeps its environment, its headers and its client.
fn server_for(column: &Column, own: &ServerSpec) -> ServerSpec {
    let mut server = own.clone();
    match &column.server {
        Some(ColumnServer::Command { command, args }) => {
            let (env, cwd, docker) = match server.target {
                Target::Stdio { env, cwd, docker, .. } => (env, cwd, docker),
                Target::Http { .. } | Target::Sse { .. } | Target::Mock { .. } | Target::Cassette { .. } => {
                    (Vec::new(), None, None)
                }
            };
            server.target = Target::Stdio { command: command.clone(), args: args.clone(), env, cwd, docker };
        }
        Some(ColumnServer::Url(url)) => {
            let url = url.clone();
            server.target = match server.target {
                Target::Stdio { .. } | Target::Mock { .. } | Target::Cassette { .. } => {
                    Target::Http { url, headers: Vec::new() }
                }
                Target::Http { headers, .. } => Target::Http { url, headers },
                Target::Sse { headers, .. } => Target::Sse { url, headers },
            };
        }
        Some(ColumnServer::Described(described)) => {
            let client = client_for(&described.client, server.client);
            server = ServerSpec { client, ..ServerSpec::clone(described) };
        }
        None => {}
    }
    server.name = column.name.to_string();
    if let Some(protocol) = column.protocol {
        server.protocol = Protocol::Exactly(protocol);
    }
    server
}

/// What the client offers a server of the suite: what that one says, and the answers that belong to the case.
fn client_for(described: &ClientCapabilities, own: ClientCapabilities) -> ClientCapabilities {
    ClientCapabilities {
        roots: described.roots.clone().or(own.roots),
        roots_changed: described.roots_changed.clone().or(own.roots_changed),
        sampling: if own.sampling.is_empty() { described.sampling.clone() } else { own.sampling },
        elicitation: described.elicitation.clone().or(own.elicitation),
    }
}

#[cfg(test)]
mod tests {
    use mcprove_model::Revision;

    use super::*;

    fn column(server: Option<ColumnServer>, protocol: Option<Revision>) -> Column {
        Column { name: "c".into(), server, protocol }
    }

    fn pairs() -> Vec<(String, String)> {
        vec![("K".to_owned(), "v".to_owned())]
    }

    #[test]
    fn a_command_keeps_the_environment_and_an_address_the_headers() {
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
        let http = ServerSpec {
            target: Target::Http { url: "http://a".to_owned(), headers: pairs() },
            ..ServerSpec::default()
        };
        let made = server_for(&column(Some(command.clone()), None), &stdio);
        assert_eq!((made.name.as_str(), made.target.label().as_str()), ("c", "ruby s.rb"));
        assert!(matches!(&made.target, Target::Stdio { env, cwd: Some(_), .. } if *env == pairs()));
        assert_eq!(made.secrets, stdio.secrets);

        let url = || Some(ColumnServer::Url("http://b".to_owned()));
        assert_eq!(server_for(&column(url(), None), &stdio).target.label(), "http://b");
        let made = server_for(&column(url(), None), &http);
        assert_eq!(made.target, Target::Http { url: "http://b".to_owned(), headers: pairs() });
        assert_eq!(server_for(&column(Some(command), None), &http).target.transport(), "stdio");
    }

    #[test]
    fn a_server_of_the_suite_is_taken_as_it_is_described_with_the_answers_of_the_case() {
        let reply = |text: &str| mcprove_model::SamplingReply {
            text: text.to_owned(),
            model: "m".to_owned(),
            stop_reason: "endTurn".to_owned(),
        };
        let own = ServerSpec {
            client: ClientCapabilities { sampling: vec![reply("mine")], ..ClientCapabilities::default() },
            ..ServerSpec::default()
        };
        let described = ServerSpec {
            target: Target::Http { url: "http://v2".to_owned(), headers: pairs() },
            client: ClientCapabilities {
                roots: Some(vec!["/a".to_owned()]),
                sampling: vec![reply("its")],
                ..ClientCapabilities::default()
            },
            secrets: vec!["s3cret".to_owned()],
            ..ServerSpec::default()
        };
        let made = server_for(&column(Some(ColumnServer::Described(Arc::new(described.clone()))), None), &own);
        assert_eq!((&made.target, &made.secrets), (&described.target, &described.secrets));
        assert_eq!(made.client.sampling, own.client.sampling);
        assert_eq!(made.client.roots, described.client.roots);
    }

    #[test]
    fn a_revision_changes_nothing_else() {
        let own = ServerSpec { name: "own".to_owned(), ..ServerSpec::default() };
        let made = server_for(&column(None, Some(Revision::V2025_06_18)), &own);
        let wanted =
            ServerSpec { name: "c".to_owned(), protocol: Protocol::Exactly(Revision::V2025_06_18), ..own.clone() };
        assert_eq!(made, wanted);
    }
}
