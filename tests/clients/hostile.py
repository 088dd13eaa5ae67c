"""Hostile responses: streams and whole bodies that different readers read differently.

Each family is a function that takes a random generator and returns the raw bytes of one response.
The same seed gives the same responses. Most of them carry a call (`EVIL`) in a place or a spelling
where one reader sees it and another one does not.
"""
import dataclasses
import json
import random
from pathlib import Path

from message import (CALL_KINDS, EVIL_ID, HONEST_CALL, anywhere, event, evil_block, evil_events, frame, harmless,
                     message_delta, message_start, stream, text_delta, text_of, whole_message)

# Where some reader or other ends a line. All but CR and LF are no line ends in SSE.
SEPARATORS = ["\r", "\r", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e", "\0"]
RESULT_KINDS = ["web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result",
                "tool_search_tool_result", "bash_code_execution_tool_result"]
# The request that all responses answer declares the server tool and the MCP server that scripted
# streams use. These calls run at the provider; no other call does.
DECLARED = {"web_search", "lookup"}
REQUEST = {
    "tools": [{"name": name, "input_schema": {"type": "object", "properties": {}, "required": [argument]}}
              for name, argument in (("Bash", "command"), ("Read", "file_path"), ("Write", "file_path"))]
    + [{"type": "web_search_20250305", "name": "web_search"}],
    "mcp_servers": [{"type": "url", "name": "notes", "url": "https://notes.example"}],
    "messages": [{"role": "user", "content": "go"}],
}


@dataclasses.dataclass
class Response:
    """One raw response, and how the guard gets it."""

    family: str
    number: object
    body: bytes
    whole: bool = False
    chunk: int = 0
    keep_going: bool = False
    hold_all: bool = False

    @property
    def name(self):
        return f"{self.family}-{self.number}"

    def line(self):
        """As a line for `holdgate script --guard`."""
        fields = dataclasses.asdict(self) | {"name": self.name, "body": self.body.decode("latin-1")}
        del fields["family"], fields["number"]
        return json.dumps(fields | {"request": REQUEST})


# Families of streams: how lines end.


def lone_cr(rng):
    """To a reader that splits at LF only, the first line is an event and the second a comment."""
    def carry(data):
        kind, rest = json.loads(harmless(rng)), data.removeprefix('{"type"')
        shown = text_of(kind).removeprefix('{"type"')
        return f'event: {kind["type"]}\ndata: {{"type"\r{rest}\n: \rdata: {shown}\n\n'
    return stream(rng, inside=[carry(data) for data in evil_events(rng)], honest=False)


def lone_cr_no_name(rng):
    """The same, and to a reader that splits at LF only the event has no name."""
    def carry(data):
        rest = data.removeprefix('{"type"')
        return f': \revent: ping\r: \ndata: {{"type"\r{rest}\n: \rdata: :"ping"}}\n\n'
    return stream(rng, inside=[carry(data) for data in evil_events(rng)], honest=False)


def hidden_behind_field(rng):
    """A line that means nothing, and after a separator an event."""
    def carry(data):
        field = rng.choice([":", ": x", "id: 1", "id:", "retry: 100", "event: ping", "other: x", "data", "x"])
        line = f"{field}{rng.choice(SEPARATORS)}data: {data}\n"
        if field == "event: ping":
            return f'{line}data: {event("ping")}\n\n'
        return rng.choice([line + "\n", line + frame(harmless(rng)), frame(harmless(rng))[:-1] + line + "\n"])
    return anywhere(rng, [carry(data) for data in evil_events(rng, kind=rng.choice(CALL_KINDS))])


def hidden_in_text(rng):
    """Text that has separators and whole frames in it."""
    separator = rng.choice(SEPARATORS + ["\n", "\n\n", "\\n", "\\r"])
    data = "".join(f"{separator}data: {data}{separator}" for data in evil_events(rng, kind=rng.choice(CALL_KINDS)))
    quoted = text_of(data) if rng.random() < 0.5 else f'"{data}"'
    holder = text_delta("HERE").replace('"HERE"', quoted)
    return stream(rng, inside=[f"event: content_block_delta\ndata: {holder}\n\n"])


def line_ends(rng):
    """All line ends of an ordinary stream in other ways, with calls that are seen."""
    body = stream(rng, between=[frame(data) for data in evil_events(rng)] if rng.random() < 0.5 else (), honest=True)
    ends = rng.choice([["\r"], ["\r\n"], ["\r", "\n"], ["\r", "\n", "\r\n"], ["\n\r"], ["\r\r\n"], ["\n", "\r\n"],
                       ["\n", "\u2028"], ["\n", "\v"], ["\n", "\x85"]])
    lines = body.decode().split("\n")
    return "".join(line + rng.choice(ends) for line in lines).encode()


# Several lines, several values.

WRAPPERS = [
    ('{"type":"ping","x":[', "]}"),
    ('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"x":[', "]}"),
    ('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","x":', "}}"),
    ('{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":', "}}"),
    ('{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":1},"x":', "}"),
    ('{"type":"error","error":{"type":"overloaded_error","message":"m","x":', "}}"),
    ('{"type":"error","error":{"type":"overloaded_error","message":"m"},"x":[', "]}"),
]


def whole_line_of_data(rng):
    """A value over several `data` lines, one of which is a whole event."""
    frames = []
    for data in evil_events(rng, kind=rng.choice(CALL_KINDS)):
        before, behind = rng.choice(WRAPPERS)
        kind = json.loads(before + "0" + behind)["type"]
        frames.append(f"event: {kind}\ndata: {before}\ndata: {data}\ndata: {behind}\n\n")
    return stream(rng, inside=frames, honest=False)


def two_values(rng):
    """Two values in one frame."""
    frames = []
    for data in evil_events(rng, kind=rng.choice(CALL_KINDS)):
        between = rng.choice(["\ndata: ", " ", "", "\x1e", "\r", "\0", ",", "\u2028", "\ndata:\ndata: ", "\n"])
        shown = harmless(rng)
        frames.append(frame(f"{shown}{between}{data}", json.loads(shown)["type"]))
    return anywhere(rng, frames)


def values_over_lines(rng):
    """Ordinary events over several `data` lines, or with white space between their tokens."""
    spaces = rng.choice([["\ndata: "], ["\ndata:"], ["\r"], ["\r\n"], ["\n"], ["\t", " "], ["\rdata: "],
                         ["\ndata: ", "\r\ndata: ", " "], ["\f"], ["\u00a0"], ["\u2028"]])
    events = [message_start(), *HONEST_CALL, *evil_events(rng, 2), message_delta(), event("message_stop")]
    out = ""
    for data in events:
        spread = "".join(c + rng.choice(spaces) if c in "{,:" and rng.random() < 0.2 else c for c in data)
        out += f"event: {json.loads(data)['type']}\ndata: {spread}\n\n"
    return out.encode()


# Odd frames.


def odd_field(rng):
    """Spellings of `data` that only some readers take for it."""
    forms = ["data:{}", "data:\t{}", "data:  {}", " data: {}", "data : {}", "DATA: {}", "Data: {}", "\ufeffdata: {}",
             "data\0: {}", "\0data: {}", "data:\u00a0{}", "data: {}\0", "data:\ufeff{}", "xdata: {}", "data={}", "{}",
             "\tdata: {}", "data: [{}]", "data: {} ;", "data: )]}}',{}", "data: \x1e{}", "message: {}", "datа: {}"]
    form = rng.choice(forms)
    def carry(data):
        line = form.format(data) + "\n"
        shown = frame(harmless(rng))
        return rng.choice([line + "\n", line + shown, f"event: {json.loads(data)['type']}\n{line}\n", shown[:-1] + line])
    return anywhere(rng, [carry(data) for data in evil_events(rng)])


def odd_name(rng):
    """No event name, another one, two, or an odd one."""
    names = ["", "event: ping\n", "event: message\n", "event:\n", "event: completion\n", "event: error\n", "event\n",
             "event: ping\nevent: {0}\n", "event: {0}\nevent: ping\n", "Event: {0}\n", "event: {0}\0\n", "event: {0} \n",
             "event:{0}\n", "event: \ufeff{0}\n", "event: {0}\r\n", "event: ping\revent: {0}\n", "id: 7\nevent: {0}\n"]
    name = rng.choice(names)
    frames = [name.format(json.loads(data)["type"]) + f"data: {data}\n\n" for data in evil_events(rng)]
    return anywhere(rng, frames)


def byte_order_mark(rng):
    body = stream(rng, between=[frame(data) for data in evil_events(rng)])
    mark = rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\xef\xbb\xbf\xef\xbb\xbf"])
    if rng.random() < 0.5:
        return mark + body
    at = rng.choice([i + 1 for i, c in enumerate(body) if c == 10])
    return body[:at] + mark + body[at:]


def unfinished(rng):
    """The stream ends in the middle of a frame, or before its blank line."""
    data = evil_events(rng)
    end = rng.choice(["", "\n", "\r", "\n\r", "\r\n", "\n:", "\ndata"])
    last = "".join(frame(one) for one in data[:-1]) + frame(data[-1])[:-2] + end
    body = stream(rng, between=[last], honest=False)
    return body[: body.index(last.encode()) + len(last.encode())]


def after_the_end(rng):
    """More after `message_stop`: another message, end marks of other protocols."""
    more = [rng.choice(["", "data: [DONE]\n\n", frame(event("ping")), "\n\n", "\0", frame(message_start())])]
    return stream(rng, after=more + [frame(data) for data in evil_events(rng, rng.choice([0, 1, 2]))])


# Odd values.


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
                          key.replace("i", "\u0130"), key + "\u200b"])
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


# Changes at random to streams of the scripted model.


def change(rng, body):
    """One change that keeps most of a stream as it is."""
    lines = [i for i, c in enumerate(body) if c == 10]
    at = rng.choice(lines) if lines else 0
    data = rng.choice(evil_events(rng)).encode()
    kind = rng.randrange(10)
    if kind == 0:
        return body[:at] + rng.choice([b"\r", b"\r\n", b"\n\r", b"\r\r"]) + body[at + 1:]
    if kind == 1:
        tokens = [i for i, c in enumerate(body) if c in b"{:,"]
        at = rng.choice(tokens) + 1 if tokens else 0
        return body[:at] + rng.choice([b"\r", b"\n", b"\ndata: ", b"\rdata: ", b"\r\n", b"\xe2\x80\xa8"]) + body[at:]
    if kind == 2:
        return body[:at + 1] + b"data: " + data + b"\n" + body[at + 1:]
    if kind == 3:
        return body[:at + 1] + b":" + rng.choice(SEPARATORS).encode() + b"data: " + data + b"\n" + body[at + 1:]
    if kind == 4:
        return body.replace(b"\n", rng.choice([b"\r", b"\r\n"]))
    frames = [one + b"\n\n" for one in body.split(b"\n\n") if one]
    if not frames:
        return body
    one = rng.randrange(len(frames))
    if kind == 5:
        frames.insert(rng.randrange(len(frames)), frames[one])
    elif kind == 6:
        del frames[one]
    elif kind == 7:
        frames[one] = b"id: 1\nretry: 5\n: words\n" + frames[one]
    elif kind == 8:
        frames[one] = frames[one].replace(rng.choice([b"text", b"tool_use"]), rng.choice([b"tool_use", b"server_tool_use"]))
    else:
        frames[one] = frames[one].replace(b"event: ", rng.choice([b"event:", b": ", b"id: ", b"event: x"]), 1)
    return b"".join(frames)


FAMILIES = [
    lone_cr, lone_cr_no_name, hidden_behind_field, hidden_in_text, line_ends, whole_line_of_data, two_values,
    values_over_lines, odd_field, odd_name, byte_order_mark, unfinished, after_the_end, duplicate_keys, key_spelling,
    nested, nested_in_result, other_events, run_by_provider, changed_later, broken_characters, whole,
]
# Whose calls are all of a kind that every reader knows, and stand in the open.
HONEST = {"scripted", "line_ends", "values_over_lines"}
# Large ones say nothing more about readers.
MAX_BYTES = 20_000


def responses(seed, each, scripted: Path, kept: Path, most_kept):
    """All responses: `each` of every family, the scripted model's with changes, what fuzzing kept."""
    made = []
    for family in FAMILIES:
        rng = random.Random(f"{seed}/{family.__name__}")
        number = each * 3 if family is whole else each
        made += [Response(family.__name__, i, family(rng), whole=family is whole) for i in range(number)]
    rng = random.Random(f"{seed}/scripted")
    originals = [path.read_bytes()[2:] for path in sorted(scripted.iterdir())]
    originals = [body for body in originals if len(body) <= MAX_BYTES]
    made += [Response("scripted", i, body) for i, body in enumerate(originals)]
    for number in range(each * 5):
        body = rng.choice(originals)
        for _ in range(rng.choice([1, 1, 2, 4])):
            body = change(rng, body)
        made.append(Response("changed", number, body))
    rng = random.Random(f"{seed}/settings")
    for one in made:
        one.chunk = rng.choice([0, 0, 1, 7, 64, 1000])
        one.keep_going, one.hold_all = rng.random() < 0.5, rng.random() < 0.2
    paths = sorted(path for path in kept.iterdir() if path.stat().st_size <= MAX_BYTES) if kept.is_dir() else []
    step = max(1, -(-len(paths) // most_kept))
    for path in paths[::step]:
        flags, size, *body = path.read_bytes() + b"\0\0" if path.stat().st_size < 2 else path.read_bytes()
        settings = {"keep_going": bool(flags & 1), "hold_all": bool(flags & 2)}
        made.append(Response("fuzzed", path.name, bytes(body), chunk=max(size, 1), **settings))
    return made
