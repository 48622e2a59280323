//! Logins are kept: by concurrent processes, without a place to keep them, and for clients and browsers that come and go.

#[cfg(unix)]
use std::process::Command;
use std::{fs, thread};

use super::login::{Guarded, Person};

#[test]
fn tokens_are_renewed_and_refresh_tokens_replaced() {
    let (server, person) = (Guarded::start(&["--token-lifetime", "1s"]), Person::new());
    assert_eq!(person.log_in(&server.url).code(), Some(0));
    let first = person.stored()["logins"][0].clone();
    // By its own clock the token has expired before the next request, whatever the time is.
    let mut stored = person.stored();
    stored["logins"][0]["renew_at"] = 1.into();
    fs::write(person.path().join("config/logins.json"), stored.to_string()).expect("written");
    let listed = person.run(&["list", "--url", &server.url]);
    assert_eq!(listed.code(), Some(0), "{}", listed.text());
    let second = person.stored()["logins"][0].clone();
    assert_ne!(first["access_token"], second["access_token"]);
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    // A refresh token that was used before is worth nothing; neither is a token that has expired.
    let mut stored = person.stored();
    stored["logins"][0] = first;
    stored["logins"][0]["renew_at"] = 1.into();
    stored["logins"][0]["access_token"] = "expired".into();
    fs::write(person.path().join("config/logins.json"), stored.to_string()).expect("written");
    let refused = person.run(&["list", "--url", &server.url]);
    assert_eq!(refused.code(), Some(2), "{}", refused.text());
    let expected = format!("warning: the login at {} was not renewed: `{}/token` refused", server.url, server.origin());
    assert_eq!(refused.stderr.matches(&expected).count(), 1, "{}", refused.text());
}

/// A refresh token works once: one of the processes renews the login, and the others take what it got.
#[test]
fn processes_that_renew_a_login_at_once_do_it_once() {
    let (server, person) = (Guarded::start(&[]), Person::new());
    assert_eq!(person.log_in(&server.url).code(), Some(0));
    let mut stored = person.stored();
    stored["logins"][0]["renew_at"] = 1.into();
    stored["logins"][0]["expires_at"] = 1.into();
    fs::write(person.path().join("config/logins.json"), stored.to_string()).expect("written");
    thread::scope(|scope| {
        let list = || person.run(&["list", "--url", &server.url]);
        let all: Vec<_> = (0..4).map(|_| scope.spawn(list)).collect();
        for one in all {
            let ran = one.join().expect("no panic");
            assert_eq!((ran.code(), ran.stderr.contains("warning")), (Some(0), false), "{}", ran.text());
        }
    });
}

/// An authorization server that keeps clients in its memory, and was started again.
#[test]
fn a_client_that_was_forgotten_is_registered_anew() {
    let (server, person) = (Guarded::start(&[]), Person::new());
    let url = server.url.clone();
    assert_eq!(person.log_in(&url).code(), Some(0));
    let client = |person: &Person| person.stored()["logins"][0]["client"]["id"].clone();
    let first = client(&person);
    assert_eq!(person.log_in(&url).code(), Some(0));
    assert_eq!(client(&person), first, "a client is used again");
    drop(server);
    let port = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).expect("the address").to_owned();
    let _server = Guarded::start_at(&port, &[]);
    let stuck = person.run(&["login", &url, "--timeout", "1s"]);
    assert!(stuck.pages[0].contains("the client is not known"), "{:?}", stuck.pages);
    assert!(stuck.stderr.contains("no user signed in within 1 s"), "{}", stuck.text());
    let again = person.log_in(&url);
    assert_eq!(again.code(), Some(0), "{}", again.text());
    assert_ne!(client(&person), first);
}

/// The program that opens browsers may be the browser: it shows the last page when the command has ended.
#[cfg(unix)]
#[test]
fn a_browser_that_was_opened_is_left_alone() {
    let (server, person) = (Guarded::start(&[]), Person::new());
    let pipe = person.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    fs::write(person.path().join("browser.sh"), "echo $$ >pipe\nexec sleep 600\n").expect("written");
    let number = thread::spawn(move || fs::read_to_string(pipe));
    let login = person.run_with(&["login", &server.url], &[("BROWSER", "sh browser.sh")]);
    assert_eq!(login.code(), Some(0), "{}", login.text());
    let number = number.join().expect("no panic").expect("a number").trim().to_owned();
    let ended = Command::new("kill").arg(&number).status().expect("it runs");
    assert!(ended.success(), "the browser ended with the command");
    let login = person.run_with(&["login", &server.url], &[("BROWSER", "no-such-browser")]);
    let part = "warning: no browser was opened: `no-such-browser` could not be started: ";
    assert!(login.stderr.contains(part) && login.stderr.contains("open the URL yourself"), "{}", login.text());
}

#[test]
fn a_login_that_cannot_be_kept_is_not_begun() {
    let server = Guarded::start(&[]);
    let person = Person::keeping_in("file/config");
    fs::write(person.path().join("file"), "").expect("written");
    let login = person.log_in(&server.url);
    assert_eq!((login.code(), login.pages.len()), (Some(2), 0), "{}", login.text());
    assert!(
        login.stderr.contains("logins.json` cannot be ") && login.stderr.contains("MCPROVE_CONFIG_DIR"),
        "{}",
        login.text()
    );
    // A run goes on, and says so.
    let suite = format!(
        "servers:\n  guarded:\n    url: {}\n    auth: {{oauth: {{flow: authorization_code, browser: true}}}}\n\
         tools:\n  - {{name: one, tool: weather, args: {{city: Rome}}, expect: {{contains: '21'}}}}\n",
        server.url
    );
    fs::write(person.path().join("suite.yaml"), suite).expect("written");
    let ran = person.run(&["run", "suite.yaml"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    let expected = format!("warning: the login at {} is for this run alone: ", server.url);
    assert!(ran.stderr.contains(&expected), "{}", ran.text());
}

#[test]
fn a_file_of_logins_that_cannot_be_read_is_reported_and_left_alone() {
    let (server, person) = (Guarded::start(&[]), Person::new());
    fs::create_dir(person.path().join("config")).expect("made");
    let file = person.path().join("config/logins.json");
    for (text, part) in
        [("{\"format\": 1, \"logins\": [", "is not a file of logins"), ("{\"format\": 2}", "which is newer")]
    {
        fs::write(&file, text).expect("written");
        let login = person.log_in(&server.url);
        assert_eq!((login.code(), login.pages.len()), (Some(2), 0), "{}", login.text());
        assert!(login.stderr.contains(part), "{}", login.text());
        let listed = person.run(&["list", "--url", &server.url]);
        assert_eq!(listed.code(), Some(2), "{}", listed.text());
        assert_eq!(listed.stderr.matches(part).count(), 1, "{}", listed.text());
        for words in [&["login", "--list"][..], &["logout", "--all"]] {
            assert_eq!(person.run(words).code(), Some(2), "{words:?}");
        }
        assert_eq!(fs::read_to_string(&file).expect("read"), text);
    }
}
