//! `mcprove watch` without a terminal: what is run again when what changes.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const MCPROVE: &str = env!("CARGO_BIN_EXE_mcprove");

struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(MCPROVE);
        command.args(["watch", "evals", "--color", "never"]).current_dir(folder);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("mcprove starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// The names of the cases of the next run with how they ended, and everything that was said.
    fn next_run(&mut self) -> (Vec<String>, String) {
        let mut text = String::new();
        for line in self.lines.by_ref() {
            let line = line.expect("text");
            text.push_str(&line);
            text.push('\n');
            if line.starts_with("watching ") {
                let is_result = |line: &&str| line.starts_with("PASS") || line.starts_with("FAIL");
                let results = text.lines().filter(is_result);
                let shown = results.map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "));
                return (shown.collect(), text);
            }
        }
        panic!("it ended: {text}");
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn case(name: &str, wanted: &str) -> String {
    format!(
        "name: case {name}\nserver: {{command: {MCPROVE:?}, args: [mock, --tools-from, mock.yml]}}\nassert: {{tool: hello, \
         expect: {{contains: [{wanted}]}}}}\n"
    )
}

#[test]
fn only_what_a_change_concerns_is_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    fs::create_dir_all(folder.path().join("evals/fixtures")).expect("a folder");
    write("mock.yml", "mock_server: {tools: [{name: hello, response: hello you}]}\n");
    write("evals/a.yaml", &case("a", "hello"));
    write("evals/b.yaml", &case("b", "hello"));
    write("evals/fixtures/f.txt", "x");
    let mut watching = Watching::start(folder.path());
    assert_eq!(watching.next_run().0, ["PASS case a", "PASS case b"]);

    write("evals/a.yaml", &case("a", "goodbye"));
    let (results, text) = watching.next_run();
    assert_eq!(results, ["FAIL case a"], "the case of the changed file alone");
    assert!(text.contains("changed: case a (passed → failed)\n  the server answered the same\n"), "{text}");

    write("evals/fixtures/f.txt", "y");
    assert_eq!(watching.next_run().0, ["FAIL case a", "PASS case b"], "a fixture concerns all");

    write("mock.yml", "mock_server: {tools: [{name: hello, response: goodbye you}]}\n");
    let (results, text) = watching.next_run();
    assert_eq!(results, ["PASS case a", "FAIL case b"], "so does what the server is started from");
    assert!(
        text.contains("-      \"text\": \"hello you\"") && text.contains("+      \"text\": \"goodbye you\""),
        "{text}"
    );

    write("evals/c.yaml", &case("c", "goodbye"));
    assert_eq!(watching.next_run().0, ["PASS case c"], "a new file is found");

    write("evals/c.yaml", "name: case c\nassrt: {}\n");
    assert_eq!(watching.next_run().0, Vec::<String>::new(), "a mistake is told, and the next change may mend it");
    write("evals/c.yaml", &case("c", "goodbye"));
    assert_eq!(watching.next_run().0, ["PASS case c"]);

    fs::rename(folder.path().join("evals"), folder.path().join("earlier")).expect("moved");
    assert_eq!(watching.next_run().0, Vec::<String>::new(), "a folder that is gone is told");
    fs::rename(folder.path().join("earlier"), folder.path().join("evals")).expect("moved back");
    assert_eq!(watching.next_run().0, ["PASS case a", "FAIL case b", "PASS case c"], "and found again");
    fs::rename(folder.path().join("evals"), folder.path().join("earlier")).expect("moved");
    assert_eq!(watching.next_run().0, Vec::<String>::new());
    fs::create_dir(folder.path().join("new")).expect("a folder");
    write("new/d.yaml", &case("d", "goodbye"));
    fs::rename(folder.path().join("new"), folder.path().join("evals")).expect("moved");
    assert_eq!(watching.next_run().0, ["PASS case d"], "so is another one of its name");
    write("evals/d.yaml", &case("d", "hello"));
    assert_eq!(watching.next_run().0, ["FAIL case d"], "and it is watched");

    let stopped = Command::new("kill").args(["-TERM", &watching.child.id().to_string()]).status();
    assert!(stopped.expect("kill runs").success());
    assert_eq!(watching.child.wait().expect("an end").code(), Some(130));
}
