//! Tests of servers in files: variables by their names, no secrets, and all else unchanged.

use mcprove_model::{Diagnostics, Node, Remote, SourceFile, Span};

use super::*;
use crate::environment::{Environment, Unset};
use crate::interpolate::{Interpolation, Syntax};
use crate::template::FIXTURE;
use crate::variables::Variables;

fn text(text: &str) -> OriginPart {
    OriginPart::Text(text.to_owned())
}

fn variable(name: &str, value: Option<&str>, default: Option<&str>) -> OriginPart {
    let (value, default) = (value.map(str::to_owned), default.map(str::to_owned));
    OriginPart::Variable { name: name.to_owned(), value, default }
}

/// A process whose texts were put together from these parts.
fn configured(args: &[&[OriginPart]], env: &[(&str, &[OriginPart])]) -> ServerSpec {
    let origin = |place: String, parts: &[OriginPart]| Origin { place, parts: parts.to_vec() };
    let args: Vec<Origin> = args.iter().enumerate().map(|(at, parts)| origin(format!("args[{at}]"), parts)).collect();
    let env: Vec<(String, Origin)> =
        env.iter().map(|(name, parts)| ((*name).to_owned(), origin(format!("env.{name}"), parts))).collect();
    let target = Target::Stdio {
        command: "run".to_owned(),
        args: args.iter().map(Origin::text).collect(),
        env: env.iter().map(|(name, origin)| (name.clone(), origin.text())).collect(),
        cwd: None,
        docker: None,
    };
    let all = args.into_iter().chain(env.into_iter().map(|(_, origin)| origin));
    let is_templated = |origin: &Origin| origin.parts.iter().any(|part| matches!(part, OriginPart::Variable { .. }));
    ServerSpec { target, origins: all.filter(is_templated).collect(), ..ServerSpec::default() }
}

fn block(server: &ServerSpec) -> (Value, Vec<String>) {
    let written = WrittenServer::of(server, FileKind::Assertion, &[]);
    (written.block(), written.names())
}

#[test]
fn variables_are_called_as_the_configuration_calls_them() {
    let tok = || variable("TOK", Some("t0ken-of-mine"), None);
    let server = configured(
        &[&[text("--key="), tok()], &[text("--plain")]],
        &[
            ("T", &[tok()]),
            ("H", &[text("Bearer "), tok()]),
            ("P", &[tok(), text(":$"), tok(), text("{{}}")]),
            ("D", &[variable("REGION", None, Some("eu"))]),
            ("S", &[variable("STAGE", Some("staging"), Some("prod"))]),
            ("L", &[text("literal")]),
        ],
    );
    let (block, names) = block(&server);
    assert_eq!(block["args"], json!(["--key=${secret:TOK}", "--plain"]));
    let env = json!({
        "T": "${TOK}", "H": "Bearer ${TOK}", "P": "${TOK}:$$${TOK}{{}}", "D": "${REGION:-eu}", "S": "${STAGE:-prod}", "L": "${L}",
    });
    assert_eq!(block["env"], env);
    assert_eq!(names, ["TOK", "STAGE", "L"]);
}

#[test]
fn one_name_is_one_value() {
    let server = configured(
        &[],
        &[
            ("TOK", &[text("literal")]),
            ("T", &[variable("TOK", Some("t0ken-of-mine"), None)]),
            ("odd", &[variable("A(b)", Some("x"), None)]),
        ],
    );
    let (block, names) = block(&server);
    assert_eq!(block["env"], json!({"TOK": "${TOK_2}", "T": "${TOK}", "odd": "${A_b_}"}));
    assert_eq!(names, ["TOK_2", "TOK", "A_b_"]);
}

#[test]
fn what_is_secret_stands_nowhere() {
    let target = Target::Remote {
        transport: Remote::Http,
        url: "http://me:pass@host/mcp?a=hunter22&b=other-secret".to_owned(),
        headers: vec![("X-Key".to_owned(), "hunter22".to_owned())],
    };
    let secrets = vec!["other-secret".to_owned(), "host".to_owned()];
    let server = ServerSpec { target, secrets, protocol: Protocol::Modern, ..ServerSpec::default() };
    let (block, names) = block(&server);
    let expected = json!({
        "url": "http://me:${secret:MCP_PASSWORD}@host/mcp?a=${secret:MCP_X_KEY}&b=${secret:MCP_SECRET}",
        "transport": "http",
        "headers": {"X-Key": "${MCP_X_KEY}"},
        "protocol": "modern",
    });
    assert_eq!(block, expected);
    assert_eq!(names, ["MCP_X_KEY", "MCP_SECRET", "MCP_PASSWORD"]);
}

#[test]
fn a_password_is_known_by_its_place() {
    let written = |parts: &[OriginPart]| {
        let origin = Origin { place: "url".to_owned(), parts: parts.to_vec() };
        let target = Target::http(origin.text(), Vec::new());
        block(&ServerSpec { target, origins: vec![origin], ..ServerSpec::default() }).0["url"].clone()
    };
    let host = || variable("HOST", Some("h"), None);
    assert_eq!(written(&[text("http://pw:pw@"), host()]), "http://pw:${secret:MCP_PASSWORD}@${secret:HOST}");
    let key = variable("KEY", Some("k"), None);
    assert_eq!(written(&[text("http://me:"), key, text("@h/")]), "http://me:${secret:KEY}@h/");
}

#[test]
fn a_dollar_sign_before_a_variable_means_itself() {
    let tok = || variable("TOK", Some("t0ken-of-mine"), None);
    let parts = [text("$"), tok(), text(" "), tok(), text("$"), tok(), text("$")];
    let server = configured(&[&parts], &[("E", &parts)]);
    let lookup = |name: &str| (name == "TOK").then(|| "t0ken-of-mine".to_owned());
    let (written, _) = block(&server);
    let word = "$$${secret:TOK} ${secret:TOK}$$${secret:TOK}$";
    assert_eq!(written["args"][0], word);
    let env = written["env"]["E"].as_str().expect("text");
    assert_eq!(env, "$$${TOK} ${TOK}$$${TOK}$$");
    let variables = Variables::new(Environment { lookup: &lookup, names: &[] }, None);
    let (syntax, unset) = (Syntax::PAIRS, Unset::Reported);
    let mut read = Node::text_at(Span::default(), env);
    let source = SourceFile::new("a.yaml", "");
    let mut found = Diagnostics::new(&source);
    Interpolation { variables: &variables, secrets: &mut Vec::new(), syntax, unset }.apply(&mut read, &mut found);
    assert_eq!(read.as_text(), Some(parts.iter().map(OriginPart::text).collect::<String>().as_str()));
    let Target::Stdio { args, .. } = WrittenServer::of(&server, FileKind::Suite, &[]).target else {
        panic!("a process")
    };
    assert_eq!(args, [word]);
}

#[test]
fn credentials_become_variables_of_their_names() {
    let words = ["--token", "hunter22", "--figma-api-key=hunter33", "-e", "GITHUB_TOKEN=hunter44"].map(text);
    let words: Vec<&[OriginPart]> = words.iter().map(std::slice::from_ref).collect();
    let (written, names) = block(&configured(&words, &[]));
    let expected = [
        "--token",
        "${secret:MCP_TOKEN}",
        "--figma-api-key=${secret:FIGMA_API_KEY}",
        "-e",
        "GITHUB_TOKEN=${secret:GITHUB_TOKEN}",
    ];
    assert_eq!(written["args"], json!(expected));
    assert_eq!(names, ["MCP_TOKEN", "FIGMA_API_KEY", "GITHUB_TOKEN"]);
    let target =
        Target::Remote { transport: Remote::Sse, url: "http://x?api_key=hunter22".to_owned(), headers: Vec::new() };
    let (written, _) = block(&ServerSpec { target, ..ServerSpec::default() });
    assert_eq!(written["url"], "http://x?api_key=${secret:MCP_API_KEY}");
}

#[test]
fn what_stood_there_literally_is_read_as_it_was() {
    let server = configured(&[&[text("{{fixture}} {{x}} ${X} ${secret:X}")]], &[]);
    let args = |kind, templates: &[&str]| match WrittenServer::of(&server, kind, templates).target {
        Target::Stdio { args, .. } => args.join(" "),
        other => panic!("{other:?}"),
    };
    assert_eq!(args(FileKind::Assertion, &[]), "{{'{{'}}fixture}} {{'{{'}}x}} ${X} $${secret:X}");
    assert_eq!(args(FileKind::Assertion, &[FIXTURE]), "{{fixture}} {{'{{'}}x}} ${X} $${secret:X}");
    assert_eq!(args(FileKind::Suite, &[]), "{{'{{'}}fixture}} {{'{{'}}x}} $${X} $${secret:X}");
}

#[test]
fn words_beside_a_variable_may_be_secret() {
    let host = || variable("HOST", Some("db.example"), None);
    let server = configured(
        &[],
        &[
            ("DATABASE_URL", &[text("postgres://admin:hunter2secret@"), host(), text("/db")]),
            ("AUTH", &[text("Bearer sk-literal "), host()]),
            ("LOW", &[text("basic "), host()]),
            ("API_TOKEN", &[variable("API_TOKEN", None, Some("sk-literal"))]),
            ("OTHER", &[variable("MY_TOKEN", None, Some("sk-literal"))]),
            ("SET", &[variable("SET_TOKEN", Some("of-mine"), Some("sk-literal"))]),
        ],
    );
    let (written, names) = block(&server);
    let expected = json!({
        "DATABASE_URL": "${DATABASE_URL}", "AUTH": "${AUTH}", "LOW": "basic ${HOST}",
        "API_TOKEN": "${API_TOKEN}", "OTHER": "${OTHER}", "SET": "${SET_TOKEN}",
    });
    assert_eq!(written["env"], expected);
    assert_eq!(names, ["DATABASE_URL", "AUTH", "HOST", "API_TOKEN", "OTHER", "SET_TOKEN"]);
    let origin = Origin { place: "headers.X-Mixed".to_owned(), parts: vec![text("Basic literalbasic99 "), host()] };
    let headers = vec![("X-Mixed".to_owned(), origin.text())];
    let target = Target::http("http://h".to_owned(), headers);
    let (written, _) = block(&ServerSpec { target, origins: vec![origin], ..ServerSpec::default() });
    assert_eq!(written["headers"], json!({"X-Mixed": "${MCP_X_MIXED}"}));
}

#[test]
fn a_credential_is_one_variable_wherever_it_stands() {
    let key = || variable("KEY", Some("k"), None);
    let (written, names) = block(&configured(
        &[
            &[text("postgresql://user:pw@localhost/db")],
            &[text("Authorization: Bearer sk-literal")],
            &[text("--header=X-API-Key:sk-other")],
            &[text("Authorization: Bearer "), key()],
            &[text("Cookie: a=b"), key()],
            &[text("--token=pre"), key(), text("post")],
            &[text("-eFOO_TOKEN="), key()],
            &[text("-eBAR_TOKEN=hunter22")],
            &[text("http://me:"), variable("UNSET", None, Some("pass")), text("@h/")],
        ],
        &[],
    ));
    let expected = [
        "postgresql://user:${secret:MCP_PASSWORD}@localhost/db",
        "Authorization: Bearer ${secret:MCP_AUTHORIZATION}",
        "--header=X-API-Key:${secret:MCP_X_API_KEY}",
        "Authorization: Bearer ${secret:KEY}",
        // It has fewer letters than secrets have.
        "Cookie: a=b${secret:KEY}",
        "--token=${secret:MCP_TOKEN}",
        "-eFOO_TOKEN=${secret:KEY}",
        "-eBAR_TOKEN=${secret:BAR_TOKEN}",
        "http://me:${secret:MCP_PASSWORD_2}@h/",
    ];
    assert_eq!(written["args"], json!(expected));
    assert_eq!(
        names,
        ["MCP_PASSWORD", "MCP_AUTHORIZATION", "MCP_X_API_KEY", "KEY", "MCP_TOKEN", "BAR_TOKEN", "MCP_PASSWORD_2"]
    );
}

#[test]
fn a_password_that_a_variable_is_a_part_of_is_one() {
    let parts = vec![text("http://me:pre"), variable("X", Some("xx"), None), text("post99@host/mcp")];
    let origin = Origin { place: "url".to_owned(), parts };
    let target = Target::http(origin.text(), Vec::new());
    let written = WrittenServer::of(
        &ServerSpec { target, origins: vec![origin], ..ServerSpec::default() },
        FileKind::Assertion,
        &[],
    );
    assert_eq!(written.block()["url"], "http://me:${secret:MCP_PASSWORD}@host/mcp");
    assert_eq!(written.variables, [("MCP_PASSWORD".to_owned(), "prexxpost99".to_owned())]);
    let target = Target::http("http://ghp_0123456789ab@host/mcp".to_owned(), Vec::new());
    let (written, _) = block(&ServerSpec { target, ..ServerSpec::default() });
    assert_eq!(written["url"], "http://${secret:MCP_PASSWORD}@host/mcp");
}

#[test]
fn nobody_else_is_called_as_the_variables_of_the_user_are() {
    let words = ["--token", "hunter22", "--token", "hunter33", "--x-token=hunter44"].map(text);
    let words: Vec<&[OriginPart]> = words.iter().map(std::slice::from_ref).collect();
    let x = variable("X_TOKEN", Some("hunter55"), None);
    let (written, _) = block(&configured(&words, &[("MCP_TOKEN", &[text("hunter66")]), ("X", &[x])]));
    let expected =
        ["--token", "${secret:MCP_TOKEN_2}", "--token", "${secret:MCP_TOKEN_3}", "--x-token=${secret:X_TOKEN_2}"];
    assert_eq!(written["args"], json!(expected));
    assert_eq!(written["env"], json!({"MCP_TOKEN": "${MCP_TOKEN}", "X": "${X_TOKEN}"}));
}

#[test]
fn a_name_that_no_file_can_hold_is_told() {
    let server = configured(
        &[],
        &[
            ("A", &[variable("my-var", Some("first-value"), None)]),
            ("B", &[variable("my_var", Some("other-value"), None)]),
        ],
    );
    let written = WrittenServer::of(&server, FileKind::Assertion, &[]);
    assert_eq!(written.block()["env"], json!({"A": "${my_var_2}", "B": "${my_var}"}));
    let remark = "The server takes from the environment: my_var_2 (`my-var` of the configuration), my_var.";
    assert_eq!(written.remark().as_deref(), Some(remark));
}
