#!/usr/bin/env python3
"""A small agent on the Anthropic SDK: a few tools, a loop, and no checks of its own.

  ANTHROPIC_BASE_URL=… ANTHROPIC_API_KEY=… agent.py stream|whole

Does what the model says in the current folder, whatever the stop reason. Prints
{"text": the last answer, "error": null or what went wrong}; exit code 1 on an error.
"""
import json
import subprocess
import sys
from pathlib import Path

import anthropic

# The tools, by the arguments that they need.
TOOLS = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
}
MAX_TURNS = 20


def ask(client, how, messages):
    text = {"type": "string"}
    tools = [
        {"name": name, "input_schema": {"type": "object", "properties": dict.fromkeys(needs, text), "required": needs}}
        for name, needs in TOOLS.items()
    ]
    request = dict(model="fake-model", max_tokens=1000, messages=messages, tools=tools)
    if how == "whole":
        return client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


def run(call):
    """The tool result of a call."""
    given = call.input if isinstance(call.input, dict) else {}
    needs = TOOLS.get(call.name)
    if needs is None:
        output, failed = f"No such tool: {call.name}", True
    elif wrong := [name for name in needs if not isinstance(given.get(name), str)]:
        output, failed = f"InputValidationError: `{wrong[0]}` must be a string", True
    else:
        output, failed = act(call.name, *(given[name] for name in needs))
    return {"type": "tool_result", "tool_use_id": call.id, "content": output, "is_error": failed}


def act(tool, *arguments):
    """What the tool prints, and whether it failed."""
    if tool == "Bash":
        # By stdin: an argument may have at most 128 KiB.
        done = subprocess.run(["bash"], input=arguments[0], capture_output=True, text=True, timeout=30)
        return done.stdout + done.stderr, done.returncode != 0
    path = Path(arguments[0]).expanduser()
    if tool == "Read":
        return path.read_text(), False
    if tool == "Write":
        path.write_text(arguments[1])
    else:
        path.write_text(path.read_text().replace(*arguments[1:]))
    return "done", False


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
