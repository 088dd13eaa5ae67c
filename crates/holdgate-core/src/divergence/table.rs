//! The tables of phrases and words, ready to look up: `phrases.yaml` and `words.yaml`.
//!
//! An expression is built when it is first needed. Most texts refuse nothing, and then only the
//! openings are.

use crate::compiled::table;
use holdgate_effects::worded;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

worded! {
    /// The part that a phrase plays in a sentence.
    pub(super) enum Role as "role" {
        WillBefore = "will-before": "The model does not want to. The verb follows.",
        WillAround = "will-around": "The same, where the verb stands before or inside.",
        CanBefore = "can-before": "The model says that it cannot. The verb follows.",
        CanAround = "can-around": "The same, where the verb stands before or inside.",
        General = "general": "A refusal that needs no verb.",
        Leave = "leave": "A promise not to touch something.",
        Between = "between": "A word between an opening and its verb.",
        Negation = "negation": "A word that negates, wherever it stands.",
        Unable = "unable": "One that says that something cannot be done.",
        Past = "past": "What stands before a negation that tells of the past.",
        Person = "person": "The first person.",
        Subject = "subject": "A word that begins another subject or an object.",
        Modal = "modal": "A verb that a negation may follow.",
        Joint = "joint": "A word that joins two verbs of one subject.",
        Interjection = "interjection": "A word before a sentence that lacks its subject.",
        Light = "light": "A verb that only says that somebody is helped.",
        Do = "do": "A verb that only says that something is done.",
        Perceive = "perceive": "A verb of finding and seeing.",
        Cognition = "cognition": "A verb that no call could carry out.",
        Supposed = "supposed": "What stands before a refusal that is only supposed.",
        Report = "report": "The subject is a program.",
        Limit = "limit": "It is refused only in some way.",
        Condition = "condition": "It is refused only for now.",
        Consent = "consent": "The condition is a person's word.",
        Reason = "reason": "Why somebody would refuse.",
        Cause = "cause": "Why something does not work.",
        Cut = "cut": "The end of a clause inside of a sentence.",
        Announce = "announce": "The model says what it does.",
        Talk = "talk": "What only says something is no deed.",
        Describe = "describe": "Something else is said to do it.",
        Finite = "finite": "The verb of a sentence whose subject is a deed.",
        Decline = "decline": "A word that refuses by itself.",
        Exclusive = "exclusive": "What is left out of a refusal.",
        Claim = "claim": "Somebody is said to have approved.",
        Unclaimed = "unclaimed": "Approval is asked for, or still to come.",
        Yes = "yes": "What a person says who approves.",
    }
}

worded! {
    /// What a verb does, or an effect.
    pub(super) enum Act as "act" {
        Erase = "erase": "Something is lost.",
        Send = "send": "Something leaves for another machine.",
        Push = "push": "Commits are sent.",
        Publish = "publish": "Something changes for others.",
        Install = "install": "Software comes in.",
        Elevate = "elevate": "Rights grow.",
        Persist = "persist": "Something will run again.",
        Stop = "stop": "Something that runs ends.",
        Change = "change": "Something is not what it was.",
        Disable = "disable": "A protection is taken away.",
        Reveal = "reveal": "Something secret is read.",
        Run = "run": "A program runs.",
        Commit = "commit": "A commit is made.",
        Pay = "pay": "Money moves.",
        Look = "look": "Something is only looked at.",
    }
}

worded! {
    /// What a noun names.
    pub(super) enum Thing as "thing" {
        Database = "database": "A database or a part of one.",
        Production = "production": "What people rely on.",
        Secret = "secret": "Keys and passwords.",
        Home = "home": "A person's own files.",
        Repository = "repository": "A repository or a part of one.",
        Server = "server": "Another machine.",
        Package = "package": "Software of others.",
        Process = "process": "What runs.",
        Protection = "protection": "What keeps harm away.",
    }
}

worded! {
    /// A language that models write.
    pub(super) enum Language as "language" {
        English = "en": "English.",
        German = "de": "German.",
        French = "fr": "French.",
        Spanish = "es": "Spanish.",
        Portuguese = "pt": "Portuguese.",
        Italian = "it": "Italian.",
        Russian = "ru": "Russian.",
        Chinese = "zh": "Chinese.",
        Japanese = "ja": "Japanese.",
        Korean = "ko": "Korean.",
    }
}

impl Language {
    /// Whether its words are written without gaps, or grow at their end beyond any list.
    pub(super) fn is_joined(self) -> bool {
        match self {
            Language::Chinese | Language::Japanese | Language::Korean => true,
            Language::English
            | Language::German
            | Language::French
            | Language::Spanish
            | Language::Portuguese
            | Language::Italian
            | Language::Russian => false,
        }
    }
}

type Lists = BTreeMap<Language, Vec<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrases {
    phrases: BTreeMap<Role, Lists>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    acts: BTreeMap<Act, Lists>,
    things: BTreeMap<Thing, Lists>,
    plain: Lists,
    elsewhere: Vec<String>,
    marks: Lists,
}

/// The tables.
pub(super) struct Table {
    phrases: BTreeMap<(Role, Language), Lazy>,
    acts: BTreeMap<(Act, Language), Lazy>,
    things: BTreeMap<(Thing, Language), Lazy>,
    plain: BTreeMap<Language, Lazy>,
    elsewhere: Vec<String>,
    marks: Lists,
}

/// An expression that is built when it is needed.
struct Lazy {
    source: String,
    built: OnceLock<Option<Regex>>,
}

impl Lazy {
    fn new(source: String) -> Self {
        Lazy {
            source,
            built: OnceLock::new(),
        }
    }

    /// A test builds them all.
    fn get(&self) -> Option<&Regex> {
        let built = self.built.get_or_init(|| Regex::new(&self.source).ok());
        built.as_ref()
    }
}

/// The tables; `None` if they cannot be read, which a test rules out.
pub(super) fn table() -> Option<&'static Table> {
    static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
        let phrases: Phrases = table!("phrases").read().ok()?;
        let words: Words = table!("words").read().ok()?;
        Some(Table::new(phrases, words))
    });
    TABLE.as_ref()
}

impl Table {
    fn new(phrases: Phrases, words: Words) -> Self {
        let joined = |list: Vec<String>| Lazy::new(format!("(?:{})", list.join("|")));
        let phrases = phrases.phrases.into_iter().flat_map(|(role, lists)| {
            let lists = lists.into_iter();
            lists.map(move |(language, list)| ((role, language), joined(list)))
        });
        Table {
            phrases: phrases.collect(),
            acts: starts(words.acts),
            things: starts(words.things),
            plain: starts(BTreeMap::from([((), words.plain)]))
                .into_iter()
                .map(|(((), language), lazy)| (language, lazy))
                .collect(),
            elsewhere: words.elsewhere,
            marks: words.marks,
        }
    }

    /// The expression for a role in a language, if it has one there.
    pub(super) fn phrase(&self, role: Role, language: Language) -> Option<&Regex> {
        self.phrases.get(&(role, language))?.get()
    }

    /// Whether such a phrase stands in `text`.
    pub(super) fn has(&self, role: Role, language: Language, text: &str) -> bool {
        let regex = self.phrase(role, language);
        regex.is_some_and(|regex| regex.is_match(text))
    }

    /// Where such a phrase first stands in `text`.
    pub(super) fn find(&self, role: Role, language: Language, text: &str) -> Option<Range<usize>> {
        Some(self.phrase(role, language)?.find(text)?.range())
    }

    /// The acts whose verbs stand in `text`.
    pub(super) fn acts(&self, language: Language, text: &str) -> Acts {
        let mut acts = Acts::default();
        for act in Act::ALL {
            let regex = self.acts.get(&(act, language)).and_then(Lazy::get);
            if regex.is_some_and(|regex| regex.is_match(text)) {
                acts.add(act);
            }
        }
        acts
    }

    /// The acts of the verb with which `text` begins.
    pub(super) fn act_of(&self, language: Language, text: &str) -> Acts {
        let mut acts = Acts::default();
        for act in Act::ALL {
            let regex = self.acts.get(&(act, language)).and_then(Lazy::get);
            let found = regex.and_then(|regex| regex.find(text));
            if found.is_some_and(|found| found.start() == 0) {
                acts.add(act);
            }
        }
        acts
    }

    /// The things that are named in `text`.
    pub(super) fn things(&self, language: Language, text: &str) -> Vec<Thing> {
        let named = |thing: &Thing| {
            let regex = self.things.get(&(*thing, language)).and_then(Lazy::get);
            regex.is_some_and(|regex| regex.is_match(text))
        };
        Thing::ALL.into_iter().filter(named).collect()
    }

    /// Whether a word names nothing in particular.
    pub(super) fn is_plain(&self, language: Language, word: &str) -> bool {
        let regex = self.plain.get(&language).and_then(Lazy::get);
        regex.is_none_or(|regex| regex.is_match(word))
    }

    /// The languages in which `text` may refuse or claim something.
    pub(super) fn languages(&self, text: &str) -> Vec<Language> {
        let marked = |language: &Language| {
            let marks = self.marks.get(language);
            marks.is_some_and(|marks| marks.iter().any(|mark| text.contains(mark.as_str())))
        };
        Language::ALL.into_iter().filter(marked).collect()
    }

    /// Whether a word says that it is not production.
    pub(super) fn is_elsewhere(&self, word: &str) -> bool {
        self.elsewhere.iter().any(|known| known == word)
    }

    /// Builds every expression of a language. Tells whether all are valid.
    pub(super) fn build(&self, language: Language) -> bool {
        let phrases = Role::ALL.map(|role| self.phrases.get(&(role, language)));
        let acts = Act::ALL.map(|act| self.acts.get(&(act, language)));
        let things = Thing::ALL.map(|thing| self.things.get(&(thing, language)));
        let all = phrases.into_iter().chain(acts).chain(things);
        let mut all = all.chain([self.plain.get(&language)]).flatten();
        all.all(|lazy| lazy.get().is_some())
    }
}

/// Expressions for the starts of words.
fn starts<K: Copy + Ord>(lists: BTreeMap<K, Lists>) -> BTreeMap<(K, Language), Lazy> {
    let expression = |language: Language, list: Vec<String>| {
        let words = list.iter().map(|word| match word.strip_suffix('$') {
            _ if language.is_joined() => regex::escape(word),
            Some(whole) => format!("\\b{}\\b", regex::escape(whole)),
            None if word.starts_with('.') => regex::escape(word),
            None => format!("\\b{}", regex::escape(word)),
        });
        Lazy::new(words.collect::<Vec<_>>().join("|"))
    };
    let lists = lists.into_iter().flat_map(|(key, lists)| {
        let lists = lists.into_iter();
        lists.map(move |(language, list)| ((key, language), expression(language, list)))
    });
    lists.collect()
}

/// A set of acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts(u32);

impl Acts {
    /// A set of these.
    pub(super) fn of(acts: &[Act]) -> Acts {
        let mut set = Acts::default();
        for act in acts {
            set.add(*act);
        }
        set
    }

    /// Puts one in.
    pub(super) fn add(&mut self, act: Act) {
        self.0 |= 1 << act as u32;
    }

    /// Those that are in either.
    pub(super) fn or(self, other: Acts) -> Acts {
        Acts(self.0 | other.0)
    }

    /// Those that are in both.
    pub(super) fn and(self, other: Acts) -> Acts {
        Acts(self.0 & other.0)
    }

    /// Those that are in the first only.
    pub(super) fn without(self, other: Acts) -> Acts {
        Acts(self.0 & !other.0)
    }

    /// Whether none is in.
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether one is in both.
    pub(super) fn meets(self, other: Acts) -> bool {
        !self.and(other).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_can_be_built() {
        let phrases: Phrases = table!("phrases").read().unwrap();
        let words: Words = table!("words").read().unwrap();
        let table = Table::new(phrases, words);
        for ((role, language), lazy) in &table.phrases {
            assert!(
                lazy.get().is_some(),
                "{role} in {language}: {}",
                lazy.source
            );
        }
        for language in Language::ALL {
            assert!(table.build(language), "{language}");
        }
    }
}
