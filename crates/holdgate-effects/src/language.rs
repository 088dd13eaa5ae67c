//! The languages whose code is read.

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
        Data = "data": "Trees of settings or data, as JSON, YAML and TOML: whatever stands in them may be a command.",
        Compiled = "compiled": "Compiled languages, as far as their calls are known: Go, Java, C, Rust.",
        Source = "source": "Languages without a reader of their own: their texts may be commands.",
        Markup = "markup": "XML, HTML and templates: the scripts in them; texts and attributes of XML may be commands.",
        Lines = "lines": "Settings and scripts of other programs, line by line: each may hold a command.",
        Prose = "prose": "Texts that agents or notebooks take commands from: the code in them.",
        Document = "document": "Texts for people, and data: nothing in them runs.",
    }
}

impl Language {
    /// Whether its reader only looks for what may be commands.
    pub(crate) fn is_guess(self) -> bool {
        matches!(
            self,
            Language::Data
                | Language::Source
                | Language::Lines
                | Language::Markup
                | Language::Prose
                | Language::Document
        )
    }
}
