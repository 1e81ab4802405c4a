#!/usr/bin/env bash
# Installs the package into an empty folder and builds an outside program against it with find_package.
set -euo pipefail
if [[ -n "$PUNT_SANITIZE" ]]; then
  echo "skipped: a sanitized library cannot be linked into an unsanitized outside program"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$PUNT_BUILD_DIR" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/prefix/bin/punt" --version | grep -q '^punt [0-9]'

cmake -S "$PUNT_SOURCE_DIR/tests/outside" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$PUNT_CXX" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

output=$("$work/build/outside")
echo "$output"
[[ "$output" =~ ^[a-h]{32}\ in\ [0-9]+\ passes$ ]]
