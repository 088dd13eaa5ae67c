//! Code of our own that knows more about a program than its table entry can say.

use crate::worded::worded;

worded! {
    /// What an entry of `commands.yaml` names as its `handler`.
    pub(crate) enum Handler as "handler" {
        Dbus = "dbus": "Whoever is called on the D-Bus may run what the arguments say.",
        Env = "env": "Variables are set, then a program runs.",
        Find = "find": "Options are a program of their own: tests, deletions, commands.",
        GitConfig = "git-config": "Some settings of git run programs or weaken it.",
        GoRun = "go-run": "The operand may be a module from the network.",
        Jq = "jq": "Some options take a name and a file.",
        Make = "make": "Variables may name the shell that runs the recipes.",
        PutLines = "put-lines": "The input holds commands that send files.",
        Serves = "serves": "A folder is served to others.",
        Socat = "socat": "Each operand is an address with options of its own.",
        Tmux = "tmux": "The arguments are several commands.",
        Vim = "vim": "The arguments hold commands of the editor.",
    }
}
