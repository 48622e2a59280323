//! The kinds of mutation, one file each.

use serde_json::{Number, Value};

use super::mutation::Mutation;
use crate::generate::{Decimal, whole_number};

mod any_null;
mod any_wrong_type;
mod array_empty;
mod array_mixed;
mod array_nested;
mod array_null_item;
mod array_thousand;
mod boolean_traps;
mod bound_enum_neighbour;
mod bound_enum_value;
mod bound_format;
mod bound_items_above;
mod bound_items_below;
mod bound_items_duplicate;
mod bound_length_above;
mod bound_length_at;
mod bound_length_below;
mod bound_multiple;
mod bound_pattern;
mod bound_property_additional;
mod bound_property_missing;
mod bound_range_above;
mod bound_range_at;
mod bound_range_below;
mod number_extremes;
mod number_fraction;
mod number_negative;
mod number_negative_zero;
mod number_precision;
mod number_zero;
mod object_deep;
mod object_empty;
mod object_hundred_keys;
mod object_reserved_key;
mod random_drop;
mod random_number;
mod random_text;
mod random_twice;
mod string_empty;
mod string_format_directives;
mod string_long;
mod string_newlines;
mod string_nul;
mod string_path_traversal;
mod string_repetitive;
mod string_reserved_word;
mod string_shell;
mod string_sql;
mod string_unicode;
mod string_whitespace;
mod structural_empty_object;
mod structural_missing_required;
mod structural_null_arguments;
mod structural_required_null;

/// Every kind of mutation, in the order of their names.
pub const MUTATIONS: &[Mutation] = &[
    any_null::MUTATION,
    any_wrong_type::MUTATION,
    array_empty::MUTATION,
    array_mixed::MUTATION,
    array_nested::MUTATION,
    array_null_item::MUTATION,
    array_thousand::MUTATION,
    boolean_traps::MUTATION,
    bound_enum_neighbour::MUTATION,
    bound_enum_value::MUTATION,
    bound_format::MUTATION,
    bound_items_above::MUTATION,
    bound_items_below::MUTATION,
    bound_items_duplicate::MUTATION,
    bound_length_above::MUTATION,
    bound_length_at::MUTATION,
    bound_length_below::MUTATION,
    bound_multiple::MUTATION,
    bound_pattern::MUTATION,
    bound_property_additional::MUTATION,
    bound_property_missing::MUTATION,
    bound_range_above::MUTATION,
    bound_range_at::MUTATION,
    bound_range_below::MUTATION,
    number_extremes::MUTATION,
    number_fraction::MUTATION,
    number_negative::MUTATION,
    number_negative_zero::MUTATION,
    number_precision::MUTATION,
    number_zero::MUTATION,
    object_deep::MUTATION,
    object_empty::MUTATION,
    object_hundred_keys::MUTATION,
    object_reserved_key::MUTATION,
    random_drop::MUTATION,
    random_number::MUTATION,
    random_text::MUTATION,
    random_twice::MUTATION,
    string_empty::MUTATION,
    string_format_directives::MUTATION,
    string_long::MUTATION,
    string_newlines::MUTATION,
    string_nul::MUTATION,
    string_path_traversal::MUTATION,
    string_repetitive::MUTATION,
    string_reserved_word::MUTATION,
    string_shell::MUTATION,
    string_sql::MUTATION,
    string_unicode::MUTATION,
    string_whitespace::MUTATION,
    structural_empty_object::MUTATION,
    structural_missing_required::MUTATION,
    structural_null_arguments::MUTATION,
    structural_required_null::MUTATION,
];

/// A text of exactly this length that begins like another.
fn stretched(value: &Value, length: usize) -> String {
    let text = value.as_str().unwrap_or_default();
    text.chars().chain(std::iter::repeat('a')).take(length).collect()
}

/// The next number beyond a bound: one more or less, or the next float where whole numbers end.
fn beside(limit: &Number, direction: i64) -> Option<Number> {
    let whole = Decimal::of(limit).and_then(Decimal::number).and_then(|number| number.as_i128());
    if let Some(next) = whole.and_then(|whole| whole_number(whole + i128::from(direction))) {
        return Some(next);
    }
    let limit = limit.as_f64()?;
    Number::from_f64(if direction > 0 {
        limit + limit.abs().max(1.0) * 0.5
    } else {
        limit - limit.abs().max(1.0) * 0.5
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::mutation::{Label, Phase};
    use super::super::site::{replaced, sites};
    use super::*;
    use crate::generate::{Checked, Dice, Document, Oracle, valid_input};

    #[test]
    fn the_table_is_sorted() {
        assert!(MUTATIONS.is_sorted_by_key(|mutation| mutation.name));
    }

    #[test]
    fn every_mutation_applies_to_its_example_and_its_label_is_the_oracles() {
        for mutation in MUTATIONS {
            let name = mutation.name;
            let example: Value = serde_json::from_str(mutation.example).expect(name);
            let structural = mutation.phase == Phase::Structural;
            let schema = if structural {
                example
            } else {
                json!({"type": "object", "properties": {"x": example}, "required": ["x"]})
            };
            let oracle = Oracle::new(&schema).expect(name);
            let input = valid_input(&schema, 0).expect(name);
            let places = sites(&Document::new(&schema), &Checked::default(), &input);
            let place = &places[usize::from(!structural)];
            let variants = (mutation.make)(place, &mut Dice::new(0));
            assert!(!variants.is_empty(), "{name} makes nothing of its example");
            for variant in variants {
                assert_ne!(&variant.value, place.value, "{name} changes nothing");
                let changed = replaced(&input, &place.path, variant.value).expect(name);
                let accepted = oracle.accepts(&changed);
                let expected = match mutation.label {
                    Label::Accepted => true,
                    Label::Rejected => false,
                    Label::Either => accepted,
                };
                assert_eq!(accepted, expected, "{name}: {changed}");
            }
        }
    }
}
