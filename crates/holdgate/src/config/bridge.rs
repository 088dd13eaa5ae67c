//! What the upstream speaks, if it is not what the client speaks.

use super::{Config, ConfigError};
use holdgate_core::{Dialect, PROTOCOLS, Protocol, bridged, bridges};
use hyper::Uri;

/// How requests reach an upstream that speaks another protocol than the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeSettings {
    /// The name of the upstream's protocol; `None` if it is the client's.
    pub speaks: Option<&'static str>,
    /// How its model writes calls.
    pub dialect: Dialect,
}

impl Config {
    /// What serves a client of this protocol: a bridge, if the upstream speaks another one.
    pub(crate) fn serving(
        &self,
        client: &'static dyn Protocol,
    ) -> Result<&'static dyn Protocol, String> {
        let Some(speaks) = self.bridge.speaks else {
            return Ok(client);
        };
        bridged(client, speaks).ok_or_else(|| no_bridge(client.name(), speaks))
    }

    /// All requests go to the upstream behind the bridge. It must be named: the usual ones belong to
    /// others, and requests carry keys.
    pub(super) fn go_over_bridge(
        &mut self,
        named: Option<Uri>,
        by_flag: bool,
    ) -> Result<(), ConfigError> {
        let Some(speaks) = self.bridge.speaks else {
            return Ok(());
        };
        if !by_flag {
            self.upstream = named.ok_or_else(|| {
                ConfigError(format!(
                    "the upstream that speaks `{speaks}` is not named: use `--upstream URL`, or set \
                     `upstream.openai`"
                ))
            })?;
        }
        self.other_upstreams = None;
        Ok(())
    }
}

/// Reads the name of a protocol to which a bridge leads.
pub(super) fn read_speaks(text: &str) -> Result<&'static str, String> {
    let mut names = PROTOCOLS.iter().map(|protocol| protocol.name());
    let Some(name) = names.clone().find(|name| *name == text) else {
        let known = names.by_ref().collect::<Vec<_>>().join(", ");
        return Err(format!(
            "`{text}` is not a known protocol, write one of {known}"
        ));
    };
    if bridges().any(|(_, to)| to == name) {
        return Ok(name);
    }
    Err(format!("there is no bridge to `{name}`; {}", possible()))
}

fn no_bridge(from: &str, to: &str) -> String {
    format!("there is no bridge from `{from}` to `{to}`; {}", possible())
}

fn possible() -> String {
    let pairs = bridges().map(|(from, to)| format!("`{from}` to `{to}`"));
    format!("possible are {}", pairs.collect::<Vec<_>>().join(", "))
}
