//! A failure as an assertion file that fails today and passes once it is fixed.

use std::fmt::Write as _;
use std::time::Duration;

use mcprove_judge::fuzz::{FuzzVerdict, signature};
use mcprove_judge::generate::hash;
use mcprove_model::{Node, Redactor, Span, escape_line, shorten};
use mcprove_suite::schema::editor_line;
use mcprove_suite::template::literal_value;
use mcprove_suite::written_server::WrittenServer;
use mcprove_suite::yaml;
use serde_json::{Map, Value, json};

use super::context::NO_ANSWER;
use super::failure::{Failure, Reproduction};
use super::finding;

/// Time a server may take to start in a test that waits for a hang.
const START: Duration = Duration::from_secs(5);

/// A test to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTest {
    /// File name without its extension; the same failure always gives the same name.
    pub stem: String,
    /// Content of the file.
    pub text: String,
}

/// Settings shared by the tests of a run.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// The server.
    pub server: WrittenServer,
    /// Time a call may take.
    pub timeout: Duration,
    /// Knows what the server was given that must not be shown.
    pub secrets: Redactor,
    /// Knows the values of the environment too, of which a reply may have given one away.
    pub environment: Redactor,
}

impl Keeping {
    /// True if a test would show a secret, as that of a tool does whose name has one.
    pub fn shows_secret(&self, test: &KeptTest) -> bool {
        self.secrets.finds(test.stem.as_bytes()) || self.secrets.finds(test.text.as_bytes())
    }
}

/// The test for a failure, and the command that finds it again; none when it did not come again, so that nothing would
/// fail.
pub fn kept_test(failure: &Failure, again: &str, keeping: &Keeping) -> Option<KeptTest> {
    let Keeping { server, timeout, secrets, environment } = keeping;
    let key = signature(&failure.tool, &failure.verdict)?;
    let stem =
        format!("fuzz-{}-{}-{:08x}", plain(&failure.tool), failure.verdict.kind(), hash(0, key.as_bytes()) >> 32);
    let mut document = Map::new();
    document.insert("name".to_owned(), stem.clone().into());
    document.insert("server".to_owned(), server.block());
    let message = failure.verdict.evidence().map(|evidence| evidence.message.as_str()).unwrap_or_default();
    if failure.verdict == FuzzVerdict::Hang || message.starts_with(NO_ANSWER) {
        document.insert("timeout".to_owned(), shown(*timeout + START).into());
    }
    let mut expect = json!({"handled": true});
    match &failure.verdict {
        FuzzVerdict::Hang => expect["max_duration_ms"] = json!(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        FuzzVerdict::AcceptedInvalid => expect["handled"] = "refused".into(),
        FuzzVerdict::Handled
        | FuzzVerdict::Slow
        | FuzzVerdict::Crash(_)
        | FuzzVerdict::Protocol(_)
        | FuzzVerdict::Leak(_)
        | FuzzVerdict::OutputMismatch(_) => {}
    }
    // What is sent may hold braces, which mean themselves.
    let literal = |value: &Value| literal_value(value, &[]);
    let call = |arguments: &Value| json!({"tool": failure.tool, "args": arguments});
    let (key, block) = match &failure.reproduction {
        Reproduction::Alone { arguments } if !arguments.is_object() => {
            let mut params = json!({"name": failure.tool, "arguments": arguments});
            if arguments.is_null() && failure.is_left_out {
                params.as_object_mut().map(|params| params.shift_remove("arguments"));
            }
            ("assert_raw", json!({"method": "tools/call", "params": params}))
        }
        Reproduction::Alone { arguments } => ("assert", call(arguments)),
        Reproduction::Repeated { arguments, times } => {
            let mut block = call(arguments);
            block["repeat"] = json!(times);
            ("assert", block)
        }
        Reproduction::After { before, arguments } => {
            let step =
                |arguments: &Value| json!({"tool": failure.tool, "args": arguments, "expect": {"handled": true}});
            document.insert("setup".to_owned(), before.iter().map(|arguments| literal(&step(arguments))).collect());
            ("assert", call(arguments))
        }
        Reproduction::Together { arguments, beside, alone } => {
            let mut block = call(arguments);
            block["beside"] = beside.iter().map(|arguments| json!({"args": arguments})).collect();
            if let Some(text) = alone {
                expect["equals"] = json!(text);
            }
            ("assert", block)
        }
        Reproduction::NotTried | Reproduction::Gone => return None,
    };
    let mut block = block;
    block["expect"] = expect;
    document.insert(key.to_owned(), literal(&block));
    let mut text = editor_line("assertion");
    let of_message = match &failure.verdict {
        FuzzVerdict::Leak(_) => environment,
        FuzzVerdict::Handled
        | FuzzVerdict::Hang
        | FuzzVerdict::Slow
        | FuzzVerdict::Crash(_)
        | FuzzVerdict::Protocol(_)
        | FuzzVerdict::AcceptedInvalid
        | FuzzVerdict::OutputMismatch(_) => secrets,
    };
    let _ = writeln!(text, "# Found by fuzzing: {}", comment(&of_message.text(&finding::message(failure))));
    let _ = writeln!(text, "# Again: {}", comment(&secrets.text(again)));
    if let Some(remark) = server.remark() {
        let _ = writeln!(text, "# {}", comment(&remark));
    }
    text.push_str(&yaml::write(&Node::from_json(Span::default(), Value::Object(document)), 0));
    Some(KeptTest { stem, text })
}

fn shown(time: Duration) -> String {
    if time.subsec_millis() == 0 { format!("{}s", time.as_secs()) } else { format!("{}ms", time.as_millis()) }
}

/// A name that is a file name everywhere.
fn plain(name: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    shorten_plain(&name.chars().map(safe).collect::<String>())
}

fn shorten_plain(name: &str) -> String {
    name[..name.len().min(60)].to_owned()
}

fn comment(text: &str) -> String {
    shorten(&escape_line(text), 300).into_owned()
}

#[cfg(test)]
mod tests {
    use mcprove_judge::fuzz::Evidence;
    use mcprove_model::{ServerSpec, SourceFile, Target};
    use mcprove_suite::written_server::FileKind;

    use super::*;

    fn failure(reproduction: Reproduction) -> Failure {
        Failure {
            tool: "read file/1".to_owned(),
            verdict: FuzzVerdict::Crash(Evidence::new("boom\n# x")),
            label: "valid".to_owned(),
            original: json!({}),
            is_left_out: false,
            reproduction,
            times: 1,
            elapsed_us: 1,
            stderr: String::new(),
            fails: true,
        }
    }

    fn keeping(server: &ServerSpec) -> Keeping {
        Keeping {
            server: WrittenServer::of(server, FileKind::Assertion, &[]),
            timeout: Duration::from_secs(5),
            secrets: Redactor::new(server.secrets.iter().map(String::as_str)),
            environment: Redactor::new(["tok-5f1e9c77aa01"]),
        }
    }

    #[test]
    fn what_is_kept_shows_no_secrets() {
        let target = Target::Stdio {
            command: "node".to_owned(),
            args: vec!["--token".to_owned(), "s3cret-token".to_owned()],
            env: Vec::new(),
            cwd: None,
            docker: None,
        };
        let server = ServerSpec { target, secrets: vec!["s3cret-token".to_owned()], ..ServerSpec::default() };
        let leak = Evidence::new("a value of the server's environment in the reply: tok… (16 characters)");
        let failure =
            Failure { verdict: FuzzVerdict::Leak(leak), ..failure(Reproduction::Alone { arguments: json!({}) }) };
        let again = "mcprove fuzz --server 'node --token s3cret-token'";
        let text = kept_test(&failure, again, &keeping(&server)).expect("kept").text;
        assert!(!text.contains("s3cret") && !text.contains("tok…"), "{text}");
        assert!(
            text.contains("in the reply: ***… (16 characters)\n# Again: mcprove fuzz --server 'node --token ***'\n"),
            "{text}"
        );
        assert!(text.contains("\n# The server takes from the environment: MCP_TOKEN.\n"), "{text}");
        assert!(text.contains("args: [\"--token\", \"${secret:MCP_TOKEN}\"]"), "{text}");
    }

    #[test]
    fn a_tool_with_a_secret_in_its_name_is_recognized() {
        let server = ServerSpec { secrets: vec!["s3cret-token".to_owned()], ..ServerSpec::default() };
        let keeping = keeping(&server);
        for (tool, wanted) in [("read", false), ("read_s3cret-token", true)] {
            let failure = Failure { tool: tool.to_owned(), ..failure(Reproduction::Alone { arguments: json!({}) }) };
            let test = kept_test(&failure, "mcprove fuzz", &keeping).expect("kept");
            assert_eq!(keeping.shows_secret(&test), wanted, "{}", test.text);
        }
    }

    fn document(reproduction: Reproduction) -> Option<Value> {
        document_of(&failure(reproduction))
    }

    fn document_of(failure: &Failure) -> Option<Value> {
        let target = Target::Stdio {
            command: "node".to_owned(),
            args: vec!["a b.js".to_owned()],
            env: vec![("API_KEY".to_owned(), "sk-secret".to_owned())],
            cwd: None,
            docker: None,
        };
        let server = ServerSpec { target, ..ServerSpec::default() };
        let kept = kept_test(failure, "mcprove fuzz\nx", &keeping(&server))?;
        assert!(!kept.text.contains("sk-secret"), "{}", kept.text);
        assert!(kept.stem.starts_with("fuzz-read-file-1-crash-"), "{}", kept.stem);
        let source = SourceFile::new("a.yaml", kept.text.as_str());
        let (documents, findings) = yaml::parse(&source);
        assert!(findings.is_empty(), "{}\n{findings:?}", kept.text);
        documents.first().map(Node::to_json)
    }

    #[test]
    fn what_is_kept_says_what_it_takes() {
        let odd =
            json!({"a": "\0\u{202e}{{x}} ${x}\n", "n": [-0.0, 1e308, u64::MAX, i64::MIN], "deep": [[[{"": null}]]]});
        let kept = document(Reproduction::Alone { arguments: odd.clone() }).expect("kept");
        assert_eq!(kept["assert"]["args"]["a"], "\0\u{202e}{{'{{'}}x}} ${x}\n", "braces mean themselves");
        assert_eq!(kept["assert"]["args"], literal_value(&odd, &[]));
        assert_eq!(kept["server"], json!({"command": "node", "args": ["a b.js"], "env": {"API_KEY": "${API_KEY}"}}));
        assert_eq!(kept["assert"]["expect"], json!({"handled": true}));

        let kept = document(Reproduction::Alone { arguments: Value::Null }).expect("kept");
        assert_eq!(kept["assert_raw"]["params"], json!({"name": "read file/1", "arguments": null}));
        let left_out = Failure { is_left_out: true, ..failure(Reproduction::Alone { arguments: Value::Null }) };
        let kept = document_of(&left_out).expect("kept");
        assert_eq!(kept["assert_raw"]["params"], json!({"name": "read file/1"}));

        let kept = document(Reproduction::Repeated { arguments: json!({}), times: 37 }).expect("kept");
        assert_eq!(kept["assert"]["repeat"], 37);

        let after = Reproduction::After { before: vec![json!({"a": 1})], arguments: json!({}) };
        assert_eq!(document(after).expect("kept")["setup"][0]["args"], json!({"a": 1}));

        let together = Reproduction::Together {
            arguments: json!({"a": 1}),
            beside: vec![json!({"a": 2})],
            alone: Some("one".to_owned()),
        };
        let kept = document(together).expect("kept");
        assert_eq!(kept["assert"]["beside"], json!([{"args": {"a": 2}}]));
        assert_eq!(kept["assert"]["expect"]["equals"], "one");
        assert_eq!(document(Reproduction::Gone), None);
    }
}
