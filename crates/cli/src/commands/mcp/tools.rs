//! The tools of the server: each answers with one JSON object of a bounded size.

use std::fs;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcprove_engine::{Driven, Driver, DriverOptions, Storing, tool_name};
use mcprove_mock::ToolHandler;
use mcprove_model::{Case, Redactor, Report, SourceFile, bounded_json, escape_text};
use mcprove_suite::load::bounded_read;
use mcprove_wire::{Limits, TemporaryFolder};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, watch};

use super::folder::Folder;
use super::reads::{self, Allowed};
use super::servers::{Known, Servers};
use super::{budget, program};
use crate::commands::drive::{add_verdict, decode_assertion, of_server, rendered};
use crate::context::Context;
use crate::execution::runtime;
use crate::failure::Failure;
use crate::scan::no_such_tool;

/// Tokens of an answer, if the caller does not say.
const TOKENS: u64 = 2_000;
/// Calls that work at a time: each may start servers.
const CALLS: usize = 16;
/// The deadline of a handshake and of a call, if the caller does not say.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The tools.
#[derive(Clone, Debug)]
pub(super) struct Tools(Arc<Inner>);

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) folder: Folder,
    pub(super) servers: Servers,
    own_program: PathBuf,
    limits: Limits,
    /// Calls that work at a time; others wait.
    calls: Semaphore,
}

/// The arguments of a call; they fit the schema of the tool.
pub(super) struct Arguments {
    values: Value,
    /// Its sender is dropped when the answer is not awaited any more.
    caller: watch::Receiver<()>,
}

impl Tools {
    pub(super) fn new(folder: Folder, servers: Servers, context: &Context) -> Self {
        let (own_program, limits) = (context.own_program.clone(), context.limits);
        Self(Arc::new(Inner { folder, servers, own_program, limits, calls: Semaphore::new(CALLS) }))
    }
}

impl ToolHandler for Tools {
    fn call(&self, tool: &str, arguments: Value) -> Pin<Box<dyn Future<Output = Value> + Send + '_>> {
        let (inner, tool) = (Arc::clone(&self.0), tool.to_owned());
        Box::pin(async move {
            let _working = self.0.calls.acquire().await;
            // A request that is cancelled drops this future, and with it the sender.
            let (_waiting, caller) = watch::channel(());
            let tokens = arguments.get("max_tokens").and_then(Value::as_u64).unwrap_or(TOKENS);
            // Tools read files and wait for processes; none of them keeps the server from answering others.
            let working = tokio::task::spawn_blocking(move || {
                let answered = inner.answer(&tool, &Arguments { values: arguments, caller });
                // What an agent reads is kept in transcripts, as a log is.
                let secrets = inner.secrets();
                answered
                    .map(|mut answer| {
                        secrets.json(&mut answer);
                        budget::within(visible(answer), tokens)
                    })
                    .map_err(|message| budget::message(&escape_text(&secrets.text(&message)), tokens))
            });
            match working.await {
                Ok(Ok(answer)) => {
                    json!({"content": [{"type": "text", "text": answer.to_string()}], "structuredContent": answer})
                }
                Ok(Err(message)) => failed(&message),
                Err(_) => failed("this is a bug of mcprove; please report it"),
            }
        })
    }
}

/// A value whose strings hide nothing from people who read what their agent reads.
fn visible(value: Value) -> Value {
    match value {
        Value::String(text) => escape_text(&text).into_owned().into(),
        Value::Array(items) => items.into_iter().map(visible).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(key, value)| (escape_text(&key).into_owned(), visible(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn failed(message: &str) -> Value {
    json!({"content": [{"type": "text", "text": message}], "isError": true})
}

impl Arguments {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key)?.as_str()
    }

    pub(super) fn required(&self, key: &str) -> Result<&str, String> {
        self.text(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.values.get(key) == Some(&Value::Bool(true))
    }

    /// An option with the text of a key, in one word: the text may begin with a dash.
    fn option(&self, flag: &str, key: &str) -> Option<String> {
        self.text(key).map(|text| format!("{flag}={text}"))
    }

    /// Waits for the work of the call, as long as its caller does; what it started ends with it.
    fn wait<T>(&self, work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
        let mut caller = self.caller.clone();
        runtime(1).map_err(|failure| failure.to_string())?.block_on(async {
            tokio::select! {
                done = work => done,
                _ = caller.changed() => Err("the request was cancelled".to_owned()),
            }
        })
    }
}

impl Inner {
    fn answer(&self, tool: &str, arguments: &Arguments) -> Result<Value, String> {
        match tool {
            "list_servers" => Ok(self.list_servers()),
            "inspect_server" => self.inspect_server(arguments),
            "call_tool" => self.call_tool(arguments),
            "propose_tests" => self.propose_tests(arguments),
            "write_test" => self.write_test(arguments),
            "validate_suite" => self.validate_suite(arguments),
            "run_suite" => self.run_suite(arguments),
            "explain_finding" => self.explain_finding(arguments),
            "audit" => self.scan("audit", arguments, &[]),
            "conformance" => self.conformance(arguments),
            "lint_schemas" => self.scan("schema-lint", arguments, &["--all"]),
            other => Err(format!("unknown tool `{other}`")),
        }
    }

    /// The secrets of all servers, and the tokens of logins.
    fn secrets(&self) -> Redactor {
        let servers = self.servers.all();
        crate::logins::redactor(servers.iter().flat_map(|known| &known.spec.secrets).map(String::as_str))
    }

    fn list_servers(&self) -> Value {
        let servers: Vec<Value> = self.servers.all().iter().map(Known::listed).collect();
        json!({"servers": servers})
    }

    fn inspect_server(&self, arguments: &Arguments) -> Result<Value, String> {
        let server = self.whole_server(arguments)?;
        arguments.wait(async {
            let mut driver = self.open(&server, TIMEOUT).await?;
            let negotiated = driver.negotiated().clone();
            let catalog = driver.catalog().await.unwrap_or_default();
            driver.close().await;
            let mut tools = catalog.tools;
            if let Some(only) = arguments.text("tool") {
                let names: Vec<String> = tools.iter().map(|tool| tool_name(tool).to_owned()).collect();
                tools.retain(|tool| tool_name(tool) == only);
                if tools.is_empty() {
                    let unknown = no_such_tool(Some(only), &names);
                    let help = if let Failure::Other { help: Some(help), .. } = &unknown { help } else { "" };
                    return Err(format!("{unknown}\n  help: {help}"));
                }
            }
            let brief = |items: &[Value], keys: &[&str]| -> Vec<Value> {
                items.iter().map(|item| Value::Object(picked(item, keys))).collect()
            };
            Ok(json!({
                "server": {"name": negotiated.server_name, "version": negotiated.server_version},
                "protocol": negotiated.revision.to_string(),
                "tools": brief(&tools, &["name", "description", "inputSchema", "annotations"]),
                "resources": brief(&catalog.resources, &["uri", "name", "description"]),
                "resource_templates": brief(&catalog.templates, &["uriTemplate", "name", "description"]),
                "prompts": brief(&catalog.prompts, &["name", "description", "arguments"]),
                "problems": rendered(&catalog.findings),
            }))
        })
    }

    fn call_tool(&self, arguments: &Arguments) -> Result<Value, String> {
        let server = self.whole_server(arguments)?;
        let args = arguments.values.get("arguments").cloned().unwrap_or_else(|| json!({}));
        let mut block = json!({"tool": arguments.required("tool")?, "args": args});
        if let Some(expect) = arguments.values.get("expect") {
            let root = self.folder.root();
            reads::of_value(expect, &Allowed { root, folder: root, variables: None })?;
            block["expect"] = expect.clone();
        }
        let timeout = arguments.values.get("timeout_ms").and_then(Value::as_u64).map_or(TIMEOUT, Duration::from_millis);
        let document = json!({"name": "call", "server": {"command": "mcprove"}, "assert": block});
        let source = Arc::new(SourceFile::new("call", String::new()));
        let case = decode_assertion(document, &source).map_err(|failure| match &failure {
            Failure::Suite(findings) => rendered(findings),
            other => other.to_string(),
        })?;
        let case = Case { server: Some(Arc::clone(&server.spec)), timeout: Some(timeout), ..case };
        let Driven { events, seen } = arguments.wait(async {
            let mut driver = self.open(&server, timeout).await?;
            let driven = driver.perform(Arc::new(case)).await;
            driver.close().await;
            Ok::<_, String>(driven)
        })?;
        let mut answer = of_server(seen.as_ref());
        // The content says the same as the text.
        if answer.get("structured").is_some() || answer.get("text").is_some_and(|text| text != "") {
            answer.remove("result");
        }
        let finished = Report::fold(events).cases.into_iter().find_map(|case| case.finished);
        if let Some(finished) = finished {
            let secrets = crate::logins::redactor(server.spec.secrets.iter().map(String::as_str));
            add_verdict(&mut answer, &finished.verdict, finished.findings, &secrets);
            answer.remove("findings");
        }
        Ok(Value::Object(answer))
    }

    fn propose_tests(&self, arguments: &Arguments) -> Result<Value, String> {
        let server = self.whole_server(arguments)?;
        let work = TemporaryFolder::new("mcp").map_err(|error| error.to_string())?;
        let output = work.path().join("tests");
        let mut words = ["generate", "--json", "--output", &output.display().to_string()].map(str::to_owned).to_vec();
        words.extend(arguments.option("--tool", "tool"));
        let folder = output.display().to_string();
        self.run_with(words, &server, arguments).map_err(|message| {
            let advice = (
                "run it in a terminal and confirm, or choose tools with `--tool`",
                "draft one tool at a time with `tool`",
            );
            message.replace(&folder, "evals").replace(advice.0, advice.1)
        })?;
        let mut files = Vec::new();
        let mut names: Vec<PathBuf> = fs::read_dir(&output)
            .map_err(|error| error.to_string())?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .collect();
        names.sort();
        for path in names {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let content = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            files.push(json!({"path": format!("evals/{name}"), "content": content}));
        }
        let next = "fill in `args` and `expect`, then `write_test` each file that you want to keep, and `run_suite`";
        Ok(json!({"files": files, "next": next}))
    }

    fn validate_suite(&self, arguments: &Arguments) -> Result<Value, String> {
        let mut words = vec!["validate".to_owned(), self.suite(arguments)?, "--json".to_owned()];
        words.extend(arguments.flag("strict").then(|| "--strict".to_owned()));
        let printed = self.run(&words, arguments)?;
        Ok(json!({
            "usable": printed.code == 0,
            "findings": self.shown(printed.json.get("findings")),
            "summary": printed.json.get("summary"),
        }))
    }

    fn run_suite(&self, arguments: &Arguments) -> Result<Value, String> {
        let work = TemporaryFolder::new("mcp").map_err(|error| error.to_string())?;
        let report = work.path().join("report.json");
        let mut words = vec!["run".to_owned(), self.suite(arguments)?, "--json".to_owned()];
        words.extend(["--report".to_owned(), report.display().to_string()]);
        words.extend(arguments.option("--filter", "filter"));
        words.extend(arguments.option("--tag", "tag"));
        let printed = self.run(&words, arguments)?;
        let Ok(text) = bounded_read::read(&report) else {
            // Nothing ran: the list says what is wrong with the suite.
            return Err(match printed.json.as_array() {
                Some(list) if list.is_empty() => "nothing was run: no test has this `filter` and `tag`".to_owned(),
                _ => format!("nothing was run: {}", printed.json),
            });
        };
        let Some((report, _)) = bounded_json::parse_within(&text, program::READ) else {
            return Err("the report is too large to be read; name fewer tests with `filter` or `tag`".to_owned());
        };
        drop(text);
        let cases = report.get("cases").and_then(Value::as_array).cloned().unwrap_or_default();
        let has = |case: &&Value, words: &[&str]| case["verdict"].as_str().is_some_and(|word| words.contains(&word));
        let failures: Vec<Value> = cases.iter().filter(|case| has(case, &["failed", "error"])).map(failure).collect();
        let skipped: Vec<Value> = cases
            .iter()
            .filter(|case| has(case, &["skipped"]))
            .map(|case| json!({"name": case["name"], "reason": case["reason"]}))
            .collect();
        let answer = json!({
            "passed": printed.code == 0,
            "summary": report.get("summary"),
            "failures": failures,
            "skipped": skipped,
            "exit_code": printed.code,
        });
        Ok(self.shown(Some(&answer)))
    }

    fn explain_finding(&self, arguments: &Arguments) -> Result<Value, String> {
        let words = ["explain", "--json", "--", arguments.required("id")?].map(str::to_owned);
        let printed = self.run(&words, arguments)?;
        Ok(json!({"id": arguments.text("id"), "text": printed.json.get("text")}))
    }

    /// Runs a command that looks at a server, and answers with what it prints.
    fn scan(&self, command: &str, arguments: &Arguments, more: &[&str]) -> Result<Value, String> {
        let server = self.whole_server(arguments)?;
        let mut words = vec![command.to_owned(), "--json".to_owned()];
        words.extend(more.iter().map(|&word| word.to_owned()));
        words.extend(arguments.option("--tool", "tool"));
        let printed = self.run_with(words, &server, arguments)?;
        let mut report = printed.json;
        // The end of a long list is cut, so what is wrong comes first.
        if let Some(results) = report.get_mut("results").and_then(Value::as_array_mut) {
            results.sort_by_key(|result| match result["status"].as_str() {
                Some("healthy") => 2,
                Some("skipped") => 1,
                _ => 0,
            });
        }
        Ok(json!({"clean": printed.code == 0, "report": report}))
    }

    /// Counts and broken rules: the whole list has hundreds of rows.
    fn conformance(&self, arguments: &Arguments) -> Result<Value, String> {
        let server = self.whole_server(arguments)?;
        let mut words = ["conformance", "--json"].map(str::to_owned).to_vec();
        words.extend(arguments.option("--rule", "rule"));
        let printed = self.run_with(words, &server, arguments)?;
        let Some(rows) = printed.json.as_array() else {
            return Err(format!("nothing was judged: {}", printed.json));
        };
        let count = |status: &str| rows.iter().filter(|row| row["status"] == status).count();
        let (passed, not_applicable) = (count("PASS"), count("SKIP"));
        let failures: Vec<Value> = rows
            .iter()
            .filter(|row| row["status"] != "PASS" && row["status"] != "SKIP")
            .map(|row| Value::Object(picked(row, &["name", "detail"])))
            .collect();
        Ok(
            json!({"clean": printed.code == 0, "passed": passed, "not_applicable": not_applicable, "failures": failures}),
        )
    }

    async fn open(&self, server: &Known, timeout: Duration) -> Result<Driver, String> {
        let options = DriverOptions {
            own_program: self.own_program.clone(),
            limits: self.limits,
            timeout,
            storing: Storing::Compare,
            environment: Context::secret_values().into(),
            tokens: crate::logins::tokens().clone(),
        };
        Driver::open(&server.spec, &options).await.map_err(|failure| {
            let help = failure.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
            format!("`{}` could not be opened: {}{help}", server.name, failure.message)
        })
    }

    /// The server that a request names, if it can be started outside a run.
    fn whole_server(&self, arguments: &Arguments) -> Result<Known, String> {
        let server = self.servers.find(arguments.required("server")?)?;
        if !server.is_whole() {
            return Err(format!("`{}` needs a fixture, so it is started by `run_suite` only", server.name));
        }
        Ok(server)
    }

    /// The suite that a request names.
    fn suite(&self, arguments: &Arguments) -> Result<String, String> {
        let path = self.folder.existing(arguments.required("path")?)?;
        let shown = self.folder.shown(&path);
        Ok(match shown.as_str() {
            "" => ".".to_owned(),
            // It would be an option.
            dash if dash.starts_with('-') => format!("./{dash}"),
            _ => shown,
        })
    }

    /// Runs a command of mcprove on a server that is named by a configuration file of its own.
    fn run_with(
        &self,
        mut words: Vec<String>,
        server: &Known,
        arguments: &Arguments,
    ) -> Result<program::Printed, String> {
        if let Some(reason) = server.only_in_suites() {
            let name = &server.name;
            return Err(format!("`{name}` {reason}, so only `inspect_server`, `call_tool` and `run_suite` can use it"));
        }
        // Only this user can look into the folder; the file may hold secrets.
        let folder = TemporaryFolder::new("mcp").map_err(|error| error.to_string())?;
        let file = folder.path().join("server.json");
        fs::write(&file, server.configuration().to_string()).map_err(|error| error.to_string())?;
        words.extend(["--client-config".to_owned(), file.display().to_string()]);
        self.run(&words, arguments)
    }

    fn run(&self, words: &[String], arguments: &Arguments) -> Result<program::Printed, String> {
        arguments.wait(program::run(&self.own_program, words, self.folder.root()))
    }

    /// A value with paths as requests name them.
    fn shown(&self, value: Option<&Value>) -> Value {
        let Some(value) = value else { return Value::Null };
        let root = format!("{}{}", self.folder.root().display(), std::path::MAIN_SEPARATOR);
        let text = value.to_string().replace(&root, "");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }
}

/// A failing case of a report: what an agent needs to correct it.
fn failure(case: &Value) -> Value {
    let findings = case["findings"].as_array().into_iter().flatten();
    let wrong = findings.filter(|finding| !matches!(finding["severity"].as_str(), Some("note" | "warning")));
    let brief = |finding: &Value| {
        let mut brief = picked(finding, &["rule", "message", "expected", "actual", "help"]);
        brief.extend(finding.pointer("/place/text/line").map(|line| ("line".to_owned(), line.clone())));
        Value::Object(brief)
    };
    json!({
        "name": case["name"],
        "file": case["file"],
        "line": case["line"],
        "findings": wrong.map(brief).collect::<Vec<_>>(),
    })
}

fn picked(value: &Value, keys: &[&str]) -> Map<String, Value> {
    keys.iter().filter_map(|&key| Some((key.to_owned(), value.get(key)?.clone()))).collect()
}
