#!/usr/bin/env bash
# punt convert and punt inspect: exit codes, messages, JSON, nothing left behind.
# $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
golden=$PUNT_SOURCE_DIR/tests/golden

# ---- help
for command in convert inspect; do
  accepts $command --help
  [[ $out == *Example* ]] || fail "help of $command shows no example"
done
accepts convert --help
[[ $out == *q4_k_m* && $out == *iq4_nl* && $out != *iq2_xxs* ]] || fail "help of convert does not list the types"

# ---- every golden model, and what comes out of it
for model in llada llada_bf16 llada_sharded dream llada_moe llada2_moe esm2 bert bert_modern_names distilbert; do
  accepts convert "$golden/$model" $model.gguf --type q8_0 --json
  [[ $out == *'"tensors":'* && $out == *'"not_finite":0'* ]] || fail "JSON of $model: $out"
  accepts inspect $model.gguf --tensors
  [[ $out == *token_embd.weight*q8_0* ]] || fail "inspect $model.gguf: $out"
  accepts inspect "$golden/$model" --json
  [[ $out == *'"architecture":'* && $out == *'"context": 1'* ]] || fail "inspect --json $model"
done
accepts inspect llada.gguf --check
[[ $out == *'not finite      0 tensors'* ]] || fail "inspect --check: $out"
accepts inspect llada.gguf
[[ $out == *'special tokens'*'mask 314'* && $out == *llada.rope.freq_base*500000* ]] || fail "inspect: $out"

# ---- progress: a line per tenth, no escape codes in a file
accepts convert "$golden/llada" again.gguf --type f32
grep -q '100 %' err || fail "no progress: $err"
[ "$(grep -c ' %' err)" -le 10 ] || fail "too much progress"
grep -q $'\x1b' err out && fail "escape codes in a file"

# ---- threads change nothing
accepts convert "$golden/dream" one.gguf --type q4_k_m --threads 1
accepts convert "$golden/dream" two.gguf --type q4_k_m --threads 2
cmp -s one.gguf two.gguf || fail "the result depends on the number of threads"
[[ $err == *"warning"*"do not divide"* ]] || fail "no word about fallbacks: $err"

# ---- refusals
refuses "no such file" convert nowhere x.gguf
refuses "config.json" convert . x.gguf
refuses "unknown type 'q9'; valid types: keep" convert "$golden/llada" x.gguf --type q9
refuses "importance matrix" convert "$golden/llada" x.gguf --type iq2_xxs
refuses "must end in .gguf" convert "$golden/llada" x.bin
refuses "the output is the input" convert one.gguf one.gguf
mkdir deep
levels=$(head -c 100000 /dev/zero | tr '\0' '[')
printf '{"model_type":%s%s}\n' "$levels" "${levels//\[/]}" >deep/config.json
refuses "deep/config.json: the JSON nests deeper than 64 levels" convert deep deep.gguf
refuses "--threads" convert "$golden/llada" x.gguf --threads -1
printf 'GGUG' >bad.gguf
refuses "bad.gguf" inspect bad.gguf
head -c 2000 llada.gguf >short.gguf
refuses "short.gguf" inspect short.gguf
refuses "short.gguf" convert short.gguf x.gguf
[ ! -e x.gguf ] || fail "a refused conversion left a file"

# ---- a checkpoint of PyTorch: what is no tensor is refused by its name, and nothing of it runs
mkdir pickled
cp "$golden/bert/config.json" pickled/
python3 - <<'PYTHON' || fail "cannot make a pickle"
import os, pickle, zipfile
class Command:
    def __reduce__(self):
        return os.system, ("touch ran",)
with zipfile.ZipFile("pickled/pytorch_model.bin", "w") as archive:
    archive.writestr("model/data.pkl", pickle.dumps({"weight": Command()}, protocol=2))
PYTHON
refuses 'pytorch_model.bin: pickle, byte ' convert pickled x.gguf
[[ $err == *'"posix.system" is not allowed'* ]] || fail "the function is not named: $err"
[ ! -e ran ] || fail "a pickle was executed"
cp "$golden/pytorch/archive.bin" pickled/pytorch_model.bin
refuses "pytorch_model.bin: tensor 'bert.embeddings.word_embeddings.weight' is missing" convert pickled x.gguf
rm pickled/pytorch_model.bin
refuses "none of these files is there: model.safetensors.index.json" convert pickled x.gguf

# ---- an interrupted conversion leaves nothing and says so
mkdir large
cp "$golden/esm2/config.json" large/
python3 - <<'PYTHON' || fail "cannot make a large model"
import json, struct
config = json.load(open('large/config.json'))
config.update(vocab_size=400000, hidden_size=512, num_attention_heads=4, intermediate_size=8, num_hidden_layers=1)
json.dump(config, open('large/config.json', 'w'))
d, f, v = 512, 8, 400000
shapes = {'esm.embeddings.word_embeddings.weight': [v, d], 'lm_head.bias': [v]}
def both(name, *weight):
    shapes[name + '.weight'] = list(weight)
    shapes[name + '.bias'] = [weight[0]]
layer = 'esm.encoder.layer.0.'
for name in ['attention.self.query', 'attention.self.key', 'attention.self.value', 'attention.output.dense']:
    both(layer + name, d, d)
both(layer + 'intermediate.dense', f, d)
both(layer + 'output.dense', d, f)
both('lm_head.dense', d, d)
for name in [layer + 'attention.LayerNorm', layer + 'LayerNorm', 'esm.encoder.emb_layer_norm_after', 'lm_head.layer_norm']:
    both(name, d)
header, at = {}, 0
for name, shape in shapes.items():
    size = 4
    for n in shape: size *= n
    header[name] = {'dtype': 'F32', 'shape': shape, 'data_offsets': [at, at + size]}
    at += size
text = json.dumps(header).encode()
with open('large/model.safetensors', 'wb') as out:
    out.write(struct.pack('<Q', len(text)) + text)
    out.truncate(8 + len(text) + at)
PYTHON
mkdir result
# A job in the background ignores SIGINT unless it is reset.
python3 - "$PUNT" <<'PYTHON'
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
process = subprocess.Popen([sys.argv[1], 'convert', 'large', 'result/x.gguf', '--type', 'q5_k', '--threads', '1'],
                           stderr=subprocess.PIPE, text=True)
process.stderr.readline()  # 10 %
process.send_signal(signal.SIGINT)
rest = process.stderr.read()
code = process.wait()
if code != 130 or 'interrupted' not in rest:
    sys.exit(f'exit code {code}: {rest}')
PYTHON
[ $? -eq 0 ] || fail "interruption"
[ -z "$(ls result)" ] || fail "an interrupted conversion left $(ls result)"

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
