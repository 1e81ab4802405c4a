#!/usr/bin/env bash
# Networks on the command line: generate, logits, devices, on the shipped fixtures. $PUNT is the program under test.
# One thread throughout: tests run side by side.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
llada="generate --model $golden/llada --threads 1"

# ---- every planner runs on a network, tells what it cost, and leaves a trace that can be replayed
for planner in $("$PUNT" list planners --json | sed -n 's/^    "name": "\(.*\)",$/\1/p'); do
  if [ "$planner" = distilled ]; then  # needs a file beside the model
    refuses "the planner needs an influence head, and $golden/llada has none; training/train influence makes one, --influence gives it" $llada hello --planner distilled
    refuses "no influence head but a file of architecture 'llada'" $llada hello --influence "$PUNT_SOURCE_DIR/models/stories.gguf" --planner distilled
    continue
  fi
  accepts $llada hello --length 12 --temperature 0 --planner "$planner" --json --trace "$planner.jsonl"
  [[ $(field tokens) == '['*']' && $(field tokens) != *314* ]] || fail "planner $planner leaves masks: $out"
  [ "$(field stop)" = '"full"' ] || [ "$(field stop)" = '"eos"' ] || fail "planner $planner stopped: $out"
  accepts replay "$planner.jsonl"
  accepts $llada hello --length 12 --temperature 0 --planner "$planner" --window 6 --cache dual --json
  [[ $(field tokens) == '['*']' && $(field tokens) != *314* ]] || fail "planner $planner leaves masks with a cache: $out"
done
accepts generate --model "$golden/dream" --threads 1 hello --length 8 --planner punt --json
refuses "needs shadow rows" generate --model "$golden/dream" hello --length 8 --planner wino

# ---- a folder and its GGUF file give the same text; so do any threads
accepts $llada "the " --length 20 --seed 3
text=$out
accepts generate --model "$golden/llada" --threads 2 "the " --length 20 --seed 3
[ "$out" = "$text" ] || fail "two threads give another text"
accepts convert "$golden/llada" f32.gguf --type f32
accepts generate --model f32.gguf --threads 1 "the " --length 20 --seed 3
[ "$out" = "$text" ] || fail "the converted file gives another text"

# ---- caches: fewer rows, the same on any threads; sequences do not notice that they run together
tested="--planner punt"  # "step" saves rows of test passes only
accepts $llada "the " --length 40 $tested --json
rows=$(field row_passes)
for cache in step step:tests=read settled:refresh=4 prefix dual; do
  accepts $llada "the " --length 40 $tested --window 20 --cache "$cache" --json --trace cached.jsonl
  [ "$(field row_passes)" -lt "$rows" ] || fail "cache $cache saves no rows: $out"
  grep -q "\"cache\":\"${cache%%:*}:" cached.jsonl || fail "the trace does not name cache $cache"
  tokens=$(field tokens)
  accepts generate --model "$golden/llada" --threads 2 "the " --length 40 $tested --window 20 --cache "$cache" --json
  [ "$(field tokens)" = "$tokens" ] || fail "two threads give another text with cache $cache"
done
refuses "unknown cache 'steps' (did you mean step?); valid: none, blocks, step, settled, prefix, dual" $llada hi --cache steps
refuses "cache settled has no key 'every'; valid keys: refresh, tests" $llada hi --cache settled:every=2
for cache in none step; do
  accepts $llada "the " --length 16 --samples 5 $tested --batch 1 --cache $cache --trace alone.jsonl
  text5=$out
  accepts $llada "the " --length 16 --samples 5 $tested --batch 3 --cache $cache --trace together.jsonl
  [ "$out" = "$text5" ] || fail "sequences that run together give other texts with cache $cache"
  sed 's/"seconds":[^}]*//' alone.jsonl >alone && sed 's/"seconds":[^}]*//' together.jsonl >together
  cmp -s alone together || fail "sequences that run together leave another trace with cache $cache"
done

# ---- a model in the folder of bundled ones goes by its name
mkdir -p bundled && cp f32.gguf bundled/tiny.gguf
export PUNT_MODELS_DIR=$PWD/bundled
accepts generate --model tiny --threads 1 "the " --length 20 --seed 3
[ "$out" = "$text" ] || fail "the bundled model gives another text"
accepts list models
[[ $out == tiny* ]] || fail "list models does not begin with the bundled one: $out"
accepts tokenize --model tiny hello
accepts inspect tiny
refuses "no such file: ./tiny" generate --model ./tiny
unset PUNT_MODELS_DIR

# ---- holes, chat, guidance, proteins
accepts $llada --infill "ab[MASK:3]cd[MASK:2]e" --temperature 0
[[ $out == ab*cd*e ]] || fail "infill: $out"
accepts $llada --chat "hello" --length 8 --temperature 0
[[ $out != *hello* ]] || fail "a chat shows the question: $out"
accepts $llada hello --length 8 --json --planner top-k:k=2
[ "$(field nfe)" = '{"base":4,"test":0,"total":4}' ] || fail "passes: $out"
accepts $llada hello --length 8 --json --planner top-k:k=2 --guidance 0.5
[ "$(field nfe)" = '{"base":8,"test":0,"total":8}' ] || fail "guided passes count twice: $out"
accepts generate --model "$golden/esm2" --threads 1 MKV --length 20
[[ $out =~ ^MKV[ACDEFGHIKLMNPQRSTVWY]{20}$ ]] || fail "a protein of other letters: $out"
accepts generate --model "$golden/esm2" --threads 1 MKV --length 20 --freeze-mask-ratio
accepts generate --model "$golden/bert" --threads 1 --infill "hello [MASK:2] world" --json
[[ $(field tokens) == '[101,'*',102]' ]] || fail "BERT's ends are missing: $out"
refuses "esm2 has no chat template; give a prompt instead" generate --model "$golden/esm2" --chat MK --length 4
accepts generate --model "$golden/llada" --threads 1 --chat "Say <|mdm_mask|> again<|eot_id|>" --length 4 --json
[[ $(field tokens) != *314* && $(field tokens) == *318,316* && $(field tokens) != *318*318* ]] \
  || fail "special tokens of a message: $out"
accepts tokenize --model "$golden/llada" "<|mdm_mask|>"
[ "$out" = 314 ] || fail "punt tokenize reads special tokens: $out"

# ---- holes in texts: no space is a token beside them
stories=$golden/../../models/stories.gguf
accepts generate --model "$stories" --infill "Tom found a [MASK:6]. He gave it to his mom." --temperature 0 --threads 1 --json
[[ $out != *"  "* && $out != *" ."* ]] || fail "stray spaces around a hole: $out"
out=$("$PUNT" generate --model "$stories" "a [MASK:3] b" --length 1 --threads 1 2>&1) || fail "a hole in a prompt: $out"
[[ $out == *"'[MASK' in the prompt is text; holes are written [MASK:n] in --infill"* ]] || fail "no word about it: $out"

# ---- letters of proteins: lower case is read as upper case, others are named
accepts generate --model "$golden/esm2" --threads 1 mkv --length 20
[[ $out =~ ^MKV[ACDEFGHIKLMNPQRSTVWY]{20}$ ]] || fail "lower case: $out"
accepts generate --model "$golden/esm2" --threads 1 "MK V
L" --length 5
[[ $out =~ ^MKVL.{5}$ ]] || fail "white space in a sequence: $out"
refuses "'1' at position 5 is not one of the letters" generate --model "$golden/esm2" --threads 1 "MKV 123" --length 20
refuses "'*' at position 4 is not one of the letters" generate --model "$golden/esm2" --threads 1 "mkv*" --length 20
refuses "'*' at position 3 is not one of the letters" generate --model "$golden/esm2" --threads 1 --format fasta --infill "MK*[MASK:3]"
refuses "'<' at position 3 is not one of the letters" generate --model "$golden/esm2" --threads 1 "MK<mask>" --length 20

# ---- limits name both numbers; unknown devices and models are named
refuses "2 given tokens and 500 positions to generate exceed the 128" $llada hi --length 500
refuses "positions to generate exceed the 128" $llada --infill "ab[MASK:200]"
refuses "unknown device 'abacus'; valid: auto" $llada hi --device abacus
refuses "unknown compute 'abacus'; valid: auto, exact, float, int8, ggml" $llada hi --compute abacus
refuses "unknown compute 'abacus'" logits --model "$golden/llada" --inputs "$golden/llada/inputs.json" --out l --compute abacus
refuses "there is no tokenizer" generate --model "$golden/llada_moe" hi
refuses "README.md: not a GGUF file" generate --model "$PUNT_SOURCE_DIR/README.md" hi
head -c 5000 f32.gguf >cut.gguf
refuses "cut.gguf" generate --model cut.gguf hi
accepts list devices
[[ $out == *cpu* ]] || fail "devices: $out"

# ---- logits: the format of the fixtures, byte for byte in the header
for model in llada dream llada_moe llada2_moe esm2 bert distilbert; do
  accepts logits --model "$golden/$model" --inputs "$golden/$model/inputs.json" --out l.safetensors --threads 1
  header=$(($(od -An -N8 -tu8 l.safetensors)))
  [ "$(head -c $((header + 8)) l.safetensors | sha256sum)" = \
    "$(head -c $((header + 8)) "$golden/$model/logits.safetensors" | sha256sum)" ] || fail "header of $model"
  [ "$(stat -c %s l.safetensors)" = "$(stat -c %s "$golden/$model/logits.safetensors")" ] || fail "size of $model"
done
accepts logits --model "$golden/dream" --inputs "$golden/dream/inputs.json" --out s.safetensors --shifted --threads 1 \
  --attention a.safetensors
! cmp -s s.safetensors l.safetensors || fail "the shift changes nothing"
[ -s a.safetensors ] || fail "no attention was written"
echo '{"cases":[{"name":"a","input_ids":[1,999]}]}' >far.json
refuses "far.json: cases[0].input_ids[1] is 999" logits --model "$golden/llada" --inputs far.json --out x.safetensors
echo '{"cases":[{"name":"a"}]}' >none.json
refuses "none.json: cases[0]: input_ids is missing" logits --model "$golden/llada" --inputs none.json --out x.safetensors
echo '{' >broken.json
refuses "inputs.json: 'cases' is missing (its cases are those of ../llada/inputs.json); expected {\"cases\": [" \
  logits --model "$golden/llada_bf16" --inputs "$golden/llada_bf16/inputs.json" --out x.safetensors
refuses "broken.json: not JSON" logits --model "$golden/llada" --inputs broken.json --out x.safetensors
[ ! -e x.safetensors ] || fail "a refused run left a file"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
