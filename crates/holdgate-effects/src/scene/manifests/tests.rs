use super::*;

fn names(folder: &str, file: &str, text: &'static str) -> Vec<&'static str> {
    let read = reader(folder, file).unwrap();
    let found = read(text).into_iter();
    let text = |(named, _)| match named {
        Named::Package(_, text)
        | Named::Address(text)
        | Named::Charts(text)
        | Named::Image(text) => text,
    };
    found.map(text).collect()
}

#[test]
fn packages_of_npm_are_named_in_whole_files_and_pieces() {
    let whole = r#"{"name": "x", "version": "1.0.0", "engines": {"node": ">=18"},
        "scripts": {"a": "^1"}, "dependencies": {"a": "^1", "b": "workspace:*", "c": "o/r"},
        "devDependencies": {"d": "npm:e@2", "f": "github:p/q"}}"#;
    assert_eq!(names("", "package.json", whole), ["a", "o", "e@2", "p"]);
    let piece = "    \"left\": \"^1.0.0\",\n    \"version\": \"1.2.3\",\n    \"right\": \"~2\"\n";
    assert_eq!(names("", "package.json", piece), ["left", "right"]);
    let scripts = "  \"test\": \"jest\",\n  \"build\": \"tsc\"";
    assert_eq!(names("", "package.json", scripts), [""; 0]);
}

#[test]
fn packages_of_python_are_named_in_lists_and_sections() {
    let text = "[project]\nname = \"x\"\nversion = \"1.0\"\ndependencies = [\n  \"a>=1\",\n  \"b[c]\",\n]\n\
        [project.optional-dependencies]\ndev = [\"d\"]\n[tool.poetry.dependencies]\npython = \"^3\"\ne = \"^1\"\n\
        f = { path = \"../f\" }\n[tool.ruff]\nselect = [\"E\"]\n";
    assert_eq!(
        names("", "pyproject.toml", text),
        ["a>=1", "b[c]", "d", "e"]
    );
    assert_eq!(
        names("", "pyproject.toml", "    \"a>=1.2\",\n    \"E501\",\n"),
        ["a>=1.2"]
    );
    let lines = "# x\n-r base.txt\na==1 # why\nb @ git+https://github.com/o/b\n./c\n";
    assert_eq!(
        names("", "requirements-dev.txt", lines),
        ["a==1", "git+https://github.com/o/b"]
    );
}

#[test]
fn crates_modules_and_gems_are_named() {
    let text = "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\na = \"1\"\nb = { path = \"../b\" }\n\
        c = { version = \"1\", package = \"d\" }\n[dependencies.e]\nversion = \"1\"\n[profile.dev]\nopt-level = \"1\"\n";
    assert_eq!(names("", "Cargo.toml", text), ["a", "d", "e"]);
    assert_eq!(
        names("", "Cargo.toml", "a = \"1.2\"\nb = { version = \"1\" }\n"),
        ["a", "b"]
    );
    let text = "module github.com/o/x\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.0.0 // indirect\n)\n\
        replace github.com/c/d => ../d\n";
    assert_eq!(names("", "go.mod", text), ["github.com/a/b"]);
    let text = "source \"https://rubygems.org\"\ngem \"a\", \"~> 7\"\ngem 'b', path: 'b'\ngem \"c\", github: \"o/c\"\n";
    assert_eq!(names("", "Gemfile", text), ["a", "o"]);
}

#[test]
fn images_actions_and_hooks_are_named() {
    let text = "FROM --platform=x a/b:1 AS build\nRUN x\nFROM build\nCOPY --from=c/d /a /b\n";
    assert_eq!(names("", "Dockerfile", text), ["a/b:1", "build", "c/d"]);
    let text = "services:\n  a:\n    image: o/a\n    build: .\n  b:\n    image: \"p/b:1\"\n";
    assert_eq!(names("", "compose.yaml", text), ["p/b:1"]);
    let text = "steps:\n  - uses: actions/checkout@v4 # x\n  - uses: ./local\n  - name: x\n    uses: docker://a/b\n";
    assert_eq!(
        names("workflows", "ci.yml", text),
        ["actions", "docker://a/b"]
    );
    let text = "repos:\n  - repo: https://github.com/o/r\n    rev: v1\n  - repo: local\n";
    assert_eq!(
        names("", ".pre-commit-config.yaml", text),
        ["https://github.com/o/r", "local"]
    );
    let text =
        "module \"x\" {\n  source  = \"o/m/aws\"\n}\nmodule \"y\" {\n  source = \"./y\"\n}\n";
    assert_eq!(names("", "main.tf", text), ["o"]);
}

#[test]
fn a_manifest_mentions_whole_names() {
    let says = |registry, text, name| mentions(registry, text, name);
    assert!(says(Registry::Npm, "\"left-pad\": \"1\"", "left-pad"));
    assert!(!says(Registry::Npm, "\"left-pad-x\": \"1\"", "left-pad"));
    assert!(says(Registry::Npm, "\"@acme/a\": \"1\"", "@acme/b"));
    assert!(says(Registry::Pypi, "Foo_Bar>=1", "foo-bar"));
    assert!(says(
        Registry::Forge,
        "url = git@github.com:acme/x.git",
        "acme"
    ));
    assert!(!says(
        Registry::Forge,
        "url = git@github.com:other/acme.git",
        "acme"
    ));
    assert!(says(
        Registry::Go,
        "github.com/acme/a v1",
        "github.com/acme/b/c"
    ));
}

#[test]
fn headers_of_scripts_components_and_submodules_name_what_they_take() {
    let one = "# /// script\n# dependencies = [\"a\", \"b>=1\"]\n# ///\nx = [\"c\"]\n";
    assert_eq!(names("", "x.py", one), ["a", "b>=1"]);
    let several = "# /// script\n# dependencies = [\n#   \"a\",\n#   \"b @ https://h.example/b\",\n# ]\n# ///\n";
    assert_eq!(names("", "x.py", several), ["a", "https://h.example/b"]);
    assert_eq!(names("", "x.py", "dependencies = [\"a\"]\n"), [""; 0]);
    let pipeline =
        "include:\n  - component: gitlab.com/o/ci/x@1\n  - component: $CI_SERVER_FQDN/p/ci/x@1\n";
    assert_eq!(names("", ".gitlab-ci.yml", pipeline), ["o"]);
    let modules = "[submodule \"a\"]\n\tpath = a\n\turl = https://github.com/o/a\n[submodule \"b\"]\n\turl = ../b\n";
    assert_eq!(
        names("", ".gitmodules", modules),
        ["https://github.com/o/a"]
    );
}
