#!/usr/bin/env python3
"""Codex and OpenAI's SDK through the proxy, and Codex under `holdgate run`, against a scripted model that
speaks Responses.

What ran is told by `marker.txt` and by files, whatever anybody reports. Prints a line per run and at last
`N passed, N failed`. `--no-proxy` runs the clients straight at the model; nothing is checked then.
"""
import argparse
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import responses_model
import run as clients

CODEX = ("@openai/codex", "0.166.0")
SDK = ("openai", "3.49.0")
TIMEOUT = 90
NOTICE = "[holdgate] "


@dataclasses.dataclass
class Expect:
    """Lines in marker.txt, what is said, and files that are there or not."""

    runs: int
    says: str = ""
    there: tuple[str, ...] = ()
    absent: tuple[str, ...] = ("added.txt", ".git/hooks/added")


RAN, REFUSED = Expect(1, "All done."), Expect(0, NOTICE)
# What the client does not say: an error is enough.
FAILED = Expect(0)
TABLE = {
    "text": Expect(0, "Hello."),
    "tool": RAN,
    "blocked": REFUSED,
    "slow": RAN,
    "parallel": Expect(2, "All done."),
    "parallel_blocked": Expect(1, "All done."),
    "done_differs": REFUSED,
    "deltas_differ": REFUSED,
    "only_in_completed": FAILED,
    "cut": FAILED,
    "unknown_item": REFUSED,
}
CODEX_ONLY = {
    "patch": Expect(0, "All done.", there=("added.txt",), absent=()),
    "patch_blocked": REFUSED,
    "codemode": RAN,
    "codemode_blocked": REFUSED,
}
CODE_MODE = "gpt-5.6-sol"


def install(cache):
    """Installs what is missing; returns Codex and a Python that has the SDK."""
    name, version = CODEX
    folder, venv = cache / "codex", cache / "openai-venv"
    manifest = folder / "node_modules" / name / "package.json"
    if not (manifest.exists() and json.loads(manifest.read_text())["version"] == version):
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--save-exact", f"{name}@{version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
    name, version = SDK
    if not list(venv.glob(f"lib/*/site-packages/{name}-{version}.dist-info")):
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "--quiet", f"{name}=={version}"], check=True)
    return folder / "node_modules/.bin/codex", venv / "bin/python"


def run(name, command, base, folder, config=""):
    """Runs a client to its end; returns its exit code, what it printed, and its requests."""
    home, work = folder / "home", folder / "work"
    for place in (home / ".codex", work):
        place.mkdir(parents=True)
    (home / ".codex/config.toml").write_text(config)
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home), "OPENAI_BASE_URL": f"{base}/v1",
        # A key of its own: key and first message are what tells one agent from another.
        "OPENAI_API_KEY": f"fake-{name}",
        "FAKE_KEY": "fake", "CODEX_API_KEY": "fake", "XDG_STATE_HOME": str(home / "state"),
    }
    with open(home / "output.txt", "wb") as output, open(home / "errors.txt", "wb") as errors:
        how = {"cwd": work, "env": environment, "stdout": output, "stderr": errors}
        with clients.child([str(word) for word in command], **how) as process:
            try:
                code = process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                code = "timeout"
    return code, (home / "output.txt").read_text(errors="replace")


def codex_config(base, model):
    return (f'model = "{model}"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{base}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n')


def check(expect, folder, said):
    """What is wrong with the outcome."""
    marker = folder / "work/marker.txt"
    lines = marker.read_text().splitlines() if marker.exists() else []
    if len(lines) != expect.runs or "other" in lines:
        yield f"marker.txt has {lines}, not {expect.runs} lines"
    if expect.says not in said:
        yield f"does not say `{expect.says}`"
    yield from (f"{name} is missing" for name in expect.there if not (folder / "work" / name).exists())
    yield from (f"{name} is there" for name in expect.absent if (folder / "work" / name).exists())


def all_runs(options, codex, python, address, model):
    """Names of runs with their scenario, command, settings and expectation."""
    arguments = ["exec", "--skip-git-repo-check", "--json", "--dangerously-bypass-approvals-and-sandbox", "please run it"]
    for scenario, expect in (TABLE | CODEX_ONLY).items():
        used = CODE_MODE if scenario.startswith("codemode") else "gpt-5.5"
        name = f"{scenario}@codex"
        base = f"http://{address}/x/{name}"
        yield name, [codex, *arguments], base, codex_config(base, used), expect
        if scenario in ("tool", "blocked", "codemode_blocked") and not options.no_proxy:
            name = f"{scenario}@codex-run"
            place = options.work / "runs" / name / "state"
            words = [options.binary, "run", "--state-dir", place, "--upstream", f"http://{model}/x/{name}", "--"]
            yield name, [*words, codex, *arguments], f"http://{model}/x/{name}", f'model = "{used}"\n', expect
    for scenario, expect in TABLE.items():
        for how in ("stream", "events", "whole"):
            if how == "whole" and scenario in ("done_differs", "deltas_differ", "only_in_completed", "cut"):
                continue
            name = f"{scenario}@python-{how}"
            base = f"http://{address}/x/{name}"
            yield name, [python, clients.ROOT / "tests/clients/responses_agent.py", how], base, "", expect


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=clients.ROOT / "target/release/holdgate")
    parser.add_argument("--only", help="a part of the names of runs")
    parser.add_argument("--work", type=Path, default=clients.ROOT / "target/clients/codex-work", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=clients.ROOT / "target/clients")
    parser.add_argument("--no-proxy", action="store_true")
    options = parser.parse_args()
    options.work, options.binary = options.work.resolve(), options.binary.resolve()
    codex, python = install(options.cache.resolve())
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    model = responses_model.serve()
    proxy = [options.binary, "proxy", "--listen", "127.0.0.1:0", "--upstream", f"http://{model}",
             "--state-dir", options.work / "state", "--config", options.work / "settings.toml"]
    (options.work / "settings.toml").write_text('[guard]\nkeep_alive = "1s"\n')
    passed = failed = 0
    with clients.server(proxy, options.work / "proxy.log") as (_, address):
        door = model if options.no_proxy else address
        for name, command, base, config, expect in all_runs(options, codex, python, door, model):
            if options.only and options.only not in name:
                continue
            folder, started = options.work / "runs" / name, time.monotonic()
            code, said = run(name, command, base, folder, config)
            problems = [] if options.no_proxy else list(check(expect, folder, said))
            if code == "timeout":
                problems.append("it did not end")
            asked = len(responses_model.Model.requests.get(name, []))
            verdict = "ran " if options.no_proxy else "FAIL" if problems else "ok  "
            line = f"{verdict}  {name:28}  requests {asked}  exit {code}  {time.monotonic() - started:5.1f} s"
            print(line, *problems, *([said[-400:]] if problems or options.no_proxy else []), sep="\n        ", flush=True)
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
