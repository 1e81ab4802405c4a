#!/usr/bin/env bash
# The models that come along: found by name, of the promised size, documented, and able to do what they are for.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
unset PUNT_MODELS_DIR
models=$PUNT_SOURCE_DIR/models

# lies_between LOW VALUE HIGH
lies_between() { awk -v low="$1" -v value="$2" -v high="$3" 'BEGIN { exit !(low + 0 < value + 0 && value + 0 < high + 0) }'; }

# ---- all there, together at most 60 MB, each with a card
[ "$(cat "$models"/*.gguf | wc -c)" -le 60000000 ] || fail "the models take more than 60 MB"
accepts list models
for name in stories sudoku tasks membrane stories15m; do
  [ -s "$models/$name.gguf" ] || fail "models/$name.gguf is missing"
  grep -qx "$name" <<<"$out" || fail "punt list models does not name $name"
  grep -q "^## \`$name\`" "$models/README.md" || fail "models/README.md has no card of $name"
done
[ "$(ls "$models"/*.gguf | grep -vc '\.influence\.gguf$')" -eq 5 ] || fail "a model without a test: $(ls "$models")"

# ---- heads of influence are small, lie beside their models, fit them, and are no models themselves
for name in stories sudoku; do
  head=$models/$name.influence.gguf
  [ -s "$head" ] && [ "$(wc -c <"$head")" -le 300000 ] || fail "$head is missing or large"
  ! grep -q influence <<<"$out" || fail "a head is listed as a model: $out"
done
accepts eval sudoku --planner distilled:epsilon=0.002 --temperature 0 --limit 20 --threads 1 --json
# All at once solves none, one by one 19 or 20 with 40 passes.
lies_between 0.6 "$(field accuracy)" 1.01 && lies_between 2 "$(field nfe_mean)" 10 || fail "distilled on sudoku: $out"
accepts eval stories --planner distilled:epsilon=0.04 --temperature 0.7 --top-p 0.9 --limit 1 --threads 1 --json
lies_between 1 "$(field judge_perplexity)" 25 && lies_between 2 "$(field nfe_mean)" 40 || fail "distilled on stories: $out"
refuses "made for another model: 'sudoku'" generate --model stories --influence "$models/sudoku.influence.gguf"
refuses "the planner needs an influence head, and membrane has none" generate --model membrane --planner distilled --length 60

# ---- stories is what generate takes by default, on a canvas of 256; its judge is found by itself
accepts generate "Once upon a time" --planner top-k:k=64 --threads 1 --temperature 0 --json
[[ $(field text) == '"Once upon a time'* ]] && [[ $out == *'"total":'[1-4]'}'* ]] || fail "generate: $out"
accepts eval stories --model stories --planner punt:epsilon=0.32 --temperature 0.7 --top-p 0.9 --limit 1 --threads 1 --json
# The same passes without tests (top-k:k=4) give about 29, 16 tokens at a time 160, words at random thousands.
lies_between 1 "$(field judge_perplexity)" 20 || fail "judge perplexity of stories: $out"
accepts eval stories --reference --temperature 0.7 --top-p 0.9 --limit 2 --threads 1 --json
lies_between 1 "$(field judge_perplexity)" 3 || fail "the judge on itself: $out"

# ---- tasks writes records that are consistent in a few passes, and the right number of them, in a chat
accepts eval records:entries=8,schema=bills --planner scout --limit 6 --threads 1 --json
lies_between 0.8 "$(field consistent_entries)" 1.01 && lies_between 5 "$(field nfe_mean)" 25 || fail "tasks and scout: $out"
accepts generate --model tasks --chat "Write 4 bills as CSV" --length 40 --planner top-k:k=1 --temperature 0 --threads 1
[[ $out == "no,a,b,total"* && $(grep -c '^#0[1-4],' <<<"$out") -eq 4 ]] || fail "tasks in a chat: $out"

# ---- a misspelt name is answered with those that fill masks; one that does not says what it is for
refuses "unknown model 'storys' (did you mean stories?); valid: membrane, stories, sudoku, tasks, a GGUF file" generate --model storys
refuses "it is autoregressive (llama) and fills no masks; it serves as a judge; punt eval takes it as --judge" generate --model stories15m

# ---- tasks that a model comes along for take it; the others say what they need
accepts eval sudoku --planner top-k:k=8 --temperature 0 --limit 1 --threads 1
[ "$(sed -n 1,3p out | tr '\n' ';')" = "sudoku, 1 item;sudoku;top-k:k=8;" ] || fail "the heading of a table: $out"
accepts eval sudoku --limit 1 --threads 1 --json
[ "$(field model)" = '"sudoku"' ] || [[ $out == *'"model":"sudoku"'* ]] || fail "the model of sudoku: $out"
[[ $out == *'"planner":"scout",'* ]] || fail "the planner of an evaluation: $out"
accepts eval stories --planner top-k:k=64 --length 64 --limit 1 --threads 1 --json
accepts bench membrane --planners top-k:k=30 --length 60 --limit 1 --threads 1 --json
[[ $out == *'"membrane"'* ]] || fail "the model of membrane: $out"
refuses "--model is missing: task gsm8k needs a model of text, such as LLaDA or Dream" eval gsm8k
refuses "--model is missing: task protein needs a model of proteins, such as ESM-2 or the bundled membrane" bench protein
refuses "--model is missing: mt-bench needs a model that chats" eval mt-bench

# ---- on a terminal a story has no BOS in it and is there as plain text at the end
if command -v script >/dev/null; then
  story="generate --planner top-k:k=64 --seed 3 --threads 1"
  accepts $story
  TERM=xterm script -qec "stty cols 40 rows 12; $PUNT $story --delay 0" screen >/dev/null 2>&1 </dev/null
  ! grep -q '<s>' screen || fail "BOS is shown"
  tr -d '\r\n' <screen | grep -qF "$(tr -d '\n' <out)" || fail "the story is not there: $(cat screen)"
fi

# ---- the trace of a story is written as the story goes: who kills the program keeps what happened
"$PUNT" generate --planner top-k:k=1 --length 250 --threads 1 --trace live.jsonl >out 2>err &
story=$!
for _ in $(seq 600); do
  [ ! -s "$(partial live.jsonl)" ] && kill -0 "$story" 2>/dev/null || break
  sleep 0.05
done
kill -KILL "$story" 2>/dev/null || fail "the story was over before its trace began"
wait "$story" 2>/dev/null
[ -s "$(partial live.jsonl)" ] || fail "a killed story leaves no trace"

# ---- sudoku solves most boards in the order of its margins
accepts eval sudoku --model sudoku --planner top-k:k=1 --score margin --temperature 0 --limit 5 --threads 1 --json
[[ $(field accuracy) == 1.0 || $(field accuracy) == 0.8 ]] || fail "sudoku: $out"

# ---- and its canvas is a board, empty or a puzzle's
accepts generate --model sudoku --planner top-k:k=8 --threads 1
[ "$(grep -cE '^[A-I] [1-9]{9}$' out)" -eq 9 ] && [ "$(wc -l <out)" -eq 9 ] || fail "a board: $out"
puzzle=530070000600195000098000060800060003400803001700020006060000280000419005000080079
accepts generate --model sudoku $puzzle --planner top-k:k=1 --temperature 0 --threads 1
[[ $(head -n 1 out) =~ ^A\ 53[1-9]{2}7[1-9]{4}$ ]] || fail "a puzzle: $out"
refuses "the prompt is not a puzzle: it has 19 characters, a board 81" generate --model sudoku "Once upon a time, there"
refuses "the prompt is not a puzzle: it has 80 characters" generate --model sudoku ${puzzle%?}
refuses "the puzzle has 'x' in row 1, column 3: cells are 1 to 9" generate --model sudoku ${puzzle/530/53x}
refuses "the puzzle contradicts itself: 5 stands twice in row 1 (columns 1 and 3)" generate --model sudoku ${puzzle/530/535}
refuses "6 stands twice in box 1 (row 1, column 3 and row 2, column 1)" generate --model sudoku ${puzzle/530/536}

# ---- marks of the vocabulary are no text, though a model that is too hot writes them
for model in sudoku "$PUNT_SOURCE_DIR/tests/golden/bert"; do
  hot="generate --model $model --temperature 1000 --length 60 --planner top-k:k=60 --threads 1 --samples 8"
  accepts $hot --json
  [[ $out =~ \"tokens\":\[[0-9,]*[[,][01][],] ]] || fail "no mark among the tokens of $model: $out"
  ! grep -qE '<s>|</s>|\[PAD\]|\[CLS\]' out || fail "marks in the text of $model: $out"
  accepts $hot
  ! grep -qE '<s>|</s>|\[PAD\]|\[CLS\]' out || fail "marks in the plain text of $model: $out"
done

# ---- membrane writes residues and nothing else
accepts generate --model membrane --planner top-k:k=16 --length 60 --eos forbid --threads 1 --json
grep -qE '^"[ACDEFGHIKLMNPQRSTVWY]{60}"$' <<<"$(field text)" || fail "membrane: $(field text)"

# ---- a bundled model can be converted and inspected by its name
accepts convert sudoku sudoku-q8.gguf --type q8_0
accepts inspect sudoku --json

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
