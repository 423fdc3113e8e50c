#!/usr/bin/env bash
# Branch coverage of include/tev by the library's own tests: builds them with gcov, runs them, prints
# a table and writes build/coverage/html/index.html.
#
# Not counted, because no test can take them or they are not ours: branches that g++ adds for
# exceptions passing through (--exclude-throw-branches), and branches in lines it finds unreachable.
# A template's branches are taken when one of its instantiations takes them.
#
# usage: tools/coverage.sh [LEAST]      (fails below LEAST per cent of the branches; default: 95)
set -euo pipefail
cd "$(dirname "$0")/.."

least=${1:-95}
build=build/coverage
jobs=${JOBS:-$(nproc)}
tools/setup.sh test
tools/setup.sh coverage

cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS_RELEASE="-O0 --coverage -fprofile-update=atomic" \
  -DCMAKE_CXX_COMPILER_LAUNCHER= -DTEV_CCACHE=TEV_CCACHE-NOTFOUND -DTEV_BUILD_BENCHMARKS=OFF

targets=()
while read -r source; do
  name=${source#tests/}
  name=${name%.cpp}
  targets+=("${name//\//.}")
done < <(find tests -name '*_test.cpp' -not -path 'tests/examples/*' | sort)
if [[ -d tests/conformance ]]; then
  targets+=(conformance)
fi
cmake --build "$build" -j "$jobs" --target "${targets[@]}" -- --quiet

find "$build" -name '*.gcda' -delete
filter=$(printf '|%s' "${targets[@]//./\\.}")
ctest --test-dir "$build" -j "$jobs" --no-label-summary --output-on-failure \
  -R "^(${filter:1})" >"$build/ctest.log" || { cat "$build/ctest.log" && exit 1; }
mkdir -p "$build/html"
gcovr --root . --filter 'include/tev/' --object-directory "$build" \
  --exclude-throw-branches --exclude-unreachable-branches --branches --sort-uncovered \
  --html-details "$build/html/index.html" --json "$build/coverage.json" \
  --txt --print-summary --fail-under-branch "$least" -j "$jobs" "$build"
