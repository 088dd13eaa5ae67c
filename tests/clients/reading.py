"""Python's readers of the Messages API, run by `readers.py` in a virtual environment:
`reading.py URL PART PARTS [READER...]`, where the process is one of so many that share the readers.

Reads `{"number", "whole"}` lines from standard input and writes a line for each reader and response:
`calls` that a library hands over, or the `events` that a plain reader has found, from which
`readers.py` assembles calls. What a reader has found before it fails counts.
"""
import asyncio
import concurrent.futures
import gc
import json
import logging
import os
import sys
import threading
import traceback
import warnings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LANGSMITH_TRACING"] = "false"
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import aiohttp
import anthropic
import httpx
import httpx_sse
import litellm
import requests
from langchain_anthropic import ChatAnthropic

litellm.telemetry = False
litellm.suppress_debug_info = True
litellm.drop_params = True

BASE, PART, PARTS, ONLY = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
THREADS = 4
TOOLS = [{"name": "Bash", "description": "b", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}]
CALL_KINDS = ("tool_use", "server_tool_use", "mcp_tool_use")
URL = f"{BASE}/v1/messages"
sdk = anthropic.Anthropic(base_url=BASE, api_key="fake", max_retries=0)
chat = ChatAnthropic(model="claude-fake", base_url=BASE, api_key="fake", max_retries=0, max_tokens=99).bind_tools(TOOLS)
plain = threading.local()


def asked(number):
    return f"response-{number}-"


def body(number):
    return {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": asked(number)}]}


def prompt(number):
    return {"model": "claude-fake", "max_tokens": 9, "tools": TOOLS, "messages": body(number)["messages"]}


def blocks(message):
    """The calls of an SDK's message: its top level is what agents walk."""
    dumped = [block.to_dict() if hasattr(block, "to_dict") else block for block in message.content or []]
    calls = [block for block in dumped if isinstance(block, dict) and block.get("type") in CALL_KINDS]
    # The SDK does not collect the streamed arguments of MCP calls: they stay empty.
    calls = [call for call in calls if call["type"] != "mcp_tool_use" or call.get("input")]
    return [{key: call.get(key) for key in ("name", "id", "input")} for call in calls]


# Each reader takes a response's number and a list that it fills.


def anthropic_stream(number, found):
    """The SDK's helper that keeps the message so far, and the events that it passes on."""
    with sdk.messages.stream(**prompt(number)) as stream:
        try:
            for _ in stream:
                pass
        finally:
            found += blocks(stream.current_message_snapshot)


def anthropic_events(number, found):
    for event in sdk.messages.create(**prompt(number), stream=True):
        found.append(event.to_dict())


def anthropic_whole(number, found):
    found += blocks(sdk.messages.create(**prompt(number)))


def plain_lines(lines, found):
    """A reader that takes each `data` line by itself, as most that people write do."""
    for line in lines:
        line = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
        line = line.strip()
        if line.startswith("data:"):
            try:
                found.append(json.loads(line[5:]))
            except (ValueError, RecursionError):
                pass


def httpx_lines(number, found):
    with client().stream("POST", URL, json=body(number)) as response:
        plain_lines(response.iter_lines(), found)


def httpx_events(number, found):
    with client().stream("POST", URL, json=body(number)) as response:
        for event in httpx_sse.EventSource(response).iter_sse():
            try:
                found.append(json.loads(event.data))
            except ValueError:
                pass


def httpx_whole(number, found):
    found.append(client().post(URL, json=body(number)).json())


def requests_lines(number, found):
    with session().post(URL, json=body(number), stream=True) as response:
        plain_lines(response.iter_lines(), found)


def requests_text_lines(number, found):
    """Without a charset, `requests` takes text for Latin-1, and the byte 0x85 for a line end."""
    with session().post(URL, json=body(number), stream=True) as response:
        lines = response.iter_lines(decode_unicode=True)
        if response.encoding == "ISO-8859-1":
            # All letters beyond ASCII are wrong then, which is not what is looked at here.
            lines = (line.encode("latin-1") for line in lines)
        plain_lines(lines, found)


def requests_whole(number, found):
    found.append(session().post(URL, json=body(number)).json())


def langchain_stream(number, found):
    message = None
    try:
        for chunk in chat.stream(asked(number)):
            message = chunk if message is None else message + chunk
    finally:
        found += [langchain_call(call) for call in message.tool_calls] if message else []


def langchain_whole(number, found):
    found += [langchain_call(call) for call in chat.invoke(asked(number)).tool_calls]


def langchain_call(call):
    return {"name": call["name"], "id": call["id"], "input": call["args"]}


def litellm_ask(number, **more):
    tools = [{"type": "function", "function": {"name": "Bash", "parameters": TOOLS[0]["input_schema"]}}]
    messages = [{"role": "user", "content": asked(number)}]
    return litellm.completion(model="anthropic/claude-fake", api_base=URL, api_key="fake", max_retries=0, num_retries=0,
                              messages=messages, tools=tools, **more)


def litellm_stream(number, found):
    """Tool calls come in pieces; a piece that has an id begins a call."""
    open_calls = {}
    try:
        for chunk in litellm_ask(number, stream=True):
            for piece in chunk.choices[0].delta.tool_calls or []:
                if piece.id:
                    open_calls[piece.index, piece.id] = {"name": piece.function.name, "id": piece.id, "text": ""}
                last = next((c for (i, _), c in reversed(open_calls.items()) if i == piece.index), None)
                if last is not None:
                    last["text"] += piece.function.arguments or ""
    finally:
        found += [litellm_call(call["name"], call["id"], call["text"]) for call in open_calls.values()]


def litellm_whole(number, found):
    calls = litellm_ask(number).choices[0].message.tool_calls or []
    found += [litellm_call(call.function.name, call.id, call.function.arguments) for call in calls]


def litellm_call(name, id, text):
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        arguments = {"not JSON": text}
    return {"name": name, "id": id, "input": arguments}


async def aiohttp_lines(number, found, http):
    async with http.post(URL, json=body(number)) as response:
        lines = [line async for line in response.content]
        plain_lines(lines, found)


async def aiohttp_whole(number, found, http):
    async with http.post(URL, json=body(number)) as response:
        found.append(await response.json(content_type=None))


def client():
    if not hasattr(plain, "client"):
        plain.client = httpx.Client(timeout=30)
    return plain.client


def session():
    if not hasattr(plain, "session"):
        plain.session = requests.Session()
    return plain.session


# reader, what it finds, whether it reads whole responses, the most responses that it gets (None: all)
READERS = [
    (anthropic_stream, "calls", False, None),
    (anthropic_events, "events", False, None),
    (anthropic_whole, "calls", True, None),
    (httpx_lines, "events", False, None),
    (httpx_events, "events", False, None),
    (httpx_whole, "events", True, None),
    (requests_lines, "events", False, None),
    (requests_text_lines, "events", False, None),
    (requests_whole, "events", True, None),
    (aiohttp_lines, "events", False, None),
    (aiohttp_whole, "events", True, None),
    (langchain_stream, "calls", False, None),
    (litellm_stream, "calls", False, 800),
    (langchain_whole, "calls", True, None),
    (litellm_whole, "calls", True, None),
]


def report(number, reader, finds, found, error):
    line = json.dumps({"number": number, "reader": reader.__name__, finds: found, "error": error}, default=str)
    sys.stdout.write(line + "\n")


def told(error):
    own = [name for name in (type(error).__module__,) if name != "builtins"]
    return ".".join([*own, type(error).__name__]) + f": {str(error)[:200]}"


def one(reader, finds, number):
    found, error = [], None
    try:
        reader(number, found)
    except Exception as e:
        error = told(e)
        if os.environ.get("READERS_TRACE"):
            traceback.print_exc()
    gc.collect()
    report(number, reader, finds, found, error)


async def all_of(reader, finds, numbers):
    gate = asyncio.Semaphore(THREADS)

    async def one(number, http):
        found, error = [], None
        async with gate:
            try:
                await reader(number, found, http)
            except Exception as e:
                error = told(e)
        report(number, reader, finds, found, error)

    async with aiohttp.ClientSession() as http:
        await asyncio.gather(*(one(number, http) for number in numbers))


def main():
    jobs = [json.loads(line) for line in sys.stdin]
    # A stream that a library leaves open is closed by the collector, and `httpcore` then waits for a
    # lock: for ever, if the collector ran while the same thread had it. So it runs between responses.
    gc.collect()
    gc.freeze()
    gc.disable()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        for reader, finds, whole, most in READERS[PART::PARTS]:
            if ONLY and reader.__name__ not in ONLY:
                continue
            numbers = [job["number"] for job in jobs if job["whole"] == whole]
            if most and len(numbers) > most:
                # From all families alike; the first is the control.
                numbers = [numbers[i * len(numbers) // most] for i in range(most)]
            if asyncio.iscoroutinefunction(reader):
                asyncio.run(all_of(reader, finds, numbers))
            else:
                list(pool.map(lambda number: one(reader, finds, number), numbers))
            sys.stdout.flush()
    # Threads that libraries leave behind do not matter any more.
    os._exit(0)


main()
