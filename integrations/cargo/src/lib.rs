#![doc = include_str!("../README.md")]

mod driver;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

pub use driver::{DriveError, Driver};

/// Runs each test of the suites as a test of its own; `args` are arguments of `mcprove run`.
///
/// This is the whole `main` of a test target with `harness = false`.
pub fn main(suites: &[&str], args: &[&str]) -> ExitCode {
    let arguments = Arguments::from_args();
    match trials(suites, args) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(error) => {
            report(&error.to_string());
            ExitCode::from(2)
        }
    }
}

#[expect(clippy::print_stderr, reason = "this is the main function of a test program")]
fn report(message: &str) {
    eprintln!("{message}");
}

fn trials(suites: &[&str], args: &[&str]) -> Result<Vec<Trial>, DriveError> {
    let mut driver = Driver::start()?;
    let all: Vec<&str> = suites.iter().chain(args).copied().collect();
    let found = driver.request("collect", &json!({"args": all}))?;
    if found["usable"] != true {
        return Err(DriveError::new(text(&found["message"])));
    }
    let driver = Arc::new(Mutex::new(driver));
    let args: Arc<[String]> = args.iter().map(|&arg| arg.to_owned()).collect();
    let tests = found["tests"].as_array().into_iter().flatten();
    Ok(tests.map(|test| trial(test.clone(), &driver, &args)).collect())
}

/// A test, named `file::name`.
fn trial(test: Value, driver: &Arc<Mutex<Driver>>, args: &Arc<[String]>) -> Trial {
    let mut name = format!("{}::{}", text(&test["file"]), text(&test["name"]));
    if let Some(variant) = test["variant"].as_str() {
        name = format!("{name} [{variant}]");
    }
    if test["trial"] != 1 {
        name = format!("{name} (trial {})", test["trial"]);
    }
    let tags: Vec<&str> = test["tags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let (kind, is_skipped) = (tags.join(","), test["skip"].is_string());
    let (driver, args) = (Arc::clone(driver), Arc::clone(args));
    Trial::test(name, move || run(&test, &driver, &args)).with_kind(kind).with_ignored_flag(is_skipped)
}

fn run(test: &Value, driver: &Mutex<Driver>, args: &[String]) -> Result<(), Failed> {
    let file = text(&test["file"]);
    let args: Vec<&str> = std::iter::once(file).chain(args.iter().map(String::as_str)).collect();
    let tests = json!([{"file": file, "name": test["name"]}]);
    let answer = {
        let mut driver = driver.lock().unwrap_or_else(PoisonError::into_inner);
        driver.request("run", &json!({"args": args, "tests": tests}))?
    };
    let same = |result: &&Value| ["variant", "trial"].iter().all(|key| result[*key] == test[*key]);
    let result = answer["results"].as_array().into_iter().flatten().find(same);
    match result.map(|result| (text(&result["verdict"]), text(&result["message"]))) {
        Some(("passed" | "skipped", _)) => Ok(()),
        Some((_, message)) => Err(format!("{message}\n\n{file}:{}", test["line"]).into()),
        None => Err("mcprove did not report a result for this test".into()),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
