//! The languages whose code is read.

mod file;
pub(crate) mod programs;
pub(crate) mod variables;

use crate::worded::worded;

worded! {
    /// A language whose code is read.
    pub enum Language as "language" {
        Shell = "shell": "The shells: sh, bash, zsh, dash, ksh.",
        Python = "python": "Python.",
        JavaScript = "javascript": "`JavaScript` and `TypeScript`.",
        Perl = "perl": "Perl.",
        Ruby = "ruby": "Ruby.",
        Php = "php": "PHP.",
        Lua = "lua": "Lua.",
        Awk = "awk": "The language of awk.",
        Sed = "sed": "The language of sed.",
        PowerShell = "powershell": "`PowerShell` and cmd.",
        Make = "make": "Makefiles.",
        Embedded = "embedded": "Files that hold shell commands among other things: Dockerfile, CI workflows, package.json.",
        Other = "other": "Languages of single programs, by their words that run, read, write and send: Tcl, Lisp, R, Julia, `AppleScript`, gdb, ed, sqlite.",
        Compiled = "compiled": "Compiled languages, as far as their calls are known: Go, Java, C, Rust.",
    }
}

impl Language {
    /// The language of a file that will run, by its name or its first line; `None` for what does not run.
    pub(crate) fn of_file(path: &str, content: &str) -> Option<Language> {
        file::language(path, content)
    }
}
