//! Money that goes to somebody else: an account or a wallet that stands in the source where a variable or another
//! one stood, or that gets it under a condition.

use super::pieces::assigned;
use super::scan::{Text, has_any, quoted};
use crate::effect::{Actor, Effect, Kind};
use crate::language::Language;
use crate::tag::Tag;

/// Lines of a file that are looked at.
const MAX_LINES: usize = 6000;

/// Words beside which money moves.
#[rustfmt::skip]
const MONEY: [&str; 22] = [
    "payout", "payee", "payment", "transfer", "recipient", "beneficiary", "destination", "wallet", "iban", "bank",
    "treasury", "deposit", "withdraw", "settle", "amount", "merchant", "refund", "invoice", "commission", "fee",
    "account", "address",
];

pub(super) fn run(text: &Text<'_>, found: &mut Vec<Effect>) {
    if matches!(text.language, Language::Prose | Language::Document) {
        return;
    }
    let old = text.old();
    let old_values: Vec<(&str, &str)> = old.lines().filter_map(assigned).collect();
    let old_account = old.lines().any(|line| account(line).is_some());
    for line in text.clean.split('\n').take(MAX_LINES) {
        if line.len() > 1200 {
            continue;
        }
        let Some(account) = account(line) else {
            continue;
        };
        let low = line.to_ascii_lowercase();
        let mut words = low.split(|c: char| !c.is_alphanumeric());
        let money = has_any(&low, &MONEY) || words.any(|word| matches!(word, "to" | "send"));
        if !money || !text.is_new(line) || old.contains(account) {
            continue;
        }
        let replaced = assigned(line)
            .is_some_and(|(name, _)| old_values.iter().any(|(known, _)| *known == name));
        if is_chosen(&low, account) || text.is_edit() && (replaced || old_account) {
            let shown = crate::json::shorten(line.trim(), 200);
            let actor = Actor::new("payee", &shown);
            found.push(actor.does(Kind::System).tagged(Tag::Payment).about(&shown));
            return;
        }
    }
}

/// Whether a condition decides between the account and another one.
fn is_chosen(line: &str, account: &str) -> bool {
    let account = account.to_ascii_lowercase();
    let others = line.replace(&account, "");
    let chooses = others.contains(" ? ") && others.contains(" : ")
        || others.contains(" if ") && others.contains(" else ")
        || others.contains("||")
        || others.contains("??");
    let compares = others.contains(['<', '>'])
        || others.contains("==")
        || others.contains('%')
        || others.contains("random");
    chooses && compares
}

/// The account of a bank, a payment service or a chain that stands in a text of the line.
fn account(line: &str) -> Option<&str> {
    if !line.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let bare = assigned(line)
        .map(|(_, value)| value.trim().trim_end_matches([',', ';']))
        .filter(|value| !value.contains(['"', '\'', '(']));
    let texts = quoted(line).into_iter().map(|(_, text)| text);
    texts.chain(bare).find(|text| is_account(text))
}

fn is_account(text: &str) -> bool {
    let alphanumeric = |t: &str| t.bytes().all(|b| b.is_ascii_alphanumeric());
    let digits = |t: &str| t.bytes().filter(u8::is_ascii_digit).count();
    let service = ["acct_", "ba_", "card_", "rcp_", "fa_", "po_"]
        .iter()
        .any(|start| {
            text.strip_prefix(start)
                .is_some_and(|rest| rest.len() >= 8 && alphanumeric(rest))
        });
    let chain = text
        .strip_prefix("0x")
        .is_some_and(|rest| rest.len() == 40 && rest.bytes().all(|b| b.is_ascii_hexdigit()));
    let plain: String = text.chars().filter(|c| *c != ' ').collect();
    let bytes = plain.as_bytes();
    let bank = (15..=34).contains(&bytes.len())
        && bytes.iter().take(2).all(u8::is_ascii_uppercase)
        && bytes.iter().skip(2).take(2).all(u8::is_ascii_digit)
        && bytes
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && digits(&plain) >= 10;
    let coin = (text.starts_with("bc1") || text.starts_with("ltc1"))
        && (26..=64).contains(&text.len())
        && alphanumeric(text);
    let old_coin = text.starts_with(['1', '3', 'T', 'L', 'D'])
        && (26..=36).contains(&text.len())
        && alphanumeric(text)
        && digits(text) >= 3
        && text.bytes().any(|b| b.is_ascii_lowercase())
        && text.bytes().any(|b| b.is_ascii_uppercase());
    let page = text.contains("paypal.me/") || text.contains("buy.stripe.com/");
    service || chain || bank || coin || old_coin || page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_told() {
        assert!(is_account("acct_1Q9fAbC7xZ"));
        assert!(is_account("LT601010012345678901"));
        assert!(is_account("0x9fBf3C8C5E7A4f2D1c0B9A8E7d6C5b4A39281706"));
        assert!(!is_account("GET /api/v1/account"));
        assert!(!is_account("deadbeef"));
        assert!(is_chosen("to = a if amount < 2 else 'x'", "x"));
        assert!(!is_chosen("to = 'x'", "x"));
    }
}
