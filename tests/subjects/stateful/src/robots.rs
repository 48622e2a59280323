//! Robots, with names of tools that say nothing: what they do must be declared. `--broken` forgets nothing that is scrapped, and
//! has a ledger that is wrong once two robots were made.

use serde_json::{Value, json};

use crate::server::{Answer, reading, text, tool, writing};

/// The robots of a server.
#[derive(Default)]
pub(crate) struct Robots {
    is_broken: bool,
    all: Vec<(String, String)>,
    scrapped: Vec<(String, String)>,
    made: u64,
}

impl Robots {
    pub(crate) fn new(is_broken: bool) -> Self {
        Self { is_broken, ..Self::default() }
    }

    pub(crate) fn listed() -> Value {
        let robot = json!({"robot": {"type": "string"}});
        let hints = json!({"readOnlyHint": false, "destructiveHint": true});
        json!([
            writing("spawn", &json!({"model": {"type": "string"}}), &["model"]),
            reading("peek", &robot, &["robot"]),
            tool("scrap", &robot, &["robot"], &hints),
            reading("ledger", &json!({}), &[]),
        ])
    }

    pub(crate) fn call(&mut self, name: &str, args: &Value) -> Answer {
        let at = |robots: &[(String, String)]| {
            let wanted = args["robot"].as_str().unwrap_or_default();
            robots.iter().position(|(handle, _)| handle == wanted).ok_or_else(|| format!("no robot {wanted}"))
        };
        match name {
            "spawn" => {
                self.made += 1;
                let handle = format!("r-{}", self.made);
                self.all.push((handle.clone(), text(args, "model")?.to_owned()));
                Ok(json!({"handle": handle}))
            }
            "peek" => {
                let known = at(&self.all).map(|at| &self.all[at]);
                let (handle, model) = match known {
                    Err(_) if self.is_broken => at(&self.scrapped).map(|at| &self.scrapped[at])?,
                    known => known?,
                };
                Ok(json!({"handle": handle, "model": model}))
            }
            "scrap" => {
                let gone = self.all.remove(at(&self.all)?);
                self.scrapped.push(gone);
                Ok(json!({"scrapped": true}))
            }
            "ledger" => {
                let robots = self.all.len() as u64;
                let is_balanced = !self.is_broken || self.made < 2;
                Ok(json!({"made": self.made, "left": robots, "balanced": is_balanced}))
            }
            _ => Err(format!("unknown tool {name}")),
        }
    }
}
