//! The columns of a matrix: the same cases on other servers, or in other protocol revisions.

use std::collections::HashMap;
use std::sync::Arc;

use mcprove_model::{Case, Protocol, Revision, ServerSpec, Target};

/// A column of a matrix: what takes the place of a case's server, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What it is called.
    pub name: Arc<str>,
    /// The server; the case's own when absent.
    pub server: Option<ColumnServer>,
    /// The revision to speak; what the case says when absent.
    pub protocol: Option<Revision>,
}

/// The server of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnServer {
    /// A process.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// An address.
    Url(String),
}

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
                Arc::clone(servers.entry(key).or_insert_with(|| Arc::new(column.server_for(own))))
            });
            (Arc::new(case), variant)
        })
        .collect()
}

impl Column {
    /// What a case's server becomes in this column; it keeps its environment, its headers and its client.
    fn server_for(&self, own: &ServerSpec) -> ServerSpec {
        let mut server = own.clone();
        server.name = self.name.to_string();
        if let Some(protocol) = self.protocol {
            server.protocol = Protocol::Exactly(protocol);
        }
        match &self.server {
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
            None => {}
        }
        server
    }
}

#[cfg(test)]
mod tests {
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
        let made = column(Some(command.clone()), None).server_for(&stdio);
        assert_eq!((made.name.as_str(), made.target.label().as_str()), ("c", "ruby s.rb"));
        assert!(matches!(&made.target, Target::Stdio { env, cwd: Some(_), .. } if *env == pairs()));
        assert_eq!(made.secrets, stdio.secrets);

        let url = || Some(ColumnServer::Url("http://b".to_owned()));
        assert_eq!(column(url(), None).server_for(&stdio).target.label(), "http://b");
        let made = column(url(), None).server_for(&http);
        assert_eq!(made.target, Target::Http { url: "http://b".to_owned(), headers: pairs() });
        assert_eq!(column(Some(command), None).server_for(&http).target.transport(), "stdio");
    }

    #[test]
    fn a_revision_changes_nothing_else() {
        let own = ServerSpec { name: "own".to_owned(), ..ServerSpec::default() };
        let made = column(None, Some(Revision::V2025_06_18)).server_for(&own);
        let wanted =
            ServerSpec { name: "c".to_owned(), protocol: Protocol::Exactly(Revision::V2025_06_18), ..own.clone() };
        assert_eq!(made, wanted);
    }
}
