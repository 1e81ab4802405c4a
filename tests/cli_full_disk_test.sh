#!/usr/bin/env bash
# A disk that is full: every command that writes a file ends with 1 and one line that names the file and the system's
# reason, and leaves nothing half-written. $PUNT is the program under test. A limit on the size of files stands for the
# disk, since that needs no rights.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
fixtures=$PUNT_SOURCE_DIR/tests/score
small=toy:markov,length=12,vocab=4,seed=1
llada="--model $golden/llada --threads 1"

# fills KILOBYTES FILE ARGS...: no file grows beyond so many; the command must fail by FILE
fills() {
  local size=$1 file=$2
  shift 2
  (
    trap '' XFSZ # the limit is an error of writing then, not the end of the process
    ulimit -f "$size"
    "$PUNT" "$@" >out 2>err </dev/null
  )
  local code=$?
  [ $code -eq 1 ] || fail "exit code $code instead of 1: $*: $(head -c 300 err)"
  [ "$(tail -n 1 err)" = "punt: cannot write $file: File too large" ] || fail "$*: $(head -c 300 err)"
  [ -z "$(find . -name '*.part*')" ] || fail "$*: half a file is left: $(find . -name '*.part*')"
}

# whole FILE: nothing but lines that are JSON
whole() {
  [ -z "$(tail -c 1 "$1")" ] || fail "$1 ends within a line"
  python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1])]' "$1" || fail "$1: a line is no JSON"
}

# ---- files that are there whole or not at all; an older one is kept
fills 1 run.jsonl generate --model $small --trace run.jsonl
fills 1 puzzles.csv puzzles --size 4 --count 100 --out puzzles.csv
fills 16 model.gguf convert $golden/llada model.gguf --threads 1
fills 1 logits.safetensors logits $llada --inputs $golden/llada/inputs.json --out logits.safetensors
[ ! -e run.jsonl ] && [ ! -e puzzles.csv ] && [ ! -e model.gguf ] && [ ! -e logits.safetensors ] || fail "left: $(ls)"
echo kept >puzzles.csv
fills 1 puzzles.csv puzzles --size 4 --count 100 --out puzzles.csv
[ "$(cat puzzles.csv)" = kept ] || fail "an older file is gone"

# ---- records come one by one: those that were written are whole, and the same command goes on from there
evaluation="eval sudoku:size=4 $llada --planner top-k:k=8 --limit 12 --out eval"
fills 1 eval/items.jsonl $evaluation
whole eval/items.jsonl
accepts $evaluation
[ "$(wc -l <eval/items.jsonl)" -eq 12 ] && whole eval/items.jsonl || fail "the evaluation did not go on: $(wc -l eval/items.jsonl)"
analysis="analyze error --model $small --samples 8 --planners left-to-right;top-k:k=4 --out error"
fills 1 error/items.jsonl $analysis
whole error/items.jsonl
accepts $analysis
exactness="analyze exactness --quick --seeds 1 --threads 1 --out exactness"
fills 2 exactness/items.jsonl $exactness
whole exactness/items.jsonl
accepts $exactness
[ -s exactness/exactness.md ] && whole exactness/items.jsonl || fail "the report did not go on"
fills 1 sweep/top-k-k-8/items.jsonl bench sudoku:size=4 $llada --planners "top-k:k=8;top-k:k=16" --limit 8 --out sweep
whole sweep/top-k-k-8/items.jsonl
python3 - $fixtures/gsm8k.jsonl >many.jsonl <<'PYTHON'
import sys
line = open(sys.argv[1]).readline()
for i in range(40):
    print(line.strip().replace("{", '{"id": "%d", ' % i, 1))
PYTHON
sed 's/.*"id": "\([0-9]*\)".*/{"id": "\1", "response": "#### 1"}/' many.jsonl >responses.jsonl
scoring="score gsm8k --data many.jsonl --responses responses.jsonl"
fills 1 verdicts/items.jsonl $scoring --out verdicts
whole verdicts/items.jsonl
fills 1 verdicts.jsonl $scoring --out verdicts.jsonl
whole verdicts.jsonl

# ---- what is printed, too
fills 1 "the output" generate --model $small --json --samples 50

# ---- what is no file is written to, never replaced. (A pipe of our own: a defect must not rename over a device.)
mkfifo pipe
timeout 60 cat pipe >piped.csv &
accepts puzzles --size 4 --count 3 --out pipe
wait
[ -p pipe ] && [ "$(wc -l <piped.csv)" -eq 4 ] || fail "the pipe was replaced: $(ls -l pipe)"

# ---- the streams of a shell
if [ -c /dev/full ] && [ -w /dev/full ]; then
  for command in "generate --model $small" "generate --model $small --json --samples 3" "compare --model $small --samples 1"; do
    "$PUNT" $command >/dev/full 2>err
    [ $? -eq 1 ] && [ "$(cat err)" = "punt: cannot write the output: No space left on device" ] || fail "$command: $(cat err)"
    "$PUNT" $command >out 2>/dev/full || fail "$command without a place for messages: exit code $?"
  done
  "$PUNT" generate --from nowhere.json >out 2>/dev/full
  [ $? -eq 2 ] || fail "an error that cannot be told: exit code $?"
  "$PUNT" >out 2>/dev/full
  [ $? -eq 2 ] || fail "help that cannot be told: exit code $?"
fi

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
