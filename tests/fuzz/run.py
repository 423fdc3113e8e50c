"""Replays the corpus with every target, then looks for new inputs where a libFuzzer program is given.

usage: run.py --corpus DIR --work DIR [--replay NAME=PROGRAM ...] [--fuzzer NAME=PROGRAM ...]

The environment's SECONDS is the time for each target, 20 where it is not set. Found inputs are kept
in DIR/found, and what ended a program in DIR/crash-NAME. Exits with 1 after a finding.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def pairs(texts: list[str]) -> list[tuple[str, str]]:
    return [tuple(text.split("=", 1)) for text in texts]


def replay(corpus: pathlib.Path, name: str, program: str) -> bool:
    done = subprocess.run([program, str(corpus / name)], capture_output=True, text=True)
    files = len(done.stdout.splitlines())
    print(f"{name:12} corpus of {files} files {'replayed' if done.returncode == 0 else 'FAILED'}")
    if done.returncode != 0:
        print(done.stdout[-300:], done.stderr[-3000:], file=sys.stderr)
    return done.returncode == 0


def fuzz(options: argparse.Namespace, name: str, program: str, seconds: int) -> bool:
    found = options.work / "found" / name
    found.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
               "-max_len=8192", "-len_control=50", "-print_final_stats=1",
               f"-artifact_prefix={options.work}/crash-{name}-", str(found),
               str(options.corpus / name)]
    dictionary = options.corpus.parent / f"{name}.dict"
    if dictionary.exists():
        command.insert(1, f"-dict={dictionary}")
    done = subprocess.run(command, capture_output=True, text=True)
    runs = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    print(f"{name:12} {seconds} s, {runs[1] if runs else '?'} runs, "
          f"{covered[-1] if covered else '?'} edges covered: "
          f"{'no finding' if done.returncode == 0 else 'FINDING'}", flush=True)
    if done.returncode != 0:
        print(done.stderr[-6000:], file=sys.stderr)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--replay", action="append", default=[])
    parser.add_argument("--fuzzer", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    seconds = int(os.environ.get("SECONDS", "20"))
    good = [replay(options.corpus, *pair) for pair in pairs(options.replay)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good += pool.map(lambda pair: fuzz(options, *pair, seconds), pairs(options.fuzzer))
    if not options.fuzzer:
        print("clang++-19 with libFuzzer is not here: no new inputs were tried")
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
