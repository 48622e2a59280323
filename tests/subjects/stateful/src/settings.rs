//! Settings that are kept in a file.

use std::{collections::BTreeMap, fs, path::PathBuf};

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, writing};

/// Settings and what they are when nobody has set them.
const DEFAULTS: &[(&str, i64)] = &[("margin", 4), ("size", 12), ("width", 80)];

/// The settings of a server.
pub(crate) struct Settings {
    file: Option<PathBuf>,
    values: BTreeMap<String, i64>,
}

impl Settings {
    pub(crate) fn new(bug: &'static str, data: Option<PathBuf>) -> Self {
        let file = data.map(|folder| folder.join("settings.json"));
        let stored = file.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let stored: Option<BTreeMap<String, i64>> = stored.and_then(|text| serde_json::from_str(&text).ok());
        let is_stored = stored.is_some();
        let mut values: BTreeMap<String, i64> =
            DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        values.extend(stored.unwrap_or_default());
        if bug == "restart-default" && is_stored {
            values.insert("size".to_owned(), 0);
        }
        Self { file, values }
    }

    pub(crate) fn listed() -> Value {
        let names: Vec<&str> = DEFAULTS.iter().map(|(name, _)| *name).collect();
        let name = json!({"type": "string", "enum": names});
        json!([
            writing("set_setting", &json!({"name": name, "value": {"type": "integer"}}), &["name", "value"]),
            reading("get_setting", &json!({"name": name}), &["name"]),
        ])
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        let setting = text(args, "name")?;
        let known = self.values.get_mut(setting).ok_or_else(|| format!("there is no setting {setting}"))?;
        match name {
            "set_setting" => {
                *known = args["value"].as_i64().ok_or("`value` is not a number")?;
                if let Some(file) = &self.file {
                    fs::write(file, json!(self.values).to_string()).map_err(|error| error.to_string())?;
                }
                Ok(json!({"set": setting}))
            }
            "get_setting" => Ok(json!({"name": setting, "value": known})),
            _ => Err(format!("unknown tool {name}")),
        }
    }
}
