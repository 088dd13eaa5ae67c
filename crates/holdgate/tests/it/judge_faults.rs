//! Judges that give no verdict: each fault is a state of its own, in which the severity decides.

use crate::judge::{Hand, KEY, ask, hit, judge, said, settings, why};
use crate::judge_server::{JudgeServer, Reply};
use holdgate::config::{JudgeSettings, Provider};
use holdgate::judge::{Judge, Outcome, Ruling, Verdict, outcome};
use holdgate_effects::json::Json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[tokio::test]
async fn the_other_providers_faults_are_no_verdicts_either() {
    let ruling = Json::from(r#"{"verdict":"SAFE","reason":"r"}"#).to_string();
    let server = JudgeServer::start([]).await;
    let with = |provider| JudgeSettings {
        provider,
        ..settings(&server.url())
    };
    let anthropic = judge(with(Provider::Anthropic));
    let openai = judge(with(Provider::OpenAi));
    let check = async |judge: &Judge, body: String, expected: &str| {
        server.set(Reply::new(200, &body));
        let why = why(ask(judge, "a").await);
        assert_eq!(why, expected, "{body}");
    };
    let message = |stop: &str| {
        format!(r#"{{"content":[{{"type":"text","text":{ruling}}}],"stop_reason":"{stop}"}}"#)
    };
    let blocked = "it rejected the question: refusal";
    check(&anthropic, message("refusal"), blocked).await;
    let short = "its response was truncated: max_tokens";
    check(&anthropic, message("max_tokens"), short).await;
    let tool = r#"{"content":[{"type":"tool_use","input":{}}],"stop_reason":"end_turn"}"#;
    let more = "its response cannot be read: it contains more than text";
    check(&anthropic, tool.to_owned(), more).await;
    let choice = |finish: &str, refusal: &str| {
        format!(
            r#"{{"choices":[{{"message":{{"content":{ruling},"refusal":{refusal}}},"finish_reason":"{finish}"}}]}}"#
        )
    };
    let short = "its response was truncated: length";
    check(&openai, choice("length", "null"), short).await;
    let filtered = "it rejected the question: content_filter";
    check(&openai, choice("content_filter", "null"), filtered).await;
    let refused = "it rejected the question: I cannot";
    check(&openai, choice("stop", "\"I cannot\""), refused).await;
}

#[tokio::test]
async fn a_judge_that_gives_no_verdict_is_down() {
    let server = JudgeServer::start([]).await;
    let clock = Arc::new(Hand::default());
    let key = Some(KEY.to_owned());
    let judge = Judge::with(settings(&server.url()), key, clock.clone()).unwrap();
    let check = async |reply: Reply, expected: &str| {
        server.set(reply);
        let before = server.asked().len();
        let ruling = ask(&judge, "a").await;
        assert_eq!(ruling.word(), "judge_down");
        let (harm, words) = (hit("harm-in-progress", "a"), hit("dangerous-command", "a"));
        assert_eq!(outcome(&ruling, &harm, false), Outcome::Kill);
        assert_eq!(outcome(&ruling, &words, false), Outcome::Warn);
        assert_eq!(outcome(&ruling, &words, true), Outcome::Ask);
        assert_eq!(why(ruling), expected);
        assert_eq!(server.asked().len(), before + 1);
        // Past any rest that it may have earned.
        clock.0.fetch_add(3_600, Ordering::SeqCst);
    };
    let status = |code: u16, status: &str| Reply::google_error(code, status, "");
    for (reply, expected) in [
        (
            status(404, "NOT_FOUND"),
            "responded with status 404 Not Found: NOT_FOUND it is",
        ),
        (
            status(500, "INTERNAL"),
            "responded with status 500 Internal Server Error: INTERNAL it is",
        ),
        (
            status(503, "UNAVAILABLE"),
            "is busy (503 Service Unavailable): UNAVAILABLE it is",
        ),
    ] {
        check(reply, &format!("it {expected}")).await;
    }
    let wait = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}"#;
    let busy = "it is busy (429 Too Many Requests, asks for 37s): RESOURCE_EXHAUSTED it is";
    check(Reply::google_error(429, "RESOURCE_EXHAUSTED", wait), busy).await;
    let redirect = Reply::new(302, "").header("location", "http://127.0.0.1:1/");
    check(redirect, "it responded with status 302 Found: no message").await;
    let no_key = format!(r#"{{"error":{{"message":"{KEY} is no key"}}}}"#);
    let refused = "it responded with status 400 Bad Request: *** is no key";
    check(Reply::new(400, &no_key), refused).await;
    let blocked = Reply::new(
        200,
        r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#,
    );
    check(blocked, "it rejected the question: PROHIBITED_CONTENT").await;
    let whole = r#"{"verdict":"SAFE","reason":"r"}"#;
    for reason in ["SAFETY", "RECITATION", "OTHER", "A_NEW_ONE"] {
        let expected = format!("it rejected the question: {reason}");
        check(Reply::gemini_ending(whole, reason), &expected).await;
    }
    let cut = r#"{"verdict":"SAFE","rea"#;
    let truncated = "its response was truncated: MAX_TOKENS";
    check(Reply::gemini_ending(cut, "MAX_TOKENS"), truncated).await;
    let not_closed = "no JSON object: the string is not closed at byte 22";
    let maybe = r#"{"verdict":"MAYBE","reason":"r"}"#;
    let no_text = r#"{"candidates":[{"finishReason":"STOP"}]}"#;
    for (reply, what) in [
        (Reply::gemini(cut), not_closed),
        (Reply::gemini(maybe), "`MAYBE` is not a valid verdict"),
        (
            Reply::new(200, r#"{"candidates":[]}"#),
            "it has no candidates",
        ),
        (Reply::new(200, no_text), "it is empty"),
    ] {
        check(reply, &format!("its response cannot be read: {what}")).await;
    }
    let large = "its response is larger than 262144 bytes";
    check(Reply::gemini(&"x".repeat(300 << 10)), large).await;
}

#[tokio::test]
async fn a_judge_that_cannot_be_reached_or_breaks_off_is_down() {
    let server = JudgeServer::start([Reply::verdict("SAFE").cut()]).await;
    let cut = why(ask(&judge(settings(&server.url())), "a").await);
    assert!(cut.starts_with("it cannot be reached: "), "{cut}");

    let url = server.url();
    drop(server);
    tokio::task::yield_now().await;
    let refused = why(ask(&judge(settings(&url)), "a").await);
    assert!(refused.starts_with("it cannot be reached: "), "{refused}");
}

#[tokio::test]
async fn nobody_waits_longer_than_the_time_out() {
    let reply = Reply::verdict("SAFE").after(Duration::from_mins(1));
    let server = JudgeServer::start([reply]).await;
    let settings = JudgeSettings {
        timeout: Duration::from_millis(50),
        ..settings(&server.url())
    };
    let begun = Instant::now();
    let why = why(ask(&judge(settings), "a").await);
    assert_eq!(why, "it did not respond within 50ms");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_busy_judge_is_asked_again_when_it_says_so() {
    let wait = r#"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.03s"}"#;
    let server = JudgeServer::start([
        Reply::google_error(429, "RESOURCE_EXHAUSTED", wait),
        Reply::new(503, "{}").header("retry-after", "0"),
        Reply::verdict("KILL"),
    ])
    .await;
    let ruling = ask(&judge(settings(&server.url())), "a").await;
    assert_eq!(ruling, said(Verdict::Kill, "because of KILL"));
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_judge_that_fails_is_left_alone_and_its_budget_holds() {
    let server = JudgeServer::start([
        Reply::new(500, ""),
        Reply::new(500, ""),
        Reply::verdict("SAFE"),
    ])
    .await;
    let clock = Arc::new(Hand::default());
    let settings = JudgeSettings {
        breaker_failures: 2,
        budget_per_hour: 4,
        ..settings(&server.url())
    };
    let judge = Judge::with(settings, None, clock.clone()).unwrap();
    let ask = async |flagged: &str| match ask(&judge, flagged).await {
        Ruling::Said { .. } => "said".to_owned(),
        Ruling::Down { why } => why,
    };
    assert!(ask("a").await.starts_with("it responded with status 500"));
    assert!(ask("b").await.starts_with("it responded with status 500"));
    let resting = "it has failed and is paused for another 30s";
    assert_eq!(ask("c").await, resting);
    assert_eq!(server.asked().len(), 2);
    clock.0.store(30, Ordering::SeqCst);
    assert_eq!(ask("d").await, "said");
    assert_eq!(ask("e").await, "said");
    let spent = "its budget of 4 requests per hour is used up";
    assert_eq!(ask("f").await, spent);
    assert_eq!(ask("e").await, "said", "what is known costs nothing");
    assert_eq!(server.asked().len(), 4);
    clock.0.store(3_600, Ordering::SeqCst);
    assert_eq!(ask("f").await, "said");
}

#[tokio::test]
async fn a_key_in_an_answer_is_not_repeated_not_even_in_part() {
    for cut in 0..KEY.len() {
        let message = format!("{}{KEY} is wrong", "x".repeat(300 - cut));
        let server = JudgeServer::start([Reply::google_error(403, &message, "")]).await;
        let why = why(ask(&judge(settings(&server.url())), "a").await);
        assert!(!why.contains("k-5") && why.contains("xxx"), "{why}");
    }
}
