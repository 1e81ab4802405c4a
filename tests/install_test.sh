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

mapfile -t lines < <("$work/build/outside" "$PUNT_SOURCE_DIR/models/tasks.gguf" 'Copy the list: ["Ann Lee", "Carl Wood"]')
printf '%s\n' "${lines[@]}"
[[ ${#lines[@]} -eq 3 && ${#lines[0]} -gt 4 ]]                    # told as it settled, until it was cancelled
[[ ${lines[1]} == '["Ann Lee", '* ]]
[[ ${lines[2]} =~ ^([0-9]|1[0-9]|20)\ cancelled$ ]]               # 40 positions, two tokens a step
