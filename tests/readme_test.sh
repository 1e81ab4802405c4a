#!/usr/bin/env bash
# The README stays true: every command of its ```sh blocks (and those of docs/models.md, docs/evaluation.md, docs/sweeps.md and
# docs/command-line.md) runs, every file that the front pages link to exists, and docs/planners.md
# names every registered planner.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readme="$PUNT_SOURCE_DIR/README.md"
mkdir -p "$work/build/release"
ln -s "$PUNT" "$work/build/release/punt"
ln -s "$PUNT_SOURCE_DIR/tests" "$work/tests"

commands=$(awk '/^```sh$/{on=1; next} /^```$/{on=0} on' "$readme" "$PUNT_SOURCE_DIR/docs/models.md" "$PUNT_SOURCE_DIR/docs/evaluation.md" "$PUNT_SOURCE_DIR/docs/sweeps.md" \
  "$PUNT_SOURCE_DIR/docs/command-line.md")
count=0
while IFS= read -r line; do
  [[ -n "$line" ]] || continue
  (cd "$work" && NO_COLOR=1 bash -c "$line" </dev/null >out 2>&1) || { echo "failed: $line"; cat "$work/out"; exit 1; }
  count=$((count + 1))
done <<<"$commands"
[[ $count -ge 5 ]] || { echo "only $count commands found in $readme"; exit 1; }

for page in README.md CONTRIBUTING.md docs/README.md docs/design.md; do
  for target in $(grep -o '](\([^)#h][^)]*\))' "$PUNT_SOURCE_DIR/$page" | tr -d '()]' | sed 's/#.*//'); do
    [[ -e "$PUNT_SOURCE_DIR/$(dirname "$page")/$target" ]] || { echo "$page links to $target, which does not exist"; exit 1; }
  done
done

for name in $("$PUNT" list planners --json | grep -o '"name": *"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/'); do
  [[ -f "$PUNT_SOURCE_DIR/src/plan/${name//-/_}.cc" ]] || continue
  grep -q "\`$name\`" "$PUNT_SOURCE_DIR/docs/planners.md" || { echo "docs/planners.md does not name the planner $name"; exit 1; }
done
echo "$count commands of README.md run"
