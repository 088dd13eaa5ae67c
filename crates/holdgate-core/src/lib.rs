//! The part of Holdgate that decides. Bytes and times go in, [`Output`]s come out; the `holdgate`
//! crate carries them out. `guard.rs` is the place to start reading.

mod answer;
mod call;
mod canonical;
pub mod classifier;
mod compiled;
mod conversation;
pub mod divergence;
mod drift;
mod event;
mod exception;
mod framing;
mod guard;
mod history;
mod incident;
pub mod injection;
mod layers;
mod live;
pub mod marking;
mod mask;
mod notice;
pub mod prints;
mod protocol;
mod provenance;
mod question;
mod request;
pub mod rules;
mod session;
mod shown;
pub mod spillage;
pub mod sse;
mod stack;
mod taint;
mod text_actions;
pub mod trajectory;
mod verdict;
pub mod watch;

// A response under guard.
pub use canonical::Canonical;
pub use framing::Framing;
pub use guard::{
    GuardSettings, Job, JobDone, MessageGuard, OnBlock, Output, Progress, ResponseContext,
    StreamGuard, Unjudged, guard_message,
};
pub use notice::Tell;
pub use protocol::{
    PROTOCOLS, Protocol, Vendor,
    anthropic::ANTHROPIC,
    bridge::{Translated, Untranslatable, bridged, bridges, estimated_tokens},
    chat::CHAT,
    gemini::GEMINI,
    inert_value, is_inert_text,
    ollama::OLLAMA,
    responses::RESPONSES,
};
pub use request::{Bridged, Dialect, Request, RequestFacts};
pub use text_actions::{TextActions, reads_text};

// A call, and the findings about it.
pub use call::{CallLimits, Executor, HeldCall, ToolCall};
pub use layers::{
    Canaries, Classification, Divergence, Gate, GoalDrift, Labelled, LabelledProjects, Policy,
    Projects, RateLimits, SharedProjects, Spillage, Trajectory, TrajectoryMode, layers,
};
pub use stack::{
    Cleared, Clock, Context, Counts, JudgeLimits, Judgement, Layer, OutOfFuel, Refusal, Stack,
    Tickets,
};
pub use verdict::{Finding, LayerName, Verdict};

// What is asked and recorded.
pub use answer::{Answer, Approval};
pub use exception::{Allowance, NoAllowance};
pub use incident::{Action, Members, Record, Refused, Subject};
pub use mask::{Masked, prepare as prepare_masking, prepare_all as prepare_all_masking};
pub use question::Question;

// What has been done before.
pub use conversation::{CallReader, Conversations, Room, Unbounded, shared_bytes, shared_history};
pub use drift::Drift;
pub use history::{History, Outcome, Step};
pub use live::LiveSession;
pub use session::{Session, Sessions, SharedSession, Visit, lock as lock_session};
