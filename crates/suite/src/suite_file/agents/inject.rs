//! `inject`: the faults that the calls of an agent meet.

use mcprove_model::{AgentServer, Diagnostics, Fault, Node, nearest};

use crate::suite_file::Suite;

/// The faults an agent names, in order; `None` when one of them cannot be injected.
pub(super) fn decode(
    test: &Node,
    servers: &[AgentServer],
    suite: &Suite<'_>,
    found: &mut Diagnostics<'_>,
) -> Option<Vec<Fault>> {
    let Some(names) = test.get("inject").filter(|names| !names.is_null()) else { return Some(Vec::new()) };
    let names = found.one_or_many(names);
    for (at, name) in names.iter().enumerate() {
        let Some(text) = name.as_text() else { continue };
        if names[..at].iter().any(|earlier| earlier.as_text() == Some(text)) {
            let message = format!("`inject` names the fault `{text}` twice");
            found.error_with_help("duplicate-name", name.span, message, "name each fault once");
            return None;
        }
    }
    let faults: Vec<Fault> = names.iter().filter_map(|name| find(name, servers, suite, found)).collect();
    (faults.len() == names.len()).then_some(faults)
}

fn find(node: &Node, servers: &[AgentServer], suite: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<Fault> {
    let name = found.text(node, "an item of `inject`")?;
    let Some(fault) = suite.faults.usable.iter().find(|fault| fault.name == name) else {
        if suite.faults.unusable.iter().any(|unusable| unusable == name) {
            return None;
        }
        let names = || suite.faults.usable.iter().map(|fault| fault.name.as_str());
        let help = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if suite.faults.usable.is_empty() => "add it to `faults:` of the suite".to_owned(),
            None => format!("`faults` has {}", names().collect::<Vec<_>>().join(", ")),
        };
        found.error_with_help("unknown-fault", node.span, format!("unknown fault `{name}`"), help);
        return None;
    };
    if let Some(server) = &fault.server
        && !servers.is_empty()
        && servers.iter().all(|own| own.name != *server)
    {
        let message = format!("the fault `{name}` is for the server `{server}`, which this agent is not given");
        let help = format!("add `{server}` to its `servers`, or remove the fault");
        found.error_with_help("unknown-server", node.span, message, help);
        return None;
    }
    Some(fault.clone())
}
