#!/usr/bin/env bash
# The models that come along: found by name, of the promised size, documented, and able to do what they are for.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
unset PUNT_MODELS_DIR
models=$PUNT_SOURCE_DIR/models

# lies_between LOW VALUE HIGH
lies_between() { awk -v low="$1" -v value="$2" -v high="$3" 'BEGIN { exit !(low + 0 < value + 0 && value + 0 < high + 0) }'; }

# ---- all there, together at most 60 MB, each with a card
[ "$(cat "$models"/*.gguf | wc -c)" -le 60000000 ] || fail "the models take more than 60 MB"
accepts list models
for name in stories sudoku membrane stories15m; do
  [ -s "$models/$name.gguf" ] || fail "models/$name.gguf is missing"
  grep -qx "$name" <<<"$out" || fail "punt list models does not name $name"
  grep -q "^## \`$name\`" "$models/README.md" || fail "models/README.md has no card of $name"
done
[ "$(ls "$models"/*.gguf | wc -l)" -eq 4 ] || fail "a model without a test: $(ls "$models")"

# ---- stories is what generate takes by default, on a canvas of 256; its judge is found by itself
accepts generate "Once upon a time" --planner top-k:k=64 --threads 1 --temperature 0 --json
[[ $(field text) == '"Once upon a time'* ]] && [[ $out == *'"total":'[1-4]'}'* ]] || fail "generate: $out"
accepts eval stories --model stories --planner punt:epsilon=0.32 --temperature 0.7 --top-p 0.9 --limit 1 --threads 1 --json
# The same passes without tests (top-k:k=4) give about 29, 16 tokens at a time 160, words at random thousands.
lies_between 1 "$(field judge_perplexity)" 20 || fail "judge perplexity of stories: $out"
accepts eval stories --reference --temperature 0.7 --top-p 0.9 --limit 2 --threads 1 --json
lies_between 1 "$(field judge_perplexity)" 3 || fail "the judge on itself: $out"

# ---- the trace of a story is written as the story goes: who kills the program keeps what happened
"$PUNT" generate --planner top-k:k=1 --length 250 --threads 1 --trace live.jsonl >out 2>err &
story=$!
for _ in $(seq 600); do
  [ ! -s live.jsonl.partial ] && kill -0 "$story" 2>/dev/null || break
  sleep 0.05
done
kill -KILL "$story" 2>/dev/null || fail "the story was over before its trace began"
wait "$story" 2>/dev/null
[ -s live.jsonl.partial ] || fail "a killed story leaves no trace"

# ---- sudoku solves most boards in the order of its margins
accepts eval sudoku --model sudoku --planner top-k:k=1 --score margin --temperature 0 --limit 5 --threads 1 --json
[[ $(field accuracy) == 1.0 || $(field accuracy) == 0.8 ]] || fail "sudoku: $out"

# ---- membrane writes residues and nothing else
accepts generate --model membrane --planner top-k:k=16 --length 60 --eos forbid --threads 1 --json
grep -qE '^"[ACDEFGHIKLMNPQRSTVWY]{60}"$' <<<"$(field text)" || fail "membrane: $(field text)"

# ---- a bundled model can be converted and inspected by its name
accepts convert sudoku sudoku-q8.gguf --type q8_0
accepts inspect sudoku --json

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
