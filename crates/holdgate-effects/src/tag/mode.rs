//! What the mode of a file gives away or takes.

use super::Tag;

/// What a mode gives away or takes: `u+s`, `777`, `o+w`, `000`; or an owner: `nobody`.
pub(crate) fn of_mode(mode: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let owner = mode.split(':').next().unwrap_or("");
    if matches!(owner, "nobody" | "root" | "daemon" | "nogroup") {
        tags.push(Tag::OtherOwner);
    }
    let octal = !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit());
    if octal {
        let digits: Vec<u32> = mode.chars().filter_map(|c| c.to_digit(8)).collect();
        let special = if digits.len() > 3 {
            digits.get(digits.len() - 4).copied()
        } else {
            None
        };
        let digit = |from_end: usize| {
            digits
                .len()
                .checked_sub(from_end)
                .and_then(|at| digits.get(at))
                .copied()
                .unwrap_or(0)
        };
        if special.is_some_and(|d| d & 6 != 0) {
            tags.push(Tag::Setuid);
        }
        if digit(1) & 2 != 0 {
            tags.push(Tag::WorldWritable);
        }
        if digit(3) & 1 != 0 {
            tags.push(Tag::Executable);
        }
        if digits.len() >= 3 && digit(3) & 4 == 0 {
            tags.push(Tag::Locked);
        }
        return tags;
    }
    for clause in mode.split(',') {
        let Some(at) = clause.find(['+', '=', '-']) else {
            continue;
        };
        let (who, what) = clause.split_at_checked(at).unwrap_or((clause, ""));
        let rights = what.get(1..).unwrap_or("");
        let is_mode =
            who.chars().all(|c| "ugoa".contains(c)) && rights.chars().all(|c| "rwxXst".contains(c));
        let takes = what == "=" || what.starts_with('-') && rights.contains(['r', 'w', 'x', 'X']);
        if is_mode && takes {
            tags.push(Tag::Locked);
        }
        if what.starts_with('-') {
            continue;
        }
        if what.contains('s') && who != "o" {
            tags.push(Tag::Setuid);
        }
        if what.contains('w') && (who.contains('o') || who.contains('a')) {
            tags.push(Tag::WorldWritable);
        }
        if what.contains('x') {
            tags.push(Tag::Executable);
        }
    }
    tags
}
