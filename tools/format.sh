#!/usr/bin/env bash
# Formats every C++ file with clang-format 19; with --check, names the lines that would change.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror)
fi
find include examples tests bench -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cuh' -o -name '*.cu' \) -print0 |
  xargs -0 -r -n 8 -P "$(nproc)" clang-format-19 --style=file "${mode[@]}"
