//! The browser of the person who runs this program.

use std::time::Duration;

use mcprove_wire::run_command;

use crate::context::Context;

/// Time the program that opens browsers may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens a URL or a file in the default browser, without waiting; where that cannot be done, nothing happens.
pub(crate) fn open_in_browser(place: &str) {
    let words = command(place);
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let _ = runtime.block_on(run_command(&words, PATIENCE));
    });
}

/// Opens a file in the default browser and waits until the browser has taken it.
pub(crate) fn open_and_wait(place: &str) -> Result<(), String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(run_command(&command(place), PATIENCE))
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
