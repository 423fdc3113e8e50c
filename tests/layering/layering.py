"""Checks that every #include points where the design lets it.

usage: layering.py SOURCE_DIR

Prints one line for each include that does not, and exits with 1 when there is any.
"""

import pathlib
import re
import sys

# What the headers of a folder of include/tev may include besides their own folder.
FOUNDATION = {"core", "tree", "distribution", "random", "team"}
ALGORITHMS = {"exit_law", "verify", "build", "objective"}
ARROWS = {
    "core": set(),
    "tree": {"core"},
    "random": {"core"},
    "team": {"core"},
    "distribution": {"core", "tree", "team"},
    "encoding": {"core", "tree"},
    "exit_law": FOUNDATION,
    "verify": FOUNDATION | {"exit_law"},
    "build": FOUNDATION | {"exit_law"},
    "objective": FOUNDATION | {"exit_law"},
    "batch": FOUNDATION | ALGORITHMS,
    "cuda": FOUNDATION | ALGORITHMS | {"batch"},
}

DEVICE_FOLDERS = ("cub/", "thrust/", "cuda/", "cooperative_groups", "nv/")
THIRD_PARTY = {
    "llm": ("fmt/", "nlohmann/", "pcre2.h", "utf8proc.h"),
    "cli": ("fmt/", "nlohmann/", "CLI/"),
    "numbered": ("fmt/",),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
DETAIL = re.compile(r"\btev::(\w+::)*detail\b")


def is_device(name: str) -> bool:
    return name.startswith(DEVICE_FOLDERS) or name.startswith(("cuda_", "cuda.h", "device_"))


def is_standard(name: str) -> bool:
    """A header of the C++ standard library: a bare word."""
    return re.fullmatch(r"[a-z_0-9]+", name) is not None


def is_system(name: str) -> bool:
    """A header of the operating system or the compiler."""
    return re.fullmatch(r"(sys/)?[a-z0-9]+\.h", name) is not None


def includes(path: pathlib.Path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2]


def tev_include_fault(folder: str, quote: str, name: str, device: bool) -> str | None:
    """Why a header in `folder` ("" for include/tev itself) may not include `name`."""
    if name.startswith("tev/"):
        parts = name.split("/")
        target = parts[1] if len(parts) > 2 else ""
        if not device and (target == "cuda" or name.endswith(".cuh")):
            return "only the device folder includes device headers"
        if folder == "" or target == folder or name in ("tev/version.hpp",):
            return None
        if target not in ARROWS.get(folder, set()):
            return f"{folder} may not include {target or 'the umbrella header'}"
        return None
    if is_device(name):
        return None if device else "only the device folder includes CUDA, CUB or Thrust"
    if quote == '"':
        return 'headers of tev are included as "tev/<folder>/<thing>.hpp"'
    return None if is_standard(name) else "the library needs the C++ standard library alone"


def check_library(root: pathlib.Path):
    base = root / "include" / "tev"
    for path in sorted([*base.rglob("*.hpp"), *base.rglob("*.cuh")]):
        parts = path.relative_to(base).parts
        folder = parts[0] if len(parts) > 1 else ""
        device = folder == "cuda" or path.suffix == ".cuh"
        if device and not (folder == "cuda" or path.name == "cuda.cuh"):
            yield path, 1, "device headers live in include/tev/cuda"
        if folder and folder not in ARROWS:
            yield path, 1, f"{folder} is no folder of the design"
        for number, quote, name in includes(path):
            if fault := tev_include_fault(folder, quote, name, device):
                yield path, number, f"{name}: {fault}"
            elif name.startswith("tev/") and not (root / "include" / name).exists():
                yield path, number, f"{name}: there is no such header"


def example_include_fault(root: pathlib.Path, part: str, quote: str, name: str) -> str | None:
    """Why a file in examples/`part` may not include `name`."""
    if name.startswith("tev/"):
        if "detail" in name:
            return "examples use public headers of tev only"
        return None if (root / "include" / name).exists() else "there is no such header"
    if name.startswith("cli/") and part != "cli":
        return "only the program includes its own parts"
    if quote == '"':
        return None
    kind = part if part in THIRD_PARTY else "numbered"
    if is_standard(name) or name.startswith(THIRD_PARTY[kind]):
        return None
    if kind != "numbered" and is_system(name):
        return None
    return "examples use fmt, nlohmann-json, CLI11, PCRE2 and utf8proc, each in its own part"


def check_examples(root: pathlib.Path):
    base = root / "examples"
    for path in sorted([*base.rglob("*.hpp"), *base.rglob("*.cpp")]):
        part = path.relative_to(base).parts[0]
        for number, quote, name in includes(path):
            if fault := example_include_fault(root, part, quote, name):
                yield path, number, f"{name}: {fault}"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if DETAIL.search(line):
                yield path, number, "examples use public names of tev only"


def check(root: pathlib.Path) -> list[str]:
    """All faults below `root`, as lines "file:line: what is wrong"."""
    return [
        f"{path.relative_to(root)}:{number}: {fault}"
        for part in (check_library, check_examples)
        for path, number, fault in part(root)
    ]


if __name__ == "__main__":
    faults = check(pathlib.Path(sys.argv[1]).resolve())
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else 0)
