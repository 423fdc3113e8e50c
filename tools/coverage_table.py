#!/usr/bin/env python3
"""Prints the branch coverage of include/tev by file, a template counted once for all instantiations.

usage: coverage_table.py BUILD_DIR [LEAST]

Reads gcov's own JSON for the tests built in BUILD_DIR. gcov counts every instantiation of a template
as code of its own; here the n-th branch of a line is taken when one instantiation takes it. Where
instantiations differ in their number of branches on a line (`if constexpr`, inlined operators,
lambdas), those that take the largest share speak for the line. Branches that g++ adds for exceptions
passing through are left out. Exits with 1 below LEAST per cent.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def branches_of(data: pathlib.Path, build: pathlib.Path) -> dict[tuple, list[bool]]:
    """(header, line, number of branches) -> which were taken, in one test's data file."""
    output = subprocess.run(["gcov", "-b", "--json-format", "--stdout", str(data)], cwd=build,
                            capture_output=True, check=True).stdout  # fmt: skip
    found: dict[tuple, list[bool]] = {}
    for document in filter(None, output.splitlines()):
        for file in json.loads(document)["files"]:
            path = os.path.relpath(os.path.normpath(build / file["file"]), ROOT)
            if not path.startswith("include/tev/"):
                continue
            for line in file["lines"]:
                taken = [b["count"] > 0 for b in line["branches"] if not b["throw"]]
                if taken:
                    merge(found, (path, line["line_number"], len(taken)), taken)
    return found


def merge(into: dict[tuple, list[bool]], key: tuple, taken: list[bool]) -> None:
    into[key] = [a or b for a, b in zip(into.get(key, taken), taken)]


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    merged: dict[tuple, list[bool]] = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        data = sorted((build / "tests/CMakeFiles").rglob("*_test.cpp.gcda"))
        for found in pool.map(branches_of, data, [build] * len(data)):
            for key, taken in found.items():
                merge(merged, key, taken)

    lines: dict[tuple[str, int], list[bool]] = {}
    for (path, number, _), taken in sorted(merged.items()):
        other = lines.get((path, number))
        if other is None or sum(taken) * len(other) >= sum(other) * len(taken):
            lines[path, number] = taken
    files = collections.defaultdict(dict)
    for (path, number), taken in lines.items():
        files[path][number] = taken

    total = covered = 0
    for path, by_line in sorted(files.items()):
        count, taken = sum(map(len, by_line.values())), sum(map(sum, by_line.values()))
        missing = ", ".join(str(number) for number, seen in by_line.items() if not all(seen))
        total, covered = total + count, covered + taken
        if count != taken:
            print(f"{path:52} {taken:5} of {count:5}  lines {missing}")
    share = 100.0 * covered / max(total, 1)
    print(f"{len(data)} tests: {covered} of {total} branches taken: {share:.1f} %")
    return 0 if share >= least and total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
