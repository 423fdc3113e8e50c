#!/usr/bin/env python3
"""Proves that the tests can fail: plants one fault at a time and expects a probe to notice.

run.py PROJECT [--compiler g++] [--jobs 2] [--only TEXT]

Every mutant is a header of include/ with one place changed, which the compiler finds before the
library's own; the probe of that part of the library is compiled and run. A mutant is killed when the probe fails or is still running after a
minute; one that doesn't compile is an error. Exit status 0 when all probes pass on the unchanged
library and every mutant is killed.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from mutants import MUTANTS  # noqa: E402

RUN_LIMIT_S = 60
COMPILE_LIMIT_S = 300
OPTIONS = ["-std=c++20", "-O0", "-w"]


def precompile_standard_headers(project, folder, compiler):
    """One compilation of the standard headers serves all mutants; returns the options for it."""
    sources = [*(project / "include").rglob("*.hpp"), *(project / "tests/mutants").glob("*.?pp")]
    names = set()
    for source in sources:
        names.update(re.findall(r"^#include <[a-z_]+>$", source.read_text(), re.MULTILINE))
    prelude = folder / "prelude.hpp"
    prelude.write_text("\n".join(sorted(names)) + "\n")
    command = [compiler, *OPTIONS, "-x", "c++-header", str(prelude), "-o", str(prelude) + ".gch"]
    subprocess.run(command, check=True, timeout=COMPILE_LIMIT_S)
    return ["-include", str(prelude)]


def build_and_run(project, include, probe, program, compiler, options):
    """Returns ("passed" | "failed" | "timeout" | "error", what the compiler or the probe said)."""
    command = [compiler, *OPTIONS, *options, "-I", str(include), "-I", str(project / "include"),
               str(project / f"tests/mutants/probe_{probe}.cpp"), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_LIMIT_S)
    if built.returncode != 0:
        return "error", built.stderr.strip()
    try:
        ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=RUN_LIMIT_S)
    except subprocess.TimeoutExpired:
        return "timeout", f"still running after {RUN_LIMIT_S} s"
    if ran.returncode == 0:
        return "passed", ""
    said = ran.stdout.strip().splitlines()
    return "failed", said[-1] if said else f"ended with {ran.returncode}"


def try_mutant(project, folder, compiler, options, number, mutant):
    """Returns (verdict, detail): "killed", "SURVIVED" or "ERROR"."""
    probe, _, file, old, new = mutant
    source = project / "include/tev" / file
    text = source.read_text() if source.is_file() else ""
    if text.count(old) != 1:
        return "ERROR", f"include/tev/{file} has the old text {text.count(old)} times"
    home = folder / str(number)
    changed = home / "include/tev" / file
    changed.parent.mkdir(parents=True)
    changed.write_text(text.replace(old, new))
    result, detail = build_and_run(project, home / "include", probe, home / "probe", compiler,
                                   options)
    shutil.rmtree(home)
    if result == "passed":
        return "SURVIVED", f"include/tev/{file}: {old} -> {new or '(nothing)'}"
    return ("ERROR" if result == "error" else "killed"), detail


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=pathlib.Path)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    arguments = parser.parse_args()
    project = arguments.project.resolve()
    chosen = [m for m in MUTANTS if arguments.only in m[1]]
    start = time.monotonic()
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = precompile_standard_headers(project, folder, arguments.compiler)
        for probe in sorted({m[0] for m in chosen}):
            result, detail = build_and_run(project, project / "include", probe, folder / "probe",
                                           arguments.compiler, options)
            if result != "passed":
                sys.exit(f"probe_{probe} does not pass on the unchanged library: {result}: {detail}")
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            trials = [pool.submit(try_mutant, project, folder, arguments.compiler, options, k, m)
                      for k, m in enumerate(chosen)]
            for mutant, trial in zip(chosen, trials):
                verdict, detail = trial.result()
                bad += verdict != "killed"
                print(f"{verdict:8}  {mutant[1]}  ({detail})", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} mutants killed in {time.monotonic() - start:.0f} s")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
