#!/usr/bin/env python3
"""The SDKs of OpenAI and Ollama over hostile responses, behind the guard.

`hostile_openai.py` makes the responses, `holdgate script --guard` guards them, and the SDKs read what
leaves from a server on loopback. A reader must not assemble a call that was not cleared: the same tool,
id and arguments, each at most once. Prints a line per reader, the failures, and `N passed, N failed`.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import hostile_openai
import readers

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ["openai==3.49.0", "ollama==0.6.3"]
KINDS = {"chat": "text/event-stream", "responses": "text/event-stream", "ollama": "application/x-ndjson"}
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "required": ["command"]}}}]
SHOWN = 3


def install(cache):
    """Installs the packages unless these versions are there."""
    python, wanted = cache / "openai/bin/python", cache / "openai/installed.txt"
    if not wanted.exists() or wanted.read_text().split() != PACKAGES:
        subprocess.run([sys.executable, "-m", "venv", "--clear", cache / "openai"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, stdout=sys.stderr)
        wanted.write_text("\n".join(PACKAGES))
    return python


class Served:
    """A response as a reader gets it, and the calls that were cleared in it."""

    def __init__(self, name, protocol, whole, sent, left):
        self.name, self.protocol, self.whole, self.sent = name, protocol, whole, sent
        self.body = left["body"].encode("latin-1")
        self.cleared = [(one["name"], one["id"], readers.normal(json.loads(one["input"]))) for one in left["cleared"]]

    def http(self, number):
        """The answer, in chunks that end anywhere."""
        kind = "application/json" if self.whole else KINDS[self.protocol]
        size = max(random.Random(number).choice([1 << 20, 700, 64, 13]), len(self.body) // 500)
        pieces = [self.body[at:at + size] for at in range(0, len(self.body), size)]
        out = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        return out + b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in [*pieces, b""])

    def violation(self, calls):
        """A call that a reader has assembled and that was not cleared."""
        left = list(self.cleared)
        for name, call, given in calls:
            same = [one for one in left if one[0] == name and call in (None, "", one[1]) and given == one[2]]
            if not same:
                return name, call, given
            left.remove(same[0])
        return None


# What the SDKs make of it. Each reader takes a prompt and a list that it fills.


def arguments(text):
    """What a client runs: arguments that are empty are none."""
    if not isinstance(text, str):
        return readers.normal(text or {})
    try:
        return readers.normal(json.loads(text or "{}"))
    except ValueError:
        return {"not JSON": text}


def calls_of(message):
    """The calls of a Chat message."""
    for one in message.tool_calls or []:
        one = one if isinstance(one, dict) else one.to_dict()
        if one.get("custom"):
            yield one["custom"].get("name"), one.get("id"), {"input": one["custom"].get("input") or ""}
        else:
            function = one.get("function") or {}
            yield function.get("name"), one.get("id"), arguments(function.get("arguments"))
    if message.function_call:
        yield message.function_call.name, None, arguments(message.function_call.arguments)


def sdk_readers(base):
    import ollama
    import openai
    from openai.lib.streaming.chat import ChatCompletionStreamState

    sdk = openai.OpenAI(base_url=f"{base}/v1", api_key="fake", max_retries=0)
    local = ollama.Client(host=base)

    def request(prompt):
        return {"model": "m", "messages": [{"role": "user", "content": prompt}]}

    def chat_chunks(prompt, found):
        """Joined by number, as most programs do."""
        calls, legacy = {}, ["", ""]
        try:
            for chunk in sdk.chat.completions.create(**request(prompt), stream=True):
                for choice in chunk.choices or []:
                    delta = choice.delta
                    for one in delta.tool_calls or [] if delta else []:
                        one = one.to_dict()
                        part = one.get("function") or one.get("custom") or {}
                        call = calls.setdefault((choice.index, one.get("index")), ["", None, "", "function" in one])
                        call[0] += part.get("name") or ""
                        call[1] = one.get("id") or call[1]
                        call[2] += part.get("arguments") or part.get("input") or ""
                    if delta and delta.function_call:
                        legacy[0] += delta.function_call.name or ""
                        legacy[1] += delta.function_call.arguments or ""
        finally:
            found += [(name, call, arguments(text) if is_function else {"input": text}) for name, call, text, is_function in calls.values()]
            found += [(legacy[0], None, arguments(legacy[1]))] if legacy[0] else []

    def chat_state(prompt, found):
        """The SDK's own helper. It knows no custom tools."""
        state = ChatCompletionStreamState()
        try:
            for chunk in sdk.chat.completions.create(**request(prompt), stream=True):
                state.handle_chunk(chunk)
        finally:
            for choice in state.current_completion_snapshot.choices:
                found += calls_of(choice.message)

    def chat_whole(prompt, found):
        for choice in sdk.chat.completions.create(**request(prompt)).choices or []:
            if choice.message:
                found += calls_of(choice.message)

    def items(output, found):
        for one in output or []:
            one = one if isinstance(one, dict) else one.to_dict()
            kind, call = one.get("type"), one.get("call_id") or one.get("id")
            if kind == "function_call":
                found.append((one.get("name"), call, arguments(one.get("arguments"))))
            elif kind == "custom_tool_call":
                found.append((one.get("name"), call, {"input": one.get("input")}))
            elif kind == "local_shell_call":
                found.append((kind, call, readers.normal({"action": one.get("action")})))
            elif kind not in ("message", "reasoning"):
                found.append((kind, call, one))

    def responses_done(prompt, found):
        """What Codex runs: items that are done."""
        for event in sdk.responses.create(model="m", input=prompt, stream=True):
            if event.type == "response.output_item.done":
                items([event.item], found)

    def responses_final(prompt, found):
        for event in sdk.responses.create(model="m", input=prompt, stream=True):
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                items(event.response.output, found)

    def responses_whole(prompt, found):
        items(sdk.responses.create(model="m", input=prompt).output, found)

    def ollama_calls(part, found):
        for one in part.message.tool_calls or []:
            found.append((one.function.name, None, readers.normal(dict(one.function.arguments))))

    def ollama_stream(prompt, found):
        for part in local.chat(**request(prompt), stream=True):
            ollama_calls(part, found)

    def ollama_whole(prompt, found):
        ollama_calls(local.chat(**request(prompt)), found)

    return [("chat", False, chat_chunks), ("chat", False, chat_state), ("chat", True, chat_whole),
            ("responses", False, responses_done), ("responses", False, responses_final), ("responses", True, responses_whole),
            ("ollama", False, ollama_stream), ("ollama", True, ollama_whole)]


def gather(options):
    """The guarded responses."""
    made = list(hostile_openai.all_of(options.seed, options.each))
    lines = []
    for number, (protocol, whole, body) in enumerate(made):
        tools = TOOLS if protocol != "responses" else [{"type": "function", "name": "exec_command", "parameters": {}}]
        case = {"name": f"{protocol}-{number}", "protocol": protocol, "whole": whole, "chunk": random.Random(number).choice([0, 0, 1, 17]),
                "body": body.decode("latin-1"), "request": {"tools": tools}}
        lines.append(json.dumps(case))
    left = readers.guard(options.binary, lines)
    served = [Served(one["name"], protocol, whole, body, one)
              for (protocol, whole, body), one in zip(made, left) if one["body"] is not None]
    print(f"{len(made)} responses, of which {len(made) - len(served)} do not leave at all", flush=True)
    return served


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/holdgate")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--each", type=int, default=600, help="responses of each protocol")
    parser.add_argument("--cache", type=Path, default=ROOT / "target/readers", help="where packages are installed")
    options = parser.parse_args()
    python = install(options.cache.resolve())
    if Path(sys.prefix) != python.parents[1]:
        os.execv(python, [python, __file__, *sys.argv[1:]])
    warnings.simplefilter("ignore")
    served, failed, passed = gather(options), 0, 0
    with readers.server(served) as base, concurrent.futures.ThreadPoolExecutor(4) as pool:
        for protocol, whole, reader in sdk_readers(base):
            numbers = [n for n, one in enumerate(served) if (one.protocol, one.whole) == (protocol, whole)]

            def read(number, reader=reader):
                found, error = [], None
                try:
                    reader(f"response-{number}-", found)
                except Exception as e:
                    error = type(e).__name__
                return number, found, error

            tally = collections.Counter()
            for number, found, error in pool.map(read, numbers):
                one, wrong = served[number], served[number].violation(found)
                tally.update(calls=len(found), errors=bool(error), failed=bool(wrong))
                if wrong and tally["failed"] <= SHOWN:
                    print(f"FAIL  {reader.__name__}: {one.name}  {json.dumps(wrong, default=str)[:300]}\n{one.sent[:2000]}\n{one.body[:2000]}")
            print(f"{'FAIL' if tally['failed'] else 'ok  '}  {reader.__name__:16}  {len(numbers):5} responses  {tally['calls']:5} calls  "
                  f"{tally['errors']:5} ended with an error", flush=True)
            if not tally["calls"]:
                sys.exit(f"{reader.__name__} has found no call at all")
            failed, passed = failed + tally["failed"], passed + len(numbers) - tally["failed"]
    print(f"{passed} passed, {failed} failed")
    os._exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
