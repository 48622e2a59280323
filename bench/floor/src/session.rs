//! A session with a server process, over its pipes.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use crate::Outcome;

/// The params of `initialize`.
pub(crate) const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"floor","version":"1.0.0"}}}"#,
    "\n"
);
/// What is said when the handshake is over.
pub(crate) const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

pub(crate) struct Session {
    child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Session {
    /// Starts a server and shakes hands.
    pub(crate) fn open(server: &[String]) -> Outcome<Session> {
        let mut command = Command::new(&server[0]);
        command.args(&server[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{}: {error}", server[0]))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server has no pipes".into());
        };
        let mut session = Session { child, stdin, stdout: BufReader::new(stdout) };
        session.write(INITIALIZE)?;
        session.expect(1)?;
        session.write(INITIALIZED)?;
        Ok(session)
    }

    pub(crate) fn write(&mut self, text: &str) -> Outcome<()> {
        Ok(self.stdin.write_all(text.as_bytes())?)
    }

    pub(crate) fn expect(&mut self, id: usize) -> Outcome<()> {
        expect(&mut self.stdout, id)
    }

    pub(crate) fn close(mut self) -> Outcome<()> {
        drop(self.stdin);
        let status = self.child.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

/// Reads lines up to the result of this request; servers may say other things in between.
pub(crate) fn expect(stdout: &mut BufReader<ChildStdout>, id: usize) -> Outcome<()> {
    let mut line = String::with_capacity(256);
    while stdout.read_line(&mut line)? > 0 {
        if is_result(&line, id) {
            return Ok(());
        }
        if !line.contains("\"method\"") {
            return Err(format!("the reply to {id} was: {line:?}").into());
        }
        line.clear();
    }
    Err(format!("the server ended before it replied to {id}").into())
}

/// True if a message is the result of this request, in whatever order its members stand.
pub(crate) fn is_result(message: &str, id: usize) -> bool {
    message.contains("\"result\"") && {
        let id = format!("\"id\":{id}");
        message.split_once(&id).is_some_and(|(_, rest)| rest.starts_with([',', '}']))
    }
}

#[cfg(test)]
mod tests {
    use super::is_result;

    #[test]
    fn a_result_is_known_by_its_id() {
        assert!(is_result(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 1));
        assert!(is_result(r#"{"result":{},"jsonrpc":"2.0","id":1}"#, 1));
        assert!(!is_result(r#"{"jsonrpc":"2.0","id":12,"result":{}}"#, 1));
        assert!(!is_result(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, 1));
    }
}
