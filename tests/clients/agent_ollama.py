#!/usr/bin/env python3
"""A small agent on Ollama's own library: a few tools, a loop, and no checks of its own.

  OLLAMA_HOST=… agent_ollama.py stream|whole

Does what the model says in the current folder. Prints {"text": the last answer, "error": null or what
went wrong}; exit code 1 on an error.
"""
import json
import sys

import ollama

from tools import MAX_TURNS, TOOLS, run, schema


def ask(client, how, messages):
    """The text and the calls of an answer."""
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema(needs)}} for name, needs in TOOLS.items()
    ]
    request = dict(model="fake-model", messages=messages, tools=tools)
    parts = [client.chat(**request)] if how == "whole" else client.chat(**request, stream=True)
    text, calls, done = "", [], False
    for part in parts:
        text += part.message.content or ""
        calls += part.message.tool_calls or []
        done = part.done
    if not done:
        raise RuntimeError("the answer has no end")
    return text, calls


def main():
    how = sys.argv[1]
    client = ollama.Client(timeout=50)
    messages = [{"role": "user", "content": "please run the command"}]
    text, error = "", None
    try:
        for _ in range(MAX_TURNS):
            text, calls = ask(client, how, messages)
            if not calls:
                break
            messages.append({"role": "assistant", "content": text, "tool_calls": [call.model_dump() for call in calls]})
            for call in calls:
                output, _ = run(call.function.name, dict(call.function.arguments))
                messages.append({"role": "tool", "tool_name": call.function.name, "content": output})
    except Exception as e:  # Whatever the library raises is the outcome to report.
        error = f"{type(e).__name__}: {e}"
    print(json.dumps({"text": text, "error": error}))
    sys.exit(1 if error else 0)


main()
