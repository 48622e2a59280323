//! From a load that is asked for to its plan: pure.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

use mcprove_judge::load::LOAD_CASE;
use mcprove_model::{Case, Plan, PlannedCase, ServerSpec, ShardOf};

use super::case::{GateCase, LoadCase};
use super::{LoadOptions, Workload};
use crate::scan::ScanSubject;

/// Plans a load: its case, and a case for each gate. A shard has its part of the load and no gates: they are judged when all
/// shards are there.
pub fn plan_load(server: &Arc<ServerSpec>, workload: &Workload, options: &LoadOptions) -> Plan {
    let record = Arc::new(OnceLock::new());
    let case = |name: &str| LoadSubject { name: name.to_owned(), server, workload, options };
    let load = LoadCase { options: options.clone(), workload: workload.clone(), record: Arc::clone(&record) };
    let Some((number, of)) = options.shard else {
        let gates = options.gates.iter().map(|gate| {
            let work = GateCase { gate: gate.clone(), record: Arc::clone(&record) };
            case(&gate.text).subject().case("gate", work)
        });
        let cases = std::iter::once(case(LOAD_CASE).subject().case("load", load)).chain(gates);
        return Plan { cases: cases.enumerate().map(|(index, case)| planned(index, case)).collect(), shard: None };
    };
    let name = format!("{LOAD_CASE} {number}/{of}");
    let index = number.saturating_sub(1) as usize;
    let mut hasher = DefaultHasher::new();
    // Shards of different loads are not merged: all that describes the load counts.
    let described = serde_json::to_string(&options.described()).unwrap_or_default();
    (described, options.calls, &server.name).hash(&mut hasher);
    workload.names().for_each(|name| name.hash(&mut hasher));
    let shard = ShardOf { number, of, plan: format!("{:016x}", hasher.finish()), cases: of as usize };
    Plan { cases: vec![planned(index, case(&name).subject().case("load", load))], shard: Some(shard) }
}

/// The subject of a case of a load.
struct LoadSubject<'a> {
    name: String,
    server: &'a Arc<ServerSpec>,
    workload: &'a Workload,
    options: &'a LoadOptions,
}

impl LoadSubject<'_> {
    fn subject(&self) -> ScanSubject<'_> {
        ScanSubject {
            name: &self.name,
            server: self.server,
            fixture: self.workload.fixture.clone(),
            skip: None,
            tags: Vec::new(),
            start: self.options.start,
        }
    }
}

fn planned(index: usize, case: Arc<Case>) -> PlannedCase {
    PlannedCase { index, case, trial: 1, variant: None }
}
