//! The arguments that name a server of the page for a run that the page starts. Secrets go into a file that only this user
//! can read, because other users can see the arguments of a process.

use std::path::Path;

use mcprove_model::{Protocol, Remote, ServerSpec, Target};
use serde_json::{Value, json};

/// The name of a file in which clients expand no variables.
const FILE: &str = "claude_desktop_config.json";

/// The arguments for a server; `folder` is private to this user. The error says why it cannot be named.
pub(super) fn subject_words(server: &ServerSpec, folder: &Path) -> Result<Vec<String>, String> {
    let option = |name: &str, value: String| vec![name.to_owned(), value];
    let mut words = match &server.target {
        Target::Stdio { command, args, env, cwd, docker: None } if env.is_empty() && cwd.is_none() => {
            let line: Vec<&String> = std::iter::once(command).chain(args).collect();
            option("--server", shell_words::join(line))
        }
        Target::Remote { transport: Remote::Http, url, headers } if headers.is_empty() && server.secrets.is_empty() => {
            option("--url", url.clone())
        }
        target => {
            let entry = entry(target).ok_or("a played server cannot be scanned from the page")?;
            let path = folder.join(FILE);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, json!({"mcpServers": {"server": entry}}).to_string()))
                .map_err(|error| format!("`{}` could not be written: {error}", path.display()))?;
            option("--client-config", path.to_string_lossy().into_owned())
        }
    };
    if let Target::Stdio { docker: Some(image), .. } = &server.target {
        words.extend(option("--docker", image.clone()));
    }
    if server.protocol != Protocol::default() {
        words.extend(option("--protocol", server.protocol.as_str().to_owned()));
    }
    Ok(words)
}

fn entry(target: &Target) -> Option<Value> {
    let map = |pairs: &[(String, String)]| -> Value {
        pairs.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect()
    };
    match target {
        Target::Stdio { command, args, env, cwd, docker: _ } => {
            let mut entry = json!({"command": command, "args": args, "env": map(env)});
            if let Some(cwd) = cwd {
                entry["cwd"] = json!(cwd);
            }
            Some(entry)
        }
        Target::Remote { transport, url, headers } => {
            Some(json!({"type": transport.name(), "url": url, "headers": map(headers)}))
        }
        Target::Mock { .. } | Target::Cassette { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_in_a_file_and_not_in_the_arguments() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = Target::Remote {
            transport: Remote::Http,
            url: "http://127.0.0.1:1/mcp".to_owned(),
            headers: vec![("Authorization".to_owned(), "Bearer s3cret".to_owned())],
        };
        let server = ServerSpec { target, secrets: vec!["s3cret".to_owned()], ..ServerSpec::default() };
        let words = subject_words(&server, folder.path()).expect("words");
        assert!(words[0] == "--client-config" && !words.concat().contains("s3cret"), "{words:?}");
        let text = std::fs::read_to_string(&words[1]).expect("the file");
        assert!(text.contains("Bearer s3cret"), "{text}");
        let target = Target::Stdio {
            command: "a b".to_owned(),
            args: vec!["c".to_owned()],
            env: Vec::new(),
            cwd: None,
            docker: None,
        };
        let server = ServerSpec { target, ..ServerSpec::default() };
        assert_eq!(subject_words(&server, folder.path()).expect("words"), ["--server", "'a b' c"]);
    }
}
