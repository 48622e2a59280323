//! A way out of the folder.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::{Dice, Types};

pub(super) const MUTATION: Mutation = Mutation {
    name: "string-path-traversal",
    phase: Phase::Property,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "string"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    if !site.may_be(Types::TEXT) || site.is_top() {
        return Vec::new();
    }
    // Files that nobody can change, not even a tool that writes and runs as root.
    vec![
        Variant::new("path traversal", "../../../../../../proc/version"),
        Variant::new("path traversal", "../../../../../../System/Library/CoreServices/SystemVersion.plist"),
    ]
}
