//! Names that come from modules.

use super::{Reader, names};
use crate::code::lex::Kind;
use crate::code::thing::AbstractValue;
use crate::scene::Fueled;

/// Modules whose names all stand in the code as they are.
const MAX_STARS: usize = 8;

impl Reader<'_, '_, '_> {
    /// `import a.b as c, d` and `from a import b as c`.
    pub(super) fn python_import(&mut self, end: usize) -> Fueled {
        let from = self.name_at(self.at) == Some("from");
        self.at += 1;
        let base = if from {
            self.dotted(end)
        } else {
            String::new()
        };
        if from {
            if self.name_at(self.at) != Some("import") {
                return Ok(());
            }
            self.at += 1;
            self.loose = self.is_mark(self.at, "(");
            self.at += usize::from(self.loose);
        }
        let base = names::module(self.language, &base);
        if from {
            self.runs_module(&base)?;
        }
        if from && self.is_mark(self.at, "*") {
            self.at += 1;
            self.opens_module(base);
            return Ok(());
        }
        while let Some(token) = self.peek(end) {
            if token.kind != Kind::Name {
                break;
            }
            let name = self.dotted(end);
            let full = if from {
                format!("{base}.{name}")
            } else {
                names::module(self.language, &name)
            };
            if !from {
                self.runs_module(&full)?;
            }
            if self.name_at(self.at) == Some("as") {
                if let Some(alias) = self.name_at(self.at + 1) {
                    self.variables
                        .insert(alias.to_owned(), AbstractValue::Name(full));
                    self.at += 2;
                }
            } else if from || full != name {
                self.variables.insert(name, AbstractValue::Name(full));
            }
            match self.peek(end) {
                Some(token) if token.is_mark(",") => self.at += 1,
                _ => break,
            }
        }
        self.loose = false;
        Ok(())
    }

    /// All names of a module stand in the code as they are from here on.
    pub(super) fn opens_module(&mut self, module: String) {
        if self.stars.len() < MAX_STARS {
            self.stars.push(module);
        }
    }

    fn dotted(&mut self, end: usize) -> String {
        let mut name = String::new();
        while self.at < end {
            match self.token_at(self.at) {
                Some(token)
                    if token.kind == Kind::Name && !matches!(token.text, "import" | "as") =>
                {
                    name.push_str(token.text);
                }
                Some(token) if token.is_mark(".") || token.is_mark("::") => name.push('.'),
                _ => break,
            }
            self.at += 1;
            let more = self.is_mark(self.at, ".") || self.is_mark(self.at, "::");
            if !more && !name.ends_with('.') {
                break;
            }
        }
        name
    }

    /// `import x, {a as b} from 'm'`.
    pub(super) fn javascript_import(&mut self, end: usize) -> Fueled {
        let start = self.at + 1;
        let from = (start..end.min(start + 128))
            .find(|index| matches!(self.token_at(*index).map(|t| t.kind), Some(Kind::Text(_))));
        let Some(from) = from else {
            self.at = start;
            return Ok(());
        };
        let text = self.token_at(from).map_or("", |t| t.text);
        let module = names::module(self.language, text);
        self.takes_package(text)?;
        self.runs_module(text)?;
        let mut in_braces = false;
        let mut last: Option<&str> = None;
        let mut after_as = false;
        for index in start..from {
            let Some(token) = self.token_at(index) else {
                break;
            };
            match token.text {
                "{" => in_braces = true,
                "}" => in_braces = false,
                "*" | "," | "from" | "type" | "default" => {}
                "as" => {
                    after_as = true;
                    continue;
                }
                name if token.kind == Kind::Name => {
                    let full = match (in_braces, after_as, last) {
                        (true, true, Some(original)) => format!("{module}.{original}"),
                        (true, _, _) => format!("{module}.{name}"),
                        (false, _, _) => module.clone(),
                    };
                    self.variables
                        .insert(name.to_owned(), AbstractValue::Name(full));
                    last = Some(name);
                }
                _ => {}
            }
            after_as = false;
        }
        self.at = from + 1;
        Ok(())
    }

    /// `use a::b as c;`, `import e "os/exec"`, `import static a.b`.
    pub(super) fn compiled_import(&mut self, end: usize) {
        self.at += 1;
        let block = self.is_mark(self.at, "(");
        let stop = if block {
            self.close_of(self.at, end)
        } else {
            let ends = |index: &usize| {
                self.token_at(*index)
                    .is_some_and(|t| t.is_mark(";") || matches!(t.kind, Kind::Line(_)))
            };
            (self.at..end).find(ends).unwrap_or(end)
        };
        for index in self.at..stop {
            let Some(token) = self.token_at(index) else {
                break;
            };
            match token.kind {
                Kind::Text(_) => {
                    let module = token.text.rsplit('/').next().unwrap_or(token.text);
                    if let Some(alias) = self
                        .name_at(index.wrapping_sub(1))
                        .filter(|a| *a != "import")
                    {
                        let name = AbstractValue::Name(module.to_owned());
                        self.variables.insert(alias.to_owned(), name);
                    }
                }
                Kind::Name if token.text == "as" => {
                    let original = self.name_at(index.wrapping_sub(1));
                    if let (Some(original), Some(alias)) = (original, self.name_at(index + 1)) {
                        let name = AbstractValue::Name(original.to_owned());
                        self.variables.insert(alias.to_owned(), name);
                    }
                }
                Kind::Name | Kind::Number | Kind::Mark | Kind::Line(_) => {}
            }
        }
        self.at = stop.max(self.at);
    }
}
