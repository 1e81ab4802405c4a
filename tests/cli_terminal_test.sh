#!/usr/bin/env bash
# On a terminal: colours and their absence, interruptions that leave a usable terminal behind.
# $PUNT is the program under test. The terminal comes from script(1).

for tool in script timeout; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 77; }
done
source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
small=toy:markov,length=12,vocab=4,seed=1

# terminal COLUMNS LINES COMMAND: what a terminal of this size would get is in `screen`; sets $code
terminal() {
  TERM=${TERM_FOR_TEST:-xterm} script -qec "stty cols $1 rows $2; $3" screen >/dev/null 2>&1 </dev/null
  code=$?
}

# The last thing said about the cursor is that it shows.
cursor_is_back() {
  [ "$(grep -o $'\x1b\[?25[hl]' screen | tail -n 1)" = $'\x1b[?25h' ]
}

# ---- live, with the colours of the figure
terminal 80 24 "$PUNT generate --model $small --delay 1"
[ "$code" -eq 0 ] || fail "live run: exit code $code"
grep -q $'\x1b\[?25l' screen || fail "the cursor is not hidden in a live view"
cursor_is_back || fail "the cursor is not back after a live run"
grep -q $'\x1b\[1;32m' screen || fail "nothing is green"
grep -q $'\x1b\[31m' screen || fail "nothing is red"

# ---- no colour where none is wanted; dumb terminals get text
terminal 80 24 "NO_COLOR=1 $PUNT generate --model $small --delay 0"
! grep -q $'\x1b\[[0-9;]*3[0-9]m' screen || fail "colours in spite of NO_COLOR"
terminal 80 24 "$PUNT generate --model $small --delay 0 --color never"
! grep -q $'\x1b\[[0-9;]*3[0-9]m' screen || fail "colours in spite of --color never"
TERM_FOR_TEST=dumb terminal 80 24 "$PUNT generate --model $small --delay 0"
! grep -q $'\x1b' screen || fail "escape codes on a dumb terminal"

# ---- narrow and low terminals: no frame is wider or higher
terminal 10 8 "$PUNT generate --delay 0"
[ "$code" -eq 0 ] || fail "a narrow terminal: exit code $code"
ups=$(grep -o $'\x1b\[[0-9]*A' screen | tr -dc '0-9\n' | sort -n | tail -n 1)
[ "${ups:-0}" -ge 1 ] && [ "$ups" -le 7 ] || fail "frames of $ups lines on a terminal of 8"

# ---- replay and demo on a terminal
"$PUNT" generate --model $small --trace run.jsonl >/dev/null
terminal 80 24 "$PUNT replay run.jsonl --speed 100"
[ "$code" -eq 0 ] && cursor_is_back || fail "replay on a terminal: exit code $code"
grep -q $'\x1b\[1;32m' screen || fail "a replay without green"
terminal 80 24 "$PUNT demo --model $PUNT_SOURCE_DIR/tests/golden/llada --threads 1 --samples 1 --delay 0"
[ "$code" -eq 0 ] && cursor_is_back || fail "demo on a terminal: exit code $code"
grep -q $'\x1b\[1;32m' screen || fail "a demo without green"

# ---- interrupted: partial result, cursor back, exit code 130; no trace half-written
for signal in INT TERM; do
  terminal 80 24 "timeout --foreground --preserve-status -s $signal 2 $PUNT generate --delay 200 --trace cut.jsonl"
  cursor_is_back || fail "SIG$signal left the cursor hidden"
  [ "$code" -eq 130 ] || fail "SIG$signal: exit code $code instead of 130"
  grep -q 'cancelled: ' screen || fail "SIG$signal: the partial result is not shown"
  [ ! -e cut.jsonl.partial ] || fail "SIG$signal left a partial file"
  tail -n 1 cut.jsonl | grep -q '"stop":"cancelled"' || fail "SIG$signal: the trace does not say so"
  "$PUNT" replay cut.jsonl >/dev/null || fail "SIG$signal: the trace cannot be replayed"
  rm -f cut.jsonl
done
terminal 80 24 "timeout --foreground --preserve-status -s INT 2 $PUNT replay run.jsonl --delay 2000"
[ "$code" -eq 130 ] && cursor_is_back || fail "an interrupted replay: exit code $code"

# ---- interrupted without a terminal: the samples so far, as valid JSON. Without --foreground, timeout signals
# ---- the program and then its group: two signals at once are one request, not an order to drop everything
for _ in 1 2 3; do
  timeout --preserve-status -s INT 1 "$PUNT" generate --json --samples 1000000 >out 2>err
  code=$?
  [ "$code" -eq 130 ] || fail "an interrupted batch: exit code $code"
  [ "$(head -c 1 out)" = "[" ] && [ "$(tail -c 2 out)" = "]" ] || fail "an interrupted batch is no array"
done

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
