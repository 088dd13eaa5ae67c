//! Words in the code that let somebody in.

use super::parts::is_password;
use super::{Doors, back_door};
use crate::effect::{Effect, Kind};

impl Doors<'_> {
    /// A comparison of what somebody must know with a word that stands in the code.
    pub(super) fn open_by_word(&self, found: &mut Vec<Effect>) {
        let mut offset = 0;
        for line in self.text.code.split('\n') {
            let clean = self.text.clean.get(offset..offset + line.len());
            let clean = clean.unwrap_or("");
            offset += line.len() + 1;
            // Most lines compare nothing, which this shows sooner.
            if !line.contains("==") && !line.contains(".equals(") {
                continue;
            }
            for (at, mark) in line
                .match_indices("==")
                .chain(line.match_indices(".equals("))
            {
                let left = clean.get(..at).unwrap_or("").trim_end();
                let right = clean.get(at + mark.len()..).unwrap_or("");
                let right = right.trim_start_matches(['=', ' ']);
                // `"word".equals(given)`
                let (given, word) = match left.strip_suffix(['"', '\'']) {
                    Some(text) => {
                        let given = right.split(')').next().unwrap_or(right);
                        (given, text.rsplit(['"', '\'']).next())
                    }
                    None => (
                        left,
                        right
                            .strip_prefix(['"', '\''])
                            .and_then(|r| r.split(['"', '\'']).next()),
                    ),
                };
                // Who refuses a word lets nobody in by it.
                let refuses = ["throw", "raise", "Error(", "return false", "return False"];
                let by_digest = word.is_some_and(is_digest) && self.is_digest_of_key(given);
                if (word.is_some_and(is_password) && self.is_known_by_few(given) || by_digest)
                    && !refuses.iter().any(|refusal| line.contains(refusal))
                {
                    found.push(back_door(Kind::Elevate, clean));
                }
            }
        }
    }

    /// `sha256(password.encode()).hexdigest()`
    fn is_digest_of_key(&self, operand: &str) -> bool {
        let lower = operand.to_ascii_lowercase();
        let digests = [
            "sha1", "sha224", "sha256", "sha384", "sha512", "md5", "blake2", "digest",
        ];
        let part = |c: char| !(c.is_alphanumeric() || c == '_');
        let is_key = |name: &str| {
            self.table
                .keys
                .iter()
                .any(|key| key.eq_ignore_ascii_case(name))
        };
        digests.iter().any(|digest| lower.contains(digest)) && operand.split(part).any(is_key)
    }

    /// Whether an operand of a comparison is what somebody must know: by its name, or a header of the
    /// application's own.
    fn is_known_by_few(&self, operand: &str) -> bool {
        let starts = ["&&", "||", "if ", "return ", " and ", " or ", "= "];
        let from = starts
            .iter()
            .filter_map(|s| Some(operand.rfind(s)? + s.len()));
        let operand = operand.get(from.max().unwrap_or(0)..).unwrap_or("");
        let operand = operand.split(')').next().unwrap_or(operand);
        let part = |c: char| !(c.is_alphanumeric() || c == '_');
        let name = operand.trim_end_matches(['"', '\'', ']', ')', ' ']);
        let name = name.rsplit(part).next().unwrap_or("");
        let is_key = |key: &String| key.eq_ignore_ascii_case(name);
        if self.table.keys.iter().any(is_key) {
            return true;
        }
        let ends = ["key", "token", "secret", "password"];
        let named = name.to_ascii_lowercase();
        if ends.iter().any(|end| named.ends_with(end)) && self.is_requested(operand) {
            return true;
        }
        let lower = operand.to_ascii_lowercase();
        let own = ["\"x-", "'x-", "\"x_", "'x_"];
        lower.contains("header") && own.iter().any(|start| lower.contains(start))
    }
}

/// Whether a text is the digest of another.
fn is_digest(text: &str) -> bool {
    matches!(text.len(), 32 | 40 | 56 | 64 | 96 | 128)
        && text.bytes().all(|b| b.is_ascii_hexdigit())
}
