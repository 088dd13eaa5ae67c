//! What is left out where there is no room.

use super::text::{Look, Text};

/// At most so many lines, the last of which says that there are more.
pub(super) fn cut_end(lines: &mut Vec<Text>, most: usize, width: usize) {
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.pop() {
            let room = width.saturating_sub(2);
            lines.push(if last.width() > room {
                last.cut(room.max(1))
            } else {
                last.with(" …", Look::Plain)
            });
        }
    }
}

/// At most `most` of these rows: the dangerous ones first, then the first and the last, then those
/// around. A gap takes a row, too.
pub(super) fn cut_rows(rows: Vec<Text>, most: usize, width: usize) -> Vec<Text> {
    if rows.len() <= most {
        return rows;
    }
    let danger = |row: &Text| row.has(Look::Danger);
    let first = rows.iter().position(danger).unwrap_or(0);
    let last = rows.iter().rposition(danger).unwrap_or(first);
    let end = rows.len() - 1;
    let mut order = vec![first, last];
    order.extend((first + 1..last).take(most));
    order.extend([0, end]);
    for step in 1..=most {
        order.extend(first.checked_sub(step));
        order.extend(Some(last + step).filter(|at| *at <= end));
    }
    let mut kept: Vec<usize> = Vec::new();
    for at in order {
        let Err(place) = kept.binary_search(&at) else {
            continue;
        };
        kept.insert(place, at);
        if kept.len() + gaps(&kept, end) > most {
            kept.remove(place);
        }
    }
    if kept.is_empty() {
        // There is no room for a gap.
        return rows.into_iter().skip(first).take(most.max(1)).collect();
    }
    let mut rows: Vec<Option<Text>> = rows.into_iter().map(Some).collect();
    let mut cut = Vec::new();
    let mut next = 0;
    for at in kept.iter().copied().chain([end + 1]) {
        if at > next {
            let left_out = at - next;
            let s = if left_out == 1 { "" } else { "s" };
            let gap = Text::new(&format!("  … {left_out} line{s} …"), Look::Faint);
            cut.push(gap.cut(width));
        }
        next = at + 1;
        cut.extend(rows.get_mut(at).and_then(Option::take));
    }
    cut
}

/// How many gaps these rows have, of those up to `end`.
fn gaps(kept: &[usize], end: usize) -> usize {
    let ends = usize::from(kept.first().is_some_and(|first| *first > 0))
        + usize::from(kept.last().is_some_and(|last| *last < end));
    let between = kept.windows(2).filter(|pair| match pair {
        [one, next] => one + 1 < *next,
        _ => false,
    });
    ends + between.count()
}
