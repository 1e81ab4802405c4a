#!/usr/bin/env bash
# --lora and --thinking on the command line: every command that runs a model takes adapters, what they do is recorded and
# repeated, and what cannot be merged is refused in one line.
#
#   PUNT=build/release/punt PUNT_SOURCE_DIR=. tests/cli_lora_test.sh
source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"

llada=$PUNT_SOURCE_DIR/tests/golden/llada

# adapter FOLDER COLUMNS: of PEFT, rank 2, for one matrix of the golden LLaDA; 64 columns fit
adapter() {
  mkdir -p "$1"
  echo '{"peft_type": "LORA", "r": 2, "lora_alpha": 8, "base_model_name_or_path": "x"}' >"$1/adapter_config.json"
  python3 - "$1" "$2" <<'PYTHON'
import json, struct, sys
folder, columns = sys.argv[1], int(sys.argv[2])
name = "base_model.model.model.transformer.blocks.0.up_proj.lora_"
sizes = {"A": (2, columns), "B": (96, 2)}
header, data = {}, b""
for part, (rows, width) in sizes.items():
    values = [((7 * i) % 11 - 5) / 4 for i in range(rows * width)]
    header[f"{name}{part}.weight"] = {"dtype": "F32", "shape": [rows, width],
                                      "data_offsets": [len(data), len(data) + 4 * len(values)]}
    data += struct.pack(f"<{len(values)}f", *values)
text = json.dumps(header).encode()
with open(folder + "/adapter_model.safetensors", "wb") as out:
    out.write(struct.pack("<Q", len(text)) + text + data)
PYTHON
}

adapter good 64
adapter bad 48
generate() { accepts generate --model "$llada" "the " --length 8 --seed 3 --threads 1 "$@"; }

generate
plain=$out
generate --lora good
adapted=$out
[ "$plain" != "$adapted" ] || fail "the adapter does nothing"
generate --lora good:0
[ "$out" = "$plain" ] || fail "a scale of 0 does something"
generate --lora good --lora good/adapter_model.safetensors:-1
[ "$out" = "$plain" ] || fail "an adapter and its opposite do something"
generate --lora good:0.5 --lora good:0.5
[ "$out" = "$adapted" ] || fail "two halves are not a whole"

# Recorded and repeated.
generate --lora good:0.5 --json
echo "$out" >run.json
[[ $out == *'"lora":["good:0.5"]'* ]] || fail "--json does not say which adapters: $out"
accepts generate --from run.json --threads 1 --json
[ "$(sed 's/"seconds":[^,]*,//; s/"peak_memory_bytes":[^,]*,//' <<<"$out")" = \
  "$(sed 's/"seconds":[^,]*,//; s/"peak_memory_bytes":[^,]*,//' run.json)" ] || fail "--from does not repeat an adapter"

# The converted model is the adapted one.
accepts convert "$llada" made.gguf --lora good --json
[[ $out == *'"lora":["good"]'* ]] || fail "convert --json: $out"
accepts generate --model made.gguf "the " --length 8 --seed 3 --threads 1
[ "$out" = "$adapted" ] || fail "convert --lora gives another model"
accepts logits --model "$llada" --lora good --inputs "$llada/inputs.json" --out adapted.safetensors
accepts logits --model made.gguf --inputs "$llada/inputs.json" --out made.safetensors
cmp -s adapted.safetensors made.safetensors || fail "logits --lora differ from those of the converted model"
accepts analyze order --model "$llada" --lora good --prompt "the " --length 4 --samples 1 --out study
grep -q '"lora"' study/config.json || fail "a study does not say which adapters"

# Refused.
refuses "none: no such adapter" generate --model "$llada" --lora none
refuses "[96, 48], the model's [96, 64]" generate --model "$llada" --lora bad
refuses "was it made for another model?" generate --model "$PUNT_SOURCE_DIR/tests/golden/dream" --lora good
refuses "is a file: give the folder" generate --model made.gguf --lora good
refuses "has no weights" generate --model toy:markov --lora good
refuses "must be finite" generate --model "$llada" --lora good:inf
refuses "needs a file" generate --model "$llada" --lora ""
refuses "no adapter: general.type" generate --model "$llada" --lora made.gguf
refuses "[96, 48]" convert "$llada" no.gguf --lora bad
[ ! -e no.gguf ] || fail "a refused conversion leaves a file"
rm good/adapter_config.json
refuses "adapter_config.json" logits --model "$llada" --lora good --inputs "$llada/inputs.json" --out no.safetensors

# Thinking.
refuses "--thinking must be auto, on or off, got 'maybe'" generate --model "$llada" --chat hi --thinking maybe
refuses "--thinking is for --chat" generate --model "$llada" hi --thinking off
refuses "--show-thinking is for --chat" generate --model "$llada" hi --show-thinking
accepts generate --model "$llada" --chat hi --length 4 --thinking off
[[ $err == *"warning: --thinking off makes no difference"* ]] || fail "no warning that the template does not ask: $err"
refuses "--thinking must be" serve --port 0 --thinking no
cp -r "$llada" asks
cat >asks/chat_template.jinja <<'JINJA'
{{ messages[0].content }}{% if enable_thinking is defined %}{{ enable_thinking }}{% endif %}
JINJA
for choice in auto on off; do
  accepts generate --model asks --chat hi --length 4 --thinking "$choice" --json
  [ "$choice" = auto ] || [[ $err != *warning* ]] || fail "a warning though the template asks: $err"
  [[ $out == *"\"thinking\":\"$choice\""* ]] || fail "--json does not say --thinking $choice"
  grep -o '"prompt_tokens":[0-9]*' out >>counts
done
[ "$(sort -u counts | wc -l)" -ge 2 ] || fail "--thinking does not reach the template: $(cat counts)"

[ "$failures" -eq 0 ] && echo "adapters and thinking: all as they should be"
exit "$failures"
