#!/usr/bin/env bash
# Everything that has to hold: style, layering, a build of everything, clang-tidy, the reference
# documentation, the tests. Stops at the first thing that does not.
#
# usage: tools/check.sh [PRESET]        (default: release)
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
build=build/$preset
jobs=${JOBS:-$(nproc)}

step() {
  printf '\n== %s\n' "$1"
  shift
  local began=$SECONDS
  "$@"
  printf '   %d s\n' $((SECONDS - began))
}

step "format" tools/format.sh --check
step "layering" python3 tests/layering/layering.py .
step "repository" python3 tests/repository/repository.py .
step "spelling" tools/spell.sh
step "configure" cmake --preset "$preset" --log-level=WARNING -DTEV_BUILD_TESTS=ON \
  -DTEV_BUILD_BENCHMARKS=ON
step "build" cmake --build "$build" -j "$jobs" -- --quiet
step "clang-tidy" tools/tidy.py
step "documentation" tools/docs.sh "$build/docs"
step "tests" ctest --test-dir "$build" --no-tests=error --output-on-failure --no-label-summary \
  -j "$jobs" --output-log "$build/ctest.log"
printf '\n%s, %d s in all\n' "$(grep 'tests passed' "$build/ctest.log")" $SECONDS
