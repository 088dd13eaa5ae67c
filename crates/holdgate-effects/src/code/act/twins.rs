//! Functions that do what a well-known program does: they are judged as its command line.
//!
//! The table has the words of that command line between commas. In them, `{name}` is the name of the
//! function, `{self}` what its object was made for, `{module}` the end of its module's name, `{*}` all
//! arguments, `{1*}` all but the first, `{--}` all that have names, as options, `{-F}` the same as
//! fields, `{flags}` what constants of libraries ask for, `{0}` the words of the first argument,
//! `{operation}` the first argument as the name of a command, `{key}` what is named so, and `{verb}` the
//! verb and kind in a name such as `delete_namespaced_secret`. An object that such a function creates or
//! changes is what `kubectl apply` reads.

use super::Call;
use crate::code::read::Reader;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;
use crate::value::{Origins, Value};

/// Words of a command line.
const MAX_WORDS: usize = 1024;
/// How deep objects are written out.
const MAX_DEPTH: usize = 8;
/// Members of an object that are written out.
const MAX_MEMBERS: usize = 64;

/// Constants and arguments of libraries, without spaces, and the options that ask for the same.
const FLAGS: [(&str, &str); 6] = [
    ("FORCE", "--force"),
    ("HARD", "--hard"),
    ("hard", "--hard"),
    ("working_tree=True", "--hard"),
    ("force:true", "--force"),
    ("force=True", "--force"),
];

impl Reader<'_, '_, '_> {
    pub(super) fn is_like_command(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let line = call.one(0);
        let line = line.as_ref().and_then(AbstractValue::known).unwrap_or("");
        let named = named(call);
        let mut words = Vec::new();
        for word in line.split(',') {
            match word {
                "{name}" => words.push(Value::known(kebab(last_part(&call.actor.program)))),
                "{verb}" => match verb_and_kind(&kebab(last_part(&call.actor.program))) {
                    Some(parts) => {
                        // A library gives all of an object, and not only its name.
                        let shows = parts.first().is_some_and(|verb| verb == "get");
                        words.extend(parts.map(Value::known));
                        words.extend(shows.then(|| Value::known("-oyaml")));
                    }
                    None => return self.applies(call),
                },
                "{operation}" => {
                    match call.arguments.positional.first().map(AbstractValue::known) {
                        Some(Some(name)) => words.push(Value::known(kebab(name))),
                        _ => words.push(Value::unknown(Origins::NONE)),
                    }
                }
                "{self}" => words.push(self.value_of(call.receiver)?),
                "{module}" => words.push(Value::known(module(&call.actor.program))),
                "{flags}" => {
                    let source = call.actor.evidence.replace(' ', "");
                    let asked = |(sign, _): &&(&str, &str)| source.contains(*sign);
                    let flags = FLAGS.iter().filter(asked);
                    words.extend(flags.map(|(_, flag)| Value::known(*flag)));
                }
                "{*}" | "{1*}" => {
                    let given = call.arguments.positional.iter();
                    let given = given.skip(usize::from(word == "{1*}"));
                    let texts = given.filter(|thing| !matches!(thing, AbstractValue::Map(_)));
                    for thing in
                        texts.flat_map(|thing| thing.items().unwrap_or(std::slice::from_ref(thing)))
                    {
                        words.push(self.value_of(thing)?);
                    }
                }
                "{--}" => {
                    for (key, thing) in &named {
                        self.as_option(key, thing, &mut words)?;
                    }
                }
                "{-F}" => {
                    for (key, thing) in &named {
                        let mut field = Value::known(format!("{key}="));
                        match thing {
                            AbstractValue::Number(1) => field.push_text("true"),
                            _ => field.push(&self.written_out(thing, 0)?),
                        }
                        words.extend([Value::known("-F"), field]);
                    }
                }
                "{0}" => {
                    let first = call.arguments.positional.first();
                    let first = self.value_of(first.unwrap_or(&AbstractValue::Nothing))?;
                    let parts = first.text.split_whitespace();
                    words.extend(parts.map(|part| first.map(part)));
                }
                other => words.push(self.filled_in(other, &named)?),
            }
        }
        words.truncate(MAX_WORDS);
        let output = self.scene.argv(&words, None)?;
        if output.origins.any(Origins::SECRET) {
            return Ok(AbstractValue::value(output));
        }
        Ok(AbstractValue::Nothing)
    }

    /// `create_cluster_role_binding({…})`: the object is a manifest whose kind the name tells.
    fn applies(&mut self, call: &Call<'_>) -> Fueled<AbstractValue> {
        let name = last_part(&call.actor.program);
        let Some(kind) = made_kind(name) else {
            return Ok(AbstractValue::Nothing);
        };
        let named = call.arguments.named.iter();
        let body = named.filter(|(name, _)| name == "body").map(|(_, v)| v);
        let given = call.arguments.positional.iter().chain(body);
        for thing in given.filter(|thing| matches!(thing, AbstractValue::Map(_))) {
            let mut manifest = self.written_out(thing, 0)?;
            if thing.get("kind").is_none() {
                let kind = format!("{{\"kind\": \"{kind}\", ");
                manifest = manifest.map(manifest.text.replacen('{', &kind, 1));
            }
            let words = ["kubectl", "apply", "-f", "-"].map(Value::known);
            self.scene.argv(&words, Some(&manifest))?;
        }
        Ok(AbstractValue::Nothing)
    }

    /// A word in which arguments stand by their names: `repos/{owner}/{repo}`.
    fn filled_in(&mut self, word: &str, named: &[(String, AbstractValue)]) -> Fueled<Value> {
        let mut value = Value::default();
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('{') {
            let (key, after) = after.split_once('}').unwrap_or((after, ""));
            value.push_text(before);
            match named.iter().find(|(name, _)| name == key) {
                Some((_, thing)) => value.push(&self.value_of(thing)?),
                None => value.push(&Value::unknown(Origins::NONE)),
            }
            rest = after;
        }
        value.push_text(rest);
        Ok(value)
    }

    /// Clouds write their names with a capital; what has a small one may be true or false.
    fn as_option(&mut self, key: &str, thing: &AbstractValue, words: &mut Vec<Value>) -> Fueled {
        let dashes = if key.len() == 1 { "-" } else { "--" };
        let option = Value::known(format!("{dashes}{}", kebab(key)));
        match thing {
            AbstractValue::Number(set @ (0 | 1)) if key.starts_with(|c: char| c.is_lowercase()) => {
                words.extend((*set == 1).then_some(option));
            }
            _ => words.extend([option, self.written_out(thing, 0)?]),
        }
        Ok(())
    }

    /// A thing as JSON; a text by itself as it is.
    fn written_out(&mut self, thing: &AbstractValue, depth: usize) -> Fueled<Value> {
        self.scene.fuel.spend(1)?;
        let (open, close) = match thing {
            AbstractValue::Map(_) => ("{", "}"),
            AbstractValue::List(_) => ("[", "]"),
            AbstractValue::Text(_) if depth > 0 => {
                let text = self.value_of(thing)?;
                return Ok(text.map(format!("\"{}\"", text.text.escape_debug())));
            }
            _ => return self.value_of(thing),
        };
        if depth >= MAX_DEPTH {
            return Ok(Value::unknown(Origins::NONE));
        }
        let mut all = Value::known(open);
        let mut between = "";
        let members = match thing {
            AbstractValue::Map(members) => members.iter().map(|(k, v)| (Some(k), v)).collect(),
            _ => thing
                .items()
                .unwrap_or_default()
                .iter()
                .map(|v| (None, v))
                .collect::<Vec<_>>(),
        };
        for (key, member) in members.into_iter().take(MAX_MEMBERS) {
            all.push_text(between);
            if let Some(key) = key {
                all.push_text(&format!("\"{}\": ", key.escape_debug()));
            }
            all.push(&self.written_out(member, depth + 1)?);
            between = ", ";
        }
        all.push_text(close);
        Ok(all)
    }
}

/// The arguments that have names, also those in an object literal.
fn named(call: &Call<'_>) -> Vec<(String, AbstractValue)> {
    let mut named = call.arguments.named.clone();
    for thing in &call.arguments.positional {
        if let AbstractValue::Map(members) = thing {
            named.extend(members.iter().cloned());
        }
    }
    named
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// `s3` of `@aws-sdk/client-s3.PutObjectCommand`.
fn module(name: &str) -> &str {
    let module = name.split('.').next().unwrap_or(name);
    let last = module.rsplit('/').next().unwrap_or(module);
    last.strip_prefix("client-").unwrap_or(last)
}

/// `delete`, `secret` of `delete-namespaced-secret`, and nothing of what only looks or makes.
fn verb_and_kind(name: &str) -> Option<[String; 2]> {
    let (verb, rest) = name.split_once('-')?;
    let verb = match verb {
        "read" | "list" => "get",
        "delete" => verb,
        _ => return None,
    };
    let words = rest.split('-').take_while(|word| *word != "for");
    let kind = words.filter(|word| !matches!(*word, "namespaced" | "collection"));
    Some([verb.to_owned(), kind.collect()])
}

/// `ClusterRoleBinding` of `create_cluster_role_binding` and `createClusterRoleBinding`.
fn made_kind(name: &str) -> Option<String> {
    let name = kebab(name);
    let (verb, rest) = name.split_once('-')?;
    if !matches!(verb, "create" | "patch" | "replace") {
        return None;
    }
    let words = rest.split('-').filter(|word| *word != "namespaced");
    let capital = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    Some(words.map(capital).collect())
}

/// `put-object` of `put_object`, `putObject`, `PutObjectCommand`.
fn kebab(name: &str) -> String {
    let name = name.strip_suffix("Command").unwrap_or(name);
    let mut kebab = String::new();
    let mut small = false;
    for c in name.chars() {
        if c == '_' {
            kebab.push('-');
        } else {
            if c.is_ascii_uppercase() && small {
                kebab.push('-');
            }
            kebab.push(c.to_ascii_lowercase());
        }
        small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_commands() {
        assert_eq!(kebab("put_bucket_policy"), "put-bucket-policy");
        assert_eq!(kebab("DeleteDBInstanceCommand"), "delete-dbinstance");
        assert_eq!(kebab("updateRef"), "update-ref");
        let kind = verb_and_kind("delete-collection-namespaced-stateful-set");
        assert_eq!(kind, Some(["delete", "statefulset"].map(str::to_owned)));
        assert_eq!(verb_and_kind("load-kube-config"), None);
        let kind = made_kind("create_cluster_role_binding");
        assert_eq!(kind.as_deref(), Some("ClusterRoleBinding"));
        assert_eq!(made_kind("load_kube_config"), None);
        assert_eq!(module("@aws-sdk/client-s3.PutObjectCommand"), "s3");
    }
}
