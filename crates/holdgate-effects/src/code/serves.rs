//! Inline code that waits for somebody on the network and runs what it is told.

/// What waits for connections.
const LISTENS: [&str; 16] = [
    "createServer",
    "HTTPServer(",
    "TCPServer",
    "serve_forever",
    "ServerSocket",
    "net.Listen",
    "http.ListenAndServe",
    "HTTP::Daemon",
    "WEBrick",
    "Bun.serve",
    "Deno.serve",
    "socket.bind",
    ".bind((",
    "Listen =>",
    "stream_socket_server",
    "TcpListener",
];
/// Libraries with which programs are run.
const LIBRARIES: [&str; 12] = [
    "child_process",
    "subprocess",
    "os.system",
    "os.popen",
    "Bun.$",
    "Bun.spawn",
    "Deno.Command",
    "Open3",
    "system(",
    "shell_exec",
    "getRuntime",
    "exec.Command",
];
/// Functions that run what they are given.
const RUNS: [&str; 14] = [
    "exec(",
    "execSync(",
    "execFile(",
    "spawn(",
    "spawnSync(",
    "system(",
    "popen(",
    "Popen(",
    "check_output(",
    "getoutput(",
    "run(",
    "shell_exec(",
    "passthru(",
    "Command(",
];

/// Whether code listens, and runs something that does not stand in it.
pub(super) fn runs_what_it_is_told(code: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    has(&LISTENS) && has(&LIBRARIES) && RUNS.iter().any(|run| runs_unknown(code, run))
}

/// Whether the first argument of one of these calls is not a literal.
fn runs_unknown(code: &str, run: &str) -> bool {
    code.match_indices(run).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + run.len()..).unwrap_or_default();
        let argument = after.trim_start().trim_start_matches('[').trim_start();
        // `def run(self)`, `app.run(host=…)`
        let own = before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            || before.ends_with("def ")
            || before.ends_with("function ")
            || before.ends_with("app.");
        let named =
            argument.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '`'));
        let literal = argument.starts_with("f\"") || argument.starts_with("f'");
        named && !own && (!literal || argument.contains('{'))
    })
}
