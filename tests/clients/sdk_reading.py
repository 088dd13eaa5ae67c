"""SDKs and other readers over guarded responses: what `readers_openai.py` and `readers_gemini.py` share.

A reader is a function of a response's number and a list, which it fills with the calls that it finds:
`(name, id or None, arguments, …)`. None of them may be one that was not cleared: the same tool, id and
arguments, each at most once.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import readers

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 3


def options_of(description, each):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=ROOT / "target/release/holdgate")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--each", type=int, default=each, help="responses of each kind")
    parser.add_argument("--cache", type=Path, default=ROOT / "target/readers", help="where packages are installed")
    options = parser.parse_args()
    options.cache = options.cache.resolve()
    return options


def enter(cache, name, packages):
    """Goes on in an environment that has these packages."""
    python, wanted = cache / name / "bin/python", cache / name / "installed.txt"
    if not wanted.exists() or wanted.read_text().split() != packages:
        subprocess.run([sys.executable, "-m", "venv", "--clear", cache / name], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
        wanted.write_text("\n".join(packages))
    if Path(sys.prefix) != python.parents[1]:
        os.execv(python, [python, *sys.argv])
    warnings.simplefilter("ignore")


@dataclasses.dataclass
class Case:
    """A response as the upstream sends it."""

    protocol: str
    whole: bool
    body: bytes
    request: dict
    keep_going: bool = False
    # Whether readers must find with the guard what they find without it.
    honest: bool = False
    family: str = "any"
    # What the upstream speaks, if a bridge leads to it.
    to: str | None = None

    def line(self, number):
        """As a line for `holdgate script --guard`."""
        return json.dumps({"name": f"{self.protocol}-{self.family}-{number}", "protocol": self.protocol, "whole": self.whole,
                           "chunk": random.Random(number).choice([0, 0, 1, 17]), "body": self.body.decode("latin-1"),
                           "request": self.request, "keep_going": self.keep_going, "to": self.to})


class Served:
    """A response as a reader gets it, and the calls that were cleared in it."""

    def __init__(self, case, left, kind, given=lambda call: json.loads(call["input"])):
        self.case, self.name, self.kind = case, left["name"], kind
        self.body, self.inert = left["body"].encode("latin-1"), left["inert"]
        self.cleared = [(one["name"], one["id"], readers.normal(given(one))) for one in left["cleared"]]
        # The number of the same response without the guard, and whether this is one without it.
        self.plain, self.is_plain = None, False

    def http(self, number):
        """The answer, in chunks that end anywhere."""
        size = max(random.Random(number).choice([1 << 20, 700, 64, 13]), len(self.body) // 500)
        pieces = [self.body[at:at + size] for at in range(0, len(self.body), size)]
        out = f"HTTP/1.1 200 OK\r\ncontent-type: {self.kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        return out + b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in [*pieces, b""])

    def violation(self, calls):
        """A call that a reader has assembled and that was not cleared."""
        left = list(self.cleared)
        for name, call, given, *_ in calls:
            if call in self.inert and given == {}:
                continue
            same = [one for one in left if one[0] == name and call in (None, "", one[1]) and given == one[2]]
            if not same:
                return name, call, given
            left.remove(same[0])
        return None


def guarded(binary, cases):
    """What leaves the guard, for each case that leaves it at all."""
    left = readers.guard(binary, [case.line(number) for number, case in enumerate(cases)])
    found = [(case, one) for case, one in zip(cases, left) if one["body"] is not None]
    if lost := [one["name"] for case, one in zip(cases, left) if case.honest and one["body"] is None]:
        sys.exit(f"honest responses do not leave: {lost[:9]}")
    print(f"{len(cases)} responses, of which {len(cases) - len(found)} do not leave at all", flush=True)
    return found


def judge(served, all_readers):
    """Runs readers, each `(name, which responses it reads, function)`. Prints what they find; exits."""
    passed = failed = 0

    def attempt(reader, number):
        found, error = [], None
        try:
            reader(number, found)
        except Exception as e:
            error = f"{type(e).__name__}: {e}"
        return found, error

    def check(reader, number):
        one = served[number]
        found, error = attempt(reader, number)
        wrong = one.violation(found)
        if one.plain is not None:
            before, trouble = attempt(reader, one.plain)
            lost = [call for call in before if call not in found]
            if not wrong and (lost or error or trouble):
                wrong = "lost", lost, error, "without the guard", trouble
        return number, found, error, wrong

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, reads, reader in all_readers:
            numbers = [n for n, one in enumerate(served) if not one.is_plain and reads(one)]
            tally = collections.Counter()
            for number, found, error, wrong in pool.map(lambda number: check(reader, number), numbers):
                one = served[number]
                tally.update(calls=len(found), errors=bool(error), failed=bool(wrong))
                if wrong and tally["failed"] <= SHOWN:
                    print(f"FAIL  {name}: {one.name}  {json.dumps(wrong, default=str)[:600]}\n{one.case.body[:2000]}\n{one.body[:2000]}")
            print(f"{'FAIL' if tally['failed'] else 'ok  '}  {name:24}  {len(numbers):5} responses  {tally['calls']:5} calls  "
                  f"{tally['errors']:5} ended with an error", flush=True)
            if not tally["calls"]:
                sys.exit(f"{name} has found no call at all")
            failed, passed = failed + tally["failed"], passed + len(numbers) - tally["failed"]
    print(f"{passed} passed, {failed} failed", flush=True)
    os._exit(1 if failed or not passed else 0)
