"""The tools of the small agents here, and what they do: no checks beyond the arguments' types."""
import subprocess
from pathlib import Path

# The tools, by the arguments that they need.
TOOLS = {
    "Bash": ("command",),
    "Read": ("file_path",),
    "Write": ("file_path", "content"),
    "Edit": ("file_path", "old_string", "new_string"),
}
MAX_TURNS = 20


def schema(needs):
    text = {"type": "string"}
    return {"type": "object", "properties": dict.fromkeys(needs, text), "required": list(needs)}


def run(name, given):
    """What a call comes to, and whether it failed."""
    given = given if isinstance(given, dict) else {}
    needs = TOOLS.get(name)
    if needs is None:
        return f"No such tool: {name}", True
    if wrong := [key for key in needs if not isinstance(given.get(key), str)]:
        return f"InputValidationError: `{wrong[0]}` must be a string", True
    return act(name, *(given[key] for key in needs))


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
