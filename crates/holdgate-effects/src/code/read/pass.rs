//! Functions that are handed over to other functions.

use super::{Arguments, Reader};
use crate::code::Language;
use crate::code::thing::{AbstractValue, unknown_like};
use crate::scene::Fueled;
use crate::value::Origins;

/// Arguments that a function is called with which is handed over beside them.
const MAX_PASSED: usize = 32;

impl Reader<'_, '_, '_> {
    /// `@f` before a definition; the reader stands behind the `@`.
    pub(super) fn decorator(&mut self, end: usize) -> Fueled {
        let decorator = self.expression(end)?;
        if self.decorators.len() < MAX_PASSED {
            self.decorators.push(decorator);
        }
        Ok(())
    }

    /// The decorators are called, the nearest first, each with what the one before it yields.
    pub(super) fn decorate(&mut self) -> Fueled {
        let mut made = AbstractValue::Nothing;
        for decorator in std::mem::take(&mut self.decorators).into_iter().rev() {
            let follows = match &decorator {
                AbstractValue::Name(name) => self.runs(name),
                AbstractValue::Function(_) => true,
                _ => false,
            };
            if follows {
                let arguments = Arguments::of(vec![made]);
                made = self.call(&decorator, arguments, self.at)?;
            } else {
                made = AbstractValue::Nothing;
            }
        }
        Ok(())
    }

    /// Functions that are handed over are called with what is handed over beside them:
    /// `sorted(['x'], key=os.system)`.
    pub(super) fn pass_functions(&mut self, arguments: &Arguments, start: usize) -> Fueled {
        let all: Vec<&AbstractValue> = arguments.all().take(MAX_PASSED).collect();
        for (index, argument) in all.iter().enumerate() {
            let AbstractValue::Name(name) = argument else {
                continue;
            };
            if !self.runs(name) {
                continue;
            }
            let after = all.iter().skip(index + 1).map(|t| (*t).clone());
            let rest: Vec<AbstractValue> = after.collect();
            if !rest.is_empty() {
                self.call_name(name, None, Arguments::of(rest), start)?;
                continue;
            }
            for other in all.iter().take(index) {
                let items = other.items().unwrap_or(std::slice::from_ref(*other));
                for item in items.iter().take(MAX_PASSED) {
                    let one = Arguments::of(vec![item.clone()]);
                    self.call_name(name, None, one, start)?;
                }
            }
        }
        Ok(())
    }

    /// `return (os.system, ('x',))`: what a pickled object does when it is read.
    pub(super) fn reduces(&mut self, thing: &AbstractValue, start: usize) -> Fueled {
        if let (Language::Python, Some([AbstractValue::Name(name), AbstractValue::List(items)])) =
            (self.language, thing.items())
            && self.runs(name)
        {
            let arguments = Arguments::of(items.to_vec());
            self.call_name(name, None, arguments, start)?;
        }
        Ok(())
    }

    /// The code's own functions that are handed over get what the call yields.
    pub(super) fn call_back(
        &mut self,
        result: &AbstractValue,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled {
        for argument in arguments.all() {
            // `.then(eval)`
            if let AbstractValue::Name(name) = argument
                && self.runs(name)
            {
                let value = self.value_of(result)?;
                if value.origins.any(Origins::FETCHED | Origins::DECODED) {
                    let yielded = Arguments::of(vec![AbstractValue::value(value)]);
                    self.call_name(name, None, yielded, start)?;
                }
            }
            if let AbstractValue::Function(id) = argument {
                let value = self.value_of(result)?;
                let interesting = Origins::FETCHED | Origins::SECRET | Origins::ENVIRONMENT;
                let typed =
                    matches!(result, AbstractValue::Object(object) if !object.kind.ends_with(')'));
                // Go's `filepath.Walk(folder, func(path string, …`
                if let (Language::Compiled, AbstractValue::List(_)) = (self.language, result) {
                    self.call_own(*id, &Arguments::of(vec![result.item()]))?;
                } else if value.origins.any(interesting) || typed {
                    let yielded = match result {
                        AbstractValue::Object(_) => result.clone(),
                        _ => AbstractValue::value(value),
                    };
                    // Node's callbacks have the error first, browsers' have none.
                    let both = vec![yielded.clone(), yielded];
                    self.call_own(*id, &Arguments::of(both))?;
                }
            }
        }
        Ok(())
    }
}

impl Reader<'_, '_, '_> {
    /// What a function makes of the items of an unknown list tells where the new list comes from:
    /// `codes.map(c => String.fromCharCode(c))`.
    pub(super) fn made_of_each(
        &mut self,
        method: &str,
        made: AbstractValue,
        arguments: &Arguments,
        start: usize,
    ) -> Fueled<AbstractValue> {
        let Some(function @ AbstractValue::Function(_)) = arguments.positional.first() else {
            return Ok(made);
        };
        if !matches!(method, "map" | "flatMap" | "reduce" | "collect") {
            return Ok(made);
        }
        let item = AbstractValue::value(unknown_like(&self.value_of(&made)?));
        let each = Arguments::of(vec![item.clone(), item]);
        let one = self.call(function, each, start)?;
        let one = unknown_like(&self.value_of(&one)?);
        if one.origins.any(Origins::DECODED) {
            return Ok(AbstractValue::value(one));
        }
        Ok(made)
    }
}

/// Methods of lists that call a function with each item.
pub(super) fn takes_function(method: &str) -> bool {
    matches!(
        method,
        "map"
            | "forEach"
            | "each"
            | "flatMap"
            | "collect"
            | "filter"
            | "some"
            | "every"
            | "find"
            | "reduce"
            | "sort"
            | "sort_by"
            | "select"
            | "any"
            | "all"
            | "for_each"
            | "foreach"
            | "reverse_each"
            | "each_entry"
            | "each_with_index"
            | "filter_map"
            | "flat_map"
            | "find_all"
            | "reject"
    )
}

/// Methods of lists that give the items of the list, in another order or fewer of them.
pub(super) fn keeps_items(method: &str) -> bool {
    matches!(
        method,
        "sort"
            | "sorted"
            | "reverse"
            | "reversed"
            | "reverse_each"
            | "each_entry"
            | "each_with_index"
            | "each_slice"
            | "uniq"
            | "compact"
            | "shuffle"
            | "flatten"
            | "lazy"
            | "to_a"
            | "to_set"
            | "iter"
            | "into_iter"
            | "stream"
            | "values"
            | "entries"
            | "toArray"
            | "collect"
    )
}

/// Whether a method of a path that no entry names may give another path: questions, texts and sizes do not.
pub(super) fn leads_on(method: &str) -> bool {
    let answers = [
        "is", "has", "get", "to", "as", "each", "exist", "read", "write", "open",
    ];
    let first = method.find(|c: char| c == '_' || c.is_ascii_uppercase());
    let first = method
        .get(..first.unwrap_or(method.len()))
        .unwrap_or(method);
    let texts = [
        "basename", "extname", "name", "stem", "suffix", "size", "length", "mtime", "stat",
        "lstat", "hash", "inspect", "display", "format", "string", "mkdir", "mkpath", "split",
        "strip", "replace", "then", "entries", "list", "equals", "compare", "match", "relative",
        "file", "ok", "unwrap", "expect", "test",
    ];
    !method.ends_with('?') && !answers.contains(&first) && !texts.contains(&first)
}
