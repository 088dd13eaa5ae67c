//! The result of judging: a call that may pass, or a refusal with its reasons.

use crate::answer::{Answer, Approval};
use crate::call::{Executor, Fault, ToolCall};
use crate::notice::{Notice, Tell};
use crate::verdict::{Finding, LayerName, Verdict};
use holdgate_effects::json::Json;
use std::sync::Arc;

/// A call that may reach the client.
#[derive(Clone, Debug)]
pub struct Cleared {
    pub(super) call: ToolCall,
    pub(super) findings: Vec<Finding>,
}

/// A call that must not reach the client, and why.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub(super) tool: Option<String>,
    pub(super) id: Option<String>,
    pub(super) runs: Executor,
    pub(super) input: Option<Arc<String>>,
    /// The protocol's own object around the call, its input left out.
    pub(super) envelope: Json<'static>,
    /// The call, if a person may still let it pass.
    pub(super) asked: Option<Box<ToolCall>>,
    pub(super) findings: Vec<Finding>,
}

impl Cleared {
    /// The call, as it was judged.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The findings of all layers.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// `Allow` or `Audit`, also if a rule asked and a person let the call pass.
    pub fn verdict(&self) -> Verdict {
        strictest(&self.findings).min(Verdict::Audit)
    }
}

impl Refusal {
    /// `call` is refused. If it was only asked about, a person may still let it pass.
    pub(super) fn of(call: ToolCall, findings: Vec<Finding>) -> Self {
        Refusal {
            tool: Some(call.name.clone()),
            id: Some(call.id.clone()),
            runs: call.runs.clone(),
            input: Some(call.text.clone()),
            envelope: call.envelope.clone(),
            asked: (strictest(&findings) == Verdict::Ask).then(|| Box::new(call)),
            findings,
        }
    }

    /// A call that was not read, or not judged, is refused because of `finding`.
    pub(crate) fn unread(
        tool: Option<String>,
        id: Option<String>,
        runs: Executor,
        finding: Finding,
    ) -> Self {
        Refusal {
            tool,
            id,
            runs,
            input: None,
            envelope: Json::Null,
            asked: None,
            findings: vec![finding],
        }
    }

    /// The same with the protocol's own object around the call.
    #[must_use]
    pub(crate) fn with_envelope(self, envelope: Json<'static>) -> Self {
        Refusal { envelope, ..self }
    }

    /// The protocol's own object around the call, its input left out. It says where the call was.
    pub fn envelope(&self) -> &Json<'static> {
        &self.envelope
    }

    /// The tool's name, if it could be read.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// The call's id, if it could be read.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Who would have run it.
    pub fn runs(&self) -> &Executor {
        &self.runs
    }

    /// The arguments, if they could be read.
    pub fn input(&self) -> Option<&Arc<String>> {
        self.input.as_ref()
    }

    /// The findings of all layers.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// `Ask`, `Block` or `Kill`.
    pub fn verdict(&self) -> Verdict {
        strictest(&self.findings)
    }

    /// The text that replaces the call, after this `answer` to the question about it.
    pub fn notice(&self, incident: &str, answer: Option<Answer>, tell: Tell) -> String {
        let notice = Notice {
            tool: self.tool(),
            runs: &self.runs,
            verdict: self.verdict(),
            findings: &self.findings,
            answer,
            tell,
            incident,
        };
        notice.text()
    }

    /// The call with a person's approval, if it was only asked about. A call that a rule blocks
    /// stays refused.
    pub(crate) fn approved(&self, _: &Approval) -> Option<Cleared> {
        Some(Cleared {
            call: self.asked.as_deref()?.clone(),
            findings: self.findings.clone(),
        })
    }
}

pub(super) fn strictest(findings: &[Finding]) -> Verdict {
    findings
        .iter()
        .map(|f| f.verdict)
        .max()
        .unwrap_or(Verdict::Allow)
}

/// Why a call that cannot be read is refused.
pub(super) fn unreadable(fault: &Fault) -> Finding {
    let (rule, instead) = match fault {
        Fault::UnknownKind(_) => (
            "unknown-block",
            "if this block cannot cause an action, the operator can add it to `guard.inert_blocks`",
        ),
        Fault::InPieces => (
            "unreadable-call",
            "the client must not ask for `streamFunctionCallArguments`",
        ),
        Fault::TooLarge(_) => ("oversized-call", "split it into several smaller calls"),
        Fault::Undeclared(_) => ("undeclared-tool", "call only tools that are declared"),
        Fault::Garbled(_) => (
            "unreadable-call",
            "write the call again, with each parameter once and nothing between them",
        ),
        Fault::Json(_)
        | Fault::NotAnObject
        | Fault::TwoInputs
        | Fault::Differs
        | Fault::CutOff
        | Fault::NoName
        | Fault::TwoNames
        | Fault::NoId
        | Fault::AmbiguousKey(_)
        | Fault::NestedCall
        | Fault::SameId(_) => (
            "unreadable-call",
            "send the call again as one valid JSON object without duplicate keys",
        ),
    };
    Finding::block(
        LayerName::Reader,
        rule,
        format!("the call cannot be judged: {fault}"),
    )
    .instead(instead)
}
