#!/usr/bin/env python3
"""A small agent on the Anthropic SDK: a few tools, a loop, and no checks of its own.

  ANTHROPIC_BASE_URL=… ANTHROPIC_API_KEY=… agent.py stream|whole

Does what the model says in the current folder, whatever the stop reason. Prints
{"text": the last answer, "error": null or what went wrong}; exit code 1 on an error.
"""
import json
import sys

import anthropic

from tools import MAX_TURNS, TOOLS, run as run_tool, schema


def ask(client, how, messages):
    tools = [{"name": name, "input_schema": schema(needs)} for name, needs in TOOLS.items()]
    request = dict(model="fake-model", max_tokens=1000, messages=messages, tools=tools)
    if how == "whole":
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def run(call):
    """The tool result of a call."""
    output, failed = run_tool(call.name, call.input)
    return {"type": "tool_result", "tool_use_id": call.id, "content": output, "is_error": failed}


def main():
    how = sys.argv[1]
    client = anthropic.Anthropic(timeout=50)
    messages = [{"role": "user", "content": "please run the command"}]
    text, error = "", None
    try:
        for _ in range(MAX_TURNS):
            answer = ask(client, how, messages)
            text = "\n".join(block.text for block in answer.content if block.type == "text")
            results = [run(block) for block in answer.content if block.type == "tool_use"]
            if not results:
                break
            messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]
    except Exception as e:  # Whatever the SDK raises is the outcome to report.
        error = f"{type(e).__name__}: {e}"
    print(json.dumps({"text": text, "error": error}))
    sys.exit(1 if error else 0)


main()
