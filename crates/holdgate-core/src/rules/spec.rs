//! A rule file as written. Every value has its position, so that errors can point at it.

use super::{Entry, FileSpec};
use holdgate_effects::json::Json;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::collections::BTreeMap;
use std::fmt;

/// A new verdict for an existing rule.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule's name and its new verdict")]
pub(super) struct AdjustSpec {
    pub(super) rule: Spanned<String>,
    #[serde(rename = "do")]
    pub(super) verdict: Spanned<String>,
    pub(super) because: Spanned<String>,
}

impl Entry for RuleSpec {
    const NAME: &'static str = "rules";
    const FIELDS: &'static [&'static str] = &["rules", "adjust"];
}

/// A file of rules.
pub(super) type RuleFileSpec = FileSpec<RuleSpec, AdjustSpec>;

/// One rule.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a rule")]
pub(super) struct RuleSpec {
    pub(super) id: Spanned<String>,
    #[serde(rename = "do")]
    pub(super) verdict: Spanned<String>,
    pub(super) profiles: Option<ProfilesSpec>,
    pub(super) category: Spanned<String>,
    pub(super) when: Spanned<ConditionSpec>,
    /// What must have been done before: for REQUIRE.
    pub(super) before: Option<Spanned<ConditionSpec>>,
    /// What makes `before` stale.
    pub(super) since: Option<Spanned<ConditionSpec>>,
    /// A person may let it pass anyway: for REQUIRE.
    #[serde(default)]
    pub(super) approval: bool,
    /// The rule applies only after this was done.
    pub(super) after: Option<Spanned<ConditionSpec>>,
    /// How many calls ago that may be.
    pub(super) within: Option<Spanned<u32>>,
    /// How many earlier calls that did this must have been refused.
    pub(super) refused: Option<Spanned<u32>>,
    /// What the two have in common: `path` or `host`.
    pub(super) same: Option<Spanned<String>>,
    /// The rules that ALLOW makes exceptions from; by default all rules of the policy.
    pub(super) only: Option<Spanned<Words>>,
    /// The project in which ALLOW holds; by default all.
    pub(super) project: Option<Spanned<String>>,
    /// Until when ALLOW holds.
    pub(super) until: Option<Spanned<String>>,
    /// It must have been done in a separate call, whose result the agent has seen.
    #[serde(default)]
    pub(super) earlier_call: bool,
    pub(super) because: Spanned<String>,
    pub(super) instead: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) owasp: Vec<Spanned<String>>,
    pub(super) stage: Option<Spanned<String>>,
    pub(super) examples: Option<ExamplesSpec>,
}

/// Another verdict in another profile.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "verdicts by profile")]
pub(super) struct ProfilesSpec {
    pub(super) container: Option<Spanned<String>>,
    pub(super) strict: Option<Spanned<String>>,
}

/// Examples, by their expected result.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "lists of examples")]
pub(super) struct ExamplesSpec {
    pub(super) deny: Option<Spanned<Vec<Spanned<ExampleSpec>>>>,
    pub(super) ask: Option<Spanned<Vec<Spanned<ExampleSpec>>>>,
    pub(super) audit: Option<Spanned<Vec<Spanned<ExampleSpec>>>>,
    pub(super) allow: Option<Spanned<Vec<Spanned<ExampleSpec>>>>,
}

/// What a call must do.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a condition")]
pub(super) struct ConditionSpec {
    pub(super) effect: Option<Spanned<Words>>,
    pub(super) program: Option<Spanned<Words>>,
    pub(super) recursive: Option<bool>,
    pub(super) force: Option<bool>,
    pub(super) is: Option<Spanned<Words>>,
    pub(super) is_any: Option<Spanned<Words>>,
    pub(super) is_not: Option<Spanned<Words>>,
    pub(super) path: Option<PathSpec>,
    pub(super) host: Option<HostSpec>,
    pub(super) from: Option<Spanned<Words>>,
    pub(super) not_from: Option<Spanned<Words>>,
    pub(super) branch: Option<Spanned<Words>>,
    pub(super) remote: Option<Spanned<Words>>,
    pub(super) provenance: Option<Spanned<String>>,
    pub(super) text: Option<Spanned<String>>,
    pub(super) not_text: Option<Spanned<String>>,
    pub(super) evidence: Option<Spanned<String>>,
    pub(super) any: Option<Spanned<Vec<Spanned<ConditionSpec>>>>,
    pub(super) all: Option<Spanned<Vec<Spanned<ConditionSpec>>>>,
    pub(super) not: Option<Box<Spanned<ConditionSpec>>>,
}

impl ConditionSpec {
    /// Whether no key is left without the one that `remove` removes.
    pub(super) fn is_only(&self, remove: impl FnOnce(&mut Self)) -> bool {
        let mut rest = self.clone();
        remove(&mut rest);
        rest == ConditionSpec::default()
    }

    /// Whether `not` is the only key.
    pub(super) fn is_only_not(&self) -> bool {
        self.not.is_some() && self.is_only(|condition| condition.not = None)
    }
}

/// Which path.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a condition on a path")]
pub(super) struct PathSpec {
    #[serde(rename = "in")]
    pub(super) within: Option<Spanned<Words>>,
    pub(super) outside: Option<Spanned<Words>>,
    pub(super) glob: Option<Spanned<Words>>,
    pub(super) not_glob: Option<Spanned<Words>>,
}

/// Which host.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a condition on a host")]
pub(super) struct HostSpec {
    #[serde(rename = "in")]
    pub(super) within: Option<Spanned<Words>>,
    pub(super) outside: Option<Spanned<Words>>,
    pub(super) name: Option<Spanned<Words>>,
}

/// One word or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Words {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Words;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word or a list of words")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Words, E> {
                Ok(Words::One(word.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = list.next_element()? {
                    words.push(word);
                }
                Ok(Words::Many(words))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A shell command, or a call of any tool.
#[derive(Debug)]
pub(super) enum ExampleSpec {
    Command(String),
    Call(Box<CallSpec>),
}

/// A call of any tool, or a call after others.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallSpec {
    pub(super) tool: Option<String>,
    pub(super) input: Option<YamlJson>,
    /// What the tool returned.
    pub(super) result: Option<String>,
    /// What was done before, in separate calls.
    #[serde(default)]
    pub(super) first: Vec<ExampleSpec>,
    pub(super) then: Option<ExampleSpec>,
    /// Files that exist.
    #[serde(default)]
    pub(super) files: Vec<String>,
    /// The branch that is checked out.
    pub(super) branch: Option<String>,
    /// The remotes of the repository, and where they lead.
    #[serde(default)]
    pub(super) remotes: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for ExampleSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = ExampleSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a command in quotes, `{tool: …, input: {…}}`, `{first: […], then: …}` or \
                     `{branch: …, then: …}`",
                )
            }

            fn visit_str<E: de::Error>(self, command: &str) -> Result<ExampleSpec, E> {
                Ok(ExampleSpec::Command(command.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExampleSpec, A::Error> {
                let map = de::value::MapAccessDeserializer::new(map);
                CallSpec::deserialize(map).map(|call| ExampleSpec::Call(Box::new(call)))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

/// A YAML value as the JSON that a client would send.
#[derive(Debug)]
pub(super) struct YamlJson(pub(super) Json<'static>);

impl<'de> Deserialize<'de> for YamlJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = YamlJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E: de::Error>(self) -> Result<YamlJson, E> {
                Ok(YamlJson(Json::Null))
            }

            fn visit_none<E: de::Error>(self) -> Result<YamlJson, E> {
                self.visit_unit()
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<YamlJson, E> {
                Ok(YamlJson(Json::Bool(value)))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<YamlJson, E> {
                Ok(YamlJson(Json::Number(value.to_string().into())))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<YamlJson, E> {
                Ok(YamlJson(Json::Number(value.to_string().into())))
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<YamlJson, E> {
                if value.is_finite() {
                    Ok(YamlJson(Json::Number(value.to_string().into())))
                } else {
                    Err(E::custom("JSON cannot represent this number"))
                }
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<YamlJson, E> {
                Ok(YamlJson(Json::String(value.to_owned().into())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<YamlJson, A::Error> {
                let mut items = Vec::new();
                while let Some(YamlJson(item)) = list.next_element()? {
                    items.push(item);
                }
                Ok(YamlJson(Json::Array(items)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlJson, A::Error> {
                let mut members = Vec::new();
                while let Some((key, YamlJson(value))) = map.next_entry::<String, _>()? {
                    members.push((key.into(), value));
                }
                Ok(YamlJson(Json::Object(members)))
            }
        }
        deserializer.deserialize_any(Read)
    }
}
