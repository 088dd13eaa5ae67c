"""Hostile responses of Gemini's `generateContent`, streamed as events, as a list, and whole, and honest ones.

`all_of(seed, each)` yields cases: `each` of every family. A family is a function that takes a random
generator and returns chunks. Most of them carry a call in a place or a spelling where one reader sees it
and another one does not.
"""
import json
import random

from hostile_bytes import framed, text_of
from hostile_frames import SEPARATORS
from sdk_reading import Case

COMMANDS = ["ls", "echo EVIL", "rm -rf ~"]
SPELLINGS = ["functionCall", "function_call", "FunctionCall", "functioncall", "FUNCTION_CALL", "function-call", "function_Call",
             "functionCall_", "functıonCall", "functionCalls", "function_calls", "toolCall", "tool_call", "toolCalls", "tool_calls", "call"]
ARGUMENTS = ["args", "Args", "ARGS", "arguments", "input", "parameters", "partialArgs", "partial_args", "a_rgs"]
# Members that some reader or other looks into, by the object that they stand in.
OF_CHUNK = ["promptFeedback", "prompt_feedback", "usageMetadata", "modelVersion", "modelStatus", "responseId", "content", "message", "parts",
            "response", "output", "parsed", "automaticFunctionCallingHistory", "sdkHttpResponse", "Candidates", "candidate", "x"]
OF_CANDIDATE = ["groundingMetadata", "grounding_metadata", "citationMetadata", "urlContextMetadata", "logprobsResult", "safetyRatings",
                "finishMessage", "finishReason", "tokenCount", "groundingAttributions", "Content", "message", "delta", "parts", "x"]
OF_CONTENT = ["role", "Parts", "part", "content", "candidates", "message", "x"]
OF_PART = ["thought", "thoughtSignature", "videoMetadata", "partMetadata", "part_metadata", "mediaResolution", "inlineData", "fileData",
           "functionResponse", "toolResponse", "codeExecutionResult", "speechMetadata", "audioTranscription", "mediaProcessing", "text",
           "parts", "content", "x"]
KEYS = ["candidates", "content", "parts", "functionCall", "name", "args", "command", "index", "finishReason", "text", "id", "error"]
DECLARED = {"functionDeclarations": [{"name": "bash", "parameters": {"type": "OBJECT", "required": ["command"],
                                                                     "properties": {"command": {"type": "STRING"}}}}]}


def function(rng, **more):
    """A call as Gemini has it."""
    ids = {"id": f"call_{rng.randrange(4)}"} if rng.random() < 0.5 else {}
    return {"name": "bash", "args": {"command": rng.choice(COMMANDS)}} | ids | more


def part(rng):
    signed = {"thoughtSignature": "QUJD"} if rng.random() < 0.3 else {}
    return {"functionCall": function(rng)} | signed


def chunk(*parts, **more):
    """A chunk with one candidate; `more` are members of the candidate."""
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, "index": 0} | more], "modelVersion": "m", "responseId": "r"}


def say(text="Hi"):
    return chunk({"text": text})


def end(**more):
    return chunk({"text": ""}, finishReason="STOP", **more) | {"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}


# Families.


def spelled(rng):
    """The call, its name or its arguments in other letters."""
    call = function(rng)
    if rng.random() < 0.4:
        call[rng.choice(ARGUMENTS)] = call.pop("args")
    if rng.random() < 0.1:
        call[rng.choice(["Name", "NAME", "functionName", "na_me"])] = call.pop("name")
    return [say(), chunk({rng.choice(SPELLINGS): rng.choice([call, call, [call], {"functionCall": call}])}), end()]


def twins(rng):
    """Two members that one reader or another takes for the same."""
    one = part(rng)
    if rng.random() < 0.5:
        one[rng.choice(SPELLINGS)] = function(rng)
    else:
        one["functionCall"][rng.choice(ARGUMENTS + ["Name", "ID", "Id", "i_d"])] = rng.choice([{"command": "echo EVIL"}, "x"])
    if rng.random() < 0.5:
        one = dict(reversed(one.items()))
    return [chunk(one), end()]


def elsewhere(rng):
    """A call in a member that should hold none."""
    made = rng.choice([say(), chunk(part(rng)), end()])
    candidate = made["candidates"][0]
    place, keys = rng.choice([(made, OF_CHUNK), (candidate, OF_CANDIDATE), (candidate["content"], OF_CONTENT),
                              (candidate["content"]["parts"][0], OF_PART)])
    evil = rng.choice([part(rng), {rng.choice(SPELLINGS): function(rng)}])
    place[rng.choice(keys)] = rng.choice([evil, [evil], {"parts": [evil]}, {"content": {"parts": [evil], "role": "model"}}, function(rng),
                                          {"candidates": chunk(evil)["candidates"]}, json.dumps(evil), [[evil]], {"x": {"y": [evil]}}, {"args": evil}])
    return rng.sample([say(), made, end()], 3)


def at_the_provider(rng):
    """Code and tools that the provider runs, whether the request allows them or not."""
    run = rng.choice([
        {"executableCode": {"language": "PYTHON", "code": rng.choice(["print(1)", "import os; os.system('rm -rf ~')"])}},
        {"executable_code": {"language": "PYTHON", "code": "print(1)"}},
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}, **rng.choice([part(rng), {"toolCall": {"toolType": "URL_CONTEXT"}}])},
        {"toolCall": {"toolType": rng.choice(["GOOGLE_SEARCH_WEB", "URL_CONTEXT", "bash"]), "args": {"command": "echo EVIL"}}},
        {"executableCode": {"language": "PYTHON", "code": "print(1)", **rng.choice([part(rng), {"parts": [part(rng)]}])}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", **rng.choice([part(rng), {"parts": [part(rng)]}])}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": json.dumps(part(rng)), **rng.choice([{}, part(rng)])}},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": rng.choice([{}, part(rng)])}},
        {"functionResponse": {"name": "bash", "response": {"output": "x"}, **rng.choice([{}, {"parts": [part(rng)]}])}},
        {"computerCall": {"name": "bash", "args": {"command": "echo EVIL"}}}, {"mcpCall": {"name": "bash", "args": {}}},
    ])
    return [say(), chunk(run, *rng.choice([[], [part(rng)], [{"text": "x"}]])), end()]


def several(rng):
    """Several calls and candidates in a chunk, whose numbers are odd."""
    chunks = []
    for _ in range(rng.randrange(1, 4)):
        made = chunk(*rng.choices([part(rng), part(rng), {"text": "x"}, {"thought": True, "text": "y"}, {}], k=rng.randrange(4)))
        for _ in range(rng.randrange(3)):
            other = chunk(part(rng))["candidates"][0] | {"index": rng.choice([0, 1, 1, 2, "0", "1", -1, None, 1.5, 1e3, True, {}])}
            if rng.random() < 0.2:
                del other["index"]
            if rng.random() < 0.2:
                other["finishReason"] = "STOP"
            made["candidates"].insert(rng.randrange(2), other)
        chunks.append(made)
    return chunks + [end()]


def pieces(rng):
    """Arguments in pieces, in any order."""
    def piece(text, **more):
        key = rng.choice(["jsonPath", "json_path"])
        return {rng.choice(["partialArgs", "partial_args"]): [{key: "$.command", "stringValue": text}], **more}

    going = {rng.choice(["willContinue", "will_continue"]): rng.choice([True, True, True, False, "true", 1])}
    parts = [{"name": "bash", **going}, piece("rm -rf", **going), piece(" ~"), {}, {"name": "bash"}, function(rng),
             {"args": {"command": "echo EVIL"}}, {"name": "", "args": {"command": "echo EVIL"}, **going}, function(rng, **going)]
    parts = rng.sample(parts, rng.randrange(1, 7)) if rng.random() < 0.5 else parts[:rng.randrange(1, 5)]
    made = [chunk({"functionCall": one}, **rng.choice([{}] * 6 + [{"index": 1}, {"finishReason": "STOP"}])) for one in parts]
    if rng.random() < 0.3:
        made.insert(rng.randrange(len(made) + 1), say())
    return made + rng.choice([[end()], []])


def ends(rng):
    """The end before the call, more after the end, and ends that are none."""
    reason = rng.choice(["STOP", "MAX_TOKENS", "MALFORMED_FUNCTION_CALL", "", None, 0, 1, "FINISH_REASON_UNSPECIFIED", {}, [part(rng)]])
    last = chunk({"text": ""}, **{rng.choice(["finishReason", "finish_reason"]): reason})
    made = [say(), chunk(part(rng)), last, chunk(part(rng), finishReason=reason), end(), {"candidates": []}, {}]
    return rng.sample(made, rng.randrange(1, len(made)))


def shapes(rng):
    """Values of another kind than the definition says."""
    call = function(rng)
    call["args"] = rng.choice([json.dumps(call["args"]), [call["args"]], None, {"fields": call["args"]}, 1, call["args"]])
    made = chunk({"functionCall": rng.choice([call, call, [call], json.dumps(call), {"0": call}])})
    candidate = made["candidates"][0]
    change = rng.randrange(8)
    if change == 0:
        made["candidates"] = candidate
    elif change == 1:
        made["candidates"] = {"0": candidate}
    elif change == 2:
        candidate["content"] = [candidate["content"]]
    elif change == 3:
        candidate["content"]["parts"] = candidate["content"]["parts"][0]
    elif change == 4:
        candidate["content"]["parts"] = [candidate["content"]["parts"]]
    elif change == 5:
        candidate["content"] = candidate["content"]["parts"]
    elif change == 6:
        made = {"response": made}
    return [say(), rng.choice([made, made, [made]]), end()]


def errors(rng):
    """An error beside candidates, before and after calls."""
    error = {"code": 500, "message": "no", "status": "INTERNAL"}
    odd = rng.choice([{"error": error}, {"error": error} | chunk(part(rng)), {"error": error | part(rng)}, {"error": [part(rng)]},
                      chunk(part(rng), error=error), {"error": None} | chunk(part(rng)), {"error": {}} | chunk(part(rng)),
                      [{"error": error}], {"error": {"details": [part(rng)]} | error}, {"Error": error} | chunk(part(rng))])
    made = [say(), chunk(part(rng)), odd, chunk(part(rng)), end()]
    return rng.choice([made, made[:3], made[2:], [odd]])


def values(rng):
    """Names, ids and arguments that not all readers take for the same."""
    command = rng.choice(COMMANDS)
    call = {"name": rng.choice(["bash", "Bash", "bash ", "bash\0", "", None, ["bash"], "ba\ud800sh", "\ufeffbash", "default_api.bash"]),
            "id": rng.choice(["a", "", None, 7, ["a"], {"a": 1}, True, "a\ud800", "a\n"]),
            "args": {"command": rng.choice([command, [command], {"command": command}, f"{command}\ud800", f"{command}\0", None, 1])}}
    call["args"][rng.choice(["Command", "command ", "n", "$ref", "__proto__", "functionCall", "fields", ""])] = rng.choice(
        ["echo EVIL", float("nan"), float("inf"), 2 ** 70, 1e308, -0.0, 0.1 + 0.2, part(rng), {"stringValue": "x"}, "\u2028\r\n"])
    about = {rng.choice(["thought", "thoughtSignature", "thought_signature", "partMetadata"]): rng.choice([True, "true", "QUJD", "", {}, None])}
    return [say(), chunk({"functionCall": call} | rng.choice([{}, about])), end()]


def honest(rng):
    """What the API sends: words, thoughts, pictures and calls that do no harm."""
    calls = [{"functionCall": function(rng) | {"args": {"command": f"echo {word}", "n": rng.choice([1, 2.5, None, ["x"], {"a": "é\u2028"}])}},
              **rng.choice([{}, {"thoughtSignature": "QUJD"}])} for word in rng.sample(["one", "two", "three", "four", "five"], 3)]
    for number, call in enumerate(calls):
        if "id" in call["functionCall"]:
            call["functionCall"]["id"] = f"call_{number}"
    words = [{"text": "größer \u2028 x"}, {"text": "I think.", "thought": True}, {"text": "", "thoughtSignature": "QUJD"},
             {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]
    if rng.random() < 0.1:
        calls[0]["function_call"] = calls[0].pop("functionCall")
    made = [chunk(*rng.sample(words, rng.randrange(3)), calls[at]) for at in range(rng.randrange(1, 3))]
    if rng.random() < 0.2:
        made[0]["candidates"].append(chunk(calls[2])["candidates"][0] | {"index": 1, "finishReason": "STOP"})
    if rng.random() < 0.3:
        made[-1] = chunk(*made[-1]["candidates"][0]["content"]["parts"], finishReason="STOP")
        return made
    return [*made, end(safetyRatings=[], citationMetadata={"citationSources": []})]


FAMILIES = [spelled, twins, elsewhere, at_the_provider, several, pieces, ends, shapes, errors, values, honest]


# Bytes.


def as_events(rng, texts):
    """A stream of events, some of which hide another one behind a field or inside of a text."""
    if rng.random() < 0.4:
        return "".join(f"data: {text}\n\n" for text in texts)
    frames = [framed(rng, text) for text in texts]
    hidden = json.dumps(chunk(part(rng)))
    if rng.random() < 0.15:
        field = rng.choice([":", ": x", "id: 1", "event: x", "retry: 1", "x", "data", " data: {}", "data : ", "DATA: ", "\ufeffdata: "])
        end_of_line = rng.choice(["", *SEPARATORS])
        frames.insert(rng.randrange(len(frames) + 1), f"{field}{end_of_line}data: {hidden}\n\n")
    if rng.random() < 0.1:
        start = rng.choice(["", "\n\n", *SEPARATORS])
        text = json.dumps(say(f"{start}data: {hidden}{start}"), ensure_ascii=False)
        text = text.replace(json.dumps(start)[1:-1], start) if start and rng.random() < 0.5 else text
        frames.insert(rng.randrange(len(frames) + 1), f"data: {text}\n\n")
    if rng.random() < 0.1:
        between = rng.choice(["\ndata: ", " ", "", "\x1e", "\r", ",", "\u2028", "\n"])
        frames.insert(rng.randrange(len(frames) + 1), f"data: {json.dumps(say())}{between}{hidden}\n\n")
    if rng.random() < 0.1:
        frames.append(rng.choice(["data: [DONE]\n\n", f"data: {hidden}", f"data: {hidden}\n", f"{hidden}\n", f"data: [{hidden}]\n\n", "\0"]))
    return rng.choice([""] * 9 + ["\ufeff"]) + "".join(frames)


def as_list(rng, texts):
    between, after = rng.choice([",\n", ",", ",\r\n", "\n,\n"]), rng.choice(["\n"] * 6 + ["", ",", "[]", f"\n{json.dumps(chunk(part(rng)))}"])
    return rng.choice([""] * 9 + ["\ufeff"]) + "[" + between.join(texts) + rng.choice(["]"] * 9 + [",]", ""]) + after


def body_of(rng, chunks, is_honest):
    """The form of the response, whether it is taken for a whole one, and its text."""
    if is_honest:
        # Google's SDK for Python ends a line at U+2028.
        texts = [json.dumps(one, ensure_ascii=rng.random() < 0.5).replace("\u2028", "\\u2028") for one in chunks]
        if len(texts) == 1 or rng.random() < 0.2:
            return True, texts[0] if len(texts) == 1 else "[" + ",\n".join(texts) + "]\n"
        gap = rng.choice(["\n\n", "\r\n\r\n"])
        return False, "".join(f"data: {text}{gap}" for text in texts)
    texts = [text_of(rng, one, KEYS) for one in chunks]
    form = rng.random()
    if form < 0.2:
        whole, text = True, rng.choice(texts) + rng.choice(["", "", "\n", rng.choice(texts)])
    elif form < 0.4:
        whole, text = True, as_list(rng, texts)
    else:
        whole, text = False, as_events(rng, texts)
    if rng.random() < 0.05:
        # It says that it is something else.
        whole = not whole
    if rng.random() < 0.08:
        text = text[:rng.randrange(len(text) + 1)]
    return whole, text


def all_of(seed, each):
    for family in FAMILIES:
        for number in range(each):
            rng = random.Random(f"{seed} {family.__name__} {number}")
            whole, text = body_of(rng, family(rng), family is honest)
            tools = [DECLARED, *rng.choice([[], [], [{"codeExecution": {}}], [{"code_execution": {}}, {"googleSearch": {}}]])]
            yield Case("gemini", whole, text.encode("utf-8", "surrogatepass"), {"tools": tools, "contents": []},
                       keep_going=rng.random() < 0.3, honest=family is honest, family=family.__name__)
