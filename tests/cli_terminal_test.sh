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

# What is on the screen, without colours and cursor movement
plain() { sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' screen | tr -d '\r'; }

# The last thing said about the cursor is that it shows.
cursor_is_back() {
  [ "$(grep -o $'\x1b\[?25[hl]' screen | tail -n 1)" = $'\x1b[?25h' ]
}

# ---- live, with the colours of the figure
terminal 80 24 "$PUNT generate --model $small --planner punt:fallback=false --delay 1"
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

# ---- the text comes last, whole and plain, however low and narrow the terminal
letters=toy:markov,length=200,vocab=4,seed=1
text=$("$PUNT" generate --model $letters --seed 2 --planner top-k:k=8)
terminal 30 10 "$PUNT generate --model $letters --seed 2 --planner top-k:k=8 --delay 0"
[ "$(plain | grep -c "^$text\$")" -eq 1 ] || fail "the text is not there after a live view"
if command -v tmux >/dev/null; then
  session=punt-$$
  # shellcheck disable=SC2086
  tmux -f /dev/null -L $session new-session -d -x 30 -y 10 \
    "$PUNT generate --model $letters --seed 2 --planner top-k:k=8 --delay 0; echo over; sleep 60"
  for _ in $(seq 300); do
    tmux -L $session capture-pane -p | grep -q over && break
    sleep 0.1
  done
  tmux -L $session capture-pane -p -J -S - >scrollback
  tmux -L $session kill-server
  grep -q "$text" scrollback || fail "the text is not in the scrollback: $(cat scrollback)"
  [ "$(grep -c '^full: ' scrollback)" -eq 1 ] || fail "the frames of a live view are left behind: $(cat scrollback)"
else
  echo "not tried: what a terminal's scrollback holds (no tmux)"
fi
"$PUNT" generate --model $letters --seed 2 --planner top-k:k=8 --trace long.jsonl >/dev/null
terminal 30 10 "$PUNT replay long.jsonl --speed 1000"
plain | tr -d '\n' | grep -q "$text" || fail "a replay does not end with the whole text"

# ---- several samples on a terminal: each with its line and its text
terminal 80 24 "$PUNT generate --model $small --seed 3 --samples 2 --delay 0"
"$PUNT" generate --model $small --seed 3 --samples 2 >two
[ "$(plain | grep -x -F -f two | sort -u | wc -l)" -eq 4 ] || fail "two samples on a terminal: $(cat screen)"

# ---- control tokens are not shown, and what a model writes cannot steer the terminal
golden=$PUNT_SOURCE_DIR/tests/golden
terminal 80 24 "$PUNT generate the --model $golden/llada --threads 1 --length 16 --delay 0"
[ "$code" -eq 0 ] || fail "a network on a terminal: exit code $code"
! grep -q '<|startoftext|>\|<s>' screen || fail "BOS is shown"

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
  plain | grep -q '^punt: interrupted after [0-9]* pass[es]* with [0-9]* of 64 positions open' ||
    fail "SIG$signal: no word on it"
  cursor_is_back || fail "SIG$signal left the cursor hidden"
  [ "$code" -eq 130 ] || fail "SIG$signal: exit code $code instead of 130"
  grep -q 'cancelled: ' screen || fail "SIG$signal: the partial result is not shown"
  ! partial cut.jsonl || fail "SIG$signal left a partial file"
  tail -n 1 cut.jsonl | grep -q '"stop":"cancelled"' || fail "SIG$signal: the trace does not say so"
  "$PUNT" replay cut.jsonl >/dev/null || fail "SIG$signal: the trace cannot be replayed"
  rm -f cut.jsonl
done
terminal 80 24 "timeout --foreground --preserve-status -s INT 2 $PUNT replay run.jsonl --delay 2000"
[ "$code" -eq 130 ] && cursor_is_back || fail "an interrupted replay: exit code $code"

# ---- interrupted without a terminal: the samples that were finished, whole, and one line. Without --foreground, timeout
# ---- signals the program and then its group: two signals at once are one request, not an order to drop everything
for format in --json "" "--model $golden/llada --threads 1 --length 64 --batch 3 --json"; do
  timeout --preserve-status -s INT 3 "$PUNT" generate $format --samples 1000000 >out 2>err
  code=$?
  [ "$code" -eq 130 ] || fail "an interrupted batch: exit code $code"
  if [ -n "$format" ]; then finished=$(grep -c '^{"text":.*"stop":"\(full\|eos\)".*}$' out); else finished=$(grep -c '^---' out); fi
  lines=$finished
  [ -n "$format" ] || lines=$((2 * finished))
  [ "$(wc -l <out)" -eq "$lines" ] || fail "something else than finished samples: $(tail -n 3 out)"
  [ "$(cat err)" = "punt: interrupted: $finished of 1000000 samples finished" ] || fail "interrupted: $(cat err)"
done

# ---- so do runs that are repeated, line by line
"$PUNT" generate --model $letters --json >once.json
awk '{for (i = 0; i < 5000; ++i) print}' once.json >many.json
timeout --preserve-status -s INT 3 "$PUNT" generate --from many.json --json >out 2>err
code=$?
[ "$code" -eq 130 ] || fail "interrupted repeats: exit code $code"
[ "$(cat err)" = "punt: interrupted: $(wc -l <out) of 5000 samples finished" ] || fail "interrupted repeats: $(cat err)"

# ---- one sample: nothing on the standard output, one line and what there is on the other
slow=toy:markov,length=4000,vocab=64,seed=1
"$PUNT" generate --model $slow --planner left-to-right --trace slow.jsonl >out 2>err &
pid=$!
for _ in $(seq 600); do
  [ ! -s "$(partial slow.jsonl)" ] && kill -0 "$pid" 2>/dev/null || break
  sleep 0.1
done
kill -TERM "$pid"
wait "$pid"
[ $? -eq 130 ] && [ ! -s out ] || fail "an interrupted text on the standard output"
head -n 1 err | grep -q '^punt: interrupted after [0-9]* pass[es]* with [0-9]* of 4000 positions open' || fail "one sample: $(head -c 200 err)"
! grep -q '<mask>' err || fail "masks by their name"
for command in "compare --samples 100000" "demo --model $golden/llada --threads 1 --samples 10000 --view none"; do
  timeout --preserve-status -s INT 3 "$PUNT" $command >out 2>err
  [ $? -eq 130 ] || fail "an interrupted $command"
  [ "$(wc -l <err)" -eq 1 ] && grep -q '^punt: interrupted ' err || fail "$command: $(cat err)"
  ! grep -q 'mask' out || fail "masks in what $command prints"
done

# ---- a model that takes seconds to open: a signal need not wait for it
large=toy:product,length=1000,vocab=32768
for command in "generate --model $large --trace opened.jsonl" "serve --port 0 --model $large --ready-file ready" \
  "compare --model $large" "analyze error --model $large --quick --out analysis"; do
  for signal in INT TERM; do
    start=${EPOCHREALTIME/./}
    timeout --preserve-status -s $signal 0.5 "$PUNT" $command >out 2>err
    code=$?
    took=$(((${EPOCHREALTIME/./} - start) / 1000))
    [ "$code" -eq 130 ] && [ ! -s out ] || fail "SIG$signal while '$command' opens a model: exit code $code, $(head -c 300 out)"
    [ "$(grep -v ' is served: ' err)" = "punt: interrupted while the model was opened" ] || fail "SIG$signal, $command: $(cat err)"
    [ "$took" -lt 3000 ] || fail "SIG$signal, $command: it took $took ms to end"
  done
done
[ ! -e opened.jsonl ] && ! partial opened.jsonl && [ ! -e ready ] && [ ! -e analysis ] || fail "something is left of it: $(ls)"
"$PUNT" generate --model $small --json >first.json
sed "s/\"model\":\"[^\"]*\"/\"model\":\"$large\"/; s/\"length\":[0-9]*/\"length\":null/" first.json | cat first.json - >lines.json
timeout --preserve-status -s INT 0.5 "$PUNT" generate --from lines.json --trace opened.jsonl >out 2>err
[ $? -eq 130 ] && [ "$(grep -c '^---' out)" -eq 1 ] || fail "the second model of two: $(cat out)"
! partial opened.jsonl || fail "half a trace is left"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
