#!/usr/bin/env python3
"""Foreign readers over hostile responses, behind the guard.

`hostile.py` makes responses that readers understand differently, `holdgate script --guard` guards
them, and real libraries (`reading.py`, `readers.mjs`) read what leaves from a server on loopback. A
reader must not assemble a call that was not cleared: the same tool, id and arguments, each at most
once, or the empty call that stands in the place of a refused one. Prints a line per reader, the
failures, and at last `N passed, N failed`, counted by reader and response.

Failures are saved to `target/readers-failures/`; `--replay FILE` reads one again.
"""
import argparse
import asyncio
import collections
import contextlib
import json
import math
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import hostile
import hostile_openai
import message

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYTHON = ["anthropic==2.8.0", "httpx==0.28.1", "httpx-sse==0.4.3", "aiohttp==3.14.5", "requests==2.34.2",
          "langchain-anthropic==1.7.7", "litellm==1.106.2", "mcp==2.3.0"]
NODE = ["@anthropic-ai/sdk@1.8.0", "eventsource-parser@3.1.1"]
SHOWN = 3
CALL_KIND = re.compile(r"(^|_)(tool_use|tool_call|function_call)$", re.IGNORECASE)


def install(cache):
    """Installs the packages unless these versions are there."""
    python, wanted = cache / "venv/bin/python", cache / "venv/installed.txt"
    if not wanted.exists() or wanted.read_text().split() != PYTHON:
        subprocess.run([sys.executable, "-m", "venv", "--clear", cache / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PYTHON], check=True, stdout=sys.stderr)
        wanted.write_text("\n".join(PYTHON))
    packages, wanted = cache / "npm", cache / "npm/installed.txt"
    if not wanted.exists() or wanted.read_text().split() != NODE:
        packages.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--save-exact", *NODE]
        subprocess.run(command, cwd=packages, check=True, stdout=sys.stderr)
        wanted.write_text("\n".join(NODE))
    return python, packages


def guard(binary, lines):
    """What leaves the guard for each line."""
    command = [binary, "script", "--guard"]
    done = subprocess.run(command, input="\n".join([*lines, ""]).encode(), stdout=subprocess.PIPE, check=True)
    # Bytes: a text's `splitlines` also splits at U+0085 and the like.
    guarded = [json.loads(line) for line in done.stdout.splitlines()]
    if len(guarded) != len(lines):
        sys.exit(f"{len(lines)} responses went into the guard, {len(guarded)} came out")
    return guarded


# What is read, and the server that readers get it from.


class Served:
    """A response as a reader gets it, and what it may find in there."""

    def __init__(self, name, body, whole, cleared, inert, line=None):
        self.name, self.family, self.body, self.whole, self.line = name, name.partition("-")[0], body, whole, line
        self.cleared = [(call["name"], call["id"], normal(json.loads(call["input"])))
                        for call in cleared if call["runs"] == "client" or call["name"] in hostile.DECLARED]
        self.inert = set(inert)

    def violation(self, calls, error):
        """What is wrong with the calls that a reader has assembled."""
        left = list(self.cleared)
        for call in calls:
            if call[1] in self.inert and call[2] in ({}, None):
                continue
            if call not in left:
                return "not cleared", call
            left.remove(call)
        # Honest work goes on: a reader that came to the end has found all that it can run.
        left = [call for call in left if call[0] not in hostile.DECLARED]
        return ("not found", left[0]) if left and self.family in hostile.HONEST and not error else None

    def http(self, number):
        """The answer, in chunks that end anywhere."""
        rng = random.Random(number)
        kind = "application/json" if self.whole else "text/event-stream"
        charset = rng.choice(["", "; charset=utf-8"])
        # Not too many: a large body in tiny chunks takes some readers a minute.
        size = max(rng.choice([1 << 20, 700, 64, 13]), len(self.body) // 2000)
        out = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}{charset}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        for at in range(0, len(self.body), size):
            piece = self.body[at:at + size]
            out += f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
        return out + b"0\r\n\r\n"


@contextlib.contextmanager
def server(served):
    """Answers a request that has `response-N-` in its body with response N."""
    started, loop = threading.Event(), asyncio.new_event_loop()
    address = []

    async def answer(reader, writer):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(length[1])) if length else b""
                number = re.search(rb"response-(\d+)-", body)
                if number:
                    writer.write(served[int(number[1])].http(int(number[1])))
                else:
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                await writer.drain()
        writer.close()

    def run():
        asyncio.set_event_loop(loop)
        listening = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0))
        address.append(listening.sockets[0].getsockname()[1])
        started.set()
        loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    started.wait()
    yield f"http://127.0.0.1:{address[0]}"
    loop.call_soon_threadsafe(loop.stop)


# What readers make of it.


def normal(value):
    """A value as all languages have it: JavaScript knows one kind of number, and half a surrogate
    pair does not survive everywhere."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, (int, float)):
        number = float(value) if abs(value) < 1e308 else math.inf
        return number if math.isfinite(number) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [normal(item) for item in value]
    return {normal(key): normal(item) for key, item in value.items()}


def is_call(value):
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and CALL_KIND.search(kind) is not None


def nested_calls(value):
    """The calls in a value, wherever they stand; not those in the arguments of a call."""
    if isinstance(value, list):
        for item in value:
            yield from nested_calls(item)
    elif isinstance(value, dict):
        if is_call(value):
            yield value.get("name"), value.get("id"), normal(value.get("input"))
        for key, item in value.items():
            if not (is_call(value) and key == "input"):
                yield from nested_calls(item)


def assemble(events):
    """The calls that a lenient reader makes of events: a call is complete with its block's stop, and
    also without it."""
    calls, blocks = [], {}

    def finish(index):
        block, text = blocks[index]
        arguments = block.get("input")
        if text:
            try:
                arguments = json.loads(text)
            except ValueError:
                arguments = {"not JSON": text}
        calls.append((block.get("name"), block.get("id"), normal(arguments)))

    for event in events:
        if not isinstance(event, dict):
            calls += nested_calls(event)
            continue
        index, block, delta = str(event.get("index")), event.get("content_block"), event.get("delta")
        in_place = event.get("type") == "content_block_start" and is_call(block)
        if in_place:
            blocks[index] = [block, ""]
            calls += nested_calls({key: item for key, item in block.items() if key not in ("type", "input")})
        if isinstance(delta, dict) and isinstance(delta.get("partial_json"), str) and index in blocks:
            blocks[index][1] += delta["partial_json"]
        if event.get("type") == "content_block_stop" and index in blocks:
            finish(index)
            del blocks[index]
        calls += nested_calls({key: item for key, item in event.items() if not (in_place and key == "content_block")})
    for index in blocks:
        finish(index)
    return calls


def fold(value):
    """Keys as Go's JSON reads them: case does not matter. Arguments stay as they are."""
    if isinstance(value, list):
        return [fold(item) for item in value]
    if isinstance(value, dict):
        return {key.casefold(): item if key.casefold() == "input" else fold(item) for key, item in value.items()}
    return value


def like_go(body):
    """`bufio.Scanner`, as in Go's SDK: lines end at LF, one CR before it is dropped."""
    data = []
    for line in body.split(b"\n") + [b""]:
        line = line.removesuffix(b"\r")
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            with contextlib.suppress(ValueError, RecursionError):
                yield fold(json.loads(b"\n".join(data)))
            data = []


def like_jq(body):
    """`sed -n 's/^data: //p' | jq`: one value after the other, wherever lines end."""
    lines = body.decode("utf-8", "replace").split("\n")
    text = "\n".join(line[6:] for line in lines if line.startswith("data: ")) or body.decode("utf-8", "replace")
    at = 0
    with contextlib.suppress(ValueError, RecursionError):
        while at := re.compile(r"[\s\x1e\ufeff]*").match(text, at).end() + 1:
            value, at = json.JSONDecoder().raw_decode(text, at - 1)
            yield value


EMULATED = {"like_go": like_go, "like_jq": like_jq}
READERS = {
    *EMULATED,
    *"anthropic_stream anthropic_events anthropic_whole httpx_lines httpx_events httpx_whole".split(),
    *"requests_lines requests_text_lines requests_whole aiohttp_lines aiohttp_whole".split(),
    *"langchain_stream langchain_whole litellm_stream litellm_whole".split(),
    *"node_sdk_stream node_sdk_events node_sdk_whole node_eventsource_parser".split(),
    *"node_fetch_lf node_fetch_any_end node_readline node_fetch_whole".split(),
}


def run_readers(served, base, python, packages, only, work, timeout, late):
    """Runs all readers; yields reader, number of the response, its calls, and its error. Those that do
    not finish in time are named in `late`, and what they have read counts."""
    for name, reader in EMULATED.items():
        for number, one in enumerate(served):
            if (not only or name in only) and (name == "like_jq" or not one.whole):
                yield name, number, assemble(reader(one.body)), None
    jobs = "".join(json.dumps({"number": number, "whole": one.whole}) + "\n" for number, one in enumerate(served))
    (work / "jobs.jsonl").write_text(jobs)
    commands = {f"python-{part}": [python, HERE / "reading.py", base, str(part), "2", *only] for part in (0, 1)}
    commands["node"] = ["node", HERE / "readers.mjs", base, packages, *only]
    with contextlib.ExitStack() as open_files:
        running = []
        for name, command in commands.items():
            files = [open_files.enter_context(open(work / f"{name}.{end}", "wb")) for end in ("jsonl", "err")]
            jobs = open_files.enter_context(open(work / "jobs.jsonl", "rb"))
            running.append((name, subprocess.Popen(command, stdin=jobs, stdout=files[0], stderr=files[1])))
        try:
            deadline = time.monotonic() + timeout
            for name, process in running:
                try:
                    code = process.wait(max(1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    late.append(name)
                    continue
                if code != 0:
                    sys.exit(f"the {name} readers ended early:\n{(work / f'{name}.err').read_text()[-2000:]}")
        finally:
            for _, process in running:
                process.kill()
    for name in commands:
        with open(work / f"{name}.jsonl") as lines:
            # The last line of those that were late may be half a line.
            for found in map(json.loads, (line for line in lines if line.endswith("\n"))):
                calls = assemble(found["events"]) if "events" in found else [
                    (call["name"], call["id"], normal(call["input"])) for call in found["calls"]]
                yield found["reader"], found["number"], calls, found["error"]


# Responses that are not guarded, with a call that every reader must find: else it finds nothing.
CONTROL = [("Bash", "toolu_honest", {"command": "ls -l"})]


def controls():
    block = {"type": "tool_use", "id": "toolu_honest", "name": "Bash", "input": {"command": "ls -l"}}
    streamed = message.stream(random.Random(0), honest=True)
    yield Served("control-stream", streamed, False, [], [])
    yield Served("control-whole", message.whole_message([block]).encode(), True, [], [])


def over_bridge(seed, each):
    """What an upstream says that speaks Chat Completions, for a client that speaks Anthropic Messages."""
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    request = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "bash", "input_schema": schema}]}
    for number, (whole, body) in enumerate(hostile_openai.for_bridges(seed, each * 4)):
        yield json.dumps({"name": f"bridge-{number}", "protocol": "anthropic", "to": "chat", "whole": whole, "chunk": number % 3 * 8,
                          "body": body.decode("latin-1"), "request": request, "keep_going": number % 5 == 0})


def gather(options):
    """The guarded responses, after the controls."""
    if options.replay:
        lines = [path.read_text().strip() for path in options.replay]
    else:
        scripted = options.work / "scripted"
        scripted.mkdir()
        subprocess.run([options.binary, "script", "--dump", scripted], check=True)
        made = hostile.responses(options.seed, options.each, scripted, ROOT / "fuzz/corpus/guard", options.kept)
        lines = [one.line() for one in made if not options.family or one.family in options.family]
        if not options.family or "bridge" in options.family:
            lines += list(over_bridge(options.seed, options.each))
    served = list(controls())
    refused = 0
    for line, left in zip(lines, guard(options.binary, lines)):
        if left["body"] is None:
            refused += 1
        else:
            whole = json.loads(line)["whole"]
            body = left["body"].encode("latin-1")
            served.append(Served(left["name"], body, whole, left["cleared"], left["inert"], line))
    kept = sum(one.family == "fuzzed" for one in served)
    print(f"{len(lines)} responses, of which {refused} do not leave at all and {kept} were kept by fuzzing", flush=True)
    return served


class Tally:
    """What became of one reader."""

    def __init__(self):
        self.read = self.calls = self.errors = self.failed = 0
        self.families = collections.Counter()


def save(one, folder, reader, call):
    """Writes a failure down; returns how to see it again."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{one.name}.json"
    if one.line:
        path.write_text(one.line + "\n")
    (folder / f"{one.name}.sent").write_bytes(one.body)
    path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    call = json.dumps(call, default=str)[:200]
    return f"{one.name}  {call}\n        tests/clients/readers.py --replay {path} --reader {reader}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/holdgate")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--each", type=int, default=80, help="responses of each family")
    parser.add_argument("--kept", type=int, default=600, help="responses that fuzzing kept, at the most")
    parser.add_argument("--timeout", type=int, default=900, help="seconds that the readers have, all together")
    parser.add_argument("--family", action="append", help="only this one")
    parser.add_argument("--reader", action="append", default=[], choices=sorted(READERS), metavar="READER", help="only this one")
    parser.add_argument("--replay", type=Path, action="append", help="a saved failure instead")
    parser.add_argument("--cache", type=Path, default=ROOT / "target/readers", help="where packages are installed")
    options = parser.parse_args()
    options.cache = options.cache.resolve()
    python, packages = install(options.cache)
    options.work, failures = options.cache / "work", ROOT / "target/readers-failures"
    if options.replay is None:
        shutil.rmtree(failures, ignore_errors=True)
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir()
    served, tallies, late = gather(options), collections.defaultdict(Tally), []
    with server(served) as base:
        for reader, number, calls, error in run_readers(
                served, base, python, packages, options.reader, options.work, options.timeout, late):
            one, tally = served[number], tallies[reader]
            tally.read, tally.calls, tally.errors = tally.read + 1, tally.calls + len(calls), tally.errors + bool(error)
            if one.line is None:
                wrong = calls != CONTROL and f"does not read the control: {calls} {error}"
                family = one.family
            else:
                wrong, family = one.violation(calls, error), one.family
            if wrong:
                tally.failed += 1
                tally.families[family] += 1
                shown = save(one, failures, reader, wrong)
                if tally.families[family] <= SHOWN:
                    print(f"FAIL  {reader}: {shown}", flush=True)
    missing = (set(options.reader) or READERS) - tallies.keys()
    if missing and not late:
        sys.exit(f"nothing was heard of {', '.join(sorted(missing))}")
    for reader, tally in tallies.items():
        families = ", ".join(f"{family} {count}" for family, count in tally.families.most_common())
        print(f"{'FAIL' if tally.failed else 'ok  '}  {reader:24}  {tally.read:5} responses  {tally.calls:5} calls  "
              f"{tally.errors:5} ended with an error  {families}")
    failed, read = sum(t.failed for t in tallies.values()), sum(t.read for t in tallies.values())
    print(f"{read - failed} passed, {failed} failed")
    if late:
        print(f"{', '.join(late)} did not finish within {options.timeout} s; not heard of: {', '.join(sorted(missing)) or 'none'}")
    return 1 if failed or late or not read else 0


if __name__ == "__main__":
    sys.exit(main())
