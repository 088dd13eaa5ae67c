use super::*;
use proptest::prelude::*;

fn check(patch: &str, expected: &[&str]) {
    let changes = read(patch).map(|changes| {
        changes
            .into_iter()
            .map(|change| match change {
                Change::Write(path, text, _) => format!("write {path}: {}", text.trim_end()),
                Change::Delete(path) => format!("delete {path}"),
                Change::Move(from, to) => format!("move {from} {to}"),
            })
            .collect::<Vec<_>>()
    });
    let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(changes, Some(expected), "{patch}");
}

#[test]
fn marked_patches_are_read() {
    check(
        "*** Begin Patch\n*** Add File: a.sh\n+echo 1\n+echo 2\n*** Update File: b.py\n@@ def f\n-x\n+y\n z\n*** Delete File: c\n*** End Patch",
        &["write a.sh: echo 1\necho 2", "write b.py: y", "delete c"],
    );
    check(
        "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-1\n+2\n*** End Patch\n",
        &["move a ../b", "write ../b: 2"],
    );
    check("*** Begin Patch\n*** End Patch", &[]);
}

#[test]
fn marked_patches_are_read_as_leniently_as_clients_do() {
    check(
        "<<'EOF'\n  *** Begin Patch\n  *** Add File: ~/.bashrc  \n+evil\n *** Delete File: x\n*** End Patch\nEOF\n",
        &["write ~/.bashrc: evil", "delete x"],
    );
    check("*** Update File: a\r\n@@\r\n+b\r\n", &["write a: b"]);
    // A line of context is not a header, and neither is a line of new text.
    check(
        "*** Begin Patch\n*** Update File: doc.md\n@@\n *** Delete File: y\n+*** Delete File: z\n*** End Patch",
        &["write doc.md: *** Delete File: z"],
    );
}

#[test]
fn unified_diffs_are_read() {
    check(
        "--- a/src/x.rs\t2024-01-01\n+++ b/src/x.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        &["write src/x.rs: c"],
    );
    check(
        "diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
        &["delete old"],
    );
    check(
        "diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n",
        &["write new: x"],
    );
    check(
        "diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n",
        &["move p q", "write q: "],
    );
    check(
        "--- /etc/passwd\n+++ /etc/passwd\n@@ -0,0 +1 @@\n+x::0:0\n--- a/k\n+++ b/k\n@@ -1 +1 @@\n-1\n+2\n",
        &["write /etc/passwd: x::0:0", "write k: 2"],
    );
    // Lines within a hunk are content even if they look like headers.
    check(
        "--- a/x.md\n+++ b/x.md\n@@ -1,2 +1,2 @@\n--- y\n+++ z\n k\n",
        &["write x.md: ++ z"],
    );
    check(
        "--- \"a/t\\303\\244\"\n+++ \"b/t\\303\\244\"\n@@ -1 +1 @@\n-1\n+2\n",
        &["write tä: 2"],
    );
}

#[test]
fn what_is_no_patch_is_not_read() {
    assert_eq!(read("hello"), None);
    assert_eq!(
        read("*** Begin Patch\n+new text for no file\n*** End Patch"),
        None
    );
    assert_eq!(read(""), Some(Vec::new()));
}

#[test]
fn the_new_text_of_one_file() {
    let check = |diff: &str, added: &str| assert_eq!(added_text(diff), added, "{diff}");
    check("@@ -1 +1 @@\n-a\n+b\n", "b\n");
    check("+only\n+new\n", "only\nnew\n");
    check("plain text\n", "plain text\n");
    check("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", "b\n");
    check("------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n", "b\n");
    check(
        "<<<<<<< SEARCH\n:start_line:3\n-------\na\n=======\nb\n>>>>>>> REPLACE",
        "b\n",
    );
}

proptest! {
    #[test]
    fn anything_can_be_given(text in "(\\*\\*\\* |Add File: |Update File: |--- |\\+\\+\\+ |@@ -1,9 \\+1,9 @@|a/|\n|\\+|\"|\\\\|é| ){0,60}") {
        let _ = read(&text);
        let _ = added_text(&text);
    }
}
