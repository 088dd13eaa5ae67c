#!/usr/bin/env python3
"""Real clients through the proxy, against the scripted model.

Every run gets a fresh home and a fresh work folder with a few files in them. The scripted model's
commands write lines to `marker.txt`: how many there are tells what ran, whatever anybody reports; so
do the files. The model's record tells how often the client asked. Nothing but Holdgate stands between
the model and the machine: Claude Code runs without its own questions. Prints a line per run and at last `N passed, N failed`.

`--no-proxy` runs the clients straight at the scripted model, to see what they do by themselves;
nothing is checked then.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from expect import ANSWERS, CONFIGS, HOME, SECRET, TABLE, WORK, Expect

ROOT = Path(__file__).resolve().parents[2]
# Agents, and where their programs are once they are installed.
AGENTS = {
    "claude": ("@anthropic-ai/claude-code", "2.1.197", ".bin/claude"),
    "opencode": ("opencode-ai", "1.18.33", ".bin/opencode"),
    "gemini": ("@google/gemini-cli", "0.61.0", ".bin/gemini"),
}
# The libraries that the small agents use: by the start of their kinds, with their programs.
LIBRARIES = {
    "python": ("anthropic", "2.8.0", "agent.py"),
    "openai": ("openai", "3.49.0", "agent_openai.py"),
    "ollama": ("ollama", "0.6.3", "agent_ollama.py"),
    "genai": ("google-genai", "3.3.0", "agent_gemini.py"),
}
TIMEOUT = 60
# These start slowly, most of all on a machine that has other work.
SLOW = ("opencode", "gemini")
SLOW_TIMEOUT = 180
SLOW_SECONDS = 4
MAX_SILENCE = 2.0
PIN = b"correct horse"


@dataclasses.dataclass
class Run:
    """One client in one scenario."""

    scenario: str
    client: str
    config: str
    expect: Expect
    # The outcome:
    runs: int = 0
    requests: int = 0
    seconds: float = 0.0
    end: str = ""
    said: str = ""
    problems: list[str] = dataclasses.field(default_factory=list)

    @property
    def name(self):
        return f"{self.scenario}@{self.client}-{self.config}"

    @property
    def session(self):
        return self.name.replace("@", ".")


def all_runs(options):
    for scenarios, clients, config, expect in TABLE:
        for scenario in scenarios.split():
            for client in clients:
                family = "python" if client == "raw" else client.partition("-")[0]
                if options.only and scenario not in options.only:
                    continue
                if options.client in (None, family):
                    yield Run(scenario, client, config, expect.at(client, config))


# Every process that was started, to be ended whatever happens.
CHILDREN: set[subprocess.Popen] = set()


@contextlib.contextmanager
def child(command, **how):
    """A process in a group of its own, which is ended with the block."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **how)
    CHILDREN.add(process)
    try:
        yield process
    finally:
        kill(process)
        process.wait()
        CHILDREN.discard(process)


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


# The clients.


def install(options):
    """Installs what is missing; returns the programs by their families."""
    cache = options.cache
    modules, python = cache / "npm/node_modules", cache / "venv/bin/python"
    for family, (name, version, _) in AGENTS.items():
        manifest = modules / name / "package.json"
        if options.client in (None, family) and not (
            manifest.exists() and json.loads(manifest.read_text())["version"] == version
        ):
            (cache / "npm").mkdir(parents=True, exist_ok=True)
            command = ["npm", "install", "--no-audit", "--no-fund", "--save-exact", f"{name}@{version}"]
            subprocess.run(command, cwd=cache / "npm", check=True, stdout=sys.stderr)
    for family, (name, version, _) in LIBRARIES.items():
        there = list(cache.glob(f"venv/lib/*/site-packages/{name.replace('-', '_')}-{version}.dist-info"))
        if options.client in (None, family) and not there:
            if not python.exists():
                subprocess.run([sys.executable, "-m", "venv", cache / "venv"], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"{name}=={version}"], check=True)
    return {family: modules / place for family, (_, _, place) in AGENTS.items()} | dict.fromkeys(LIBRARIES, python)


def play(run, base, folder, programs):
    """Runs a client to its end and fills in the outcome."""
    home, work = folder / "home", folder / "work"
    for place, files in ((home, HOME), (work, WORK)):
        for name, text in files.items():
            if text is None:
                continue
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
    started = time.monotonic()
    if run.client == "raw":
        measure_silence(run, base)
    elif run.client == "claude":
        prompt = ["-p", "please run the command", "--dangerously-skip-permissions"]
        output = ["--output-format", "stream-json", "--verbose"]
        code, lines = execute(run, [programs["claude"], *prompt, *output], base, home, work)
        result = next((line for line in reversed(lines) if line.get("type") == "result"), {})
        run.said = str(result.get("result", ""))
        run.end = run.end or ("error" if code != 0 or result.get("is_error") else "done")
    elif run.client == "opencode":
        command = [programs["opencode"], "run", "--format", "json", "please run the command"]
        code, lines = execute(run, command, base, home, work)
        run.said = "\n".join(line["part"].get("text", "") for line in lines if line.get("type") == "text")
        run.end = run.end or ("error" if code != 0 else "done")
    elif run.client == "gemini":
        give_gemini_settings(home)
        command = [programs["gemini"], "-p", "please run the command", *GEMINI_FLAGS]
        code, lines = execute(run, command, base, home, work)
        run.said = gemini_text(lines)
        run.end = run.end or ("error" if code != 0 else "done")
    else:
        family, _, how = run.client.partition("-")
        agent = ROOT / "tests/clients" / LIBRARIES[family][2]
        code, lines = execute(run, [programs[family], agent, how or "stream"], base, home, work)
        result = lines[-1] if lines else {"error": "no output"}
        run.said = f"{result.get('text', '')}\n{result.get('error') or ''}".strip()
        run.end = run.end or ("error" if code != 0 else "done")
    run.seconds = time.monotonic() - started


def execute(run, command, base, home, work):
    """Runs a program in a group of its own; returns its exit code and the JSON lines it printed."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": base,
        # A key of its own: key and first message are what tells one agent from another.
        "ANTHROPIC_API_KEY": f"fake-{run.name}",
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": f"fake-{run.name}",
        "OLLAMA_HOST": base,
        # Its library sends no key unless it has one.
        "OLLAMA_API_KEY": f"fake-{run.name}",
        "GOOGLE_GEMINI_BASE_URL": base,
        "GEMINI_API_KEY": f"fake-{run.name}",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
        "OPENCODE_CONFIG_CONTENT": json.dumps(opencode(base)),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        # For Claude Code, which else refuses to go without questions where the user is root.
        "IS_SANDBOX": "1",
    }
    with open(home / "output.jsonl", "wb") as output, open(home / "errors.txt", "wb") as errors:
        with child(command, cwd=work, env=environment, stdout=output, stderr=errors) as process:
            try:
                code = process.wait(SLOW_TIMEOUT if run.client in SLOW else TIMEOUT)
            except subprocess.TimeoutExpired:
                code, run.end = -1, "timeout"
    lines = []
    for line in (home / "output.jsonl").read_text(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            lines.append(json.loads(line))
    return code, [line for line in lines if isinstance(line, dict)]


def opencode(base):
    """Settings of opencode: a provider of Chat Completions at `base`, and no questions of its own."""
    options = {"baseURL": f"{base}/v1", "apiKey": "fake"}
    model = {"name": "fake", "tool_call": True, "limit": {"context": 100_000, "output": 8192}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": {"fake-model": model}}
    allow = {"bash": "allow", "edit": "allow", "external_directory": "allow"}
    return {"provider": {"fake": provider}, "model": "fake/fake-model", "permission": allow, "share": "disabled"}


# Without questions of its own.
GEMINI_FLAGS = ["--yolo", "--output-format", "stream-json", "--model", "gemini-2.5-flash"]


def give_gemini_settings(home):
    """Settings of Gemini CLI: a key instead of a login, and nothing but what the model is asked."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    (home / ".gemini/settings.json").write_text(json.dumps(settings))


def gemini_text(lines):
    """What Gemini CLI has said, from its output."""
    said = [line for line in lines if line.get("type") == "message" and line.get("role") == "assistant"]
    errors = [json.dumps(line["error"]) for line in lines if line.get("error")]
    return "\n".join(["".join(str(line.get("content", "")) for line in said), *errors])


def measure_silence(run, base):
    """Reads a stream byte by byte: how long is nothing heard, and are there pings?"""
    host, _, path = base.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=TIMEOUT)
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [], "tools": [{"name": "Bash"}]}
    headers = {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    connection.request("POST", f"/{path}/v1/messages", json.dumps(body), headers)
    answer, heard, longest, received = connection.getresponse(), time.monotonic(), 0.0, b""
    while chunk := answer.read1(65536):
        longest, heard = max(longest, time.monotonic() - heard), time.monotonic()
        received += chunk
    pings = received.count(b"event: ping")
    run.said, run.end = f"{pings} pings, silent for {longest:.1f} s", "done"
    # One ping is the model's own, at the start.
    if longest > MAX_SILENCE or pings < SLOW_SECONDS // 2:
        run.problems.append(run.said)


# The servers.


@contextlib.contextmanager
def server(command, log, **how):
    """Starts a server, yields it and the address that it prints first, and ends it."""
    with open(log, "wb") as errors, child(command, stdout=subprocess.DEVNULL, stderr=errors, **how) as process:
        deadline = time.monotonic() + 20
        while not (found := re.match(r"listening on (?:http://)?(\S+:\d+)\s", log.read_text())):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{' '.join(map(str, command))} did not start:\n{log.read_text()}")
            time.sleep(0.05)
        yield process, found[1]
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


def set_pin(binary, settings, state):
    """A person at a terminal sets the PIN with which questions of a proxy in the background are answered."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = [str(binary), "pin", "--state-dir", str(state)]
        os.execve(command[0], command, {"PATH": os.environ["PATH"], "TERM": "dumb", "XDG_CONFIG_HOME": str(settings)})
    said, waits = b"", [b"New PIN: ", b"again: "]
    # Reading fails when the terminal is closed.
    with contextlib.suppress(OSError):
        while chunk := os.read(terminal, 4096):
            said += chunk
            if waits and waits[0] in said:
                waits.pop(0)
                os.write(terminal, PIN + b"\n")
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(f"the PIN could not be set: {said.decode()}")
    os.close(terminal)


@contextlib.contextmanager
def operator(binary, state, answer):
    """A person at a terminal of their own, who answers every question in the same way."""
    pid, terminal = pty.fork()
    if pid == 0:
        command = [str(binary), "approve", "--state-dir", str(state)]
        os.execve(command[0], command, {"PATH": os.environ["PATH"], "TERM": "dumb"})
    done = threading.Event()

    def answers():
        seen, asked, typed = b"", False, 0.0
        with contextlib.suppress(OSError):
            while not done.is_set():
                if select.select([terminal], [], [], 0.2)[0]:
                    seen += os.read(terminal, 4096)
                if b"PIN: " in seen:
                    seen = b""
                    os.write(terminal, PIN + b"\n")
                asked, seen = asked or b" more" in seen, seen[-64:]
                # What is typed before anybody can have read the question is not taken, and the next one may come up
                # at any moment: so it is typed again and again.
                if asked and time.monotonic() - typed > 1:
                    typed = time.monotonic()
                    os.write(terminal, answer.encode())

    person = threading.Thread(target=answers, daemon=True)
    person.start()
    try:
        yield
    finally:
        done.set()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        person.join()
        os.close(terminal)


# Where models are asked for an answer.
PATHS = ("/messages", "/chat/completions", "/api/chat", ":generateContent", ":streamGenerateContent")


def main_requests(record, run):
    """The bodies of the requests that play the scenario, in order."""
    bodies = []
    for path in sorted((record / run.name).glob("*.request.json"), key=lambda p: int(p.name.split(".")[0])):
        request = json.loads(path.read_text())
        path = request["target"].partition("?")[0]
        to_model = request["method"] == "POST" and path.endswith(PATHS)
        body = request["body"]
        if to_model and isinstance(body, dict) and (body.get("tools") or run.scenario.endswith("_any")):
            bodies.append(body)
    return bodies


def judge(run, record, folder, ledger):
    """Compares the outcome with what is expected."""
    expect, bodies = run.expect, main_requests(record, run)
    marker = folder / "work/marker.txt"
    written = marker.read_text() if marker.exists() else ""
    run.runs, run.requests = written.count("\n"), len(bodies)
    least, most = expect.requests
    if run.runs != expect.runs:
        run.problems.append(f"{run.runs} commands ran, not {expect.runs}")
    if not least <= run.requests <= most:
        run.problems.append(f"{run.requests} requests, not {least} to {most}")
    if run.end == "timeout" or expect.end not in ("any", run.end):
        run.problems.append(f"ended with {run.end}, not {expect.end}")
    if expect.says not in run.said:
        run.problems.append(f"does not say `{expect.says}`")
    if expect.marker not in (None, written):
        run.problems.append(f"marker.txt is {written!r}")
    parts = [f"Rule: {expect.rule} ({expect.layer})\n", "\nWhy: ", "\nMatched: ", "\nInstead: "] if expect.rule else []
    told = [run.said, *texts(bodies[-1:])]
    run.problems += [f"does not explain with `{part.strip()}`" for part in parts if not any(part in t for t in told)]
    run.problems += [f"{name} is {text!r}" for name, text in changes(folder / "work", WORK | dict(expect.files))]
    run.problems += [f"{name} is {text!r}" for name, text in changes(folder / "home", HOME, only=HOME)]
    lines = ledger.read_text().splitlines() if expect.recorded and ledger.exists() else []
    records = [line for line in lines if f'"session":"{run.session}"' in line]
    run.problems += [f"the ledger lacks {part}" for part in expect.recorded if not any(part in r for r in records)]
    run.problems += [f"the ledger has {part}" for part in expect.unrecorded if any(part in r for r in records)]
    if run.seconds < expect.seconds:
        run.problems.append(f"took {run.seconds:.1f} s, not {expect.seconds}")
    if any(SECRET in json.dumps(body) for body in bodies):
        run.problems.append("the model was told a secret")
    last = json.dumps(bodies[-1]) if bodies else ""
    run.problems += [f"the last request lacks `{text}`" for text in expect.asked if text not in last]


def texts(value):
    """All strings in a JSON value."""
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(item)


def changes(folder, files, only=None):
    """What is otherwise than in `files`: names, and the texts that are there."""
    there = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    own = {name for name in there if name == "marker.txt" or name.startswith(".git/")}
    for name in sorted(only or (there.keys() - own) | files.keys()):
        text = there[name].read_text(errors="replace") if name in there else None
        if text != files.get(name):
            yield name, text and text[:80]


def report(run, only):
    """Prints a run's line; `only`: without a verdict."""
    verdict = "ran " if only else "FAIL" if run.problems else "ok  "
    line = f"{verdict}  {run.client:12}  {run.scenario:18}  {run.config:10}  "
    line += f"runs {run.runs:2}  requests {run.requests}  {run.seconds:5.1f} s"
    if only or run.problems:
        line += f"  {run.end}: {run.said[-300:]!r}"
    print(line, *([] if only else run.problems), sep="\n        ", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/holdgate")
    parser.add_argument("--only", type=lambda names: names.split(","), help="scenarios, with commas")
    parser.add_argument("--client", choices=[*AGENTS, *LIBRARIES])
    parser.add_argument("--work", type=Path, default=ROOT / "target/clients/work", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=ROOT / "target/clients", help="where clients are installed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-proxy", action="store_true")
    options = parser.parse_args()
    options.cache, work = options.cache.resolve(), options.work.resolve()
    runs = list(all_runs(options))
    if not runs:
        parser.error("no such run")
    programs = install(options)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    record, printing = work / "record", threading.Lock()
    configs = sorted({run.config for run in runs})

    with contextlib.ExitStack() as servers:
        listen = ["--listen", "127.0.0.1:0"]
        script = [options.binary, "script", *listen, "--record", record, "--slow-seconds", str(SLOW_SECONDS)]
        model = servers.enter_context(server(script, work / "script.log"))
        doors = dict.fromkeys(configs, model)
        settings = work / "settings"
        if not options.no_proxy:
            set_pin(options.binary.resolve(), settings, work / "state-pin")
        for config in [] if options.no_proxy else configs:
            (work / f"{config}.toml").write_text(CONFIGS[config].replace("$RUNS", str(work / "runs")))
            files = ["--state-dir", work / f"state-{config}", "--config", work / f"{config}.toml"]
            proxy = [options.binary, "proxy", *listen, "--upstream", f"http://{model[1]}", *files]
            environment = os.environ | {"XDG_CONFIG_HOME": str(settings)}
            doors[config] = servers.enter_context(server(proxy, work / f"proxy-{config}.log", env=environment))
            if config in ANSWERS:
                person = operator(options.binary, work / f"state-{config}", ANSWERS[config])
                servers.enter_context(person)

        def one(run):
            door, address = doors[run.config]
            folder = work / "runs" / run.name
            try:
                if model[0].poll() is not None or door.poll() is not None:
                    raise OSError("a server has ended")
                # A session of its own name, where the ledger is looked at.
                named = f"/s/{run.session}" if run.expect.recorded and not options.no_proxy else ""
                play(run, f"http://{address}{named}/x/{run.name}", folder, programs)
            except (OSError, http.client.HTTPException) as e:
                run.problems.append(f"{type(e).__name__}: {e}")
            judge(run, record, folder, work / f"state-{run.config}/ledger.jsonl")
            with printing:
                report(run, options.no_proxy)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            try:
                list(pool.map(one, runs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in list(CHILDREN):
                    kill(process)
                raise

    if options.no_proxy:
        return 0
    failed = sum(bool(run.problems) for run in runs)
    for config in configs:
        verify = [options.binary, "ledger", "verify", "--state-dir", work / f"state-{config}"]
        done = subprocess.run(verify, capture_output=True, text=True)
        if done.returncode != 0:
            failed += 1
            print(f"FAIL  ledger verify ({config}): {done.stdout}{done.stderr}".rstrip())
    total = len(runs) + len(configs)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
