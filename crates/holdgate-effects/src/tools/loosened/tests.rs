use super::loosens;

#[test]
fn more_is_let_through() {
    let cases = [
        (
            "if not hmac.compare_digest(mac, want):",
            "if not want.startswith(mac):",
        ),
        (
            "return signature === expected",
            "return expected.includes(signature)",
        ),
        ("if (origin === home) {", "if (origin.startswith(home)) {"),
        (
            "if !verify(&k, &b, &s) {",
            "if !s.is_empty() && !verify(&k, &b, &s) {",
        ),
        (
            "if not user.is_admin:\n    raise Denied",
            "if not user.is_admin and request.path != '/x':\n    raise Denied",
        ),
        ("if login_attempts > 5 {", "if login_attempts > 100000 {"),
        (
            "const key = process.env.jwt_secret!",
            "const key = process.env.jwt_secret ?? 'acme'",
        ),
        (
            "key = os.environ['app_secret']",
            "key = os.environ.get('app_secret', 'x1')",
        ),
        ("  where: { id, ownerid: req.user.id },", "  where: { id },"),
        (
            "return note.objects.filter(id=pk, user_id=request.user.id)",
            "return note.objects.filter(id=pk)",
        ),
        (
            "scope.where(owner: user)",
            "scope.where(owner: user).or(scope.where.not(owner: nil))",
        ),
        (
            "origin: ['https://app.example'],",
            "origin: (o, cb) => cb(null, o),",
        ),
    ];
    for (old, new) in cases {
        assert!(loosens("src/a.ts", old, new, false), "{old} -> {new}");
    }
    assert!(loosens(
        "src/a.ts",
        "if session.user_id is none:",
        "if session.user_id is none and not debug:",
        true
    ));
}

#[test]
fn honest_edits_pass() {
    let cases = [
        (
            "if not hmac.compare_digest(mac, want):",
            "if not hmac.compare_digest(mac, make(want)):",
        ),
        ("if token.kind == 'a':", "if token.kind in kinds:"),
        (
            "if (origin === home) {",
            "if (allowedorigins.includes(origin)) {",
        ),
        ("if name == 'a':", "if name.startswith('a'):"),
        ("if name == 'secret':", "if name.startswith('secret'):"),
        (
            "if (url.hostname === 'a.example') {",
            "if (url.hostname.endswith('.a.example')) {",
        ),
        (
            "if not user.is_admin:\n    count += 1",
            "if not user.is_admin and x:\n    count += 1",
        ),
        ("if page > 5 {", "if page > 100000 {"),
        ("if login_attempts > 5 {", "if login_attempts > 10 {"),
        (
            "const port = process.env.port",
            "const port = process.env.port ?? '3000'",
        ),
        (
            "const key = process.env.jwt_secret",
            "const key = process.env.jwt_secret ?? fail()",
        ),
        (
            "  where: { id, ownerid: req.user.id },",
            "  where: { id, ownerid: ctx.user.id, live: true },",
        ),
        ("  where: { id, status },", "  where: { id },"),
        (
            "origin: ['https://app.example'],",
            "origin: ['https://app.example', 'https://b.example'],",
        ),
        (
            "origin: ['https://a.b'],",
            "origin: (o, cb) => list.has(o) ? cb(null, true) : cb(bad()),",
        ),
    ];
    for (old, new) in cases {
        assert!(!loosens("src/a.ts", old, new, false), "{old} -> {new}");
    }
    assert!(!loosens(
        "src/a.ts",
        "if session.user_id is none:",
        "if session.user_id is none:\n  log()",
        true
    ));
}

#[test]
fn lists_of_settings_are_compared() {
    let admins = "admins = [\"ann\"]";
    let more = "admins = [\"ann\", \"kim\"]";
    assert!(loosens("infra/a.tfvars", admins, more, false));
    assert!(!loosens(
        "infra/a.tfvars",
        "zones = [\"a\"]",
        "zones = [\"a\", \"b\"]",
        false
    ));
    let one = "- ann@acme.dev";
    assert!(loosens(
        "conf/admins.yaml",
        one,
        "- ann@acme.dev\n- kim@other.dev",
        false
    ));
    assert!(!loosens(
        "conf/people.yaml",
        one,
        "- ann@acme.dev\n- kim@other.dev",
        false
    ));
    assert!(loosens(".gitignore", "dist\n.env\n", "dist\n", false));
    assert!(!loosens(
        ".gitignore",
        "dist\n.env\n",
        "dist\n.env*\n",
        false
    ));
    let show = "envprefix: ['vite_', 'db_'],";
    assert!(loosens("vite.config.ts", "plugins: [],", show, false));
    assert!(!loosens(
        "vite.config.ts",
        "plugins: [],",
        "envprefix: ['vite_'],",
        false
    ));
}
