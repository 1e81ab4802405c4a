#!/usr/bin/env bash
# The contract of the command line: exit codes, messages, JSON, reproducibility, nothing left behind.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"

has_escapes() { grep -q $'\x1b' "$1"; }

small=toy:markov,length=12,vocab=4,seed=1

# ---- help and version
accepts --version
[[ $out == "punt "[0-9]* ]] || fail "version: $out"
for command in "" generate replay compare demo list; do
  accepts $command --help
  [[ $out == *Example* ]] || fail "help of '$command' shows no example"
done

# ---- unknown things
refuses "ubcommand"
refuses "unknown command 'nonsense'; valid: generate, replay" nonsense
refuses "--nonsense" generate --nonsense
refuses "unknown planner 'nobody'; valid planners: punt, top-k" generate --planner nobody
refuses "has no key 'eps'; valid keys: epsilon" generate --planner punt:eps=1
refuses "k must be between 1 and" generate --planner top-k:k=0
refuses "epsilon must be a number" generate --planner punt:epsilon=lots
refuses "expected key=value" generate --planner punt:epsilon
refuses "unknown" generate --score nobody
refuses "margin" generate --score nobody
refuses "unknown model 'nobody'" generate --model nobody
refuses "unknown toy model 'nobody'" generate --model toy:nobody
refuses "has no key 'width'" generate --model toy:markov,width=3
refuses "EOS policy 'never'" generate --eos never
refuses "--view" generate --view loud
refuses "--color" generate --color pink
refuses "onvention" generate --convention other
refuses "list: expected planners, scores" list nothing

# ---- numbers out of range
refuses "--length must be between 1 and" generate --length 0
refuses "--length must be between 1 and" generate --length -3
refuses "got 99999999999" generate --length 99999999999
refuses "got 99999999999999999999999" generate --length 99999999999999999999999
refuses "exceed the 64" generate --length 65
refuses "--samples must be a whole number, got '1e9'" generate --samples 1e9
refuses "--samples must be between 1 and 1000000, got 1000000000" generate --samples 1000000000
refuses "--samples must be between 1 and" generate --samples 0
refuses "--temperature must be between" generate --temperature -1
refuses "--temperature must be a number" generate --temperature nan
refuses "--top-p must be between" generate --top-p 1.5
refuses "top_p" generate --top-p 0
refuses "--top-k must be between" generate --top-k -1
refuses "--seed must be a whole number" generate --seed -1
refuses "--seed must be a whole number" generate --seed 18446744073709551616
refuses "--threads must be between" generate --threads -1
refuses "--delay must be between" generate --delay -1
refuses "--max-nfe must be between" generate --max-nfe -1
refuses "the window of 13 is larger than the 12 positions" generate --model $small --window 13
refuses "--window must be between" generate --window -1

# ---- prompts and holes
refuses "the prompt has 13 tokens" generate abcdabcdabcda --model $small
refuses "not valid UTF-8" generate $'a\xff' --model $small
refuses "not valid UTF-8" generate --infill $'a\xff[MASK]' --model $small
refuses "'x' lies outside the vocabulary" generate x --model $small
refuses "holds a mask" generate a_b --model $small
refuses "a hole is not closed" generate --infill "a[MASK:3" --model $small
refuses "hole" generate --infill "a[MASK:0]" --model $small
refuses "exceed the 12" generate --infill "a[MASK:12]" --model $small
refuses "exclude each other" generate a --infill "a[MASK:2]" --model $small
refuses "exclude each other" generate --length 3 --infill "a[MASK:2]" --model $small
refuses "--infill is empty" generate --infill "" --model $small

accepts generate --model $small
[ "${#out}" -eq 12 ] || fail "12 letters expected: $out"
accepts generate "" --model $small
[ "${#out}" -eq 12 ] || fail "an empty prompt is unconditional: $out"
accepts generate abc --model $small --length 4
[[ $out == abc[a-d][a-d][a-d][a-d] ]] || fail "prompt and 4 letters expected: $out"
accepts generate --infill "ab[MASK:3]cd[MASK]" --model $small
[[ $out == ab[a-d][a-d][a-d]cd[a-d] ]] || fail "holes: $out"
out=$(echo abc | "$PUNT" generate - --model $small --length 1)
[[ $out == abc[a-d] ]] || fail "prompt from the standard input: $out"

# ---- everything revealed already: the text comes back at no cost
accepts generate --infill abcd --model $small --json
[ "$(field text)" = '"abcd"' ] && [ "$(field nfe)" = '{"base":0,"test":0,"total":0}' ] || fail "nothing to do: $out"
accepts generate abcdabcdabcd --model $small
[ "$out" = abcdabcdabcd ] || fail "a prompt that fills the model: $out"

# ---- a vocabulary of one has one text
accepts generate --model toy:markov,length=5,vocab=1
[ "$out" = aaaaa ] || fail "a vocabulary of one: $out"

# ---- JSON
accepts generate ab --model $small --json --seed 3
for key in text tokens prompt_tokens steps nfe row_passes tokens_per_forward seconds planner seed stop peak_memory_bytes; do
  [[ $out == *"\"$key\":"* ]] || fail "no key $key in $out"
done
[ "$(grep -o '"[a-z_]*":' out | tr '\n' ' ')" = \
  '"text": "tokens": "prompt_tokens": "steps": "nfe": "base": "test": "total": "row_passes": "tokens_per_forward": "seconds": "planner": "seed": "stop": "peak_memory_bytes": ' ] \
  || fail "keys of --json: $(grep -o '"[a-z_]*":' out | tr '\n' ' ')"
[ "$(field prompt_tokens)" = 2 ] && [ "$(field seed)" = 3 ] && [ "$(field stop)" = '"full"' ] || fail "values: $out"
[[ $(field planner) == '"punt:epsilon='* ]] || fail "the planner is not written out: $out"
[ "$(wc -l <out)" -eq 1 ] || fail "one object, one line"
accepts generate --model $small --json --samples 3
[[ $out == "[{"*"}]" ]] && [ "$(grep -c '"text":' out)" -eq 3 ] || fail "an array of three: $out"
for what in planners scores caches models tasks devices; do
  accepts list $what
  [ -n "$out" ] || fail "list $what is empty"
  accepts list $what --json
  [[ $out == "["*"]" ]] || fail "list $what --json: $out"
done
if command -v python3 >/dev/null; then
  for arguments in "list planners" "list scores" "list caches" "list models" "list tasks" "list devices" "generate --model $small" \
    "generate --model $small --samples 2" "compare --model $small --samples 1"; do
    accepts $arguments --json
    python3 -m json.tool <out >/dev/null || fail "not JSON: $arguments --json"
  done
fi

# ---- every planner and score of the list runs, and its trace can be read
"$PUNT" list planners --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >planners
"$PUNT" list scores --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >scores
[ "$(wc -l <planners)" -ge 14 ] && [ "$(wc -l <scores)" -ge 6 ] || fail "the lists are short"
while read -r planner; do
  if [ "$planner" = dawn ]; then  # looks at attention maps
    refuses "the planner needs attention maps" generate --model $small --planner dawn
    continue
  fi
  accepts generate --model $small --planner "$planner" --trace every.jsonl
  [[ $out =~ ^[a-d]{12}$ ]] || fail "planner $planner: $out"
  accepts replay every.jsonl
done <planners
while read -r score; do accepts generate --model $small --score "$score"; done <scores

# ---- the same seed gives the same text, another one another; samples and threads change nothing
accepts generate --seed 5 --samples 4
cp out four
accepts generate --seed 5 --samples 4
cmp -s out four || fail "the same seed gave another text"
accepts generate --seed 5 --samples 4 --threads 3
cmp -s out four || fail "the number of threads changed the text"
[ "$(sort -u four | wc -l)" -eq 4 ] || fail "samples repeat each other"
for i in 0 1 2 3; do
  accepts generate --seed 5 --first-sample $i
  [ "$out" = "$(sed -n "$((i + 1))p" four)" ] || fail "sample $i alone differs from sample $i of four"
done
accepts generate --seed 6
[ "$out" != "$(head -n 1 four)" ] || fail "another seed gave the same text"

# ---- limits: the rest stays masked, and says so
accepts generate --model $small --planner left-to-right --max-steps 5
[[ $out =~ ^[a-d]{5}_{7}$ ]] || fail "5 steps: $out"
[[ $err == "punt: stopped (step-limit) after 5 steps with 7 positions still masked" ]] || fail "note: $err"
accepts generate --max-nfe 7 --json
[ "$(field stop)" = '"nfe-limit"' ] || fail "max-nfe: $out"
[ "$(sed 's/.*"total":\([0-9]*\).*/\1/' out)" -le 7 ] || fail "more passes than allowed: $out"

# ---- end of sequence
eos=toy:markov,length=12,vocab=3,seed=1,eos=0
accepts generate --model $eos --eos forbid
[[ $out != *a* ]] || fail "a forbidden token was generated: $out"

# ---- plain output has no escape codes, whatever is asked for, unless colour is asked for
for view in auto live plain none; do
  accepts generate --view $view
  ! has_escapes out || fail "escape codes in a file with --view $view"
  ! has_escapes err || fail "escape codes on a piped stderr with --view $view"
done
accepts generate --view plain --color always
has_escapes out || fail "--color always without colour"
accepts compare --model $small --samples 1
! has_escapes out && ! has_escapes err || fail "escape codes in a piped table"
accepts demo --model $PUNT_SOURCE_DIR/tests/golden/llada --threads 1 --samples 1
! has_escapes out && ! has_escapes err || fail "escape codes in a piped demo"
[ "$(grep -A 6 '^planner' out | grep -v '^[A-Z0-9]' | wc -L)" -le 80 ] || fail "the demo's table does not fit 80 columns"
[ "$(sed -n '/^planner/,$p' out | grep -c '^[a-z-]*:[a-z_]*=[0-9.]* ')" -eq 10 ] || fail "four planners on a chain, six on stories: $out"
[[ $out == *"Tests find what is independent: punt:epsilon=0.04"* ]] || fail "the demo does not show what tests find: $out"
refuses "unknown model 'stories'" demo

# ---- comparing
accepts compare --model $small --samples 2 --planners "left-to-right; top-k:k=3"
[ "$(grep -c '^left-to-right *12.0 *12.0 *12.0 *1.00 *0.000$' out)" -eq 1 ] || fail "the reference: $out"
[ "$(grep -c '^top-k:k=3 *4.0 *4.0 *4.0 *3.00 ' out)" -eq 1 ] || fail "top-k: $out"
refuses "unknown planner 'nobody'" compare --planners "punt;nobody"
refuses "an empty planner" compare --planners "punt;"

# ---- output that cannot be written is a failure, not a success
if [ -w /dev/full ]; then
  "$PUNT" list planners >/dev/full 2>err
  [ $? -eq 1 ] || fail "a full disk went unnoticed"
fi

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
