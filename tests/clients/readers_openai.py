#!/usr/bin/env python3
"""The SDKs of OpenAI and Ollama over hostile responses, behind the guard.

`hostile_openai.py` makes the responses, `holdgate script --guard` guards them, and the SDKs read what
leaves from a server on loopback. A reader must not assemble a call that was not cleared: the same tool,
id and arguments, each at most once. Prints a line per reader, the failures, and `N passed, N failed`.
"""
import json

import hostile_openai
import readers
import sdk_reading

PACKAGES = ["openai==3.49.0", "ollama==0.6.3"]
KINDS = {"chat": "text/event-stream", "responses": "text/event-stream", "ollama": "application/x-ndjson"}
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "required": ["command"]}}}]


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
    cases = []
    for protocol, whole, body in hostile_openai.all_of(options.seed, options.each):
        tools = TOOLS if protocol != "responses" else [{"type": "function", "name": "exec_command", "parameters": {}}]
        cases.append(sdk_reading.Case(protocol, whole, body, {"tools": tools}))
    request = {"model": "m", "input": "hi", "stream": True, "tools": [TOOLS[0]["function"] | {"type": "function"}]}
    for whole, body in hostile_openai.for_bridges(options.seed, options.each):
        cases.append(sdk_reading.Case("responses", whole, body, request, family="bridge", to="chat"))
    return [sdk_reading.Served(case, left, "application/json" if case.whole else KINDS[case.protocol])
            for case, left in sdk_reading.guarded(options.binary, cases)]


def main():
    options = sdk_reading.options_of(__doc__, 600)
    sdk_reading.enter(options.cache, "openai", PACKAGES)
    served = gather(options)
    with readers.server(served) as base:
        sdk_reading.judge(served, [
            (reader.__name__, lambda one, kind=(protocol, whole): (one.case.protocol, one.case.whole) == kind,
             lambda number, found, reader=reader: reader(f"response-{number}-", found))
            for protocol, whole, reader in sdk_readers(base)])


if __name__ == "__main__":
    main()
