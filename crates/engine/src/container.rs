//! A server in a container: its pipes are the container's, and the fixture is where it was.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use mcprove_suite::template::{FIXTURE, Variables};
use mcprove_wire::{Guard, Program, TEMPORARY};
use serde_json::Value;
use tempfile::TempDir;

/// The client that containers are run with.
pub(crate) const DOCKER: &str = "docker";

/// The longest value that the client reads from a file.
const LONGEST: usize = 60_000;

/// A program that runs a container.
#[derive(Debug)]
pub(crate) struct Container {
    pub(crate) program: Program,
    /// The file with the server's variables; the client reads it when it starts.
    pub(crate) variables: Option<VariablesFile>,
}

/// A private file with variables, removed when it is dropped and when mcprove is killed.
#[derive(Debug)]
pub(crate) struct VariablesFile {
    _folder: TempDir,
    _guard: Guard,
}

/// The same program in a container; the error says what keeps it from that.
pub(crate) fn contain(program: Program, image: &str, variables: &Variables) -> Result<Container, String> {
    if !is_image(image) {
        return Err(format!("`{image}` is not the name of an image"));
    }
    let mut args = vec!["run".to_owned(), "--rm".to_owned(), "-i".to_owned()];
    if let Some(Value::String(fixture)) = variables.get(FIXTURE) {
        let fields = [quoted(&format!("source={fixture}")), quoted(&format!("target={fixture}"))];
        args.extend(["--mount".to_owned(), format!("type=bind,{},{}", fields[0], fields[1])]);
    }
    let file = if program.env.is_empty() { None } else { Some(write_variables(&program.env)?) };
    if let Some((_, path)) = &file {
        args.extend(["--env-file".to_owned(), path.clone()]);
    }
    if let Some(cwd) = &program.cwd {
        args.extend(["-w".to_owned(), cwd.clone()]);
    }
    // Everything after `--` is not an option of the client, even if it looks like one.
    args.extend(["--".to_owned(), image.to_owned(), program.command]);
    args.extend(program.args);
    // The client gets mcprove's own environment: variables of a suite could make it load or reach something else.
    let program = Program { command: DOCKER.to_owned(), args, ..Program::default() };
    Ok(Container { program, variables: file.map(|(file, _)| file) })
}

/// True for the name of an image: `[host[:port]/]name[:tag][@digest]`, by the grammar of the distribution specification.
fn is_image(text: &str) -> bool {
    let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
    let is_digest = |digest: &str| {
        let is_hex = |hex: &str| hex.len() >= 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        digest.split_once(':').is_some_and(|(kind, hex)| is_word(kind, b"+._-") && is_hex(hex))
    };
    // A colon in the last part begins a tag, one in the first a port.
    let (path, last) = rest.rsplit_once('/').map_or((None, rest), |(path, last)| (Some(path), last));
    let (name, tag) = last.split_once(':').map_or((last, None), |(name, tag)| (name, Some(tag)));
    let is_name = |name: &str| is_word(name, b"._-") && !name.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_host = |host: &str| {
        let (host, port) = host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port)));
        is_word(host, b".-") && port.is_none_or(|port| port.parse::<u16>().is_ok())
    };
    let is_path = |path: &str| {
        let mut parts = path.split('/');
        parts.next().is_some_and(|first| is_host(first) || is_name(first)) && parts.all(is_name)
    };
    let is_tag = |tag: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        (1..=LONGEST_TAG).contains(&tag.len()) && !tag.starts_with(['.', '-']) && tag.bytes().all(is_part)
    };
    rest.len() <= LONGEST_NAME + tag.map_or(0, |tag| tag.len() + 1)
        && path.is_none_or(is_path)
        && is_name(name)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest)
}

/// The longest name of an image with its host, and the longest tag.
const LONGEST_NAME: usize = 255;
const LONGEST_TAG: usize = 128;

/// True for letters and digits with these marks between them.
fn is_word(text: &str, marks: &[u8]) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric();
    let ends = text.bytes().next().is_some_and(is_letter) && text.bytes().last().is_some_and(is_letter);
    ends && text.bytes().all(|byte| is_letter(byte) || marks.contains(&byte))
}

/// A field of a comma-separated list.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

/// Writes variables to a file for the client: other users of a machine can see the arguments of a program.
fn write_variables(variables: &[(String, String)]) -> Result<(VariablesFile, String), String> {
    let mut text = String::new();
    for (name, value) in variables {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
        if name.is_empty() || !is_name {
            return Err(format!("`{name}` is not a name that a variable of a container can have"));
        }
        if value.contains(['\n', '\r', '\0']) || value.len() > LONGEST {
            return Err(format!("the value of `{name}` has a line break or is too long, which docker cannot take"));
        }
        let _ = writeln!(text, "{name}={value}");
    }
    let folder = tempfile::Builder::new().prefix(&format!("{TEMPORARY}variables-")).tempdir();
    let folder = folder.map_err(|error| format!("the variables could not be written: {error}"))?;
    let guard = Guard::folder(folder.path());
    let path = folder.path().join("variables");
    write_private(&path, &text).map_err(|error| format!("the variables could not be written: {error}"))?;
    let path = path.to_string_lossy().into_owned();
    Ok((VariablesFile { _folder: folder, _guard: guard }, path))
}

/// Writes a file that only this user can read.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(env: &[(&str, &str)]) -> Program {
        Program {
            command: "server".to_owned(),
            args: vec!["-v".to_owned()],
            env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            cwd: Some("/srv".to_owned()),
            ..Program::default()
        }
    }

    #[test]
    fn variables_are_neither_arguments_nor_the_clients_own() {
        let mut variables = Variables::default();
        variables.set(FIXTURE, Value::String("/tmp/a,b".to_owned()));
        let env = [("API_KEY", "s3cr3t"), ("PATH", "/bin"), ("LD_PRELOAD", "/tmp/evil.so"), ("DOCKER_HOST", "tcp://x")];
        let started = contain(program(&env), "image:1", &variables).expect("a container");
        assert_eq!(started.program.env, []);
        let path = started.program.args[6].clone();
        assert_eq!(
            started.program.args.join(" ").replace(&path, "FILE"),
            "run --rm -i --mount type=bind,\"source=/tmp/a,b\",\"target=/tmp/a,b\" --env-file FILE -w /srv -- image:1 server -v"
        );
        let text = fs::read_to_string(&path).expect("a file");
        assert_eq!(text, "API_KEY=s3cr3t\nPATH=/bin\nLD_PRELOAD=/tmp/evil.so\nDOCKER_HOST=tcp://x\n");
        drop(started);
        assert!(fs::metadata(path).is_err(), "the file is removed");
    }

    #[test]
    fn options_are_no_images_and_line_breaks_no_values() {
        let contain = |image: &str, env: &[(&str, &str)]| contain(program(env), image, &Variables::default());
        for image in [
            "",
            "--privileged",
            "-v/:/host",
            "--pid=host",
            "a b",
            "a;b",
            "a\n",
            "$(x)",
            ":1",
            "../x",
            "IMAGE",
            "a:b:c",
            "a@sha256:zz",
            "a//b",
            "a:",
            "a/",
            "h:99999/x",
        ] {
            assert!(contain(image, &[]).is_err(), "{image}");
        }
        for image in [
            "node",
            "node:22-alpine",
            "ghcr.io/a/b_c.d:1.2@sha256:0123456789abcdef0123456789abcdef",
            "localhost:5000/x",
            "my_org/x:1-",
            "library/node",
        ] {
            assert!(contain(image, &[]).is_ok(), "{image}");
        }
        assert!(contain("node", &[("A", "b\nLD_PRELOAD=x")]).is_err());
        assert!(contain("node", &[("A=B", "c")]).is_err() && contain("node", &[("", "c")]).is_err());
    }
}
