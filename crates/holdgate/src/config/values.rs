//! Values of the file that have a form of their own.

use holdgate_core::guard::OnBlock;
use hyper::Uri;
use serde::{Deserialize, Deserializer, de};
use std::time::Duration;

/// A length of time, written `250ms`, `10s`, `5m`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub(super) Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match humantime::parse_duration(&text) {
            Ok(duration) if !duration.is_zero() => Ok(Span(duration)),
            Ok(_) => Err(de::Error::custom("a time must be more than nothing")),
            Err(_) => Err(de::Error::custom(format!(
                "`{text}` is no time, write it as `250ms`, `10s` or `5m`"
            ))),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct UpstreamUrl(pub(super) Uri);

impl<'de> Deserialize<'de> for UpstreamUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        upstream_url(&text)
            .map(UpstreamUrl)
            .map_err(de::Error::custom)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OnBlockWord(pub(super) OnBlock);

impl<'de> Deserialize<'de> for OnBlockWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "explain" => Ok(OnBlockWord(OnBlock::Explain)),
            "continue" => Ok(OnBlockWord(OnBlock::Continue)),
            other => Err(de::Error::custom(format!(
                "`{other}` is no way to answer, write `explain` or `continue`"
            ))),
        }
    }
}

/// Reading is recursive, so the depth has a ceiling.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallDepth(pub(super) usize);

impl<'de> Deserialize<'de> for CallDepth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match usize::deserialize(deserializer)? {
            depth @ 1..=120 => Ok(CallDepth(depth)),
            other => Err(de::Error::custom(format!(
                "a depth of {other} is out of range, write 1 to 120"
            ))),
        }
    }
}

/// An upstream's address.
pub(super) fn upstream_url(text: &str) -> Result<Uri, String> {
    let wrong = |why: &str| format!("`{text}` is no upstream: {why}, as in `https://host[/path]`");
    let uri: Uri = text.parse().map_err(|_| wrong("it must be a URL"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.query().is_none() => Ok(uri),
        Some("http" | "https") => Err(wrong("it must have no query")),
        Some(_) | None => Err(wrong("it must begin with http:// or https://")),
    }
}
