//! What a program works on, where that is a database, a cluster or a cloud: something local or made
//! for tests, or what people depend on.

use super::Call;
use super::args::Parsed;
use super::handler::Handler;
use super::role::Role;
use super::units::Run;
use crate::effect::Kind;
use crate::host::{Host, HostClass};
use crate::path::PathClass;
use crate::scene::{Fueled, Scene, TARGET_VARIABLES as VARIABLES};
use crate::tag::Tag;
use crate::value::{HOLE, Origins, Value};

/// Options whose value is the machine that is meant.
const HOSTS: [&str; 9] = [
    "-h",
    "--host",
    "--hostname",
    "-H",
    "--server",
    "-s",
    "--endpoint-url",
    "--endpoint",
    "--endpoints",
];
/// Options whose value names what is meant: a database, a cluster, an account, a stage, a file of
/// resources.
const NAMES: [&str; 36] = [
    "-d",
    "--dbname",
    "--database",
    "--db",
    "--name",
    "-n",
    "--namespace",
    "--context",
    "--kube-context",
    "--cluster",
    "--cluster-name",
    "--profile",
    "--project",
    "--stack",
    "--stack-name",
    "--env",
    "--environment",
    "--stage",
    "--workspace",
    "--bucket",
    "--app",
    "-a",
    "--subscription",
    "--resource-group",
    "-g",
    "--instance",
    "--kubeconfig",
    "--config",
    "-f",
    "--filename",
    "-k",
    "--kustomize",
    "--table-name",
    "-var-file",
    "-target",
    "-chdir",
];
/// `test-target` or `prod`, if the call tells.
pub(super) fn tags(scene: &Scene<'_>, call: &Call<'_>, parsed: &Parsed) -> Option<Tag> {
    let speaks = [Handler::Cloud, Handler::Mongo, Handler::Redis];
    let speaks = parsed.handlers.iter().any(|h| speaks.contains(h));
    if !speaks && !works_elsewhere(parsed) {
        return None;
    }
    let targets = &scene.know.hosts.targets;
    let mut words: Vec<Value> = call.words.iter().skip(1).cloned().collect();
    for name in VARIABLES {
        words.extend(scene.variable(name).into_iter().flatten().cloned());
    }
    let names = unknown_names(scene, call);
    // What a forwarded port leads to.
    let forwards = scene
        .forwards
        .iter()
        .map(|(_, target)| target.text.as_str());
    let here = |w: &Value| scene.know.hosts.host(w).class == HostClass::Loopback;
    let forwards = forwards.filter(|_| words.iter().any(here));
    let production = words
        .iter()
        .map(|w| w.text.as_str())
        .chain(names)
        .chain(forwards);
    // `update-time-to-live` is about nothing that is live.
    let says = |w: &str| targets.is_production(w) && !w.contains("time-to-live");
    if production.clone().any(says) {
        return Some(Tag::Prod);
    }
    let host = |value: &Value| scene.host_of(value);
    let options = parsed.options.iter();
    let named = options.filter(|o| HOSTS.contains(&o.name.as_str()));
    let named = named.filter_map(|o| o.value.as_ref().map(|(_, value)| value));
    let by_address = words.iter().filter(|w| w.text.contains("://"));
    let hosts: Vec<Host> = named.chain(by_address).map(host).collect();
    let is_local = |host: &Host| host.class == HostClass::Loopback;
    // A plain name is a container beside this one, or a bucket.
    let is_near = |host: &Host| {
        let end = host.name.rsplit_once('.').map(|(_, end)| end);
        end.is_none_or(|end| end == "local")
    };
    if !hosts.iter().all(|h| is_local(h) || is_near(h)) {
        return None;
    }
    let local = hosts.iter().any(is_local)
        || is_named_test(scene, parsed)
        || numbered(parsed)
        || is_own_file(scene, parsed);
    local.then_some(Tag::TestTarget)
}

/// Whether a command line, or a variable for it, names what people depend on.
pub(super) fn names_production(scene: &Scene<'_>, call: &Call<'_>) -> bool {
    /// Longer words are texts.
    const MAX_LENGTH: usize = 400;
    let targets = &scene.know.hosts.targets;
    let says = |text: &str| {
        let name = text.len() <= MAX_LENGTH && !text.contains(char::is_whitespace);
        name && targets.is_production(text) && !text.contains("time-to-live")
    };
    let mut words = call.words.iter().skip(1);
    let mut variables = VARIABLES.iter().filter_map(|name| scene.variable(name));
    words.any(|word| says(&word.text))
        || variables.any(|values| values.iter().any(|value| says(&value.text)))
        || unknown_names(scene, call).any(says)
}

/// A client of a database at somebody else's machine gets what another program prints: rows leave.
pub(super) fn receives(scene: &mut Scene<'_>, run: Run<'_>) -> Fueled {
    let printed = run
        .call
        .stdin
        .filter(|s| s.is_blank() && s.origins.any(Origins::OUTPUT));
    let does = |(kind, _): &(Kind, _)| *kind == Kind::Database;
    let restores = run.parsed.spec.does.iter().any(does);
    if printed.is_none() || !is_database(run.parsed) && !restores {
        return Ok(());
    }
    let named = run.parsed.options_named(&HOSTS);
    let named = named.chain(run.parsed.options_named(&["--uri"]));
    let named = named.filter_map(|o| o.value.as_ref().map(|(_, value)| value));
    let addresses = run
        .parsed
        .operands
        .iter()
        .filter(|o| o.text.contains("://"));
    let hosts: Vec<Host> = named.chain(addresses).map(|v| scene.host_of(v)).collect();
    for host in hosts
        .into_iter()
        .filter(|h| h.class == HostClass::External)
        .take(1)
    {
        let name = host.name.clone();
        scene.emit(run.actor.does(Kind::Connect).with(host).about(&name))?;
    }
    Ok(())
}

/// Whether what is meant is local or made for tests, by its own name: words that stand elsewhere in
/// the call tell nothing.
fn is_named_test(scene: &Scene<'_>, parsed: &Parsed) -> bool {
    let targets = &scene.know.hosts.targets;
    let is_test = |value: &Value| {
        let text = within_home(&value.text);
        !text.contains(char::is_whitespace) && targets.is_test(text)
    };
    let mut variables = VARIABLES.iter().filter_map(|name| scene.variable(name));
    let named = parsed.options.iter();
    let mut named = named.filter(|o| NAMES.contains(&o.name.as_str()));
    // `rails db:drop RAILS_ENV=test`
    let set = |operand: &&Value| {
        let name = operand.text.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| VARIABLES.contains(&name))
    };
    let names = match parsed.operands.as_slice() {
        // The first may say what kind of thing is meant.
        [_, names @ ..] if !names.is_empty() => names,
        all => all,
    };
    variables.any(|values| values.iter().any(is_test))
        || parsed.operands.iter().filter(set).any(is_test)
        || named.any(|o| o.value.as_ref().is_some_and(|(_, value)| is_test(value)))
        || !names.is_empty() && names.iter().all(is_test)
        || is_database(parsed) && parsed.operands.first().is_some_and(is_test)
        || statements_name_tests(scene, parsed)
}

/// A path without the folder of the user, whose name tells nothing: `/home/dev/backups`.
fn within_home(text: &str) -> &str {
    let path = text.strip_prefix("file://").unwrap_or(text);
    let rest = path
        .strip_prefix("/home/")
        .or_else(|| path.strip_prefix("/Users/"));
    rest.and_then(|rest| rest.split_once('/'))
        .map_or(text, |(_, rest)| rest)
}

/// `DROP DATABASE app_test`: whether all databases that statements name are made for tests.
fn statements_name_tests(scene: &Scene<'_>, parsed: &Parsed) -> bool {
    const MAX_WORDS: usize = 256;
    let sql = |(role, _): &&(Role, Value)| *role == Role::Sql;
    let options = parsed.options.iter().filter_map(|o| o.value.as_ref());
    let mut found = false;
    for (_, statement) in options.filter(sql) {
        let ends = |c: char| c.is_whitespace() || ";`\"'".contains(c);
        let words = statement.text.split(ends).filter(|word| !word.is_empty());
        let mut named = false;
        for word in words.take(MAX_WORDS) {
            let lower = word.to_ascii_lowercase();
            if named && !matches!(lower.as_str(), "if" | "exists" | "not") {
                if !scene.know.hosts.targets.is_test(word) {
                    return false;
                }
                found = true;
                named = false;
            }
            named |= matches!(lower.as_str(), "database" | "schema");
        }
    }
    found
}

fn is_database(parsed: &Parsed) -> bool {
    let spec = &parsed.spec;
    let sql = |role: Role| matches!(role, Role::Sql | Role::About(Kind::Database));
    spec.operands.iter().any(|(role, _)| sql(*role))
        || spec.stdin.is_some_and(sql)
        || spec.options.values().filter_map(|m| m.value).any(sql)
}

/// Whether it acts on a database or on something remote.
fn works_elsewhere(parsed: &Parsed) -> bool {
    let kind = |kind: Kind| matches!(kind, Kind::Remote | Kind::Database);
    let role = |role: Role| {
        let about = if let Role::About(about) = role {
            kind(about)
        } else {
            false
        };
        matches!(role, Role::Sql | Role::SqlFile) || about
    };
    let spec = &parsed.spec;
    let values = spec.options.values().filter_map(|meaning| meaning.value);
    spec.does.iter().any(|(does, _)| kind(*does))
        || spec.operands.iter().any(|(operand, _)| role(*operand))
        || spec.stdin.is_some_and(role)
        || values.into_iter().any(role)
}

/// The variables of the command whose values are not known: their names may tell.
fn unknown_names<'s>(
    scene: &'s Scene<'_>,
    call: &Call<'_>,
) -> impl Iterator<Item = &'s str> + Clone {
    let hole = |value: &Value| value.text.contains(HOLE);
    // `DATABASE_URL=$PROD_URL prisma migrate deploy`
    let mut variables = VARIABLES.iter().filter_map(|name| scene.variable(name));
    let unknown = call.words.iter().any(hole) || variables.any(|v| v.iter().any(hole));
    let names = scene.command.split('$').skip(1).take(16);
    names.filter(move |_| unknown).map(|rest| {
        let rest = rest.trim_start_matches('{');
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or("")
    })
}

/// `redis-cli -n 3`: data lives in database 0, tests take another.
fn numbered(parsed: &Parsed) -> bool {
    let number = parsed.value_of(&["-n"]);
    number.is_some_and(|n| n.text.parse::<u8>().is_ok_and(|n| n > 0))
}

/// A database that is a file of the project, or no file at all.
fn is_own_file(scene: &Scene<'_>, parsed: &Parsed) -> bool {
    let by_file = matches!(
        parsed.spec.operands.as_slice(),
        [(Role::Read, _), (Role::Sql, _)]
    );
    let own = |path: &Value| {
        let place = scene.place(path);
        path.text == ":memory:" || place.is(PathClass::Project) || place.is(PathClass::Temp)
    };
    by_file && parsed.operands.first().is_some_and(own)
}
