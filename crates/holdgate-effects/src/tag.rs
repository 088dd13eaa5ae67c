//! Tags: the words that say more about an effect. A sub-command whose name is declared here tags
//! what it does with it.

use crate::worded::worded;

worded! {
    /// A word that says more about an effect: `recursive`, `force`, `push`.
    pub enum Tag as "tag" {
        Abort = "abort": "An unfinished merge, rebase or similar is given up.",
        Add = "add": "The sub-command `add` runs.",
        Agent = "agent": "Another agent is concerned: it will run later, or its server is changed.",
        AgentConfig = "agent-config": "The settings of a coding agent change.",
        All = "all": "The effect reaches everything that there is of its kind.",
        Alternatives = "alternatives": "The system's default programs change.",
        Amend = "amend": "The last commit is replaced by another.",
        Answer = "answer": "What is typed is an answer to a question of Holdgate.",
        Api = "api": "The request goes to a service's own API.",
        Apparmor = "apparmor": "The effect is about `AppArmor`.",
        Append = "append": "Content is added to the end of a file.",
        Applescript = "applescript": "The code is `AppleScript`.",
        Apply = "apply": "The sub-command `apply` runs.",
        AttackTool = "attack-tool": "The program is made for attacks.",
        Attribute = "attribute": "Attributes of files change.",
        Audit = "audit": "The effect is about the system's audit log.",
        Background = "background": "The program goes on after the call has ended.",
        Backup = "backup": "The effect is about backups.",
        Bare = "bare": "An interpreter starts without a script: what it runs comes later.",
        Bind = "bind": "A folder is mounted at a second place.",
        Boot = "boot": "The way the machine boots changes.",
        Branch = "branch": "The effect is about a branch.",
        Build = "build": "The effect is about the output of a build.",
        BuildOutput = "build-output": "The data comes from files that a build has made.",
        ByName = "by-name": "Processes are chosen by their name.",
        Capability = "capability": "A capability of the kernel is given.",
        Captured = "captured": "What is printed goes into the command line of another program.",
        Certificate = "certificate": "The effect is about a certificate.",
        Certificates = "certificates": "The list of trusted certificates changes.",
        Check = "check": "Something is only checked.",
        Checkout = "checkout": "The sub-command `checkout` runs.",
        Chroot = "chroot": "The root folder changes for what runs.",
        Ci = "ci": "It runs in a workflow of a build server.",
        Clean = "clean": "The sub-command `clean` runs: untracked or built files are deleted.",
        Clear = "clear": "Everything in a list or store is removed.",
        ClientView = "client-view": "It holds in a reading that a client makes of the call, not in the call as written.",
        Clipboard = "clipboard": "The effect is about the clipboard.",
        Clock = "clock": "The system's clock is set.",
        Comment = "comment": "A comment is written where others read it.",
        Commit = "commit": "A commit is made.",
        Computer = "computer": "A tool that moves the mouse and types.",
        Config = "config": "The configuration of a program or server changes.",
        Configure = "configure": "A tool of configuration management changes the system.",
        Container = "container": "It happens inside a container.",
        Continue = "continue": "An unfinished merge, rebase or similar goes on.",
        Create = "create": "Something is created.",
        DaemonReload = "daemon-reload": "The service manager reads its units again.",
        Database = "database": "The effect is about a database in the cloud.",
        Dbus = "dbus": "A program on the D-Bus is called.",
        DebugPort = "debug-port": "A program opens a port for debuggers.",
        Defaults = "defaults": "The defaults of a desktop system change.",
        Delete = "delete": "Something is deleted.",
        DeleteAll = "delete-all": "All rows of a table are deleted.",
        Deploy = "deploy": "Something is deployed.",
        DesktopConfig = "desktop-config": "Settings of the desktop change.",
        DesktopKeys = "desktop-keys": "Keys are pressed on the desktop, in whatever window has the focus.",
        Destroy = "destroy": "A resource is destroyed.",
        Device = "device": "A device is handed over or changed.",
        Devices = "devices": "Rules for devices are applied again.",
        Disable = "disable": "Something is switched off.",
        Discard = "discard": "Local changes are thrown away.",
        Discards = "discards": "The working tree's changes are thrown away.",
        Disk = "disk": "The effect is about the structure of a disk.",
        Dns = "dns": "The effect is about names in the DNS.",
        DockerSocket = "docker-socket": "A container gets the socket of the container service.",
        Drain = "drain": "A node of a cluster is emptied.",
        Drop = "drop": "A database, a table or a schema is dropped.",
        DryRun = "dry-run": "The program only says what it would do.",
        Edit = "edit": "A part of an existing file is replaced.",
        Editor = "editor": "The program is an editor.",
        Elevate = "elevate": "Rights are given to an account.",
        Elevated = "elevated": "It runs with raised rights.",
        Enable = "enable": "Something is switched on.",
        Encrypt = "encrypt": "Data is encrypted.",
        Exec = "exec": "The sub-command `exec` runs.",
        Executable = "executable": "A file becomes executable.",
        Extract = "extract": "An archive is unpacked.",
        Fifo = "fifo": "A named pipe or a device file is made.",
        File = "file": "The effect is about a file: a database reads or writes one.",
        Filesystem = "filesystem": "A file system is made.",
        FilterBranch = "filter-branch": "The sub-command `filter-branch` rewrites the history.",
        Filtered = "filtered": "Only some of the files below a folder are meant.",
        FilterRepo = "filter-repo": "The sub-command `filter-repo` rewrites the history.",
        Firewall = "firewall": "The rules of a firewall change.",
        FirewallOff = "firewall-off": "A firewall is switched off or emptied.",
        Folder = "folder": "A folder is meant, not a file.",
        Follow = "follow": "The program runs again whenever something changes.",
        Force = "force": "Checks and questions of the program are skipped.",
        ForkBomb = "fork-bomb": "A function starts itself without end.",
        Format = "format": "The sub-command `format` runs.",
        FromFile = "from-file": "The package comes from a file.",
        FromList = "from-list": "The process was taken from a list of processes.",
        FromUrl = "from-url": "The package comes from a URL.",
        FromVcs = "from-vcs": "The package comes from a repository.",
        Generate = "generate": "Code or keys are generated.",
        Gist = "gist": "A text is published as a gist.",
        Glob = "glob": "The name of the program is a pattern that files decide about.",
        Global = "global": "It holds for the whole system or user, not for the project alone.",
        Group = "group": "The effect is about a group of users.",
        Guard = "guard": "The effect is about the protection that the system has built in.",
        Guarded = "guarded": "The agent is one whose calls are guarded too.",
        GuardRoute = "guard-route": "The variable decides where an agent sends its requests.",
        GuardSocket = "guard-socket": "The socket is named on which the operator answers.",
        GuardVariable = "guard-variable": "The variable is one of Holdgate's settings.",
        Hard = "hard": "The working tree is reset as well.",
        Hidden = "hidden": "Holdgate's program runs under another name, or with arguments that are not known.",
        HiddenCharacters = "hidden-characters": "The text holds characters that nobody sees.",
        Hook = "hook": "The effect is about a hook of version control.",
        HostNamespace = "host-namespace": "A container shares a namespace with the host: its host name or cgroups.",
        HostNetwork = "host-network": "A container shares the network of the host.",
        HostPid = "host-pid": "A container sees the processes of the host.",
        Image = "image": "The effect is about the image of a container.",
        Immutable = "immutable": "The mark that makes a file unchangeable is removed.",
        Impostor = "impostor": "The name of the host imitates that of a well-known one.",
        Inert = "inert": "A tool that does nothing outside of the agent.",
        Injects = "injects": "The variable makes other programs run code from a place where nobody expects it.",
        InPlace = "in-place": "A file is changed where it is.",
        Insecure = "insecure": "Certificates or signatures are not checked.",
        Install = "install": "Something is installed.",
        Interpreter = "interpreter": "The program runs code that it is given.",
        Issue = "issue": "The effect is about an issue in a tracker.",
        Keep = "keep": "What is there is kept.",
        Kernel = "kernel": "The effect is about the kernel.",
        Key = "key": "A key is made, added or removed.",
        Keychain = "keychain": "The effect is about a store of passwords.",
        Keystrokes = "keystrokes": "Keys are typed into a terminal or a window.",
        Kill = "kill": "The sub-command `kill` runs.",
        KubeConfig = "kube-config": "The file that says how clusters are reached changes.",
        Lease = "lease": "The push fails if somebody else has pushed since the agent last looked.",
        LiftsGate = "lifts-gate": "The variable or the header is named that lifts the gate.",
        Link = "link": "A link is made.",
        List = "list": "A name, size or type is asked for, not the content.",
        Listen = "listen": "A port is opened for others.",
        Load = "load": "Settings or data are loaded from a file.",
        LoadTest = "load-test": "A host gets many requests.",
        Locked = "locked": "Permissions are taken away.",
        Log = "log": "The effect is about logs.",
        Login = "login": "Somebody logs in, or credentials are stored.",
        LoginItem = "login-item": "It starts when a user logs in.",
        Logout = "logout": "Stored credentials are removed.",
        Mail = "mail": "A mail is sent.",
        Mask = "mask": "A service is made impossible to start.",
        Merge = "merge": "Branches or pull requests are merged.",
        MergesFolders = "merges-folders": "The content of a folder is copied over that of another.",
        Message = "message": "A message is sent to a service.",
        Miner = "miner": "The program mines a currency.",
        Mirror = "mirror": "The target becomes the same as the source: what it has besides goes.",
        Mkdir = "mkdir": "A folder is made.",
        Module = "module": "A module of the kernel or of a language is loaded.",
        Mount = "mount": "A file system or folder is mounted, or a mount is removed.",
        Move = "move": "The source is deleted after it was copied.",
        Mr = "mr": "The effect is about a merge request.",
        Namespace = "namespace": "The effect is about a namespace of the kernel or of a cluster.",
        Native = "native": "A library of machine code is loaded.",
        Network = "network": "The effect is about a network connection.",
        NetworkConfig = "network-config": "Addresses, routes or interfaces change.",
        Node = "node": "The effect is about a node of a cluster.",
        NoVerify = "no-verify": "Hooks or checks of version control are skipped.",
        NpmConfig = "npm-config": "A setting of npm changes that decides what runs or where packages come from.",
        OfGuard = "of-guard": "The process or service is Holdgate.",
        Open = "open": "Something is opened by the program that the desktop has for it.",
        Operator = "operator": "It is for the operator alone: an answer, the PIN, a seal.",
        Ordered = "ordered": "Another agent, or the agent's memory, is told to do it. Rules that deny it ask.",
        OtherIndex = "other-index": "Packages come from elsewhere than the usual registry.",
        OtherOwner = "other-owner": "The new owner is one of the system.",
        OtherRoute = "other-route": "An agent that starts with this environment sends its requests elsewhere.",
        OtherTree = "other-tree": "The program runs outside of the agent's processes.",
        Overwrite = "overwrite": "The content that was there is lost.",
        Own = "own": "The process was started by the agent itself.",
        Owner = "owner": "The owner changes.",
        Package = "package": "The effect is about a package.",
        PackageConfig = "package-config": "The sources that packages come from change.",
        Partition = "partition": "The partitions of a disk change.",
        Password = "password": "The effect is about a password.",
        Paste = "paste": "A text is published on a paste service.",
        Patch = "patch": "The text is a patch.",
        Payment = "payment": "Money moves.",
        Personal = "personal": "The text holds what is private to somebody: a card's number, a password in words.",
        PipConfig = "pip-config": "A setting of pip changes that decides where packages come from.",
        Policy = "policy": "The effect is about who may do what in a service.",
        PortForward = "port-forward": "A port of another machine is forwarded.",
        Power = "power": "The machine's power state changes.",
        PowerConfig = "power-config": "Settings of the power supply change.",
        Pr = "pr": "The effect is about a pull request.",
        Private = "private": "It is visible to some people only.",
        PrivateFile = "private-file": "The data comes from a person's own files outside of the project.",
        Privileged = "privileged": "A container or package gets the rights of the host.",
        Probe = "probe": "A host or port is only tried.",
        ProcessMemory = "process-memory": "The memory of a process is read.",
        Prod = "prod": "It is the production system.",
        Program = "program": "The name of the program is not known, or is made of data.",
        ProjectFile = "project-file": "The data comes from the project's files.",
        Prune = "prune": "What nothing uses any more is deleted.",
        PruneNow = "prune-now": "Objects of version control that nothing refers to are deleted at once.",
        Public = "public": "Everybody can see or use it.",
        Publish = "publish": "Something is published for others.",
        Push = "push": "Commits are sent to another repository.",
        Query = "query": "The statement only reads.",
        ReadOnly = "read-only": "Nothing can be changed through it.",
        Rebase = "rebase": "Commits are put onto another base.",
        Reboot = "reboot": "The machine is started again.",
        Rebuild = "rebuild": "The whole system is built anew from its configuration.",
        Recording = "recording": "A recording of a terminal is sent.",
        Recursive = "recursive": "The effect reaches everything below a folder.",
        Redirects = "redirects": "A setting of git sends requests to another place.",
        ReflogExpire = "reflog-expire": "The log that would bring commits back is deleted.",
        Registry = "registry": "The Windows registry changes.",
        Relay = "relay": "Files go to another machine by way of a relay.",
        Reload = "reload": "A service reads its settings again.",
        Remote = "remote": "It happens on another machine, or is about a remote repository.",
        RemoteManagement = "remote-management": "Others can control the machine from afar.",
        Remove = "remove": "The sub-command `remove` runs.",
        Removes = "removes": "Holdgate's package is removed.",
        Rename = "rename": "Something gets another name.",
        Replace = "replace": "Something is replaced by another.",
        Reset = "reset": "Something is put back to an earlier or to its first state.",
        Restart = "restart": "A service or machine is stopped and started.",
        Restore = "restore": "An earlier state is brought back over the current one.",
        Rewrite = "rewrite": "The history of version control is rewritten.",
        Rm = "rm": "The sub-command `rm` runs.",
        Rollback = "rollback": "The last change of a database or deployment is undone.",
        Rollout = "rollout": "A deployment is rolled out again, paused or undone.",
        RootIfUnset = "root-if-unset": "The path is the root folder if a variable is empty.",
        Run = "run": "Something is started.",
        Runs = "runs": "A program runs under guard.",
        RunsProgram = "runs-program": "A setting of git names a program that it will run.",
        Sandbox = "sandbox": "The agent's own sandbox is concerned.",
        Scan = "scan": "Ports or hosts are searched through.",
        Schedule = "schedule": "It will run at a later time.",
        ScreenRead = "screen-read": "What a terminal shows is read.",
        Script = "script": "A file is run as code.",
        Search = "search": "The files below a folder are searched through.",
        SecondGuard = "second-guard": "Another Holdgate starts.",
        Secret = "secret": "The sub-command `secret` runs: a service's secrets are concerned.",
        SecretKey = "secret-key": "A secret key is exported.",
        Secrets = "secrets": "The sub-command `secrets` runs: a service's secrets are concerned.",
        SecretStore = "secret-store": "A store of secrets is read.",
        SecurityOff = "security-off": "A protection of the system is switched off.",
        SecurityOpt = "security-opt": "The security profile of a container changes.",
        Selinux = "selinux": "The effect is about `SELinux`.",
        Serves = "serves": "A folder is served to others.",
        Service = "service": "It runs as a service.",
        Session = "session": "A session of terminals is ended.",
        SettingsHome = "settings-home": "The variable decides where programs find their settings.",
        Setuid = "setuid": "A file will run with the rights of its owner or group.",
        SetUrl = "set-url": "The address of a remote repository changes.",
        Shell = "shell": "A shell runs, here or where the effect leads.",
        ShellConfig = "shell-config": "The files that a shell reads at its start change.",
        ShellEscape = "shell-escape": "A document may run programs.",
        Shows = "shows": "Something is only shown.",
        ShowsSource = "shows-source": "The program shows the content of its input.",
        Shutdown = "shutdown": "The machine is switched off.",
        Sniff = "sniff": "Network traffic is recorded.",
        Sourced = "sourced": "The shell that reads the file runs it.",
        Start = "start": "Something is started.",
        Stash = "stash": "Changes are put aside, or the list of them changes.",
        State = "state": "The recorded state of an infrastructure changes.",
        Stdin = "stdin": "The input is typed into a program that runs already.",
        Stop = "stop": "Something is stopped.",
        Submodule = "submodule": "The effect is about a repository inside of the repository.",
        Sudoers = "sudoers": "The list of who may become root changes.",
        Suspect = "suspect": "Nothing says that it is done, but words of the call name it. Only rules \
                                that deny match it.",
        Swap = "swap": "The effect is about swap space.",
        Syntax = "syntax": "The text is not valid in its language.",
        System = "system": "The effect reaches all that the program manages on the machine.",
        SystemFile = "system-file": "The data comes from files of the system.",
        Tag = "tag": "The effect is about a tag of version control.",
        Tags = "tags": "All tags of version control are concerned.",
        TakesOver = "takes-over": "A process that runs already is entered.",
        Terminal = "terminal": "A program is started in a terminal that may be the operator's.",
        TerminalEmulator = "terminal-emulator": "The program opens a terminal.",
        TestTarget = "test-target": "What it acts on is on this machine, or made for tests and development.",
        Token = "token": "A token is made, shown or removed.",
        TooDeep = "too-deep": "The input is nested too deeply to be read.",
        Tool = "tool": "A tool is called; no program is run by that alone.",
        Toolchain = "toolchain": "The effect is about a toolchain.",
        TooLong = "too-long": "The input is too long to be read.",
        Transfer = "transfer": "Files are copied to or from another machine.",
        Trash = "trash": "The effect is about the trash folder.",
        Tunnel = "tunnel": "A port or machine becomes reachable from outside.",
        Typed = "typed": "The command is typed into a terminal that is open already.",
        Unfiltered = "unfiltered": "No filter is set on the list that the process was taken from.",
        Unguarded = "unguarded": "An agent starts that asks nobody.",
        UnicodeView = "unicode-view": "It holds for the call as it looks, not as its characters are.",
        Unset = "unset": "A variable or setting is removed.",
        Up = "up": "The sub-command `up` runs: services are started.",
        UpdateRefDelete = "update-ref-delete": "A reference of version control is deleted.",
        Upgrade = "upgrade": "Packages are replaced by newer ones.",
        Upload = "upload": "Something is uploaded.",
        User = "user": "The effect is about an account.",
        UserUnit = "user-unit": "The effect is about a user's own service manager.",
        Variable = "variable": "A variable of a service changes.",
        Vcs = "vcs": "The file goes away from version control too.",
        Volume = "volume": "The effect is about a volume of storage.",
        VolumeDelete = "volume-delete": "The volumes of containers are deleted.",
        Volumes = "volumes": "The volumes are meant too.",
        Vpn = "vpn": "The effect is about a private network over the internet.",
        Weakens = "weakens": "A setting of git switches a protection off.",
        WebSearch = "web-search": "A search engine is asked.",
        WholeEnvironment = "whole-environment": "The data is the whole environment.",
        Wipe = "wipe": "A disk or a whole store is overwritten.",
        WithSettings = "with-settings": "Options with values are given.",
        Workflow = "workflow": "The effect is about a workflow of a build server.",
        Worktree = "worktree": "The files of the working tree are meant.",
        WorktreeRemove = "worktree-remove": "A further working tree is deleted.",
        WorldWritable = "world-writable": "Everybody may write the file.",
        Written = "written": "It does not happen now: it stands in a file that this call writes.",
        Yank = "yank": "A published version is withdrawn.",
    }
}

/// What a mode gives away or takes: `u+s`, `777`, `o+w`, `000`; or an owner: `nobody`.
pub(crate) fn of_mode(mode: &str) -> Vec<Tag> {
    let mut tags: Vec<Tag> = Vec::new();
    let owner = mode.split(':').next().unwrap_or("");
    if matches!(owner, "nobody" | "root" | "daemon" | "nogroup") {
        tags.push(Tag::OtherOwner);
    }
    let octal = !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit());
    if octal {
        let digits: Vec<u32> = mode.chars().filter_map(|c| c.to_digit(8)).collect();
        let special = if digits.len() > 3 {
            digits.get(digits.len() - 4).copied()
        } else {
            None
        };
        let digit = |from_end: usize| {
            digits
                .len()
                .checked_sub(from_end)
                .and_then(|at| digits.get(at))
                .copied()
                .unwrap_or(0)
        };
        if special.is_some_and(|d| d & 6 != 0) {
            tags.push(Tag::Setuid);
        }
        if digit(1) & 2 != 0 {
            tags.push(Tag::WorldWritable);
        }
        if digit(3) & 1 != 0 {
            tags.push(Tag::Executable);
        }
        if digits.len() >= 3 && digit(3) & 4 == 0 {
            tags.push(Tag::Locked);
        }
        return tags;
    }
    for clause in mode.split(',') {
        let Some(at) = clause.find(['+', '=', '-']) else {
            continue;
        };
        let (who, what) = clause.split_at_checked(at).unwrap_or((clause, ""));
        let rights = what.get(1..).unwrap_or("");
        let is_mode =
            who.chars().all(|c| "ugoa".contains(c)) && rights.chars().all(|c| "rwxXst".contains(c));
        let takes = what == "=" || what.starts_with('-') && rights.contains(['r', 'w', 'x', 'X']);
        if is_mode && takes {
            tags.push(Tag::Locked);
        }
        if what.starts_with('-') {
            continue;
        }
        if what.contains('s') && who != "o" {
            tags.push(Tag::Setuid);
        }
        if what.contains('w') && (who.contains('o') || who.contains('a')) {
            tags.push(Tag::WorldWritable);
        }
        if what.contains('x') {
            tags.push(Tag::Executable);
        }
    }
    tags
}
