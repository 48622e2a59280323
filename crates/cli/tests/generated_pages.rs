//! The pages of the documentation that are made from the program's own tables, and that they are up to date.
//! `SNAPSHOTS=overwrite cargo test -p mcprove --test cli generated_pages` writes them.

use crate::pages;

macro_rules! up_to_date {
    ($name:ident, $page:expr, $file:literal) => {
        #[test]
        fn $name() {
            snapbox::assert_data_eq!($page, snapbox::file![$file].raw());
        }
    };
}

up_to_date!(checks_and_matchers, pages::checks::page(), "../../../docs/checks.md");
up_to_date!(commands, pages::commands::page(), "../../../docs/commands.md");
up_to_date!(conformance_rules, pages::conformance::page(), "../../../docs/conformance-rules.md");
up_to_date!(findings, pages::findings::page(), "../../../docs/findings.md");
up_to_date!(rule_texts, pages::rule_texts::page(), "../../model/src/rule_texts.txt");
up_to_date!(formats, pages::formats::page(), "../../../docs/formats.md");
up_to_date!(public_names, pages::public_names::page(), "../../../schema/public-names.txt");
up_to_date!(keys, pages::keys::page(), "../../../docs/keys.md");

#[test]
fn the_page_of_keys_lists_every_key_of_the_schemas() {
    assert_eq!(pages::keys::missing(&pages::keys::page()), Vec::<String>::new());
}

#[test]
fn the_help_of_a_refused_key_names_what_exists() {
    assert_eq!(pages::formats::unknown_advice(), Vec::<String>::new());
}
