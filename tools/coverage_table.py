#!/usr/bin/env python3
"""Prints branch coverage by file from gcovr's JSON, a template counted once for all instantiations.

usage: coverage_table.py COVERAGE_JSON [LEAST]

gcovr counts every instantiation of a template as code of its own. Here the n-th branch of a line is
taken when one instantiation takes it. Where instantiations differ in their number of branches on a
line (`if constexpr`, inlined operators), those that take the largest share speak for the line. Of
lambdas gcov does not say which instantiation a branch belongs to: they count as two branches a line.
Exits with 1 below LEAST per cent.
"""

import collections
import json
import pathlib
import sys


def branches_of(file: dict) -> dict[int, list[bool]]:
    """For each line with branches whether each of them was taken."""
    merged: dict[tuple[int, int], list[bool]] = {}
    by_function = collections.defaultdict(list)
    for line in file["lines"]:
        for branch in line.get("branches", []):
            if not branch.get("throw") and not branch.get("gcovr/excluded"):
                by_function[line["line_number"], line.get("function_name")].append(
                    branch["count"] > 0)
    for (number, function), taken in by_function.items():
        if str(function).startswith("<unknown function") and len(taken) > 2:
            taken = [any(taken[0::2]), any(taken[1::2])]
        seen = merged.setdefault((number, len(taken)), [False] * len(taken))
        for i, was in enumerate(taken):
            seen[i] |= was
    lines: dict[int, list[bool]] = {}
    for (number, _), seen in sorted(merged.items()):
        if number not in lines or sum(seen) * len(lines[number]) >= sum(lines[number]) * len(seen):
            lines[number] = seen
    return lines


def main() -> int:
    files = json.loads(pathlib.Path(sys.argv[1]).read_text())["files"]
    least = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    total = covered = 0
    for file in sorted(files, key=lambda f: f["file"]):
        merged = branches_of(file)
        count = sum(map(len, merged.values()))
        taken = sum(map(sum, merged.values()))
        missing = [number for number, seen in merged.items() if not all(seen)]
        total += count
        covered += taken
        if count != taken:
            print(f"{file['file']:52} {taken:5} of {count:5}  lines {', '.join(map(str, missing))}")
    share = 100.0 * covered / max(total, 1)
    print(f"{covered} of {total} branches taken: {share:.1f} %")
    return 0 if share >= least and total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
