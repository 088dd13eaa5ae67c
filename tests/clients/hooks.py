#!/usr/bin/env python3
"""Claude Code, Codex, Gemini CLI and opencode with the hook that `holdgate setup` installs in a throw-away home. They
reach a scripted model directly, so that the hook alone guards them; in one more run, the proxy guards too.

The model asks for a call that must be denied, then for one about which a person must decide, and nobody is
there, then for one that may run, and says that all is done.
What ran is told by `marker.txt`, what the model was told by its next request. Afterwards `holdgate uninstall`
has to leave the settings byte for byte as they were. Prints a line per run and at last `N passed, N failed`.
"""
import argparse
import contextlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import codex as codex_client
import responses_model
import run as clients

TIMEOUT = 240
NOTICE = "[holdgate] The call to `"
BAD = "rm -rf ~ ; echo denied >> marker.txt"
# A person would have to decide, and nobody is there.
ASK = "echo asked >> marker.txt ; chmod 777 marker.txt"
OK = "echo allowed >> marker.txt"
DONE = "All done."
PROMPT = "please run it"
# The words that end a call in a request, by protocol: as many as there are, so many turns have passed.
RESULTS = {"anthropic": '"tool_result"', "responses": '_output"', "gemini": '"functionResponse"'}


def commands(name):
    """What the model asks for. What becomes of a denied call in the proxy is told by other tests."""
    return [OK] if name.endswith("proxied") else [BAD, ASK, OK]


class Model(http.server.BaseHTTPRequestHandler):
    """Speaks Anthropic Messages, OpenAI Responses and Gemini; the path names the run: `/x/RUN/…`."""

    protocol_version = "HTTP/1.1"
    requests: dict[str, list] = {}
    lock = threading.Lock()
    # What the model asks for in a run.
    script = staticmethod(commands)

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(b"", "text/plain")

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        name, body = self.path.split("/")[2], json.loads(text)
        protocol = "gemini" if "enerateContent" in self.path else "responses" if "/responses" in self.path else "anthropic"
        # Requests without tools, such as for a title, do not count.
        if "/messages/count_tokens" in self.path or not (body.get("tools") or protocol == "responses"):
            turn, command = 9, None
        else:
            with self.lock:
                self.requests.setdefault(name, []).append(text)
            turn = text.count(RESULTS[protocol])
            script = self.script(name)
            command = script[turn] if turn < len(script) else None
        # opencode's tools have small letters.
        tool = "bash" if '"name":"bash"' in text else "Bash"
        events = b"".join(getattr(self, f"speak_{protocol}")(turn, command))
        events = events.replace(b'"name": "Bash"', f'"name": "{tool}"'.encode())
        self.answer(events, "text/event-stream")

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def speak_anthropic(turn, command):
        def event(kind, **members):
            return f"event: {kind}\ndata: {json.dumps({'type': kind} | members)}\n\n".encode()

        message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "m", "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        yield event("message_start", message=message)
        if command:
            block = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": command, "description": "x"})}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
        yield event("content_block_start", index=0, content_block=block)
        yield event("content_block_delta", index=0, delta=delta)
        yield event("content_block_stop", index=0)
        reason = "tool_use" if command else "end_turn"
        yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 2})
        yield event("message_stop")

    @staticmethod
    def speak_responses(turn, command):
        items = [responses_model.call(command, turn) if command else responses_model.text(DONE)]
        for number, (kind, members) in enumerate(responses_model.events(items, None)):
            data = {"type": f"response.{kind}", "sequence_number": number} | members
            yield f"event: response.{kind}\ndata: {json.dumps(data)}\n\n".encode()

    @staticmethod
    def speak_gemini(_, command):
        call = {"functionCall": {"name": "run_shell_command", "args": {"command": command}}}
        for part, end in ((call if command else {"text": DONE}, {}), ({"text": ""}, {"finishReason": "STOP"})):
            candidate = {"content": {"parts": [part], "role": "model"}, "index": 0} | end
            usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
            data = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}
            yield f"data: {json.dumps(data)}\r\n\r\n".encode()


class Client:
    """An agent: how it is started, and its settings, in forms that nobody would write by a program."""

    def __init__(self, agent, program, files, words, variables):
        self.agent, self.program, self.files, self.words, self.variables = agent, program, files, words, variables


def all_clients(programs, base):
    claude = '{"model":"claude-x",\n\t"hooks" : { "Stop": [ ] },  "env":{"A":"b"}}'
    yield Client(
        "claude-code", programs["claude"], {".claude/settings.json": claude},
        ["-p", PROMPT, "--dangerously-skip-permissions", "--output-format", "stream-json", "--verbose"],
        {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "fake", "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1"})
    yield Client(
        "codex", programs["codex"], {".codex/config.toml": "# mine\n" + codex_client.codex_config(base, "gpt-5.5").rstrip("\n")},
        ["exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
        {"FAKE_KEY": "fake", "CODEX_API_KEY": "fake", "OPENAI_BASE_URL": f"{base}/v1", "OPENAI_API_KEY": "fake"})
    settings = {"$schema": "https://opencode.ai/config.json", "model": "anthropic/claude-x", "share": "disabled", "autoupdate": False,
                "permission": {"bash": "allow", "edit": "allow"},
                "provider": {"anthropic": {"options": {"baseURL": f"{base}/v1", "apiKey": "fake"},
                                           "models": {"claude-x": {"name": "x", "tool_call": True}}}}}
    yield Client(
        "opencode", programs["opencode"], {".config/opencode/opencode.json": json.dumps(settings)},
        ["run", "--format", "json", PROMPT],
        {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"})
    gemini = ('{\n    // mine\n    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},\n'
              '    "privacy": {"usageStatisticsEnabled": false},\n    "general": {"enableAutoUpdate": false} // last\n}\n')
    yield Client(
        "gemini", programs["gemini"], {".gemini/settings.json": gemini},
        ["-p", PROMPT, "--yolo", "-o", "stream-json", "-m", "gemini-2.5-flash"],
        {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": base, "GEMINI_CLI_TRUST_WORKSPACE": "true"})


def install(options):
    """Installs what is missing; returns the programs."""
    claude, opencode, gemini = (clients.install(argparse.Namespace(cache=options.cache, client=name))[name]
                                for name in ("claude", "opencode", "gemini"))
    codex, _ = codex_client.install(options.cache)
    return {"claude": claude, "codex": codex, "opencode": opencode, "gemini": gemini}


class Run:
    """One client in one home."""

    def __init__(self, options, client, folder):
        self.options, self.client, self.problems = options, client, []
        self.home, self.work = folder / "home", folder / "work"
        for place in (self.home, self.work):
            place.mkdir(parents=True)
        for name, text in client.files.items():
            (self.home / name).parent.mkdir(parents=True)
            (self.home / name).write_text(text)
        self.before = self.settings()
        self.environment = {"PATH": f"{client.program.parent}:{os.environ['PATH']}", "HOME": str(self.home)}

    def expect(self, holds, what):
        if not holds:
            self.problems.append(what)

    def settings(self):
        """All files of the home's settings; what the clients and Holdgate keep for themselves is left out."""
        names = [*self.client.files, ".codex/hooks.json", ".config/opencode/plugin/holdgate.js"]
        return {name: (self.home / name).read_bytes() for name in names if (self.home / name).exists()}

    def holdgate(self, *words):
        command = [self.options.binary, *words]
        done = subprocess.run(command, env=self.environment, cwd=self.work, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def set_up(self):
        agent = ["--agent", self.client.agent]
        code, said = self.holdgate("setup", "--dry-run", *agent)
        self.expect(code == 0 and "+ " in said and self.settings() == self.before, f"a dry run: {said}")
        code, said = self.holdgate("setup", *agent)
        self.expect(code == 0 and self.settings() != self.before, f"setup: {said}")
        code, said = self.holdgate("setup", *agent)
        self.expect(code == 0 and "nothing to change" in said, f"a second setup: {said}")

    def take_out(self, when):
        code, said = self.holdgate("uninstall")
        self.expect(code == 0, f"uninstall {when}: {said}")
        after = self.settings()
        for name in self.before.keys() | after.keys():
            self.expect(self.before.get(name) == after.get(name), f"{when}, {name} is {after.get(name)!r}")

    def doctor(self):
        _, said = self.holdgate("doctor", "--json")
        names = {"claude-code": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI", "opencode": "opencode"}
        with contextlib.suppress(ValueError):
            found = {check["about"]: check for check in json.loads(said)["checks"]}
            check = found[names[self.client.agent]]
            self.expect(check["state"] == "ok" and "a deny denies" in check["text"], f"doctor: {check}")
            return
        self.problems.append(f"doctor: {said}")

    def play(self):
        """Runs the client to its end."""
        environment = self.environment | self.client.variables
        with open(self.home / "output.txt", "wb") as output:
            how = {"cwd": self.work, "env": environment, "stdout": output, "stderr": subprocess.STDOUT}
            with clients.child([str(self.client.program), *self.client.words], **how) as process:
                try:
                    process.wait(TIMEOUT)
                except subprocess.TimeoutExpired:
                    self.problems.append("it did not end")
        return (self.home / "output.txt").read_text(errors="replace")

    def records(self):
        path = self.home / ".local/state/holdgate/ledger.jsonl"
        records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [r for r in records if r.get("subject") == "call" and "doctor" not in r.get("session", "")]


def check(run, name, said, door):
    """What must be true whoever has guarded."""
    marker = run.work / "marker.txt"
    lines = marker.read_text().split() if marker.exists() else []
    run.expect(lines == ["allowed"], f"marker.txt has {lines}")
    requests, script = Model.requests.get(name, []), commands(name)
    run.expect(len(requests) == len(script) + 1, f"{len(requests)} requests")
    told = len(requests) > 1 and NOTICE in requests[1]
    run.expect(told == (BAD in script), "the model was not told why" if BAD in script else "the hook has denied")
    run.expect(DONE in said, f"it ended with {said[-400:]!r}")
    records = [(r["door"], r["verdict"]) for r in run.records()]
    verdicts = {BAD: "block", ASK: "ask", OK: "allow"}
    expected = [(door, verdicts[command]) for command in script]
    run.expect(records == expected, f"the ledger has {records}")


def one(options, client, name, how):
    run = Run(options, client, options.work / name)
    if how == "alone":
        run.set_up()
        run.take_out("untouched")
    run.set_up()
    with contextlib.ExitStack() as servers:
        if how != "alone":
            upstream = f"http://{options.model}"
            proxy = [options.binary, "proxy", "--listen", "127.0.0.1:0", "--upstream", upstream]
            log = options.work / f"{name}.log"
            _, address = servers.enter_context(clients.server(proxy, log, env=run.environment, cwd=run.work))
            if how == "proxied":
                for key, value in client.variables.items():
                    client.variables[key] = value.replace(options.model, address)
                for file in client.files:
                    path = run.home / file
                    path.write_text(path.read_text().replace(options.model, address))
        run.doctor()
        said = run.play()
        check(run, name, said, "proxy" if how == "proxied" else "hook")
    if how != "proxied":
        run.take_out("after the run")
    return run.problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=clients.ROOT / "target/release/holdgate")
    parser.add_argument("--only", default="", help="a part of the names of runs")
    parser.add_argument("--work", type=Path, default=clients.ROOT / "target/clients/hooks-work", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=clients.ROOT / "target/clients")
    options = parser.parse_args()
    options.work, options.binary, options.cache = (p.resolve() for p in (options.work, options.binary, options.cache))
    programs = install(options)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options.model = f"127.0.0.1:{server.server_address[1]}"
    passed = failed = 0
    for how in ("alone", "resident", "proxied"):
        for agent in ("claude-code", "codex", "gemini", "opencode"):
            name, started = f"{agent}-{how}", time.monotonic()
            # The proxy does not speak Gemini's protocol, and one run of opencode takes long enough.
            if options.only not in name or name in ("gemini-proxied", "opencode-resident", "opencode-proxied"):
                continue
            base = f"http://{options.model}/x/{name}"
            client = next(c for c in all_clients(programs, base) if c.agent == agent)
            problems = one(options, client, name, how)
            verdict = "FAIL" if problems else "ok  "
            print(f"{verdict}  {name:24}  {time.monotonic() - started:5.1f} s", *problems, sep="\n        ", flush=True)
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
