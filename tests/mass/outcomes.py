"""Builds outcomes.cpp with several compilers and flags and compares masses, draws, logarithms, trees
and outcomes bit for bit.

usage: outcomes.py --include DIR --tests DIR --build DIR --compilers CXX [CXX ...] [--jobs 2]

Exits with 1 on any difference.
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
from run import runs_here  # noqa: E402

FLAGS = ["-O0", "-O2", "-O3 -march=x86-64-v3", "-O3 -march=native"]


def hashes_of(options: argparse.Namespace, compiler: str, flags: str) -> dict[str, str]:
    name = f"{pathlib.Path(compiler).name} {flags}"
    program = options.build / name.replace(" ", "_")
    source = pathlib.Path(__file__).with_name("outcomes.cpp")
    command = [compiler, "-std=c++20", *flags.split(), f"-I{options.include}", f"-I{options.tests}"]
    subprocess.run([*command, str(source), "-o", str(program)], check=True)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    print(f"{name:32} {' '.join(done.stdout.split())}", flush=True)
    return dict(line.split(" ") for line in done.stdout.splitlines())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True)
    parser.add_argument("--tests", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--compilers", required=True, nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    builds = [(compiler, flags) for compiler in options.compilers for flags in FLAGS
              if runs_here(flags)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda build: hashes_of(options, *build), builds))
    different = [key for key in results[0] if len({found[key] for found in results}) > 1]
    for key in different:
        print(f"outcomes: {key} differ between the builds", file=sys.stderr)
    print(f"{len(results)} builds, {'different bits' if different else 'the same bits'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
