#!/usr/bin/env bash
# Runs clang-tidy 19 over the headers (one translation unit that includes them all) and the examples.
#
# usage: tools/tidy.sh BUILD_DIR        (a configured build tree)
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
{
  printf '%s\0' "$build"/tests/headers/all_headers.cpp
  find examples -name '*.cpp' -print0 | sort -z
} | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' \
  2> >(grep -v 'warnings\? generated\.$' >&2)
