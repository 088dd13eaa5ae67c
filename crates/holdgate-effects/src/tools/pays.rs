//! Money: whether a call of a service pays, orders or moves it, by the words of its name beside what is paid for,
//! how much, or to whom.

use super::name::Name;

/// Words that pay by themselves.
const PAYS: [&str; 8] = [
    "pay", "buy", "purchase", "donate", "spend", "payout", "remit", "withdraw",
];
/// What is paid for.
#[rustfmt::skip]
const BOUGHT: [&str; 14] = [
    "invoice", "bill", "money", "subscription", "cart", "basket", "plan", "seats", "credits", "license", "domain",
    "shares", "stock", "order",
];
/// Words that move money beside an amount or somebody who gets it.
#[rustfmt::skip]
const MOVES: [&str; 22] = [
    "transfer", "pay", "payout", "refund", "charge", "withdraw", "remit", "wire", "tip", "donate", "purchase", "buy",
    "sell", "trade", "swap", "bid", "topup", "capture", "settle", "checkout", "order", "send",
];
/// How much, and who gets it.
#[rustfmt::skip]
const MONEY: [&str; 20] = [
    "amount", "amountcents", "amountusd", "total", "cents", "currency", "iban", "beneficiary", "payee", "notional",
    "lamports", "wei", "sats", "sourceaccount", "fromaccount", "toaccount", "destinationaccount", "paymentmethod",
    "cardid", "walletaddress",
];
/// Words by which an order that stands ready becomes one.
#[rustfmt::skip]
const SETTLES: [&str; 10] = [
    "confirm", "submit", "execute", "accept", "place", "finalize", "finalise", "complete", "capture", "checkout",
];
/// What stands ready.
#[rustfmt::skip]
const READY: [&str; 24] = [
    "quote", "quoteid", "order", "orderid", "cart", "cartid", "basket", "basketid", "booking", "bookingid", "offer",
    "offerid", "trade", "tradeid", "payment", "paymentid", "paymentintent", "paymentintentid", "invoice", "invoiceid",
    "checkoutid", "reservationid", "itineraryid", "fareid",
];
/// Words that change where money goes, and that.
const CHANGES: [&str; 6] = ["update", "set", "change", "add", "create", "replace"];
#[rustfmt::skip]
const PAID_TO: [&str; 7] = [
    "externalaccount", "bankaccount", "payoutaccount", "payoutdestination", "routingnumber", "accountnumber", "iban",
];
/// Servers on which a checkout is one of goods.
#[rustfmt::skip]
const SHOPS: [&str; 12] = [
    "shop", "store", "commerce", "shopify", "cart", "stripe", "paypal", "payments", "payment", "billing", "travel",
    "market",
];
/// What is traded, and how much of it.
const TRADED: [&str; 5] = ["symbol", "ticker", "instrument", "pair", "asset"];
const SIZES: [&str; 6] = ["qty", "quantity", "size", "notional", "shares", "units"];
/// Words that take more of what is paid for, and that.
#[rustfmt::skip]
const TAKES: [&str; 10] = [
    "update", "upgrade", "change", "modify", "set", "create", "start", "renew", "subscribe", "checkout",
];
const KEPT: [&str; 5] = ["subscription", "subscriptions", "cart", "checkout", "plan"];
const AMOUNTS: [&str; 5] = ["price", "amount", "quantity", "seats", "currency"];
/// Words of what only looks, or prepares.
#[rustfmt::skip]
const LOOKS: [&str; 22] = [
    "draft", "preview", "estimate", "simulate", "calculate", "validate", "compare", "search", "list", "get", "fetch",
    "history", "backtest", "paper", "template", "report", "track", "status", "lookup", "link", "product", "message",
];

/// Whether something is paid for, ordered, or more of it is taken. `keys` are the names of the arguments, the words
/// of each as one.
pub(super) fn spends(name: &Name, keys: &[String]) -> bool {
    let own = |words: &[&str]| name.own.iter().any(|word| words.contains(&word.as_str()));
    let keyed = |words: &[&str]| keys.iter().any(|key| words.contains(&key.as_str()));
    let ends = [name.own.first(), name.own.last()];
    let at_end = |words: &[&str]| {
        let mut ends = ends.iter().flatten();
        ends.any(|word| words.contains(&word.as_str()))
    };
    if at_end(&PAYS) && (name.own.len() == 1 || own(&BOUGHT) || keyed(&AMOUNTS))
        || own(&TAKES) && own(&KEPT) && keyed(&AMOUNTS)
    {
        return true;
    }
    if name.server.is_empty() || own(&LOOKS) {
        return false;
    }
    let sold = name
        .server
        .iter()
        .any(|word| SHOPS.contains(&word.as_str()));
    own(&MOVES) && keyed(&MONEY)
        || own(&CHANGES) && keyed(&PAID_TO)
        || at_end(&SETTLES) && (keyed(&READY) || own(&READY))
        || at_end(&["checkout"]) && sold
        || keyed(&TRADED) && keyed(&SIZES) && keyed(&["side"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_told_by_words_and_arguments() {
        let spends = |server: &str, own: &str, keys: &str| {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            let name = Name {
                own: words(own),
                server: words(server),
            };
            let keys: Vec<String> = words(keys);
            spends(&name, &keys)
        };
        assert!(spends("shop", "checkout", "cartid"));
        assert!(spends("bank", "transfer", "amount to"));
        assert!(spends("broker", "submit", "symbol side qty"));
        assert!(spends("trips", "confirm", "quoteid"));
        assert!(spends("stripe", "finalize invoice", "invoice"));
        assert!(spends(
            "stripe",
            "update account",
            "account externalaccount"
        ));
        assert!(!spends("stripe", "update account", "account email"));
        assert!(!spends("git", "checkout", "branch"));
        assert!(!spends("bank", "get transfer", "amount"));
        assert!(!spends("bank", "draft transfer", "amount to"));
        assert!(!spends("crm", "submit form", "name total"));
        assert!(!spends("slack", "send message", "channel total"));
        assert!(!spends("broker", "get quote", "symbol"));
    }
}
