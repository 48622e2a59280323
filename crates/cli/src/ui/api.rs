//! The JSON API of the page (docs/ui.md lists it).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use hyper::{Method, StatusCode};
use mcprove_engine::{Catalog, InfoOptions, discover, open_session};
use mcprove_judge::argument_errors;
use mcprove_judge::output_schema::violates_output_schema;
use mcprove_model::{ClientCapabilities, ServerSpec, bounded_json};
use mcprove_wire::Limits;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::connection::{Connection, Order};
use super::history::{history, past_of};
use super::hub::Hub;
use super::login::PageLogins;
use super::runs::{RunOrder, Runs, commands, is_log_name, logs_in, report_of};
use super::save_test;
use super::schema_lint::schema_lint;
use super::suite_tree::Watched;
use crate::client_config;
use crate::commands::explain::explained;
use crate::execution::PROBE_TIMEOUT;
use crate::logs::Frames;
use crate::subject::{Subject, address, stdio, words};

/// Settings of the page.
pub(crate) struct Settings {
    /// Servers that were named on the command line or in suites.
    pub(crate) servers: Vec<ServerSpec>,
    /// The server that the command line names; it replaces the servers of suites.
    pub(crate) subject: Option<ServerSpec>,
    /// The suites that were named.
    pub(crate) suites: Vec<PathBuf>,
    /// The folder with event logs.
    pub(crate) logs: PathBuf,
    pub(crate) own_program: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) timeout: Duration,
}

/// The state behind the API.
pub(super) struct Api {
    settings: Settings,
    pub(super) hub: Rc<Hub>,
    connections: RefCell<BTreeMap<u64, Known>>,
    last: Cell<u64>,
    requests: Cell<u64>,
    runs: Runs,
    watched: RefCell<Watched>,
    logins: PageLogins,
}

/// Configuration files of clients that are offered where they exist.
const CLIENT_CONFIGS: &[&str] = &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"];

/// A connection as the API knows it.
struct Known {
    server: ServerSpec,
    about: Value,
    orders: mpsc::UnboundedSender<Order>,
}

/// An answer: a status and a JSON document.
pub(super) type Answer = (StatusCode, Value);

fn ok(value: Value) -> Answer {
    (StatusCode::OK, value)
}

/// The folders that a request names as roots.
fn roots_of(given: &Value) -> Option<Vec<String>> {
    let roots = given.get("roots")?.as_array()?;
    Some(roots.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn refused(status: StatusCode, message: impl Into<String>) -> Answer {
    (status, json!({"error": message.into()}))
}

impl Api {
    pub(super) fn new(settings: Settings) -> Rc<Self> {
        Rc::new(Self {
            settings,
            hub: Rc::default(),
            connections: RefCell::default(),
            last: Cell::default(),
            requests: Cell::default(),
            runs: Runs::default(),
            watched: RefCell::default(),
            logins: PageLogins::default(),
        })
    }

    /// Answers a request whose key was checked. The path has no `/api/` any more.
    pub(super) async fn answer(self: &Rc<Self>, method: &Method, path: &str, body: &Bytes) -> Answer {
        let given: Value = if body.is_empty() {
            Value::Null
        } else {
            match bounded_json::parse(body) {
                Some(value) => value,
                None => return refused(StatusCode::BAD_REQUEST, "the body is invalid JSON, or takes too much memory"),
            }
        };
        let steps: Vec<&str> = path.split('/').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or_default();
        match (method.as_str(), steps.as_slice()) {
            ("GET", ["state"]) => ok(self.state()),
            ("POST", ["connections"]) => self.connect(&given).await,
            ("POST", ["logins"]) => match self.server_of(&given) {
                Ok(server) => self.logins.begin(&server).await,
                Err(message) => refused(StatusCode::BAD_REQUEST, message),
            },
            ("POST", ["logins", login, "wait"]) => self.logins.wait(number(login)).await,
            ("DELETE", ["connections", id]) => self.disconnect(number(id)),
            ("GET", ["connections", id, "catalog"]) => self.catalog(number(id)).await,
            ("GET", ["connections", id, "lint"]) => self.lint(number(id)).await,
            ("POST", ["connections", id, "requests"]) => self.request(number(id), &given),
            ("POST", ["connections", id, "requests", request, "cancel"]) => {
                self.order(number(id), Order::Cancel { number: number(request) })
            }
            ("POST", ["connections", id, "answers"]) => self.reply(number(id), &given),
            ("POST", ["connections", id, "roots"]) => self.set_roots(number(id), &given),
            ("POST", ["check"]) => ok(check(&given)),
            ("POST", ["tests", "propose"]) => self.propose(&given),
            ("POST", ["tests", "save"]) => self.save(&given),
            ("POST", ["client-config"]) => {
                let path = given.get("path").and_then(Value::as_str).unwrap_or_default();
                ok(json!({"names": client_config::names(Path::new(path))}))
            }
            ("POST", ["suites"]) => ok(self.watched.borrow_mut().tests(&given)),
            ("GET", ["explain", name]) => match explained(name) {
                Ok(text) => ok(json!({"text": text})),
                Err(failure) => refused(StatusCode::NOT_FOUND, failure.to_string()),
            },
            ("GET", ["history"]) => {
                ok(history(&self.runs.past().into_iter().chain(past_of(&self.settings.logs)).collect::<Vec<_>>()))
            }
            ("GET", ["runs"]) => ok(json!({"runs": self.runs.list(), "logs": logs_in(&self.settings.logs)})),
            ("POST", ["runs"]) => self.start_run(&given),
            ("GET", ["runs", run]) => {
                self.runs.show(number(run)).map_or_else(|| refused(StatusCode::NOT_FOUND, "no such run"), ok)
            }
            ("POST", ["runs", run, "stop"]) if self.runs.stop(number(run)) => ok(json!({})),
            ("POST", ["runs", run, "keep"]) => {
                let name = given.get("name").and_then(Value::as_str).unwrap_or_default();
                match self.runs.keep(number(run), &self.settings.logs, name) {
                    Ok(()) => ok(json!({"name": name})),
                    Err(why) => refused(StatusCode::CONFLICT, why),
                }
            }
            ("POST", ["logs"]) => self.log(given.get("name").and_then(Value::as_str).unwrap_or_default()),
            _ => refused(StatusCode::NOT_FOUND, format!("no such path for {method}: /api/{path}")),
        }
    }

    fn state(&self) -> Value {
        let servers: Vec<Value> = self.settings.servers.iter().map(|server| json!({"name": server.name})).collect();
        let connections: Vec<Value> = self.connections.borrow().values().map(|known| known.about.clone()).collect();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "servers": servers,
            "suites": self.settings.suites,
            "connections": connections,
            "commands": commands(),
            "folder": std::env::current_dir().unwrap_or_default(),
            "client_configs": CLIENT_CONFIGS.iter().filter(|path| Path::new(path).is_file()).collect::<Vec<_>>(),
        })
    }

    async fn connect(self: &Rc<Self>, given: &Value) -> Answer {
        let mut server = match self.server_of(given) {
            Ok(server) => server,
            Err(message) => return refused(StatusCode::BAD_REQUEST, message),
        };
        server.client.by_hand = true;
        // An empty list declares roots that the server may ask the user for.
        server.client.roots = roots_of(given).or(server.client.roots);
        let options = InfoOptions {
            fixture: None,
            own_program: &self.settings.own_program,
            timeout: self.settings.timeout,
            probe_timeout: PROBE_TIMEOUT,
            limits: self.settings.limits,
            tokens: crate::logins::tokens(),
        };
        let opened = open_session(&server, &options).await;
        // Tokens that were used are known from here on.
        let secrets = crate::logins::redactor(server.secrets.iter().map(String::as_str));
        let mut session = match opened {
            Ok(session) => session,
            Err(failure) => {
                let told = json!({
                    "error": secrets.text(&failure.message),
                    "help": failure.help,
                    "status": failure.status,
                    "stderr": secrets.text(&failure.closing.stderr),
                });
                return (StatusCode::BAD_GATEWAY, told);
            }
        };
        let catalog = discover(&mut session, Instant::now() + self.settings.timeout).await;
        let id = self.last.get() + 1;
        self.last.set(id);
        let negotiated = session.negotiated();
        let mut about = json!({
            "connection": id,
            "name": server.name,
            "server_name": negotiated.server_name,
            "server_version": negotiated.server_version,
            "protocol": negotiated.revision.as_str(),
            "transport": session.transport_name(),
            "capabilities": negotiated.capabilities,
            "roots": server.client.roots,
        });
        secrets.json(&mut about);
        let mut catalog = catalog_json(&catalog);
        secrets.json(&mut catalog);
        let (orders, receive) = mpsc::unbounded_channel();
        let task = Connection::new(id, session, Rc::clone(&self.hub), secrets);
        let api = Rc::clone(self);
        tokio::task::spawn_local(async move {
            task.run(receive).await;
            api.connections.borrow_mut().remove(&id);
        });
        self.connections.borrow_mut().insert(id, Known { server, about: about.clone(), orders });
        ok(json!({"about": about, "catalog": catalog}))
    }

    /// The server that a request to connect names.
    fn server_of(&self, given: &Value) -> Result<ServerSpec, String> {
        let text = |key: &str| given.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let mut server = self.named_server(given)?;
        if let (Some(token), mcprove_model::Target::Remote { headers, .. }) = (text("token"), &mut server.target) {
            headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
            server.secrets.push(token.to_owned());
        }
        Ok(server)
    }

    /// The server that a request names, without the token that it gives.
    fn named_server(&self, given: &Value) -> Result<ServerSpec, String> {
        let text = |key: &str| given.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        if let Some(at) = given.get("known").and_then(Value::as_u64) {
            let known = self.settings.servers.get(usize::try_from(at).unwrap_or(usize::MAX));
            return known.cloned().ok_or_else(|| "no such server".to_owned());
        }
        if let Some(path) = text("client_config") {
            let subject = Subject::of_client_config(PathBuf::from(path), text("name").map(str::to_owned));
            return subject.spec().map_err(|failure| failure.to_string());
        }
        let mut secrets = Vec::new();
        let target = if let Some(command) = text("command") {
            stdio(words("command", command).map_err(|failure| failure.to_string())?, Vec::new(), None)
        } else if let Some(url) = text("url") {
            let mut target = address(url, text("transport")).map_err(|failure| failure.to_string())?;
            let given = given.get("headers").and_then(Value::as_object).into_iter().flatten();
            let pairs: Vec<(String, String)> =
                given.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
            secrets.extend(pairs.iter().map(|(_, value)| value.clone()));
            if let mcprove_model::Target::Remote { headers, .. } = &mut target {
                *headers = pairs;
            }
            target
        } else {
            return Err("give `command`, `url`, `client_config` or `known`".to_owned());
        };
        Ok(ServerSpec {
            name: target.label(),
            target,
            client: ClientCapabilities::default(),
            secrets,
            ..ServerSpec::default()
        })
    }

    fn disconnect(&self, id: u64) -> Answer {
        let known = self.connections.borrow_mut().remove(&id);
        match known {
            Some(known) => {
                let _ = known.orders.send(Order::Close);
                ok(json!({}))
            }
            None => refused(StatusCode::NOT_FOUND, "no such connection"),
        }
    }

    fn order(&self, id: u64, order: Order) -> Answer {
        match self.connections.borrow().get(&id) {
            Some(known) if known.orders.send(order).is_ok() => ok(json!({})),
            Some(_) | None => refused(StatusCode::NOT_FOUND, "no such connection"),
        }
    }

    async fn catalog(&self, id: u64) -> Answer {
        match self.listed(id).await {
            Ok(catalog) => ok(self.masked(id, catalog_json(&catalog))),
            Err(answer) => answer,
        }
    }

    async fn lint(&self, id: u64) -> Answer {
        match self.listed(id).await {
            Ok(catalog) => ok(self.masked(id, schema_lint("server", &catalog.tools))),
            Err(answer) => answer,
        }
    }

    /// A value without the secrets of a connection.
    fn masked(&self, id: u64, mut value: Value) -> Value {
        if let Some(known) = self.connections.borrow().get(&id) {
            crate::logins::redactor(known.server.secrets.iter().map(String::as_str)).json(&mut value);
        }
        value
    }

    /// The lists of a connection, asked for again.
    async fn listed(&self, id: u64) -> Result<Catalog, Answer> {
        let (send, receive) = oneshot::channel();
        let (status, problem) = self.order(id, Order::List(send));
        if status != StatusCode::OK {
            return Err((status, problem));
        }
        receive.await.map_err(|_| refused(StatusCode::BAD_GATEWAY, "the server is gone"))
    }

    /// An event log of the folder.
    fn log(&self, name: &str) -> Answer {
        let path = self.settings.logs.join(name);
        if !is_log_name(name) || !path.is_file() {
            return refused(StatusCode::NOT_FOUND, "no such event log");
        }
        ok(json!({"report": report_of(&path, Frames::Keep)}))
    }

    fn request(&self, id: u64, given: &Value) -> Answer {
        let Some(method) = given.get("method").and_then(Value::as_str) else {
            return refused(StatusCode::BAD_REQUEST, "give a `method`");
        };
        // A page that chooses the number itself knows it before the first event comes.
        let number = given.get("request").and_then(Value::as_u64).unwrap_or_else(|| {
            self.requests.set(self.requests.get() + 1);
            self.requests.get()
        });
        let params = given.get("params").cloned().unwrap_or_default();
        match self.order(id, Order::Begin { number, method: method.to_owned(), params }) {
            (StatusCode::OK, _) => ok(json!({"request": number})),
            other => other,
        }
    }

    fn reply(&self, id: u64, given: &Value) -> Answer {
        let question = given.get("question").and_then(Value::as_u64).unwrap_or_default();
        let answer = match given.get("answer") {
            Some(answer) => Ok(answer.clone()),
            None => Err((-1, "the user refused the request".to_owned())),
        };
        self.order(id, Order::Answer { question, answer })
    }

    /// Takes other folders as roots of a connection, also for the tests that are made of it.
    fn set_roots(&self, id: u64, given: &Value) -> Answer {
        let Some(roots) = roots_of(given) else {
            return refused(StatusCode::BAD_REQUEST, "give `roots`, a list of folders");
        };
        if let Some(known) = self.connections.borrow_mut().get_mut(&id) {
            known.server.client.roots = Some(roots.clone());
            known.about["roots"] = json!(roots);
        }
        self.order(id, Order::Roots { question: given.get("question").and_then(Value::as_u64), roots })
    }

    /// The server of a connection, and the method, params and expectations that a test is made of.
    fn kept<'g>(&self, given: &'g Value) -> Option<(ServerSpec, &'g str, &'g Value)> {
        let id = given.get("connection").and_then(Value::as_u64)?;
        let server = self.connections.borrow().get(&id)?.server.clone();
        Some((server, given.get("method")?.as_str()?, given.get("params")?))
    }

    fn propose(&self, given: &Value) -> Answer {
        let Some((server, method, params)) = self.kept(given) else {
            return refused(StatusCode::BAD_REQUEST, "give an open `connection`, `method` and `params`");
        };
        ok(save_test::propose(method, params, given, &server))
    }

    fn save(&self, given: &Value) -> Answer {
        let Some((mut server, method, params)) = self.kept(given) else {
            return refused(StatusCode::BAD_REQUEST, "give an open `connection`, `method` and `params`");
        };
        server.client.by_hand = false;
        if let Some(answers) = given.get("answers") {
            save_test::give_answers(&mut server.client, answers);
        }
        let Some(text) = save_test::text_of(method, params, given.get("expect").unwrap_or(&json!({})), &server) else {
            return refused(StatusCode::BAD_REQUEST, format!("no test can make the request `{method}`"));
        };
        if given.get("write") != Some(&Value::Bool(true)) {
            return ok(json!({"text": text}));
        }
        match save_test::write(given.get("path").and_then(Value::as_str).unwrap_or_default(), &text) {
            Ok(command) => ok(json!({"text": text, "command": command})),
            Err(why) => refused(StatusCode::CONFLICT, why),
        }
    }

    fn start_run(&self, given: &Value) -> Answer {
        let words: Vec<String> = given
            .get("words")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let failed_of = given.get("failed_of").and_then(Value::as_u64);
        let connected = given.get("connection").and_then(Value::as_u64);
        let server = match connected {
            Some(id) => self.connections.borrow().get(&id).map(|known| known.server.clone()),
            None => self.settings.subject.clone().filter(|_| words.first().is_some_and(|word| word == "run")),
        };
        if connected.is_some() && server.is_none() {
            return refused(StatusCode::NOT_FOUND, "no such connection");
        }
        let Settings { suites, logs, own_program, .. } = &self.settings;
        let folder_of = |path: &PathBuf| match path.parent() {
            Some(parent) if path.is_file() => parent.to_owned(),
            Some(_) | None => path.clone(),
        };
        let folders: Vec<PathBuf> = suites.iter().map(folder_of).chain([logs.clone()]).collect();
        match self.runs.start(own_program, RunOrder { words, failed_of, server }, &folders) {
            Ok(run) => ok(json!({"run": run})),
            Err(why) => refused(StatusCode::BAD_REQUEST, why),
        }
    }
}

/// Checks a value against a schema: arguments of a tool, or structured content.
fn check(given: &Value) -> Value {
    let (schema, value) = (given.get("schema").unwrap_or(&Value::Null), given.get("value").unwrap_or(&Value::Null));
    if given.get("output") == Some(&Value::Bool(true)) {
        let problem = violates_output_schema(schema, value);
        return json!({"errors": match problem {
            Ok(problem) => problem.into_iter().collect::<Vec<_>>(),
            Err(why) => vec![format!("the schema is unusable: {why}")],
        }});
    }
    json!({"errors": argument_errors(schema, value).unwrap_or_else(|why| vec![format!("the schema is unusable: {why}")])})
}

fn catalog_json(catalog: &Catalog) -> Value {
    json!({
        "tools": catalog.tools,
        "resources": catalog.resources,
        "templates": catalog.templates,
        "prompts": catalog.prompts,
        "findings": catalog.findings,
    })
}
