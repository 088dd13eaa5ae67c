//! Values of the file that have a form of their own.

use super::{AskJudge, ClassifierMode, Operator, Provider, Unreadable};
use holdgate_core::rules::Profile;
use holdgate_core::{Dialect, OnBlock, Tell, TextActions};
use hyper::Uri;
use serde::{Deserialize, Deserializer, de};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A length of time, written `250ms`, `10s`, `5m`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub(super) Duration);

/// Longer than anybody waits, and far from any overflow.
const MAX_SPAN: Duration = Duration::from_hours(365 * 24);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        match humantime::parse_duration(&text) {
            Ok(duration) if duration.is_zero() || duration > MAX_SPAN => Err(de::Error::custom(
                format!("`{text}` is out of range, write a duration of at most a year"),
            )),
            Ok(duration) => Ok(Span(duration)),
            Err(_) => Err(de::Error::custom(format!(
                "`{text}` is not a valid duration, write it as `250ms`, `10s` or `5m`"
            ))),
        }
    }
}

/// A number from `MIN` to `MAX`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count<const MIN: usize, const MAX: usize>(pub(super) usize);

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Count<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Value::deserialize(deserializer)?;
        let number = value.as_integer().and_then(|n| usize::try_from(n).ok());
        match number {
            Some(number) if (MIN..=MAX).contains(&number) => Ok(Count(number)),
            _ => Err(de::Error::custom(format!(
                "`{value}` is out of range, write {MIN} to {MAX}"
            ))),
        }
    }
}

/// Values that are written as a text, each with its reader.
macro_rules! texts {
    ($($(#[$about:meta])* $name:ident($value:ty) = $read:expr;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub(super) struct $name(pub(super) $value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read: fn(&str) -> Result<$value, String> = $read;
                let text = String::deserialize(deserializer)?;
                read(&text).map($name).map_err(de::Error::custom)
            }
        }

        impl From<$name> for $value {
            fn from(written: $name) -> $value {
                written.0
            }
        }
    )*};
}

texts! {
    /// Where to listen.
    Address(SocketAddr) = |text| {
        let wrong = |_| format!("`{text}` is not a valid address, write it as `127.0.0.1:8787`");
        text.parse().map_err(wrong)
    };
    ClassifierWord(ClassifierMode) =
        |text| word(text, "value", ClassifierMode::ALL.map(|m| (m.word(), m)));
    DialectWord(Dialect) = |text| word(text, "dialect", Dialect::ALL.map(|d| (d.word(), d)));
    /// A protocol to which a bridge leads.
    SpeaksWord(&'static str) = super::bridge::read_speaks;
    TextActionsWord(TextActions) =
        |text| word(text, "value", TextActions::ALL.map(|t| (t.word(), t)));
    UpstreamUrl(Uri) = upstream_url;
    OnBlockWord(OnBlock) = |text| word(text, "value", OnBlock::ALL.map(|o| (o.word(), o)));
    TellWord(Tell) = |text| word(text, "value", Tell::ALL.map(|t| (t.word(), t)));
    AskJudgeWord(AskJudge) = |text| word(text, "value", AskJudge::ALL.map(|o| (o.word(), o)));
    OperatorWord(Operator) = |text| word(text, "value", Operator::ALL.map(|o| (o.word(), o)));
    ProfileWord(Profile) = |text| word(text, "profile", Profile::ALL.map(|p| (p.word(), p)));
    ProviderWord(Provider) = |text| word(text, "provider", Provider::ALL.map(|p| (p.word(), p)));
    UnreadableWord(Unreadable) = |text| word(text, "value", Unreadable::ALL.map(|u| (u.word(), u)));
    /// A folder that means the same wherever Holdgate is started.
    Folder(PathBuf) = |text| {
        let wrong = || format!("`{text}` is not an absolute path, write it as `/home/me/project`");
        text.starts_with('/').then(|| text.into()).ok_or_else(wrong)
    };
    /// A model's name, which may stand in a path.
    ModelName(String) = |text| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
        if text.is_empty() || !text.chars().all(plain) || text.contains("..") {
            return Err(format!(
                "`{text}` is not a valid model name, write it as `gemini-3.5-flash-lite`"
            ));
        }
        Ok(text.to_owned())
    };
}

/// One of the known words.
fn word<T, const N: usize>(text: &str, what: &str, known: [(&str, T); N]) -> Result<T, String> {
    let words = known.each_ref().map(|(word, _)| format!("`{word}`"));
    let found = known.into_iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| value).ok_or_else(|| {
        let (last, others) = words.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
        let others = others.join(", ");
        format!("`{text}` is not a valid {what}, write {others} or {last}")
    })
}

/// Folders, each as above.
#[derive(Debug, Deserialize)]
pub(super) struct Folders(Vec<Folder>);

impl From<Folders> for Vec<PathBuf> {
    fn from(folders: Folders) -> Self {
        folders.0.into_iter().map(|folder| folder.0).collect()
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        span.0
    }
}

impl<const MIN: usize, const MAX: usize> From<Count<MIN, MAX>> for usize {
    fn from(count: Count<MIN, MAX>) -> usize {
        count.0
    }
}

/// An upstream's address.
pub(crate) fn upstream_url(text: &str) -> Result<Uri, String> {
    let wrong =
        |why: &str| format!("`{text}` is not a valid upstream: {why}, as in `https://host[/path]`");
    let uri: Uri = text.parse().map_err(|_| wrong("it must be a URL"))?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.authority().is_some_and(|a| a.as_str().contains('@')) => {
            Err("it must not contain a user or password".to_owned())
        }
        Some("http" | "https") if uri.host().is_none_or(str::is_empty) => {
            Err(wrong("it must name a host"))
        }
        Some("http" | "https") if !has_valid_port(&uri) => {
            Err(wrong("its port must be a number from 1 to 65535"))
        }
        Some("http" | "https") if uri.query().is_none() => Ok(uri),
        Some("http" | "https") => Err(wrong("it must have no query")),
        Some(_) | None => Err(wrong("it must begin with http:// or https://")),
    }
}

fn has_valid_port(uri: &Uri) -> bool {
    let authority = uri.authority().map_or("", |a| a.as_str());
    let host = uri.host().unwrap_or_default();
    uri.port_u16().is_some_and(|port| port > 0) || authority.len() == host.len()
}
