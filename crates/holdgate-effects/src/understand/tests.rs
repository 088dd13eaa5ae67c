use super::*;
use proptest::prelude::*;

fn json() -> impl Strategy<Value = Json<'static>> {
    let text = prop_oneof![
        any::<String>(),
        Just("true".to_owned()),
        Just("[\"rm\",\"-rf\"]".to_owned()),
        Just("\\u0072m \\ud83d\\ude00 \u{202e}сат".to_owned()),
        Just("*** Begin Patch\n*** Add File: x\n+y".to_owned()),
        Just("https://a.example/?q=1".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<u64>().prop_map(Json::from),
        text.prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof![
            Just("command"),
            Just("path"),
            Just("content"),
            Just("edits"),
            Just("url"),
            Just("body"),
            Just("input"),
            Just("tool"),
            Just("tool_calls"),
            Just("arguments"),
            Just("sql"),
            Just("code"),
            Just("language"),
            Just("args"),
            Just("diff"),
            Just("source"),
            Just("destination"),
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            proptest::collection::btree_map(key, inner, 0..6).prop_map(|members| {
                Json::Object(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_call_can_be_understood(
        name in prop_oneof![
            any::<String>(), Just("Bash".to_owned()), Just("Edit".to_owned()), Just("batch".to_owned()),
            Just("exec".to_owned()), Just("write_stdin".to_owned()), Just("apply_patch".to_owned()),
            Just("NotebookEdit".to_owned()), Just("mcp__git__git_push".to_owned()), Just("fetch".to_owned()),
            Just("run_sql".to_owned()), Just("move_file".to_owned()), Just("str_replace_editor".to_owned()),
        ],
        input in json(),
    ) {
        let text = input.text();
        let call = Invocation { tool: &name, input: &input, text: &text };
        let know = Knowledge::built_in().unwrap();
        let _ = understand(call, &World::default(), &know, &Fuel::new(1_000_000));
    }
}
