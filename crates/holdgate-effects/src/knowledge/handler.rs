//! Code of our own that knows more about a program than its table entry can say.

use crate::worded::worded;

worded! {
    /// What an entry of `commands.yaml` names as its `handler`.
    pub(crate) enum Handler as "handler" {
        ApplyPatch = "apply-patch": "The argument or the input is a patch.",
        Aria2 = "aria2": "Files are saved under the names of their addresses, or the name given.",
        Awk = "awk": "The script may show nothing but names; it may pick processes from a list.",
        Axel = "axel": "Files are saved under the names of their addresses.",
        Copy = "copy": "A copy of a program is the program under another name.",
        Crontab = "crontab": "The input is a table of times and commands.",
        Curl = "curl": "Options may stand in a file; files may be saved under the names of their addresses.",
        Cut = "cut": "The fields may show nothing but names; it may pick processes from a list.",
        Env = "env": "Variables are set, then a program runs.",
        Filter = "filter": "It may pick processes from a list.",
        Find = "find": "Options are a program of their own: tests, deletions, commands.",
        Git = "git": "Operands are revisions, remotes and files; what is cloned may hold anything.",
        GitConfig = "git-config": "Some settings of git run programs or weaken it.",
        GoRun = "go-run": "The operand may be a module from the network.",
        Grep = "grep": "It may show nothing but names, pick processes, or search all of this folder.",
        Jq = "jq": "Some options take a name and a file.",
        Kill = "kill": "The first number may be a signal.",
        Link = "link": "The link is its target under another name.",
        Ls = "ls": "The names that it prints are patterns for what is there.",
        Make = "make": "Variables may name the shell that runs the recipes.",
        Mount = "mount": "A folder that is bound is the folder under another name.",
        Move = "move": "What is moved stays what it was under its new name.",
        NpmSet = "npm-set": "A script of the package may be set.",
        Ports = "ports": "The output tells who listens on which port.",
        Processes = "processes": "The output is a list of processes.",
        ProcessesByName = "processes-by-name": "The output is a list of processes, picked by name.",
        PutLines = "put-lines": "The input holds commands that send files.",
        Search = "search": "It may search all of this folder, or pick processes from a list.",
        Sed = "sed": "The script may show nothing but names; it may pick processes from a list.",
        Serves = "serves": "A folder is served to others.",
        Socat = "socat": "Each operand is an address with options of its own.",
        Tmux = "tmux": "The arguments are several commands.",
        Unpack = "unpack": "What comes out of an archive came from where the archive came from.",
        Vim = "vim": "The arguments hold commands of the editor.",
        Wget = "wget": "Files are saved under the names of their addresses.",
        Wrapper = "wrapper": "What stands in the arguments may be run.",
    }
}
