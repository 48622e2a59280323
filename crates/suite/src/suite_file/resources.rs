//! `resources`: read a resource and judge its content.

use std::time::Duration;

use mcprove_model::{Act, Diagnostics, Expectation, ResourceAsk, Resources, Vocabulary};

use super::Suite;
use super::list::Kind;
use crate::assertion_file::block::Input;
use crate::assertion_file::expectation;
use crate::field::Field;
use crate::schema::fragment;

pub(super) const KIND: Kind =
    Kind { key: "resources", summary: "Read a resource and judge its content.", fields: &[FIELDS], decode };

const FIELDS: &[Field] = &[
    Field::optional("expect", || fragment::expect(Vocabulary::Resources)),
    Field::required("uri", || fragment::text("The URI of the resource.")),
];

fn decode(input: &Input<'_>, _: &Suite<'_>, found: &mut Diagnostics<'_>) -> Option<(Act, Expectation)> {
    let uri = input.named("uri", found);
    if let Some(uri) = &uri {
        input.scope.check(uri, found);
    }
    let parts = input.expect.filter(|expect| !expect.is_null()).and_then(|_| input.expectations(&["expect"]));
    let expect = expectation::decode(parts.as_ref(), Vocabulary::Resources, input.scope, found);
    let resources = Resources {
        subscribe: None,
        ask: ResourceAsk::Read { uri: uri? },
        expect_notification: None,
        settle: Duration::ZERO,
        unsubscribe: None,
    };
    Some((Act::Resources(resources), expect))
}
