//! The browser of the person who runs this program.

use std::process::Child;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use mcprove_model::escape_line;
use mcprove_wire::start_detached;

use crate::context::Context;

/// Time after which a program that opens browsers has not failed.
const PATIENCE: Duration = Duration::from_secs(3);

/// Opens a URL in the default browser, without waiting; a browser that does not open is reported.
pub(crate) fn open_in_browser(url: &str) {
    let words = command(url);
    let report = |error: String| {
        Context::print_notice(&format!("warning: no browser was opened: {error}; open the URL yourself\n"));
    };
    match start_detached(&words) {
        Ok(child) => {
            thread::spawn(move || outcome(child, &words[0]).unwrap_or_else(report));
        }
        Err(error) => report(error),
    }
}

/// Opens a file in the default browser and waits until the browser has taken it.
pub(crate) fn open_and_wait(place: &str) -> Result<(), String> {
    let words = command(place);
    outcome(start_detached(&words)?, &words[0])
}

/// The outcome of a program that opens browsers. It may be the browser itself, which lives on when this program ends.
fn outcome(mut child: Child, program: &str) -> Result<(), String> {
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait()));
    match ended.recv_timeout(PATIENCE) {
        Ok(Ok(status)) if !status.success() => Err(format!("`{}` failed ({status})", escape_line(program))),
        Ok(Ok(_) | Err(_)) | Err(_) => Ok(()),
    }
}

fn command(place: &str) -> Vec<String> {
    // The program that the person chose, as other tools read the variable: a command, or several between colons.
    let chosen = Context::variable("BROWSER").filter(|value| !value.is_empty());
    let chosen = chosen.as_deref().and_then(|value| shell_words::split(value.split(':').next()?).ok());
    if let Some(mut words) = chosen.filter(|words| !words.is_empty()) {
        if words.iter().any(|word| word.contains("%s")) {
            return words.iter().map(|word| word.replace("%s", place)).collect();
        }
        words.push(place.to_owned());
        return words;
    }
    let words: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["rundll32", "url.dll,FileProtocolHandler"]
    } else {
        &["xdg-open"]
    };
    words.iter().copied().chain([place]).map(str::to_owned).collect()
}
