//! What a request asks for, and whose session it belongs to.

use crate::ledger::hex;
use holdgate_core::{ANTHROPIC, PROTOCOLS, Protocol, RequestFacts, Vendor};
use hyper::header::{self, HeaderMap};
use hyper::{Method, Request};
use sha2::{Digest as _, Sha256};

/// APIs that carry tool calls and are not guarded: refused, never passed on unread.
const UNGUARDED: &[&str] = &[
    "/completions",
    "/api/generate",
    "/complete",
    "/invoke",
    "/invoke-with-response-stream",
    "/converse",
    "/converse-stream",
];

/// What only Ollama serves besides its chat. Other paths below `/api` are other vendors' too.
const OLLAMA_PATHS: &[&str] = &[
    "/api/tags",
    "/api/version",
    "/api/show",
    "/api/ps",
    "/api/embed",
    "/api/embeddings",
];

/// Versions of Gemini's API that no other provider serves.
const GEMINI_VERSIONS: &[&str] = &["v1beta", "v1alpha"];
/// What only Gemini is asked of a model, besides answers.
const GEMINI_METHODS: &[&str] = &[":counttokens", ":embedcontent", ":batchembedcontents"];

/// The protocol of answers to requests that name no API.
pub(crate) const DEFAULT: &dyn Protocol = ANTHROPIC;

/// The protocol with this name, if it is guarded.
pub(crate) fn protocol(name: &str) -> Option<&'static dyn Protocol> {
    let mut protocols = PROTOCOLS.iter().copied();
    protocols.find(|protocol| protocol.name() == name)
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// An answer that can carry tool calls, in this protocol: guarded.
    Guarded(&'static dyn Protocol),
    /// Another protocol that carries tool calls: refused.
    Unguarded,
    /// Anything that carries no tool calls: passed through.
    Other,
}

impl Route {
    /// The path is read as a lenient server would read it: `//V1/%6Dessages/` is messages too.
    pub(super) fn of(method: &Method, path: &str) -> Route {
        let path = plain_path(path);
        if path.contains("/batches/") && path.ends_with("/results") {
            // Whole messages, one a line.
            Route::Unguarded
        } else if method != Method::POST {
            Route::Other
        } else if let Some(protocol) = PROTOCOLS.iter().find(|protocol| protocol.serves(&path)) {
            Route::Guarded(*protocol)
        } else if UNGUARDED.iter().any(|api| path.ends_with(api))
            || path.contains("generatecontent")
            || path.contains("rawpredict")
        {
            Route::Unguarded
        } else {
            Route::Other
        }
    }
}

/// Whose API a request is meant for. Only a path that no other provider serves decides: a request
/// carries a key, which must not reach somebody else.
pub(super) fn vendor(method: &Method, path: &str) -> Vendor {
    let path = path.split('?').next().unwrap_or_default();
    match Route::of(method, path) {
        Route::Guarded(protocol) => protocol.vendor(),
        Route::Other => vendor_of(&plain_path(path)),
        Route::Unguarded => Vendor::Anthropic,
    }
}

/// Whose path this is, if its answers carry no calls.
fn vendor_of(path: &str) -> Vendor {
    let start = path.strip_prefix("/upload").unwrap_or(path).get(1..);
    let version = start.and_then(|start| start.split('/').next());
    let is_gemini = version.is_some_and(|version| GEMINI_VERSIONS.contains(&version))
        || path.starts_with("/v1/models/") && GEMINI_METHODS.iter().any(|m| path.ends_with(m));
    if OLLAMA_PATHS.contains(&path) {
        Vendor::Ollama
    } else if is_gemini {
        Vendor::Gemini
    } else {
        Vendor::Anthropic
    }
}

/// Whether this is the path at which Anthropic counts tokens.
pub(super) fn counts_tokens(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    plain_path(path).ends_with("/messages/count_tokens")
}

fn plain_path(path: &str) -> String {
    let decoded = holdgate_effects::decode::percent(path).to_ascii_lowercase();
    let mut segments: Vec<&str> = Vec::new();
    for segment in decoded.split('/') {
        let name = segment.split(';').next().unwrap_or_default();
        match name {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}

/// `/s/ID/rest` names the session; the upstream gets `/rest`.
pub(super) fn split_session<B>(request: &Request<B>) -> (Option<String>, String) {
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
    let named = path
        .strip_prefix("/s/")
        .and_then(|rest| rest.split_once('/'))
        .filter(|(id, _)| is_session_id(id));
    match named {
        Some((id, rest)) => (Some(id.to_owned()), format!("/{rest}")),
        None => (None, path.to_owned()),
    }
}

fn is_session_id(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=128).contains(&id.len()) && id.bytes().all(plain)
}

/// By path, by the client's own id, else by key and the root of the conversation.
pub(super) fn session_id(
    given: Option<&str>,
    headers: &HeaderMap,
    query: Option<&str>,
    facts: &RequestFacts,
) -> String {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let named = header("x-claude-code-session-id").or(header("x-session-id"));
    let own = named.or(facts.session.as_deref());
    if let Some(id) = given.or(own).filter(|id| is_session_id(id)) {
        return id.to_owned();
    }
    let mut pairs = query.unwrap_or_default().split('&');
    let in_query = pairs.find_map(|pair| pair.strip_prefix("key="));
    let mut hasher = Sha256::new();
    for part in [
        header("x-api-key").unwrap_or_default(),
        header("authorization").unwrap_or_default(),
        header("x-goog-api-key").unwrap_or_default(),
        in_query.unwrap_or_default(),
        own.unwrap_or_default(),
        &facts.root,
    ] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    format!("root-{}", hex(digest.get(..8).unwrap_or_default()))
}

/// `h2c` is an offer that servers may ignore; anything else would tunnel past the guard.
pub(super) fn asks_for_upgrade(headers: &HeaderMap) -> bool {
    let offers = headers.get_all(header::UPGRADE);
    offers
        .iter()
        .any(|offer| !offer.as_bytes().eq_ignore_ascii_case(b"h2c"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdgate_core::RESPONSES;
    use hyper::header::HeaderValue;

    #[test]
    fn other_spellings_of_a_guarded_path_are_guarded() {
        for path in [
            "/v1/messages",
            "//v1//messages/",
            "/V1/Messages",
            "/v1/%6Dessages",
            "/v1/messages/.",
            "/v1/x/..%2fmessages;v=2",
            "/x/y/v1/messages",
        ] {
            let route = Route::of(&Method::POST, path);
            assert_eq!(route, Route::Guarded(ANTHROPIC), "{path}");
        }
        for path in [
            "/v1/responses",
            "/responses",
            "/x//V1/%52esponses/",
            "/openai/responses",
        ] {
            let route = Route::of(&Method::POST, path);
            assert_eq!(route, Route::Guarded(RESPONSES), "{path}");
        }
        for path in [
            "/v1/messages/count_tokens",
            "/v1/models",
            "/v1/responses/compact",
            "/",
        ] {
            assert_eq!(Route::of(&Method::POST, path), Route::Other, "{path}");
        }
    }

    #[test]
    fn each_protocol_has_its_path_and_its_provider() {
        for (path, protocol, expected) in [
            ("/v1/messages?beta=true", "anthropic", Vendor::Anthropic),
            ("/v1/chat/completions", "chat", Vendor::OpenAi),
            ("/openai/v1/Chat%2fcompletions", "chat", Vendor::OpenAi),
            (
                "/openai/deployments/d/chat/completions?api-version=1",
                "chat",
                Vendor::OpenAi,
            ),
            ("/api/v1//chat/completions;x=1/", "chat", Vendor::OpenAi),
            ("/v1/responses/./?stream=1", "responses", Vendor::OpenAi),
            ("/v1/responses", "responses", Vendor::OpenAi),
            ("/api/chat", "ollama", Vendor::Ollama),
            ("/api/oauth/profile", "", Vendor::Anthropic),
            ("/v1/models", "", Vendor::Anthropic),
            ("/api/tags", "", Vendor::Ollama),
            ("/v1beta/models/g:generateContent", "gemini", Vendor::Gemini),
            (
                "/v1/models/g:streamGenerateContent?alt=sse&key=k",
                "gemini",
                Vendor::Gemini,
            ),
            (
                "/v1alpha/tunedModels/g%3AgenerateContent",
                "gemini",
                Vendor::Gemini,
            ),
            ("/v1beta/models/g:countTokens", "", Vendor::Gemini),
            ("/v1/models/g:countTokens", "", Vendor::Gemini),
            ("/v1beta/models?key=k", "", Vendor::Gemini),
            ("/upload/v1beta/files", "", Vendor::Gemini),
            ("/v1/models/ft:x", "", Vendor::Anthropic),
        ] {
            assert_eq!(vendor(&Method::POST, path), expected, "{path}");
            let route = Route::of(&Method::POST, path.split('?').next().unwrap());
            match route {
                Route::Guarded(found) => assert_eq!(found.name(), protocol, "{path}"),
                Route::Unguarded | Route::Other => assert_eq!(protocol, "", "{path}"),
            }
        }
    }

    #[test]
    fn protocols_that_are_not_guarded_are_refused() {
        for path in [
            "/v1/completions",
            "/api/generate",
            "/v1internal:streamGenerateContent",
            "/v1beta/models/g:batchGenerateContent",
            "/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
            "/model/x/invoke-with-response-stream",
            "/v1/projects/p/models/m:streamRawPredict",
            "/v1/messages/batches/b/results",
        ] {
            assert_eq!(Route::of(&Method::POST, path), Route::Unguarded, "{path}");
        }
    }

    #[test]
    fn sessions_without_an_id_go_by_key_and_root() {
        let id = |key: &'static str, root: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("x-api-key", HeaderValue::from_static(key));
            let facts = RequestFacts {
                root: root.to_owned(),
                ..RequestFacts::default()
            };
            session_id(None, &headers, None, &facts)
        };
        assert_eq!(id("a", "hi"), id("a", "hi"));
        assert_ne!(id("a", "hi"), id("b", "hi"));
        assert_ne!(id("a", "hi"), id("a", "ho"));
        assert!(!id("secret-key", "hi").contains("secret"));
    }

    #[test]
    fn the_path_names_the_session_first_then_the_client() {
        let mut headers = HeaderMap::new();
        headers.insert("x-claude-code-session-id", HeaderValue::from_static("own"));
        let facts = RequestFacts {
            session: Some("meta".into()),
            ..RequestFacts::default()
        };
        assert_eq!(session_id(Some("path"), &headers, None, &facts), "path");
        assert_eq!(session_id(None, &headers, None, &facts), "own");
        assert_eq!(session_id(None, &HeaderMap::new(), None, &facts), "meta");
    }
}
