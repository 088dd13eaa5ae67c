//! Secrets that are at hand: what files of variables hold, as calls have written them or as they lie in
//! the project. Whatever form they have, they are known again where they leave.

use super::Scene;
use super::network::decoded_words;
use crate::decode;
use crate::host::Host;
use crate::path::PathClass;
use crate::value::Value;

/// Files of secrets that are compared, and bytes of one on the disk.
const MAX_FILES: usize = 8;
const MAX_BYTES: usize = 16 << 10;
/// Variables of one file.
const MAX_VARIABLES: usize = 64;
/// A shorter value may stand anywhere by chance.
const MIN_VALUE: usize = 10;
/// Names of such files in a project.
const ON_DISK: [&str; 2] = [".env", ".env.local"];

impl Scene<'_> {
    /// Whether `text`, which goes to `host`, holds a secret that is at hand: as it is, in base64 or hex,
    /// or written backwards. A key goes to the service that it is for.
    pub(crate) fn leaks(&self, text: &str, host: Option<&Host>) -> bool {
        let searched = MIN_VALUE..64 << 10;
        if self.written || !searched.contains(&text.len()) {
            return false;
        }
        let files = self.secret_files();
        if files.is_empty() {
            return false;
        }
        let mut forms = vec![text.to_owned(), text.chars().rev().collect()];
        if text.contains('%') {
            forms.push(decode::percent(text));
        }
        forms.extend(decoded_words(text));
        files.iter().any(|file| {
            let named = |host: &Host| !host.name.is_empty() && file.contains(&host.name);
            if host.is_some_and(named) {
                return false;
            }
            let mut secrets = secrets_in(file).take(MAX_VARIABLES);
            secrets.any(|(name, value)| {
                !host.is_some_and(|host| is_for(name, &host.name))
                    && forms.iter().any(|form| form.contains(value))
            })
        })
    }

    fn secret_files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let is_named = |path: &str| path.rsplit('/').next().is_some_and(|n| n.contains(".env"));
        for (path, content) in self.files.iter().filter(|(path, _)| is_named(path)) {
            let place = self.place(&Value::known(path));
            if place.is(PathClass::Secret) && found.len() < MAX_FILES {
                found.push(content.text.clone());
            }
        }
        if let (Some(facts), Some(project)) = (&self.world.facts, &self.world.project) {
            for name in ON_DISK {
                found.extend(facts.content(&format!("{project}/{name}"), MAX_BYTES));
            }
        }
        found
    }
}

/// The variables of a file whose names say that they are secret, with their values.
fn secrets_in(file: &str) -> impl Iterator<Item = (&str, &str)> {
    file.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("export ");
        let (name, value) = line.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        let random = value.bytes().any(|b| b.is_ascii_digit()) && !value.contains("://");
        let secret = super::is_secret(name.trim()) && value.len() >= MIN_VALUE && random;
        secret.then_some((name, value))
    })
}

/// Whether a host's name has a word of the variable's: `OPENWEATHER_KEY` is for openweathermap.org.
fn is_for(name: &str, host: &str) -> bool {
    let plain = [
        "KEY", "TOKEN", "SECRET", "PASSWORD", "PUBLIC", "NEXT", "VITE", "REACT",
    ];
    let mut words = name.trim().split('_').filter(|w| w.len() >= 4);
    words.any(|word| !plain.contains(&word) && host.contains(&word.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_and_value() {
        let file = "A=1\nexport DB_PASSWORD=\"pine-apple-77x\"\nAPI_URL=https://a.example\nX_TOKEN=short1\n";
        let found: Vec<_> = secrets_in(file).collect();
        assert_eq!(found, [("DB_PASSWORD", "pine-apple-77x")]);
        assert!(is_for("OPENWEATHER_API_KEY", "api.openweathermap.org"));
        assert!(!is_for("DB_PASSWORD", "collect.example"));
    }
}
