//! The abstract actions that trajectories are made of.

use holdgate_effects::worded;

worded! {
    /// What a part of a call does, as far as the sequence of calls is concerned.
    pub enum Action as "action" {
        Read = "read": "A file of the work is read.",
        Search = "search": "Files are listed or searched through.",
        Edit = "edit": "A part of a file changes.",
        Write = "write": "A file is written.",
        Run = "run": "A program runs: a test, a build, anything that is not listed here.",
        Vcs = "vcs": "Version control is used locally.",
        Fetch = "fetch": "Something is requested from a host and only looked at.",
        Local = "local": "Something is sent to this machine or the local network.",
        ReadSecret = "read-secret": "Keys, passwords or tokens are read.",
        ProbeSecret = "probe-secret": "Somebody looks where keys, passwords or tokens are.",
        ReadPrivate = "read-private": "A file of the user outside of the project is read.",
        Recon = "recon": "The system, its users, processes or networks are listed.",
        FetchFile = "fetch-file": "A file is written from the network.",
        Pack = "pack": "Data is encoded, encrypted or put into an archive.",
        Unpack = "unpack": "Data is decoded.",
        CopySecret = "copy-secret": "A file is written that holds a secret.",
        MakeExecutable = "make-executable": "A file becomes executable.",
        WidenMode = "widen-mode": "Permissions are given to everybody, or to whoever runs the file.",
        RunWritten = "run-written": "A file runs that this conversation wrote.",
        RunLoose = "run-loose": "Code runs that was fetched or decoded.",
        Elevate = "elevate": "Privileges are raised.",
        Persist = "persist": "Something will run again later.",
        Disarm = "disarm": "A protection is switched off: of the system, of Holdgate, of a check.",
        ClearLog = "clear-log": "Logs or histories are deleted.",
        WriteOut = "write-out": "A file outside of the project is written.",
        Send = "send": "Data is sent to a host outside.",
        Post = "post": "A message, an issue, a package or a gist is published.",
        Push = "push": "Commits are sent to another repository.",
        SetRemote = "set-remote": "The place where commits go changes.",
        Delete = "delete": "A file of the project is deleted.",
        DeleteOut = "delete-out": "A file outside of the project is deleted.",
        Discard = "discard": "Work under version control is thrown away.",
        EraseHistory = "erase-history": "What would bring lost work back is deleted.",
        DestroyData = "destroy-data": "Data of a database, a cloud or a disk is deleted.",
        ChangeRemote = "change-remote": "Something changes in the cloud, a cluster or a database.",
        Install = "install": "A package is installed.",
        InstallOdd = "install-odd": "A package is installed from an unusual source.",
        Connect = "connect": "A raw connection or a port is opened, or a shell on one.",
        Escape = "escape": "A container or sandbox gets the rights of the host.",
        System = "system": "Services, processes, accounts or the system's settings change.",
        ReadEnv = "read-env": "The project's own keys, passwords or tokens are read.",
        Grant = "grant": "Rights are given for later: sudoers, users, the dynamic loader.",
        Settings = "settings": "An agent's settings or permissions change.",
        Plant = "plant": "A file is written that would do harm when it is used.",
        Expose = "expose": "Others are let in, money moves, or a name leads elsewhere.",
        Intrude = "intrude": "A screen, a keyboard, traffic, a process or a network is searched through or taken over.",
        Exhaust = "exhaust": "The machine or all its processes are brought down.",
        DeleteData = "delete-data": "Some data of a database, a cloud or another repository is deleted.",
        PushAway = "push-away": "Commits are sent to a place that nobody vouches for.",
        Redirect = "redirect": "Packages, commits, names or certificates will come from elsewhere or go there.",
        HandOver = "hand-over": "What stands in the call, or what a build has made, is sent to a host outside.",
        InstallWrong = "install-wrong": "A package is installed that takes the place of another, or from a strange host.",
        WriteSystem = "write-system": "A file of the system is written.",
        Tunnel = "tunnel": "A web server of this machine becomes reachable from outside.",
        Bypass = "bypass": "Checks of version control are skipped.",
        ChangeProduction = "change-production": "The production system changes.",
    }
}

/// How much an action counts beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gravity {
    /// Honest sessions are full of it.
    Usual,
    /// It may prepare something.
    Prepares,
    /// It may complete something, or prepare it.
    Serious,
    /// Honest sessions hardly ever do it.
    Grave,
}

impl Action {
    /// Whether it says nothing about security by itself. Such actions are left out of the sequence
    /// that is learned and judged, so they cannot hide what lies between them.
    pub fn is_neutral(self) -> bool {
        (self as u8) < Action::ReadSecret as u8
    }

    /// How much it counts beside others, if no rule knows what they are together.
    pub(super) fn gravity(self) -> Gravity {
        match self {
            Action::Read
            | Action::Search
            | Action::Edit
            | Action::Write
            | Action::Run
            | Action::Vcs
            | Action::Fetch
            | Action::Local
            | Action::ReadPrivate
            | Action::RunWritten
            | Action::WriteOut
            | Action::Post
            | Action::Push
            | Action::ChangeRemote
            | Action::Install
            | Action::System => Gravity::Usual,
            Action::ReadEnv
            | Action::ProbeSecret
            | Action::Recon
            | Action::FetchFile
            | Action::Pack
            | Action::Unpack
            | Action::MakeExecutable
            | Action::Delete
            | Action::Bypass => Gravity::Prepares,
            Action::CopySecret
            | Action::Elevate
            | Action::SetRemote
            | Action::DeleteOut
            | Action::Discard
            | Action::InstallOdd
            | Action::DeleteData
            | Action::Redirect
            | Action::HandOver
            | Action::Tunnel
            | Action::WriteSystem
            | Action::ChangeProduction => Gravity::Serious,
            Action::ReadSecret
            | Action::WidenMode
            | Action::RunLoose
            | Action::Persist
            | Action::Disarm
            | Action::ClearLog
            | Action::Send
            | Action::EraseHistory
            | Action::DestroyData
            | Action::Connect
            | Action::Escape
            | Action::Grant
            | Action::Settings
            | Action::Plant
            | Action::Expose
            | Action::Intrude
            | Action::Exhaust
            | Action::PushAway
            | Action::InstallWrong => Gravity::Grave,
        }
    }

    /// Its number.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// The action with a number.
    pub(super) fn of(number: u8) -> Option<Action> {
        Action::ALL.get(usize::from(number)).copied()
    }
}
