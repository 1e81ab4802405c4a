#!/usr/bin/env bash
# What bench/compare makes of measurements: compare_tool's report and pictures, compare_log_tool's log, judge_tool's
# errors, and the arguments of the script itself. The measurements are written by hand; nothing is timed.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
tools=$PUNT_BUILD_DIR
[ -x "$tools/compare_tool" ] || exit 77  # built without benchmarks

# tool NAME ARGS...: as run, for a program of bench/
tool() {
  "$tools/$1" "${@:2}" >out 2>err </dev/null
  code=$?
  out=$(cat out)
  err=$(cat err)
}

# tool_refuses "part of the message" NAME ARGS...: exit 2, one line on stderr, nothing on stdout
tool_refuses() {
  tool "${@:2}"
  [ "$code" -eq 2 ] || fail "exit code $code instead of 2: ${*:2}"
  [ -z "$out" ] || fail "output with an error: ${*:2} -> $out"
  [ "$(wc -l <err)" -eq 1 ] || fail "not one line: ${*:2} -> $err"
  [[ $err == "$2: "*"$1"* ]] || fail "message of '${*:2}' is '$err', expected '$1'"
}

shows() { grep -qsF -e "$2" "$1" || fail "$1 does not show '$2'"; }

cat >log.jsonl <<'END'
{"header":{"cpu":"a processor","cores":2,"punt":"v1","llama.cpp":"v0","threads":2,"canvas":256}}
{"command":"bench/compare --rounds 2"}
{"part":"forward","engine":"punt","shape":"60m","type":"q8_0","rows":64,"compute":"exact","round":1,"samples":[0.5,0.25]}
{"part":"forward","engine":"llama.cpp","shape":"60m","type":"q8_0","rows":64,"round":1,"samples":[1.0,3.0,2.0]}
{"part":"generate","engine":"punt","configuration":"fast","flags":"--planner punt:epsilon=0.16 --window 32 --cache step --compute int8","round":1,"seconds":2,"nfe":80,"row_passes":4000,"text":"a","judge_nll":2.0,"judge_tokens":2}
{"part":"generate","engine":"llama.cpp","configuration":"llama.cpp, 64 steps","steps":64,"round":1,"seconds":5,"nfe":64,"text":"b","judge_nll":4.0,"judge_tokens":2}
{"part":"generate","engine":"llama.cpp","configuration":"llama.cpp, 256 steps","steps":256,"round":1,"seconds":20,"nfe":256,"text":"c","judge_nll":3.0,"judge_tokens":3}
{"part":"generate","engine":"punt","configuration":"fast","flags":"--planner punt:epsilon=0.16 --window 32 --cache step --compute int8","round":2,"seconds":4,"nfe":90,"row_passes":4400,"text":"d","judge_nll":6.0,"judge_tokens":2}
{"part":"step","engine":"llama.cpp","shape":"1b","type":"f16","round":1,"steps":4,"nfe":4,"seconds":20}
{"part":"step","engine":"punt","shape":"1b","type":"f16","compute":"auto","round":1,"nfe":4,"seconds":16}
END

# ---- the report: best, median and ratio of each row; perplexity exp(8/4) of all nats over all tokens
mkdir report
tool compare_tool log.jsonl report
[ "$code" -eq 0 ] && [ -z "$err" ] || fail "compare_tool: exit code $code, $err"
for line in '| cpu | a processor |' '| threads | 2 |' '| command | `bench/compare --rounds 2` |' \
  '| 60m q8_0 | 64 | llama.cpp | 3 | 1 | 2 | 64 | 1.00 | 1.00 |' \
  '| 60m q8_0 | 64 | punt exact | 2 | 0.25 | 0.375 | 256 | 4.00 | 5.33 |' \
  '| llama.cpp, 256 steps |  |  |  |  | 1 | 256 |  | 20 | 20 | 1.00 | 1.00 | 2.72 |' \
  '| llama.cpp, 64 steps |  |  |  |  | 1 | 64 |  | 5 | 5 | 4.00 | 4.00 | 7.39 |' \
  '| fast | `punt:epsilon=0.16` | 32 | step | int8 | 2 | 85 | 4200 | 2 | 3 | 10.00 | 6.67 | 7.39 |' \
  '| 1b f16 | llama.cpp | 1 | 5 | 5 | 1.00 | 1.00 | 1280 | 640 | 320 |' \
  '| 1b f16 | punt auto | 1 | 4 | 4 | 1.25 | 1.25 | 1024 | 512 | 256 |' '![generate.svg](generate.svg)'; do
  shows report/report.md "$line"
done
[[ $out == *"| 60m q8_0 | 64 | punt exact |"* ]] && [[ $out != *"a processor"* ]] || fail "tables on the output: $out"
for name in 'llama.cpp' 'punt: punt+step' 'fast: 3 s, perplexity 7.39'; do
  shows report/generate.svg "$name"
done
for name in '60m q8_0' 'punt exact, 64 rows: 256 tokens/s'; do shows report/forward.svg "$name"; done

# ---- a last line that was cut off does not count; another does
head -c -30 log.jsonl >cut.jsonl
mkdir cut
tool compare_tool cut.jsonl cut
[ "$code" -eq 0 ] || fail "a cut line: $err"
shows cut/report.md '| 1b f16 | llama.cpp |'
! grep -qF '| 1b f16 | punt auto |' cut/report.md || fail "a cut line was counted"
{ head -n 3 log.jsonl; echo '{"part":"gen'; tail -n 2 log.jsonl; } >broken.jsonl
tool_refuses "broken.jsonl, line 4: not a JSON object" compare_tool broken.jsonl report

# ---- nothing to draw, no picture
mkdir bare
grep -v -e forward -e judge_nll log.jsonl >bare.jsonl
tool compare_tool bare.jsonl bare
[ "$code" -eq 0 ] && [ "$(ls bare)" = report.md ] || fail "only a report expected: $(ls bare), $err"

# ---- errors
: >empty.jsonl
tool_refuses "empty.jsonl: the file is empty" compare_tool empty.jsonl report
tool_refuses "cannot read 'missing.jsonl'" compare_tool missing.jsonl report
tool_refuses "'missing' is no folder" compare_tool log.jsonl missing
tool_refuses "usage: compare_tool" compare_tool log.jsonl
head -n 2 log.jsonl >none.jsonl
tool_refuses "there are no measurements" compare_tool none.jsonl report
tail -n 2 log.jsonl >headless.jsonl
tool_refuses "headless.jsonl: the first line is no header" compare_tool headless.jsonl report
for change in 's/"punt","shape"/"other","shape"/ unknown engine' 's/"part":"step"/"part":"stop"/ unknown part' \
  's/"seconds":16/"seconds":0/ a time must be above 0' 's/"nfe":80,// lacks .nfe.' 's/\[0.5,0.25\]/[]/ no samples'; do
  sed "${change%% *}" log.jsonl >changed.jsonl
  tool compare_tool changed.jsonl report
  [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [[ $err =~ ${change#* } ]] || fail "$change: exit code $code, $err"
done

# ---- the log: goes on with the same header, drops a cut line, refuses another machine
tool compare_log_tool begin new.jsonl "bench/compare" cpu=x threads=2
[ "$(cat new.jsonl)" = '{"header":{"cpu":"x","threads":2}}
{"command":"bench/compare"}' ] || fail "a new log: $(cat new.jsonl) $err"
echo '{"samples": [0.25, 0.5], "rows": 64}' >forward
tool compare_log_tool add new.jsonl forward_tool forward part=forward engine=punt rows=64 "shape=6 m"
[ "$(tail -n 1 new.jsonl)" = '{"part":"forward","engine":"punt","rows":64,"shape":"6 m","samples":[0.25,0.5]}' ] ||
  fail "a measurement: $(tail -n 1 new.jsonl) $err"
printf '{"part":"for' >>new.jsonl
tool compare_log_tool begin new.jsonl "bench/compare again" cpu=x threads=2
[ "$code" -eq 0 ] && [ "$(wc -l <new.jsonl)" -eq 4 ] && ! grep -q '"for{' new.jsonl ||
  fail "resumed: $(cat new.jsonl) $err"
tool compare_log_tool has new.jsonl rows=64 "shape=6 m"
[ "$code" -eq 0 ] || fail "the measurement is not found: $err"
tool compare_log_tool has new.jsonl rows=64 shape=6
[ "$code" -eq 1 ] || fail "another measurement is found"
cp new.jsonl saved.jsonl
tool_refuses 'threads is 2 there and 1 here; --fresh' compare_log_tool begin new.jsonl again cpu=x threads=1
tool_refuses 'system is absent there and "y" here' compare_log_tool begin new.jsonl again cpu=x threads=2 system=y
cmp -s new.jsonl saved.jsonl || fail "a refused run changed the log"

# ---- what programs write
printf '\rstep 1/8\n\ntotal time: 1500.00ms, time per step: 2.00ms\n\nA story.\n\nThe end.\n' >llama
tool compare_log_tool add new.jsonl llama-diffusion-cli llama part=generate steps=8
[ "$(tail -n 1 new.jsonl)" = '{"part":"generate","steps":8,"seconds":1.5,"nfe":8,"text":"A story.\n\nThe end."}' ] ||
  fail "of llama-diffusion-cli: $(tail -n 1 new.jsonl) $err"
cp new.jsonl saved.jsonl
printf '\rstep 1/8\n\ntotal time: 1500.00ms, time per step: 2.00ms\n' >llama
tool_refuses "the end of llama-diffusion-cli's output is missing" \
  compare_log_tool add new.jsonl llama-diffusion-cli llama steps=8
tool_refuses "llama: not a JSON object" compare_log_tool add new.jsonl punt llama
tool_refuses "forward: no samples_ns" compare_log_tool add new.jsonl llama-bench forward
tool_refuses "unknown source 'nobody'" compare_log_tool add new.jsonl nobody forward
tool_refuses "'rows' is not NAME=VALUE" compare_log_tool has new.jsonl rows
tool_refuses "usage: compare_log_tool" compare_log_tool
cmp -s new.jsonl saved.jsonl || fail "a refused measurement changed the log"
"$PUNT" generate abcab --model toy:markov,length=16 --length 8 --json >generated
tool compare_log_tool add new.jsonl punt generated part=generate
[[ $(tail -n 1 new.jsonl) == '{"part":"generate","seconds":'*'"nfe":'*'"row_passes":'*'"text":"'* ]] ||
  fail "of punt generate: $(tail -n 1 new.jsonl) $err"

# ---- judge_tool says of a text what punt eval says of it
models=$PUNT_SOURCE_DIR/models
accepts eval stories --model "$models/stories.gguf" --judge "$models/stories15m.gguf" --planner top-k:k=16 --length 32 \
  --limit 2 --threads 1 --json --out eval
expected=$(field judge_perplexity)
sed -E 's/.*"response":("([^"\\]|\\.)*").*/\1/' eval/items.jsonl >texts
tool judge_tool "$models/stories15m.gguf" texts 1
[ "$code" -eq 0 ] && [ "$(field judge_perplexity)" = "$expected" ] || fail "judge_tool: $out $err, punt eval: $expected"
echo "no string" >texts
tool_refuses "texts, line 1: not a JSON string" judge_tool "$models/stories15m.gguf" texts
tool_refuses "there is no text to judge" judge_tool "$models/stories15m.gguf" empty.jsonl
tool_refuses "cannot read 'missing'" judge_tool "$models/stories15m.gguf" missing

# ---- the script's own arguments, before anything is built
script() {
  "$PUNT_SOURCE_DIR/bench/compare" "$@" >out 2>err </dev/null
  code=$?
}
script --help
[ "$code" -eq 0 ] && shows out "Examples:" && shows out "bench/compare --quick"
for arguments in "--bogus" "--rounds" "--rounds 0" "--threads some" "--rows 1,x" "--parts all" \
  "--configurations missing"; do
  script $arguments
  [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "bench/compare $arguments: $code, $(cat err)"
done

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
