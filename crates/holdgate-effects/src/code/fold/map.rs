//! Methods of dictionaries.

use crate::code::thing::AbstractValue;
use std::rc::Rc;

/// What a method of a dictionary gives back. What is taken out of it is not lost.
pub(super) fn method(
    map: &AbstractValue,
    members: &Rc<[(String, AbstractValue)]>,
    name: &str,
    arguments: &[AbstractValue],
) -> Option<AbstractValue> {
    let pair = |(key, value): &(String, AbstractValue)| {
        AbstractValue::list(vec![AbstractValue::text(key.as_str()), value.clone()])
    };
    match name {
        "get" | "pop" | "setdefault" | "fetch" | "delete" | "dig" | "getOrDefault" | "remove" => {
            let key = arguments.first()?.known()?;
            map.get(key).or(arguments.get(1)).cloned()
        }
        "values" => Some(AbstractValue::list(
            members.iter().map(|(_, v)| v.clone()).collect(),
        )),
        "keys" => {
            let keys = members
                .iter()
                .map(|(key, _)| AbstractValue::text(key.as_str()));
            Some(AbstractValue::list(keys.collect()))
        }
        "items" | "entries" | "to_a" | "each" => {
            Some(AbstractValue::list(members.iter().map(pair).collect()))
        }
        "copy" | "to_h" | "clone" | "dup" => Some(map.clone()),
        "update" | "merge" => {
            let mut all = members.to_vec();
            for argument in arguments {
                if let AbstractValue::Map(more) = argument {
                    all.retain(|(key, _)| !more.iter().any(|(k, _)| k == key));
                    all.extend(more.iter().cloned());
                }
            }
            Some(AbstractValue::Map(all.into()))
        }
        _ => None,
    }
}
