//! Runs a graph of tool calls without the server: the next call, its arguments, and the final result.

use std::collections::BTreeMap;
use std::time::Duration;

use mcprove_model::{Composition, CompositionNode, CompositionOutput, Evaluated, Offline};
use serde_json::{Map, Value, json};

use crate::jq::Program;

/// The calls of one node, to be made now.
#[derive(Debug, PartialEq)]
pub struct Calls {
    /// Its index in the graph.
    pub node: usize,
    /// The arguments of each call.
    pub args: Vec<Value>,
}

/// A graph that is being run.
#[derive(Debug)]
pub struct Progress<'c> {
    composition: &'c Composition,
    /// The arguments of each node, with references to other nodes.
    args: Vec<Value>,
    traces: BTreeMap<&'c str, Trace>,
    at: usize,
}

/// Result of a graph.
#[derive(Debug)]
pub struct Finished {
    /// Root of all targets: `composition`, `nodes` and `output`.
    pub envelope: Value,
    /// The nodes that failed, by index, and why.
    pub failed: Vec<(usize, String)>,
    /// Cause of a missing output.
    pub no_output: Option<String>,
}

#[derive(Debug)]
struct Trace {
    status: Status,
    inputs: Value,
    output: Value,
    reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Ok,
    Err,
    Skipped,
}

impl Trace {
    fn failed(inputs: Value, reason: String) -> Self {
        Self { status: Status::Err, inputs, output: Value::Null, reason: Some(reason) }
    }
}

impl<'c> Progress<'c> {
    /// A graph of which nothing was run yet; `args` are those of each node, templates of the file filled in.
    pub fn new(composition: &'c Composition, args: Vec<Value>) -> Self {
        Self { composition, args, traces: BTreeMap::new(), at: 0 }
    }

    /// The next node that must be called; those that need no call are dealt with on the way.
    pub fn next_calls(&mut self) -> Option<Calls> {
        while let Some(node) = self.composition.nodes.get(self.at) {
            match self.prepared(node) {
                Ok(calls) => return Some(Calls { node: self.at, args: calls }),
                Err(trace) => {
                    self.traces.insert(&node.id, *trace);
                    self.at += 1;
                }
            }
        }
        None
    }

    /// Takes the results of the calls that came last, in order; an error is why there is none.
    pub fn answer(&mut self, inputs: Vec<Value>, answers: Vec<Result<Value, String>>) {
        let Some(node) = self.composition.nodes.get(self.at) else { return };
        self.at += 1;
        let is_fan_out = node.for_each.is_some();
        let inputs = if is_fan_out { Value::Array(inputs) } else { inputs.into_iter().next().unwrap_or_default() };
        let outputs: Result<Vec<Value>, String> = answers.into_iter().collect();
        let trace = match outputs {
            Ok(outputs) => {
                let output =
                    if is_fan_out { Value::Array(outputs) } else { outputs.into_iter().next().unwrap_or_default() };
                transformed(node, inputs, output)
            }
            Err(reason) => Trace::failed(inputs, reason),
        };
        self.traces.insert(&node.id, trace);
    }

    /// Result of all nodes.
    pub fn finish(self, took: Duration) -> Finished {
        let Self { composition, traces, .. } = self;
        let failed = |(at, node): (usize, &CompositionNode)| {
            let trace = traces.get(node.id.as_str()).filter(|trace| trace.status == Status::Err)?;
            Some((at, trace.reason.clone().unwrap_or_default()))
        };
        let failed: Vec<(usize, String)> = composition.nodes.iter().enumerate().filter_map(failed).collect();
        let outputs: Map<String, Value> =
            traces.iter().map(|(id, trace)| ((*id).to_owned(), trace.output.clone())).collect();
        let output = match &composition.output {
            CompositionOutput::Last => {
                Ok(composition.nodes.last().and_then(|node| outputs.get(&node.id)).cloned().unwrap_or_default())
            }
            CompositionOutput::Of(id) => Ok(outputs.get(id).cloned().unwrap_or_default()),
            CompositionOutput::Assembled(program) => {
                Program::parse(program).and_then(|program| program.run(&json!({"nodes": outputs})))
            }
        };
        let (output, no_output) = match output {
            Ok(output) => (output, None),
            Err(reason) => (Value::Null, Some(reason)),
        };
        let tripped = composition.max_duration.filter(|most| took > *most).map(|_| "max_duration_ms");
        let nodes: Map<String, Value> = traces.iter().map(|(id, trace)| ((*id).to_owned(), shown(trace))).collect();
        let ran = failed.is_empty() && no_output.is_none() && tripped.is_none();
        let envelope = json!({
            "composition": {"ran": ran, "budget_tripped": tripped, "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX)},
            "nodes": nodes,
            "output": output,
        });
        Finished { envelope, failed, no_output }
    }

    /// The arguments of the calls of a node; the trace of one that needs none.
    fn prepared(&self, node: &CompositionNode) -> Result<Vec<Value>, Box<Trace>> {
        let skipped =
            || Box::new(Trace { status: Status::Skipped, inputs: Value::Null, output: Value::Null, reason: None });
        let failed = |reason: String| Box::new(Trace::failed(Value::Null, reason));
        let done = |inputs: Value, output: Value| Box::new(transformed(node, inputs, output));
        let mut parents = Map::new();
        for parent in &node.needs {
            match self.traces.get(parent.as_str()) {
                Some(trace) if trace.status == Status::Ok => {
                    parents.insert(parent.clone(), trace.output.clone());
                }
                Some(_) | None => return Err(skipped()),
            }
        }
        if let Some(when) = &node.when {
            let asked = Program::parse(when).and_then(|program| program.run(&json!({"parents": parents})));
            match asked {
                Ok(Value::Bool(false) | Value::Null) => return Err(skipped()),
                Ok(_) => {}
                Err(reason) => return Err(failed(format!("`when` cannot be decided: {reason}"))),
            }
        }
        let scope = Scope { parents: &parents, vars: &self.composition.vars, item: None };
        let args = &self.args[self.at];
        let Some(list) = &node.for_each else {
            let inputs = substituted(args, &scope).map_err(failed)?;
            return match &node.mock {
                Some(result) => Err(done(inputs, result.clone())),
                None => Ok(vec![inputs]),
            };
        };
        let items = match parents.get(list) {
            Some(Value::Array(items)) => items,
            Some(other) => {
                let found = crate::excerpt::around(&other.to_string(), 0..0);
                return Err(failed(format!("`for_each` needs a list, and `{list}` is {found}")));
            }
            None => {
                return Err(failed(format!("`for_each` names `{list}`, which it does not need")));
            }
        };
        if items.len() > node.max_iterations {
            let reason =
                format!("`{list}` has {} items, more than `max_iterations: {}`", items.len(), node.max_iterations);
            return Err(failed(reason));
        }
        let each = items.iter().map(|item| substituted(args, &Scope { item: Some(item), ..scope }));
        let inputs: Vec<Value> = each.collect::<Result<_, _>>().map_err(failed)?;
        match &node.mock {
            Some(result) => {
                let outputs = vec![result.clone(); inputs.len()];
                Err(done(Value::Array(inputs), Value::Array(outputs)))
            }
            None if inputs.is_empty() => Err(done(json!([]), json!([]))),
            None => Ok(inputs),
        }
    }
}

/// A node whose result came, rewritten where it says so.
fn transformed(node: &CompositionNode, inputs: Value, output: Value) -> Trace {
    let Some(program) = &node.transform else {
        return Trace { status: Status::Ok, inputs, output, reason: None };
    };
    match Program::parse(program).and_then(|program| program.run(&output)) {
        Ok(output) => Trace { status: Status::Ok, inputs, output, reason: None },
        Err(reason) => Trace::failed(inputs, format!("`transform` failed: {reason}")),
    }
}

fn shown(trace: &Trace) -> Value {
    let status = match trace.status {
        Status::Ok => "ok",
        Status::Err => "err",
        Status::Skipped => "skipped",
    };
    json!({"status": status, "inputs": trace.inputs, "output": trace.output, "error": trace.reason})
}

/// A graph in which every call is mocked, so that no server is needed.
#[derive(Debug)]
pub struct Mocked(Composition);

impl Mocked {
    /// A graph without calls.
    pub fn new(composition: Composition) -> Self {
        Self(composition)
    }
}

impl Offline for Mocked {
    fn files(&self) -> Vec<&str> {
        Vec::new()
    }

    fn evaluate(&self, _: &[String]) -> Result<Evaluated, String> {
        let args = self.0.nodes.iter().map(|node| node.args.to_json()).collect();
        let mut progress = Progress::new(&self.0, args);
        // Nothing is left to call.
        while let Some(calls) = progress.next_calls() {
            progress.answer(calls.args, Vec::new());
        }
        let finished = progress.finish(Duration::ZERO);
        let problems = finished.problems(&self.0).into_iter().map(|(_, text)| ("composition-node", text)).collect();
        Ok(Evaluated { envelope: finished.envelope, problems })
    }
}

impl Finished {
    /// Failures that no expectation covers: the index of the node, if it is one, and the message.
    pub fn problems(&self, composition: &Composition) -> Vec<(Option<usize>, String)> {
        let is_judged = |at: usize| composition.judged.contains(&composition.nodes[at].id);
        let failed = self.failed.iter().filter(|(at, _)| !is_judged(*at));
        let told = |(at, reason): &(usize, String)| {
            (Some(*at), format!("node `{}` failed: {reason}", composition.nodes[*at].id))
        };
        let output = self.no_output.iter().map(|reason| (None, format!("no output: {reason}")));
        let tripped = self.envelope.pointer("/composition/budget_tripped").and_then(Value::as_str);
        let tripped = tripped.map(|name| (None, format!("the calls took longer than `{name}` allows")));
        failed.map(told).chain(output).chain(tripped).collect()
    }
}

/// Values of references.
#[derive(Clone, Copy)]
struct Scope<'v> {
    parents: &'v Map<String, Value>,
    vars: &'v Value,
    item: Option<&'v Value>,
}

/// A value with its references replaced; a text that is nothing but one becomes the value itself.
fn substituted(value: &Value, scope: &Scope<'_>) -> Result<Value, String> {
    match value {
        Value::String(text) => replaced(text, scope),
        Value::Array(items) => {
            items.iter().map(|item| substituted(item, scope)).collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| Ok((key.clone(), substituted(value, scope)?));
            map.iter().map(entry).collect::<Result<_, String>>().map(Value::Object)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
    }
}

fn replaced(text: &str, scope: &Scope<'_>) -> Result<Value, String> {
    let references = references(text);
    if let [(0, end, path)] = references[..]
        && end == text.len()
    {
        return looked_up(path, scope).cloned();
    }
    let mut result = String::new();
    let mut done = 0;
    for (start, end, path) in references {
        result.push_str(&text[done..start]);
        match looked_up(path, scope)? {
            Value::String(text) => result.push_str(text),
            other => result.push_str(&other.to_string()),
        }
        done = end;
    }
    Ok(Value::String(result + &text[done..]))
}

/// The references of a text: where each begins and ends, and its path.
pub fn references(text: &str) -> Vec<(usize, usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("${").map(|at| at + from) {
        let Some(end) = text[start..].find('}').map(|at| at + start) else { break };
        found.push((start, end + 1, text[start + 2..end].trim_end_matches("[*]")));
        from = end + 1;
    }
    found
}

/// The value at a path such as `search.hits[0].name`; what is not in a result is looked for in its structured content.
fn looked_up<'v>(path: &str, scope: &Scope<'v>) -> Result<&'v Value, String> {
    let (root, rest) = path.find(['.', '[']).map_or((path, ""), |at| path.split_at(at));
    let value = match (root, scope.item) {
        ("var", _) => Some(scope.vars),
        ("item", Some(item)) => Some(item),
        (id, _) => scope.parents.get(id),
    };
    let value = value.ok_or_else(|| format!("`${{{path}}}` leads nowhere: there is no `{root}` here"))?;
    if rest.is_empty() {
        return Ok(value);
    }
    let structured = || value.get("structuredContent").and_then(|value| walked(value, rest));
    walked(value, rest)
        .or_else(structured)
        .ok_or_else(|| format!("`${{{path}}}` leads nowhere in the result of `{root}`"))
}

fn walked<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split(['.', '[']).filter(|part| !part.is_empty()).try_fold(value, |value, part| match part.strip_suffix(']') {
        Some(index) => value.get(index.parse::<usize>().ok()?),
        None => value.get(part),
    })
}

#[cfg(test)]
mod tests {
    use mcprove_model::{Node, Span};

    use super::*;

    fn node(id: &str, needs: &[&str], args: Value) -> CompositionNode {
        CompositionNode {
            id: id.to_owned(),
            needs: needs.iter().map(|id| (*id).to_owned()).collect(),
            server: None,
            tool: "t".to_owned(),
            args: Node::from_json(Span::default(), args),
            transform: None,
            when: None,
            for_each: None,
            max_concurrency: 1,
            max_iterations: 10,
            mock: None,
            span: Span::default(),
        }
    }

    fn graph(nodes: Vec<CompositionNode>) -> Composition {
        let (output, vars) = (CompositionOutput::Last, json!({"who": "Ada"}));
        Composition { nodes, output, vars, max_duration: None, judged: Vec::new(), span: Span::default() }
    }

    /// Runs a graph on a server that answers with the arguments; returns the calls and the result.
    fn run(graph: &Composition) -> (Vec<Value>, Finished) {
        let args = graph.nodes.iter().map(|node| node.args.to_json()).collect();
        let mut progress = Progress::new(graph, args);
        let mut made = Vec::new();
        while let Some(calls) = progress.next_calls() {
            made.extend(calls.args.clone());
            let answers = calls.args.iter().map(|args| match args.get("fail") {
                Some(_) => Err("no".to_owned()),
                None => Ok(json!({"structuredContent": args})),
            });
            let answers = answers.collect();
            progress.answer(calls.args, answers);
        }
        (made, progress.finish(Duration::ZERO))
    }

    #[test]
    fn results_are_handed_on_with_their_type() {
        let graph = graph(vec![
            node("a", &[], json!({"n": 3, "who": "${var.who}"})),
            node("b", &["a"], json!({"n": "${a.n}", "text": "n is ${a.structuredContent.n}", "all": "${a}"})),
        ]);
        let (made, finished) = run(&graph);
        assert_eq!(made[0], json!({"n": 3, "who": "Ada"}));
        assert_eq!((&made[1]["n"], &made[1]["text"]), (&json!(3), &json!("n is 3")));
        assert_eq!(finished.envelope["composition"]["ran"], json!(true));
        assert_eq!(finished.envelope["nodes"]["b"]["status"], json!("ok"));
        assert_eq!(finished.envelope["output"]["structuredContent"]["n"], json!(3));
    }

    #[test]
    fn what_needs_a_failed_or_skipped_node_is_skipped() {
        let mut skipped = node("s", &["a"], json!({}));
        skipped.when = Some(".parents.a.structuredContent.n > 5".to_owned());
        let graph = graph(vec![
            node("a", &[], json!({"n": 3})),
            skipped,
            node("t", &["s"], json!({})),
            node("f", &["a"], json!({"fail": 1})),
            node("g", &["f"], json!({})),
            node("m", &["a"], json!({"x": "${a.nowhere}"})),
        ]);
        let (made, finished) = run(&graph);
        assert_eq!(made.len(), 2);
        let status = |id: &str| finished.envelope["nodes"][id]["status"].as_str().unwrap_or_default().to_owned();
        assert_eq!(["a", "s", "t", "f", "g", "m"].map(status), ["ok", "skipped", "skipped", "err", "skipped", "err"]);
        assert_eq!(finished.failed.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(finished.envelope["composition"]["ran"], json!(false));
    }

    #[test]
    fn a_tool_is_called_for_each_item() {
        let mut list = node("list", &[], json!({}));
        (list.mock, list.transform) = (Some(json!({"hits": [1, 2, 3]})), Some(".hits".to_owned()));
        let mut each = node("each", &["list"], json!({"n": "${item}"}));
        each.for_each = Some("list".to_owned());
        let mut graph = graph(vec![list, each]);
        graph.output = CompositionOutput::Assembled("[.nodes.each[].structuredContent.n] | add".to_owned());
        let (made, finished) = run(&graph);
        assert_eq!(made, [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]);
        assert_eq!(finished.envelope["output"], json!(6));
        graph.nodes[1].max_iterations = 2;
        assert_eq!(run(&graph).1.failed.len(), 1);
        graph.nodes[0].transform = None;
        assert_eq!(run(&graph).1.failed.len(), 1, "no list");
    }
}
