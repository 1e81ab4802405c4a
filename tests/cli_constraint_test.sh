#!/usr/bin/env bash
# Answers that are held to a language: options, recorded runs, refusals.
source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
stories=$PUNT_SOURCE_DIR/models/stories.gguf
toy=toy:markov,length=24,vocab=4,seed=3

# text_is REGEX: whether the text of the last --json run matches
text_is() { python3 -c 'import json, re, sys
sys.exit(not re.fullmatch(sys.argv[1], json.loads(open("out").readline())["text"]))' "$1"; }

# ---- expressions and choices
accepts generate --model $toy -n 12 --regex '(ab|c)+d*' --json
text_is '(ab|c)+d*' || fail "not in the language: $out"
accepts generate --model $toy -n 3 --choices dad --choices abba --json
text_is dad || fail "not a choice: $out"
accepts generate --model $toy --infill 'a[MASK:3]d' --regex 'ab*c*d' --json
text_is 'ab*c*d' || fail "not the whole text: $out"

# ---- a schema in a file, the same run again from what --json wrote, and batches
cat >schema.json <<'SCHEMA'
{"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}, "pets": {"type": "array", "items":
 {"enum": ["dog", "cat"]}, "maxItems": 2}, "age": {"type": "integer", "minimum": 1, "maximum": 99}}, "required": ["name", "age"]}
SCHEMA
cat >valid.py <<'VALID'
import json
for line in open("out"):
    answer = json.loads(json.loads(line)["text"])
    assert list(answer) in (["name", "age"], ["name", "pets", "age"]), answer
    assert len(answer["name"]) <= 10 and 1 <= answer["age"] <= 99, answer
    assert all(pet in ("dog", "cat") for pet in answer.get("pets", [])), answer
VALID
for planner in scout punt top-k:k=8 left-to-right; do
  accepts generate --model "$stories" -n 48 --json-schema schema.json --planner $planner --json --samples 3
  python3 valid.py || fail "$planner: not valid: $out"
done
head -1 out >run.json
rm schema.json
accepts generate --from run.json --json
[ "$(field text)" = "$(python3 -c 'import json; print(json.dumps(json.load(open("run.json"))["text"]))')" ] ||
  fail "a recorded run has the schema itself: $out"

accepts generate --model $toy -n 12 --regex '(ab|c)+d*' --json
cp out run.json
accepts generate --from run.json --json
text_is '(ab|c)+d*' || fail "a recorded run without a schema: $out"

# ---- refusals: one line, before the first pass
refuses "does not fit 5 positions: its shortest text takes 7" generate --model $toy -n 5 --regex 'a{7}b*'
refuses "character 3: ')' is missing" generate --model $toy --regex 'a('
refuses "exclude each other" generate --model $toy --regex a --choices b
refuses "missing.json" generate --model $toy --json-schema missing.json
echo '{"type": "array", "not": {"maxItems": 3}}' >not.json
refuses "'not' is not supported" generate --model $toy --json-schema not.json
refuses "more than 20000 states" generate --model $toy --regex '(a|b)*a(a|b){30}'
echo '>a
MK' >known.fasta
refuses "--regex and --lengths" generate --model $toy --lengths known.fasta --regex a

exit "$failures"
