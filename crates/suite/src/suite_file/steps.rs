//! Steps of a test: those of assertion files, and each may be for another server or claim what the client is not.

use std::sync::Arc;

use mcprove_model::{Diagnostics, Node, ServerSpec, Step};
use serde_json::{Value, json};

use super::{Suite, claims, test};
use crate::assertion_file::steps::{self, FurtherKeys};
use crate::field::Field;
use crate::schema::fragment;

const SERVER: &str = "server";

const FIELDS: &[Field] = &[
    Field::optional(claims::KEY, claims::schema),
    Field::optional(SERVER, || fragment::text("The server it is for; the test's own when left out.")),
];

/// The keys of the steps of a test.
pub(super) struct OfTest<'a> {
    pub(super) suite: &'a Suite<'a>,
    /// The server of the test.
    pub(super) server: Option<&'a Arc<ServerSpec>>,
}

impl FurtherKeys for OfTest<'_> {
    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn decode(&self, node: &Node, step: Option<&mut Step>, found: &mut Diagnostics<'_>) {
        let named = node.get(SERVER).filter(|named| !named.is_null());
        let server = named.and_then(|named| test::server_named(named, self.suite, found));
        let claims = claims::decode(node, found);
        if claims.is_some() {
            claims::report_legacy(node, server.as_ref().or(self.server), found);
        }
        if let Some(step) = step {
            step.server = server;
            step.claims = claims;
        }
    }
}

/// The JSON Schema of a list of steps.
pub(super) fn schema(description: &str) -> Value {
    let mut step = steps::schema(FIELDS);
    step[fragment::DEFINITION] = "step-of-suite".into();
    json!({"type": ["array", "null"], "items": step, "description": description})
}
