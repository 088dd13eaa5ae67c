//! Values of the file that have a form of their own.

use super::{Operator, Provider};
use holdgate_core::OnBlock;
use holdgate_core::rules::Profile;
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

/// Where to listen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(pub(super) SocketAddr);

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let address = text.parse().map(Address);
        address.map_err(|_| {
            de::Error::custom(format!(
                "`{text}` is not a valid address, write it as `127.0.0.1:8787`"
            ))
        })
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
                "`{other}` is not a valid value, write `explain` or `continue`"
            ))),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct OperatorWord(pub(super) Operator);

impl<'de> Deserialize<'de> for OperatorWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "auto" => Ok(OperatorWord(Operator::Auto)),
            "always" => Ok(OperatorWord(Operator::Always)),
            "never" => Ok(OperatorWord(Operator::Never)),
            other => Err(de::Error::custom(format!(
                "`{other}` is not a valid value, write `auto`, `always` or `never`"
            ))),
        }
    }
}

/// A folder that means the same wherever Holdgate is started.
#[derive(Clone, Debug)]
pub(super) struct Folder(pub(super) PathBuf);

impl<'de> Deserialize<'de> for Folder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if !text.starts_with('/') {
            return Err(de::Error::custom(format!(
                "`{text}` is not an absolute path, write it as `/home/me/project`"
            )));
        }
        Ok(Folder(text.into()))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ProfileWord(pub(super) Profile);

impl<'de> Deserialize<'de> for ProfileWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Profile::from_word(&word).map(ProfileWord).ok_or_else(|| {
            de::Error::custom(format!(
                "`{word}` is not a valid profile, write `workstation`, `container` or `strict`"
            ))
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ProviderWord(pub(super) Provider);

impl<'de> Deserialize<'de> for ProviderWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Provider::from_word(&word).map(ProviderWord).ok_or_else(|| {
            de::Error::custom(format!(
                "`{word}` is not a valid provider, write `gemini`, `anthropic`, `openai` or `none`"
            ))
        })
    }
}

/// A model's name, which may stand in a path.
#[derive(Clone, Debug)]
pub(super) struct ModelName(pub(super) String);

impl<'de> Deserialize<'de> for ModelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@".contains(c);
        if name.is_empty() || !name.chars().all(plain) || name.contains("..") {
            return Err(de::Error::custom(format!(
                "`{name}` is not a valid model name, write it as `gemini-3.5-flash-lite`"
            )));
        }
        Ok(ModelName(name))
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
