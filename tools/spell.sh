#!/usr/bin/env bash
# Looks for misspelt words in sources and documentation.
set -euo pipefail
cd "$(dirname "$0")/.."

codespell --quiet-level=3 --ignore-words=tools/spell_ignore.txt \
  --skip='*.json,*.jsonl,*.safetensors,*.svg' \
  ./*.md include examples tests bench docs cmake tools
