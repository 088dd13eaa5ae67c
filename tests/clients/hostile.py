"""Hostile responses: streams and whole bodies that different readers read differently.

Each family is a function that takes a random generator and returns the raw bytes of one response.
The same seed gives the same responses. Most of them carry a call (`EVIL`) in a place or a spelling
where one reader sees it and another one does not.
"""
import dataclasses
import json
import random
from pathlib import Path

import hostile_frames
import hostile_values
from message import evil_events

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
        return body[:at + 1] + b":" + rng.choice(hostile_frames.SEPARATORS).encode() + b"data: " + data + b"\n" + body[at + 1:]
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


FAMILIES = hostile_frames.FAMILIES + hostile_values.FAMILIES
# Whose calls are all of a kind that every reader knows, and stand in the open.
HONEST = {"scripted", "line_ends", "values_over_lines"}
# Large ones say nothing more about readers.
MAX_BYTES = 20_000


def responses(seed, each, scripted: Path, kept: Path, most_kept):
    """All responses: `each` of every family, the scripted model's with changes, what fuzzing kept."""
    made = []
    for family in FAMILIES:
        rng = random.Random(f"{seed}/{family.__name__}")
        number = each * 3 if family is hostile_values.whole else each
        made += [Response(family.__name__, i, family(rng), whole=family is hostile_values.whole) for i in range(number)]
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
