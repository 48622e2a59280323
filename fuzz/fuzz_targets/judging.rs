//! Schemas as bombs: a schema and a value, one per line, are judged by everything that walks schemas, within the time and the
//! memory that `fuzz/run` allows, and the same twice.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcprove_judge::fuzz::{FuzzPlan, ValuePool};
use mcprove_judge::generate::{optional_variants, valid_input};
use mcprove_judge::negative::{PROBES, Subject};
use mcprove_judge::schema_change::schema_changes;
use mcprove_judge::{Catalog, Selection, argument_errors, lint, too_complex, violates_output_schema};
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let Some(Ok(schema)) = lines.next().map(serde_json::from_slice::<Value>) else { return };
    let value = lines.next().and_then(|line| serde_json::from_slice::<Value>(line).ok()).unwrap_or_else(|| json!({}));
    let judged = || (argument_errors(&schema, &value), violates_output_schema(&schema, &value));
    assert_eq!(judged(), judged(), "the same reply has the same verdict");
    let _ = (too_complex(&schema), schema_changes(&schema, &value));
    let _ = (valid_input(&schema, 7), optional_variants(&schema, 7).len());
    let tool = json!({"name": "t", "description": "d", "inputSchema": schema.clone(), "outputSchema": schema});
    lint(&Catalog::of_server("s", &[tool.clone()]), &Selection::all(), &mut |fault| drop(fault.finding()));
    let subject = Subject { tool: "t", schema: &tool["inputSchema"], base: &value, oversized: 64 };
    for probe in PROBES {
        let _ = probe.requests(&subject);
    }
    let _ = FuzzPlan::new(&tool["inputSchema"], 7, 20).first(&ValuePool::default(), &|| false);
});
