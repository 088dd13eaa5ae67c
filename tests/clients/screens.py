#!/usr/bin/env python3
"""Questions on the screens of real programs: vim, Claude Code, Codex and opencode under `holdgate run` in tmux, at
three sizes.

Each program is started and left alone until its screen stands still. Then somebody else's request comes through the
same proxy, whose call needs an answer: so nothing but the question changes the screen. The question is compared with
a file in `screens/`, in which ids, codes and the countdown are written as `ID`, `CODE` and `M:SS`. After the answer,
the screen has to become what it was before, with its colours, its cursor and its modes, once it stands still again.
`--accept` writes the files. Prints a line per screen and at last
`N passed, N failed`.
"""
import argparse
import concurrent.futures
import difflib
import http.client
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import codex as codex_client
import run as clients

SIZES = ((80, 24), (40, 12), (200, 50))
SNAPSHOTS = Path(__file__).resolve().parent / "screens"
TIMEOUT = 60
# A screen stands still when it has not changed for so long.
STILL = 1.5
# What a terminal program can switch on, as tmux knows it, and where its cursor is.
STATE = ("#{cursor_x},#{cursor_y} cursor #{cursor_flag} other #{alternate_on} mouse #{mouse_any_flag} keys "
         "#{keypad_flag}#{keypad_cursor_flag} wrap #{wrap_flag} insert #{insert_flag} scroll #{scroll_region_upper}-#{scroll_region_lower}")
VIM_TEXT = "".join(f"line {number} of a file that is open in an editor\n" for number in range(1, 90))
# Typed before the question, so that there is something to lose.
TYPED = "half a sente"


class Program:
    """What is started, what its screen says when it is ready, and what it needs."""

    def __init__(self, name, command, ready, typed, files=(), variables=()):
        self.name, self.command, self.ready, self.typed = name, command, ready, typed
        self.files, self.variables = dict(files), dict(variables)


def all_programs(programs, model):
    quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
             "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1", "ANTHROPIC_API_KEY": "fake-screens"}
    known = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["fake-screens"]},
             "bypassPermissionsModeAccepted": True, "projects": {"WORK": {"hasTrustDialogAccepted": True}}}
    yield Program("vim", ["vim", "-u", "NONE", "-N", "notes.txt"], "line 1", "", {"home/shop/notes.txt": VIM_TEXT})
    yield Program("claude", [programs["claude"], "--dangerously-skip-permissions"], "bypass|permissions", TYPED,
                  {"home/.claude.json": json.dumps(known)}, quiet)
    settings = 'model = "gpt-6-sol"\ncheck_for_update_on_startup = false\n[projects."WORK"]\ntrust_level = "trusted"\n'
    key = json.dumps({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-fake"})
    yield Program("codex", [programs["codex"], "--dangerously-bypass-approvals-and-sandbox"], "Ask Codex", TYPED,
                  {"home/.codex/config.toml": settings, "home/.codex/auth.json": key})
    opencode = {"model": "anthropic/claude-x", "share": "disabled", "autoupdate": False,
                "provider": {"anthropic": {"options": {"baseURL": f"http://{model}/v1", "apiKey": "fake"},
                                           "models": {"claude-x": {"name": "x", "tool_call": True}}}}}
    yield Program("opencode", [programs["opencode"]], "Ask anything|Build", TYPED,
                  {"home/.config/opencode/opencode.json": json.dumps(opencode)},
                  {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "ANTHROPIC_API_KEY": "fake"})


class Window:
    """A tmux server with one window of this size."""

    def __init__(self, folder, size, command, cwd, variables):
        # The path of a socket must be short.
        self.socket = f"/tmp/holdgate-screens-{os.getpid()}-{folder.name}"
        columns, rows = size
        assign = [f"{name}={value}" for name, value in variables.items()]
        line = shlex.join(["env", "-i", *assign, *map(str, command)]) + f"; echo ended $? > {folder}/ended; sleep 600"
        environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", "HOME": str(folder)}
        settings = folder / "tmux.conf"
        # Without a status line, all rows are the program's.
        settings.write_text("set -g status off\nset -g default-terminal tmux-256color\nset -sg escape-time 0\n")
        self.prefix = ["tmux", "-f", str(settings), "-S", self.socket]
        subprocess.run([*self.prefix, "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(cwd), line],
                       env=environment, check=True)

    def tmux(self, *words):
        return subprocess.run([*self.prefix, *words], capture_output=True, text=True, check=True, timeout=TIMEOUT).stdout

    def text(self):
        return self.tmux("capture-pane", "-p")

    def whole(self):
        """The screen with its colours, and the state of its terminal."""
        lines = "\n".join(styled_lines(self.tmux("capture-pane", "-p", "-e")))
        return f"{lines}\n{self.tmux('display', '-p', STATE)}"

    def wait(self, what, found):
        deadline = time.monotonic() + TIMEOUT
        while not found(seen := self.text()):
            if time.monotonic() > deadline:
                raise ValueError(f"no {what}:\n{seen}")
            time.sleep(0.1)
        return seen

    def still(self):
        """What stands there once nothing has changed for a while."""
        deadline = time.monotonic() + TIMEOUT
        last, since = self.whole(), time.monotonic()
        while time.monotonic() - since < STILL:
            if time.monotonic() > deadline:
                raise ValueError(f"the screen never stands still:\n{last}")
            time.sleep(0.1)
            if (now := self.whole()) != last:
                last, since = now, time.monotonic()
        return last

    def press(self, keys):
        self.tmux("send-keys", "-l", keys)

    def close(self):
        subprocess.run([*self.prefix, "kill-server"], capture_output=True)

    def base(self):
        """The proxy's address, as the program below `holdgate run` has it."""
        pane = int(self.tmux("display", "-p", "#{pane_pid}"))
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            for pid in below(pane):
                try:
                    environment = Path(f"/proc/{pid}/environ").read_bytes()
                except OSError:
                    continue
                if found := re.search(rb"ANTHROPIC_BASE_URL=http://(127\.0\.0\.1:\d+)(/s/\S+?)\0", environment + b"\0"):
                    return found[1].decode(), found[2].decode()
            time.sleep(0.1)
        raise ValueError("the proxy's address was not found")


def styled_lines(text):
    """The lines of a screen, with what is not plain as `{style}text`: tmux can write the same cells in several ways."""
    flags, colors = set(), {}
    for line in text.splitlines():
        cells = []
        for sequence, character in re.findall(r"\x1b\[([0-9;:]*)m|\x1b.|(.)", line):
            if character:
                cells.append((" ".join(sorted(flags) + [f"{key}{value}" for key, value in sorted(colors.items())]), character))
                continue
            parameters = (sequence or "0").split(";")
            while parameters:
                first = parameters.pop(0)
                number = int(first.partition(":")[0] or 0)
                if number == 0:
                    flags, colors = set(), {}
                elif number in (38, 48):
                    count = 2 if parameters[0] == "5" else 4
                    value, parameters = ";".join(parameters[:count]), parameters[count:]
                    kind, _, index = value.partition(";")
                    # The first sixteen colours have two names.
                    if kind == "5" and int(index) < 16:
                        value = str(int(index) + (30 if int(index) < 8 else 82))
                    colors["fg" if number == 38 else "bg"] = value
                elif 30 <= number <= 37 or 90 <= number <= 97:
                    colors["fg"] = str(number)
                elif 40 <= number <= 47 or 100 <= number <= 107:
                    colors["bg"] = str(number - 10)
                elif number in (39, 49):
                    colors.pop("fg" if number == 39 else "bg", None)
                else:
                    flags.add(first)
        while cells and cells[-1] == ("", " "):
            cells.pop()
        styles = [("", None), *cells]
        yield "".join((f"{{{style}}}" if style != before[0] else "") + character
                      for before, (style, character) in zip(styles, cells))


def below(root):
    """The processes below one."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            stat = (place / "stat").read_text()
        except OSError:
            continue
        parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(place.name))
    found, todo = [], [root]
    while todo:
        todo += (children := parents.get(todo.pop(), []))
        found += children
    return found


def ask(address, path, answers):
    """A request whose answer has a call that somebody has to be asked about."""
    body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "push"}],
            "tools": [{"name": "Bash", "input_schema": {"type": "object"}}]}
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT)
    connection.request("POST", f"{path}/v1/messages", json.dumps(body), {"content-type": "application/json"})
    answers.append(connection.getresponse().read().decode())


def normal(text):
    """A question without what differs from run to run."""
    text = re.sub(r"\b\d:\d\d left", "M:SS left", text)
    text = re.sub(r"\b[0-9a-f]{6}-\d+-\d+\b", "ID", text)
    text = re.sub(r"\b[2-9A-HJ-NP-Z]{6} answers", "CODE answers", text)
    text = re.sub(r"\becho ran-\$RANDOM", "echo ran", text)
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def differences(expected, got, what):
    lines = difflib.unified_diff(expected.splitlines(), got.splitlines(), f"{what} before", f"{what} now", lineterm="")
    return "\n".join(lines)


def play(options, program, size, model):
    """Yields what is wrong."""
    name = f"{program.name}-{size[0]}x{size[1]}"
    folder = options.work / name
    work = folder / "home/shop"
    for place in ("home/shop", "state"):
        (folder / place).mkdir(parents=True)
    for path, text in program.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.replace("WORK", str(work)))
    (folder / "holdgate.toml").write_text('[judge]\nprovider = "none"\n')
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "TERM": "tmux-256color", "LANG": "C.UTF-8",
                 "COLORTERM": "truecolor",
                 # A debug build on a busy machine must not be too slow to ask.
                 "HOLDGATE_GUARD_JUDGE_TIMEOUT": "20s"} | program.variables
    command = [options.binary, "run", "--config", folder / "holdgate.toml", "--state-dir", folder / "state",
               "--upstream", f"http://{model}/x/force_push@{name}", "--", *program.command]
    window = Window(folder, size, command, work, variables)
    try:
        window.wait("start", lambda text: re.search(program.ready, text))
        base = window.base()
        window.still()
        if program.typed:
            window.press(program.typed)
        before = window.still()
        answers = []
        asking = threading.Thread(target=ask, args=(*base, answers), daemon=True)
        asking.start()
        shown = window.wait("question", lambda text: "? more" in text)
        # What is pressed before anybody can have read the question is not taken.
        time.sleep(0.6)
        question = normal(window.text())
        snapshot = SNAPSHOTS / f"{name}.txt"
        if options.accept:
            SNAPSHOTS.mkdir(exist_ok=True)
            snapshot.write_text(question)
        expected = snapshot.read_text() if snapshot.exists() else ""
        if question != expected:
            yield differences(expected, question, "the question")
        if "? more" not in shown:
            yield "the keys are not in sight"
        window.press("y")
        asking.join(TIMEOUT)
        if not answers or '"tool_use"' not in answers[0]:
            yield f"the call was not let pass: {answers}"
        window.wait("end of the question", lambda text: "? more" not in text)
        # Programs draw their screens anew in their own time.
        deadline = time.monotonic() + 8
        while (after := window.still()) != before and time.monotonic() < deadline:
            pass
        if after != before:
            yield differences(before, after, "the screen")
    finally:
        window.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = clients.ROOT
    parser.add_argument("--binary", type=Path, default=root / "target/release/holdgate")
    parser.add_argument("--only", default="", help="part of a screen's name, such as vim-80x24")
    parser.add_argument("--accept", action="store_true", help="write what is shown as what is expected")
    parser.add_argument("--jobs", type=int, default=6, help="screens at once")
    parser.add_argument("--work", type=Path, default=root / "target/clients/screens", help="is emptied first")
    parser.add_argument("--cache", type=Path, default=root / "target/clients", help="where clients are installed")
    options = parser.parse_args()
    options.binary, options.work, options.cache = (
        path.resolve() for path in (options.binary, options.work, options.cache)
    )
    for options.client in ("claude", "opencode"):
        programs = clients.install(options)
    programs["codex"], _ = codex_client.install(options.cache)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    failed = passed = 0
    script = [options.binary, "script", "--listen", "127.0.0.1:0", "--record", options.work / "record"]
    with clients.server(script, options.work / "script.log") as (_, model):

        def one(screen):
            program, size = screen
            began = time.monotonic()
            try:
                problems = list(play(options, program, size, model))
            except (OSError, subprocess.SubprocessError, ValueError) as e:
                problems = [f"{type(e).__name__}: {e}"]
            return f"{program.name} {size[0]}x{size[1]}  {time.monotonic() - began:.1f} s", problems

        screens = [(program, size) for program in all_programs(programs, model) for size in SIZES
                   if options.only in f"{program.name}-{size[0]}x{size[1]}"]
        # The slow ones first.
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for line, problems in pool.map(one, reversed(screens)):
                passed, failed = passed + (not problems), failed + bool(problems)
                print("FAIL" if problems else "ok  ", line, *problems, sep="\n        " if problems else "  ", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
