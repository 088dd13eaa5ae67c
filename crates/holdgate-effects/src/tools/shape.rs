//! What an unknown tool may do, by the shape of its arguments and the words in its name.

use super::code::run_code;
use super::fields::Call;
use super::name::Name;
use super::{Role, Roles, Verb, act, files, message, run, service, strings, told};
use crate::commands::sql;
use crate::effect::Kind;
use crate::json::Json;
use crate::language::Language;
use crate::language::programs;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Every reading that the arguments allow.
pub(super) fn by_shape(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled {
    let name = Name::of(call);
    let mut used = vec![
        Role::Command,
        Role::Shell,
        Role::Arguments,
        Role::Stdin,
        Role::Environment,
        Role::Language,
        Role::Folder,
    ];
    run::shell(scene, call)?;
    if code(scene, call, says(call, RUNS))? {
        used.push(Role::Code);
    }
    service::program(scene, call, &name)?;
    if call.fields.all(Role::Url).any(names_host) {
        // What is loaded down or up beside it is the fetch's own.
        act::fetch(scene, call)?;
        used.extend([Role::Url, Role::Data, Role::Path, Role::To]);
    } else if name.says(scene, Verb::Send) {
        message::message(scene, call)?;
        used.extend([Role::Path, Role::Url, Role::To, Role::From]);
    } else {
        places(scene, call, &mut used)?;
        service::literal_secrets(scene, call, &name)?;
    }
    let is_sql = |(key, _): (&str, &Json<'_>)| key.to_ascii_lowercase().contains("sql");
    let asks = name.says(scene, Verb::Database) || says(call, DATABASES);
    let reads_about = says(call, &["search", "docs"]);
    if asks && !reads_about || call.fields.all(Role::Query).any(is_sql) {
        queries(scene, call)?;
        used.push(Role::Query);
    }
    if name.says(scene, Verb::Tell) {
        told::orders(scene, call)?;
    }
    service::change(scene, call, &name)?;
    service::reveal(scene, call, &name)?;
    let found = strings::unsettled(scene, call, Roles::of(&used))?;
    strings::rest(scene, call, &name, &found)
}

fn says(call: &Call<'_>, words: &[&str]) -> bool {
    let name = call.name.to_ascii_lowercase();
    words.iter().any(|word| name.contains(word))
}

/// Files and hosts that the arguments name.
fn places(scene: &mut Scene<'_>, call: &Call<'_>, used: &mut Vec<Role>) -> Fueled {
    let says = |words: &[&str]| says(call, words);
    let has_items = call.fields.items().next().is_some();
    if says(&["move", "rename"]) && call.fields.texts(Role::To).len() == 1 {
        used.extend([Role::Path, Role::From, Role::To]);
        files::relocate(scene, call, Kind::Move)?;
        return Ok(());
    }
    if call.fields.paths().is_empty() && !has_items {
        return Ok(());
    }
    used.extend([
        Role::Path,
        Role::Content,
        Role::Diff,
        Role::Items,
        Role::Glob,
    ]);
    let has_text = call
        .fields
        .all(Role::Content)
        .chain(call.fields.all(Role::Diff))
        .any(|(key, value)| value.as_str().is_some() && key != "body" && key != "data");
    if says(&["delete", "remove", "unlink", "trash"]) {
        files::delete(scene, call)?;
    } else if has_text || has_items || says(WRITES) {
        files::write(scene, call)?;
    } else if says(&["list", "tree", "glob", "find", "exists", "stat"]) {
        files::look(scene, call, Tag::List)?;
    } else if says(&["search", "grep"]) {
        files::look(scene, call, Tag::Search)?;
    } else {
        files::read(scene, call)?;
    }
    Ok(())
}

fn names_host((key, value): (&str, &Json<'_>)) -> bool {
    let is_url = |text: &str| {
        let other = text.contains("://") && !text.starts_with("file://");
        other || key.eq_ignore_ascii_case("url")
    };
    match value {
        Json::String(text) => is_url(text),
        Json::Array(items) => items.iter().filter_map(Json::as_str).any(is_url),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => false,
    }
}

/// Words in the names of tools that run what they are given.
const RUNS: &[&str] = &[
    "exec", "run", "eval", "shell", "bash", "terminal", "command", "repl", "python", "script",
    "console",
];
const WRITES: &[&str] = &[
    "write",
    "save",
    "append",
    "create",
    "mkdir",
    "screenshot",
    "export",
    "download",
    "output",
    "record",
    "generate",
];
const DATABASES: &[&str] = &[
    "sql",
    "postgres",
    "database",
    "supabase",
    "snowflake",
    "redshift",
    "clickhouse",
    "duckdb",
];

/// Returns whether there was any.
fn code(scene: &mut Scene<'_>, call: &Call<'_>, runs: bool) -> Fueled<bool> {
    let always = [
        "code",
        "script",
        "python",
        "python_code",
        "javascript",
        "powershell",
        "bash_script",
    ];
    let table = &scene.know.tools;
    let named = |key: &str| {
        let listed = always.contains(&key.to_ascii_lowercase().as_str());
        runs || listed || table.roles(key) == Roles::default()
    };
    // New text for a file beside it is content, whatever its name.
    let is_content = !runs && call.fields.text(Role::Path).is_some();
    if is_content {
        return Ok(false);
    }
    let texts: Vec<&str> = call
        .fields
        .all(Role::Code)
        .filter(|(key, _)| named(key))
        .filter_map(|(_, value)| value.as_str())
        .collect();
    if run::too_long(scene, &call.actor, &texts)? {
        return Ok(true);
    }
    for text in &texts {
        let language = language(scene, call, text);
        run::perhaps(scene, |scene| run_code(scene, &call.actor, language, text))?;
    }
    Ok(!texts.is_empty())
}

/// Whether a text is code by its look: an import, a function, a call that runs programs.
pub(super) fn looks_like_code(text: &str) -> bool {
    let inside = [
        "__import__(",
        "require(",
        "import os",
        "import subprocess",
        "import socket",
        "os.system(",
        "subprocess.",
        "child_process",
        "execSync(",
        "do shell script",
        "eval(",
        "exec(",
        "() =>",
        "=> {",
        "function(",
        "Invoke-Expression",
        "IEX",
        "Runtime.getRuntime",
        "OS.execute",
        "os.execute",
        "shell_exec(",
        "Process.Start(",
        "system(",
        "fetch(",
    ];
    inside.iter().any(|mark| text.contains(mark))
}

/// The language of the code in a call.
pub(super) fn language(scene: &Scene<'_>, call: &Call<'_>, code: &str) -> Language {
    if let Some(language) = scene.know.tools.language(call.name) {
        return language;
    }
    let said = call.fields.text(Role::Language).and_then(language_named);
    if let Some(language) = said {
        return language;
    }
    let name = call.name.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let by_word = words.find_map(language_named);
    by_word
        .or_else(|| {
            let inside = [
                ("powershell", Language::PowerShell),
                ("pwsh", Language::PowerShell),
                ("python", Language::Python),
                ("jupyter", Language::Python),
                ("javascript", Language::JavaScript),
                ("browser", Language::JavaScript),
                ("bash", Language::Shell),
                ("shell", Language::Shell),
            ];
            let found = inside.into_iter().find(|(word, _)| name.contains(word));
            found.map(|(_, language)| language)
        })
        .unwrap_or_else(|| guess(code))
}

/// The language that a word names.
pub(super) fn language_named(word: &str) -> Option<Language> {
    let language = match word.trim().to_ascii_lowercase().as_str() {
        "py" | "jupyter" => Language::Python,
        "javascript" | "js" | "typescript" | "ts" | "jsx" => Language::JavaScript,
        "shell" | "terminal" => Language::Shell,
        "ps1" | "batch" => Language::PowerShell,
        "rb" => Language::Ruby,
        "pl" => Language::Perl,
        "go" | "golang" | "rust" | "c" | "cpp" | "c++" | "java" | "csharp" | "kotlin" | "swift" => {
            Language::Compiled
        }
        // A tool that makes something is not `make`.
        "make" | "sed" => return None,
        other => return programs::interpreter(other),
    };
    Some(language)
}

/// Where nothing says which language it is.
fn guess(code: &str) -> Language {
    let first = code.lines().next().unwrap_or_default();
    if let Some(program) = first.strip_prefix("#!") {
        let mut words = program.split(|c: char| !c.is_ascii_alphanumeric());
        if let Some(language) = words.find_map(language_named) {
            return language;
        }
    }
    let starts = |words: &[&str]| {
        code.lines()
            .take(200)
            .map(str::trim_start)
            .any(|line| words.iter().any(|w| line.starts_with(w)))
    };
    if starts(&["import ", "from ", "def ", "print(", "class ", "with open"])
        && !code.contains("};")
    {
        Language::Python
    } else if starts(&[
        "const ",
        "let ",
        "var ",
        "function ",
        "await ",
        "async ",
        "console.",
        "require(",
    ]) || code.contains("=>")
    {
        Language::JavaScript
    } else if starts(&["using ", "package ", "#include", "System.", "public "]) {
        Language::Compiled
    } else {
        Language::Shell
    }
}

/// The URLs in a text.
pub(super) fn urls_in(text: &str) -> Vec<&str> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | ')' | ']');
    text.split(ends)
        .filter_map(|word| {
            let at = ["http://", "https://"]
                .iter()
                .find_map(|scheme| word.find(scheme))?;
            word.split_at_checked(at).map(|(_, url)| url)
        })
        .map(|url| url.trim_end_matches(['.', ',', ';', ':', '!', '?']))
        .collect()
}

/// What is asked of a database.
pub(super) fn queries(scene: &mut Scene<'_>, call: &Call<'_>) -> Fueled<bool> {
    let mut texts = call.fields.texts(Role::Query);
    // The commands of Redis and its like.
    texts.extend(call.fields.texts(Role::Command));
    if run::too_long(scene, &call.actor, &texts)? {
        return Ok(true);
    }
    for text in &texts {
        scene.fuel.spend_on(text.len())?;
        sql::run(scene, &call.actor, &Value::known(*text))?;
    }
    Ok(!texts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_found_in_prose() {
        assert_eq!(
            urls_in("Summarise https://a.example/x?y=1, then (http://b.example)."),
            ["https://a.example/x?y=1", "http://b.example"]
        );
    }
}
