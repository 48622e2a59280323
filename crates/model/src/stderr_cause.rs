//! The line of a server's standard error that says why it ended.

/// Beginnings of lines that say where to read more, or where in a program something happened.
const NOISE: &[&str] = &["at ", "npm notice", "npm error a complete log", "npm err! a complete log", "node.js v", "^"];

/// Words of lines that say why.
const REASONS: &[&str] = &[
    "error",
    "exception",
    "panic",
    "cancel",
    "cannot",
    "can't",
    "could not",
    "denied",
    "fail",
    "fatal",
    "missing",
    "not found",
    "no such",
    "refused",
    "required",
];

/// The index of the line that says why a program ended: the last one that speaks of an error, else the last one.
pub fn cause_line(lines: &[&str]) -> Option<usize> {
    let is_noise = |line: &str| {
        let line = line.trim().to_lowercase();
        line.is_empty() || NOISE.iter().any(|noise| line.starts_with(noise))
    };
    let says_why = |line: &str| {
        let line = line.to_lowercase();
        REASONS.iter().any(|reason| line.contains(reason))
    };
    let last = |wanted: &dyn Fn(&str) -> bool| lines.iter().rposition(|line| !is_noise(line) && wanted(line));
    last(&says_why).or_else(|| last(&|_| true)).or_else(|| lines.iter().rposition(|line| !line.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_among_stacks_and_pointers_to_logs() {
        let told = |text: &'static str| {
            let lines: Vec<&str> = text.lines().collect();
            cause_line(&lines).map(|at| lines[at].trim())
        };
        let npm = "npm error code E1\nnpm error canceled due to missing packages and no YES option: [\"x@1\"]\n\
                   npm error A complete log of this run can be found in: /x.log\n";
        assert_eq!(told(npm), Some("npm error canceled due to missing packages and no YES option: [\"x@1\"]"));
        let python = "Traceback (most recent call last):\n  File \"x.py\", line 4, in <module>\nKeyError: 'API_KEY'\n";
        assert_eq!(told(python), Some("KeyError: 'API_KEY'"));
        let node = "/x.js:3\nthrow new Error('no key');\n^\n\nError: no key\n    at Object.<anonymous> (/x.js:3:7)\n    at \
                    throwError (/y.js:1:1)\n\nNode.js v22.1.0\n";
        assert_eq!(told(node), Some("Error: no key"));
        assert_eq!(told("usage: x FILE\n\n"), Some("usage: x FILE"));
        assert_eq!(told("\n \n"), None);
    }
}
