"""Writes the tables of well-known packages that `knowledge/publishers.rs` looks names up in.

The names come from two packages of the ordinary registries:
- guarddog (PyPI, Apache-2.0): the most used packages of npm, PyPI, RubyGems and Go;
- npm-high-impact (npm, MIT): npm packages with many downloads or many dependents.

Each table holds the 32-bit FNV-1a hashes of names, sorted, four bytes each, least significant byte
first. An unknown name is taken for a known one with a probability of about 1 in 250,000.

    python3 tools/publishers.py [FOLDER]

FOLDER holds downloaded packages from an earlier run; without it, they are downloaded.
"""

import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

GUARDDOG = "guarddog==3.2.0"
HIGH_IMPACT = "npm-high-impact@1.13.0"
TABLES = pathlib.Path(__file__).parent.parent / "crates/holdgate-effects/src/knowledge/publishers/names"
RESOURCES = "guarddog/analyzer/metadata/resources/top_{}_packages.json"
# Forges: the first part of a path there is its owner.
FORGES = {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com", "git.sr.ht"}


def download(folder: pathlib.Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", str(folder), GUARDDOG]
    subprocess.run(pip, check=True)
    subprocess.run(["npm", "pack", HIGH_IMPACT], check=True, cwd=folder)


def guarddog(folder: pathlib.Path, registry: str) -> list[str]:
    wheel = next(folder.glob("guarddog-*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        return json.loads(archive.read(RESOURCES.format(registry)))["packages"]


def high_impact(folder: pathlib.Path) -> list[str]:
    with tarfile.open(next(folder.glob("npm-high-impact-*.tgz"))) as archive:
        text = archive.extractfile("package/lib/top.js").read().decode()
    return re.findall(r"^  '([^']+)'", text, re.MULTILINE)


def hash_of(name: str) -> int:
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def npm(names: list[str]) -> set[str]:
    """Whoever owns a scope owns all packages in it: `@types/node` makes `@types` known."""
    names = [name.lower() for name in names]
    return set(names) | {name.split("/")[0] for name in names if name.startswith("@")}


def pypi(names: list[str]) -> set[str]:
    return {re.sub(r"[-_.]+", "-", name.lower()) for name in names}


def go(names: list[str]) -> tuple[set[str], set[str]]:
    """Modules by their owner at a forge, or by the host that vouches for them; and owners at GitHub."""
    modules, owners = set(), set()
    for name in names:
        parts = name.lower().split("/")
        if parts[0] == "gopkg.in":
            modules.add("/".join(parts[:2]).rsplit(".v", 1)[0])
        elif parts[0] in FORGES and len(parts) > 1:
            modules.add("/".join(parts[:2]))
            if parts[0] == "github.com":
                owners.add(parts[1])
        elif "." in parts[0]:
            modules.add(parts[0])
    return modules, owners


def write(registry: str, names: set[str]) -> None:
    hashes = sorted({hash_of(name) for name in names})
    path = TABLES / f"{registry}.bin"
    path.write_bytes(struct.pack(f"<{len(hashes)}I", *hashes))
    print(f"{path.name}: {len(names)} names, {path.stat().st_size} bytes")


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(tempfile.mkdtemp())
    if not list(folder.glob("guarddog-*.whl")):
        download(folder)
    modules, owners = go(guarddog(folder, "go"))
    write("npm", npm(guarddog(folder, "npm") + high_impact(folder)))
    write("pypi", pypi(guarddog(folder, "pypi")))
    write("gem", {name.lower() for name in guarddog(folder, "rubygems")})
    write("go", modules)
    write("forge", owners)


if __name__ == "__main__":
    main()
