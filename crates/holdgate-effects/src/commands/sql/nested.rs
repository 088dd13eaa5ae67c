//! Statements within statements: in brackets, and in texts that the server runs itself, now or later.

/// Pieces of one text that are looked at.
const MAX_PIECES: usize = 32;
/// What runs statements that it is given as texts.
const RUNS: [&str; 10] = [
    "cron.schedule",
    "schedule_in_database",
    "dblink",
    "execute",
    "prepare",
    "sp_executesql",
    "dbms_job",
    "dbms_scheduler",
    "pg_background",
    "create event",
];
/// How statements begin that change something.
const STARTS: [&str; 7] = [
    "update ",
    "delete ",
    "truncate ",
    "drop ",
    "alter ",
    "grant ",
    "insert ",
];

/// The changing statements that stand in brackets in a text without data.
pub(super) fn in_brackets(text: &str) -> Vec<&str> {
    let opens = text.match_indices('(').filter_map(|(at, _)| {
        let inner = text.get(at + 1..)?.trim_start();
        let starts = STARTS.iter().any(|start| inner.starts_with(start));
        starts.then_some(inner)
    });
    opens.take(MAX_PIECES).map(until_closed).collect()
}

/// The changing statements in texts of a call that runs them. `text` is in lower case.
pub(super) fn in_texts(text: &str) -> Vec<&str> {
    if !RUNS.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let quoted = text.split('\'').skip(1).step_by(2);
    let dollars = text.split("$$").skip(1).step_by(2);
    let starts = |piece: &&str| STARTS.iter().any(|start| piece.starts_with(start));
    let pieces = quoted.chain(dollars).map(str::trim).filter(starts);
    pieces
        .take(MAX_PIECES)
        .flat_map(|piece| piece.split(';').take(MAX_PIECES))
        .collect()
}

/// A text up to the bracket that closes it.
fn until_closed(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, b) in text.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' if depth == 0 => return text.get(..at).unwrap_or(text),
            b')' => depth -= 1,
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{in_brackets, in_texts};

    #[test]
    fn statements_are_found_at_every_level() {
        let text = "with a as (update t set x = f(x) returning 1) select (1) from a";
        assert_eq!(in_brackets(text), ["update t set x = f(x) returning 1"]);
        assert!(in_brackets("select (a) from b where c in (select 1)").is_empty());
    }

    #[test]
    fn texts_that_are_run_count() {
        let text = "select cron.schedule('n', '0 3 * * *', 'delete from t')";
        assert_eq!(in_texts(text), ["delete from t"]);
        assert!(in_texts("insert into notes values ('drop table t')").is_empty());
    }
}
