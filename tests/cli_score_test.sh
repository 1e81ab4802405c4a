#!/usr/bin/env bash
# punt score: help, errors, formats of responses, files, summaries. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
fixtures=$PUNT_SOURCE_DIR/tests/score
gsm8k="--data $fixtures/gsm8k.jsonl --responses $fixtures/gsm8k_responses.jsonl"

accepts score --help-all
[[ $out == *Examples:*"punt score "* ]] || fail "help of 'score' shows no example"
for task in gsm8k "math, math500" countdown sudoku humaneval mbpp mt-bench; do [[ $out == *"$task: "* ]] || fail "help does not name $task"; done

# ---- bad input: one line that names the file and the line
refuses "task is required" score
refuses "nothing scores 'nobody'; valid tasks: gsm8k, math, math500, countdown, sudoku, humaneval, mbpp, ifeval, mt-bench" score nobody $gsm8k
refuses "--data is missing: JSON lines with question and answer" score gsm8k --responses x
refuses "--responses is missing" score gsm8k --data $fixtures/gsm8k.jsonl
refuses "cannot read 'nothing.jsonl'" score gsm8k --data nothing.jsonl --responses x
refuses "cannot read 'nothing.jsonl'" score gsm8k --data $fixtures/gsm8k.jsonl --responses nothing.jsonl
refuses "math.jsonl: line 1: no text under answer" score gsm8k --data $fixtures/math.jsonl --responses x
: >empty.jsonl
refuses "empty.jsonl: there are no items" score gsm8k --data empty.jsonl --responses x
refuses "empty.jsonl: there are no responses" score gsm8k --data $fixtures/gsm8k.jsonl --responses empty.jsonl
head -n 1 $fixtures/gsm8k_responses.jsonl >broken.jsonl
echo '{"id": 1, "response": ' >>broken.jsonl
refuses "broken.jsonl: line 2: not a JSON object" score gsm8k --data $fixtures/gsm8k.jsonl --responses broken.jsonl
echo '{"id": 9, "response": "x"}' >unknown.jsonl
refuses "unknown.jsonl: line 1: there is no item '9'" score gsm8k --data $fixtures/gsm8k.jsonl --responses unknown.jsonl
printf '\x1f\x8b' >packed.jsonl
refuses "'packed.jsonl' is a broken or incomplete gzip file" score gsm8k --data packed.jsonl --responses x
refuses "line 2: a puzzle has 16, 36 or 81 cells" score sudoku --data $fixtures/gsm8k.jsonl --responses x
refuses "cannot write missing/x.jsonl: No such file or directory" score gsm8k $gsm8k --out missing/x.jsonl
refuses "cannot make the folder" score gsm8k $gsm8k --out empty.jsonl/x
cp $fixtures/gsm8k_responses.jsonl mine.jsonl
refuses "--out would overwrite 'mine.jsonl'" score gsm8k --data $fixtures/gsm8k.jsonl --responses mine.jsonl --out mine.jsonl
cmp -s mine.jsonl $fixtures/gsm8k_responses.jsonl || fail "responses were overwritten"

# ---- the summary: a table, or one JSON object in one line, which is also in summary.json
accepts score gsm8k $gsm8k
[[ $out == "gsm8k, 4 of 4 items"*accuracy*0.7500*"["*strict_match*0.2500* ]] && [ -z "$err" ] || fail "table: $out $err"
accepts score gsm8k $gsm8k --json --out run
[ "$(wc -l <out)" -eq 1 ] && [ "$(field items)" = 4 ] && [ "$(field accuracy)" = 0.75 ] || fail "--json: $out"
[ "$(grep -o '"[a-z_0-9]*":' out | tr '\n' ' ')" = \
  '"task": "data": "responses": "items": "data_items": "accuracy": "ci95": "strict_match": "strict_match_ci95": "notes": ' ] \
  || fail "keys of --json: $(grep -o '"[a-z_0-9]*":' out | tr '\n' ' ')"
[ "$(tr -d ' \n' <out)" = "$(tr -d ' \n' <run/summary.json)" ] || fail "summary.json is another object"
[ "$(wc -l <run/items.jsonl)" -eq 4 ] || fail "four verdicts expected"
for key in id correct extracted gold reason verdict strict_match prompt response; do
  [ "$(grep -c "\"$key\":" run/items.jsonl)" -eq 4 ] || fail "verdicts without $key"
done
grep -q '^{"id":"1","correct":true,"extracted":"$1,000.","gold":"1000",' run/items.jsonl || fail "$(cat run/items.jsonl)"
grep -q '^{"id":"2","correct":false,"extracted":"$4.00",' run/items.jsonl || fail "cents are no protocol's"
grep -q '^{"id":"3","correct":true,"extracted":"-5",' run/items.jsonl || fail "text behind an end was read"
if command -v python3 >/dev/null; then
  while IFS= read -r line; do python3 -m json.tool <<<"$line" >/dev/null || fail "not JSON: $line"; done <run/items.jsonl
fi

# ---- the same again is the same; another scoring is refused and nothing is lost; a file of verdicts alone
cp -r run saved
accepts score gsm8k $gsm8k --json --out run
diff -r run saved || fail "the same command changed the folder"
refuses "'run' holds another evaluation" score math --data $fixtures/math.jsonl --responses $fixtures/math_responses.jsonl --out run
diff -r run saved || fail "a refused scoring changed the folder"
accepts score gsm8k $gsm8k --out verdicts.jsonl
cmp -s verdicts.jsonl run/items.jsonl || fail "--out FILE.jsonl has other verdicts"

# ---- other tasks
accepts score math --data $fixtures/math.jsonl --responses $fixtures/math_responses.jsonl --json --out math
[ "$(field accuracy)" = 0.75 ] && [ "$(field minerva)" = 0.25 ] || fail "math: $out"
[ "$(grep -o '"reason":"[a-z]*"' math/items.jsonl | tr '\n' ' ')" = '"reason":"number" "reason":"" "reason":"set" "reason":"lewkowycz" ' ] \
  || fail "rules: $(cat math/items.jsonl)"
accepts score math500 --data $fixtures/math.jsonl --responses $fixtures/math_responses.jsonl --json
[ "$(field task)" = '"math500"' ] && [ "$(field accuracy)" = 0.75 ] || fail "math500: $out"
accepts score countdown --data $fixtures/countdown.jsonl --responses $fixtures/countdown_responses.jsonl --json
[[ $(field accuracy) == 0.666* ]] && [ "$(field reaches_target)" = 1.0 ] || fail "countdown: $out"
accepts score sudoku --data $fixtures/sudoku.csv --responses $fixtures/sudoku_responses.jsonl --json
[ "$(field accuracy)" = 0.5 ] || fail "sudoku: $out"

# ---- tasks that run programs: refused without a sandbox, unless told so
humaneval="--data $fixtures/humaneval.jsonl --responses $fixtures/humaneval_responses.jsonl --time-limit 1"
mbpp="--data $fixtures/mbpp.jsonl --responses $fixtures/mbpp_responses.jsonl"
refuses "--unsandboxed and --time-limit are for tasks that run programs; gsm8k runs none" score gsm8k $gsm8k --time-limit 2
refuses "--unsandboxed and --time-limit are for tasks that run programs" score gsm8k $gsm8k --unsandboxed
refuses "--time-limit" score humaneval $humaneval --time-limit 0
saved_path=$PATH
PATH=/nowhere
code=0
"$PUNT" score humaneval $humaneval --out none.jsonl >/dev/null 2>refusal || code=$?
PATH=$saved_path
[ "$code" -eq 2 ] && [ "$(wc -l <refusal)" -eq 1 ] && [ ! -e none.jsonl ] || fail "without a sandbox: $code $(cat refusal)"
[[ $(cat refusal) == "punt: "*"'bwrap' is missing (Debian package bubblewrap); --unsandboxed runs them without one"* ]] || fail "$(cat refusal)"
# humaneval_passes FLAGS...: five responses, of which one passes to the letter and another one is found
humaneval_passes() {
  accepts score humaneval $humaneval --json --out verdicts.jsonl "$@"
  [ "$(field accuracy)" = 0.2 ] && [ "$(field extracted_pass)" = 0.4 ] || fail "humaneval $*: $out"
  [ "$(grep -oE '"correct":[a-z]+' verdicts.jsonl | cut -d: -f2 | tr '\n' ' ')" = "true false false false false " ] || fail "$*"
  [ "$(grep -c '"reason":"failed: SyntaxError: .*; extracted: passed"' verdicts.jsonl)" -eq 1 ] || fail "fenced code"
  [ "$(grep -c '"reason":"failed: AssertionError at line 6: assert candidate(' verdicts.jsonl)" -eq 1 ] || fail "exception"
  [ "$(grep -c '"reason":"timed out"' verdicts.jsonl)" -eq 1 ] || fail "endless loop"
  [ "$(grep -c '"reason":"failed: it left before its checks' verdicts.jsonl)" -eq 1 ] || fail "early exit"
}
humaneval_passes --unsandboxed
accepts score mbpp $mbpp --unsandboxed --json
[[ $(field accuracy) == 0.333* ]] && [[ $(field extracted_pass) == 0.666* ]] || fail "mbpp: $out"
if run score mbpp $mbpp && [ "$code" -eq 0 ]; then
  for jobs in 1 3; do
    humaneval_passes --jobs $jobs
    cp verdicts.jsonl verdicts.$jobs
  done
  cmp -s verdicts.1 verdicts.3 || fail "records depend on --jobs"
  gzip -c $fixtures/mbpp.jsonl >packed.gz
  accepts score mbpp --data packed.gz --responses $fixtures/mbpp_responses.jsonl --json
  [[ $(field accuracy) == 0.333* ]] || fail "gzip: $out"
  head -c 100 packed.gz >cut.gz
  refuses "'cut.gz' is a broken or incomplete gzip file" score mbpp --data cut.gz --responses x
else
  echo "left out: programs in a sandbox ($err)"
fi

# ---- a part of the items; what punt eval writes is read
head -n 2 $fixtures/gsm8k_responses.jsonl >part.jsonl
accepts score gsm8k --data $fixtures/gsm8k.jsonl --responses part.jsonl
[[ $err == "punt: note: 2 of 4 items have no response and are not counted" ]] || fail "note: $err"
accepts puzzles --size 4 --givens 6 --count 5 --seed 1 --out five.csv
accepts eval sudoku:size=4 --model $PUNT_SOURCE_DIR/tests/golden/llada --threads 1 --planner top-k:k=1 --data five.csv --json --out played
valid=$(field valid_cells)
accepts score sudoku --data five.csv --responses played/items.jsonl --json
[ "$(field items)" = 5 ] && [ "$(field accuracy)" = 0.0 ] || fail "records of punt eval: $out ($valid)"

# ---- the public logs, where they are at hand
log=gsm8k/lm_eval_logs/Data-Science-Thesis_samples_gsm8k_2025-08-11T20-51-25.059120.jsonl
if found=$(test_data $log) && questions=$(test_data gsm8k/test.jsonl); then
  accepts score gsm8k --data "$questions" --responses "$found" --json
  [ "$(field items)" = 1 ] && [ "$(field accuracy)" = 1.0 ] && [ "$(field strict_match)" = 0.0 ] || fail "log: $out"
else
  echo "left out: no test data: $log"
fi

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
