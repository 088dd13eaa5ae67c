"""A scripted model that speaks OpenAI Chat Completions and writes its calls as text, or as members.

The path names the scenario: `/x/SCENARIO@CLIENT/v1/chat/completions`. A turn follows from how many results
the conversation has. Texts are streamed in pieces that cut tags anywhere.
"""
import http.server
import json
import threading

import responses_model

# The shell of each client, the argument that holds the command, and the tool for a plain text.
SHELLS = {"claude": ("Bash", "command"), "python": ("Bash", "command"), "codex": ("exec_command", "cmd")}
PATCH = "*** Begin Patch\n*** Add File: added.txt\n+hello\n*** End Patch\n"
STEPS = ["echo one >> marker.txt", "echo two >> marker.txt && cat marker.txt"]
BAD = "rm -rf ~ ; echo ran >> marker.txt"
DONE = "All done."


def xml(name, **arguments):
    values = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{values}</function>\n</tool_call>"


def hermes(name, **arguments):
    return f'<tool_call>\n{json.dumps({"name": name, "arguments": arguments})}\n</tool_call>'


def native(name, **arguments):
    return {"name": name, "arguments": json.dumps(arguments)}


def three_turns(write, shell, key):
    """Two commands, one after the other, then a text."""
    return [["<think>\nI write a file.\n</think>\n\n", "I begin.\n\n", write(shell, **{key: STEPS[0]})],
            ["Now the second step.\n", write(shell, **{key: STEPS[1]})], [DONE]]


SCENARIOS = {
    "xml": lambda *shell: three_turns(xml, *shell),
    "hermes": lambda *shell: three_turns(hermes, *shell),
    "native": lambda *shell: three_turns(native, *shell),
    "xml_blocked": lambda shell, key: [["I clean up.\n", xml(shell, **{key: BAD})], [DONE]],
    "native_blocked": lambda shell, key: [[native(shell, **{key: BAD})], [DONE]],
    "undeclared": lambda shell, key: [[xml("format_disk", **{key: STEPS[0]})], [DONE]],
    "mention": lambda shell, key: [["The form is:\n```\n" + xml(shell, **{key: STEPS[0]}) + "\n```\n" + DONE], [DONE]],
    "cut_call": lambda shell, key: [[xml(shell, **{key: STEPS[0]}).partition("</parameter>")[0]], [DONE]],
    "patch": lambda *_: [[xml("apply_patch", input=PATCH)], [DONE]],
    "patch_native": lambda *_: [[native("apply_patch", input=PATCH)], [DONE]],
    "error": lambda *_: [],
}


def deltas(parts):
    """The deltas of a turn: texts in pieces of three characters, calls in fragments."""
    yield {"role": "assistant", "content": ""}
    for at, part in enumerate(parts):
        if isinstance(part, str):
            yield from ({"content": part[i:i + 3]} for i in range(0, len(part), 3))
            continue
        head = {"index": at, "id": f"call_native{at}", "type": "function"}
        yield {"tool_calls": [head | {"function": {"name": part["name"], "arguments": ""}}]}
        text = part["arguments"]
        yield from ({"tool_calls": [{"index": at, "function": {"arguments": text[i:i + 5]}}]} for i in range(0, len(text), 5))


def whole(parts):
    calls = [{"id": f"call_native{at}", "type": "function", "function": part}
             for at, part in enumerate(parts) if not isinstance(part, str)]
    text = "".join(part for part in parts if isinstance(part, str))
    return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests: dict[str, list] = {}
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.answer(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        if not self.path.endswith("/chat/completions"):
            return self.answer(404, {"error": {"message": f"no such path: {self.path}"}})
        name = self.path.split("/")[2]
        scenario, _, client = name.partition("@")
        with self.lock:
            self.requests.setdefault(name, []).append(body | {"key": self.headers.get("authorization")})
            number = sum(map(len, self.requests.values()))
        turns = SCENARIOS[scenario](*SHELLS[client.partition("-")[0]])
        if not turns:
            return self.answer(404, {"error": {"message": "the model `m` does not exist", "type": "NotFoundError"}})
        results = sum(message["role"] == "tool" for message in body["messages"])
        parts = turns[min(results, len(turns) - 1)] if body.get("tools") else [DONE]
        reason = "stop" if all(isinstance(part, str) for part in parts) else "tool_calls"
        head = {"id": f"chatcmpl-{number:08}", "created": 1700000000, "model": "qwen"}
        usage = {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}
        if not body.get("stream"):
            choice = {"index": 0, "message": whole(parts), "finish_reason": reason}
            return self.answer(200, head | {"object": "chat.completion", "choices": [choice], "usage": usage})
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("connection", "close")
        self.end_headers()
        choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas(parts)]
        choices.append({"index": 0, "delta": {}, "finish_reason": reason})
        for choice in choices:
            self.chunk(head | {"object": "chat.completion.chunk", "choices": [choice]})
        self.chunk(head | {"object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def chunk(self, chunk):
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.flush()

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve():
    """Starts the model on a free port; returns its address."""
    return responses_model.serve(Model)
