#!/usr/bin/env bash
# Traces from the command line: written whole or not at all, replayed as they were, refused by line.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
small=toy:markov,length=12,vocab=4,seed=1

run() {
  "$PUNT" "$@" >out 2>err </dev/null
  code=$?
  err=$(cat err)
}

expect() {
  local wanted=$1
  shift
  run "$@"
  [ "$code" -eq "$wanted" ] || fail "exit code $code instead of $wanted: $* -> $err"
}

# ---- written, whole
expect 0 generate --model $small --planner punt:fallback=false --trace run.jsonl --seed 2
text=$(cat out)
[ -s run.jsonl ] || fail "no trace"
! partial run.jsonl || fail "a partial file was left behind"
head -n 1 run.jsonl | grep -q '^{"event":"run","version":2,"model":"toy:markov,length=12' || fail "no run event first"
tail -n 1 run.jsonl | grep -q '^{"event":"end","stop":"full"' || fail "no end event last"
for event in pieces step round commit; do grep -q "\"event\":\"$event\"" run.jsonl || fail "no $event event"; done

# ---- replayed: one canvas per step, and the text at the end
expect 0 replay run.jsonl
! grep -q $'\x1b' out || fail "escape codes in a piped replay"
grep -qx "$text" out || fail "the replay does not end with the text"
steps=$(grep -c '"event":"commit"' run.jsonl)
[ "$(grep -c '^step [0-9]* |' out)" -eq "$steps" ] || fail "not one canvas per step"
"$PUNT" replay - <run.jsonl | cmp -s - out || fail "replay from the standard input differs"
"$PUNT" generate --model $small --planner punt:fallback=false --seed 2 --view plain | cmp -s - out || fail "live and replayed canvases differ"
NO_COLOR=1 "$PUNT" replay run.jsonl --view live | cmp -s - out || fail "live on a file is not plain"
expect 0 replay run.jsonl --step 0
head -n 3 out | tail -n 1 | grep -q '^step 0 |' || fail "--step 0: $(cat out)"
expect 2 replay run.jsonl --step 999
[[ $err == *"has no step 999 in run 0; its last is $((steps - 1))" ]] || fail "--step 999: $err"
expect 0 replay run.jsonl --speed 1000
expect 2 replay run.jsonl --speed 0
expect 2 replay run.jsonl --speed 2 --delay 3
expect 2 replay run.jsonl --run 1

# ---- several samples, one after another
expect 0 generate --model $small --planner punt:fallback=false --trace three.jsonl --seed 2 --samples 3
[ "$(grep -c '"event":"run"' three.jsonl)" -eq 3 ] || fail "three runs expected"
expect 0 replay three.jsonl --run 2
[ "$(grep -c '^full: ' out)" -eq 1 ] || fail "--run 2 shows one run"
[ "$(grep -v seconds three.jsonl | head -n 5)" = "$(grep -v seconds run.jsonl | head -n 5)" ] ||
  fail "the first of three samples differs from one alone"

# ---- JSON beside a trace; a link stays a link; a pipe is written directly
expect 0 generate --model $small --planner punt:fallback=false --trace both.jsonl --json
grep -q '"text":' out || fail "--json with --trace"
ln -s target.jsonl link.jsonl && touch target.jsonl
expect 0 generate --model $small --planner punt:fallback=false --trace link.jsonl
[ -L link.jsonl ] && [ -s target.jsonl ] || fail "the link was replaced"
# (A pipe of our own stands for all that is no regular file: a defect must not rename over a device.)
mkfifo pipe
timeout 60 cat pipe >piped.jsonl & # not for ever, should nobody write
expect 0 generate --model $small --planner punt:fallback=false --trace pipe
wait
"$PUNT" generate --model $small --planner punt:fallback=false --trace /dev/stderr 2>&1 >/dev/null | tail -n 1 |
  grep -q '"event":"end"' || fail "trace to a pipe by a link without a name"
[ -p pipe ] && ! partial pipe || fail "the pipe was replaced"
tail -n 1 piped.jsonl | grep -q '"event":"end"' || fail "trace to a pipe"

# ---- failures leave nothing behind
expect 2 generate --model $small --planner punt:fallback=false --trace missing/run.jsonl
[[ $err == "punt: cannot write missing/run.jsonl: No such file or directory" ]] || fail "message: $err"
expect 2 generate --model $small --planner punt:fallback=false --trace .
expect 2 generate --model $small --planner punt:fallback=false --trace bad.jsonl --window 99
expect 2 generate --model $small --trace bad.jsonl --planner nobody
[ ! -e bad.jsonl ] && ! partial bad.jsonl || fail "a refused run left a trace"
echo kept >old.jsonl
expect 2 generate --model $small --planner punt:fallback=false --trace old.jsonl --window 99
[ "$(cat old.jsonl)" = kept ] || fail "a refused run changed an older trace"
(
  trap '' XFSZ # a file may not grow beyond its limit: writing fails
  ulimit -f 1
  "$PUNT" generate --trace full.jsonl >/dev/null 2>err
)
[ $? -eq 1 ] && [ "$(cat err)" = "punt: cannot write full.jsonl: File too large" ] || fail "a full disk: $(cat err)"
[ ! -e full.jsonl ] && ! partial full.jsonl || fail "a failed run left a trace"

# ---- broken files: the line is named
broken() {
  local message=$1
  run replay broken.jsonl
  [ "$code" -eq 2 ] || fail "exit code $code for: $message"
  [ "$err" = "punt: broken.jsonl:$message" ] || fail "message '$err', expected '$message'"
}
head -c -10 run.jsonl >broken.jsonl
broken "$(wc -l <run.jsonl): not JSON: the line is cut short"
sed '3s/.*/{"event":"leap"}/' run.jsonl >broken.jsonl
broken '3: unknown event "leap"'
sed '1s/"version":2/"version":3/' run.jsonl >broken.jsonl
broken '1: run: version 3 is not supported, only 1 to 2 are'
tail -n +2 run.jsonl >broken.jsonl
broken '1: pieces: no run is open; a trace begins with its run event'
line=$(grep -n '"event":"round"' run.jsonl | head -n 1 | cut -d: -f1)
sed "${line}"'s/"kept":\[[a-z]*,/"kept":[/' run.jsonl >broken.jsonl
run replay broken.jsonl
[[ $err == "punt: broken.jsonl:$line: round: 'kept' has "*" entries, 'tests' has "* ]] || fail "lists: $err"
printf '\xff\xfe' >broken.jsonl
broken '1: not JSON (or not UTF-8) at column 1'
: >broken.jsonl
expect 2 replay broken.jsonl
[ "$err" = "punt: broken.jsonl: the trace is empty" ] || fail "empty: $err"
expect 2 replay nowhere.jsonl
[ "$err" = "punt: cannot read nowhere.jsonl: No such file or directory" ] || fail "missing: $err"
expect 2 replay
expect 2 replay .
[ "$err" = "punt: . is a directory, not a trace" ] || fail "a folder: $err"

# ---- a trace that ends in the middle of a run plays, and says so
head -n -1 run.jsonl >cut.jsonl
expect 0 replay cut.jsonl
[ "$err" = "punt: note: cut.jsonl: run 0 has no end, the trace was cut short" ] || fail "cut short: $err"
expect 0 replay run.jsonl
[ -z "$err" ] || fail "a note on a whole trace: $err"

# ---- planners are written out, since traces outlive defaults, and shown by what differs from them
head -n 1 run.jsonl | grep -q '"planner":"punt:epsilon=0.04,.*fallback=false",' || fail "the planner in a trace: $(head -n 1 run.jsonl)"
expect 0 replay run.jsonl
head -n 1 out | grep -q '^punt:fallback=false | toy:markov' || fail "the title of a trace: $(head -n 1 out)"
sed '1s/"planner":"[^"]*"/"planner":"punt:fallback=false"/' run.jsonl >short.jsonl
expect 0 replay short.jsonl
head -n 1 out | grep -q '^punt:fallback=false | toy:markov' || fail "the title of a short one: $(head -n 1 out)"
sed '1s/"planner":"[^"]*"/"planner":"theirs:a=1"/' run.jsonl >theirs.jsonl
expect 0 replay theirs.jsonl
head -n 1 out | grep -q '^theirs:a=1 | ' || fail "the title of a trace of others: $(head -n 1 out)"

[ -z "$(find . -name '*.partial*')" ] || fail "partial files were left behind"
[ "$failures" -eq 0 ] || exit 1
echo "all passed"
