#!/usr/bin/env python3
"""Claude Code, Codex and Anthropic's SDK over the bridges, against a scripted model that speaks Chat
Completions and writes its calls as text.

What ran is told by `marker.txt` and by files, whatever anybody reports. The requests that reach the model
are checked too: every result must follow its call. Prints a line per run and at last `N passed, N failed`.
"""
import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import chat_model
import codex
import run as clients

DONE, NOTICE = chat_model.DONE, codex.NOTICE
# The lines of marker.txt, what is said, and how many requests reach the model at the least.
TABLE = {
    "xml": (["one", "two"], DONE, 3),
    "hermes": (["one", "two"], DONE, 3),
    "native": (["one", "two"], DONE, 3),
    "xml_blocked": ([], NOTICE, 1),
    "native_blocked": ([], NOTICE, 1),
    "undeclared": ([], "format_disk", 1),
    "mention": ([], DONE, 1),
    "cut_call": ([], "<function=", 1),
    "error": ([], "the model `m` does not exist", 1),
}
PATCHES = {"patch": ([], DONE, 2), "patch_native": ([], DONE, 2)}
# Where a client goes on after a refusal, or has words of its own.
OTHER_WORDS = {"xml_blocked@claude": DONE, "error@claude": "It may not exist"}
CLIENTS = {
    "claude": ("xml", "hermes", "native", "xml_blocked", "undeclared", "mention", "error"),
    "codex": ("xml", "hermes", "native", "xml_blocked", "cut_call", "patch", "patch_native"),
    # Under `holdgate run`.
    "codex-run": ("xml", "xml_blocked"),
    "python-stream": tuple(TABLE),
    "python-whole": tuple(TABLE),
}


def answered(messages):
    """Whether every result follows its call, and every call has its result."""
    open_calls = set()
    for message in messages:
        if message["role"] != "tool" and open_calls:
            return False
        open_calls |= {call["id"] for call in message.get("tool_calls", [])}
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return False
            open_calls.discard(message["tool_call_id"])
    return not open_calls


def check(scenario, name, folder, said):
    """What is wrong with the outcome."""
    lines, says, least = (TABLE | PATCHES)[scenario]
    says = OTHER_WORDS.get(name, says)
    marker = folder / "work/marker.txt"
    written = marker.read_text().split() if marker.exists() else []
    if written != lines:
        yield f"marker.txt has {written}, not {lines}"
    if says not in said:
        yield f"does not say `{says}`"
    if scenario in PATCHES and not (folder / "work/added.txt").exists():
        yield "added.txt is missing"
    asked = chat_model.Model.requests.get(name, [])
    if len(asked) < least:
        yield f"{len(asked)} requests, not {least}"
    for request in asked:
        if not answered(request["messages"]):
            yield f"calls and results do not match: {json.dumps(request['messages'])[-600:]}"
        if not str(request["key"]).startswith("Bearer "):
            yield f"the key came as {request['key']}"


def play(scenario, client, base, folder, programs):
    """Runs a client to its end; returns how it ended and what it said."""
    name = f"{scenario}@{client}"
    if client.startswith("codex"):
        words = [programs["codex"], "exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox"]
        config = codex.codex_config(base, "gpt-5.5")
        if client == "codex-run":
            words = [*programs["run"], "--state-dir", folder / "state", "--upstream", base, "--", *words]
            config = 'model = "gpt-5.5"\n'
        return codex.run(name, [*words, "please do it"], base, folder, config)
    run = SimpleNamespace(client=client, name=name, end="", said="", seconds=0)
    clients.play(run, base, folder, programs)
    return run.end, run.said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=clients.ROOT / "target/release/holdgate")
    parser.add_argument("--only", help="a part of the names of runs")
    parser.add_argument("--work", type=Path, default=clients.ROOT / "target/clients/bridges-work", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=clients.ROOT / "target/clients")
    options = parser.parse_args()
    options.work, options.binary, options.cache = options.work.resolve(), options.binary.resolve(), options.cache.resolve()
    programs = {}
    for client in ("claude", "python"):
        programs |= clients.install(SimpleNamespace(cache=options.cache, client=client))
    programs["codex"], _ = codex.install(options.cache)
    programs["run"] = [options.binary, "run", "--upstream-speaks", "chat"]
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    model = chat_model.serve()
    proxy = [options.binary, "proxy", "--listen", "127.0.0.1:0", "--upstream", f"http://{model}", "--upstream-speaks", "chat",
             "--state-dir", options.work / "state", "--config", options.work / "settings.toml"]
    (options.work / "settings.toml").write_text("")
    passed = failed = 0
    with clients.server(proxy, options.work / "proxy.log") as (_, address):
        for client, scenarios in CLIENTS.items():
            for scenario in scenarios:
                name = f"{scenario}@{client}"
                if options.only and options.only not in name:
                    continue
                folder, started = options.work / "runs" / name, time.monotonic()
                door = model if client.endswith("-run") else address
                end, said = play(scenario, client, f"http://{door}/x/{name}", folder, programs)
                problems = list(check(scenario, name, folder, said))
                if end == "timeout":
                    problems.append("it did not end")
                line = f"{'FAIL' if problems else 'ok  '}  {name:28}  ended {end}  {time.monotonic() - started:5.1f} s"
                print(line, *problems, *([said[-600:]] if problems else []), sep="\n        ", flush=True)
                passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
