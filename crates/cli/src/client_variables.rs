//! `${…}` in the configuration files of MCP clients: the environment (`${NAME}`, `${NAME:-default}`, `${env:NAME}`), places
//! (`${workspaceFolder}`, `${userHome}`) and what a client asks its user for (`${input:id}`).

use std::path::MAIN_SEPARATOR_STR;

use mcprove_model::{Origin, OriginPart};
use mcprove_suite::environment::is_name;
use serde_json::Value;

use crate::client_config::Surroundings;

/// A reference without a value.
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

/// Expands the text at a place. What is not written as a variable can be, stays.
pub(crate) fn expand(
    place: &str,
    text: &str,
    surroundings: &Surroundings<'_>,
    inputs: &Value,
) -> Result<Origin, Missing> {
    let mut origin = Origin { place: place.to_owned(), parts: Vec::new() };
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start + 2..].find('}') else { break };
        let end = start + 2 + length + 1;
        origin.parts.push(OriginPart::Text(rest[..start].to_owned()));
        let part = part(&rest[start + 2..end - 1], surroundings, inputs)?;
        origin.parts.push(part.unwrap_or_else(|| OriginPart::Text(rest[start..end].to_owned())));
        rest = &rest[end..];
    }
    origin.parts.push(OriginPart::Text(rest.to_owned()));
    Ok(origin)
}

/// The variable that gives an input here.
fn input_variable(id: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("MCPROVE_INPUT_{}", id.chars().map(word).collect::<String>())
}

/// The value of a reference; `None` if the text is not a reference.
fn part(inside: &str, surroundings: &Surroundings<'_>, inputs: &Value) -> Result<Option<OriginPart>, Missing> {
    let folder = surroundings.workspace.to_string_lossy().into_owned();
    let open = |text: String| Ok(Some(OriginPart::Text(text)));
    let of_environment = |name: &str| match (surroundings.variable)(name) {
        value @ Some(_) => Ok(Some(OriginPart::Variable { name: name.to_owned(), value, default: None })),
        None => Err(Missing::Variable(name.to_owned())),
    };
    match inside {
        "workspaceFolder" => return open(folder),
        "workspaceFolderBasename" => {
            let name = surroundings.workspace.file_name().map(|name| name.to_string_lossy().into_owned());
            return open(name.unwrap_or_default());
        }
        "pathSeparator" | "/" => return open(MAIN_SEPARATOR_STR.to_owned()),
        "userHome" => {
            let home = ["HOME", "USERPROFILE"].into_iter().find_map(surroundings.variable);
            return home.map_or_else(|| Err(Missing::Variable("HOME".to_owned())), open);
        }
        _ => {}
    }
    if let Some((name, default)) = inside.split_once(":-").filter(|(name, _)| is_name(name)) {
        let value = (surroundings.variable)(name).filter(|value| !value.is_empty());
        let (name, default) = (name.to_owned(), Some(default.to_owned()));
        return Ok(Some(OriginPart::Variable { name, value, default }));
    }
    match inside.split_once(':') {
        Some(("env", name)) => of_environment(name),
        Some(("input", id)) => {
            let variable = input_variable(id);
            let default = || {
                let asked = inputs.as_array()?.iter().find(|input| input.get("id") == Some(&Value::from(id)))?;
                asked.get("default").and_then(Value::as_str).map(str::to_owned)
            };
            match ((surroundings.variable)(&variable), default()) {
                (None, None) => Err(Missing::Input { id: id.to_owned(), variable }),
                (value, default) => Ok(Some(OriginPart::Variable { name: variable, value, default })),
            }
        }
        Some(_) => Err(Missing::Unknown(format!("${{{inside}}}"))),
        None if is_name(inside) => of_environment(inside),
        None => Ok(None),
    }
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

    fn expanded(text: &str) -> Result<Origin, Missing> {
        let surroundings = Surroundings { variable: &variable, workspace: PathBuf::from("/code/shop") };
        expand("url", text, &surroundings, &json!([{"id": "region", "type": "promptString", "default": "eu"}]))
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
            assert_eq!(expanded(text).map(|origin| origin.text()), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_gave_a_text_its_parts_is_known() {
        let named = |text: &str| -> Vec<(String, Option<String>)> {
            let parts = expanded(text).expect("it expands").parts.into_iter();
            let named = parts.filter_map(|part| match part {
                OriginPart::Variable { name, value, .. } => Some((name, value)),
                OriginPart::Text(_) => None,
            });
            named.collect()
        };
        let set = |name: &str| (name.to_owned(), Some("s3cret".to_owned()));
        let unset = |name: &str| (name.to_owned(), None);
        assert_eq!(named("${KEY} ${GONE:-open} ${userHome}"), [set("KEY"), unset("GONE")]);
        let input = [set("MCPROVE_INPUT_API_KEY"), unset("MCPROVE_INPUT_REGION")];
        assert_eq!(named("${input:api-key} ${input:region} ${}"), input);
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
