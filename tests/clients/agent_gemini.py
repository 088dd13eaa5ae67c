#!/usr/bin/env python3
"""A small agent on google-genai, Google's SDK for Gemini: a few tools, a loop, and no checks of its own.

  GOOGLE_GEMINI_BASE_URL=… GEMINI_API_KEY=… agent_gemini.py stream|whole|list

Does what the model says in the current folder, whatever the reason for the end. With `list`, it asks
for a stream without `alt=sse`, which the SDK cannot, and reads the list with the SDK's types. Prints
{"text": the last answer, "error": null or what went wrong}; exit code 1 on an error.
"""
import json
import os
import sys
import urllib.request

from google import genai
from google.genai import types

from tools import MAX_TURNS, TOOLS, run, schema

MODEL = "gemini-2.5-flash"
DECLARED = [
    types.FunctionDeclaration(name=name, parameters_json_schema=schema(needs)) for name, needs in TOOLS.items()
]


def ask(client, how, contents):
    """The parts of the answer."""
    config = types.GenerateContentConfig(
        system_instruction="You are a test.",
        tools=[types.Tool(function_declarations=DECLARED)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    request = dict(model=MODEL, contents=contents, config=config)
    if how == "whole":
        return parts(client.models.generate_content(**request))
    if how == "list":
        return [part for chunk in as_list(contents) for part in parts(chunk)]
    found = []
    for chunk in client.models.generate_content_stream(**request):
        chunk.text  # As most programs do.
        found += parts(chunk)
    return found


def parts(answer):
    content = answer.candidates[0].content
    return content.parts or [] if content else []


def as_list(contents):
    """A stream as plain JSON, with the key in the query."""
    base, key = os.environ["GOOGLE_GEMINI_BASE_URL"], os.environ["GEMINI_API_KEY"]
    declared = [tool.model_dump(exclude_none=True, by_alias=True) for tool in DECLARED]
    body = {
        "contents": [content.model_dump(mode="json", exclude_none=True, by_alias=True) for content in contents],
        "tools": [{"functionDeclarations": declared}],
    }
    url = f"{base}/v1beta/models/{MODEL}:streamGenerateContent?key={key}"
    headers = {"content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return [types.GenerateContentResponse.model_validate(chunk) for chunk in json.load(answer)]


def result(call):
    output, failed = run(call.name, call.args)
    return types.Part.from_function_response(name=call.name, response={"error" if failed else "output": output})


def main():
    how = sys.argv[1]
    client = genai.Client(http_options=types.HttpOptions(timeout=50_000))
    contents = [types.Content(role="user", parts=[types.Part(text="please run the command")])]
    text, error = "", None
    try:
        for _ in range(MAX_TURNS):
            found = ask(client, how, contents)
            text = "".join(part.text for part in found if part.text and not part.thought)
            calls = [part.function_call for part in found if part.function_call]
            if not calls:
                break
            contents += [
                types.Content(role="model", parts=found),
                types.Content(role="user", parts=[result(call) for call in calls]),
            ]
    except Exception as e:  # Whatever the SDK raises is the outcome to report.
        error = f"{type(e).__name__}: {e}"
    print(json.dumps({"text": text, "error": error}))
    sys.exit(1 if error else 0)


main()
