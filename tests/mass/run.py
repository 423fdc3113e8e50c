"""Builds exhaustive.cpp with several compilers and flags, checks every mass and compares the bits.

usage: run.py --include DIR --build DIR --compilers CXX [CXX ...]

Unoptimised builds look at a sample of the floats, the others at all of them. Also checks that
-ffast-math and its parts are refused with a message. Exits with 1 on any difference.
"""

import argparse
import pathlib
import subprocess
import sys

FLAGS = ["-O0", "-O2", "-O3 -march=x86-64-v3"]
TOP_MASS = 2**40
FLOATS = 0x42280000  # Bit patterns from 0.0 up to, not including, 42.0.
BOUND = 2.0**-20


def runs_here(flags: str) -> bool:
    if "x86-64-v3" not in flags:
        return True
    cpu = pathlib.Path("/proc/cpuinfo")
    words = set(cpu.read_text().split()) if cpu.exists() else set()
    return {"avx2", "fma", "bmi2", "f16c", "movbe", "abm"} <= words


def build(source: pathlib.Path, include: str, program: pathlib.Path, compiler: str, flags: str):
    command = [compiler, "-std=c++20", *flags.split(), f"-I{include}", "-pthread"]
    subprocess.run([*command, str(source), "-o", str(program)], check=True)


def findings(program: pathlib.Path, mode: str) -> dict[str, str]:
    done = subprocess.run([str(program), mode], check=True, capture_output=True, text=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def faults_of(found: dict[str, str]) -> list[str]:
    faults = []
    if int(found["mass_at_0"]) != TOP_MASS:
        faults.append(f"mass at 0 is {found['mass_at_0']}, not 2^40")
    if int(found["not_monotone"]) != 0:
        faults.append(f"{found['not_monotone']} masses exceed their predecessor's")
    if int(found["out_of_bound"]) != 0:
        faults.append(f"{found['out_of_bound']} masses are off by more than 2^-20")
    if not 0 < float(found["largest_error"]) <= BOUND:
        faults.append(f"largest error is {found['largest_error']}, the bound {BOUND:.3g}")
    if "full_hash" in found and int(found["floats"]) != FLOATS:
        faults.append(f"{found['floats']} floats seen, not {FLOATS}")
    return faults


def is_clang(compiler: str) -> bool:
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    return "clang" in told.stdout


def fast_math_faults(source: pathlib.Path, include: str, compiler: str) -> list[str]:
    """Each way to ask for fast arithmetic that the compiler tells of has to be refused."""
    faults = []
    flags = ["-ffast-math", "-Ofast", "-ffinite-math-only"]
    if not is_clang(compiler):
        flags += ["-funsafe-math-optimizations", "-freciprocal-math",
                  "-fassociative-math -fno-signed-zeros -fno-trapping-math"]
    for flag in flags:
        command = [compiler, "-std=c++20", *flag.split(), f"-I{include}", "-E", str(source)]
        done = subprocess.run([*command, "-o", "/dev/null"], capture_output=True, text=True)
        if done.returncode == 0:
            faults.append(f"{compiler} {flag}: accepted")
        elif "tev: masses need IEEE arithmetic" not in done.stderr:
            faults.append(f"{compiler} {flag}: no clear message:\n{done.stderr}")
    return faults


def differences(results: dict[str, dict[str, str]]) -> list[str]:
    faults = []
    for key in ("sample_hash", "row_hash", "full_hash"):
        seen = {found[key] for found in results.values() if key in found}
        if len(seen) > 1:
            faults.append(f"{key} differs between the builds")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", required=True)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--compilers", required=True, nargs="+")
    options = parser.parse_args()
    source = pathlib.Path(__file__).with_name("exhaustive.cpp")
    options.build.mkdir(parents=True, exist_ok=True)

    faults: list[str] = []
    results: dict[str, dict[str, str]] = {}
    print(f"{'build':40} {'floats':>10} {'largest error':>13}  sample hash       row hash          "
          "full hash")
    for compiler in options.compilers:
        faults += fast_math_faults(source, options.include, compiler)
        for flags in FLAGS:
            if not runs_here(flags):
                print(f"{compiler} {flags}: this processor can't run it", flush=True)
                continue
            program = options.build / "mass_exhaustive"
            build(source, options.include, program, compiler, flags)
            found = findings(program, "sample" if flags == "-O0" else "full")
            label = f"{pathlib.Path(compiler).name} {flags}"
            results[label] = found
            faults += [f"{label}: {fault}" for fault in faults_of(found)]
            print(f"{label:40} {found['floats']:>10} {found['largest_error']:>13}  "
                  f"{found['sample_hash']}  {found['row_hash']}  "
                  f"{found.get('full_hash', '-')}", flush=True)

    faults += differences(results)
    for fault in faults:
        print(f"mass: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
