//! Suite files: what they hold, what they import, and who is left out.

mod folder;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mcprove_model::{Act, Case, Isolation, Parallel, Prompts, ResourceAsk, Target};
use mcprove_suite::load::{LoadOptions, Loaded, ServerOverride, load};
use serde_json::json;

use folder::Folder;

const ASSERTION: &str = "server: {command: x}\nassert: {tool: a}\n";
const SUITE: &str = "servers: {api: {command: x}}\ntools:\n  - {name: one, tool: a}\n  - {name: two, tool: b}\n";

fn environment(name: &str) -> Option<String> {
    match name {
        "API_KEY" => Some("s3cret!".to_owned()),
        "COUNT" => Some("7".to_owned()),
        _ => None,
    }
}

fn options() -> LoadOptions<'static> {
    LoadOptions { environment: &environment, known_variables: &[], fixture: None, server: None, ci: false }
}

impl Folder {
    fn load(&self) -> Loaded {
        load(&[self.path().to_path_buf()], &options())
    }
}

fn rules(loaded: &Loaded) -> Vec<&str> {
    loaded.findings.iter().map(|finding| finding.rule.as_ref()).collect()
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.cases.iter().map(|case| case.name.as_str()).collect()
}

fn named<'l>(loaded: &'l Loaded, name: &str) -> &'l Case {
    loaded.cases.iter().find(|case| case.name == name).expect(name)
}

#[test]
fn a_suite_holds_what_was_written() {
    let loaded = load(&[PathBuf::from("tests/data/suite-good.yaml")], &options());
    assert_eq!(rules(&loaded), [""; 0]);
    assert_eq!(names(&loaded), ["search", "map form", "res", "pr", "compl", "traj"]);
    let search = named(&loaded, "search");
    let Act::CallTool(call) = &search.act else { panic!("{:?}", search.act) };
    let folder = fs::canonicalize("tests/data").expect("the folder is there");
    let args = json!({"limit": 5, "q": format!("hello Ada from {}", folder.display())});
    assert_eq!(call.args.to_json(), args);
    assert_eq!((search.timeout, search.tags.join(" ")), (Some(Duration::from_millis(100)), "a b".to_owned()));
    assert_eq!((search.isolation, search.expect.threshold), (Isolation::Case, Some(0.5)));
    let checks: Vec<(&str, f64)> = search.expect.checks.iter().map(|planned| (planned.name, planned.weight)).collect();
    assert_eq!(checks, [("not", 1.0), ("contains", 2.0)]);
    let server = search.server.as_ref().expect("a server");
    assert_eq!((server.name.as_str(), server.target.label().as_str()), ("api", "npx -y server"));
    assert_eq!(server.secrets, ["s3cret!"]);
    assert_eq!(search.suite.as_ref().map(|suite| suite.parallel), Some(Parallel::Auto));

    let map = named(&loaded, "map form");
    let checks: Vec<&str> = map.expect.checks.iter().map(|planned| planned.name).collect();
    assert_eq!((checks, map.timeout), (vec!["contains", "max_duration_ms", "not"], Some(Duration::from_secs(5))));
    let Target::Remote { headers, .. } = &map.server.as_ref().expect("a server").target else { panic!("no address") };
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("X-Key", "s3cret!"), ("Authorization", "Bearer s3cret!")]);

    let Act::Resources(resources) = &named(&loaded, "res").act else { panic!("no resource") };
    assert!(matches!(&resources.ask, ResourceAsk::Read { uri } if uri.as_text() == Some("a://b")));
    let Act::Prompts(Prompts::Get { arguments, .. }) = &named(&loaded, "pr").act else { panic!("no prompt") };
    assert_eq!(arguments.to_json(), json!({"who": "3"}));
    assert!(named(&loaded, "traj").server.is_none());
}

#[test]
fn one_server_needs_no_name_and_tests_share_it() {
    let folder = Folder::new();
    folder.write("a.yaml", SUITE);
    let loaded = folder.load();
    assert_eq!((rules(&loaded), names(&loaded)), (vec![], vec!["one", "two"]));
    assert!(loaded.cases.iter().all(|case| case.isolation == Isolation::File && case.server.is_some()));
}

#[test]
fn both_kinds_live_in_one_folder_and_manifests_are_left_alone() {
    let folder = Folder::new();
    folder.write("a.yaml", SUITE);
    folder.write("b.yaml", SUITE);
    folder.write("c.yaml", ASSERTION);
    let manifest = folder.write("mock.yaml", "mock_server: {name: m, tools: [{name: a}]}\n");
    folder.write("tools.yaml", "name: m\ntools: [{name: a, response: {content: []}}]\n");
    let loaded = folder.load();
    assert_eq!((rules(&loaded), names(&loaded)), (vec![], vec!["one", "two", "one", "two", "c.yaml"]));
    assert_eq!(loaded.files, 3);
    assert_eq!(rules(&load(&[manifest], &options())), ["not-a-suite"]);
}

#[test]
fn a_given_server_takes_the_place_of_commands() {
    let folder = Folder::new();
    let path = folder.write("a.yaml", SUITE);
    let bare = folder.write("b.yaml", "tools: [{name: three, server: any, tool: a}]\n");
    let server = ServerOverride { command: "mine".to_owned(), args: Vec::new() };
    let loaded = load(&[path, bare], &LoadOptions { server: Some(server), ..options() });
    assert_eq!(rules(&loaded), [""; 0]);
    assert!(loaded.cases.iter().all(|case| case.server.as_ref().is_some_and(|s| s.target.label() == "mine")));
}

#[test]
fn mocks_and_recordings_are_found_beside_the_suite() {
    let folder = Folder::new();
    folder.write(
        "a.yaml",
        "servers: {m: {mock: mocks/m.yaml}, c: {cassette: run.ndjson}}\n\
         tools: [{name: one, server: m, tool: a}, {name: two, server: c, tool: a}]\n",
    );
    folder.write("mocks/m.yaml", "mock_server: {name: m, tools: [{name: a}]}\n");
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    let root = folder.path().canonicalize().expect("the folder is there");
    let targets: Vec<&Target> = loaded.cases.iter().filter_map(|case| Some(&case.server.as_ref()?.target)).collect();
    let path = |name: &str| root.join(name).display().to_string();
    assert_eq!(
        targets,
        [
            &Target::Mock { manifest: path("mocks/m.yaml"), virtual_time: false, keep_state: false },
            &Target::Cassette { path: path("run.ndjson") }
        ]
    );
}

#[test]
fn focused_tests_shut_out_others_and_are_refused_where_nobody_watches() {
    let folder = Folder::new();
    folder.write("a.yaml", &SUITE.replace("name: two", "name: two, only: true"));
    folder.write("b.yaml", ASSERTION);
    let loaded = folder.load();
    assert_eq!((rules(&loaded), names(&loaded)), (vec!["focused"], vec!["two"]));
    let loaded = load(&[folder.path().to_path_buf()], &LoadOptions { ci: true, ..options() });
    assert_eq!(rules(&loaded), ["focused-in-ci"]);
    assert!(loaded.findings[0].fails(false));
}

#[test]
fn imports_add_servers_tests_and_defaults() {
    let folder = Folder::new();
    folder.write(
        "suite.yaml",
        "imports: [parts/shared.yaml]\nservers: {api: {command: mine}}\ntools: [{name: one, server: api, tool: a}]\n\
         defaultTest: {expect: {not_error: true}}\n",
    );
    folder.write(
        "parts/shared.yaml",
        "imports: [more.yaml]\nvariables: {N: {value: 3}}\nservers: {api: {command: other}, b: {command: b}}\n\
         tools: [{name: two, server: b, tool: a, args: {n: '${N}'}}]\n",
    );
    folder.write("parts/more.yaml", "prompts: [{name: three, server: b, prompt: p}]\n");
    let loaded = folder.load();
    assert_eq!((rules(&loaded), names(&loaded)), (vec![], vec!["one", "two", "three"]));
    let labels: Vec<String> =
        loaded.cases.iter().filter_map(|case| Some(case.server.as_ref()?.target.label())).collect();
    assert_eq!(labels, ["mine", "b", "b"]);
    let Act::CallTool(call) = &loaded.cases[1].act else { panic!("no call") };
    assert_eq!(call.args.to_json(), json!({"n": 3}));
    assert!(loaded.cases[1].source.path().ends_with("shared.yaml"));
    assert!(loaded.cases.iter().all(|case| case.expect.checks.len() == 1));
}

#[test]
fn imports_stay_inside_and_end() {
    let folder = Folder::new();
    folder.write("out.yaml", "tools: []\n");
    let path = folder.write(
        "in/a.yaml",
        "servers: {api: {command: x}}\nimports: [../out.yaml, b.yaml, gone.yaml]\ntools: [{name: one, tool: a}]\n",
    );
    folder.write("in/b.yaml", "imports: [a.yaml]\ntools: [{name: one, tool: b}]\n");
    let loaded = load(&[path], &options());
    let mut told = rules(&loaded);
    told.sort_unstable();
    assert_eq!(told, ["duplicate-name", "import-cycle", "outside-folder", "unreadable-file"]);
}

#[test]
fn secrets_are_known_to_every_server() {
    let folder = Folder::new();
    let text =
        SUITE.replace("{name: one, tool: a}", "{name: one, tool: a, args: {k: '${secret:API_KEY}', n: '${COUNT}'}}");
    folder.write("a.yaml", &text);
    let loaded = folder.load();
    assert_eq!(loaded.secrets, ["s3cret!"]);
    assert_eq!(loaded.cases[1].server.as_ref().map(|server| server.secrets.clone()), Some(loaded.secrets.clone()));
}

#[test]
fn a_test_that_is_skipped_for_want_of_a_variable_gives_no_warning_about_it() {
    let folder = Folder::new();
    folder.write(
        "a.yaml",
        "servers: {api: {command: x}}\ntools:\n  - {name: one, tool: a, skip_unless_env: GONE, args: {k: '${GONE}'}}\n",
    );
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    assert!(loaded.cases[0].skip.is_some());
}

/// The YAML of the pages on negative paths and on schema lint, as it is written there.
#[test]
fn the_pages_load_as_written() {
    let servers = "servers: {api: {command: x}, local: {command: x}}\n";
    for page in [
        "tools:\n  - name: search rejects bad requests\n    server: api\n    tool: search\n    \
         args: { query: \"anthropic\" }\n    negative_path:\n      \
         checks: [unknown_tool, missing_required, wrong_type]\n",
        "tool_quality:\n  - name: tool schemas are well constrained\n    server: local\n    expect:\n      \
         - target: schema_criticals\n        matcher: { schema: { maximum: 0 } }\n      \
         - target: schema_warnings\n        matcher: { schema: { maximum: 3 } }\n",
    ] {
        let folder = Folder::new();
        folder.write("page.yaml", &format!("{servers}{page}"));
        let loaded = folder.load();
        assert_eq!((rules(&loaded), loaded.cases.len()), (Vec::new(), 1), "{page}");
    }
}

/// A suite with this many tests, some in each form.
fn large(count: usize) -> String {
    let mut text =
        "servers: {api: {command: [npx, server]}}\ndefaultTest: {expect: {not_error: true}}\ntools:\n".to_owned();
    for number in 0..count {
        write!(
            text,
            "  - name: test number {number}\n    server: api\n    tool: search\n    \
             args: {{query: \"q{number}\", limit: 10, filter: {{kind: [a, b], after: 2024-01-01}}}}\n    expect:\n      \
             - target: result.content[0].text\n        matcher: {{contains: \"r{number}\"}}\n      \
             - target: result.isError\n        matcher: {{exact: false}}\n"
        )
        .expect("text grows");
    }
    text
}

#[test]
fn large_suites_load_in_linear_time() {
    let folder = Folder::new();
    folder.write("large.yaml", &large(2_000));
    let loaded = folder.load();
    assert_eq!((rules(&loaded), loaded.cases.len()), (vec![], 2_000));
}

/// Something quadratic would take minutes, and nextest ends such a test.
#[test]
fn ten_thousand_tests_load() {
    let folder = Folder::new();
    folder.write("large.yaml", &large(10_000));
    let loaded = folder.load();
    assert_eq!((rules(&loaded), loaded.cases.len()), (vec![], 10_000));
}

#[test]
fn what_is_to_be_redacted_is_known_to_whoever_loads() {
    let folder = Folder::new();
    folder.write("suite.yaml", &format!("redact: ['${{API_KEY}}', internal-name]\n{SUITE}"));
    folder.write("one.yaml", &format!("redact: another-name\n{ASSERTION}"));
    folder.write("two.yaml", "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: a}]\nredact: third-name\n");
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    let mut secrets = loaded.secrets;
    secrets.sort();
    assert_eq!(secrets, ["another-name", "internal-name", "s3cret!", "third-name"]);
}

#[test]
fn a_matrix_gives_every_test_its_columns() {
    let folder = Folder::new();
    let columns = |loaded: &Loaded| -> Vec<String> {
        let matrix = loaded.cases[0].matrix.as_ref().expect("a matrix");
        matrix.columns().iter().map(|column| column.name.to_string()).collect()
    };
    folder.write(
        "suite.yaml",
        "servers: {v1: {command: one}, v2: {url: 'http://two'}}\nmatrix: {servers: [v2, v1], protocol: [2025-06-18]}\n\
         tools: [{name: a, tool: a}, {name: b, tool: b}]\n",
    );
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    assert_eq!(columns(&loaded), ["v2 2025-06-18", "v1 2025-06-18"]);
    // A server given on the command line takes the place of all servers, and of the columns they make.
    let server = Some(ServerOverride { command: "mine".to_owned(), args: Vec::new() });
    let loaded = load(&[folder.path().to_path_buf()], &LoadOptions { server, ..options() });
    assert_eq!(columns(&loaded), ["2025-06-18"]);
}

#[test]
fn probes_are_all_five_unless_some_are_chosen() {
    let folder = Folder::new();
    folder.write(
        "a.yaml",
        "servers: {api: {command: x}}\n\
         tools:\n\
         - {name: all, tool: t, negative_path: }\n\
         - {name: two, tool: t, negative_path: {checks: [oversized, unknown_tool], oversized_bytes: 9, timeout: 2s}}\n\
         - {name: own, tool: t, expect: [{target: negative_path.failures, matcher: {lte: 1}}], negative_path: {}}\n\
         - {name: none, tool: t}\n\
         tool_quality: [{name: quality}]\n",
    );
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    let path = |name: &str| match &named(&loaded, name).act {
        Act::CallTool(call) => call.negative_path.clone(),
        other => panic!("{other:?}"),
    };
    let all = path("all").expect("probes");
    assert_eq!(all.checks, ["unknown_tool", "missing_required", "wrong_type", "extra_field", "oversized"]);
    assert_eq!((all.oversized_bytes, all.timeout, all.default_gate), (1 << 20, Duration::from_secs(5), true));
    let two = path("two").expect("probes");
    assert_eq!(
        (two.checks, two.oversized_bytes, two.timeout),
        (vec!["unknown_tool", "oversized"], 9, Duration::from_secs(2))
    );
    assert!(!path("own").expect("probes").default_gate && path("none").is_none());
    assert!(matches!(named(&loaded, "quality").act, Act::ToolQuality));
}

#[test]
fn the_steps_around_an_agent_are_for_the_server_that_the_test_names() {
    let folder = Folder::new();
    folder.write(
        "a.yaml",
        "servers: {api: {command: x}, files: {command: y}}\n\
         agents:\n  \
         - {name: first, servers: [api, files], prompt: p, model: script, script: [{say: done}]}\n  \
         - {name: second, server: files, servers: [api, files], prompt: p, model: script, script: [{say: done}]}\n",
    );
    let loaded = folder.load();
    assert_eq!(rules(&loaded), [""; 0]);
    for (name, expected) in [("first", 0), ("second", 1)] {
        let Act::Agent(agent) = &named(&loaded, name).act else { panic!("an agent") };
        assert_eq!(agent.steps_at, expected, "{name}");
    }
}
