"""Runs an example; it must exit with 0 and print exactly what the expected file, if any, says.

usage: run_example.py PROGRAM EXPECTED
"""

import difflib
import pathlib
import subprocess
import sys


def main(program: str, expected: pathlib.Path) -> int:
    run = subprocess.run([program], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{program}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
        return 1
    if expected.exists() and run.stdout != expected.read_text():
        print(f"{expected}: the program prints something else")
        sys.stdout.writelines(
            difflib.unified_diff(
                expected.read_text().splitlines(True),
                run.stdout.splitlines(True),
                "expected",
                "printed",
            )
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
