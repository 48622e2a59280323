//! Types shared by all other crates.
//!
//! Nothing here waits, reads a clock, opens a file or knows a transport. Text an author wrote carries its
//! [`Span`]; what a server sent stays bytes and [`serde_json::Value`] behind lenient views; whatever is wrong
//! with a subject is a [`Finding`]; what happened during a run is a stream of [`Event`]s that folds into a
//! [`Report`].

mod act;
mod address;
mod agent;
pub mod bounded_json;
mod calendar;
mod case;
mod chat;
mod check;
mod composition;
mod coverage;
mod credentials;
mod diagnostics;
mod event;
mod exchange;
mod exit;
mod fault;
mod finding;
mod finding_kinds;
mod frame;
mod fuzz_dictionary;
mod grading;
mod http_settings;
mod isolation;
mod json_kind;
mod latency;
mod lenient_view;
mod load;
mod matrix;
mod metamorphic;
mod nearest;
mod node;
pub mod oauth;
mod observation;
mod offline;
mod origin;
mod percent_encoding;
mod plan;
mod redact;
mod report;
mod revision;
mod rule_text;
mod safe_text;
mod scan;
mod scan_answers;
mod score;
mod security;
mod server;
mod server_override;
mod shared_headers;
mod snapshot;
mod source;
mod stable_hash;
mod stderr_cause;
mod suite_options;
mod tool_verdict;
mod units;
mod vocabulary;

pub use act::{
    Act, BesideCall, CallTool, Completion, FuzzBlock, InjectedError, Logging, NegativePath, Prompts, Raw, ResourceAsk,
    Resources, SETTLE, Trajectory, Transform, TransformPhase,
};
pub use address::{password_in, passwords, without_password};
pub use agent::{
    Agent, AgentBudget, AgentGate, AgentMeasure, AgentModel, AgentServer, Dialect, MatrixAssert, NamedModel, Price,
    Provider, ProviderKey, Recovery, Repeat, ScriptAction, ScriptCall, ScriptStep, Secret, SimulatedUser, StopReason,
    ToolSelection, When,
};
pub use calendar::utc_timestamp;
pub use case::{Capture, Case, Expectation, Poll, Skip, Step, StepCall};
pub use chat::{ChatCall, ChatMessage, ChatReply, ChatResult, ChatTool, Usage};
pub use check::{Check, Mismatch, PlannedCheck};
pub use composition::{Composition, CompositionNode, CompositionOutput};
pub use coverage::{ArgumentCoverage, CoverageCount, ItemCoverage, ServerCoverage, ToolCoverage};
pub use credentials::{Credential, CredentialKind, is_credential, is_scheme};
pub use diagnostics::Diagnostics;
pub use event::{
    AgentRecord, CallRecord, CallRole, CaseFinished, CaseStarted, Connected, Event, RunContext, RunFinished,
    RunStarted, ShardOf, Timings, Verdict,
};
pub use exchange::{Exchange, Malformed, Notification, Outcome, ProcessEnd, Refused, RpcError};
pub use exit::ExitStatus;
pub use fault::{FAULTS, Fault, FaultId, FaultKind, FaultNumber, FaultRow, FaultRule, FaultSignal, canary};
pub use finding::{Edit, Evidence, Finding, Fix, Place, Severity, TextPlace, WirePlace};
pub use finding_kinds::{FindingKind, finding_kinds};
pub use frame::{Direction, Frame, FrameKind, WirePart};
pub use fuzz_dictionary::{FuzzDictionary, FuzzInvariant, FuzzLink, LinkPart, LinkedTool};
pub use grading::{CriterionGrade, Grade, Grades, Judge, MODEL_GRADED_TAG, Question, ScriptedGrade};
pub use http_settings::{ClientCertificate, HttpSettings, TlsSettings};
pub use isolation::Isolation;
pub use json_kind::json_kind;
pub use latency::LatencyHistogram;
pub use lenient_view::{
    documents_at_lines, first_json, member, member_of, text_of_contents, text_of_prompt, text_of_tool_result,
};
pub use load::{
    CallStats, ErrorStats, LoadBegin, LoadError, LoadPlan, LoadRecord, LoadWindow, MemoryGrowth, RateLimit, RateStep,
    UsageSample, per_second, share,
};
pub use matrix::{Column, ColumnServer, Matrix};
pub use metamorphic::{Metamorphic, Relation};
pub use nearest::nearest;
pub use node::{Entry, Key, Kind, Meaning, Node, Scalar, ScalarStyle};
pub use observation::{AskedOfClient, FileSeen, FileState, Observation, TracedCall};
pub use offline::{Evaluated, Offline};
pub use origin::{Origin, OriginPart};
pub use percent_encoding::{is_unreserved, percent_encoded};
pub use plan::{Plan, PlannedCase};
pub use redact::Redactor;
pub use report::{CaseReport, Report, RunReport, Summary};
pub use revision::{Era, Revision};
pub use rule_text::RuleText;
pub use safe_text::{escape_line, escape_text, is_active, shorten, some_of};
pub use scan::{ConformanceBlock, ScanWork};
pub use scan_answers::filled_form;
pub use score::{Score, Scorer};
pub use security::{Boundary, FlowPair, Negotiation, Security};
pub use server::{
    Auth, AwsKeySource, AwsKeys, AwsSigV4, ClientCapabilities, ClientCredentials, ElicitationAction, ElicitationReply,
    Protocol, Ready, Remote, SamplingReply, Sandbox, ServerSpec, Target,
};
pub use server_override::{NewServer, Override};
pub use shared_headers::SharedHeaders;
pub use snapshot::{Snapshot, SnapshotKind, StoredValues};
pub use source::{Position, SourceFile, Span};
pub use stable_hash::{FNV_START, fnv1a};
pub use stderr_cause::cause_line;
pub use suite_options::{Budget, Coverage, Hook, HookCall, Hooks, Parallel, SuiteLoad, SuiteOptions, WaitFor};
pub use tool_verdict::{FailureCause, OFFER_TAG, ScanCounts, ToolVerdict};
pub use units::{duration_text, number_text, size_text};
pub use vocabulary::{Targets, Vocabulary};
