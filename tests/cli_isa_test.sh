#!/usr/bin/env bash
# PUNT_ISA on the command line, and everything end to end on the best and on the lowest instruction set that this
# processor has. What the levels between compute is compared in ctests isa_*. $PUNT is the program under test,
# $PUNT_LEVELS what the build knows.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden
export PUNT_MODELS_DIR=$PUNT_SOURCE_DIR/models
unset PUNT_ISA

# ---- the list: best first, all known to the build
accepts list devices
[[ $out =~ "punt's own kernels: "([a-z0-9_]+)" (PUNT_ISA="([a-z0-9_|]+)")" ]] || fail "no instruction sets: $out"
used=${BASH_REMATCH[1]}
IFS='|' read -ra levels <<<"${BASH_REMATCH[2]}"
best=${levels[0]}
lowest=${levels[-1]}
[ "$used" = "$best" ] || fail "uses $used, not $best"
for level in "${levels[@]}"; do
  [[ " $PUNT_LEVELS " == *" $level "* ]] || fail "$level is not among the levels of the build, $PUNT_LEVELS: it is not tested"
done
accepts list devices --json
[[ $out == *"\"instruction_set\": \"$best\""* ]] || fail "no instruction set in JSON: $out"

# ---- what is wrong is said in one line, by every command; the help needs no processor
for PUNT_ISA in nonsense AVX2 " $best"; do
  export PUNT_ISA
  refuses "PUNT_ISA: unknown instruction set '$PUNT_ISA'; valid here: $best" list devices
  refuses "PUNT_ISA: unknown instruction set" generate --model "$golden/llada" hello --length 4
  accepts --version
done
for PUNT_ISA in $PUNT_LEVELS; do
  [[ " ${levels[*]} " == *" $PUNT_ISA "* ]] && continue
  refuses "PUNT_ISA: this processor has no '$PUNT_ISA'; valid here: $best" list devices
done
PUNT_ISA="" accepts list devices
[[ $out == *"kernels: $best "* ]] || fail "an empty PUNT_ISA is not the best: $out"

# ---- end to end: complete texts, the same on any threads; evaluation, sweeps and conversion
for PUNT_ISA in "$best" "$lowest"; do
  export PUNT_ISA
  accepts list devices
  [[ $out == *"kernels: $PUNT_ISA "* ]] || fail "PUNT_ISA=$PUNT_ISA is not used: $out"
  accepts generate "Lily had" --length 12 --seed 3 --threads 1 --json
  [ "$(field stop)" = '"full"' ] || [ "$(field stop)" = '"eos"' ] || fail "$PUNT_ISA: a story is not complete: $out"
  tokens=$(field tokens)
  accepts generate "Lily had" --length 12 --seed 3 --threads 2 --json
  [ "$(field tokens)" = "$tokens" ] || fail "$PUNT_ISA: two threads give another story"
  accepts eval sudoku --model sudoku --planner entropy-bound --temperature 0 --limit 1 --threads 1 --out "eval-$PUNT_ISA"
  accepts bench sudoku --model sudoku --planners "top-k:k=16" --temperature 0 --limit 1 --threads 1 --out "bench-$PUNT_ISA"
  accepts convert "$golden/llada" "$PUNT_ISA.gguf" --type q8_0
  accepts generate --model "$PUNT_ISA.gguf" hello --length 20 --seed 3 --threads 1 --json
  [[ $(field tokens) == '['*']' && $(field tokens) != *314* ]] || fail "$PUNT_ISA: masks are left in a text of a q8_0 file: $out"
done
cmp -s "$best.gguf" "$lowest.gguf" || fail "files that are converted depend on the instruction set"

# ---- logits: other bits, the same numbers. Both are within the golden bound of 5e-4 of the truth
# (Parity.RoundingIsWhatTheBoundsSay derives that rounding alone keeps it), so within 1e-3 of each other.
numbers() { tail -c +$(($(od -An -t u8 -N 8 "$1") + 9)) "$1" | od -An -v -t f4 -w4; }
differ=0
for model in llada dream esm2 bert; do
  for PUNT_ISA in "$best" "$lowest"; do
    export PUNT_ISA
    accepts logits --model "$golden/$model" --inputs "$golden/$model/inputs.json" --out "$PUNT_ISA.safetensors" --threads 1
  done
  [ "$best" = "$lowest" ] && continue
  cmp -s "$best.safetensors" "$lowest.safetensors" || differ=$((differ + 1))
  paste <(numbers "$best.safetensors") <(numbers "$lowest.safetensors") |
    awk '{ d = $1 - $2; if (d < 0) d = -d; if (!(d <= 1e-3)) exit 1; n++ } END { exit n < 1000 }' ||
    fail "logits of $model with $best and $lowest are more than 1e-3 apart"
done
[ "$best" = "$lowest" ] || [ "$differ" -gt 0 ] || fail "PUNT_ISA changes nothing: not one bit of any logit"

exit $((failures > 0))
