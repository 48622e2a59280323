//! Counters that several callers increment.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::server::{Answer, answered, reading, text, writing};

/// How long the work between reading a counter and writing it takes.
const WORK: Duration = Duration::from_millis(1);

/// The counters of a server.
pub(crate) struct Counters {
    bug: &'static str,
    counters: Arc<Mutex<BTreeMap<String, u64>>>,
}

impl Counters {
    pub(crate) fn new(bug: &'static str) -> Self {
        Self { bug, counters: Arc::default() }
    }

    pub(crate) fn listed() -> Value {
        let name = json!({"name": {"type": "string"}});
        json!([writing("increment_counter", &name, &["name"]), reading("get_counter", &name, &["name"])])
    }

    /// The answer to a call; none if it comes later.
    pub(crate) fn call(&mut self, name: &str, args: &Value, id: &Value) -> Option<Answer> {
        let counter = match text(args, "name") {
            Ok(counter) => counter.to_owned(),
            Err(error) => return Some(Err(error)),
        };
        match name {
            "increment_counter" => {
                let counters = Arc::clone(&self.counters);
                let read = if self.bug == "lost-increment" { Some(value(&counters, &counter)) } else { None };
                let id = id.clone();
                thread::spawn(move || {
                    thread::sleep(WORK);
                    let mut all = counters.lock().unwrap_or_else(PoisonError::into_inner);
                    let known = all.entry(counter).or_default();
                    *known = read.unwrap_or(*known) + 1;
                    drop(all);
                    answered(&id, Ok(json!({"incremented": true})));
                });
                None
            }
            "get_counter" => Some(Ok(json!({"name": counter, "value": value(&self.counters, &counter)}))),
            _ => Some(Err(format!("unknown tool {name}"))),
        }
    }
}

fn value(counters: &Mutex<BTreeMap<String, u64>>, name: &str) -> u64 {
    counters.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or(0)
}
