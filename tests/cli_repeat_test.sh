#!/usr/bin/env bash
# punt generate --from: what --json wrote, run again, gives the same tokens.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
small=toy:markov,length=12,vocab=4,seed=1
ends=toy:markov,length=12,vocab=3,seed=1,eos=0
golden=$PUNT_SOURCE_DIR/tests/golden

# without_time FILE: everything but what differs from run to run
without_time() { sed -E 's/"seconds":[^,]*,//; s/"peak_memory_bytes":[^,]*,//' "$1"; }

# repeats ARGS...: --json, then --from gives the same lines, and the same again
repeats() {
  accepts generate "$@" --json
  cp out first.json
  accepts generate --from first.json --json
  cmp -s <(without_time first.json) <(without_time out) || fail "not repeated: $* -> $(cat out)"
  "$PUNT" generate --from - --json <first.json >again.json 2>err || fail "from the standard input: $(cat err)"
  cmp -s <(without_time first.json) <(without_time again.json) || fail "not repeated from the standard input: $*"
}

# ---- all planners and scores, sampled
"$PUNT" list planners --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >planners
"$PUNT" list scores --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >scores
while read -r planner; do
  [[ $planner =~ ^(dawn|dapd|clad|adas)$ ]] || repeats ab --model $small --planner "$planner" --seed 7 --temperature 0.8
done <planners
while read -r score; do repeats --model $small --score "$score" --seed 3 --length 9; done <scores
repeats --model $small --planner "hybrid:first=(punt:epsilon=0.1),then=(spacing:planner=(random),gap=3),at=0.3" --seed 18446744073709551615

# ---- everything else that decides a text
repeats --model $small --temperature 0.3 --top-p 0.7 --top-k 3 --convention dream --score-on tempered --seed 4
repeats --model $small --infill "ab[MASK:3]cd[MASK]" --seed 9
repeats --model $small --window 4 --seed 2
repeats --model $small --max-steps 2 --seed 2
repeats --model $small --max-nfe 5 --seed 2
for eos in none deprioritise forbid anneal; do repeats --model $ends --eos $eos --seed 5 --samples 3; done
repeats --model $small --seed 5 --first-sample 3 --samples 4
repeats --model "$golden/llada" --threads 1 --chat "Why is the sky blue?" --length 16 --window 8 --temperature 0.7 --seed 2
repeats --model "$golden/llada" --threads 1 "the " --length 16 --cache settled --compute int8 --eos forbid --guidance 0.5
repeats --model "$golden/llada" --threads 1 --infill "one [MASK:4] three [MASK:2] five" --samples 3 --seed 8
repeats --model "$golden/esm2" --threads 1 --residues --length 20 --freeze-mask-ratio
repeats --model "$golden/esm2" --threads 1 --residues --lengths "$PUNT_SOURCE_DIR/tests/protein/known.fasta" --samples 2
printf -- '-' | "$PUNT" generate - --model "$golden/llada" --threads 1 --length 4 --json >first.json 2>err ||
  fail "a prompt of one dash: $(cat err)"
accepts generate --from first.json --json
cmp -s <(without_time first.json) <(without_time out) || fail "a dash is read from the standard input: $out"

# ---- several lines: one after another, or the one that is picked; texts come with their lines above
"$PUNT" generate --model $small --json --samples 3 --seed 1 >runs.json
"$PUNT" generate --model $ends --json --planner top-k:k=2 >>runs.json
accepts generate --from runs.json --json
cmp -s <(without_time runs.json) <(without_time out) || fail "four lines: $out"
sed -n 3p runs.json | "$PUNT" generate --from - --json >out
cmp -s <(sed -n 3p runs.json | without_time /dev/stdin) <(without_time out) || fail "the third line: $(cat out)"
accepts generate --from runs.json
[ "$(sed -n 's/^--- \(.*\) ---$/\1/p' out | tr '\n' ';')" = \
  "seed 1, sample 0 (1 of 4);seed 1, sample 1 (2 of 4);seed 1, sample 2 (3 of 4);seed 0, sample 0 (4 of 4);" ] ||
  fail "lines above repeated texts: $out"

# ---- what is given beside it replaces what was recorded
accepts generate ab --model $small --planner left-to-right --seed 6 --json
cp out first.json
accepts generate ab --model $small --planner top-k:k=3 --seed 6
cp out wanted
accepts generate --from first.json --planner top-k:k=3
cmp -s out wanted || fail "another planner: $out"
accepts generate ab --model $small --planner left-to-right --seed 6 --samples 3
cp out wanted
accepts generate --from first.json --samples 3
cmp -s out wanted || fail "more samples: $out"
accepts generate --from first.json --infill "ab[MASK:3]"
[[ $out == ab[a-d][a-d][a-d] ]] || fail "holes instead of a prompt: $out"

# ---- refused by line
refuses "nowhere.json" generate --from nowhere.json
refuses "--samples repeats the run of one line: runs.json has 4" generate --from runs.json --samples 2
echo '{"text":"of another program"}' >odd.json
refuses "odd.json:1: not output of punt generate --json: it has no version" generate --from odd.json
sed '2s/"top_p"/"top-p"/' runs.json >odd.json
refuses "odd.json:2: unknown key 'top-p' (did you mean top_p?)" generate --from odd.json
sed '4s/"temperature":1.0/"temperature":-1/' runs.json >odd.json
refuses "odd.json:4: --temperature must be between 0 and" generate --from odd.json
sed 's/"planner":"[^"]*"/"planner":"putn"/' first.json >odd.json
refuses "odd.json:1: unknown planner 'putn' (did you mean punt?)" generate --from odd.json
head -c 100 first.json >odd.json
refuses "odd.json:1: not JSON: the line is cut short" generate --from odd.json
paste -d '\0' first.json first.json >odd.json
refuses "odd.json:1: not JSON (or not UTF-8) at column" generate --from odd.json
levels=$(head -c 100000 /dev/zero | tr '\0' '[')
printf '{"version":"1","planner":%s%s}\n' "$levels" "${levels//\[/]}" >odd.json
refuses "odd.json:1: the JSON nests deeper than 64 levels" generate --from odd.json
refuses "odd.json: the JSON nests deeper than 64 levels" generate --sampling odd.json
if [ -c /dev/zero ]; then refuses "/dev/zero: is a device, not a file" generate --sampling /dev/zero; fi
head -c 1000001 /dev/zero | tr '\0' ' ' >odd.json
refuses "odd.json: the file has more than 1000000 bytes" generate --sampling odd.json
refuses "the file has more than 1000000 bytes" generate --sampling <(cat odd.json)
echo '{"temperature": 0.5}' >some.json
accepts generate ab --model $small --sampling <(cat some.json)
refuses "--stop is not valid UTF-8" generate ab --model $small --stop $'\xff'

# ---- the trace replaces no file that is read
cp first.json kept.json
refuses "first.json: the output is the input of --from" generate --from first.json --trace ./first.json
refuses "some.json: the output is the input of --sampling" generate ab --model $small --sampling some.json --trace some.json
cmp -s first.json kept.json || fail "a refused trace changed its file"
# A bad line is told before the first one runs, whatever is wrong with it.
for wrong in 's/"score":"[^"]*"/"score":"nobody"/' 's/"eos":"none"/"eos":"some"/' 's/"cache":"none"/"cache":"all"/' \
  's/"top_p":1.0/"top_p":0/' 's/"compute":"auto"/"compute":"quick"/' 's/"device":"auto"/"device":"nowhere"/' \
  's/"convention":"llada"/"convention":"x"/' 's/"planner":"[^"]*"/"planner":"top-k:k=0"/' 's/"seed":1/"seed":"1"/' \
  's/"chat":false/"chat":"no"/' 's/"length":12/"length":12.5/' 's/"infill":null/"infill":"a[MASK]"/'; do
  sed "3$wrong" runs.json >odd.json
  ! cmp -s runs.json odd.json || fail "nothing is wrong by $wrong"
  refuses "odd.json:3: " generate --from odd.json
done
# What only the opened model can tell comes when the line's turn does, with its place.
sed '3s/"window":0/"window":50/' runs.json >odd.json
run generate --from odd.json
[ "$code" -eq 2 ] && [[ $err == "punt: odd.json:3: the window of 50 is larger"* ]] || fail "a window that does not fit: $err"
# What was given beside it is not the file's fault, and what is only shown is not steered by it.
refuses "unknown planner 'nobody'" generate --from runs.json --planner nobody
[[ $err != *runs.json* ]] || fail "the file is blamed: $err"
refuses "--from needs the name of a file" generate --from ""
refuses "--from - and the prompt - both read the standard input" generate --from - -
printf '{"version":"1","\\u001b[31m":1}\n' >odd.json
refuses "odd.json:1: unknown key '" generate --from odd.json
! grep -q $'\x1b' err || fail "an escape sequence of a file reaches the terminal"
sed 's/"version":"[^"]*"/"version":"0.0.1"/' first.json >old.json
accepts generate --from old.json
[ "$err" = "punt: note: old.json:1 is of punt 0.0.1; this one may give another text" ] || fail "another version: $err"

# ---- what was recorded by an earlier program comes again: every planner on exact models, tokens, passes and why it ended
recorded=$PUNT_SOURCE_DIR/tests/recorded/toys.jsonl
accepts generate --from "$recorded" --json
python3 - "$recorded" out <<'CHECK' || fail "recorded runs differ"
import json, sys
recorded, again = ([json.loads(line) for line in open(name)] for name in sys.argv[1:])
assert len(recorded) == len(again) == 58, (len(recorded), len(again))
for old, new in zip(recorded, again):
    different = [key for key, value in old.items() if new.get(key) != value]
    assert not different, (old["planner"], different)
CHECK

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
