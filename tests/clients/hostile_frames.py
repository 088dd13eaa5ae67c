"""Families of hostile streams whose frames and lines readers take apart differently."""
import json

from message import (CALL_KINDS, HONEST_CALL, WRAPPERS, anywhere, event, evil_events, frame, harmless, message_delta,
                     message_start, stream, text_delta, text_of)

# Where some reader or other ends a line. All but CR and LF are no line ends in SSE.
SEPARATORS = ["\r", "\r", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c", "\x1d", "\x1e", "\0"]


# How lines end.


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


FAMILIES = [lone_cr, lone_cr_no_name, hidden_behind_field, hidden_in_text, line_ends, whole_line_of_data, two_values,
            values_over_lines, odd_field, odd_name, byte_order_mark, unfinished, after_the_end]
