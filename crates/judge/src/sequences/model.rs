//! The tools of a server as producers and consumers of things.

use mcprove_model::{FuzzDictionary, FuzzInvariant};
use serde_json::Value;

use super::key;
use super::role::{Role, SequenceTool};
use crate::generate::words;

/// Words of tools that bring back what was deleted, and texts of tools that only mark something as deleted.
const RESTORING: &[&str] = &["recover", "restore", "trash", "unarchive", "undelete", "undo"];
const SOFT: &[&str] = &["archiv", "marks ", "recoverable", "restore", "soft", "trash"];

/// Texts of tools for which keys that differ in case alone are one.
const FOLDING: &[&str] = &["case insensitive", "case-insensitive", "ignoring case", "lowercased", "not case-sensitive"];

/// The tools of a server, and which of them are about the same things.
#[derive(Clone, Debug)]
pub struct SequenceModel {
    /// The tools that may be called, in listed order.
    pub tools: Vec<SequenceTool>,
    /// Kinds of things.
    pub families: Vec<Family>,
    /// True if the server has resources.
    pub has_resources: bool,
    /// Calls that are made after every change, because the user says what their replies must be.
    pub demands: Vec<(usize, Value)>,
    /// Invariants that the user does not demand.
    pub off: Vec<String>,
}

/// The tools about one kind of thing, by their places in the model.
#[derive(Clone, Debug, Default)]
pub struct Family {
    /// The kind of thing.
    pub noun: String,
    /// All its tools.
    pub tools: Vec<usize>,
    /// Names under which replies and arguments have its key.
    pub keys: Vec<String>,
    /// True if keys that differ in case alone are one, as the tools say.
    pub folds_case: bool,
    /// True if what is deleted can be brought back, as the tools say.
    pub deletes_softly: bool,
}

impl SequenceModel {
    /// Learns what tools are about, as far as the user does not say it.
    pub fn new(tools: &[Value], instructions: Option<&str>, has_resources: bool, dictionary: &FuzzDictionary) -> Self {
        let mut tools: Vec<SequenceTool> = tools.iter().map(|tool| SequenceTool::of(tool, instructions)).collect();
        // `increment_counter` and `read_text_file` are about counters and files, if other tools are.
        let nouns: Vec<String> = tools.iter().map(|tool| tool.noun.clone()).filter(|noun| !noun.is_empty()).collect();
        for tool in &mut tools {
            let ends = |noun: &&String| tool.noun.strip_suffix(noun.as_str()).is_some_and(|rest| rest.ends_with('_'));
            if let Some(shorter) = nouns.iter().filter(ends).min_by_key(|noun| noun.len()) {
                tool.noun.clone_from(shorter);
            }
        }
        for link in &dictionary.links {
            for linked in &link.tools {
                if let Some(tool) = tools.iter_mut().find(|tool| tool.name == linked.tool) {
                    tool.link(link, linked);
                }
            }
        }
        let mut families: Vec<Family> = Vec::new();
        for (at, tool) in tools.iter().enumerate() {
            match families.iter_mut().find(|family| family.noun == tool.noun) {
                Some(family) => family.tools.push(at),
                None => families.push(Family { noun: tool.noun.clone(), tools: vec![at], ..Family::default() }),
            }
        }
        join_readers(&mut tools, &mut families);
        let all = tools.iter().map(|tool| tool.listed.to_string().to_lowercase()).collect::<Vec<_>>();
        let says = |at: usize, known: &[&str]| known.iter().any(|text| all[at].contains(text));
        let restores = tools.iter().any(|tool| words(&tool.name).iter().any(|word| RESTORING.contains(&word.as_str())));
        let folds_everywhere =
            instructions.is_some_and(|text| FOLDING.iter().any(|known| text.to_lowercase().contains(known)));
        for family in &mut families {
            family.folds_case = folds_everywhere || family.tools.iter().any(|at| says(*at, FOLDING));
            family.deletes_softly =
                restores || family.tools.iter().any(|at| tools[*at].role == Role::Delete && says(*at, SOFT));
            let consumers = || {
                family.tools.iter().filter(|at| matches!(tools[**at].role, Role::Read | Role::Delete | Role::Update))
            };
            let mut keys: Vec<String> = consumers().filter_map(|at| tools[*at].key.clone()).collect();
            keys.sort();
            keys.dedup();
            let has_consumers = !keys.is_empty();
            let mut names = Vec::new();
            for at in &family.tools {
                let tool = &mut tools[*at];
                if tool.role == Role::Create {
                    // A creator has a key of its own only if the consumers take the same argument.
                    let properties = tool.schema.get("properties").and_then(Value::as_object);
                    let shared = keys.iter().find(|key| properties.is_some_and(|all| all.contains_key(*key)));
                    // A record of a list has no other name than the key: `name` where others take `entityName`.
                    let alike = || {
                        let is_key = |own: &&String| keys.iter().any(|key| is_same_key(own, key, &family.noun));
                        tool.required.iter().find(is_key).filter(|_| tool.batch.is_some())
                    };
                    tool.key = shared.or_else(alike).cloned();
                    names.extend(tool.key.clone());
                }
                if tool.role == Role::Set && !has_consumers {
                    keys.extend(tool.key.clone());
                }
            }
            // A record is known by the name that it was made with.
            names.retain(|name| !keys.contains(name));
            keys.splice(0..0, names);
            // The name that the user gives comes first.
            for link in dictionary.links.iter().filter(|link| link.thing == family.noun) {
                keys.retain(|known| *known != link.key);
                keys.insert(0, link.key.clone());
            }
            for name in ["id", "key", "uri"] {
                if !keys.iter().any(|known| known == name) {
                    keys.push(name.to_owned());
                }
            }
            family.keys = keys;
        }
        let demand = |demand: &FuzzInvariant| {
            Some((tools.iter().position(|tool| tool.name == demand.tool)?, demand.args.clone()))
        };
        let demands = dictionary.invariants.iter().filter_map(demand).collect();
        Self { demands, tools, families, has_resources, off: dictionary.off.clone() }
    }

    /// The family of a tool.
    pub(super) fn family_of(&self, tool: usize) -> usize {
        self.families.iter().position(|family| family.tools.contains(&tool)).unwrap_or(0)
    }

    /// The tools of a family with one of these parts.
    pub(super) fn with_role<'m>(&'m self, family: usize, roles: &'m [Role]) -> impl Iterator<Item = usize> + 'm {
        let tools = self.families.get(family).map(|family| family.tools.as_slice()).unwrap_or_default();
        tools.iter().copied().filter(move |at| roles.contains(&self.tools[*at].role))
    }

    /// One line for each kind of thing, for people: the tools that make, read, change and delete it.
    pub fn described(&self) -> Vec<String> {
        let families = self.families.iter().enumerate().filter(|(at, family)| {
            family.tools.len() > 1
                && self.with_role(*at, &[Role::Create, Role::Set, Role::Update, Role::Delete]).next().is_some()
        });
        families
            .map(|(_, family)| {
                let tools: Vec<&str> = family.tools.iter().map(|at| self.tools[*at].name.as_str()).collect();
                let noun = if family.noun.is_empty() { "things" } else { &family.noun };
                format!("{noun}: {}", tools.join(", "))
            })
            .collect()
    }
}

/// Readers that no other tool makes anything for are about the things that have no readers otherwise: `read_graph` and
/// `open_nodes` about what `create_entities` makes. The facts show if that is so.
fn join_readers(tools: &mut [SequenceTool], families: &mut Vec<Family>) {
    let has = |tools: &[SequenceTool], family: &Family, roles: &[Role]| {
        family.tools.iter().any(|at| roles.contains(&tools[*at].role))
    };
    let readers = [Role::Read, Role::List, Role::Search];
    let is_maker = |family: &&Family| {
        has(tools, family, &[Role::Create, Role::Set])
            && has(tools, family, &[Role::Update, Role::Delete])
            && !has(tools, family, &readers)
    };
    let makers: Vec<String> = families.iter().filter(is_maker).map(|family| family.noun.clone()).collect();
    let [maker] = makers.as_slice() else { return };
    let is_reader = |family: &Family| {
        let fits = |at: &usize| {
            let tool = &tools[*at];
            match tool.role {
                Role::List | Role::Search => true,
                Role::Read => tool.key.as_ref().is_some_and(|name| key::rank(name, maker).is_some()),
                Role::Create | Role::Set | Role::Update | Role::Delete | Role::Count | Role::Write | Role::Look => {
                    false
                }
            }
        };
        !family.noun.is_empty() && family.tools.iter().all(fits)
    };
    let (joined, mut left): (Vec<Family>, Vec<Family>) = families.drain(..).partition(is_reader);
    for at in joined.iter().flat_map(|family| &family.tools) {
        tools[*at].noun.clone_from(maker);
    }
    if let Some(family) = left.iter_mut().find(|family| family.noun == *maker) {
        family.tools.extend(joined.into_iter().flat_map(|family| family.tools));
        family.tools.sort_unstable();
    }
    *families = left;
}

/// True if two arguments hold the key of the same kind of thing: `name` and `entityName`.
fn is_same_key(one: &str, other: &str, noun: &str) -> bool {
    let plain = |name: &str| -> String {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let noun: String = noun.chars().filter(char::is_ascii_alphanumeric).collect();
        name.strip_prefix(&noun).filter(|rest| !rest.is_empty()).map_or_else(|| name.clone(), str::to_owned)
    };
    plain(one) == plain(other) && key::rank(one, noun).is_some()
}
