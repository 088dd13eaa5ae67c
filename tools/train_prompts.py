#!/usr/bin/env python3
"""Trains the weights that tell a bare prompt to a model from a short tool result.

    tools/train_prompts.py OUT.bin FILE.jsonl...

Each FILE has the format of corpus/README.md: cases with `tool_result`, or sessions with `calls` that
have a `result`. Learned from are the learn half of the cases (by a hash of the id), all of
corpus/injections.jsonl and, of corpus/prompts.jsonl, the cases whose number is not a multiple of five;
the others stay for tests.

The output is read by crates/holdgate-core/src/injection/prompts.rs, which cuts texts into the same
words: three little-endian i32 (the scale of the weights, the bias and the threshold, each times
10,000), then one i8 for each bucket. The result is the same in every run.
"""

import hashlib
import json
import math
import random
import re
import struct
import sys

BITS = 15
BUCKETS = 1 << BITS
EPOCHS = 25
RATE = 0.1
DECAY = 2e-5
# How far below zero the other texts are pushed: unknown prompts score less than those learned from.
MARGIN = 3.0
THRESHOLD = -2.0
# How much a case counts: there are few prompts, and our own short results are chosen to be hard.
PROMPT, OWN_RESULT, RESULT, FRAGMENT = 6.0, 16.0, 5.0, 1.0
HARDER = 4
MAX_TEXT, MAX_LINES, MIN_WORDS = 400, 3, 3
# Lines and sentences that are taken from a long result, so that parts of documents are known as
# harmless, and so is plain prose.
FRAGMENTS, SENTENCES = 3, 3
WORD = re.compile(r"[a-z0-9']+|\n|[^\sa-z0-9']", re.A)
SENTENCE = re.compile(r"(?<![^\s>*(])[A-Z][^.!?\n`|]+(?:\n[a-z][^.!?\n`|]+){0,2}[.!?](?=\s)")
LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ\u2019", "abcdefghijklmnopqrstuvwxyz'")


def is_bare(text):
    text = text.strip()
    prose = sum(c.isascii() and c.isalpha() or c == " " for c in text)
    return (
        len(text) <= MAX_TEXT
        and len(text.split("\n")) <= MAX_LINES
        and len(text.split()) >= MIN_WORDS
        and prose * 10 >= len(text) * 7
    )


def words(text):
    for word in WORD.findall(text.strip().translate(LOWER)):
        word = word.strip("'") or "'"
        if any(c in "0123456789" for c in word):
            yield "0"
        else:
            yield word if word.isascii() else "~"


def bucket(feature):
    value = 0x811C9DC5
    for byte in feature.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value % BUCKETS


def features(text):
    before, found = "^", set()
    for word in words(text):
        found.add(bucket(word))
        found.add(bucket(before + " " + word))
        before = word
    return found


def learned(case):
    own = re.fullmatch(r"prompt-(?:bad|ok)-(\d+)", case["id"])
    if own:
        return int(own[1]) % 5 != 0
    if case["id"].startswith("inject-"):
        return True
    # The red-team ids are spread by another hash: their files are halves by the plain one.
    name = "split-" + case["id"] if case["id"].startswith("rt-") else case["id"]
    return hashlib.sha256(name.encode()).digest()[0] & 1 == 0


def fragments(text, rng):
    if len(text) <= MAX_TEXT:
        return []
    lines = [line for line in re.split(r"\n+", text) if is_bare(line)]
    lines = [re.sub(r"^\s*\d+[\t\u2192:]\s*", "", line) for line in lines]
    prose = [s.replace("\n", " ") for s in SENTENCE.findall(text) if is_bare(s)]
    rng.shuffle(lines)
    rng.shuffle(prose)
    return lines[:FRAGMENTS] + prose[:SENTENCES]


def read(files):
    """Pairs of a text and its weight: the prompts, and the other texts."""
    rng = random.Random(3)
    prompts, others, seen = [], [], set()

    def add(text, weight):
        # Texts that differ in their paths and numbers only count once.
        key = re.sub(r"\S*[/\d\\]\S*", "@", text.strip())
        if key not in seen:
            seen.add(key)
            others.append((text, weight))

    for file in files:
        for line in open(file, encoding="utf-8"):
            case = json.loads(line)
            if not learned(case):
                continue
            if "calls" in case:
                texts = [call.get("result") for call in case["calls"]]
            else:
                texts = [case["tool_result"]["text"]]
            for text in texts:
                if not isinstance(text, str):
                    continue
                # Our own known false alarms (`flag`) are short results too.
                harmless = case["expect"] == "allow" or "note" in case
                if "calls" not in case and not harmless:
                    if case["expect"] == "block" and is_bare(text):
                        prompts.append((text, PROMPT))
                    continue
                own = case["id"].startswith(("prompt-", "inject-"))
                if is_bare(text):
                    add(text, OWN_RESULT if own else RESULT)
                for part in fragments(text, rng):
                    add(part, FRAGMENT)
    return prompts, others


def train(prompts, others):
    """Logistic regression on the presence of words and pairs of words."""
    rng = random.Random(1)
    cases = [(sorted(features(t)), 1, w) for t, w in prompts]
    cases += [(sorted(features(t)), 0, w) for t, w in others]
    weights, squares, bias = [0.0] * BUCKETS, [1e-8] * BUCKETS, 0.0
    for _ in range(EPOCHS):
        rng.shuffle(cases)
        for found, label, weight in cases:
            norm = 1 / math.sqrt(len(found) + 1)
            score = bias + norm * sum(weights[i] for i in found)
            score += 0 if label else MARGIN
            guess = 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
            slope = (guess - label) * weight
            bias -= 0.02 * slope
            for i in found:
                part = slope * norm + DECAY * weights[i]
                squares[i] += part * part
                weights[i] -= RATE * part / math.sqrt(squares[i])
    return weights, bias


def main():
    out, files = sys.argv[1], sys.argv[2:]
    prompts, others = read(files)
    weights, bias = train(prompts, others)

    def score(text):
        found = features(text)
        return bias + sum(weights[i] for i in found) / math.sqrt(len(found) + 1)

    # Once more, with more weight on the own results that are still taken for prompts.
    others = [
        (t, w * HARDER if w == OWN_RESULT and score(t) >= THRESHOLD - 0.3 else w)
        for t, w in others
    ]
    weights, bias = train(prompts, others)
    scale = max(abs(w) for w in weights) / 127
    numbers = (round(v * 10000) for v in (scale, bias, THRESHOLD))
    with open(out, "wb") as file:
        file.write(struct.pack("<3i", *numbers))
        file.write(struct.pack(f"<{BUCKETS}b", *(round(w / scale) for w in weights)))
    print(f"{len(prompts)} prompts, {len(others)} other texts, bias {bias:.3f}, scale {scale:.4f}")


if __name__ == "__main__":
    main()
