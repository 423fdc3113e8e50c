#!/usr/bin/env bash
# Branch coverage of include/tev by the library's own tests: builds them with gcov, runs them, prints
# a table and writes build/coverage/html/index.html.
#
# The table and the limit come from tools/coverage_table.py, which says how it counts. The html pages
# are gcovr's, which counts each instantiation of a template and loses some of them.
#
# usage: tools/coverage.sh [LEAST]      (fails below LEAST per cent of the branches; default: 95)
set -euo pipefail
cd "$(dirname "$0")/.."

least=${1:-95}
build=build/coverage
jobs=${JOBS:-$(nproc)}
tools/setup.sh test
tools/setup.sh coverage
if [[ ! -x $build/venv/bin/gcovr ]]; then
  python3 -m venv "$build/venv"
  "$build/venv/bin/pip" install --quiet 'gcovr>=8,<9'
fi

cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_FLAGS_RELEASE="-O0 --coverage -fprofile-update=atomic" \
  -DCMAKE_CXX_COMPILER_LAUNCHER= -DTEV_CCACHE=TEV_CCACHE-NOTFOUND -DTEV_BUILD_BENCHMARKS=OFF

targets=()
while read -r source; do
  name=${source#tests/}
  name=${name%.cpp}
  targets+=("${name//\//.}")
done < <(find tests -name '*_test.cpp' -not -path 'tests/examples/*' | sort)
cmake --build "$build" -j "$jobs" --target "${targets[@]}" -- --quiet

find "$build" -name '*.gcda' -delete
filter=$(printf '|%s' "${targets[@]//./\\.}")
ctest --test-dir "$build" -j "$jobs" --no-label-summary --output-on-failure \
  -R "^(${filter:1})" >"$build/ctest.log" || { cat "$build/ctest.log" && exit 1; }
# Sources that were touched since they were compiled are looked at as they were.
mkdir -p "$build/html"
"$build/venv/bin/gcovr" --root . --filter 'include/tev/' --object-directory "$build" \
  --exclude-throw-branches --exclude-unreachable-branches --gcov-ignore-errors=all \
  --gcov-ignore-parse-errors=all --merge-mode-functions=separate \
  --html-details "$build/html/index.html" -j "$jobs" "$build/tests/CMakeFiles"
tools/coverage_table.py "$build" "$least"
