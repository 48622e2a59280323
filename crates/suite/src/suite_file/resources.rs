//! `resources`: read a resource and judge its content.

use std::time::Duration;

use mcprove_model::{Act, Diagnostics, Expectation, ResourceAsk, Resources, Vocabulary};

use super::Suite;
use super::list::{Kind, expectation_block};
use crate::assertion_file::block::{self, Input};
use crate::assertion_file::expectation;
use crate::assertion_file::texts;
use crate::field::{self, Field};
use crate::schema::fragment;

pub(super) const KIND: Kind =
    Kind { key: "resources", summary: "Read a resource and judge its content.", fields: &[FIELDS], decode };

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(Vocabulary::Resources)),
    Field::required("uri", || fragment::text("The URI of the resource.")),
];

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let test = &input.entry.value;
    found.known_keys(test, "a test of `resources`", &field::keys(FIELDS));
    let is_misspelt = texts::is_misspelt(test.as_map().unwrap_or_default(), "uri", &field::keys(FIELDS));
    let uri = if is_misspelt { None } else { block::named(test, "uri", input.entry.key.span, found) };
    if let Some(uri) = &uri {
        input.scope.check(uri, found);
    }
    let expect = expectation::decode(expectation_block(test).as_ref(), Vocabulary::Resources, input.scope, found);
    let resources = Resources {
        subscribe: None,
        ask: ResourceAsk::Read { uri: uri? },
        expect_notification: None,
        settle: Duration::ZERO,
        unsubscribe: None,
    };
    Some((Act::Resources(resources), expect))
}
