//! A text that nearly has the format.

use crate::fuzz::mutation::{Label, Mutation, Phase, Variant};
use crate::fuzz::site::Site;
use crate::generate::Dice;

pub(super) const MUTATION: Mutation = Mutation {
    name: "bound-format",
    phase: Phase::Boundary,
    rank: 1,
    label: Label::Either,
    example: r#"{"type": "string", "format": "date"}"#,
    make,
};

fn make(site: &Site<'_, '_>, _: &mut Dice) -> Vec<Variant> {
    let Some(format) = site.facts.formats.first() else { return Vec::new() };
    let text = match *format {
        "date" => "2024-02-30",
        "date-time" => "2024-01-15T25:00:00Z",
        "time" => "24:61:00Z",
        "duration" => "1 hour",
        "email" | "idn-email" => "user@",
        "uri" | "iri" | "url" => "http//example com",
        "uuid" => "f81d4fae-7dec-41d0-8765-00a0c91e6bfg",
        "ipv4" => "256.0.0.1",
        "ipv6" => "2001:db8:::1",
        "hostname" | "idn-hostname" => "-example-.com",
        "json-pointer" => "a/b",
        "regex" => "[a-",
        _ => "not of this format",
    };
    Variant::one(format!("no {format}"), text)
}
