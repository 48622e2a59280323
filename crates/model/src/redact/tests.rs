//! Nothing that is to be hidden comes through.

use proptest::prelude::*;

use super::encodings::ENCODINGS;
use super::*;
use crate::{Direction, FrameKind, ProcessEnd, Timings};

#[test]
fn a_secret_is_masked_wherever_it_stands_and_words_are_not() {
    let redactor = Redactor::new(["s3cr3t-token", "short", "s3cr3t-token-longer", "with\"quote\n"]);
    for (given, wanted) in [
        ("Bearer s3cr3t-token", "Bearer ***"),
        ("s3cr3t-token-longer!", "***!"),
        ("s3cr3t-toke", "s3cr3t-toke"),
        ("short", "short"),
        ("{\"k\":\"with\\\"quote\"}", "{\"k\":\"***\"}"),
        ("{\"text\":\"{\\\"k\\\":\\\"with\\\\\\\"quote\\\"}\"}", "{\"text\":\"{\\\"k\\\":\\\"***\\\"}\"}"),
    ] {
        assert_eq!(redactor.text(given), wanted);
    }
}

#[test]
fn secrets_that_overlap_are_masked_together() {
    let redactor = Redactor::new(["abcdef", "defghi", "cdefgh"]);
    assert_eq!(redactor.text("xabcdefghiy abcdef"), "x***y ***");
}

#[test]
fn a_mask_that_spells_a_secret_is_masked_too() {
    let redactor = Redactor::new(["secret", "******"]);
    assert_eq!(redactor.text("secretsecret"), "***");
}

#[test]
fn a_secret_that_was_cut_is_masked_as_far_as_it_is_there() {
    let redactor = Redactor::new(["s3cr3t-token", "über-geheim"]);
    for (given, wanted) in [
        ("Bearer s3cr3t-to… (99 more bytes)", "Bearer ***… (99 more bytes)"),
        ("…t-token and so on", "…*** and so on"),
        ("s3cr3…-token", "***…***"),
        ("s3cr3t-token…", "***…"),
        ("s3cr3t-token…s3cr3t-token", "***…***"),
        ("übe…eim", "***…***"),
        ("s3… and …en", "s3… and …en"),
        ("class…", "class…"),
    ] {
        assert_eq!(redactor.text(given), wanted);
    }
}

#[test]
fn a_secret_of_a_url_is_masked_as_the_server_reads_it() {
    let redactor = Redactor::new(["Zq7%2BvB9%2FtR+wN"]);
    for given in ["Zq7%2BvB9%2FtR+wN", "Zq7+vB9/tR+wN", "Zq7+vB9\\/tR+wN", "Zq7 vB9/tR wN"] {
        assert_eq!(redactor.text(given), "***", "{given}");
    }
}

#[test]
fn a_secret_in_several_lines_of_a_diff_is_masked() {
    let redactor = Redactor::new(["s3cr3t-token"]);
    let masked = |diff: &str| {
        let mut diff = diff.to_owned();
        redactor.diff(&mut diff);
        diff
    };
    assert_eq!(masked("--- expected\n+++ actual\n@@ -1 +1,2 @@\n-x\n+s3cr3t\n+-token\n"), "***");
    assert_eq!(masked("-s3cr3t\n same\n--token\n"), "-s3cr3t\n same\n--token\n");
    assert_eq!(masked(" s3cr3t\n-x\n+-token\n"), "***");
    assert_eq!(masked("-a\n+s3cr3t-token\n"), "-a\n+***\n");
}

#[test]
fn a_key_is_masked_line_by_line() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----\n";
    for given in [key.to_owned(), key.replace('\n', "\\n")] {
        let redactor = Redactor::new([given.as_str()]);
        for line in key.lines() {
            assert_eq!(redactor.text(&format!("1: {line}\n")), "1: ***\n");
        }
        assert_eq!(redactor.text(&key.replace('\n', "")), "***");
        assert!(!redactor.text(&format!("> {}", key.replace('\n', "\n> "))).contains("MII"));
    }
}

#[test]
fn a_header_is_masked_without_its_scheme() {
    let redactor = Redactor::new(["Bearer tok-12345678", "Basic bWU6cGFzc3dvcmQtOQ=="]);
    assert_eq!(redactor.text("invalid token tok-12345678 of password-9"), "invalid token *** of ***");
}

#[test]
fn a_secret_is_masked_across_chunks() {
    let redactor = Redactor::new(["s3cr3t-token"]);
    for before in [(1 << 20) - 5, (1 << 20) + 140, (2 << 20) - 1] {
        let text = format!("{}s3cr3t\\u002dtoken{}", "x".repeat(before), "y".repeat(3 << 20));
        let wanted = format!("{}***{}", "x".repeat(before), "y".repeat(3 << 20));
        assert!(redactor.text(&text) == wanted, "{before}");
    }
}

#[test]
fn long_secrets_and_many_cuts_cost_little() {
    // Quadratic work on these would not end within a day.
    let secret = "a".repeat(20_000);
    let redactor = Redactor::new([secret.as_str()]);
    let text = format!("{}…", "a".repeat(99)).repeat(2_000);
    assert!(!redactor.text(&text).contains("aaa"));
    let escaped = "\\\\u0061".repeat(50_000);
    assert!(!redactor.text(&escaped).contains("u0061\\\\u0061"));
}

#[test]
fn what_cannot_be_masked_is_withheld() {
    let redactor = Redactor::new(["secret", "a***aa"]);
    let text = format!("{}secret{}", "a".repeat(40), "a".repeat(80));
    assert_eq!(redactor.text(&text), "***");
}

#[test]
fn without_secrets_nothing_is_touched() {
    for redactor in [Redactor::default(), Redactor::new(["", "true", "12345", "         "])] {
        assert!(redactor.search.is_none());
        assert!(matches!(redactor.text("true 12345"), Cow::Borrowed(_)));
    }
}

/// The head of a log, with `text` in every place that takes text.
fn run_started_with(text: &str) -> Event {
    let some = || Some(text.to_owned());
    let context = RunContext { command: some(), commit: some(), branch: some(), ci_url: some(), host: some() };
    Event::RunStarted(RunStarted {
        format: 1,
        program: text.to_owned(),
        started_unix_ms: 0,
        total: 0,
        jobs: 1,
        strict: false,
        shard: None,
        again: vec![text.to_owned()],
        context: Some(Box::new(context)),
    })
}

/// A load with `text` in every place that takes text.
fn load_with(text: String) -> crate::LoadRecord {
    let errors = crate::ErrorStats { count: 1, example: text.clone(), concurrent: 1 };
    let errors = [(crate::LoadError::Refused, errors)].into();
    let stats = crate::CallStats { errors, ..crate::CallStats::default() };
    crate::LoadRecord { calls: [(text, stats)].into(), ..crate::LoadRecord::default() }
}

/// One event of every kind, with `text` in every place that takes text.
fn events_with(text: &str) -> Vec<Event> {
    let own = || text.to_owned();
    let some = || Some(own());
    let finding = |place| Finding {
        rule: Cow::Owned(own()),
        severity: crate::Severity::Error,
        message: own(),
        place: Some(place),
        expected: some(),
        actual: some(),
        seen: some(),
        diff: some(),
        evidence: Some(Evidence { request: own(), reply: some() }),
        help: some(),
        fix: Some(Fix { title: own(), edits: vec![Edit { start: 0, end: 0, text: own() }] }),
    };
    let (line, column, end_line, end_column) = (1, 1, 1, 1);
    let in_text = Place::Text(TextPlace { file: own(), line, column, end_line, end_column, excerpt: own() });
    let on_wire = Place::Wire(WirePlace { server: own(), pointer: own() });
    let headers = || vec![(own(), own())].into();
    let parts = [
        WirePart::Message,
        WirePart::HttpRequest { exchange: 1, method: own(), url: own(), headers: headers() },
        WirePart::HttpResponse { exchange: 1, status: 200, headers: headers() },
        WirePart::StreamEvent { exchange: 1, event: own() },
    ];
    let frames = parts.into_iter().map(|part| {
        let (direction, kind) = (Direction::Received, FrameKind::Stray);
        // Not UTF-8, so that it would reach a log as base64.
        let body = Bytes::from([b"\xff", text.as_bytes()].concat());
        Event::Frame { index: 0, session: 0, frame: Frame { at_us: 0, direction, part, kind, body } }
    });
    let call = CallRecord {
        role: crate::CallRole::Act,
        method: own(),
        subject: some(),
        server: some(),
        fault: some(),
        request: own(),
        reply: some(),
        elapsed_us: 0,
    };
    let finished = |verdict| {
        Event::CaseFinished(CaseFinished {
            index: 0,
            verdict,
            findings: vec![finding(in_text.clone())],
            duration_us: 0,
            timings: Timings::default(),
            calls: vec![call.clone()],
            stderr: own(),
            process_end: Some(ProcessEnd { code: Some(0), signal: None }),
            snapshots: vec![Snapshot { kind: crate::SnapshotKind::Case, name: own(), text: own() }],
            agent: Some(Box::new(AgentRecord {
                scores: [("stability".to_owned(), 0.5)].into(),
                model: own(),
                replayed: false,
                prompts: vec![own()],
                answer: some(),
                stop_reason: crate::StopReason::Completed,
                turns: 1,
                usage: crate::Usage::default(),
                cost_usd_micros: None,
                recovery: some(),
            })),
            load: Some(Box::new(load_with(own()))),
        })
    };
    let mut events = vec![
        run_started_with(text),
        Event::Finding { finding: finding(on_wire) },
        Event::CaseStarted(CaseStarted {
            index: 0,
            name: own(),
            file: own(),
            line: 1,
            trial: 1,
            server: some(),
            variant: some(),
            tags: vec![own()],
        }),
        Event::Connected(Connected {
            index: 0,
            session: 0,
            transport: own(),
            protocol: own(),
            server_name: own(),
            server_version: own(),
            server: some(),
            began_us: 0,
        }),
        finished(Verdict::Failed),
        finished(Verdict::Skipped { reason: own() }),
        Event::RunFinished(RunFinished { duration_us: 0, interrupted: false, hint: some() }),
    ];
    events.extend(frames);
    events
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

proptest! {
    #[test]
    fn no_event_keeps_a_secret(
        secrets in prop::collection::vec("[a-cA-C0-1\"\\\\\n*é]{6,12}", 1..4),
        around in "[a-cA-C0-1\"\\\\ é]{0,8}",
    ) {
        let redactor = Redactor::new(secrets.iter().map(String::as_str));
        let text = format!("{around}{}{around}", secrets.join(&around));
        for mut event in events_with(&text) {
            redactor.event(&mut event);
            if let Event::Frame { frame, .. } = &event {
                for secret in &secrets {
                    prop_assert!(!contains(&frame.body, secret), "{:?} in {:?}", secret, frame.text());
                }
            }
            // As text, so that the comparison does not depend on how JSON escapes it.
            let printed = format!("{event:?}");
            for secret in &secrets {
                let shown = format!("{secret:?}");
                prop_assert!(!printed.contains(shown.trim_matches('"')), "{secret:?} in {printed}");
                prop_assert!(!redactor.text(&text).contains(secret.as_str()));
            }
        }
    }

    #[test]
    fn no_encoding_of_a_secret_reaches_an_event(
        secret in prop_oneof!["[a-zA-Z0-9+/&<>\"'\\\\ =é🎉-]{8,24}", "[!-~]{8,24}"],
        before in "[a-z \"{:,]{0,6}",
        after in "[a-z \"}:,]{0,6}",
    ) {
        prop_assume!(secret.trim().chars().count() >= 8);
        let redactor = Redactor::new([secret.as_str()]);
        for (name, encode) in ENCODINGS.iter().filter(|(name, _)| *name != "UTF-16" || secret.is_ascii()) {
            let encoded = encode(secret.trim());
            // What stays of base64 next to the secret are the characters that hold bits of both.
            let kept: usize = match *name {
                "Basic" => 26,
                // A line break after the secret stays.
                "wrapped" => 1,
                _ if name.contains("in base64") => 26,
                "base64 of a form" | "base64 of JSON" | "base64 of a header" => 40,
                _ => 0,
            };
            for mut event in events_with(&format!("{before}{encoded}{after}")) {
                redactor.event(&mut event);
                let Event::CaseFinished(finished) = &event else { continue };
                let left = finished.stderr.len().saturating_sub(before.len() + after.len());
                prop_assert!(finished.stderr.contains(MASK), "{name}: {:?} of {secret:?}", finished.stderr);
                prop_assert!(left <= kept + MASK.len(), "{name}: {:?} of {secret:?}", finished.stderr);
            }
        }
    }

    #[test]
    fn text_without_secrets_is_left_alone(text in "[x-z0-9 ,.:*]{0,80}", secret in "[A-W]{6,12}") {
        let redactor = Redactor::new([secret.as_str()]);
        for (mut event, wanted) in events_with(&text).into_iter().zip(events_with(&text)) {
            redactor.event(&mut event);
            prop_assert_eq!(event, wanted);
        }
    }

    #[test]
    fn a_secret_inside_json_is_masked_as_json_writes_it(secret in "[a-z\"\\\\\n\té/]{6,12}") {
        let redactor = Redactor::new([secret.as_str()]);
        let once = serde_json::to_string(&serde_json::json!({ "key": secret })).expect("JSON");
        let twice = serde_json::to_string(&once).expect("JSON");
        prop_assert_eq!(redactor.text(&once), "{\"key\":\"***\"}");
        prop_assert_eq!(redactor.text(&twice), "\"{\\\"key\\\":\\\"***\\\"}\"");
    }
}

#[test]
fn keys_numbers_and_lists_of_bytes_of_json_are_masked() {
    let redactor = Redactor::new(["correcthorsebattery", "9081726354", "status"]);
    let mut value = serde_json::json!({
        "correcthorsebattery": [{"correcthorsebattery": 9_081_726_354_u64}],
        "status": "correcthorsebattery".bytes().collect::<Vec<_>>(),
        "pin": [9_081_726_354_u64, 1.5, -1],
    });
    redactor.json(&mut value);
    // Words of ours stay keys although a variable has the same value.
    assert_eq!(value, serde_json::json!({"***": [{"***": "***"}], "status": "***", "pin": ["***", 1.5, -1]}));
    assert!(super::WORDS.is_sorted());
}

#[test]
fn a_secret_with_other_letters_is_masked_in_the_encodings_of_its_bytes() {
    let redactor = Redactor::new(["h\u{fc}sh-5f1e\u{e9}9c77", "A3F9-77aa-01bc"]);
    for text in [r"b'h\xc3\xbcsh-5f1e\xc3\xa99c77'", "h\u{c3}\u{bc}sh-5f1e\u{c3}\u{a9}9c77", "h%FCsh-5f1e%E99c77"] {
        assert!(redactor.text(text).contains("***") && !redactor.text(text).contains("5f1e"), "{text}");
    }
    assert_eq!(redactor.text("a3f9-77aa-01bc A3F9-77AA-01BC"), "*** ***");
}

#[test]
fn many_cuts_and_many_secrets_are_searched_in_one_pass() {
    let secrets: Vec<String> = (0..500).map(|number| format!("secret-value-{number}-abcdefghij")).collect();
    let redactor = Redactor::new(secrets.iter().map(String::as_str));
    let text = "…".repeat(200_000) + "xsecret-value-7…7-abcdefghijx…";
    let masked = redactor.text(&text);
    assert!(masked.ends_with("…x***…***x…"), "{}", &masked[masked.len() - 60..]);
}
