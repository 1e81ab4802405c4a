#!/usr/bin/env bash
# punt eval, punt puzzles and punt list tasks: errors, files, resuming, interruptions, narrow terminals.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
llada="--model $golden/llada --threads 1 --planner top-k:k=1"
esm2="--model $golden/esm2 --threads 1 --planner top-k:k=8"

for command in eval puzzles; do
  accepts $command --help
  [[ $out == *Examples:*"punt $command "* ]] || fail "help of '$command' shows no example"
done

# ---- wrong tasks and flags
refuses "task is required" eval
refuses "unknown task 'nobody'; valid tasks: sudoku, stories, membrane" eval nobody $llada
refuses "task sudoku has no key 'sise' (did you mean size?); valid keys: size" eval sudoku:sise=4
refuses "size must be one of 9, 6, 4, auto" eval sudoku:size=5
refuses "--model is missing: task sudoku needs a model of sudoku boards, and the bundled sudoku is not there" eval sudoku
refuses "unknown model 'nobody'" eval sudoku --model nobody
refuses "unknown planner 'nobody'" eval sudoku --model $golden/llada --planner nobody
refuses "--limit must be between 1 and" eval sudoku $llada --limit 0
refuses "cannot spell a sudoku board" eval sudoku --model toy:markov,length=12,vocab=4
refuses "task sudoku takes no judge" eval sudoku $llada --judge x.gguf
refuses "task sudoku takes no length" eval sudoku $llada --length 5
refuses "task sudoku has no reference" eval sudoku --reference --judge x.gguf
refuses "--reference needs --judge" eval stories --reference
refuses "--reference does not judge a model" eval stories --reference --judge x.gguf --model $golden/llada
refuses "--reference has no planner" eval stories --reference --judge x.gguf --planner punt
refuses "the judge 'x.gguf' is not a file" eval stories --reference --judge x.gguf
refuses "a document has 4 entries at least, got 3" eval records:entries=3 $llada
refuses "cannot read 'nothing.csv'" eval sudoku $llada --data nothing.csv
refuses "givens of a board of size 4 lie between 4 and 16, got 5-3" eval sudoku:size=4,most=3 $llada
refuses "exceed the" eval membrane --model $golden/esm2
refuses "lies outside the vocabulary" eval membrane --model toy:markov,length=12,vocab=4 --length 8
refuses "do not fit" eval stories $llada --length 100000 --limit 1
refuses "task stories needs a model of text; $golden/esm2 cannot spell 'Jim was 5'" eval stories --model $golden/esm2 --limit 1
refuses "task sudoku takes no shots" eval sudoku $llada --shots x.jsonl
refuses "(--data)" eval gsm8k $llada
refuses "worked examples are missing, in the format of the data; or give the task shots=0 (--shots)" eval gsm8k $llada --data $PUNT_SOURCE_DIR/tests/score/gsm8k.jsonl
refuses "do not fit the 128" eval gsm8k $llada --data $PUNT_SOURCE_DIR/tests/score/gsm8k.jsonl \
  --shots $PUNT_SOURCE_DIR/tests/score/gsm8k.jsonl
echo "a,b" >bad.csv
refuses "bad.csv: the first line must be 'puzzle,solution'" eval sudoku $llada --data bad.csv
accepts convert $golden/llada diffusion.gguf
refuses "a judge must be autoregressive" eval stories $llada --judge diffusion.gguf

# ---- the list
accepts list tasks --json
for name in sudoku stories membrane gsm8k math math500 countdown; do [[ $out == *"\"name\": \"$name\""* ]] || fail "list tasks: no $name"; done

# ---- puzzles
refuses "size 9, 6 or 4, got 5" puzzles --size 5
refuses "--givens must be a whole number" puzzles --givens many
refuses "lie between 17 and 81, got 16-20" puzzles --givens 16-20
refuses "--count must be between" puzzles --count 0
refuses "missing/puzzles.csv" puzzles --out missing/puzzles.csv
accepts puzzles --size 4 --givens 6 --count 5 --seed 1
[ "$(head -n 1 out)" = puzzle,solution ] && [ "$(wc -l <out)" -eq 6 ] || fail "puzzles: $out"
[ "$(tail -n +2 out | grep -cE '^[0-4]{16},[1-4]{16}$')" -eq 5 ] || fail "puzzles of 16 cells: $out"
[ "$(sed -n 2p out | cut -d, -f1 | tr -d '0\n' | wc -c)" -eq 6 ] || fail "six givens: $out"
cp out five.csv
accepts puzzles --size 4 --givens 6 --count 5 --seed 1 --out file.csv
cmp -s five.csv file.csv && [ -z "$out" ] && [ -z "$err" ] || fail "the file differs from the standard output"
accepts puzzles --size 4 --givens 6 --count 1 --seed 1 --first 3
[ "$(sed -n 2p out)" = "$(sed -n 5p five.csv)" ] || fail "puzzle 3 alone differs from puzzle 3 of five"
accepts puzzles --size 4 --givens 6 --count 5 --seed 2
! cmp -s out five.csv || fail "another seed gave the same puzzles"
"$PUNT" puzzles --count 1000000 --out cut.csv & pid=$!
sleep 1
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "puzzles after SIGINT: exit code $?"
[ -z "$(ls cut.csv* 2>/dev/null)" ] || fail "an interrupted file was left: $(ls cut.csv*)"
if [ -w /dev/full ]; then
  "$PUNT" puzzles --count 5000 >/dev/full 2>err
  [ $? -eq 1 ] || fail "puzzles: a full disk went unnoticed"
fi

# ---- two items are too few for an interval; those of three stay within the range
accepts eval sudoku:size=4 $llada --limit 2
grep -qE '^  valid_cells +[0-9.]+  -$' out && ! grep -q '\[' out || fail "an interval of two items: $out"
accepts eval sudoku:size=4 $llada --limit 2 --json
[[ $out == *'"ci95":null,'*'"nfe_mean_ci95":null'*'"valid_cells_ci95":null'* ]] || fail "an interval of two items: $out"
accepts eval sudoku:size=4 $llada --limit 3
grep -qE '^  valid_cells +[0-9.]+  \[[0-9.]+, [01]\.[0-9]+\]$' out || fail "no interval of three items: $out"

# ---- the planner is named by what differs from its defaults
accepts eval sudoku:size=4 --model $golden/llada --threads 1 --planner punt:epsilon=0.25,form=iterative --limit 1
grep -qx 'punt:epsilon=0.25' out || fail "a planner with its defaults: $out"

# ---- JSON: the keys of the contract, in this order; the same object in summary.json
accepts eval sudoku:size=4 $llada --limit 3 --json --out json
[ "$(wc -l <out)" -eq 1 ] && [ -z "$err" ] || fail "one object, one line: $out $err"
[ "$(grep -o '"[a-z_0-9]*":' out | head -n 13 | tr '\n' ' ')" = \
  '"task": "model": "planner": "items": "unfinished": "accuracy": "ci95": "nfe_mean": "nfe_mean_ci95": "steps_mean": "steps_mean_ci95": "seconds_mean": "valid_cells": ' ] \
  || fail "keys of --json: $(grep -o '"[a-z_0-9]*":' out | tr '\n' ' ')"
[[ $out == '{"task":"sudoku",'* ]] && [ "$(field items)" = 3 ] && [ "$(field accuracy)" = 0.0 ] || fail "values: $out"
[ "$(tr -d ' \n' <out)" = "$(tr -d ' \n' <json/summary.json)" ] || fail "summary.json is another object"
[ "$(wc -l <json/items.jsonl)" -eq 3 ] || fail "three records expected"
for key in id prompt reference response verdict correct valid_cells nfe base test total steps seconds stop; do
  [ "$(grep -c "\"$key\":" json/items.jsonl)" -eq 3 ] || fail "records without $key"
done
accepts eval membrane $esm2 --length 20 --limit 2 --json
[ "$(field accuracy)" = null ] && [ "$(field ci95)" = null ] || fail "nothing is correct or wrong here: $out"
accepts eval stories $llada --length 8 --limit 2 --json
[[ $(field notes) == *"without a judge"* ]] && [[ $out != *judge_perplexity* ]] || fail "no judge: $out"
if command -v python3 >/dev/null; then python3 -m json.tool <out >/dev/null || fail "not JSON: $out"; fi

# ---- data of `punt puzzles` are the fresh puzzles of the same seed
accepts eval sudoku:size=4,fewest=6,most=6 $llada --seed 1 --limit 5 --out fresh
accepts eval sudoku:size=4 $llada --seed 1 --data five.csv --out given
for run in fresh given; do sed -E 's/"seconds":[^,]*,//' $run/items.jsonl >$run.items; done
cmp -s fresh.items given.items || fail "a file of the same puzzles gave other records"

# ---- no new work where all is done; more items are added; another configuration is refused and nothing is lost
cp json/items.jsonl before
accepts eval sudoku:size=4 $llada --limit 3 --json --out json
cmp -s before json/items.jsonl || fail "a finished run was run again"
accepts eval sudoku:size=4 $llada --limit 5 --json --out json
[ "$(field items)" = 5 ] && [ "$(head -n 3 json/items.jsonl)" = "$(cat before)" ] || fail "two more items: $out"
accepts eval sudoku:size=4 $llada --limit 2 --json --out json
[ "$(field items)" = 2 ] && [ "$(wc -l <json/items.jsonl)" -eq 5 ] || fail "fewer items lose none: $out"
cp -r json saved
refuses "seed is 0 there and 7 here" eval sudoku:size=4 $llada --limit 3 --out json --seed 7
refuses "temperature is 1 there and 0.5 here" eval sudoku:size=4 $llada --limit 3 --out json --temperature 0.5
refuses "planner is top-k:k=1" eval sudoku:size=4 --model $golden/llada --planner top-k:k=2 --limit 3 --out json
diff -r json saved || fail "a refused run changed the folder"
echo nonsense >>json/items.jsonl
refuses "json/items.jsonl:6: not JSON (or not UTF-8) at column 2" eval sudoku:size=4 $llada --limit 3 --out json
sed -i '$s/.*/{}/' json/items.jsonl
refuses "json/items.jsonl:6: no record of an evaluation: key 'id' not found" eval sudoku:size=4 $llada --limit 3 --out json
refuses "cannot make the folder" eval sudoku:size=4 $llada --out bad.csv

# ---- killed and interrupted in the middle, resumed: the same summary but for the seconds
summary() { grep -v '"seconds_mean"' "$1/summary.json"; }
long="eval sudoku $llada --limit 40"
accepts $long --out whole
# started DIR SIGNAL: starts a run, waits for its third record, sends the signal; sets $code
started() {
  "$PUNT" $long --out "$1" >out 2>err </dev/null & pid=$!
  for ((i = 0; i < 600; ++i)); do
    [ "$(cat "$1/items.jsonl" 2>/dev/null | wc -l)" -ge 3 ] && break
    sleep 0.05
  done
  kill "-$2" $pid
  wait $pid 2>/dev/null
  code=$?
}
started killed KILL
[ "$code" -eq 137 ] && [ ! -e killed/summary.json ] || fail "the run was not killed in the middle: $code"
[ "$(wc -l <killed/items.jsonl)" -lt 40 ] || fail "killed too late to say anything"
accepts $long --out killed
diff <(summary whole) <(summary killed) || fail "the summary after kill -9 differs"
diff <(sed -E 's/"seconds":[^,]*,//' whole/items.jsonl) <(sed -E 's/"seconds":[^,]*,//' killed/items.jsonl) >/dev/null \
  || fail "the records after kill -9 differ"
for signal in INT TERM; do
  started $signal $signal
  [ "$code" -eq 130 ] || fail "SIG$signal: exit code $code"
  grep -q "^punt: interrupted after [0-9]* of 40 items; the same command goes on from there$" err || fail "$(cat err)"
  [ ! -s out ] && [ ! -e $signal/summary.json ] || fail "SIG$signal: a summary of a part"
  accepts $long --out $signal
  diff <(summary whole) <(summary $signal) || fail "the summary after SIG$signal differs"
done

# ---- bench: many planners, each a resumable evaluation; table, picture and JSON
accepts bench --help
[[ $out == *paper-text*Examples:*"punt bench "* ]] || fail "help of bench: $out"
board="bench sudoku:size=4 --model $golden/llada --threads 1 --limit 3"
refuses "unknown preset 'nobody'; valid: baselines, paper-text, paper-protein" $board --preset nobody
refuses "--planners and --preset exclude each other" $board --preset every --planners random
refuses "unknown planner 'nobody'" $board --planners "random;nobody"
refuses "--model is missing" bench sudoku --planners random
accepts $board --planners "top-k:k=1; punt:epsilon=0.1" --out board
[ "$(grep -c '^top-k:k=1 \|^punt:epsilon=0.1 ' out)" -eq 2 ] || fail "two planners: $out"
for file in bench.md bench.svg bench.json top-k-k-1/items.jsonl punt-epsilon-0.1/summary.json; do
  [ -s board/$file ] || fail "bench wrote no $file"
done
cp -r board/top-k-k-1 once
accepts $board --planners "top-k:k=1; random" --out board --json
diff -r once board/top-k-k-1 || fail "a measured planner was measured again"
[ "$(grep -c '"planner"' out)" -eq 2 ] && cmp -s out board/bench.json || fail "bench --json: $out"
accepts eval sudoku:size=4 $llada --limit 3 --json
[ "$(field nfe_mean)" = "$(sed -n 's/.*"nfe_mean": \([0-9.]*\),/\1/p' board/bench.json | head -n 1)" ] \
  || fail "bench and eval count differently"
refuses "seed is 0 there and 7 here" $board --planners "top-k:k=1" --out board --seed 7

# ---- pipes get no escape codes; narrow terminals no wider lines
accepts eval sudoku:size=4 $llada --limit 3
! grep -q $'\x1b' out err || fail "escape codes in a pipe"
if command -v script >/dev/null; then
  TERM=xterm script -qec "stty cols 40 rows 10; $PUNT eval sudoku:size=4 $llada --limit 3" screen >/dev/null </dev/null
  grep -q "of 3 items" screen || fail "no progress on a terminal"
  [ "$(grep -v '^Script' screen | sed 's/.*\r\x1b\[K//' | tr -d '\r' | sed 's/\x1b\[K//g' | wc -L)" -le 40 ] || fail "lines wider than the terminal: $(cat screen)"
  grep -q "valid_cells" screen || fail "no table on a narrow terminal"
fi

# ---- a public benchmark: the scorer says the same of the responses that the run kept
gsm8k=$PUNT_SOURCE_DIR/tests/score/gsm8k.jsonl
accepts eval gsm8k:shots=0 $llada --data $gsm8k --length 8 --limit 3 --out gsm8k --json
[ "$(field strict_match)" = 0.0 ] || fail "gsm8k: $out"
accepts score gsm8k --data $gsm8k --responses gsm8k/items.jsonl --out again.jsonl
verdicts() { grep -o '"verdict": *{[^}]*}' "$1" | grep -o '"correct": *[01]' | tr -d ' '; }
[ "$(verdicts gsm8k/items.jsonl | wc -l)" -eq 3 ] && [ "$(verdicts gsm8k/items.jsonl)" = "$(verdicts again.jsonl)" ] ||
  fail "verdicts of eval and score differ"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
