#!/usr/bin/env python3
"""Google's SDKs for Gemini, and readers of other kinds, over hostile responses, behind the guard.

`hostile_gemini.py` makes the responses and `holdgate script --guard` guards them. The SDKs for Python and
Node read what leaves from a server on loopback; the other readers get the bytes, split them in different
ways, and look for calls where the definition of the API has them, or anywhere. A reader must not assemble a
call that was not cleared, and must find in honest responses what it finds without the guard. Prints a line
per reader, the failures, and `N passed, N failed`.
"""
import json
import random
import subprocess
import sys
from pathlib import Path

import calls_gemini
import hostile_gemini
import readers
import sdk_reading
from calls_gemini import call_of, folded, of_part

HERE = Path(__file__).resolve().parent
PACKAGES = ["google-genai==3.3.0", "google-ai-generativelanguage==0.12.1"]
NODE = "@google/genai@3.1.0"
WRONG_KINDS = ["text/plain", "application/octet-stream", "text/html; charset=latin-1", "application/json; charset=utf-16"]


def own_readers(served):
    """Readers that get bytes."""
    for split in calls_gemini.SPLITS:
        for name, find in calls_gemini.FINDS.items():
            if split is calls_gemini.whole and name in ("first", "joined"):
                continue

            def read(number, found, split=split, find=find):
                found += find(split(served[number].body))

            def reads(one, at_once=split is calls_gemini.whole):
                # Honest ones in the form that it is made for.
                return one.case.whole == at_once if one.case.honest else one.case.whole or not at_once

            yield f"{split.__name__}, {name}", reads, read
    yield "like_jq, anywhere", lambda one: True, lambda number, found: found.extend(calls_gemini.anywhere(readers.like_jq(served[number].body)))


# The SDKs.


def sdk_readers(served, base):
    from google import genai
    from google.genai import types

    sdk = genai.Client(api_key="fake", http_options=types.HttpOptions(base_url=base, timeout=20_000, retry_options=types.HttpRetryOptions(attempts=1)))

    def take(answer, found):
        for candidate in answer.candidates or []:
            for part in (candidate.content and candidate.content.parts) or []:
                found += of_part(folded(part.model_dump(mode="json", by_alias=True)))

    def request(number):
        return {"model": "m", "contents": f"response-{number}-"}

    def stream(number, found):
        for chunk in sdk.models.generate_content_stream(**request(number)):
            take(chunk, found)

    def chat(number, found):
        """The SDK's own list of calls."""
        for chunk in sdk.chats.create(model="m").send_message_stream(f"response-{number}-"):
            found += [call_of("functioncall", folded(one.model_dump(mode="json"))) for one in chunk.function_calls or []]

    def answer(number, found):
        take(sdk.models.generate_content(**request(number)), found)

    def acts(ask):
        """Lets the SDK run the calls. It asks again with the results, and gets the same answer."""
        def read(number, found):
            def bash(command: str) -> str:
                """Runs a command."""
                # Arguments that it does not declare do not arrive.
                cleared = [given for _, _, given in served[number].cleared if given.get("command") == readers.normal(command)]
                one = "bash", None, cleared[0] if cleared else {"command": command}
                if one not in found:
                    found.append(one)
                return "done"

            automatic = types.AutomaticFunctionCallingConfig(maximum_remote_calls=2)
            config = types.GenerateContentConfig(tools=[bash], automatic_function_calling=automatic)
            list(ask(sdk.chats.create(model="m", config=config), f"response-{number}-"))
        return read

    streamed, at_once = (lambda one: not one.case.whole), (lambda one: one.case.whole)
    return [("sdk_stream", streamed, stream), ("sdk_chat", streamed, chat), ("sdk_whole", at_once, answer),
            ("sdk_acts_on_stream", streamed, acts(lambda chat, prompt: chat.send_message_stream(prompt))),
            ("sdk_acts_on_whole", at_once, acts(lambda chat, prompt: [chat.send_message(prompt)]))]


def node_readers(served, base, cache):
    """Node reads all responses first; its readers tell what it found."""
    packages, wanted = cache / "gemini-npm", cache / "gemini-npm/installed.txt"
    if not wanted.exists() or wanted.read_text() != NODE:
        packages.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--save-exact", NODE], cwd=packages, check=True, stdout=sys.stderr)
        wanted.write_text(NODE)
    jobs = "".join(json.dumps({"number": number, "whole": one.case.whole}) + "\n" for number, one in enumerate(served))
    command = ["node", HERE / "readers_gemini.mjs", base, packages]
    done = subprocess.run(command, input=jobs.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, timeout=300)
    heard = {}
    for line in map(json.loads, done.stdout.splitlines()):
        heard[line["reader"], line["number"]] = line

    def reading(reader):
        def read(number, found):
            line = heard[reader, number]
            for part in line["parts"]:
                found += of_part(folded(part))
            if line["error"]:
                raise ValueError(line["error"])
        return read

    return [(name, lambda one, is_whole=is_whole: one.case.whole == is_whole, reading(name))
            for name, is_whole in (("node_sdk_stream", False), ("node_sdk_chat", False), ("node_sdk_whole", True))]


def gather(options):
    """The guarded responses, and honest ones also without the guard."""
    served = []

    def given(call):
        value = json.loads(call["input"])
        if call["runs"] == "client":
            return value
        return {"code": value.get("code")} if call["name"] == "code_execution" else value.get("args") or {}

    for case, left in sdk_reading.guarded(options.binary, list(hostile_gemini.all_of(options.seed, options.each))):
        rng = random.Random(len(served))
        kind = "application/json" if case.whole else "text/event-stream"
        kind = rng.choice(WRONG_KINDS) if rng.random() < 0.1 and not case.honest else kind
        one = sdk_reading.Served(case, left, kind, given)
        if case.honest:
            one.plain = len(served) + 1
        elif rng.random() < 0.05:
            one.body = one.body[:rng.randrange(len(one.body) + 1)]
        served.append(one)
        if case.honest:
            served.append(sdk_reading.Served(case, left | {"body": case.body.decode("latin-1")}, kind, given))
            served[-1].is_plain = True
    return served


def main():
    options = sdk_reading.options_of(__doc__, 200)
    sdk_reading.enter(options.cache, "gemini", PACKAGES)
    served = gather(options)
    with readers.server(served) as base:
        sdk_reading.judge(served, [*sdk_readers(served, base), *node_readers(served, base, options.cache), *own_readers(served)])


if __name__ == "__main__":
    main()
