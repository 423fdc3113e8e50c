#!/usr/bin/env python3
"""Runs clang-tidy 19 over the headers and the examples.

usage: tools/tidy.py [all]      all: every bugprone check and the static analyzer as well

Most of its time goes into system headers, so several sources of a folder are checked as one unit.
Sources that define the same internal name go into different units; a unit that does not compile
for another such reason is checked source by source.
"""

import concurrent.futures
import os
import pathlib
import platform
import re
import subprocess
import sys

UNIT_SIZE = 8
FLAGS = [
    "-std=c++20", "-Iinclude", "-Iexamples", "-Itests", "-I.", "-DNDEBUG", "-DPCRE2_CODE_UNIT_WIDTH=8",
    '-DTEV_MODELS_DIR=""', "-Wno-deprecated-declarations",
]  # fmt: skip
if platform.machine() == "x86_64":
    FLAGS += ["-mavx2", "-mfma", "-mf16c"]
ALL_CHECKS = (
    "bugprone-*,performance-*,portability-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,"
    "-bugprone-implicit-widening-of-multiplication-result,-bugprone-misplaced-widening-cast,"
    "-bugprone-narrowing-conversions,-performance-enum-size,"
    "-performance-inefficient-vector-operation,-clang-analyzer-optin.core.EnumCastOutOfRange"
)

ANONYMOUS = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
DEFINED = re.compile(r"^(?![ }/#]).*?(\w+)(?:\[\w*\])* ?(?:[({=;]|$)", re.MULTILINE)


def internal_names(source: pathlib.Path) -> set[str]:
    bodies = ANONYMOUS.findall(source.read_text())
    return {found for body in bodies for found in DEFINED.findall(body)}


def units(sources: list[pathlib.Path]) -> list[list[pathlib.Path]]:
    """Groups of sources that define no internal name twice."""
    groups: list[tuple[list[pathlib.Path], set[str]]] = []
    for source in sources:
        names = internal_names(source)
        for members, taken in groups:
            if len(members) < UNIT_SIZE and not names & taken:
                members.append(source)
                taken |= names
                break
        else:
            groups.append(([source], names))
    return [members for members, _ in groups]


def tidy(path: pathlib.Path, options: list[str]) -> tuple[int, str]:
    command = ["clang-tidy-19", "--quiet", "--warnings-as-errors=*", *options, str(path)]
    run = subprocess.run([*command, "--", *FLAGS], capture_output=True, text=True)
    return run.returncode, run.stdout


def tidy_unit(name: str, includes: list[str], sources: list[pathlib.Path], options: list[str]):
    unit = pathlib.Path("build/tidy") / f"{name}.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in includes))
    status, output = tidy(unit, options)
    if "clang-diagnostic-error" not in output or not sources:
        return status, output
    results = [tidy(source, options) for source in sources]
    return max(code for code, _ in results), "".join(text for _, text in results)


def main() -> int:
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    pathlib.Path("build/tidy").mkdir(parents=True, exist_ok=True)
    options = [f"--checks={ALL_CHECKS}"] if sys.argv[1:] == ["all"] else []

    jobs = []
    for folder in sorted({path.parent for path in pathlib.Path("examples").rglob("*.cpp")}):
        for number, members in enumerate(units(sorted(folder.glob("*.cpp")))):
            name = f"{folder.name}_{number}"
            jobs.append((name, [str(path) for path in members], members))
    headers = sorted(pathlib.Path("include").rglob("*.hpp"))
    jobs.append(("headers", [str(path.relative_to("include")) for path in headers], []))

    failed = False
    workers = int(os.environ.get("JOBS", os.cpu_count() or 1))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(tidy_unit, *job, options) for job in jobs]:
            status, output = future.result()
            print(output, end="", flush=True)
            failed = failed or status != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
