"""Checks what holds for every file of the repository, whatever its language.

usage: repository.py SOURCE_DIR

Prints one line for each fault, and exits with 1 when there is any.
"""

import pathlib
import re
import sys

HEADER_LINES = 300
FOLDERS = ("include", "examples", "tests", "bench", "cmake", "docs", "tools", ".ci")
TEXT = {
    "", ".cmake", ".cpp", ".cu", ".cuh", ".hpp", ".in", ".json", ".md", ".py", ".sh", ".txt", ".yml"
}  # fmt: skip
SKIPPED = ("examples/models/", "tests/data/", "LICENSE")

# Written apart so that this file passes its own check.
MACHINE_PATHS = re.compile(r"(?<![\w.}])/(" + "work|tmp|root|home" + r")/")
UNFINISHED = re.compile(r"\b(" + "TO" + "DO|FIX" + "ME|XX" + r"X)\b|\bfor " + r"now\b")


def files(root: pathlib.Path):
    listed = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        listed += [path for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(listed):
        name = path.relative_to(root).as_posix()
        if path.suffix in TEXT and "__pycache__" not in name and not name.startswith(SKIPPED):
            yield name, path


def line_faults(name: str, text: str):
    for number, line in enumerate(text.split("\n"), 1):
        if found := MACHINE_PATHS.search(line):
            yield number, f"{found[0]} is a path of one machine"
        if found := UNFINISHED.search(line):
            yield number, f'"{found[0]}" announces unfinished work'
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if line.startswith("\t") and name != "Makefile":
            yield number, "a tab"


def file_faults(name: str, text: str):
    lines = text.split("\n")
    if not text.endswith("\n") or text.endswith("\n\n"):
        yield len(lines), "the file has to end with one newline"
    if not name.endswith((".hpp", ".cuh")):
        return
    if not text.startswith("// "):
        yield 1, "a header starts with a comment that says what it is"
    if "#pragma once" not in lines:
        yield 1, "a header says #pragma once"
    if len(lines) - 1 > HEADER_LINES:
        yield len(lines) - 1, f"a header has at most {HEADER_LINES} lines"


def check(root: pathlib.Path) -> list[str]:
    """All faults below `root`, as lines "file:line: what is wrong"."""
    faults = []
    for name, path in files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            faults.append(f"{name}:1: not UTF-8")
            continue
        for part in (line_faults, file_faults):
            faults += [f"{name}:{number}: {fault}" for number, fault in part(name, text)]
    return faults


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1]).resolve())
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)
