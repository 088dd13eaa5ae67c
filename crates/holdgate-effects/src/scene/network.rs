//! Hosts: what is asked of them, and what leaves for them.

use super::{Fueled, Scene};
use crate::decode;
use crate::effect::{Actor, Effect, Kind};
use crate::host::{Host, HostClass};
use crate::path::PathClass;
use crate::tag::Tag;
use crate::text::secret::{self, Mark};
use crate::value::{Origins, Value};

/// A longer text is not searched for keys.
const MAX_SEARCHED: usize = 64 << 10;
/// A shorter part of an address holds no encoded key.
const MIN_ENCODED: usize = 24;
/// A shorter part of an address is a name or a number.
const MIN_PAYLOAD: usize = 80;
/// Words that are decoded.
const MAX_WORDS: usize = 16;

/// What a part of an address stands for, if it is base64 or hex of a text.
fn encoded_text(part: &str) -> Option<String> {
    let part = decode::percent(part);
    let bytes = decode::hex(&part).or_else(|| decode::base64(&part))?;
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains(|c: char| c.is_control() && !c.is_whitespace())).then_some(text)
}

/// Words of a text that may hold something encoded.
fn long_words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !c.is_ascii_alphanumeric() && !"+/=_-%".contains(c);
    let words = text.split(ends).flat_map(|word| {
        // In an address, a slash and an equals sign stand between words.
        let parts = word
            .split(['/', '='])
            .filter(move |part| part.len() < word.len());
        parts.chain([word])
    });
    words
        .filter(|word| word.len() >= MIN_ENCODED)
        .take(MAX_WORDS)
}

/// What is encoded in a text.
pub(super) fn decoded_words(text: &str) -> impl Iterator<Item = String> {
    long_words(text).filter_map(encoded_text)
}

/// Whether words of a text hold a key: in base64, in hex, or written backwards.
pub(crate) fn hides_secret(text: &str) -> bool {
    text.len() <= MAX_SEARCHED && long_words(text).any(hides)
}

fn hides(word: &str) -> bool {
    let tells = |text: &str| {
        let marks = secret::marks(text, true);
        marks.iter().any(|mark| *mark != Mark::Start("eyJ"))
    };
    encoded_text(word).is_some_and(|text| tells(&text))
        || tells(&word.chars().rev().collect::<String>())
}

/// Whether an address carries a long text that is encoded.
fn carries_payload(url: &str) -> bool {
    let parts = url.split(['/', '?', '&', '=', '#']).skip(3);
    let mut long = parts
        .filter(|part| part.len() >= MIN_PAYLOAD)
        .take(MAX_WORDS);
    long.any(|part| encoded_text(part).is_some_and(|text| text.len() >= MIN_PAYLOAD / 2))
}

/// Whether an address carries who several people are, or what is private to somebody.
fn carries_people(url: &str) -> bool {
    let Some((_, query)) = url.split_once('?') else {
        return false;
    };
    let query = decode::percent(query);
    let is_mail = |word: &&str| {
        let (name, host) = word.split_once('@').unwrap_or_default();
        let plain = |c: char| c.is_alphanumeric() || "._%+-".contains(c);
        !name.is_empty() && host.contains('.') && word.chars().all(|c| c == '@' || plain(c))
    };
    let words = query.split(['&', '=', '+', ' ', ',', ';', '|', '\n']);
    let mut mails: Vec<&str> = words.filter(is_mail).take(MAX_WORDS).collect();
    mails.sort_unstable();
    mails.dedup();
    mails.len() > 1 || secret::is_private(&query)
}

impl Scene<'_> {
    /// Something is asked of a host. What the URL itself carries is data that leaves.
    pub(crate) fn fetch(&mut self, actor: &Actor, url: &Value) -> Fueled<Value> {
        if let Some(command) = url.text.strip_prefix("ext::") {
            // git runs what such an address says.
            return self.shell(actor, &url.map(command.replace("% ", " ")));
        }
        let text = url.text.strip_prefix("view-source:").unwrap_or(&url.text);
        if let Some(path) = text.strip_prefix("file://") {
            return self.read(actor, &Value::known(path));
        }
        let host = self.host_of(url);
        let whole = self.with_literal_secrets(url, &host, true);
        let url = &whole;
        // The whole address: a known installer is a path on a host.
        let source = if url.is_known() {
            url.text.as_str()
        } else {
            &host.name
        };
        let answer = Value::unknown(Origins::FETCHED).with_source(source);
        let mut carried = Origins::SECRET | Origins::FILE | Origins::ENVIRONMENT;
        if actor.is(Tag::Dns) {
            // A name is looked up at somebody's server: whatever it holds arrives there.
            carried |= Origins::OUTPUT;
        }
        if url.origins.any(carried) {
            let effect = actor
                .does(Kind::Send)
                .with(host.clone())
                .about(&url.text)
                .of(url);
            let effect = self.tag_by_source(effect, url);
            self.emit(effect)?;
        }
        if !self.written && self.know.hosts.is_unheard_of(&host) && carries_payload(&url.text) {
            let effect = actor.does(Kind::Send).tagged(Tag::Payload);
            self.emit(effect.with(host.clone()).about(&url.text).of(url))?;
        }
        if !self.written && self.know.hosts.is_unheard_of(&host) && carries_people(&url.text) {
            let effect = actor.does(Kind::Send).tagged(Tag::Personal);
            self.emit(effect.with(host.clone()).about(&url.text).of(url))?;
        }
        self.emit(actor.does(Kind::Fetch).with(host).about(&url.text))?;
        Ok(answer)
    }

    /// A connection to a host, or what is given one: a shell.
    pub(crate) fn reaches(&mut self, actor: &Actor, kind: Kind, host: &Value) -> Fueled {
        let place = self.host_of(host);
        self.emit(actor.does(kind).with(place).about(&host.text))
    }

    /// Data leaves for a host.
    pub(crate) fn send(&mut self, actor: &Actor, url: &Value, data: &Value) -> Fueled<Value> {
        let host = self.host_of(url);
        let answer = Value::unknown(Origins::FETCHED).with_source(&host.name);
        let mut data = self.with_literal_secrets(data, &host, false);
        data.origins |= self.with_literal_secrets(url, &host, true).origins;
        let effect = actor.does(Kind::Send).with(host).about(&url.text).of(&data);
        let effect = self.tag_by_source(effect, &data);
        self.emit(effect)?;
        Ok(answer)
    }

    /// A key that stands in the call itself, and goes to a host that it does not belong to, is a
    /// secret that leaves. In an address, it may be encoded.
    fn with_literal_secrets(&self, value: &Value, host: &Host, address: bool) -> Value {
        let mut value = value.clone();
        let outside = matches!(host.class, HostClass::External | HostClass::Drop);
        if !outside || self.written || value.text.len() > MAX_SEARCHED {
            return value;
        }
        let is_stray = |mark: &Mark<'_>| match *mark {
            Mark::Frame => true,
            Mark::Start(start) => self.know.hosts.is_stray(start, "", host),
            Mark::Name(name) => self.know.hosts.is_stray("", name, host),
        };
        let mut found = secret::marks(&value.text, false).iter().any(is_stray);
        if address && !found {
            let parts = value.text.split(['/', '?', '&', '=', '#', '.', ':']);
            let long = parts.filter(|part| part.len() >= MIN_ENCODED);
            found = long.take(MAX_WORDS).any(hides);
            // More than the host: there is room for something else.
            let carries = value.text.len() > host.name.len() + MIN_ENCODED;
            found |= carries && self.leaks(&value.text, Some(host));
        } else if !found {
            found = hides_secret(&value.text);
        }
        if found {
            value = value.marked(Origins::SECRET);
        }
        value
    }

    /// Whether all files that the data came from are the project's, or can be created again.
    pub(crate) fn are_own(&self, data: &Value) -> bool {
        let mut files = data.sources.iter().filter(|s| s.starts_with('/'));
        files.all(|file| self.place(&Value::known(file.to_string())).is_harmless())
    }

    /// Whose files the data came from.
    fn tag_by_source(&self, mut effect: Effect, data: &Value) -> Effect {
        if data.sources.iter().any(|s| &**s == "environment") {
            effect = effect.tagged(Tag::WholeEnvironment);
        }
        for source in data.sources.iter().filter(|s| s.starts_with('/')) {
            let place = self.place(&Value::known(source.to_string()));
            let own = [
                PathClass::Project,
                PathClass::Temp,
                PathClass::Cache,
                PathClass::Workspace,
            ];
            if place.is(PathClass::Generated) {
                effect = effect.tagged(Tag::BuildOutput);
            }
            if own.iter().any(|class| place.is(*class)) {
                effect = effect.tagged(Tag::ProjectFile);
            } else if place.is(PathClass::System) {
                effect = effect.tagged(Tag::SystemFile);
            } else if place.is(PathClass::Home) {
                effect = effect.tagged(Tag::PrivateFile);
            }
        }
        effect
    }
}
