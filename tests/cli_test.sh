#!/usr/bin/env bash
# The contract of the command line: exit codes, messages, JSON, reproducibility, nothing left behind.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"

has_escapes() { grep -q $'\x1b' "$1"; }

small=toy:markov,length=12,vocab=4,seed=1

# ---- help and version
accepts --version
[[ $out == "punt "[0-9]* ]] || fail "version: $out"
for command in "" generate replay compare demo list analyze "analyze error" eval bench score serve; do
  accepts $command --help
  [[ $out == *Example* ]] || fail "help of '$command' shows no example"
  cp out asked
  accepts help $command
  cmp -s out asked || fail "help $command is not $command --help"
  accepts $command --help-all
  cp out asked
  accepts help $command --help-all
  cmp -s out asked || fail "help $command --help-all is not $command --help-all"
done
accepts --help
[[ $out == *"To use:"*"  generate "*"To measure:"*"To study:"*"Tools:"* ]] || fail "commands without groups: $out"
accepts generate --help
[[ $out == *"More options (--help-all):"*--min-p* && $out != *"most likely one"* ]] || fail "the short help: $out"
accepts generate --help-all
[[ $out == *"--min-p X"*"most likely one"* ]] || fail "the full help: $out"
accepts analyze --help
[[ $out != *"punt demo"* ]] || fail "the help of analyze has the program's examples"
run
[ "$code" -eq 2 ] && [ -z "$out" ] && [[ $err == *Example* ]] || fail "without arguments: exit code $code, $out"
accepts list
[ "$(cut -d ' ' -f 1 out | tr '\n' ' ')" = "planners scores caches models tasks devices " ] || fail "list: $out"
accepts list tasks
[[ $out == *mt-bench* ]] || fail "mt-bench is not among the tasks"

# ---- unknown things
refuses "unknown command 'nonsense'; valid: generate, serve" nonsense
refuses "unknown command 'nonsense'; valid: generate, serve" nonsense --help
refuses "unknown command 'genrate'; did you mean generate? (see punt --help)" genrate
refuses "unknown command 'nonsense'" help nonsense
accepts --help
cp out asked
accepts help help
cmp -s out asked || fail "help help is not --help: $out"
accepts -V
[[ $out == "punt "[0-9]* ]] || fail "version: $out"
refuses "--out needs the name of a file or folder" puzzles --count 1 --out ""
refuses "--out needs the name of a file or folder" eval sudoku --out ""
refuses "--reference needs the name of a file or folder" bench stories --reference ""
refuses "--compare needs the name of a file or folder" analyze influence --out some --compare ""
refuses "unknown command 'eror' of punt analyze; did you mean error? (see punt analyze --help)" analyze eror
refuses "punt analyze needs one of exactness, error, order, attention, influence (see punt analyze --help)" analyze
refuses "unknown option --nonsense of punt generate (see punt generate --help)" generate --nonsense
refuses "unknown option --temprature of punt generate; did you mean --temperature? (see punt generate --help)" \
  generate --temprature 0.5
refuses "unknown option --temprature of punt generate; did you mean --temperature?" generate once --temprature=0.5
refuses "unknown option -q of punt generate (see punt generate --help)" generate -q 5
refuses "unknown option -temperature of punt generate; did you mean --temperature?" generate -temperature 5
refuses "unknown option --jsn of punt list; did you mean --json? (see punt list --help)" list --jsn
refuses "unknown option --quik of punt analyze error; did you mean --quick? (see punt analyze error --help)" \
  analyze error --quik
refuses "unknown option --model of punt: options come after the command (see punt --help)" --model x generate
refuses "unexpected argument 'b' of punt generate (see punt generate --help)" generate a b
refuses "--regex is given 2 times; it takes one value (see punt generate --help)" generate --regex a --regex b
head -c 64000001 /dev/zero | "$PUNT" tokenize -m toy:markov - >out 2>err && fail "an endless standard input is read"
[ "$(cat err)" = "punt: the standard input has more than 64000000 bytes" ] || fail "an endless standard input: $(cat err)"
refuses "the template: character 1: the hole is not closed" generate -m toy:markov --template '{a:int'
refuses 'the composition "no B": character 4' generate -m toy:markov --composition 'no B'
refuses "--motif and --lengths exclude each other" generate -m toy:markov --motif C --lengths "$PUNT_SOURCE_DIR/tests/protein/known.fasta"
refuses "unexpected argument '--length' of punt generate; after -- there are no options" generate a -- --length 4 --threads 1
refuses "trace is required (see punt replay --help)" replay
refuses "unknown planner 'putn' (did you mean punt?); valid planners: punt, scout" generate --planner putn
refuses "unknown score 'margn' (did you mean margin?)" generate --score margn
refuses "unknown cache 'setled' (did you mean settled?)" generate --cache setled
refuses "unknown EOS policy 'forbd' (did you mean forbid?)" generate --eos forbd
refuses "got 'planers' (did you mean planners?)" list planers
refuses "no such file: nosuch.gguf" generate --model nosuch.gguf
refuses "no such file: folder/nosuch" generate --model folder/nosuch
refuses "unknown task 'sudku' (did you mean sudoku?); valid tasks: sudoku, " eval sudku
refuses "mt-bench runs in no sweep: another model judges its answers; punt eval mt-bench writes them" bench mt-bench
refuses "unknown planner 'nobody'; valid planners: punt, scout" generate --planner nobody
refuses "has no key 'eps' (did you mean epsilon?); valid keys: epsilon" generate --planner punt:eps=1
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
refuses "--top-p must be above 0 and at most 1, got 0" generate --top-p 0
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
refuses "the infill is empty" generate --infill "" --model $small
refuses "the infill has no hole to fill; one of n tokens is written [MASK:n]" generate --infill "no holes"
refuses "a hole is written [MASK] or [MASK:n], got '[mask:3]'" generate --infill "a [mask:3] b"
refuses "hole" generate --infill "a [MASK:x] b"
refuses "hole" generate --infill "a [MASK:99999999999] b"

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
accepts generate abcdabcdabcd --model $small --json
[ "$(field text)" = '"abcdabcdabcd"' ] && [ "$(field nfe)" = '{"base":0,"test":0,"total":0}' ] || fail "nothing to do: $out"
accepts generate abcdabcdabcd --model $small
[ "$out" = abcdabcdabcd ] || fail "a prompt that fills the model: $out"

# ---- a vocabulary of one has one text
accepts generate --model toy:markov,length=5,vocab=1
[ "$out" = aaaaa ] || fail "a vocabulary of one: $out"

# ---- JSON
accepts generate ab --model $small --json --seed 3
keys="text tokens prompt_tokens steps nfe base test total row_passes tokens_per_forward seconds planner seed stop"
keys+=" peak_memory_bytes masked version model prompt infill length chat thinking residues score temperature top_p top_k min_p convention"
keys+=" score_on eos window grow_to cache guidance freeze_mask_ratio stop_strings regex choices json_schema template json_depth motifs allowed_residues composition max_steps max_nfe sample compute influence lora device gpu_layers no_repack "
[ "$(grep -o '"[a-z_]*":' out | tr -d '":' | tr '\n' ' ')" = "$keys" ] ||
  fail "keys of --json: $(grep -o '"[a-z_]*":' out | tr '\n' ' ')"
[ "$(field prompt_tokens)" = 2 ] && [ "$(field seed)" = 3 ] && [ "$(field stop)" = '"full"' ] || fail "values: $out"
[ "$(field planner)" = '"scout"' ] || fail "the planner where none is named: $out"
[ "$(wc -l <out)" -eq 1 ] || fail "one object, one line"
accepts generate --model $small --json --planner punt:epsilon=0.040,divergence=tv
[ "$(field planner)" = '"punt:divergence=tv"' ] || fail "a default is written out: $out"
accepts generate --model $small --json --samples 3
[ "$(grep -c '^{"text":.*}$' out)" -eq 3 ] && [ "$(wc -l <out)" -eq 3 ] || fail "one object a line: $out"
for what in "" planners scores caches models tasks devices; do
  accepts list $what
  [ -n "$out" ] || fail "list $what is empty"
  accepts list $what --json
  [[ $out == "["*"]" ]] || fail "list $what --json: $out"
done
if command -v python3 >/dev/null; then
  for arguments in "list planners" "list scores" "list caches" "list models" "list tasks" "list devices" "list" "generate --model $small" "compare --model $small --samples 1"; do
    accepts $arguments --json
    python3 -m json.tool <out >/dev/null || fail "not JSON: $arguments --json"
  done
fi

# ---- every planner and score of the list runs, and its trace can be read
"$PUNT" list planners --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >planners
"$PUNT" list scores --json | sed -n 's/^    "name": "\(.*\)",$/\1/p' >scores
[ "$(wc -l <planners)" -ge 14 ] && [ "$(wc -l <scores)" -ge 6 ] || fail "the lists are short"
while read -r planner; do
  if [[ $planner =~ ^(dawn|dapd|clad|adas)$ ]]; then  # look at attention maps
    refuses "the planner needs attention maps" generate --model $small --planner "$planner"
    continue
  fi
  accepts generate --model $small --planner "$planner" --trace every.jsonl
  [[ $out =~ ^[a-d]{12}$ ]] || fail "planner $planner: $out"
  accepts replay every.jsonl
done <planners
while read -r score; do accepts generate --model $small --score "$score"; done <scores

# ---- the same seed gives the same text, another one another; samples and threads change nothing
accepts generate --seed 5 --samples 4
[ "$(grep -c . out)" -eq 8 ] || fail "four texts below four lines: $out"
[ "$(grep -n '^--- seed 5, sample [0-3] ([1-4] of 4) ---$' out | cut -d : -f 1 | tr '\n' ' ')" = "1 3 5 7 " ] ||
  fail "lines above samples: $out"
grep -v '^---' out >four
accepts generate --seed 5 --samples 4 --separator '***'
[ "$(grep -n '^\*\*\*$' out | cut -d : -f 1 | tr '\n' ' ')" = "2 4 6 " ] || fail "a separator of one's own: $out"
grep -v '^\*\*\*$' out | cmp -s - four || fail "the same seed gave another text"
accepts generate --seed 5 --samples 4 --threads 3
grep -v '^---' out | cmp -s - four || fail "the number of threads changed the text"
[ "$(sort -u four | wc -l)" -eq 4 ] || fail "samples repeat each other"
refuses "--separator is for texts" generate --json --separator x
accepts generate -m $small -p ab -n 3 --seed 5
cp out short
accepts generate ab --model $small --length 3 --seed 5
cmp -s out short || fail "short options"
for i in 0 1 2 3; do
  accepts generate --seed 5 --first-sample $i
  [ "$out" = "$(sed -n "$((i + 1))p" four)" ] || fail "sample $i alone differs from sample $i of four"
done
accepts generate --seed 6
[ "$out" != "$(head -n 1 four)" ] || fail "another seed gave the same text"

# ---- limits: the rest stays masked, and says so
accepts generate --model $small --planner left-to-right --max-steps 5
[ -z "$out" ] || fail "an unfinished text on the standard output: $out"
[[ $err =~ ^"punt: stopped after 5 passes (step-limit) with 7 of 12 positions open:"$'\n'[a-d]{5}_{7}$ ]] || fail "note: $err"
accepts generate --model $small --max-nfe 1 --planner punt
[ -z "$out" ] && [[ $err == "punt: stopped after 1 pass (nfe-limit) with "* ]] || fail "one pass: $out $err"
accepts generate --model $small --planner left-to-right --max-steps 5 --json
[ "$(field stop)" = '"step-limit"' ] && [ "$(field masked)" = 7 ] && [[ $(field text) =~ ^\"[a-d]{5}_{7}\"$ ]] ||
  fail "a stopped run in JSON: $out"
accepts generate --max-nfe 7 --json
[ "$(field stop)" = '"nfe-limit"' ] || fail "max-nfe: $out"
[ "$(sed 's/.*"total":\([0-9]*\).*/\1/' out)" -le 7 ] || fail "more passes than allowed: $out"

# ---- stop strings: the text of before, up to the first of them, in no more passes
accepts generate --model $small --planner left-to-right --json
whole=$(field text) whole=${whole//\"/}
stop=${whole:4:2}
accepts generate --model $small --planner left-to-right --stop "$stop" --stop zzz
[ "$out" = "${whole%%"$stop"*}" ] && [ -z "$err" ] || fail "text up to '$stop' of $whole: $out $err"
accepts generate --model $small --planner left-to-right --stop "$stop" --json
[ "$(field stop)" = '"stop-string"' ] || fail "why it ended: $out"
cp out run.json
accepts generate --from run.json --json
cmp -s <(sed 's/"seconds":[^,]*//; s/"peak[^,]*//' out) <(sed 's/"seconds":[^,]*//; s/"peak[^,]*//' run.json) || fail "repeated with stop strings: $out"
accepts generate --model $small --planner left-to-right --length 6 --stop a ab
[[ $out == ab* ]] || fail "a stop string in the prompt: $out"
refuses "an empty string" generate --model $small --stop ""
refuses "exclude each other" generate --model $small --stop a --infill "a[MASK]"

# ---- min-p: 1 keeps the best token alone
accepts generate --model $small --planner left-to-right --min-p 1 --seed 3
best=$out
accepts generate --model $small --planner left-to-right --temperature 0 --seed 4
[ "$out" = "$best" ] || fail "min-p 1 draws $best, the best tokens are $out"
refuses "--min-p must be between 0 and 1" generate --model $small --min-p 1.1

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
[ "$(sed -n '/^planner/,$p' out | grep -Ec '^[a-z-]+(:[^ ]*)? +[0-9]')" -eq 9 ] || fail "five planners on a chain, four on stories: $out"
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
  for arguments in "list planners" --help --version "help generate"; do
    "$PUNT" $arguments >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk went unnoticed by punt $arguments"
    [ "$(wc -l <err)" -eq 1 ] && grep -q '^punt: cannot write .*: No space left on device$' err || fail "a full disk: $(cat err)"
  done
fi

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
