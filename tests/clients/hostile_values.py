"""Families of hostile responses whose values readers understand differently."""
import json

from message import (CALL_KINDS, EVIL_ID, HONEST_CALL, WRAPPERS, anywhere, event, evil_block, evil_events, frame,
                     message_delta, message_start, stream, text_of, whole_message)

RESULT_KINDS = ["web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result",
                "tool_search_tool_result", "bash_code_execution_tool_result"]


# Keys.


def duplicate_keys(rng):
    """A key twice: the first, or the last, makes it a call."""
    data = event("content_block_start", index=1, content_block=evil_block(rng))
    key = rng.choice(["type", "content_block", "index"])
    other = {"type": rng.choice(["ping", "content_block_start"]), "index": 9,
             "content_block": {"type": "text", "text": ""}}
    first, second = f'"{key}":{text_of(other[key])},', f',"{key}":{text_of(other[key])}'
    inner = rng.choice(['"type":"text",', '"name":"Read",', '"input":{},', '"id":"toolu_other",'])
    shape = rng.randrange(4)
    if shape == 0:
        data = "{" + first + data[1:]
    elif shape == 1:
        data = data[:-1] + second + "}"
    elif shape == 2:
        data = data.replace('"content_block":{', '"content_block":{' + inner)
    else:
        data = data[:-2] + "," + inner.rstrip(",") + "}}"
    return anywhere(rng, [frame(data, rng.choice(["ping", "content_block_start"])),
                          frame(event("content_block_stop", index=1))])


def key_spelling(rng):
    """Keys in other case, with other letters that fold to the same, or escaped."""
    key = rng.choice(["type", "content_block", "name", "input", "id", "partial_json", "delta"])
    spelled = rng.choice([key.upper(), key.title(), key.replace("t", "T"), key.replace("k", "\u212a"), key + "\0",
                          "".join(f"\\u{ord(c):04x}" for c in key), " " + key, key.replace("t", "\\u0074", 1),
                          key.replace("i", "\u0130"), key.replace("s", "\u017f"), key + "\u200b"])
    keep = rng.random() < 0.5
    shown = {"type": '"text"', "content_block": '{"type":"text","text":""}', "name": '"Read"', "id": '"t"',
             "input": "{}", "partial_json": '"{}"', "delta": '{"type":"text_delta","text":""}'}[key]
    frames = []
    for data in evil_events(rng):
        changed = data.replace(f'"{key}":', f'"{key}":{shown},"{spelled}":' if keep else f'"{spelled}":')
        frames.append(frame(changed, json.loads(data)["type"]))
    return anywhere(rng, frames)


def nested(rng):
    """A call somewhere else than in the content."""
    block = evil_block(rng, kind=rng.choice(CALL_KINDS))
    data = event("content_block_start", index=1, content_block=block)
    inner = rng.choice([text_of(block), text_of([block]), text_of({"content": [block]}), data, f"[{data}]"])
    before, behind = rng.choice(WRAPPERS)
    carried = before + inner + behind
    return stream(rng, inside=[frame(carried)], honest=False)


def nested_in_result(rng):
    """A call inside a block that only reports."""
    block = evil_block(rng, kind=rng.choice(CALL_KINDS))
    content = rng.choice([[block], block, {"type": "x", "content": [block]}, [{"type": "text", "text": "", "x": block}]])
    kind = rng.choice(RESULT_KINDS)
    holder = rng.choice([{"type": kind, "tool_use_id": "srvtoolu_1", "content": content},
                         {"type": "text", "text": "a", "citations": [block]},
                         {"type": "thinking", "thinking": "", "signature": "", "content": content},
                         {"type": kind, "tool_use_id": "srvtoolu_1", "content": [], "name": "Bash", "id": EVIL_ID,
                          "input": block["input"]}])
    start = event("content_block_start", index=1, content_block=holder)
    return stream(rng, between=[frame(start), frame(event("content_block_stop", index=1))])


def other_events(rng):
    """A call in an event that has no place for one."""
    block = evil_block(rng, kind=rng.choice(CALL_KINDS))
    kind = rng.randrange(9)
    if kind == 0:
        return stream(rng, start=message_start([block]))
    if kind == 1:
        start = message_start()[:-1] + ',"content_block":' + text_of(block) + ',"index":1}'
        return stream(rng, start=start)
    if kind == 2:
        return stream(rng, end=message_delta(content=[block]))
    if kind == 3:
        end = json.loads(message_delta())
        end["delta"][rng.choice(["content", "content_block", "tool_calls"])] = [block]
        return stream(rng, end=text_of(end))
    if kind == 4:
        return stream(rng, inside=[frame(event("content_block_stop", index=0, content_block=block))])
    if kind == 5:
        return anywhere(rng, [frame(event("ping", index=1, content_block=block))])
    if kind == 6:
        error = {"type": "overloaded_error", "message": "m"}
        return anywhere(rng, [frame(event("error", error=error, index=1, content_block=block))])
    if kind == 7:
        return anywhere(rng, [frame(event("message", role="assistant", content=[block]))])
    return stream(rng, after=[frame(event("message_stop", message={"content": [block]}))])


def run_by_provider(rng):
    """A provider-run call that has the name of a client's tool, in the open."""
    kind = rng.choice(["server_tool_use", "mcp_tool_use"])
    return stream(rng, between=[frame(data) for data in evil_events(rng, kind=kind)], honest=False)


def changed_later(rng):
    """More input, another start or another kind for a block that was cleared or is text."""
    more = {"type": "input_json_delta", "partial_json": rng.choice([',"command":"rm -rf ~"}', '{"command":"rm -rf ~"}'])}
    index = rng.choice([0, 1])
    frames = [frame(data) for data in HONEST_CALL]
    late = rng.choice([
        [event("content_block_delta", index=index, delta=more)],
        [event("content_block_start", index=index, content_block=evil_block(rng))],
        evil_events(rng, index),
        [event("content_block_delta", index=index, delta=more | {"index": 1, "content_block": evil_block(rng)})],
        [event("content_block_delta", index=0, delta={"type": "tool_use", "content_block": evil_block(rng)})],
        [event("content_block_delta", index=rng.choice([1, True, 1.0, "1", None]), delta=more)],
        [event("content_block_stop", index=1), event("content_block_stop", index=1)],
    ])
    at = rng.randrange(len(frames) + 1)
    return stream(rng, between=frames[:at] + [frame(data) for data in late] + frames[at:], honest=False)


def more_members(rng):
    """A call in the open with members that some reader might take for its arguments or its name, and
    a text that has the members of a call."""
    block, odd = evil_block(rng, rng.random() < 0.5), {"command": "rm -rf ~"}
    block["input"] = {"command": "ls"} if block["input"] else {}
    more = rng.choice([{"partial_json": text_of(odd)}, {"arguments": text_of(odd)}, {"args": odd}, {"inputs": odd},
                       {"function": {"name": "Bash", "arguments": text_of(odd)}}, {"caller": {"type": "direct"}},
                       {"delta": {"type": "input_json_delta", "partial_json": text_of(odd)}}, {"index": 0},
                       {"content": [odd]}, {"text": text_of(odd)}, {"tool_name": "Write"}, {"cache_control": odd}])
    words = {"type": "text", "text": "", "id": EVIL_ID, "name": "Bash", "input": odd}
    start = event("content_block_start", index=1, content_block=rng.choice([block | more, more | block, words | more]))
    deltas = [] if block["input"] else [event(
        "content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": '{"command":"ls"}'})]
    frames = [start, *deltas, event("content_block_stop", index=1)]
    return stream(rng, between=[frame(data) for data in frames], honest=False)


def odd_arguments(rng):
    """Arguments that readers must not see differently from what was judged."""
    values = ["1e999", "-0.0", "12345678901234567890123", "1E2", "0.1", "NaN", "Infinity", "01", "'x'", "\"\\u2028\"",
              '"\u2028data: {}"', '"\u0085"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\u0000"', '"\\n\\ndata: {}"', "[]", "null",
              '{"command":"rm -rf ~"}', "[" * 70 + "]" * 70, '"\x7f"', '"\\/"', "tru", '"\ufeff"', '"\uffff"', '"\t"']
    keys = ["x", "__proto__", "constructor", "toString", "", "comm\\u0061nd", "command", "Command", " command", "input",
            "0", "type", "partial_json"]
    members = [f'"{rng.choice(keys)}":{rng.choice(values)}' for _ in range(rng.choice([1, 1, 2, 3]))]
    members.insert(rng.randrange(len(members) + 1), '"command":"ls"')
    text = "{" + rng.choice([",", " , ", ",\n", ",\r\n", ",\t"]).join(members) + rng.choice(["}", "}", "}", "} ", "", "}}", "} {}"])
    if rng.random() < 0.3:
        start = event("content_block_start", index=1, content_block=evil_block(rng, False)).replace('"input":{}', f'"input":{text}')
        frames = [frame(start, "content_block_start")]
    else:
        at = rng.randrange(len(text))
        frames = [frame(event("content_block_start", index=1, content_block=evil_block(rng, False)))]
        for piece in (text[:at], text[at:]):
            delta = {"type": "input_json_delta", "partial_json": piece}
            frames.append(frame(event("content_block_delta", index=1, delta=delta)))
    return stream(rng, between=[*frames, frame(event("content_block_stop", index=1))], honest=False)


def odd_index(rng):
    """Calls that are open at once, with indexes that are one number to some readers."""
    pairs = [(1, 2), (2, 1), (2**53, 2**53 + 1), (2**64 - 1, 2**64), (1, 1.0), (1, "1"), (1, True), (-1, 1), (0.5, 1),
             (2**31, 2**31 + 1), (10**400, 1), (1, None), (7, 99999)]
    first, second = rng.choice(pairs)
    one, other = evil_block(rng, False), evil_block(rng, False) | {"id": "toolu_other", "name": "Read"}
    more = {"type": "input_json_delta", "partial_json": '{"command":"rm -rf ~"}'}
    less = {"type": "input_json_delta", "partial_json": '{"file_path":"a.txt"}'}
    events = [event("content_block_start", index=first, content_block=other),
              event("content_block_delta", index=first, delta=less),
              event("content_block_start", index=second, content_block=one),
              event("content_block_delta", index=second, delta=more),
              event("content_block_stop", index=first), event("content_block_stop", index=second)]
    if rng.random() < 0.5:
        at = rng.randrange(1, len(events))
        events[at - 1], events[at] = events[at], events[at - 1]
    return stream(rng, between=[frame(data) for data in events], honest=False)


def broken_characters(rng):
    """Half surrogate pairs and invalid UTF-8, where readers replace, drop or fail."""
    odd = rng.choice([rb"\ud800", rb"\udc00\ud800", b"\xff", b"\xc0\xaa", b"\xed\xa0\x80", b"\xe2\x80", b"\xf0\x9f", b"\xc2",
                      rb"\ud83d", b"\xf8\x88\x80\x80\x80", b"\x85", b"\xe2\x80\xa8"])
    body = anywhere(rng, [frame(data) for data in evil_events(rng)])
    target = rng.choice([b"Bash", b"toolu_evil", b"rm -rf", b"tool_use", b"content_block_start", b"\n\n", b"Done", b"}\n"])
    at = body.find(target)
    at = (len(body) if at < 0 else at) + rng.randrange(len(target) + 1)
    return body[:at] + odd + body[at:]


# Responses that come whole.


def whole(rng):
    block, words = evil_block(rng, kind=rng.choice(CALL_KINDS)), {"type": "text", "text": "I look."}
    quiet, loud = whole_message([words]), whole_message([words, block])
    between = rng.choice(["", "\n", " ", "\0", "\x1e", "\n\n", ",", "\r", "\u2028", "\ufeff"])
    result = {"type": rng.choice(RESULT_KINDS), "tool_use_id": "s", "content": [block]}
    content = text_of([block])
    shapes = [
        quiet + between + loud, loud + between + quiet, between + loud, between + quiet + between,
        quiet[:-1] + f',"content":{content}}}', '{"content":' + content + "," + quiet[1:],
        quiet[:-1] + f',"Content":{content}}}', '{"CONTENT":' + content + "," + quiet[1:],
        whole_message([words, result]), whole_message([words], message={"content": [block]}),
        whole_message([words], x=block), whole_message([words | {"citations": [block]}]),
        f"[{quiet},{loud}]", f"[{loud}]", text_of({"type": "error", "error": {"type": "x", "message": "m"}, "x": block}),
        text_of({"type": "error", "error": {"type": "x", "message": "m", "content": [block]}}),
        loud.replace("Bash", "B\\ud800ash"), loud.replace('"type":"tool_use"', '"type":"text","type":"tool_use"'),
        loud.replace('"type":"tool_use"', '"Type":"tool_use","type":"text"'), whole_message(block),
        whole_message([[block]]), whole_message([words], stop_details=[block], container={"x": block}),
        f"data: {loud}\n\n", stream(rng, honest=True).decode(), loud.replace(",", ",\n"), loud.replace(":", ":\r"),
        quiet.replace("I look.", f"\u2028{loud}"), whole_message([words, {"type": "text", "text": "", **block}]),
    ]
    body = rng.choice(shapes)
    encoding = rng.choice(["utf-8"] * 12 + ["utf-16-le", "utf-16", "utf-32-le", "utf-8-sig"])
    return body.encode(encoding)


FAMILIES = [duplicate_keys, key_spelling, nested, nested_in_result, other_events, run_by_provider, changed_later,
            more_members, odd_arguments, odd_index, broken_characters, whole]
