//! Counts agree with lists.

use serde_json::{Value, json};

use super::super::facts::{SEEN, seen};
use super::super::invariant::{Expected, Fault, Invariant, Scene};
use super::super::reply::Reply;
use super::super::role::Role;
use super::super::step::StepTarget;
use super::super::world::next_cursor;

/// A count is the number of items in the list.
pub(in super::super) const COUNT_DISAGREES: Invariant = Invariant { id: "count-disagrees", check: count_disagrees };

/// A list that is cut has this many items at least.
const FEW: u64 = 3;

/// Names of fields that hold the number of items.
const TOTALS: &[&str] = &["count", "total", "total_count", "totalCount"];

fn count_disagrees(scene: &Scene<'_>) -> Option<Fault> {
    let (counted, items) = counted(scene)?;
    if counted == items || seen(&scene.facts.counted, &scene.target()) < SEEN {
        return None;
    }
    // A list may be cut at so many items.
    let lists = scene.model.with_role(scene.family, &[Role::List]);
    let longest = lists.map(|at| seen(&scene.facts.longest, &StepTarget::Tool(at))).max().unwrap_or(0) as u64;
    if counted > items && items >= FEW && items >= longest {
        return None;
    }
    let tool = scene.tool?;
    let expected = match (&scene.reply.doc, tool.role) {
        (None, Role::Count) => Expected::Checks(json!({"contains": [items.to_string()]})),
        (Some(Value::Object(map)), _) => {
            let name = map.iter().find(|(_, value)| value.as_u64() == Some(counted)).map(|(name, _)| name.clone());
            name.map_or(Expected::Unsaid, |name| Expected::Checks(json!({"json_path": {format!("$.{name}"): items}})))
        }
        (_, _) => Expected::Unsaid,
    };
    Some(Fault {
        message: format!("`{}` counts {counted}, but the list has {items} items", tool.name),
        subject: None,
        blamed: None,
        expected,
    })
}

/// The count that a reply gives, and the number of items in the list.
pub(super) fn counted(scene: &Scene<'_>) -> Option<(u64, u64)> {
    let tool = scene.tool.filter(|_| scene.reply.is_fine)?;
    match tool.role {
        Role::Count if scene.step.args.as_object().is_some_and(serde_json::Map::is_empty) => {
            let list = scene.world.observed.iter().find_map(|((target, args), observed)| {
                let StepTarget::Tool(at) = target else { return None };
                let is_it = scene.model.tools[*at].role == Role::List
                    && scene.model.family_of(*at) == scene.family
                    && args == "{}"
                    && !observed.restarted
                    && next_cursor(&observed.reply).is_none();
                observed.reply.items().filter(|_| is_it).map(Vec::len)
            })?;
            Some((number_in(scene.reply)?, list as u64))
        }
        Role::List if scene.step.args.as_object().is_some_and(serde_json::Map::is_empty) => {
            let map = scene.reply.doc.as_ref()?.as_object()?;
            let total = TOTALS.iter().find_map(|name| map.get(*name)?.as_u64())?;
            Some((total, scene.reply.items()?.len() as u64))
        }
        Role::Count
        | Role::List
        | Role::Create
        | Role::Set
        | Role::Read
        | Role::Search
        | Role::Update
        | Role::Delete
        | Role::Write
        | Role::Look => None,
    }
}

/// The only number in a reply.
fn number_in(reply: &Reply) -> Option<u64> {
    match &reply.doc {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::Object(map)) => {
            let mut numbers = map.values().filter_map(Value::as_u64);
            numbers.next().filter(|_| numbers.next().is_none())
        }
        Some(_) => None,
        None => {
            let digits = |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse().ok();
            let mut numbers = reply.text.split_whitespace().filter_map(digits);
            numbers.next().filter(|_| numbers.next().is_none())
        }
    }
}
