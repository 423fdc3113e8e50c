"""Compiles and runs the README's first example and compares what it prints with what the README
says: the ```cpp block that includes <tev/tev.hpp>, and the ```text block after it.

usage: readme_snippet.py README INCLUDE_DIR COMPILER
"""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippet(markdown: str) -> tuple[str, str] | None:
    """Source and expected output, or nothing when there is no such pair."""
    blocks = [(found[1], found[2]) for found in BLOCK.finditer(markdown)]
    for i, (language, source) in enumerate(blocks):
        if language == "cpp" and "#include <tev/tev.hpp>" in source:
            expected = [text for language, text in blocks[i + 1 :] if language == "text"]
            return (source, expected[0]) if expected else None
    return None


def main(readme: pathlib.Path, include: str, compiler: str) -> int:
    pair = snippet(readme.read_text(encoding="utf-8")) if readme.exists() else None
    if pair is None:
        print(f"{readme}: no ```cpp block with #include <tev/tev.hpp>, then a ```text block")
        return 1
    source, expected = pair
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "snippet"
        program.with_suffix(".cpp").write_text(source)
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-I", include]
        build = subprocess.run([compiler, *flags, f"{program}.cpp", "-o", str(program)])
        if build.returncode != 0:
            print(f"{readme}: the example does not compile")
            return 1
        run = subprocess.run([str(program)], capture_output=True, text=True)
    if run.returncode != 0:
        print(f"{readme}: the example ends with status {run.returncode}\n{run.stdout}{run.stderr}")
        return 1
    if run.stdout != expected:
        print(f"{readme}: the example prints something else")
        said, printed = (text.splitlines(True) for text in (expected, run.stdout))
        sys.stdout.writelines(difflib.unified_diff(said, printed, "README", "printed"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
