//! Short programs of two clients, and the orders in which a server may have worked on them.

use serde_json::Value;

use super::explore::Explorer;
use super::judgement::Judge;
use super::model::SequenceModel;
use super::reply::Reply;
use super::role::Role;
use super::step::Step;

/// Programs of two clients at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Programs {
    /// Calls before, one after the other.
    pub before: Vec<Step>,
    /// The calls of each client.
    pub clients: Vec<Vec<Step>>,
    /// Calls afterwards, one after the other, that look at the state.
    pub after: Vec<Step>,
}

/// An order: which client is next.
pub type Order = Vec<usize>;

/// Every order of the calls that keeps the order of each client.
pub fn legal_orders(lengths: &[usize]) -> Vec<Order> {
    let mut orders = vec![(Vec::new(), lengths.to_vec())];
    let total: usize = lengths.iter().sum();
    for _ in 0..total {
        orders = orders
            .into_iter()
            .flat_map(|(order, left): (Order, Vec<usize>)| {
                (0..left.len())
                    .filter(|client| left[*client] > 0)
                    .map(|client| {
                        let (mut order, mut left) = (order.clone(), left.clone());
                        order.push(client);
                        left[client] -= 1;
                        (order, left)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    orders.into_iter().map(|(order, _)| order).collect()
}

/// Pairs of calls on the same thing, or on the same key where nothing was made before: two that write. `judge` knows the
/// things that exist after the calls `before`.
pub fn programs(
    model: &SequenceModel,
    judge: &Judge<'_>,
    explorer: &mut Explorer<'_>,
    family: usize,
    before: &[Step],
) -> Vec<Programs> {
    let mut found = Vec::new();
    let key = judge.world.live(family).next().map(|(key, _)| key.clone());
    let of = |roles: &[Role]| -> Vec<usize> {
        let tools = model.families.get(family).map(|family| family.tools.as_slice()).unwrap_or_default();
        tools.iter().copied().filter(|at| roles.contains(&model.tools[*at].role)).collect()
    };
    let readers = of(&[Role::Read]);
    let writers = of(&[Role::Update, Role::Set, Role::Write, Role::Create, Role::Delete]);
    let place = |at: usize| Some(model.tools[at].place(model.tools[at].key.as_deref()?));
    for (nth, one) in writers.iter().enumerate() {
        for other in &writers[nth..] {
            let call = |at: usize, explorer: &mut Explorer<'_>| match &key {
                Some(key) => explorer.single(at, family, key, judge),
                None => explorer.plain_call(at, judge),
            };
            let (Some(first), Some(mut second)) = (call(*one, explorer), call(*other, explorer)) else { continue };
            // Without a thing that was made, both name the same key.
            let named = |at: usize, step: &Step| step.args.pointer(&place(at)?).cloned();
            let shared = named(*one, &first);
            if key.is_none() {
                share(&mut second, place(*other), shared.as_ref());
            }
            let mut after: Vec<Step> = Vec::new();
            for reader in &readers {
                let read = match &key {
                    Some(key) => explorer.single(*reader, family, key, judge),
                    None => explorer.plain_call(*reader, judge),
                };
                let Some(mut read) = read else { continue };
                if key.is_none() {
                    share(&mut read, place(*reader), shared.as_ref());
                }
                after.push(read);
            }
            after.extend(explorer.lists(family));
            if !after.is_empty() {
                found.push(Programs { before: before.to_vec(), clients: vec![vec![first], vec![second]], after });
            }
        }
    }
    found
}

/// Puts a key into the arguments of a call.
fn share(step: &mut Step, place: Option<String>, shared: Option<&Value>) {
    if let (Some(shared), Some(old)) = (shared, place.and_then(|place| step.args.pointer_mut(&place))) {
        *old = shared.clone();
    }
}

/// True if two histories have the same replies: keys that servers make up are compared by the order in which they come.
pub fn same_history(one: &[Reply], other: &[Reply]) -> bool {
    one.len() == other.len() && {
        let (mut names_one, mut names_other) = (Names::default(), Names::default());
        one.iter()
            .zip(other)
            .all(|(one, other)| one.is_fine == other.is_fine && names_one.text(one) == names_other.text(other))
    }
}

/// Names of made-up keys, in the order in which they come.
#[derive(Default)]
struct Names {
    known: Vec<String>,
}

impl Names {
    fn text(&mut self, reply: &Reply) -> String {
        for map in reply.objects() {
            for (name, value) in map {
                let is_key = name == "id" || name.ends_with("_id") || name.ends_with("Id") || name == "uuid";
                if let (true, Value::String(text)) = (is_key, value)
                    && text.len() >= 12
                    && !self.known.contains(text)
                {
                    self.known.push(text.clone());
                }
            }
        }
        let mut text = reply.text.clone();
        for (at, known) in self.known.iter().enumerate() {
            text = text.replace(known.as_str(), &format!("<{at}>"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_keeps_that_of_each_client() {
        assert_eq!(legal_orders(&[1, 1]), [vec![0, 1], vec![1, 0]]);
        assert_eq!(legal_orders(&[2, 1]).len(), 3);
        assert_eq!(legal_orders(&[2, 2]).len(), 6);
    }
}
