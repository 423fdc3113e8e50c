#!/usr/bin/env bash
# Installs what the build needs and the machine lacks; without the right to do so, prints the line
# that does.
#
# usage: tools/setup.sh [demo|test|coverage]     (default: test; each includes demo)
set -euo pipefail
cd "$(dirname "$0")/.."

group=${1:-test}
if ! command -v dpkg-query >/dev/null; then
  echo "tools/setup.sh: this is no Debian system; install the equivalents of tools/packages.txt" >&2
  exit 0
fi

missing=()
while read -r package needed_by; do
  [[ $needed_by == demo || $needed_by == "$group" ]] || continue
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done < <(grep -Ev '^(#|$)' tools/packages.txt)
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! sudo -n true 2>/dev/null; then
    echo "Missing packages; please run this line and start again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi

echo "Installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  "${as_root[@]}" apt-get -qq update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}"
}
if ! install >"$log" 2>&1; then
  cat "$log" >&2
  echo "tools/setup.sh: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
