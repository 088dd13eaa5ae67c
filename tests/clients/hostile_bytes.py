"""How values become the bytes of a hostile response: JSON and events that readers take apart differently."""
import json


def text_of(rng, value, keys):
    """Its JSON, of which now and then one of `keys` comes twice or in other letters."""
    text = json.dumps(value)
    if rng.random() < 0.15:
        key = rng.choice(keys)
        other = rng.choice([key, key.title(), key.upper(), "".join(f"\\u{ord(c):04x}" for c in key)])
        text = text.replace(f'"{key}":', f'"{other}": null, "{key}":' if rng.random() < 0.5 else f'"{other}":', 1)
    return text


def framed(rng, data, name=None):
    """One event, in one of the forms that the standard knows."""
    end = rng.choice(["\n"] * 6 + ["\r\n", "\r"])
    head = rng.choice([""] * 6 + [": note" + end, "id: 1" + end, "retry: 1" + end])
    if name or rng.random() < 0.05:
        head += f"event: {name or 'x'}{end}"
    if rng.random() < 0.1:
        data = data.replace(", ", f",{end}data: ", 1)
    if rng.random() < 0.03:
        data = f"{data}{end}data: {data}"
    return f"{head}data: {data}{end}{end}"
