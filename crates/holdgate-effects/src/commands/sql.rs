//! What is asked of a database: which statements drop, empty or give rights, which reach files,
//! programs and hosts. The words of other databases (`MongoDB`, Redis, Cypher) are known too.

mod expiry;
mod loads;
mod made;
mod nested;
mod reach;
mod rights;
mod servers;

pub(super) use servers::{mongo, redis};

use crate::effect::{Actor, Kind};
use crate::language::Language;
use crate::scene::{Fueled, Scene};
use crate::tag::Tag;
use crate::value::Value;

/// Statements of one text that are looked at.
const MAX_STATEMENTS: usize = 256;

const OBJECTS: [&str; 12] = [
    "table",
    "database",
    "schema",
    "view",
    "index",
    "role",
    "user",
    "column",
    "keyspace",
    "collection",
    "owned",
    "policy",
];
/// What makes a server run programs or machine code.
const SHELLS: [&str; 10] = [
    "xp_cmdshell",
    "sys_exec",
    "sys_eval",
    "plpython3u",
    "plpythonu",
    "plperlu",
    "pltclu",
    "dbms_scheduler",
    "sp_oacreate",
    "module load",
];
/// What speaks to other machines, or tells the server to.
#[rustfmt::skip]
const NETWORK: [&str; 47] = [
    "dblink", "http_post", "http_get", "net.http", "utl_http", "utl_smtp", "utl_tcp", "httpuritype",
    "postgres_fdw", "openrowset", "opendatasource", "addlinkedserver", "apoc.load", "apoc.export",
    "foreign data wrapper", "foreign table", "create server", "alter server", "subscription",
    "change master", "change replication", "start replica", "replicaof", "slaveof",
    "query_export_to_s3", "create_s3_uri", "aws_lambda", "copy into", "unload", "export data",
    "into outfile", "attach", "remote(", "remotesecure(", "url(", "s3(", "gcs(", "mysql(",
    "postgresql(", "mongodb(", "external table", "create stage", "create catalog",
    "create connection", "pg_net", "copy ", "backup ",
];
/// Columns and tables of passwords and keys.
const SECRETS: [&str; 13] = [
    "password",
    "passwords",
    "password_hash",
    "passwd",
    "encrypted_password",
    "secret",
    "secrets",
    "api_key",
    "api_keys",
    "access_token",
    "refresh_token",
    "token",
    "credentials",
];
/// Where servers keep their own users.
const OWN_USERS: [&str; 4] = ["pg_shadow", "pg_authid", "mysql.user", "decrypted_secrets"];

/// Whether a text is a statement by its look.
pub(crate) fn looks_like(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(400).collect();
    let lower = start.to_ascii_lowercase();
    let mut words = lower.split_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let objects = [
        "table",
        "database",
        "schema",
        "user",
        "role",
        "function",
        "trigger",
        "extension",
        "policy",
        "system",
        "or",
        "view",
        "index",
        "owned",
    ];
    match first {
        "select" | "with" => lower.contains(" from ") && !second.is_empty(),
        "insert" => second == "into",
        "update" => lower.contains(" set "),
        "delete" => second == "from",
        "drop" | "alter" | "create" => objects.contains(&second),
        "truncate" => second == "table",
        "grant" | "revoke" => lower.contains(" to ") || lower.contains(" from "),
        "copy" => lower.contains(" from ") || lower.contains(" to "),
        _ => false,
    }
}

/// What the statements of a text do.
pub(crate) fn run(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    scene.fuel.spend_on(value.text.len())?;
    // Some shells of databases run programs, and some functions read and write files.
    scene.code(Language::Other, value)?;
    let text = without_data(&value.text);
    let mut tags = Vec::new();
    let mut reads_only = true;
    let mut count = 0;
    for statement in text.split(';').map(str::trim).filter(|s| !s.is_empty()) {
        count += 1;
        if count > MAX_STATEMENTS {
            let long = actor.does(Kind::Unreadable).tagged(Tag::TooLong);
            scene.emit(long.about("more statements than are read"))?;
            break;
        }
        reads_only &= statement.starts_with("select") || statement.starts_with('.');
        tags.extend(tags_of(statement));
    }
    let lower = value.text.to_ascii_lowercase();
    let inner = nested::in_brackets(&text).into_iter();
    for statement in inner.chain(nested::in_texts(&lower)) {
        reads_only = false;
        tags.extend(tags_of(statement));
    }
    tags.extend(tags_of_all(&text, &value.text));
    tags.extend(tags_of_made(&value.text, actor.is(Tag::Prod)));
    let mut effect = actor.does(Kind::Database).about(&value.text).of(value);
    if reads_only {
        effect = effect.tagged(Tag::Query);
    }
    for tag in tags {
        effect = effect.tagged(tag);
    }
    scene.emit(effect)?;
    reach::files(scene, actor, value)?;
    if NETWORK.iter().any(|word| text.contains(word)) {
        reach::hosts(scene, actor, value)?;
    }
    loads::loads(scene, actor, value)?;
    loads::resets(scene, actor, value)?;
    // Clients run lines that begin with `\!` or `.shell`.
    for line in value.text.lines() {
        let line = line.trim_start();
        let command = ["\\!", ".shell ", ".system ", "system "]
            .iter()
            .find_map(|p| line.strip_prefix(p));
        // `.import |command table`, `\o |command`, `\g |command`
        let piped = line
            .split_once('|')
            .filter(|_| line.starts_with(['.', '\\']));
        let command = command.or(piped.map(|(_, command)| command));
        if let Some(command) = command {
            scene.shell(actor, &value.map(command.trim()))?;
        }
        // `\i file`, `.read file`: its statements run too, if they are known.
        let file = ["\\i ", "\\ir ", "\\include ", ".read ", "source ", "\\. "]
            .iter()
            .find_map(|p| line.strip_prefix(p));
        if let Some(file) = file {
            run_file(scene, actor, &value.map(file.trim().trim_end_matches(';')))?;
        }
    }
    Ok(())
}

/// The hosts that statements reach which stand in the body of a request.
pub(super) fn reaches(scene: &mut Scene<'_>, actor: &Actor, value: &Value) -> Fueled {
    let text = value.text.to_ascii_lowercase();
    if NETWORK.iter().any(|word| text.contains(word)) {
        return reach::hosts(scene, actor, value);
    }
    Ok(())
}

/// What the statements of a file do, if what it holds is known.
pub(crate) fn run_file(scene: &mut Scene<'_>, actor: &Actor, path: &Value) -> Fueled {
    scene.grant_known(path);
    let text = scene.read(actor, path)?;
    if text.is_known() && !text.text.is_empty() {
        return scene.deeper(actor, |scene| run(scene, actor, &text));
    }
    Ok(())
}

/// The text in lower case without what stands in quotes, which is data, and without comments.
fn without_data(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(lower.len());
    for (at, part) in lower.split('\'').enumerate() {
        if at % 2 == 1 {
            out.push(' ');
            continue;
        }
        for line in part.split_inclusive('\n') {
            let (code, comment) = line.split_once("--").unwrap_or((line, ""));
            out.push_str(code);
            if comment.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    out
}

/// What one statement does.
fn tags_of(statement: &str) -> Vec<Tag> {
    let words: Vec<&str> = statement
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect();
    let follows = |first: &str, second: &[&str]| {
        let pair = |w: &[&str]| matches!(w, [a, b] if *a == first && second.contains(b));
        words.windows(2).any(pair)
    };
    let has = |word: &str| words.contains(&word);
    let mut tags = Vec::new();
    if follows("drop", &OBJECTS)
        || words.first() == Some(&"truncate")
        || follows("truncate", &["table"])
    {
        tags.push(Tag::Drop);
    }
    // `where 1=1` and `where true` choose every row.
    let plain: String = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    let every = ["where 1=1", "where 1 = 1", "where true"]
        .iter()
        .any(|w| plain.contains(w));
    let unbounded = !has("where") || every;
    let deletes = follows("delete", &["from"]) || follows("detach", &["delete"]);
    if deletes && unbounded {
        tags.push(Tag::DeleteAll);
    }
    let updates = words.first() == Some(&"update") && has("set");
    if updates && unbounded && !has("limit") {
        tags.push(Tag::Overwrite);
    }
    let accounts = follows("alter", &["user", "role", "login"])
        || follows("create", &["user", "role", "login"]);
    let strong = [
        "superuser",
        "createrole",
        "bypassrls",
        "sysadmin",
        "replication",
    ];
    // Without `on` it is a role that is given, with all its rights.
    let grants = words.first() == Some(&"grant")
        && (!has("on")
            || has("all")
            || has("public")
            || has("anon")
            || has("admin")
            || follows("grant", &["option"])
            || strong.iter().any(|w| has(w)));
    let definer = follows("security", &["definer"]);
    let open_rows = follows("disable", &["row"]) || plain.contains("no force row level security");
    let grants = grants || rights::opens_rows(&words) || rights::makes_admin(&words);
    if grants || accounts && strong.iter().any(|w| has(w)) || definer || open_rows {
        tags.push(Tag::Elevate);
    }
    // Passwords and keys that are put where others read them.
    let names_secret = SECRETS.iter().any(|w| has(w));
    let copies = has("select")
        && (follows("insert", &["into"]) || words.first() == Some(&"create") || has("outfile"));
    let triggers = words.first() == Some(&"create") && has("trigger");
    let to_program = follows("copy", &["to"]) && names_secret;
    if (copies || to_program) && names_secret && !triggers {
        tags.push(Tag::Secret);
    }
    if follows("from", &["program"]) || follows("to", &["program"]) {
        tags.push(Tag::Shell);
    }
    tags
}

/// What only the whole text tells.
fn tags_of_all(text: &str, written: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let drops = [
        "dropdatabase",
        ".drop(",
        "flushall",
        "flushdb",
        "cluster reset",
    ];
    if has(&drops) {
        tags.push(Tag::Drop);
    }
    // `db["dropDatabase"]()`
    if written.contains('[') {
        let plain = without_spelling(&written.to_ascii_lowercase());
        if plain.contains("dropdatabase") {
            tags.push(Tag::Drop);
        }
    }
    if has(&["deletemany({})", "remove({})", "delete_many({})"]) {
        tags.push(Tag::DeleteAll);
    }
    let library = text.contains("soname") || loads_library(written);
    if has(&SHELLS) || library {
        tags.push(Tag::Shell);
    }
    let server_files = [
        "into outfile",
        "into dumpfile",
        "load_file(",
        "pg_read_file",
        "pg_read_binary_file",
        "pg_ls_dir",
        "lo_export",
        "lo_import",
        "config set dir",
        "utl_file",
    ];
    if has(&server_files) {
        tags.push(Tag::File);
    }
    if has(&OWN_USERS) {
        tags.push(Tag::Secret);
    }
    if expiry::expires(&written.to_ascii_lowercase()) {
        tags.push(Tag::Expires);
    }
    // A trigger that copies what is written.
    let copied = |word: &str| text.contains(&format!("new.{word}"));
    let triggers = text.contains("trigger") && text.contains("insert into");
    if triggers && SECRETS.iter().any(|word| copied(word)) {
        tags.push(Tag::Secret);
    }
    if rights::gives(written) {
        tags.push(Tag::Elevate);
    }
    tags
}

/// What statements do that are put together and then executed: `execute 'dr' || 'op table ' || name`.
fn tags_of_made(written: &str, matters: bool) -> Vec<Tag> {
    let lower = written.to_ascii_lowercase();
    if !made::puts_together(&lower) {
        return Vec::new();
    }
    let mut tags = Vec::new();
    for statement in made::statements(&lower) {
        tags.extend(tags_of(&statement));
        if made::is_unknown(&statement) && (matters || lower.contains("\\gexec")) {
            tags.push(Tag::Generated);
        }
    }
    tags
}

/// Names of functions that are spelt as texts: `db["drop" + "Database"]()`.
fn without_spelling(text: &str) -> String {
    let marks = |c: char| c.is_whitespace() || "'\"`+[]".contains(c);
    text.chars().filter(|c| !marks(*c)).collect()
}

/// A library by its path: extensions that come with the database have names only.
fn loads_library(text: &str) -> bool {
    let after = text.split("load_extension(").nth(1);
    after.is_some_and(|rest| {
        let name = rest.split(')').next().unwrap_or_default();
        name.contains('/') || name.contains('\\')
    })
}
