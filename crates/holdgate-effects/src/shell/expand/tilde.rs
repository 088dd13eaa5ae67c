//! Tildes, which stand for folders.

use crate::shell::Shell;
use crate::value::{HOLE_STR, Value};

/// Where a tilde stands for a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tilde {
    None,
    First,
    /// Also after each colon.
    Each,
}

impl Shell<'_, '_> {
    /// `~/x`, and `of=~/x` too.
    pub(super) fn tilde_in_word(&self, text: &str) -> String {
        if text.starts_with('~') {
            return self.tilde(text);
        }
        match text.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) => format!("{name}={}", self.tildes(value, true)),
            None => text.to_owned(),
        }
    }

    pub(super) fn tilde_in_value(&self, text: &str, tilde: Tilde, starts: bool) -> String {
        match tilde {
            Tilde::Each => self.tildes(text, starts),
            Tilde::First if starts && text.starts_with('~') => self.tilde(text),
            Tilde::First | Tilde::None => text.to_owned(),
        }
    }

    fn tildes(&self, text: &str, starts: bool) -> String {
        let one = |(at, piece): (usize, &str)| {
            if piece.starts_with('~') && (at > 0 || starts) {
                self.tilde(piece)
            } else {
                piece.to_owned()
            }
        };
        let pieces: Vec<String> = text.split(':').enumerate().map(one).collect();
        pieces.join(":")
    }

    fn tilde(&self, text: &str) -> String {
        let (user, rest) = match text.find('/') {
            Some(at) => text.split_at_checked(at).unwrap_or((text, "")),
            None => (text, ""),
        };
        let home = match user {
            "~" => self.home(),
            "~+" => self.scene.folder().to_owned(),
            "~-" => match self.scene.variable("OLDPWD").and_then(<[Value]>::last) {
                Some(left) => left.text.clone(),
                None => HOLE_STR.to_owned(),
            },
            "~root" => "/root".to_owned(),
            user => format!("/home/{}", user.trim_start_matches('~')),
        };
        format!("{home}{rest}")
    }

    fn home(&self) -> String {
        match self.scene.variable("HOME").and_then(<[Value]>::last) {
            Some(value) => value.text.clone(),
            None => self.scene.world.home.clone(),
        }
    }
}

/// Whether `text` can name a variable.
fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
