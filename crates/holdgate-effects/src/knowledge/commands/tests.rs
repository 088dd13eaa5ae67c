use super::*;

impl CommandTable {
    /// The tags that the table puts on effects.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        let mut tags = Vec::new();
        for entry in &self.entries {
            entry
                .read()
                .unwrap()
                .collect(&mut |_, found| tags.extend(found));
        }
        tags
    }

    /// Whether an entry says that its program does something of this kind.
    pub(crate) fn does(&self, kind: Kind) -> bool {
        let mut does = false;
        for entry in &self.entries {
            entry
                .read()
                .unwrap()
                .collect(&mut |found, _| does |= found == Some(kind));
        }
        does
    }
}

impl Spec {
    /// All kinds and tags in here and in what is below.
    fn collect(&self, each: &mut dyn FnMut(Option<Kind>, &[Tag])) {
        let roles = self.operands.iter().map(|(role, _)| role);
        let roles = roles.chain(self.options.values().filter_map(|o| o.value.as_ref()));
        for role in roles.chain(self.stdin.as_ref()) {
            if let Role::About(kind) = role {
                each(Some(*kind), &[]);
            }
        }
        each(None, &self.tags);
        each(None, self.inside.as_slice());
        self.options.values().for_each(|o| each(None, &o.tags));
        self.does
            .iter()
            .for_each(|(kind, tags)| each(Some(*kind), tags));
        for (name, sub) in &self.sub {
            let word = Tag::from_word(name).filter(|tag| !tag.calms());
            each(None, word.as_slice());
            sub.collect(each);
        }
        self.when.iter().for_each(|(_, spec)| spec.collect(each));
    }
}

#[test]
fn every_entry_can_be_read() {
    let table = CommandTable::read(compiled!("commands")).unwrap();
    table.check().unwrap();
    assert!(table.get("python3.12").is_some());
    assert!(table.get("no-such-program").is_none());
}

#[test]
fn every_handler_is_chosen_by_an_entry() {
    fn chosen(spec: &Spec, found: &mut Vec<Handler>) {
        found.extend(spec.handler);
        spec.sub.values().for_each(|sub| chosen(sub, found));
        spec.when.iter().for_each(|(_, spec)| chosen(spec, found));
    }
    let table = CommandTable::read(compiled!("commands")).unwrap();
    let mut found = Vec::new();
    for entry in &table.entries {
        chosen(&entry.read().unwrap(), &mut found);
    }
    for handler in Handler::ALL {
        assert!(
            found.contains(&handler),
            "no entry has the handler `{handler}`"
        );
    }
}

#[test]
fn a_bad_entry_is_an_error_that_names_file_line_and_word() {
    let check = |yaml: &'static str, error: &str| {
        let table = CommandTable::read(crate::table::compiled(yaml)).unwrap();
        let found = table.check().unwrap_err();
        assert!(found.contains(error), "{found}");
        let wrong = |name: &&str| matches!(table.get(name), Some(Err(_)));
        assert!(["a", "c"].iter().any(wrong));
    };
    let first = |yaml: &'static str, error: &str| check(yaml, &format!("commands.yaml:1: {error}"));
    let force = "a: unknown tag `forse`, did you mean `force`?";
    first("a: {flags: {forse: -f}}\n", force);
    let tunnel = "a: unknown tag `tunel`, did you mean `tunnel`?";
    first("a: {options: {data+tunel: -f}}\n", tunnel);
    let push = "a: unknown tag `psh`, did you mean `push`?";
    first("a: {does: [vcs psh]}\n", push);
    let vcs = "a: b: unknown effect `vsc`, did you mean `vcs`?";
    first("a: {sub: {b: {does: [vsc]}}}\n", vcs);
    first("a: {operands: reed}\n", "a: `reed` is not a role");
    first("a: {operand: read}\n", "");
    let tmux = "unknown handler `tmx`, did you mean `tmux`?";
    check("a: {handler: tmx}\n", tmux);
    let recursive =
        "commands.yaml:3: line 3, column 14: unknown tag `recursiv`, did you mean `recursive`?";
    check("a: {}\n\nb c: {tags: [recursiv]}\n", recursive);
    let twice = CommandTable::read(crate::table::compiled("a b: {}\nb: {}\n")).unwrap_err();
    assert_eq!(twice, "commands.yaml:2: `b` has two entries");
}
