use super::*;

#[test]
fn what_the_upstream_speaks_is_a_setting() {
    let config = load(
        "[upstream]\nopenai = \"http://h:1\"\nspeaks = \"chat\"",
        &[("HOLDGATE_UPSTREAM_TOOL_DIALECT", "qwen-xml")],
    );
    let config = config.unwrap();
    assert_eq!(config.bridge.speaks, Some("chat"));
    assert_eq!(config.bridge.dialect, holdgate_core::Dialect::QwenXml);
    assert_eq!(config.upstream, "http://h:1/");
    assert_eq!(config.other_upstreams, None, "a key goes nowhere else");
    let bridges = "possible are `anthropic` to `chat`, `responses` to `chat`";
    wrong(
        "upstream.speaks = «\"ollama\"»",
        &format!("there is no bridge to `ollama`; {bridges}"),
    );
    wrong(
        "upstream.tool_dialect = «\"xml\"»",
        "`xml` is not a valid dialect, write `auto`, `native`, `hermes` or `qwen-xml`",
    );
    let error = load("upstream.speaks = \"chat\"", &[]).unwrap_err();
    assert!(
        error.contains("is not named: use `--upstream URL`"),
        "{error}"
    );
    let flags = |speaks: &str| Flags {
        speaks: Some(speaks.to_owned()),
        ..Flags::local("/state", ([127, 0, 0, 1], 1).into())
    };
    let config = Config::load(&flags("chat"), []).unwrap();
    assert_eq!(config.upstream, "http://127.0.0.1:1/");
    let error = config.serving(holdgate_core::OLLAMA).unwrap_err();
    assert_eq!(
        error,
        format!("there is no bridge from `ollama` to `chat`; {bridges}")
    );
    let error = Config::load(&flags("smtp"), []).unwrap_err().to_string();
    assert!(
        error.starts_with("--upstream-speaks: `smtp` is not a known protocol"),
        "{error}"
    );
}
