//! What people see, byte for byte. `TRYCMD=overwrite cargo test` updates it; times are written as `[..]` by hand.

#[test]
fn commands_print_what_is_committed() {
    // Where the tests run must not show in what they print.
    trycmd::TestCases::new()
        .case("tests/cmd/*.trycmd")
        .env("NO_COLOR", "1")
        .env("CI", "")
        .env("GITHUB_ACTIONS", "")
        .env("GITHUB_STEP_SUMMARY", "");
}
