#!/usr/bin/env python3
"""A small agent on the OpenAI SDK and its Chat Completions: a few tools, a loop, and no checks of its own.

  OPENAI_BASE_URL=… OPENAI_API_KEY=… agent_openai.py stream|whole

Does what the model says in the current folder, whatever the reason for the end. Prints
{"text": the last answer, "error": null or what went wrong}; exit code 1 on an error.
"""
import json
import sys

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState

from tools import MAX_TURNS, TOOLS, run, schema


def ask(client, how, messages):
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema(needs)}} for name, needs in TOOLS.items()
    ]
    request = dict(model="fake-model", messages=messages, tools=tools)
    if how == "whole":
        return client.chat.completions.create(**request).choices[0].message
    # The SDK's own way of joining chunks.
    state = ChatCompletionStreamState()
    for chunk in client.chat.completions.create(**request, stream=True):
        state.handle_chunk(chunk)
        chunk.choices[0].delta.content  # As most programs do, unless they have asked for the usage.
    return state.current_completion_snapshot.choices[0].message


def result(call):
    try:
        given = json.loads(call.function.arguments)
    except ValueError:
        given = None
    output, _ = run(call.function.name, given)
    return {"role": "tool", "tool_call_id": call.id, "content": output}


def main():
    how = sys.argv[1]
    client = openai.OpenAI(timeout=50)
    messages = [{"role": "system", "content": "You are a test."}, {"role": "user", "content": "please run the command"}]
    text, error = "", None
    try:
        for _ in range(MAX_TURNS):
            answer = ask(client, how, messages)
            text = answer.content or ""
            if not answer.tool_calls:
                break
            said = {"role": "assistant", "content": answer.content}
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in answer.tool_calls
            ]
            messages += [said | {"tool_calls": calls}, *map(result, answer.tool_calls)]
    except Exception as e:  # Whatever the SDK raises is the outcome to report.
        error = f"{type(e).__name__}: {e}"
    print(json.dumps({"text": text, "error": error}))
    sys.exit(1 if error else 0)


main()
