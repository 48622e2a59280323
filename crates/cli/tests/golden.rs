//! What people see, byte for byte. `TRYCMD=overwrite cargo test` updates it; times are written as `[..]` by hand.

#[test]
fn commands_print_what_is_committed() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").env("NO_COLOR", "1");
}
