//! `${…}` in the configuration files of MCP clients: the environment (`${NAME}`, `${NAME:-default}`, `${env:NAME}`), places
//! (`${workspaceFolder}`, `${userHome}`) and what a client asks its user for (`${input:id}`).

use std::path::MAIN_SEPARATOR_STR;

use serde_json::Value;

use crate::client_config::Surroundings;

/// A text after expansion.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// The text.
    pub(crate) text: String,
    /// The values of variables and inputs in it.
    pub(crate) secrets: Vec<String>,
}

/// What has no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A variable of the environment.
    Variable(String),
    /// Something that a client asks for; a variable may give it here.
    Input {
        /// Its id in the file.
        id: String,
        /// The variable.
        variable: String,
    },
    /// A form that nothing here can give a value to.
    Unknown(String),
}

/// Expands a text. What is not written as a variable can be, stays.
pub(crate) fn expand(text: &str, surroundings: &Surroundings<'_>, inputs: &Value) -> Result<Expanded, Missing> {
    let mut expanded = Expanded::default();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start + 2..].find('}') else { break };
        let end = start + 2 + length + 1;
        expanded.text.push_str(&rest[..start]);
        match value(&rest[start + 2..end - 1], surroundings, inputs)? {
            Some(Found::Open(value)) => expanded.text.push_str(&value),
            Some(Found::Secret(value)) => {
                expanded.text.push_str(&value);
                expanded.secrets.push(value);
            }
            None => expanded.text.push_str(&rest[start..end]),
        }
        rest = &rest[end..];
    }
    expanded.text.push_str(rest);
    Ok(expanded)
}

/// The variable that gives an input here.
fn input_variable(id: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("MCPROVE_INPUT_{}", id.chars().map(word).collect::<String>())
}

enum Found {
    Open(String),
    Secret(String),
}

fn value(inside: &str, surroundings: &Surroundings<'_>, inputs: &Value) -> Result<Option<Found>, Missing> {
    let folder = surroundings.workspace.to_string_lossy().into_owned();
    let of_environment = |name: &str| match (surroundings.variable)(name) {
        Some(value) => Ok(Some(Found::Secret(value))),
        None => Err(Missing::Variable(name.to_owned())),
    };
    match inside {
        "workspaceFolder" => return Ok(Some(Found::Open(folder))),
        "workspaceFolderBasename" => {
            let name = surroundings.workspace.file_name().map(|name| name.to_string_lossy().into_owned());
            return Ok(Some(Found::Open(name.unwrap_or_default())));
        }
        "pathSeparator" | "/" => return Ok(Some(Found::Open(MAIN_SEPARATOR_STR.to_owned()))),
        "userHome" => {
            let home = ["HOME", "USERPROFILE"].into_iter().find_map(surroundings.variable);
            return home.map(|home| Some(Found::Open(home))).ok_or_else(|| Missing::Variable("HOME".to_owned()));
        }
        _ => {}
    }
    if let Some((name, default)) = inside.split_once(":-").filter(|(name, _)| is_name(name)) {
        let set = (surroundings.variable)(name).filter(|value| !value.is_empty());
        return Ok(Some(set.map_or_else(|| Found::Open(default.to_owned()), Found::Secret)));
    }
    match inside.split_once(':') {
        Some(("env", name)) => of_environment(name),
        Some(("input", id)) => {
            let variable = input_variable(id);
            let default = || {
                let asked = inputs.as_array()?.iter().find(|input| input.get("id") == Some(&Value::from(id)))?;
                asked.get("default").and_then(Value::as_str).map(str::to_owned)
            };
            let given = (surroundings.variable)(&variable).map(Found::Secret);
            let given = given.or_else(|| default().map(Found::Open));
            given.map(Some).ok_or_else(|| Missing::Input { id: id.to_owned(), variable })
        }
        Some(_) => Err(Missing::Unknown(format!("${{{inside}}}"))),
        None if is_name(inside) => of_environment(inside),
        None => Ok(None),
    }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::PathBuf;

    fn variable(name: &str) -> Option<String> {
        match name {
            "KEY" | "MCPROVE_INPUT_API_KEY" => Some("s3cret".to_owned()),
            "HOME" => Some("/home/ada".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        }
    }

    fn expanded(text: &str) -> Result<Expanded, Missing> {
        let surroundings = Surroundings { variable: &variable, workspace: PathBuf::from("/code/shop") };
        expand(text, &surroundings, &json!([{"id": "region", "type": "promptString", "default": "eu"}]))
    }

    #[test]
    fn every_form_expands() {
        for (text, expected) in [
            ("Bearer ${KEY}", "Bearer s3cret"),
            ("${env:KEY}:${KEY}", "s3cret:s3cret"),
            ("${GONE:-a:b}/x", "a:b/x"),
            ("${EMPTY:-default}", "default"),
            ("${EMPTY}", ""),
            ("${workspaceFolder}/dist", "/code/shop/dist"),
            ("${workspaceFolderBasename}", "shop"),
            ("${userHome}/.x", "/home/ada/.x"),
            ("${input:api-key}", "s3cret"),
            ("${input:region}", "eu"),
            ("costs $5, ${} and ${a b} or ${", "costs $5, ${} and ${a b} or ${"),
            ("$KEY stays, as clients know no such form", "$KEY stays, as clients know no such form"),
        ] {
            assert_eq!(expanded(text).map(|expanded| expanded.text), Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(expanded("${KEY} ${GONE:-open} ${userHome}").expect("it expands").secrets, ["s3cret"]);
    }

    #[test]
    fn what_has_no_value_is_told() {
        assert_eq!(expanded("${GONE}"), Err(Missing::Variable("GONE".to_owned())));
        assert_eq!(expanded("${env:GONE}"), Err(Missing::Variable("GONE".to_owned())));
        let input = Missing::Input { id: "my id".to_owned(), variable: "MCPROVE_INPUT_MY_ID".to_owned() };
        assert_eq!(expanded("${input:my id}"), Err(input));
        assert_eq!(expanded("${command:x}"), Err(Missing::Unknown("${command:x}".to_owned())));
    }
}
