"""Writes the tables of well-known packages that `knowledge/publishers.rs` looks names up in.

The names come from packages of the ordinary registries:
- guarddog (PyPI, Apache-2.0): the most used packages of npm, PyPI, RubyGems and Go;
- npm-high-impact (npm, MIT): npm packages with many downloads or many dependents;
- the lock files of well-known programs on crates.io: the crates that they are built of (names only).

Each table holds the 32-bit FNV-1a hashes of names, sorted, four bytes each, least significant byte
first. An unknown name is taken for a known one with a probability of about 1 in 250,000.

    python3 tools/publishers.py [FOLDER]

FOLDER holds downloaded packages from an earlier run; without it, they are downloaded.
"""

import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile

GUARDDOG = "guarddog==3.2.0"
HIGH_IMPACT = "npm-high-impact@1.13.0"
TABLES = pathlib.Path(__file__).parent.parent / "crates/holdgate-effects/src/knowledge/publishers/names"
CRATES = "https://static.crates.io/crates/{0}/{0}-{1}.crate"
RESOURCES = "guarddog/analyzer/metadata/resources/top_{}_packages.json"
# Forges: the first part of a path there is its owner.
FORGES = {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitee.com", "git.sr.ht"}

# Well-known programs that are published with their lock file.
PROGRAMS = (
    "aichat@0.30.0 alacritty@0.17.0 anchor-cli@1.2.2 ast-grep@0.51.1 atuin@18.24.4 bacon@3.26.0 "
    "bandwhich@0.23.1 bat@0.26.1 bore-cli@0.6.0 boringtun-cli@0.7.1 bottom@0.15.0 broot@1.62.0 "
    "burn@0.22.1 candle-core@0.11.1 cargo-about@0.9.3 cargo-apk@0.10.0 cargo-audit@0.22.2 "
    "cargo-binstall@1.26.2 cargo-bloat@0.12.1 cargo-cache@0.8.3 cargo-component@0.21.1 "
    "cargo-deb@3.8.0 cargo-deny@0.20.2 cargo-dist@0.34.0 cargo-dylint@6.3.2 cargo-edit@0.13.14 "
    "cargo-embed@1.0.1 cargo-espflash@4.7.0 cargo-expand@1.0.127 cargo-fuzz@0.13.2 "
    "cargo-generate@0.26.0 cargo-hakari@0.9.39 cargo-insta@1.49.0 cargo-lambda@1.9.2 "
    "cargo-leptos@0.3.11 cargo-llvm-cov@0.9.1 cargo-machete@0.9.2 cargo-make@0.37.24 "
    "cargo-mutants@27.1.0 cargo-ndk@4.1.2 cargo-nextest@0.9.151 cargo-outdated@0.19.0 "
    "cargo-release@1.1.7 cargo-semver-checks@0.51.0 cargo-shear@1.14.0 cargo-show-asm@0.2.64 "
    "cargo-shuttle@0.57.3 cargo-tarpaulin@0.37.5 cargo-udeps@0.1.61 cargo-update@22.1.1 "
    "cargo-vet@0.10.3 cargo-watch@8.5.3 cargo-workspaces@0.4.2 cargo-xwin@0.23.1 "
    "cargo-zigbuild@0.24.0 cargo@0.100.0 conserve@24.8.0 create-tauri-app@4.8.0 cross@0.2.5 "
    "datafusion-cli@55.2.0 defmt-print@1.2.0 deno@2.9.8 diesel_cli@2.3.14 difftastic@0.72.0 "
    "dioxus-cli@0.7.10 dprint@0.64.3 dufs@0.47.0 embassy-executor@0.10.0 espflash@4.7.0 espup@0.19.0 "
    "evcxr_repl@0.22.0 eza@0.23.5 fd-find@10.5.0 feroxbuster@2.13.1 flamegraph@0.6.15 "
    "git-cliff@2.14.2 git-delta@0.20.1 gitoxide@0.61.0 gitui@0.28.1 gix@0.90.0 gping@1.21.0 "
    "grcov@0.10.7 hickory-dns@0.26.3 himalaya@2.2.1 hyperfine@2.0.0 iamb@0.13.1 inferno@0.12.8 "
    "innernet@2.0.0 jaq@3.1.2 jj-cli@0.46.0 jless@0.9.0 jql@9.0.3 just@1.59.0 ldproxy@0.3.5 "
    "leptosfmt@0.1.33 lsd@1.2.0 lychee@0.24.2 maturin@1.16.0 mdbook@0.5.4 miniserve@0.35.0 "
    "mise@2026.10.25 ncspot@1.5.0 nu@0.116.1 oha@1.16.0 ouch@0.8.3 polars@0.55.2 presenterm@0.16.1 "
    "probe-rs-tools@0.32.0 probe-run@0.3.11 procs@0.14.12 prqlc@0.13.14 pueue@4.0.4 qsv@16.1.0 "
    "rathole@0.5.0 release-plz@0.4.3 rerun-cli@0.41.0 rhai@1.27.0 rig-core@0.46.0 ripgrep@15.2.0 "
    "rune-cli@0.14.2 rustic-rs@0.11.4 rustpython@0.6.0 rustscan@2.4.1 rustypaste@0.18.1 samply@0.13.1 "
    "sccache@0.19.0 sea-orm-cli@2.0.4 selene@0.31.0 shadowsocks-rust@1.25.0 slumber@5.4.4 "
    "sniffnet@1.5.1 solana-cli@4.4.0 spotify_player@0.25.1 sqlx-cli@0.9.0 starship@1.27.0 "
    "stylua@2.6.0 surrealdb@3.3.5 swc_cli@0.128.0 systemfd@0.4.6 tantivy-cli@0.24.0 taplo-cli@0.10.0 "
    "tauri-cli@2.12.4 tealdeer@1.9.1 television@0.15.9 tokei@15.0.0 topgrade@17.14.1 "
    "tree-sitter-cli@0.27.1 trippy@0.13.0 trunk@0.22.1 typos-cli@1.52.0 typst-cli@0.15.1 "
    "uniffi@0.32.2 viu@1.6.1 wasm-bindgen-cli@0.2.130 wasm-pack@0.15.1 wasm-tools@1.263.0 "
    "wasmer-cli@7.5.0 wasmtime-cli@48.0.8 watchexec-cli@2.8.0 websocat@1.14.1 wit-bindgen-cli@0.63.0 "
    "xan@0.61.0 xh@0.26.3 yazi-fm@26.5.6 zellij@0.45.1"
).split()


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


def crates() -> set[str]:
    names = set()
    for program in PROGRAMS:
        name, version = program.split("@")
        request = urllib.request.Request(CRATES.format(name, version), headers={"User-Agent": "holdgate"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            archive = tarfile.open(fileobj=io.BytesIO(answer.read()))
        lock = archive.extractfile(f"{name}-{version}/Cargo.lock").read().decode()
        names.update(re.findall(r'^name = "([^"]+)"', lock, re.MULTILINE))
    return {name.lower().replace("_", "-") for name in names}


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
    write("crates", crates())
    write("forge", owners)


if __name__ == "__main__":
    main()
