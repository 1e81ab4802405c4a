#!/usr/bin/env bash
# punt analyze error, order, attention and influence: errors, files, resuming, interruptions.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
toy="--model toy:markov,length=40,vocab=4,seed=1,coupling=0.8,permute=true"
two="punt:epsilon=0.04; top-k:k=4"

for analysis in error order attention influence; do
  accepts analyze $analysis --help
  [[ $out == *Examples:*"punt analyze $analysis "* ]] || fail "help of '$analysis' shows no example"
  refuses "--out is required" analyze $analysis
  refuses "unknown model 'nobody'" analyze $analysis --model nobody --out x
  refuses "unknown planner 'nobody'" analyze $analysis $toy --planners nobody --out x
  refuses "--planners and --preset exclude" analyze $analysis $toy --planners punt --preset every --out x
  refuses "'punt:epsilon=0.04' is given twice" analyze $analysis $toy --planners "punt; punt:epsilon=0.04" --out x
  refuses "leaves nothing to generate" analyze $analysis --model toy:markov,length=4,vocab=4 --prompt abba --out x
  refuses "unknown preset 'nobody'" analyze $analysis $toy --preset nobody --out x
  refuses "--samples must be between 1 and" analyze $analysis $toy --samples 0 --out x
  refuses "cannot read 'nothing.txt'" analyze $analysis $toy --prompts nothing.txt --out x
  [[ $err == "punt: cannot read"* ]] || fail "the file is named twice: $err"
  printf '{"prompt":"a"}\n{"prompt":7}\n' >bad.jsonl
  refuses "bad.jsonl: line 2: no text under prompt" analyze $analysis $toy --prompts bad.jsonl --out x
  printf 'a\nzzz\n' >bad.txt
  refuses "bad.txt: prompt 2: " analyze $analysis $toy --prompts bad.txt --out x
  refuses "--prompt and --prompts exclude" analyze $analysis $toy --prompts bad.txt --prompt a --out x
  refuses "exceed the 40 that" analyze $analysis $toy --length 41 --out x
  [ ! -e x ] || fail "a refused run left a folder"
  touch file
  refuses "cannot make the folder 'file'" analyze $analysis --model $golden/llada --threads 1 --quick --out file
done

# ---- exactness: unfinished measurements of earlier versions are refused, not lost
mkdir before
echo '{"configuration":"exactness 0.1.0 quick=true seeds=1","finished":false}' >before/exactness.jsonl
refuses "'before/exactness.jsonl' holds measurements in the form of an earlier version" analyze exactness --quick --seeds 1 --out before
[ "$(ls before)" = exactness.jsonl ] || fail "a refused report left $(ls before)"

# ---- error: files, keys, one by one is exact
accepts analyze error $toy --planners "top-k:k=1; top-k:k=8; punt:epsilon=0.04" --samples 3 --out error
for name in tokens.csv error-nfe.svg error-revealed.svg error.md summary.json items.jsonl config.json; do
  [ -s error/$name ] || fail "error/$name is missing"
done
[ "$(wc -l <error/items.jsonl)" -eq 9 ] && [ "$(wc -l <error/tokens.csv)" -eq $((9 * 40 + 1)) ] || fail "records of error"
[ "$(grep -c '^"top-k:k=1",.*,0,0$' error/tokens.csv)" -eq 120 ] || fail "one by one is not exact"
! grep -qi nan error/* || fail "NaN: $(grep -il nan error/*)"
accepts analyze error $toy --planners "top-k:k=1; top-k:k=8; punt:epsilon=0.04" --samples 3 --out error --json
[ "$(wc -l <out)" -eq 1 ] && [ "$(tr -d ' \n' <out)" = "$(tr -d ' \n' <error/summary.json)" ] || fail "--json: $out"
[ "$(wc -l <error/items.jsonl)" -eq 9 ] || fail "a finished analysis was run again"
if command -v python3 >/dev/null; then
  python3 - <<'PY' || fail "summary.json of error"
import json, math, csv, statistics
rows = json.load(open("error/summary.json"))["planners"]
assert [r["planner"] for r in rows] == ["top-k:k=1", "top-k:k=8", "punt:epsilon=0.04"], rows
assert rows[0]["kl_new_base"]["mean_per_token"] == 0 and rows[0]["nfe_mean"] == 40 and rows[0]["extra_passes"] == 0
assert rows[1]["nfe_mean"] == 5 and rows[1]["kl_new_base"]["mean_per_token"] > 0
tokens = [t for t in csv.DictReader(open("error/tokens.csv")) if t["planner"] == "top-k:k=8"]
mean = statistics.fmean(float(t["kl_new_base"]) for t in tokens)
assert math.isclose(mean, rows[1]["kl_new_base"]["mean_per_token"], rel_tol=1e-9), mean
parallel = sorted(float(t["kl_new_base"]) for t in tokens if t["revealed_before"] != "0")
assert math.isclose(statistics.median(parallel), rows[1]["kl_new_base"]["median"], rel_tol=1e-9)
PY
fi

# ---- another configuration is refused and nothing is lost; more samples and planners are added
cp -r error saved
refuses "seed is 0 there and 7 here" analyze error $toy --samples 3 --out error --seed 7
refuses "temperature is 1 there and 0.5 here" analyze error $toy --samples 3 --out error --temperature 0.5
diff -r error saved || fail "a refused run changed the folder"
accepts analyze error $toy --planners "top-k:k=8; top-k:k=10" --samples 4 --out error
[ "$(wc -l <error/items.jsonl)" -eq 14 ] || fail "one more sample and one more planner: $(wc -l <error/items.jsonl)"
echo nonsense >>error/items.jsonl
refuses "error/items.jsonl:15: not JSON (or not UTF-8) at column 2" analyze error $toy --samples 3 --out error

# ---- order: files, left to right is told, traces give what runs give
printf '{"kind":"short","prompt":"a"}\n{"kind":"long","prompt":"abba"}\n' >kinds.jsonl
accepts analyze order $toy --planners "left-to-right; punt; top-k:k=4" --length 30 --samples 4 --prompts kinds.jsonl --out order
for name in commits.csv order-efficiency.svg order.svg order.md summary.json items.jsonl; do
  [ -s order/$name ] || fail "order/$name is missing"
done
[ "$(wc -l <order/commits.csv)" -eq $((12 * 30 + 1)) ] || fail "commits of order: $(wc -l <order/commits.csv)"
! grep -qi nan order/*.json order/*.svg order/*.md || fail "NaN in order"
if command -v python3 >/dev/null; then
  python3 - <<'PY' || fail "summary.json of order"
import json
rows = json.load(open("order/summary.json"))["rows"]
assert [(r["planner"], r["kind"]) for r in rows][:4] == [
    ("left-to-right", "short"), ("left-to-right", "long"), ("left-to-right", "all"), ("punt", "short")], rows
assert rows[2]["left_to_right"]["mean"] == 1 and rows[2]["tokens_per_pass"] == 1 and rows[2]["runs"] == 4
assert rows[-1]["tokens_per_step"] == 30 / 8 and rows[-1]["left_to_right"]["mean"] < 0.9
PY
fi
accepts generate a $toy --length 30 --planner top-k:k=4 --samples 2 --trace one.jsonl
accepts generate a $toy --length 30 --planner left-to-right --samples 2 --trace two.jsonl
accepts analyze order --trace one.jsonl two.jsonl --out traced
[ "$(grep -c '^"top-k:k=4","one"' traced/commits.csv)" -eq 60 ] || fail "commits of a trace: $(head -n 2 traced/commits.csv)"
accepts analyze order $toy --planners "top-k:k=4" --length 30 --samples 2 --prompt a --out made
cut -d, -f3- traced/commits.csv | head -n 61 >from-trace
cut -d, -f3- made/commits.csv >from-runs
cmp -s from-trace from-runs || fail "a trace and a run of the same sample differ"
refuses "cannot read nothing.jsonl" analyze order --trace nothing.jsonl --out x
refuses "kinds.jsonl" analyze order --trace kinds.jsonl --out x
: >empty.jsonl
refuses "empty.jsonl: the trace is empty" analyze order --trace empty.jsonl --out x
[ ! -e x ] || fail "a refused trace left a folder"

# ---- attention: networks only; the errors are those of the error analysis
refuses "is not a network" analyze attention $toy --quick --out x
[ ! -e x ] || fail "a refused model left a folder"
accepts analyze attention --model $golden/llada --threads 1 --quick --planners "$two" --out attention
for name in pairs.csv states.csv attention-kl.svg attention-states.svg attention.md summary.json; do
  [ -s attention/$name ] || fail "attention/$name is missing"
done
! grep -qi nan attention/* || fail "NaN: $(grep -il nan attention/*)"
accepts analyze error --model $golden/llada --threads 1 --quick --planners "$two" --out same
grep -v ',0,0,0$' same/tokens.csv | cut -d, -f1-6 | tail -n +2 >errors-there
cut -d, -f1-6 attention/pairs.csv | tail -n +2 >errors-here
[ -s errors-here ] && cmp -s errors-there errors-here || fail "errors of the two analyses differ"
refuses "nothing to draw" analyze attention --model $golden/llada --threads 1 --quick --planners left-to-right --out ltr

# ---- networks; threads change nothing
accepts analyze error --model $golden/llada --threads 1 --quick --planners "$two" --out net1
accepts analyze error --model $golden/llada --threads 2 --quick --planners "$two" --out net2
cmp -s net1/tokens.csv net2/tokens.csv || fail "threads changed the errors"

# resumes ANALYSIS FILE...: killed, interrupted and resumed in the middle gives the same files
resumes() {
  local analysis=$1
  shift
  local long="analyze $analysis --model $golden/llada --threads 1 --length 24 --samples 12"
  accepts $long --planners "$two" --out whole-$analysis
  for signal in KILL INT; do
    # On a busy machine the shell may wake up when all is done: then it tries again.
    local stopped=0 tries=0
    while [ $stopped -eq 0 ] && [ $((tries++)) -lt 20 ]; do
      rm -rf cut
      "$PUNT" $long --planners "$two" --out cut >/dev/null 2>err &
      local pid=$!
      while ! [ -s cut/items.jsonl ] && kill -0 $pid 2>/dev/null; do :; done
      kill -$signal $pid 2>/dev/null
      wait $pid 2>/dev/null
      stopped=$?
    done
    [ $signal = KILL ] && [ $stopped -ne 137 ] && fail "$analysis: killed too late, exit code $stopped"
    [ $signal = INT ] && [ $stopped -ne 130 ] && fail "$analysis: exit code after SIGINT: $stopped"
    [ ! -e cut/summary.json ] || fail "$analysis: a summary of a part"
    printf '{"id":"cut o' >>cut/items.jsonl  # as if the kill had come in the middle of a line
    accepts $long --planners "$two" --out cut
    [ "$(wc -l <cut/items.jsonl)" -eq 24 ] || fail "$analysis: records after resuming: $(wc -l <cut/items.jsonl)"
    for name in "$@"; do
      cmp -s whole-$analysis/$name cut/$name || fail "$analysis: $name differs after SIG$signal and resuming"
    done
  done
}
# ---- planners that the model cannot run are named together, before anything is made
for analysis in error order; do
  refuses "planner dawn: the planner needs attention maps" analyze $analysis $toy --planners "top-k; dawn; clad" --out unfit
  [[ $err == *"; planner clad: the planner needs attention maps"* ]] || fail "only the first planner is named: $err"
  [ ! -e unfit ] || fail "a folder of an analysis that was refused"
done
refuses "planner dawn: the planner needs attention maps" compare --planners "top-k; dawn"

resumes error tokens.csv summary.json error-nfe.svg error-revealed.svg
resumes order commits.csv summary.json order.svg
resumes attention pairs.csv states.csv summary.json attention-kl.svg

# ---- influence: a file per sequence, the same for any number of threads; sets compared with those of another planner
data="analyze influence --model $golden/llada --length 16 --samples 3 --canvases 2 --singles 2 --sets 1 --planners punt:epsilon=0.001,fallback=false"
accepts $data --threads 1 --compare punt:epsilon=0.001,fallback=false --out influence
[[ $out == *"Jaccard 1.000, precision 1.000"* ]] || fail "a planner does not agree with itself: $out"
[ "$(ls influence/sample-000[0-2].safetensors | wc -l)" -eq 3 ] && [ "$(wc -l <influence/items.jsonl)" -eq 3 ] || fail "records of influence"
accepts $data --threads 2 --compare top-k:k=16 --out influence2
[[ $out != *"Jaccard 1.000"* && $out == *"tokens a step"* ]] || fail "everything is what PUNT commits: $out"
cmp -s influence/sample-0001.safetensors influence2/sample-0001.safetensors || fail "threads change the data of influence"
# The tensors of another planner or score would replace those that items.jsonl tells of.
cp -r influence influence-before
other=${data/punt:epsilon=0.001,fallback=false/top-k:k=8}
refuses "influence/items.jsonl:1: a run of another planner or score (punt:epsilon=0.001" $other --compare punt:epsilon=0.001,fallback=false --out influence
refuses "a run of another planner or score" $data --compare punt:epsilon=0.001,fallback=false --score random --out influence
diff -r influence influence-before || fail "a refused planner changed the folder"
refuses "is not a network" analyze influence $toy --out x
refuses "takes one planner" analyze influence --model $golden/llada --planners "$two" --out x
refuses "--compare distilled: the planner needs an influence head" analyze influence --model $golden/llada --compare distilled --out x
accepts analyze influence --model $golden/llada --length 4 --samples 1 --canvases 0 --planners left-to-right --compare top-k:k=2 --out none
[[ $err == *"nothing was compared with "*": left-to-right made no tests"* ]] || fail "nothing to compare: $err"
accepts analyze influence --model $golden/llada --length 4 --samples 1 --canvases 0 --planners left-to-right --compare top-k:k=2 --out none --json
[[ $out == *'"agreement":null'* && $err == *"nothing was compared"* ]] || fail "nothing to compare, as JSON: $out $err"
refuses "unknown planner 'nobody'" analyze influence --model $golden/llada --compare nobody --out x

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
