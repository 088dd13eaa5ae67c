#!/usr/bin/env python3
"""The first day of a new user: every command of README, in its order, in a fresh home.

The commands are taken from README's code blocks. A command without a step here, and a step without a command
there, are failures. The built binary stands in for `cargo install`, and a scripted model for the API, from
which Claude Code gets a call that is refused. The exception for this call, written as README says, must let
the same call pass and nothing else. Prints a line per command and at last `N passed, N failed`.
"""
import argparse
import http.server
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import hooks
import run as clients

README = clients.ROOT / "README.md"
TIMEOUT = 60
# The call that is refused, and one that is nearly the same. Both leave a trace.
CALL = "rm -rf ~/old-downloads"
NEIGHBOUR = "rm -rf ~/old-downloads-2025"
RULE = "recursive-delete-outside-project"
# What the user asks for, and what a user with a key and a terminal does not have to say.
CLAUDE = ["-p", "Free some disk space, please.", "--dangerously-skip-permissions"]
VARIABLES = {
    "ANTHROPIC_API_KEY": "fake", "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}  # fmt: skip
# Commands that other checks run, or that need what is not here.
ELSEWHERE = {
    "cargo test --workspace": "a step of the gate",
    "holdgate eval corpus/*.jsonl": "a step of the gate",
    "holdgate redteam corpus/attacks.jsonl": "crates/holdgate/tests/it/doc_commands.rs",
    "holdgate bench": "crates/holdgate/tests/it/doc_commands.rs",
    "holdgate proxy &": "tests/clients/run.py runs the clients at it",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8787 claude": "tests/clients/run.py",
    "OPENAI_BASE_URL=http://127.0.0.1:8787/v1 opencode": "tests/clients/run.py",
    "OLLAMA_HOST=http://127.0.0.1:8787 python my_agent.py": "tests/clients/run.py",
    "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8787 gemini": "tests/clients/run.py",
    "holdgate run --upstream http://127.0.0.1:8000 --upstream-speaks chat -- claude --model qwen3-coder":
        "tests/clients/bridges.py",
}  # fmt: skip


def blocks():
    """README's code blocks."""
    return re.findall(r"^```\w*\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def commands():
    """The commands in README's code blocks, without comments."""
    is_command = re.compile(r"(holdgate|cargo|[A-Z_]+=\S+ \w+)\b")
    for block in blocks():
        lines = block.splitlines()
        if is_command.match(lines[0]):
            yield from (re.sub(r"\s+# .*", "", line) for line in lines)


class Model(hooks.Model):
    """Asks for what the user's next run is about."""

    next_calls: list[str] = []

    def script(self, _):
        return self.next_calls


class Day:
    """What a user has after each step."""

    def __init__(self, options, model, claude):
        self.options, self.id, self.summary = options, None, None
        self.home, self.work = options.work / "home", options.work / "work"
        for folder in (self.work, self.home / ".claude", *map(self.trace, (CALL, NEIGHBOUR))):
            folder.mkdir(parents=True)
        (self.home / ".claude/settings.json").write_text('{ "model":"claude-x" }')
        # Claude Code alone: other agents may be installed beside it.
        (self.home / ".local/bin").mkdir(parents=True)
        (self.home / ".local/bin/claude").symlink_to(claude)
        path = [self.home / ".cargo/bin", self.home / ".local/bin", os.environ["PATH"]]
        self.environment = VARIABLES | {
            "PATH": ":".join(map(str, path)), "HOME": str(self.home), "TERM": "dumb",
            "HOLDGATE_UPSTREAM_ANTHROPIC": f"http://{model}/x/first-day",
        }  # fmt: skip
        self.before = None

    def trace(self, call):
        """The folder that a call deletes."""
        return self.home / call.rpartition("/")[2]

    def run(self, command, *more):
        """Runs a command as README has it, with arguments at its end."""
        words = [*shlex.split(command.replace("ID", self.id or "ID")), *more]
        program = shutil.which(words[0], path=self.environment["PATH"])
        with open(self.options.work / "output.txt", "w+b") as output:
            how = {"cwd": self.work, "env": self.environment, "stdout": output, "stderr": subprocess.STDOUT}
            with clients.child([program, *words[1:]], **how) as process:
                code = process.wait(TIMEOUT)
            output.seek(0)
            return code, output.read().decode(errors="replace")

    def files(self):
        """The home, without what Holdgate and the client keep for themselves."""
        own = (".local/state/holdgate", ".claude.json", ".claude/projects", ".cache")
        paths = {str(path.relative_to(self.home)): path for path in self.home.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in paths.items() if not name.startswith(own)}


# The steps. Each yields what must hold, and what is said if it does not.


def install(day, _):
    (day.home / ".cargo/bin").mkdir(parents=True)
    shutil.copy2(day.options.binary, day.home / ".cargo/bin/holdgate")
    code, said = day.run("holdgate --version")
    yield code == 0 and said.startswith("holdgate "), said
    code, said = day.run("holdgate")
    yield code == 0 and "holdgate demo" in said, said


def demo(day, _):
    """What it prints is what README shows, except for times and ids."""
    done = subprocess.run([day.options.binary, "demo"], env=day.environment, cwd=day.work, capture_output=True, text=True)
    shown = next(block for block in blocks() if block.startswith("    user  "))

    def same(text):
        text = re.sub(r"[0-9a-f]{6}-\d+-\d+", "ID", re.sub(r"[\d.]+ (ms|µs)", "TIME", text))
        return [re.sub(r"( \.)+$", "", line.rstrip()) for line in text.splitlines() if line.strip()]

    printed = same(done.stdout)
    yield done.returncode == 0, done.stderr
    missing = [line for line in same(shown) if line not in printed]
    yield not missing, f"README shows {missing}, the demo prints {printed}"


def check(day, command):
    code, said = day.run(command)
    yield code == 1 and f"{RULE} (gate)" in said, f"{code}: {said}"


def explain(day, command):
    code, said = day.run(command)
    yield code == 0 and said.startswith(RULE), f"{code}: {said}"


def guard(day, command):
    Model.next_calls, Model.requests = [CALL], {}
    code, said = day.run(command, *CLAUDE)
    yield code == 0 and hooks.DONE in said, f"{code}: {said}"
    yield "1 call judged, 1 refused" in said, said
    day.summary = int(re.search(r"(\d+) incidents?\b", said)[1])
    yield day.trace(CALL).exists(), "the call ran"
    told = Model.requests["first-day"][-1]
    found = re.search(r"\(incident ([\w-]+)\)", told)
    yield found is not None and RULE in told, f"the model was told {told[-600:]}"
    day.id = found and found[1]


def incidents(day, command):
    code, said = day.run(command)
    yield code == 0 and day.id in said and CALL in said and "refused" in said, f"{code}: {said}"
    code, said = day.run(f"{command} --json".replace(" -n 1", ""))
    records = said.count('"id":')
    yield code == 0 and day.summary == records, f"the summary counts {day.summary} incidents, the ledger has {records}"


def why(day, command):
    code, said = day.run(command)
    for part in (CALL, f"{RULE} (gate)", "What it would do", "What the model was told", "--apply"):
        yield code == 0 and part in said, f"{code}, without `{part}`: {said}"


def apply(day, command):
    """At a terminal, and the same task once more."""
    words = shlex.split(command.replace("ID", day.id))
    words[0] = str(day.home / ".cargo/bin/holdgate")
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(day.work)
        os.execve(words[0], words, day.environment)
    said = b""
    try:
        while chunk := os.read(terminal, 4096):
            answered = b"[y/N]" in said
            said += chunk
            if b"[y/N]" in said and not answered:
                os.write(terminal, b"y\n")
    except OSError:
        pass  # The terminal is closed.
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    yield code == 0 and b"written to" in said, f"{code}: {said.decode()}"
    Model.next_calls, Model.requests = [CALL, NEIGHBOUR], {}
    code, said = day.run("holdgate run -- claude", *CLAUDE)
    yield code == 0 and "2 calls judged, 1 refused" in said, f"{code}: {said}"
    yield not day.trace(CALL).exists(), "the same call did not run"
    yield day.trace(NEIGHBOUR).exists(), "its neighbour ran"


def setup(day, command):
    day.before = day.files()
    code, said = day.run(command)
    yield code == 0 and "Claude Code: done" in said and day.files() != day.before, f"{code}: {said}"


def doctor(day, command):
    code, said = day.run(command)
    yield code == 0 and re.search(r"Claude Code.*a deny denies", said), f"{code}: {said}"


def uninstall(day, command):
    code, said = day.run(command)
    after = day.files()
    changed = [name for name in after.keys() | day.before.keys() if after.get(name) != day.before.get(name)]
    yield code == 0 and not changed, f"{code}, changed {changed}: {said}"


STEPS = {
    "cargo run --release -- demo": demo,
    "holdgate check -- 'echo cm0gLXJmIH4= | base64 -d | sh'": check,
    f"holdgate rules explain {RULE}": explain,
    "cargo install --path crates/holdgate": install,
    "holdgate run -- claude": guard,
    "holdgate incidents -n 1": incidents,
    "holdgate why ID": why,
    "holdgate why ID --apply": apply,
    "holdgate setup": setup,
    "holdgate doctor": doctor,
    "holdgate uninstall": uninstall,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=clients.ROOT / "target/release/holdgate")
    parser.add_argument("--work", type=Path, default=clients.ROOT / "target/clients/first-day", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=clients.ROOT / "target/clients")
    options = parser.parse_args()
    options.work, options.binary, options.cache = (p.resolve() for p in (options.work, options.binary, options.cache))
    claude = clients.install(argparse.Namespace(cache=options.cache, client="claude"))["claude"]
    shutil.rmtree(options.work, ignore_errors=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    day = Day(options, f"127.0.0.1:{server.server_address[1]}", claude)
    written = list(commands())
    # Whoever follows README has installed Holdgate before commands that begin with its name.
    written.sort(key=lambda command: command != "cargo install --path crates/holdgate")
    passed = failed = 0
    for command in [*written, *(STEPS.keys() | ELSEWHERE.keys()).difference(written)]:
        started = time.monotonic()
        if command not in written:
            problems = ["README does not have this command"]
        elif command in ELSEWHERE:
            continue
        elif step := STEPS.get(command):
            problems = [what for holds, what in step(day, command) if not holds]
        else:
            problems = ["no step here runs this command of README"]
        verdict = "FAIL" if problems else "ok  "
        print(f"{verdict}  {time.monotonic() - started:4.1f} s  {command}", *problems, sep="\n        ", flush=True)
        passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
