#!/usr/bin/env bash
# Runs clang-tidy 19 over the headers (one translation unit that includes them all) and the examples:
# the checks of .clang-tidy, or with `all` also every bugprone check and the static analyzer.
#
# usage: tools/tidy.sh BUILD_DIR [all]      (a configured build tree)
set -euo pipefail
cd "$(dirname "$0")/.."

build=$1
checks=
if [[ ${2:-} == all ]]; then
  checks='bugprone-*,clang-analyzer-*,-bugprone-easily-swappable-parameters'
  checks+=',-bugprone-implicit-widening-of-multiplication-result,-bugprone-misplaced-widening-cast'
  checks+=',-bugprone-narrowing-conversions,-clang-analyzer-optin.core.EnumCastOutOfRange'
fi
{
  printf '%s\0' "$build"/tests/headers/all_headers.cpp
  find examples -name '*.cpp' -print0 | sort -z
} | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy-19 -p "$build" --quiet --warnings-as-errors='*' \
  --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations \
  ${checks:+"--checks=$checks"} 2> >(grep -v 'warnings\? generated\.$' >&2)
