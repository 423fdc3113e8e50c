#!/usr/bin/env bash
# Writes the reference documentation; a Doxygen warning is an error.
#
# usage: tools/docs.sh [OUTPUT_DIR]     (default: build/docs)
set -euo pipefail
cd "$(dirname "$0")/.."

export TEV_DOCS_DIR=${1:-build/docs}
TEV_VERSION=$(sed -n 's/^#define TEV_VERSION_[A-Z]* \([0-9]\+\)$/\1/p' include/tev/version.hpp |
  paste -sd.)
export TEV_VERSION
mkdir -p "$TEV_DOCS_DIR"
doxygen docs/Doxyfile
