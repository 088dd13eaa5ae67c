#!/usr/bin/env python3
"""Google's SDKs for Gemini, and readers of other kinds, over hostile responses, behind the guard.

`hostile_gemini.py` makes the responses and `holdgate script --guard` guards them. The SDKs for Python and
Node read what leaves from a server on loopback; the other readers get the bytes, split them in different
ways, and look for calls where the definition of the API has them, or anywhere. A reader must not assemble a
call that was not cleared, and must find in honest responses what it finds without the guard. Prints a line
per reader, the failures, and `N passed, N failed`.
"""
import contextlib
import json
import random
import re
import subprocess
import sys
from pathlib import Path

import hostile_gemini
import readers
import sdk_reading

HERE = Path(__file__).resolve().parent
PACKAGES = ["google-genai==3.3.0", "google-ai-generativelanguage==0.12.1"]
NODE = "@google/genai@3.1.0"
WRONG_KINDS = ["text/plain", "application/octet-stream", "text/html; charset=latin-1", "application/json; charset=utf-16"]
# Where calls are, without capital letters and signs.
CALLS = {"functioncall", "functioncalls", "toolcall", "toolcalls", "executablecode"}


# Calls in values.


def plain(key):
    return re.sub(r"[^a-z]", "", key.casefold())


def folded(value):
    """Keys without capital letters and signs. Arguments stay as they are."""
    if isinstance(value, list):
        return [folded(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): item if plain(key) == "args" else folded(item) for key, item in value.items()}
    return value


def call_of(kind, call, beside=None):
    """A call, of a value whose keys are folded."""
    if not isinstance(call, dict):
        return None, None, {kind: readers.normal(call)}
    if kind == "executablecode":
        return "code_execution", None, {"code": call.get("code")}
    if kind.startswith("toolcall"):
        return str(call.get("tooltype")).lower(), None, readers.normal(call.get("args") or {})
    given = call.get("args") or {}
    if not isinstance(given, dict) or call.get("partialargs"):
        given = {"odd": given, "pieces": call.get("partialargs")}
    return call.get("name"), call.get("id") or None, readers.normal(given), beside


def of_part(part):
    """The calls of a part whose keys are folded."""
    for kind in sorted(CALLS):
        value = part.get(kind) if isinstance(part, dict) else None
        if value is not None:
            for one in value if isinstance(value, list) else [value]:
                yield call_of(kind, one, part.get("thoughtsignature"))


def members(value, key):
    """The items of a member, also if it is one item, or an object of them."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else [found] if found else []


def first(values):
    """Of the first candidate, as many programs do."""
    for value in values:
        with contextlib.suppress(LookupError, TypeError, AttributeError):
            for part in value["candidates"][0]["content"]["parts"]:
                part = part if "functionCall" in part else {}
                yield from of_part(folded({key: part[key] for key in ("functionCall", "thoughtSignature") if key in part}))


def any_candidate(values):
    """In any spelling, of every candidate. A list of chunks is as good as a chunk."""
    for value in map(folded, values):
        for one in value if isinstance(value, list) else [value]:
            for candidate in members(one, "candidates"):
                for content in members(candidate, "content"):
                    for part in members(content, "parts"):
                        yield from of_part(part)


def anywhere(values):
    """Wherever they stand, but not in the arguments of a call."""
    def search(value):
        if isinstance(value, list):
            for item in value:
                yield from search(item)
        elif isinstance(value, dict):
            yield from of_part(value)
            for key, item in value.items():
                calls = item if isinstance(item, list) else [item]
                for one in calls if key in CALLS else [folded(item) if key == "args" else item]:
                    is_call = key in CALLS and isinstance(one, dict)
                    yield from search({k: inner for k, inner in one.items() if k != "args"} if is_call else one)

    return search([folded(value) for value in values])


def joined(values):
    """Calls in pieces put together: a name begins one, arguments add to it."""
    calls = []
    for value in map(folded, values):
        for candidate in members(value, "candidates"):
            for content in members(candidate, "content"):
                for part in members(content, "parts"):
                    one = part.get("functioncall") if isinstance(part, dict) else None
                    if not isinstance(one, dict):
                        continue
                    if one.get("name") or not calls:
                        calls.append([one.get("name"), one.get("id"), {}])
                    given = one.get("args") or {}
                    calls[-1][2] |= given if isinstance(given, dict) else {"odd": given}
                    for piece in members(one, "partialargs"):
                        key = str(piece.get("jsonpath")).removeprefix("$.")
                        calls[-1][2][key] = str(calls[-1][2].get(key, "")) + str(piece.get("stringvalue"))
    return [(name, call, readers.normal(given)) for name, call, given in calls]


def as_messages(texts):
    """The API's own definition, by Protobuf."""
    from google.ai.generativelanguage import GenerateContentResponse
    from google.protobuf import json_format

    for text in texts:
        chunks = json_format_items(text)
        for chunk in chunks:
            with contextlib.suppress(json_format.ParseError, RecursionError):
                read = json_format.Parse(chunk, GenerateContentResponse.pb()(), ignore_unknown_fields=True)
                for candidate in read.candidates:
                    yield from (call for part in candidate.content.parts for call in of_part(folded(json_format.MessageToDict(part))))


def json_format_items(text):
    """The chunks of a list, or the one chunk."""
    with contextlib.suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, list):
            return [json.dumps(item) for item in value]
    return [text]


# Texts of values, by how a reader splits bytes.


def lf_lines(body):
    for line in body.decode("utf-8", "replace").split("\n"):
        if line.startswith("data:"):
            yield line[5:].strip()


def any_lines(body):
    """Python's lines end at more than CR and LF, and fields may be indented or in capital letters."""
    for line in body.decode("utf-8", "replace").splitlines():
        field, colon, data = line.strip("\ufeff\0 \t").partition(":")
        if colon and field.strip().lower() == "data":
            yield data


def standard(body):
    """As the standard says: all `data` lines of an event belong together."""
    data = []
    for line in re.split(r"\r\n|\r|\n", body.decode("utf-8", "replace").removeprefix("\ufeff")) + [""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def braces(body):
    """Whatever a line has from its first brace on, whichever field it is."""
    for line in re.split(r"\r\n|\r|\n", body.decode("utf-8", "replace")):
        if found := re.search(r"[\[{].*", line):
            yield found[0]


def whole(body):
    yield body.decode("utf-8-sig", "replace")


def first_wins(pairs):
    return dict(reversed(pairs))


def values(texts, hook=None):
    """The values that the texts begin with."""
    for text in texts:
        with contextlib.suppress(ValueError, RecursionError):
            yield json.JSONDecoder(object_pairs_hook=hook).raw_decode(text.strip())[0]


def own_readers(served):
    """Readers that get bytes."""
    finds = {"first": lambda texts: first(values(texts)), "any": lambda texts: any_candidate(values(texts)),
             "first_key": lambda texts: any_candidate(values(texts, first_wins)), "anywhere": lambda texts: anywhere(values(texts)),
             "joined": lambda texts: joined(values(texts)), "protobuf": as_messages}
    for split in (lf_lines, any_lines, standard, braces, whole):
        for name, find in finds.items():
            if split is whole and name in ("first", "joined"):
                continue

            def read(number, found, split=split, find=find):
                found += find(split(served[number].body))

            def reads(one, at_once=split is whole):
                # Honest ones in the form that it is made for.
                return one.case.whole == at_once if one.case.honest else one.case.whole or not at_once

            yield f"{split.__name__}, {name}", reads, read
    yield "like_jq, anywhere", lambda one: True, lambda number, found: found.extend(anywhere(readers.like_jq(served[number].body)))


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
