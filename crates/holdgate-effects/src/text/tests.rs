use super::*;
use proptest::prelude::*;

#[test]
fn a_normal_form_shows_what_is_meant() {
    let check = |written: &str, normal: &str| assert_eq!(normalise(written), normal, "{written}");
    check("rm -rf /", "rm -rf /");
    check("ｒｍ -rf ／", "rm -rf /");
    check("r\u{200b}m\u{2060} x", "rm x");
    check("cat\u{e0041}\u{e0042} y", "cat y");
    check("a\u{a0}b", "a b");
    check("a\nｂ\r\nc", "a\nb\r\nc");
    check("\u{fffc}", "\u{fffd}");
    // Prose keeps its quotes apart from the shell's.
    check("说：＂hi＂", "说:＂hi＂");
    check("名前を変更", "名前を変更");
}

#[test]
fn look_alikes_are_found_and_languages_left_alone() {
    let check = |text: &str, ascii: Option<&str>| {
        assert_eq!(skeleton_ascii(text).as_deref(), ascii, "{text}");
    };
    check("сат", Some("cat"));
    check("/еtс/раsswd", Some("/etc/passwd"));
    check("сurl", Some("curl"));
    check("cat", None);
    check("файл", None);
    check("日本", None);
    check("naïve", None);
    assert_eq!(
        as_it_looks("сат /еtс/раsswd > файл"),
        "cat /etc/passwd > файл"
    );
    assert_eq!(
        as_it_looks("git commit -m 'Исправить ошибку'"),
        "git commit -m 'Исправить ошибку'"
    );
}

#[test]
fn hidden_characters_count_only_in_words_of_commands() {
    let check =
        |command: &str, hides: bool| assert_eq!(hides_in_words(command), hides, "{command:?}");
    check("r\u{200b}m -rf x", true);
    check("cat \u{202e}txt.sh", true);
    check("ls /et\u{ad}c", true);
    check("ls \u{e0072}\u{e006d}", true);
    check("ls -la", false);
    check("\u{feff}ls", false);
    check("git commit -m 'a\u{200b}b'", false);
    check("git commit -m \"👩\u{200d}💻 add\"", false);
    check("echo 👩\u{200d}💻 1\u{fe0f}\u{20e3}", false);
    check("echo ❤\u{fe0f} ok", false);
    check(
        "echo \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        false,
    );
    check("mkdir می\u{200c}خواهم", false);
    check("cat > README <<EOF\nzero\u{200b}width\nEOF", false);
}

#[test]
fn all_characters_that_would_quote_are_known() {
    for c in ('\u{80}'..=char::MAX).filter(|c| !is_ignorable(*c)) {
        let quotes = std::iter::once(c)
            .nfkc()
            .any(|c| matches!(c, '"' | '\'' | '`' | '$' | '\\' | '\n' | '\r'));
        assert_eq!(would_quote(c), quotes, "{c:?} {:x}", u32::from(c));
    }
}

proptest! {
    #[test]
    fn normal_text_stays_normal(text in any::<String>()) {
        let once = normalise(&text).into_owned();
        prop_assert!(!once.contains(HOLE));
        prop_assert_eq!(once.lines().count(), text.replace(is_ignorable, "").lines().count());
        let _ = (skeleton_ascii(&text), as_it_looks(&text), hides_in_words(&text));
    }

    #[test]
    fn ascii_is_never_changed(text in "[ -~\n\t]{0,80}") {
        prop_assert_eq!(normalise(&text), text.as_str());
        prop_assert_eq!(as_it_looks(&text), text.as_str());
        prop_assert!(!hides_in_words(&text));
    }
}
