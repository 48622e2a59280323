//! `mcprove fuzz --propose`: relations that the tools of a server should keep, as tests to be read and kept.

use std::time::Duration;

use mcprove_judge::generate::valid_input;
use mcprove_judge::metamorphic::proposals;
use mcprove_model::{ExitStatus, Node, Override, Relation, Span};
use mcprove_suite::yaml;
use serde_json::{Value, json};

use super::{Args, TIMES, keeping};
use crate::context::Context;
use crate::failure::Failure;
use crate::server_offer::offer_of;
use crate::stdout::print;

/// The most bytes of a test that a person might read and keep, and of all of them.
const LONGEST: usize = 64 << 10;
const ALL: usize = 1 << 20;

pub(super) fn run(args: &Args, context: &Context) -> Result<ExitStatus, Failure> {
    let mut server = args.run.execution.in_container(Override::default()).apply(&args.scan.subject.spec()?);
    args.scan.confinement.apply(&mut server, context);
    let times = TIMES.with(args.run.execution.timeout());
    let catalog = offer_of(&server, None, times.start.max(Duration::from_secs(1)), context)?;
    let keeping = keeping(&server, times.call, args.fixture.as_deref());
    let block = keeping.server.block();
    let (mut text, mut left_out, mut secret) = (String::new(), 0, 0);
    for tool in &catalog.tools {
        let relations: Vec<Value> = proposals(tool).iter().map(written).collect();
        let (Some(name), false) = (tool.get("name").and_then(Value::as_str), relations.is_empty()) else { continue };
        let schema = tool.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object"}));
        let input = valid_input(&schema, args.seed.unwrap_or(0)).unwrap_or_else(|_| json!({}));
        let document = json!({
            "name": format!("relations of {name}"),
            "server": block,
            "assert": {
                "tool": name,
                "args": input,
                "expect": {"not_error": true},
                "metamorphic": {"relations": relations},
            },
        });
        let document = yaml::write(&Node::from_json(Span::default(), document), 0);
        if document.len() > LONGEST || text.len() + document.len() > ALL {
            left_out += 1;
            continue;
        }
        if keeping.secrets.finds(document.as_bytes()) {
            secret += 1;
            continue;
        }
        text.push_str("---\n");
        text.push_str(&document);
    }
    if left_out > 0 {
        let bounds = format!("a test has at most {LONGEST} bytes, and all of them have {ALL}");
        context.write_stderr(&format!("note: {left_out} tests are left out: {bounds}\n"));
    }
    if secret > 0 {
        context.write_stderr(&format!("note: {secret} tests that would show a secret are left out\n"));
    }
    if text.is_empty() && secret == 0 {
        return Err(Failure::NothingSelected {
            message: "no relation can be proposed: no tool says that it only reads".to_owned(),
            help: "mark tools that only read with `readOnlyHint: true`".to_owned(),
        });
    }
    print(&text)?;
    Ok(ExitStatus::Good)
}

/// A relation as it is written in a file.
fn written(relation: &Relation) -> Value {
    let name = relation.name();
    match relation {
        Relation::Idempotent
        | Relation::ArgOrderInsensitive
        | Relation::CaseInsensitive
        | Relation::WhitespaceInsensitive => json!(name),
        Relation::Monotone { arg }
        | Relation::LimitSuperset { arg }
        | Relation::LimitPrefix { arg }
        | Relation::DuplicateInsensitive { arg } => json!({name: {"arg": arg}}),
        Relation::NoopFilter { arg, value }
        | Relation::SubsetUnderFilter { arg, value }
        | Relation::SortPermutes { arg, value }
        | Relation::FilterNarrows { arg, value } => json!({name: {"arg": arg, "value": value}}),
        Relation::PagesConcatenate { limit, offset } => json!({name: {"limit": limit, "offset": offset}}),
        Relation::SymmetricArgs { arg_a, arg_b } => json!({name: {"arg_a": arg_a, "arg_b": arg_b}}),
        Relation::SubstitutionInsensitive { arg, from, to } => json!({name: {"arg": arg, "from": from, "to": to}}),
    }
}
