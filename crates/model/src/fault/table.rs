//! The table of faults.

/// A kind of fault, without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultId {
    /// Healthy.
    None,
    /// No call ever returns.
    Hang,
    /// The same to a client; another name to record what was meant.
    Wedged,
    /// Calls answer after a delay.
    Slow,
    /// The first calls hang, then the server is well again.
    RecoverAfter,
    /// The request is lost.
    Drop,
    /// The connection ends in the middle of the reply.
    Disconnect,
    /// The reply is not JSON.
    Malformed,
    /// The reply ends in its middle; the connection goes on.
    Truncated,
    /// The reply has the id of no request.
    WrongId,
    /// The reply comes twice.
    Duplicate,
    /// The reply is held back until the call is cancelled, and sent then.
    AfterCancel,
    /// The result is very large.
    Oversized,
    /// A JSON-RPC error in place of the reply.
    Error,
    /// Some calls fail, chosen by the seed.
    Flaky,
    /// Calls are refused for a while.
    RateLimit,
    /// The credentials are no longer valid.
    ExpiredAuth,
    /// The tool has another name since it was listed.
    RenamedTool,
    /// The tool needs one more argument since it was listed.
    AddedArgument,
    /// The description of the tool is another in later lists.
    ChangedDescription,
    /// Many notifications that the list of tools has changed, before the reply.
    ListChangedStorm,
    /// Many log messages before the reply.
    NotificationFlood,
    /// The reply comes byte by byte.
    SlowDrip,
    /// The reply waits for that of the next request.
    OutOfOrder,
    /// The connection ends at every call after so many.
    ResetAfter,
    /// The connection stays open, and nothing comes any more.
    HalfOpen,
    /// The result has an order to the model, with a canary.
    InjectedResult,
    /// The description has an order to the model, with a canary.
    InjectedDescription,
    /// The server asks for a sampling, whatever the client declared.
    UnexpectedSampling,
}

/// Effect of a fault on a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSignal {
    /// Nothing: only a deadline of its own ends the call.
    Silence,
    /// The reply, later.
    Delay,
    /// An error reply.
    Error,
    /// The end of the connection.
    Closed,
    /// Bytes that are not a valid reply.
    Garbage,
    /// The reply, and other messages.
    Noise,
    /// A valid reply that differs from the healthy one.
    Content,
}

/// The number behind the name of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultNumber {
    /// It takes none.
    None,
    /// It must have one, from the first to the second.
    Needed(&'static str, i64, i64),
    /// It may have one, from the first to the second; else it is the third.
    Optional(&'static str, i64, i64, i64),
}

/// A row of the table of faults.
#[derive(Clone, Copy, Debug)]
pub struct FaultRow {
    /// The fault.
    pub id: FaultId,
    /// Its name in `--fault`, suites and scenarios.
    pub name: &'static str,
    /// Its number.
    pub number: FaultNumber,
    /// Its effect on a client.
    pub signal: FaultSignal,
    /// Its effect, for help and pages.
    pub what: &'static str,
}

/// A day in milliseconds, and more calls than any test makes.
pub(super) const MOST: i64 = 86_400_000;

const fn row(
    id: FaultId,
    name: &'static str,
    number: FaultNumber,
    signal: FaultSignal,
    what: &'static str,
) -> FaultRow {
    FaultRow { id, name, number, signal, what }
}

/// Every fault.
pub const FAULTS: &[FaultRow] = {
    use FaultId as Id;
    use FaultNumber::{Needed, None as No, Optional};
    use FaultSignal::{Closed, Content, Delay, Error, Garbage, Noise, Silence};
    &[
        row(Id::None, "none", No, Content, "no fault; overrides a fault of all tools"),
        row(Id::Hang, "hang", No, Silence, "the call is never answered (a mock gives up after ten minutes)"),
        row(Id::Wedged, "wedged", No, Silence, "the same as `hang`; the name says that a deadlock is meant"),
        row(Id::Slow, "slow", Needed("milliseconds", 0, MOST), Delay, "the reply comes so much later"),
        row(
            Id::RecoverAfter,
            "recover-after",
            Needed("calls", 0, MOST),
            Silence,
            "so many calls hang, later ones are answered",
        ),
        row(
            Id::Drop,
            "drop",
            Optional("calls", 1, MOST, MOST),
            Silence,
            "the request is lost: the server does not see so many calls",
        ),
        row(
            Id::Disconnect,
            "disconnect",
            Optional("calls", 1, MOST, 1),
            Closed,
            "the connection ends in the middle of the reply, for so many calls",
        ),
        row(
            Id::Malformed,
            "malformed",
            Optional("calls", 1, MOST, MOST),
            Garbage,
            "the reply is not JSON, for so many calls",
        ),
        row(
            Id::Truncated,
            "truncated",
            Optional("calls", 1, MOST, MOST),
            Garbage,
            "the reply stops in its middle and the connection goes on, for so many calls",
        ),
        row(
            Id::WrongId,
            "wrong-id",
            Optional("calls", 1, MOST, MOST),
            Silence,
            "the reply has the id of no request, for so many calls",
        ),
        row(Id::Duplicate, "duplicate", No, Noise, "the reply comes twice"),
        row(
            Id::AfterCancel,
            "after-cancel",
            No,
            Silence,
            "the reply comes only after the client has cancelled the call",
        ),
        row(
            Id::Oversized,
            "oversized",
            Optional("KiB", 1, 65_536, 4_096),
            Content,
            "the result has so many KiB of text",
        ),
        row(
            Id::Error,
            "error",
            Optional("code", -32_768, 32_767, -32_603),
            Error,
            "the call is answered with this JSON-RPC error and not executed",
        ),
        row(
            Id::Flaky,
            "flaky",
            Needed("percent", 1, 100),
            Error,
            "so many percent of the calls, chosen by the seed, are answered with -32603",
        ),
        row(
            Id::RateLimit,
            "rate-limit",
            Optional("milliseconds", 1, MOST, 2_000),
            Error,
            "calls are refused until so much time has passed since the first (HTTP 429 with `Retry-After`; -32000 with `retryAfterMs` on stdio)",
        ),
        row(
            Id::ExpiredAuth,
            "expired-auth",
            Optional("calls", 1, MOST, MOST),
            Error,
            "so many calls are refused with HTTP 401 (-32001 on stdio)",
        ),
        row(
            Id::RenamedTool,
            "renamed-tool",
            No,
            Error,
            "since it was listed, the tool is called `NAME_v2`; the old name is unknown",
        ),
        row(
            Id::AddedArgument,
            "added-argument",
            No,
            Error,
            "since it was listed, the tool requires the argument `confirm`",
        ),
        row(Id::ChangedDescription, "changed-description", No, Content, "later lists show another description"),
        row(
            Id::ListChangedStorm,
            "list-changed-storm",
            Optional("notifications", 1, 100_000, 100),
            Noise,
            "so many `list_changed` notifications before the reply",
        ),
        row(
            Id::NotificationFlood,
            "notification-flood",
            Optional("notifications", 1, 100_000, 1_000),
            Noise,
            "so many log messages before the reply",
        ),
        row(
            Id::SlowDrip,
            "slow-drip",
            Optional("milliseconds", 1, MOST, 20),
            Delay,
            "the reply comes byte by byte, so much time apart",
        ),
        row(
            Id::OutOfOrder,
            "out-of-order",
            Optional("milliseconds", 1, MOST, 1_000),
            Delay,
            "the reply waits for that of a later request, at most so long",
        ),
        row(
            Id::ResetAfter,
            "reset-after",
            Needed("calls", 0, MOST),
            Closed,
            "the connection ends without a reply at the call after so many, again and again",
        ),
        row(Id::HalfOpen, "half-open", No, Silence, "from the call on, the connection stays open and carries nothing"),
        row(
            Id::InjectedResult,
            "injected-result",
            No,
            Content,
            "the result ends with an order to the model and a canary",
        ),
        row(
            Id::InjectedDescription,
            "injected-description",
            No,
            Content,
            "the listed description ends with an order to the model and a canary",
        ),
        row(
            Id::UnexpectedSampling,
            "unexpected-sampling",
            No,
            Noise,
            "a `sampling/createMessage` request before the reply, whatever the client declared",
        ),
    ]
};
