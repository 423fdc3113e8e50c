"""Compiles every source of this folder twice: without its fault it has to compile, with it not.

usage: run.py --compiler CXX --include DIR --build DIR [--jobs 2]

A source names the concept that has to refuse it in a line `// refused by: CONCEPT`, other texts that
the diagnostics have to contain in lines `// expects: TEXT`, and keeps the fault behind
`#ifdef TEV_FAULT`. Exits with 1 when one of them compiles, does not fail, or
fails without these texts.
"""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys


def precompiled(options: argparse.Namespace) -> list[str]:
    """The library is compiled once for all sources; returns the options that use it."""
    options.build.mkdir(parents=True, exist_ok=True)
    header = options.build / "library.hpp"
    header.write_text("#include <tev/tev.hpp>\n")
    command = [options.compiler, "-std=c++20", f"-I{options.include}"]
    subprocess.run([*command, "-x", "c++-header", str(header), "-o", f"{header}.gch"], check=True)
    return [*command, "-fsyntax-only", "-include", str(header)]


def faults_of(source: pathlib.Path, command: list[str]) -> list[str]:
    text = source.read_text()
    expected = [re.escape(words) for words in re.findall("^// expects: (.+)$", text, re.MULTILINE)]
    for concept in re.findall("^// refused by: (.+)$", text, re.MULTILINE):
        expected.append(rf"(concept|satisf|constraint|because)\w*\b.*\b{concept}\b")
    if not expected:
        return ["does not say what it expects"]
    sound = subprocess.run([*command, str(source)], capture_output=True, text=True)
    if sound.returncode != 0:
        return [f"does not compile without its fault:\n{sound.stderr}"]
    faulty = subprocess.run([*command, "-DTEV_FAULT", str(source)], capture_output=True, text=True)
    if faulty.returncode == 0:
        return ["compiles with its fault"]
    return [f"the diagnostics do not contain `{words}`:\n{faulty.stderr}"
            for words in expected if not re.search(words, faulty.stderr)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True, type=pathlib.Path)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sources = sorted(pathlib.Path(__file__).parent.glob("*.cpp"))
    command = precompiled(options)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for source, faults in zip(sources, pool.map(lambda s: faults_of(s, command), sources)):
            bad += bool(faults)
            print(f"{'FAILED' if faults else 'refused':8} {source.stem}")
            for fault in faults:
                print(f"{source.name}: {fault}", file=sys.stderr)
    print(f"{len(sources) - bad} of {len(sources)} misuses refused as they should be")
    return 1 if bad or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
