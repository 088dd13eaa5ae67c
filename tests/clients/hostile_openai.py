"""Hostile responses of OpenAI Chat Completions, OpenAI Responses and Ollama, streamed and whole.

`all_of(seed, each)` yields `(protocol, whole, body)`. Most of them carry a call (`EVIL`) in a place
or a spelling where one reader sees it and another one does not, beside honest ones.
"""
import json
import random

import hostile_bytes
from hostile_bytes import framed

LS, EVIL = '{"command":"ls"}', '{"command":"echo EVIL"}'
SPELLINGS = ["tool_calls", "Tool_Calls", "toolCalls", "tool-calls", "TOOL_CALLS", "tool_call", "tool\u017f_calls", "function_call"]


def call(arguments, **more):
    """A call as Chat Completions has it."""
    return {"index": 0, "id": "call_e", "type": "function", "function": {"name": "bash", "arguments": arguments}} | more


def messages(rng):
    """Deltas, or messages, that carry a call anywhere."""
    evil, given = call(EVIL), json.loads(EVIL)
    part = {"id": "call_e", "name": "bash", rng.choice(["input", "args", "arguments", "parameters"]): given}
    kind = rng.choice(["tool_use", "tool-call", "toolCall", "function_call", "function", "tool", "odd"])
    return rng.choice([
        {rng.choice(SPELLINGS): [evil]},
        {"content": rng.choice([[{"type": kind, **part}], {"type": kind, **part}, [{"type": "text", "text": "x", "tool_calls": [evil]}]])},
        {rng.choice(["audio", "refusal", "annotations", "reasoning_details", "context", "odd"]): rng.choice([[evil], {"tool_calls": [evil]}, part])},
        {"tool_calls": rng.choice([{"0": evil}, [[evil]], evil, [{"function": {"Name": "bash", "Arguments": EVIL}}],
                                   [call(LS, Function=evil["function"])], [call(LS, **{rng.choice(["ID", "Index", "Type"]): 1})],
                                   [call(LS, custom={"name": "bash", "input": "EVIL"})], [call(given)], [call(LS, index="0")],
                                   [call(LS, index=-1)], [call(LS, index=None)], [call(LS, id=None)], [call(LS), call(EVIL, id="call_f")],
                                   [call(LS), call(EVIL)], [call(None), call(EVIL)], [call('{"command":"ls"'), call(EVIL)]])},
        {"function_call": rng.choice([evil["function"], [evil["function"]], {"name": "bash", "arguments": given}])},
        {"function_call": {"name": "bash", "arguments": LS}, "tool_calls": [evil]},
    ])


def chunk(rng, delta, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    if rng.random() < 0.1:
        choice["message"] = messages(rng)
    whole = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]} | more
    if rng.random() < 0.05:
        whole[rng.choice(["usage", "error", "message", "output", "x"])] = rng.choice([messages(rng), {"message": "x"}])
    return whole


KEYS = ["choices", "delta", "tool_calls", "function", "arguments", "name", "type", "item", "call_id", "message"]


def text_of(rng, value):
    return hostile_bytes.text_of(rng, value, KEYS)


def chat(rng):
    if rng.random() < 0.2:
        message = {"role": "assistant", "content": "Hi"} | messages(rng)
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        return True, text_of(rng, body)
    frames = [chunk(rng, {"role": "assistant", "content": ""}), chunk(rng, {"content": "Hi"})]
    fragments = [call('{"comm'), {"index": 0, "function": {"arguments": 'and":"ls"}'}}]
    if rng.random() < 0.5:
        fragments[0]["id"] = "call_h"
        frames += [chunk(rng, {"tool_calls": [fragment]}) for fragment in fragments]
    end = chunk(rng, {}) | {"choices": [{"index": 0, "delta": {}, "finish_reason": rng.choice(["stop", "tool_calls"])}]}
    frames.append(end)
    for _ in range(rng.randrange(3)):
        frames.insert(rng.randrange(len(frames) + 1), chunk(rng, messages(rng)))
    texts = [framed(rng, text_of(rng, frame)) for frame in frames]
    texts.insert(rng.randrange(len(texts)) if rng.random() < 0.1 else len(texts), "data: [DONE]\n\n")
    return False, rng.choice([""] * 9 + ["\ufeff"]) + "".join(texts)


def ollama(rng):
    def line(message, done=False):
        return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": ""} | message, "done": done}

    given = {"function": {"name": "bash", "arguments": json.loads(rng.choice([LS, EVIL]))}}
    if rng.random() < 0.2:
        return True, text_of(rng, line(rng.choice([messages(rng), {"tool_calls": [given]}]), True))
    lines = [line({"content": "Hi"}), line({"tool_calls": [given]}), line({}, True)]
    for _ in range(rng.randrange(3)):
        lines.insert(rng.randrange(len(lines) + 1), line(messages(rng), rng.random() < 0.2))
    return False, "".join(text_of(rng, one) + rng.choice(["\n"] * 5 + ["\r\n", "\n\n", " \n"]) for one in lines)


def item(rng):
    evil, ids = json.loads(EVIL), {"id": f"i_{rng.randrange(99)}", "status": "completed"}
    named = ids | {"call_id": f"call_{rng.randrange(4)}", "name": "exec_command"}
    arguments = rng.choice(['{"cmd":"ls"}', '{"cmd":"echo EVIL"}', '{"cmd":"rm -rf ~"}'])
    shell = {"type": "exec", "command": ["ls"], "env": {}}
    one = rng.choice([
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi", "annotations": []}], **ids},
        {"type": "reasoning", "summary": [], **ids},
        {"type": "function_call", "arguments": arguments, **named},
        {"type": "custom_tool_call", "input": "EVIL", **named},
        {"type": "local_shell_call", "action": shell, **named},
        {"type": rng.choice(["mcp_call", "program", "odd_call"]), "arguments": arguments, **named},
    ])
    if rng.random() < 0.4:
        key = rng.choice(["arguments", "Arguments", "input", "action", "content", "Type", "tool_calls", "call_id", "name"])
        one[key] = rng.choice([EVIL, evil, [evil], "function_call", [{"type": "function_call", "arguments": EVIL, **named}]])
    return one


def responses(rng):
    def response(status, output):
        return {"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "output": output,
                "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "usage": None}

    items = [item(rng) for _ in range(rng.randrange(1, 4))]
    if rng.random() < 0.2:
        return True, text_of(rng, response("completed", items))
    events = [{"type": "response.created", "response": response("in_progress", [])}]
    for index, one in enumerate(items):
        begun = one | ({"arguments": ""} if one["type"] == "function_call" else {})
        at = {"output_index": index, "item_id": one["id"]}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        if one["type"] == "function_call" and isinstance(one["arguments"], str):
            events.append({"type": "response.function_call_arguments.delta", "delta": one["arguments"], **at})
            events.append({"type": "response.function_call_arguments.done", "arguments": one["arguments"], "name": one["name"], **at})
        events.append({"type": "response.output_item.done", "output_index": index, "item": one})
    events.append({"type": "response.completed", "response": response("completed", items)})
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(events))
        change = rng.randrange(5)
        if change == 0:
            events[at]["item"] = item(rng)
        elif change == 1:
            events.insert(at, dict(events[at]))
        elif change == 2:
            del events[at]
        elif change == 3:
            events[at]["response"] = response("completed", [item(rng)])
        else:
            events[at]["output_index"] = rng.randrange(4)
    numbered = [event | {"sequence_number": number} for number, event in enumerate(events)]
    return False, "".join(framed(rng, text_of(rng, event), event["type"]) for event in numbered)


PROTOCOLS = {"chat": chat, "ollama": ollama, "responses": responses}


def all_of(seed, each):
    for protocol, make in PROTOCOLS.items():
        for number in range(each):
            whole, body = make(random.Random(f"{seed} {protocol} {number}"))
            yield protocol, whole, body.encode("utf-8", "surrogatepass")


# Calls that models write as text, whole and in pieces, and what stands around them.
XML = "<tool_call>\n<function=bash>\n<parameter=command>\n{}\n</parameter>\n</function>\n</tool_call>"
HERMES = '<tool_call>\n{{"name": "bash", "arguments": {{"command": "{}"}}}}\n</tool_call>'
COMMANDS = ["ls -l", "rm -rf ~", "echo </parameter> <function=bash>", "cat <<X"]
TAGS = ["<tool_call>", "</tool_call>", "<function=bash>", "</function>", "<parameter=command>", "</parameter>", "<think>", "</think>",
        "```\n", "`", "\n", "\n\n", " ", "ls -l", "rm -rf ~", "I do it.", '{"name": "bash", "arguments": ', '{"command": "rm -rf ~"}', "}", "<tool", "_call>"]


def dialect(rng):
    """A Chat response whose text has calls."""
    text = ""
    for _ in range(rng.randrange(1, 12)):
        whole = rng.choice([XML, HERMES]).format(rng.choice(COMMANDS))
        text += rng.choice([whole, rng.choice(TAGS), rng.choice(TAGS), "\n"])
    if rng.random() < 0.3:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return True, json.dumps({"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]})
    deltas, at = [], 0
    while at < len(text):
        size = rng.choice([1, 2, 5, 9, 60])
        deltas.append({rng.choice(["content"] * 9 + ["reasoning_content"]): text[at:at + size]})
        at += size
    chunks = [{"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": rng.choice(["stop", "tool_calls", "length"])}]})
    return False, "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def for_bridges(seed, each):
    """Chat responses for clients that speak another protocol."""
    for number in range(each):
        rng = random.Random(f"{seed} bridge {number}")
        whole, body = rng.choice([dialect, PROTOCOLS["chat"]])(rng)
        yield whole, body.encode("utf-8", "surrogatepass")
