//! Rules for catalogs of tools, one file per rule.

use mcprove_model::Severity;

use crate::lint::{ListingView, RuleFaults, ToolView};
use crate::tighten::FixStep;

mod any_value;
mod array_without_items;
mod complex_schema;
mod confusable_tool_names;
mod costly_catalog;
mod costly_tool;
mod deep_schema;
mod duplicate_key;
mod duplicate_tool_name;
mod enum_in_prose;
mod enum_outside_type;
mod hidden_characters;
mod input_not_object;
mod invalid_default;
mod invalid_schema;
mod long_description;
mod long_tool_name;
mod look_alike_tool_names;
mod more_tools_than_hosts_take;
mod no_description;
mod no_input_schema;
mod no_required_list;
mod no_tool_name;
mod non_text_enum;
mod old_definitions;
mod open_object;
mod property_name_characters;
mod root_combinator;
mod root_reference;
mod same_description;
mod sensitive_parameter;
mod texts;
mod too_many_tools;
mod tool_name_characters;
mod tuple;
mod type_list;
mod unbounded_size;
mod undeclared_required_property;
mod undocumented_optional_parameter;
mod undocumented_required_parameter;
mod unresolvable_reference;
mod unsupported_format;
mod vague_description;
mod write_without_annotations;
mod wrong_annotation_type;

mod example;
mod order_to_model;
mod page;
mod selection;
#[cfg(test)]
mod tests;

pub use costly_catalog::catalog_tokens;
pub use example::Example;
pub use page::rules_page;
pub use selection::{Selection, SelectionOptions};
pub(crate) use selection::{known, names};

/// Something that can be wrong.
#[derive(Debug)]
pub struct Rule {
    /// Its stable id.
    pub id: &'static str,
    /// The fault in a few words with dashes, readable as "allow …".
    pub name: &'static str,
    /// One sentence for lists.
    pub summary: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// Rationale, in whole sentences.
    pub why: &'static str,
    /// Advice on what to do about it.
    pub help: &'static str,
    /// A catalog with a fault.
    pub bad: Example,
    /// The same without the fault.
    pub good: Example,
    /// The mechanical fix, if there is one.
    pub(crate) fix: Option<FixStep>,
    pub(crate) run: Scope,
}

/// Input of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    Tool(for<'c> fn(&ToolView<'_, 'c>, &mut RuleFaults<'_, 'c>)),
    Listing(for<'c> fn(&ListingView<'c>, &mut RuleFaults<'_, 'c>)),
}

/// Rules that belong together, named by the first letters of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// `POR`: what hosts are known to drop or reject.
    Portability,
    /// `SCH`: input schemas that let malformed input through.
    Strictness,
    /// `TXT`: texts that mislead a model or a person.
    Texts,
    /// `USE`: what keeps an agent from choosing and calling tools well.
    Usability,
    /// `VAL`: what is not valid at all.
    Validity,
}

impl Group {
    /// Every group, sorted by prefix.
    pub const ALL: [Self; 5] = [Self::Portability, Self::Strictness, Self::Texts, Self::Usability, Self::Validity];

    /// The first letters of its rules' ids.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Portability => "POR",
            Self::Strictness => "SCH",
            Self::Texts => "TXT",
            Self::Usability => "USE",
            Self::Validity => "VAL",
        }
    }

    /// The subject of its rules.
    pub fn title(self) -> &'static str {
        match self {
            Self::Portability => "what hosts are known to drop or reject",
            Self::Strictness => "input schemas that let malformed input through",
            Self::Texts => "texts that mislead a model or a person",
            Self::Usability => "what keeps an agent from choosing and calling tools well",
            Self::Validity => "what is not valid at all",
        }
    }
}

/// Every rule, sorted by id.
pub const RULES: &[Rule] = &[
    long_tool_name::RULE,
    tool_name_characters::RULE,
    root_combinator::RULE,
    root_reference::RULE,
    unsupported_format::RULE,
    old_definitions::RULE,
    array_without_items::RULE,
    property_name_characters::RULE,
    type_list::RULE,
    tuple::RULE,
    long_description::RULE,
    non_text_enum::RULE,
    more_tools_than_hosts_take::RULE,
    no_required_list::RULE,
    open_object::RULE,
    any_value::RULE,
    unbounded_size::RULE,
    hidden_characters::RULE,
    order_to_model::RULE,
    look_alike_tool_names::RULE,
    no_description::RULE,
    vague_description::RULE,
    undocumented_required_parameter::RULE,
    undocumented_optional_parameter::RULE,
    enum_in_prose::RULE,
    duplicate_tool_name::RULE,
    confusable_tool_names::RULE,
    same_description::RULE,
    write_without_annotations::RULE,
    sensitive_parameter::RULE,
    too_many_tools::RULE,
    deep_schema::RULE,
    costly_tool::RULE,
    costly_catalog::RULE,
    no_input_schema::RULE,
    no_tool_name::RULE,
    input_not_object::RULE,
    invalid_schema::RULE,
    unresolvable_reference::RULE,
    undeclared_required_property::RULE,
    invalid_default::RULE,
    wrong_annotation_type::RULE,
    duplicate_key::RULE,
    enum_outside_type::RULE,
    complex_schema::RULE,
];

impl Rule {
    /// The rule with an id or a name, whatever its case.
    pub fn find(name: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(name) || rule.name.eq_ignore_ascii_case(name))
    }

    /// The group it belongs to.
    pub fn group(&self) -> Group {
        let own = |group: &Group| self.id.starts_with(group.prefix());
        Group::ALL.into_iter().find(own).expect("every id begins with the prefix of a group")
    }

    /// True if `--fix` fixes it.
    pub fn is_fixable(&self) -> bool {
        self.fix.is_some()
    }
}
