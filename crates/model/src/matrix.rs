//! The same cases on several servers, or in several protocol revisions.

use std::sync::Arc;

use crate::{Revision, ServerSpec};

/// The dimensions of a matrix: every server in every revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The servers by name; the case's own when there are none.
    pub servers: Vec<(String, ColumnServer)>,
    /// The revisions; what the case says when there are none.
    pub revisions: Vec<Revision>,
}

/// A column of a matrix: what takes the place of a case's server, or of a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// The server; the case's own when absent.
    pub server: Option<ColumnServer>,
    /// The revision to speak; what the case says when absent.
    pub protocol: Option<Revision>,
}

/// The server of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnServer {
    /// A process.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A URL.
    Url(String),
    /// A server that is described elsewhere in the suite.
    Described(Arc<ServerSpec>),
}

impl ColumnServer {
    /// The server of a command line's arguments, or of the URL that is the only one.
    pub fn of_words(words: Vec<String>) -> Option<Self> {
        let mut words = words.into_iter();
        let (command, args) = (words.next()?, words.collect::<Vec<_>>());
        let lower = command.to_ascii_lowercase();
        let is_address = lower.starts_with("http://") || lower.starts_with("https://");
        Some(if is_address && args.is_empty() { Self::Url(command) } else { Self::Command { command, args } })
    }
}

impl Matrix {
    /// Its columns, servers first; none when it has neither servers nor revisions.
    pub fn columns(&self) -> Vec<Column> {
        let servers: Vec<_> = self.servers.iter().map(|(name, server)| Some((name.as_str(), server))).collect();
        let revisions: Vec<_> = self.revisions.iter().copied().map(Some).collect();
        if servers.is_empty() && revisions.is_empty() {
            return Vec::new();
        }
        let mut columns = Vec::new();
        for server in if servers.is_empty() { &[None] } else { servers.as_slice() } {
            for protocol in if revisions.is_empty() { &[None] } else { revisions.as_slice() } {
                let names = [server.map(|(name, _)| name), protocol.map(Revision::as_str)];
                columns.push(Column {
                    name: names.into_iter().flatten().collect::<Vec<_>>().join(" ").into(),
                    server: server.map(|(_, server)| server.clone()),
                    protocol: *protocol,
                });
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(matrix: &Matrix) -> Vec<String> {
        matrix.columns().iter().map(|column| column.name.to_string()).collect()
    }

    #[test]
    fn columns_are_servers_by_revisions() {
        let command = |text: &str| ColumnServer::of_words(vec![text.to_owned()]).expect("a server");
        let servers = vec![("py".to_owned(), command("python")), ("ts".to_owned(), command("http://localhost/mcp"))];
        let revisions = vec![Revision::V2025_06_18, Revision::V2025_11_25];
        assert_eq!(names(&Matrix::default()), Vec::<String>::new());
        assert_eq!(names(&Matrix { servers: servers.clone(), revisions: Vec::new() }), ["py", "ts"]);
        assert_eq!(names(&Matrix { servers: Vec::new(), revisions: revisions.clone() }), ["2025-06-18", "2025-11-25"]);
        let both = Matrix { servers, revisions };
        assert_eq!(names(&both), ["py 2025-06-18", "py 2025-11-25", "ts 2025-06-18", "ts 2025-11-25"]);
        assert_eq!(both.columns()[2].server, Some(ColumnServer::Url("http://localhost/mcp".to_owned())));
    }
}
