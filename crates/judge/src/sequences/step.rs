//! One call of a sequence, with the values that it takes from the replies of earlier ones.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reply::Reply;

/// The thing that a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepTarget {
    /// Calls a tool, by its place in the model.
    Tool(usize),
    /// Lists the resources.
    Resources,
    /// Reads the resource of the argument `uri`.
    Resource,
    /// Ends the server and starts it again on the same data.
    Restart,
}

/// A call of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its number, which stays when other steps are removed.
    pub id: u32,
    /// The thing to do.
    pub target: StepTarget,
    /// The arguments, with the values that were sent.
    pub args: Value,
    /// Places in the arguments that earlier replies fill.
    pub binds: Vec<Bind>,
}

/// A place in the arguments that an earlier reply fills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// JSON Pointer into the arguments.
    pub at: String,
    /// The number of the step whose reply has the value.
    pub step: u32,
    /// JSON Pointer into the document of that reply.
    pub path: String,
}

/// The arguments of a step with the values of replies filled in; `None` if a reply has no such value.
pub fn bound(step: &Step, replies: &BTreeMap<u32, Reply>) -> Option<Value> {
    let mut args = step.args.clone();
    for bind in &step.binds {
        let document = replies.get(&bind.step)?.doc.as_ref()?;
        let value = document.pointer(&bind.path)?.clone();
        let place = args.pointer_mut(&bind.at)?;
        // A number that is sent as a text stays one.
        *place = match (&*place, &value) {
            (Value::String(_), Value::Number(number)) => Value::from(number.to_string()),
            (_, _) => value,
        };
    }
    Some(args)
}

/// The arguments of a step with `{{name}}` in the place of bound values.
pub fn with_binds(step: &Step, name: impl Fn(&Bind) -> Option<String>) -> Value {
    let mut args = step.args.clone();
    for bind in &step.binds {
        if let (Some(place), Some(name)) = (args.pointer_mut(&bind.at), name(bind)) {
            *place = Value::from(format!("{{{{{name}}}}}"));
        }
    }
    args
}
