//! The suite in `cargo test`.

fn main() -> std::process::ExitCode {
    // Suites name their files relative to the folder they are run in.
    std::env::set_current_dir("..").expect("the project");
    mcprove_test::main(&["evals"], &[])
}
