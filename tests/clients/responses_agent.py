"""A small agent on OpenAI's SDK: runs what the model calls, as the final response says or as the events do."""
import json
import subprocess
import sys

import openai

TOOLS = [{"type": "function", "name": "exec_command", "strict": False, "parameters": {
    "type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}}]


def turn(client, how, given):
    """One answer: its items, read in one of the places that have them."""
    request = {"model": "m", "input": given, "tools": TOOLS}
    if how == "whole":
        return client.responses.create(**request).output
    done = []
    with client.responses.stream(**request) as stream:
        for event in stream:
            if event.type == "response.output_item.done":
                done.append(event.item)
            if event.type in ("error", "response.failed"):
                raise RuntimeError(event.to_json())
        final = stream.get_final_response().output
    return done if how == "events" else final


def main():
    how = sys.argv[1]
    client = openai.OpenAI(max_retries=0)
    given, said = [{"role": "user", "content": "please run the command"}], []
    for _ in range(4):
        try:
            items = turn(client, how, given)
        except (RuntimeError, openai.OpenAIError) as error:
            print(json.dumps({"text": "\n".join(said), "error": str(error)}))
            sys.exit(1)
        results = []
        for item in items:
            if item.type == "message":
                said += [part.text for part in item.content]
            if item.type == "function_call":
                ran = subprocess.run(json.loads(item.arguments)["cmd"], shell=True, capture_output=True, text=True)
                results.append({"type": "function_call_output", "call_id": item.call_id, "output": ran.stdout})
        given += [item.to_dict() for item in items] + results
        if not results:
            break
    print(json.dumps({"text": "\n".join(said)}))


main()
