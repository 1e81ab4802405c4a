#!/usr/bin/env bash
# punt bench as a sweep: temperatures, seeds, processes, presets; killed and interrupted in the middle.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
base="bench sudoku:size=4 --model $golden/llada --threads 1 --limit 3"
board="$base --planners top-k:k=1;punt:epsilon=0.1"

# ---- wrong lists
refuses "task is required" bench --model $golden/llada
refuses "--temperature and --temperatures exclude each other" $board --temperature 1 --temperatures 0.1
refuses "--seed and --seeds exclude each other" $board --seed 1 --seeds 1
refuses "--temperatures is a list of numbers, got 'x' in '0.1,x'" $board --temperatures 0.1,x
refuses "--seeds goes from 3 down to 1" $board --seeds 3-1
refuses "--seeds has 2 twice" $board --seeds 1-3,2
refuses "--processes must be between 1 and 256, got 0" $board --processes 0

# ---- a planner that the model cannot run is named before anything is measured
refuses "planner distilled: the planner needs an influence head" $base --planners "top-k:k=1;distilled" --out unfit
[ ! -e unfit ] || fail "folders of a sweep that was refused: $(ls unfit)"

# ---- the right law is that of the same task, model and temperature, drawn with another seed
proteins="bench protein:min_length=6,max_length=8 --model $golden/esm2 --threads 1 --limit 3 --planners top-k:k=4"
accepts ${proteins/top-k:k=4/left-to-right;top-k:k=4} --temperature 1 --seed 1 --out law
accepts $proteins --temperature 1 --seed 2 --reference law/left-to-right --out against-law --json
[[ $out == *law_p* ]] || fail "no distance between laws: $out"
refuses "has seed 1 as well: give another seed (--seed)" $proteins --temperature 1 --seed 1 --reference law/left-to-right
refuses "has temperature 1, this run has 0.5" $proteins --temperature 0.5 --seed 2 --reference law/left-to-right
refuses "has seed 1 as well" $proteins --temperature 1 --seeds 1-3 --reference law/left-to-right --out axes
refuses "has temperature 1, this run has 0.5" $proteins --temperatures 1,0.5 --seed 2 --reference law/left-to-right --out axes
[ ! -e axes ] || fail "folders of a sweep that was refused: $(ls axes)"
accepts $proteins --temperatures 1 --seeds 2-3 --reference law/left-to-right --out axes
refuses "is a run of top-k:k=4, which does not commit one by one" $proteins --temperature 1 --seed 2 --reference law/top-k-k-4
refuses "cannot read 'nowhere/items.jsonl'" $proteins --temperature 1 --seed 2 --reference nowhere

# ---- a row per planner and temperature, seeds pooled; columns for machines
accepts $board --temperatures 0.1,0.7 --seeds 1-3 --out whole --json
cmp -s out whole/bench.json || fail "--json is not bench.json"
[ "$(grep -c '"planner"' out)" -eq 4 ] || fail "four rows: $out"
[ "$(grep -c '"items": 9' out)" -eq 4 ] && [ "$(grep -c '"items": 3' out)" -eq 12 ] || fail "nine items of three seeds: $out"
for key in nfe_mean base_mean test_mean calls_mean steps_mean row_passes_mean seconds_mean tokens_per_forward accuracy; do
  [ "$(grep -c "\"$key\": [0-9]" out)" -eq 16 ] || fail "rows without $key: $out"
done
[ "$(ls -d whole/*/ | wc -l)" -eq 12 ] && [ -s whole/punt-epsilon-0.1-t0.7-s3/summary.json ] || fail "folders: $(ls whole)"
accepts $board --temperatures 0.1,0.7 --seeds 1-3 --out whole
[[ $out == *"AUP (the area under accuracy"*"top-k (T 0.1) "*"punt (T 0.7) "* ]] || fail "no AUP: $out"
accepts bench membrane --model $golden/esm2 --threads 1 --length 20 --limit 2 --planners top-k:k=8
[[ $out == *"AUP (accuracy under parallelism): none, pseudo perplexity is not an accuracy"* ]] || fail "an AUP without an accuracy: $out"

# ---- a longer list finds what a shorter one left; one seed alone is the same run
accepts $board --temperatures 0.1 --seeds 2 --out grown
cp -r grown/top-k-k-1-t0.1-s2 once
accepts $board --temperatures 0.1,0.7 --seeds 1-3 --out grown
diff -r once grown/top-k-k-1-t0.1-s2 || fail "a measured point was measured again"
same() { diff <(grep -v '"seconds_mean"' "$1/bench.json") <(grep -v '"seconds_mean"' "$2/bench.json") >/dev/null; }
same whole grown || fail "a sweep in two parts differs"
accepts $board --temperature 0.7 --seed 3 --out single
diff <(cut -d, -f1-4 single/top-k-k-1/items.jsonl) <(cut -d, -f1-4 whole/top-k-k-1-t0.7-s3/items.jsonl) \
  || fail "a seed alone gave other texts"

# ---- records from before calls, rows and tokens were counted still count, but not for what they do not say
cp -r whole old
sed -i -E 's/"calls":[0-9]+,"row_passes":[0-9]+,"tokens":[0-9]+,//' old/*/items.jsonl
accepts $board --temperatures 0.1,0.7 --seeds 1-3 --out old --json
[[ $out == *nfe_mean* && $out != *tokens_per_forward* && $out == *'"curve_aup": null'* ]] || fail "old records: $out"

# ---- more runs than open files are allowed by default
many="bench sudoku:size=4 --model $golden/llada --threads 1 --limit 1 --planners random --seeds 1-100"
(ulimit -Sn 50; "$PUNT" $many --out many >out 2>err </dev/null) || fail "a hundred runs under a soft limit: $(cat err)"
(ulimit -n 100; "$PUNT" $many --out few >out 2>err </dev/null)
[ $? -eq 2 ] && grep -q "100 runs need 164 open files, 100 are allowed" err || fail "under a hard limit: $(cat err)"

# ---- several processes: the same but for the seconds
for processes in 2 5; do
  accepts $board --temperatures 0.1,0.7 --seeds 1-3 --processes $processes --out parallel$processes
  [ -z "$err" ] || fail "$processes processes: $err"
  same whole parallel$processes || fail "$processes processes gave another result"
done
refuses "unknown model 'nobody'" bench sudoku --model nobody --processes 2
refuses "do not fit" bench stories --model $golden/llada --threads 1 --length 100000 --limit 2 --planners random --processes 2

# ---- killed in the middle with two processes: the parent, then a worker; resumed, the same
long="bench sudoku --model $golden/llada --threads 1 --limit 12 --planners top-k:k=1;punt:epsilon=0.1;random --seeds 1-2"
accepts $long --out long
items() { cat "$1"/*/items.jsonl 2>/dev/null | wc -l; }
# begin DIR: starts the sweep with two processes and waits for some records; sets $pid, $workers
begin() {
  "$PUNT" $long --processes 2 --out "$1" >out 2>err </dev/null & pid=$!
  for ((i = 0; i < 1200; ++i)); do [ "$(items "$1")" -ge 3 ] && break; sleep 0.02; done
  workers=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
}
gone() { for ((i = 0; i < 500; ++i)); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.02; done; return 1; }

begin killed
[ "$(wc -w <<<"$workers")" -eq 2 ] || fail "two workers expected, got '$workers'"
kill -9 $pid
wait $pid 2>/dev/null
[ "$(items killed)" -lt 72 ] || fail "killed too late to say anything"
for worker in $workers; do gone $worker || fail "a worker outlived its parent"; done
accepts $long --processes 2 --out killed
same long killed || fail "the sweep after kill -9 of the parent differs"
[ "$(items killed)" -eq 72 ] || fail "$(items killed) records instead of 72"

begin widow
kill -9 ${workers%% *}
wait $pid
[ $? -eq 0 ] || fail "a killed worker ended the sweep: $(cat err)"
same long widow || fail "the sweep with a killed worker differs"
[ "$(items widow)" -eq 72 ] || fail "$(items widow) records instead of 72"

for signal in INT TERM; do
  begin $signal
  kill -$signal $pid
  wait $pid
  [ $? -eq 130 ] || fail "SIG$signal: exit code $?"
  grep -q "^punt: interrupted after [0-9]* of 3 rows; the same command goes on from there$" err || fail "$(cat err)"
  for worker in $workers; do gone $worker || fail "a worker outlived SIG$signal"; done
  accepts $long --out $signal
  same long $signal || fail "the sweep after SIG$signal differs"
done

# ---- presets and dry runs
accepts bench --preset paper-text --dry-run
[[ $out == *"temperature  0.1, 0.7"*"nucleus      0.9"*gsm8k*"Left open"* ]] || fail "dry run: $out"
[ "$(awk '$1 == "gsm8k" { print $NF }' out)" = 63312 ] || fail "24 x 2 x 1319 generations: $out"
accepts bench --preset paper-protein --dry-run --json
[ "$(grep -c '"generations": 1250' out)" -eq 1 ] || fail "25 x 50 proteins: $out"
accepts bench sudoku --planners "top-k:k=1; random" --temperatures 0,1 --seeds 1-5 --limit 7 --dry-run
[ "$(awk '$1 == "sudoku" { print $NF }' out)" = 140 ] || fail "2 x 2 x 5 x 7: $out"
accepts bench sudoku:size=4 --model $golden/llada --threads 1 --limit 1 --preset paper-text --temperatures 0.7 --out paper
[[ $out == *"means of 1 item"$'\n'* ]] || fail "of one item: $out"
grep -rq "means of 1 item, " paper || fail "the report of one item says: $(grep -rh "means of" paper)"
[ "$(ls -d paper/*/ | wc -l)" -eq 24 ] || fail "24 planners: $(ls paper)"
grep -q '"score": "margin"' paper/entropy-bound-gamma-1-t0.7/config.json || fail "the paper's score for LLaDA is the margin"
grep -q '"top_p": "0.9"' paper/entropy-bound-gamma-1-t0.7/config.json || fail "the paper's nucleus"
accepts bench stories --model $golden/dream --threads 1 --length 8 --limit 1 --preset paper-text --temperature 0.7 --out dream
grep -q '"score": "neg-entropy"' dream/punt-epsilon-0.01-fallback-false/config.json || fail "the paper's score for Dream is entropy"

# ---- pipes get no escape codes; terminals a bar
accepts $board --seeds 1-3
! grep -q $'\x1b' out err || fail "escape codes in a pipe"
if command -v script >/dev/null; then
  TERM=xterm script -qec "stty cols 80 rows 10; $PUNT ${base/--limit 3/} --limit 1 --preset every --processes 2" screen >/dev/null </dev/null
  grep -q "of 39 items, about [0-9]* s left" screen || fail "no progress on a terminal: $(cat screen)"
fi

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
