//! The handshake of the legacy era.

use crate::host::rule::ClientRuling;

pub(super) fn first_message(ruling: &mut ClientRuling<'_>) {
    let Some(first) = ruling.talk.sent().next() else { return };
    let is_modern =
        first.params().get("_meta").is_some_and(|meta| meta.get(super::super::conversation::META_VERSION).is_some());
    // An HTTP session of another connection may go on in this one.
    let holds = is_modern || matches!(first.method(), Some("initialize" | "ping" | "server/discover"));
    ruling.check(holds, first, || {
        format!("the first message is `{}`, not `initialize`", first.method().unwrap_or("a reply"))
    });
}

pub(super) fn initialize_params(ruling: &mut ClientRuling<'_>) {
    for request in ruling.talk.requests().filter(|frame| frame.method() == Some("initialize")) {
        let params = request.params();
        let missing = [
            ("protocolVersion", params["protocolVersion"].is_string()),
            ("capabilities", params["capabilities"].is_object()),
            ("clientInfo.name", params["clientInfo"]["name"].is_string()),
            ("clientInfo.version", params["clientInfo"]["version"].is_string()),
        ];
        let missing: Vec<&str> = missing.iter().filter(|(_, is_there)| !is_there).map(|(name, _)| *name).collect();
        ruling.check(missing.is_empty(), request, || format!("`initialize` lacks {}", missing.join(", ")));
    }
}

pub(super) fn initialized(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let Some(request) = talk.requests().find(|frame| frame.method() == Some("initialize")) else { return };
    let is_answered = talk
        .reply_to(request)
        .is_some_and(|reply| reply.json.as_ref().is_some_and(|json| json.get("result").is_some()));
    if !is_answered {
        return;
    }
    let notified = talk.sent().find(|frame| frame.method() == Some("notifications/initialized"));
    let first = talk.requests().find(|frame| !matches!(frame.method(), Some("initialize" | "ping")));
    match (notified, first) {
        (Some(notified), first) => {
            let is_early = talk.reply_to(request).is_some_and(|reply| talk.position(notified) < talk.position(reply));
            ruling.check(!is_early, notified, || {
                "`notifications/initialized` was sent before `initialize` was answered".to_owned()
            });
            let holds = first.is_none_or(|first| talk.position(notified) < talk.position(first));
            // What was sent before the reply is the business of another rule.
            let is_before =
                |first| talk.reply_to(request).is_some_and(|reply| talk.position(first) < talk.position(reply));
            let is_eager = first.is_some_and(is_before);
            ruling.check(holds || is_eager, notified, || {
                "a request was sent before `notifications/initialized`".to_owned()
            });
        }
        (None, Some(first)) => {
            ruling.check(false, first, || "`notifications/initialized` was not sent before other requests".to_owned());
        }
        (None, None) => {}
    }
}

pub(super) fn waits(ruling: &mut ClientRuling<'_>) {
    let talk = ruling.talk;
    let Some(request) = talk.requests().find(|frame| frame.method() == Some("initialize")) else { return };
    let answered = talk.reply_to(request).map_or(usize::MAX, |reply| talk.position(reply));
    for other in talk.requests().filter(|frame| talk.position(frame) > talk.position(request)) {
        if !matches!(other.method(), Some("initialize" | "ping")) {
            let is_later = talk.position(other) > answered;
            ruling.check(is_later, other, || {
                format!("`{}` was sent before `initialize` was answered", other.method().unwrap_or_default())
            });
        }
    }
}

pub(super) fn once(ruling: &mut ClientRuling<'_>) {
    let mut requests = ruling.talk.requests().filter(|frame| frame.method() == Some("initialize"));
    let Some(first) = requests.next() else { return };
    // A handshake that was refused may be tried again with another version.
    let is_agreed = ruling
        .talk
        .reply_to(first)
        .is_some_and(|reply| reply.json.as_ref().is_some_and(|json| json.get("result").is_some()));
    let again = requests.next();
    ruling.check(!is_agreed || again.is_none(), again.unwrap_or(first), || {
        "`initialize` was sent again in the same session".to_owned()
    });
}
