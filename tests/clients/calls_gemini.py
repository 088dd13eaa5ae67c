"""Calls in responses of Gemini, as different programs look for them.

Texts of values come from bytes that are split in different ways; calls from values, where the definition of
the API has them, or anywhere. A call is `(name, id or None, arguments, signature)`.
"""
import contextlib
import json
import re

import readers

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
        for chunk in chunks_of(text):
            with contextlib.suppress(json_format.ParseError, RecursionError):
                read = json_format.Parse(chunk, GenerateContentResponse.pb()(), ignore_unknown_fields=True)
                for candidate in read.candidates:
                    yield from (call for part in candidate.content.parts for call in of_part(folded(json_format.MessageToDict(part))))


def chunks_of(text):
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


FINDS = {"first": lambda texts: first(values(texts)), "any": lambda texts: any_candidate(values(texts)),
         "first_key": lambda texts: any_candidate(values(texts, first_wins)), "anywhere": lambda texts: anywhere(values(texts)),
         "joined": lambda texts: joined(values(texts)), "protobuf": as_messages}
SPLITS = [lf_lines, any_lines, standard, braces, whole]
