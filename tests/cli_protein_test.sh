#!/usr/bin/env bash
# Proteins: punt score protein, punt generate --format fasta. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
fixtures=$PUNT_SOURCE_DIR/tests/protein
golden=$PUNT_SOURCE_DIR/tests/golden
esm2="--model $golden/esm2 --threads 1 --planner top-k:k=8"
designs="--responses $fixtures/designs.fasta"

accepts score --help-all
[[ $out == *"protein: "*"punt score protein "* ]] || fail "help does not show proteins"

# ---- bad input: one line that names the file and the record
refuses "--responses is missing: FASTA" score protein
refuses "cannot read 'nothing.fasta'" score protein --responses nothing.fasta
: >empty.fasta
refuses "empty.fasta: there are no sequences" score protein --responses empty.fasta
refuses "empty.fasta: there are no sequences" score protein $designs --data empty.fasta
gzip -c $fixtures/known.fasta >known.fasta.gz
accepts score protein $designs --data known.fasta.gz
[[ $out == *in_reference*0.5000* ]] || fail "gzip: $out"
printf '>a\nMKV\n>b\nMKZV\n' >letters.fasta
refuses "letters.fasta: record 'b': residue 3 is Z, none of the 20 amino acids" score protein --responses letters.fasta
printf '>a\nMK V\n' >digits.fasta
refuses "digits.fasta: record 'a' holds ' ', which is not a residue" score protein $designs --data digits.fasta
printf '>a\nMKV\n>a\nMKL\n' >twice.fasta
refuses "twice.fasta: two records are named 'a'" score protein --responses twice.fasta
printf 'MKV\n' >plain.txt
refuses "plain.txt: a FASTA file begins with '>'" score protein --responses plain.txt
echo '{"response": ' >broken.jsonl
refuses "broken.jsonl: line 1: not a JSON object" score protein --responses broken.jsonl
refuses "unknown model 'nobody'" score protein $designs --judge nobody
refuses "lies outside the vocabulary" score protein $designs --judge toy:markov,length=12,vocab=4
{ echo ">long"; head -c 200 /dev/zero | tr '\0' A; echo; } >long.fasta
refuses "'long' has 200 residues, the judge takes" score protein --responses long.fasta --judge $golden/esm2
refuses "--structures is for proteins, not for gsm8k" score gsm8k --structures x
refuses "--judge is for proteins, not for gsm8k" score gsm8k --judge x
cp $fixtures/designs.fasta mine.jsonl
refuses "--out would overwrite 'mine.jsonl'" score protein --responses mine.jsonl --out mine.jsonl
cmp -s mine.jsonl $fixtures/designs.fasta || fail "sequences were overwritten"

# ---- structures that are broken, or of other proteins
refuses "'nowhere' is not a folder of structures" score protein $designs --structures nowhere
mkdir bad
refuses "'bad' holds no structure" score protein $designs --structures bad
head -c 1980 $fixtures/structures/one.pdb >bad/one.pdb
refuses "bad/one.pdb: line 26: an atom is cut off" score protein $designs --structures bad
head -n 10 $fixtures/structures/one.pdb >bad/one.pdb
refuses "bad/one.pdb: 4 residues, 'one' has 17" score protein $designs --structures bad
sed 's/TRP/GLY/' $fixtures/structures/one.pdb >bad/one.pdb
refuses "bad/one.pdb: residue 10 is G, that of 'one' is W" score protein $designs --structures bad
rm bad/one.pdb
head -c 600 $fixtures/structures/four.cif >bad/four.cif
refuses "bad/four.cif: line " score protein $designs --structures bad
cp $fixtures/structures/four.cif bad/stranger.cif
rm bad/four.cif
refuses "'bad' holds no structure of these proteins, such as one.pdb" score protein $designs --structures bad

# ---- a good run: a table; one JSON object, which is also in summary.json; a record per protein
accepts score protein $designs
[[ $out == "4 proteins, "*length_mean*14.75*duplicates*0.2500* ]] && [ -z "$err" ] || fail "table: $out $err"
[[ $out != *nearest_identity* && $out != *plddt* && $out != *perplexity* ]] || fail "figures of what was not given: $out"
full="$designs --data $fixtures/known.fasta --structures $fixtures/structures --judge $golden/esm2"
accepts score protein $full --threads 1 --json --out run
[ "$(wc -l <out)" -eq 1 ] && [ "$(field items)" = 4 ] && [ "$(field duplicates)" = 0.25 ] || fail "--json: $out"
[ "$(field in_reference)" = 0.5 ] && [ "$(field nearest_identity_max)" = 1.0 ] || fail "the nearest: $out"
[ "$(field plddt)" = 69.0 ] && [ "$(field plddt_70)" = 0.5 ] || fail "pLDDT: $out"
[[ $(field pseudo_perplexity) =~ ^[0-9.]+$ ]] && [[ $out == *pseudo_perplexity_ci95* ]] || fail "judge: $out"
[ "$(tr -d ' \n' <out)" = "$(tr -d ' \n' <run/summary.json)" ] || fail "summary.json is another object"
[ "$(wc -l <run/items.jsonl)" -eq 4 ] || fail "four records expected"
grep -q '^{"id":"one","prompt":"","reference":"k1","response":"MKVLATGGSWYLLIVAG","verdict":{"in_reference":1.0,' run/items.jsonl \
  || fail "$(head -n 1 run/items.jsonl)"
grep '"id":"four"' run/items.jsonl | grep -q '"reference":"k2".*"nearest_identity":1.0.*"plddt":80.0' || fail "four: $(cat run/items.jsonl)"
if command -v python3 >/dev/null; then
  python3 -m json.tool <out >/dev/null || fail "not JSON: $out"
  while IFS= read -r line; do python3 -m json.tool <<<"$line" >/dev/null || fail "not JSON: $line"; done <run/items.jsonl
fi
accepts score protein $full --out records.jsonl
diff <(sed 's/"seconds":[^,]*//' run/items.jsonl) <(sed 's/"seconds":[^,]*//' records.jsonl) || fail "--out FILE.jsonl has other records"
[[ $err == *"note: 2 of 4 proteins have no structure"* ]] || fail "notes: $err"
mkdir unit
awk '/^ATOM/ {printf "%s%6.2f\n", substr($0, 1, 60), substr($0, 61, 6) / 100; next} {print}' $fixtures/structures/one.pdb >unit/one.pdb
accepts score protein $designs --structures unit --json
[ "$(field plddt)" = 57.999999999999986 ] || [[ $(field plddt) == 58* ]] || fail "the scale from 0 to 1: $out"
[[ $out == *"runs from 0 to 1"* ]] || fail "the scale is not told: $out"

# ---- records of other programs, and of punt eval
printf '{"id": "x", "response": "MKV"}\n{"id": "y", "text": "GGS\\n"}\n' >answers.jsonl
accepts score protein --responses answers.jsonl --json
[ "$(field items)" = 2 ] && [ "$(field length_mean)" = 3.0 ] || fail "responses: $out"
accepts eval membrane $esm2 --length 20 --limit 2 --out made
accepts score protein --responses made/items.jsonl --json
[ "$(field items)" = 2 ] && [ "$(field length_mean)" = 20.0 ] || fail "records of punt eval: $out"

# ---- another scoring is refused; threads change nothing
refuses "'run' holds another evaluation: data is" score protein $designs --structures $fixtures/structures --judge $golden/esm2 --out run
accepts score protein $full --json --threads 3
[ "$(field pseudo_perplexity)" = "$(sed -n 's/.*"pseudo_perplexity": \([0-9.]*\),.*/\1/p' run/summary.json)" ] || fail "threads: $out"

# ---- killed in the middle: the same command goes on, and the summary is the same
accepts generate $esm2 --length 60 --samples 30 --format fasta
cp out many.fasta
judged="score protein --responses many.fasta --data $fixtures/known.fasta --judge $golden/esm2 --threads 1 --json"
accepts $judged --out whole
cp out whole.json
"$PUNT" $judged --out killed >/dev/null 2>&1 & pid=$!
while [ "$(cat killed/items.jsonl 2>/dev/null | wc -l)" -lt 3 ]; do kill -0 $pid 2>/dev/null || break; sleep 0.02; done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
before=$(wc -l <killed/items.jsonl)
[ "$before" -lt 30 ] || echo "note: the run ended before it was killed"
printf '{"id":"seed0_sample29","prom' >>killed/items.jsonl  # as if cut off while writing
accepts $judged --out killed
cmp -s out whole.json || fail "the resumed summary differs: $(diff out whole.json)"
[ "$(wc -l <killed/items.jsonl)" -eq 30 ] || fail "records after resuming: $(wc -l <killed/items.jsonl)"

# ---- FASTA of punt generate
refuses "unknown format 'pdb'; valid: text, fasta" generate $esm2 --format pdb
refuses "--format fasta and --json exclude each other" generate $esm2 --format fasta --json
refuses "--length and --lengths exclude each other" generate $esm2 --length 5 --lengths $fixtures/known.fasta
refuses "--infill and --lengths exclude each other" generate $esm2 --infill "M[MASK:3]" --lengths $fixtures/known.fasta
refuses "a prompt and --lengths exclude each other" generate MK $esm2 --lengths $fixtures/known.fasta
refuses "--lengths goes with neither" generate $esm2 --lengths $fixtures/known.fasta --guidance 1
refuses "long.fasta: there is no sequence of at most" generate $esm2 --lengths long.fasta
refuses "holds 'X', which is not one of the 20 amino acids" generate $esm2 --format fasta --infill "MKX[MASK:3]"
refuses "no token of its own for the amino acid" generate --model $golden/bert --threads 1 --residues --length 5
accepts generate $esm2 --length 70 --samples 5 --seed 3 --first-sample 2 --format fasta
[ "$(grep -c '^>seed3_sample[2-6] model=.* planner=top-k:k=8 temperature=1 seed=3 sample=[2-6] nfe=9 length=70$' out)" -eq 5 ] \
  || fail "headers: $out"
[ "$(grep -cE '^[ACDEFGHIKLMNPQRSTVWY]{60}$' out)" -eq 5 ] && [ "$(grep -cE '^[ACDEFGHIKLMNPQRSTVWY]{10}$' out)" -eq 5 ] \
  || fail "sequences: $out"
cp out made.fasta
accepts score protein --responses made.fasta --json
[ "$(field items)" = 5 ] || fail "what was generated is not read: $out"
accepts generate $esm2 --infill "MKV[MASK:20]GGS[MASK:10]" --samples 3 --format fasta
[ "$(grep -cE '^MKV[A-Z]{20}GGS[A-Z]{10}$' out)" -eq 3 ] || fail "the scaffold: $out"
accepts generate $esm2 --lengths $fixtures/known.fasta --samples 30 --format fasta
cp out drawn.fasta
[ "$(grep -v '>' out | awk '{print length}' | sort -un | tr '\n' ' ')" = "11 17 22 " ] || fail "lengths: $out"
accepts generate $esm2 --lengths $fixtures/known.fasta --samples 1 --first-sample 17 --format fasta --batch 1
cmp -s out <(grep -A1 '>seed0_sample17 ' drawn.fasta) || fail "sample 17 alone differs: $out"
accepts generate $esm2 --residues --length 60 --seed 4
[[ $out =~ ^[ACDEFGHIKLMNPQRSTVWY]{60}$ ]] || fail "--residues: $out"
accepts generate --model $golden/esm2 --threads 1 --length 8 --max-steps 1 --planner top-k:k=3 --format fasta
[ "$(tail -n 1 out | tr -dc X)" = XXXXX ] && [[ $err == *"with 5 of 8 positions open"* ]] || fail "unfinished: $out $err"

"$PUNT" generate $esm2 --length 120 --samples 100000 --batch 1 --format fasta >cut.fasta 2>err & pid=$!
for i in $(seq 200); do [ -s cut.fasta ] && break; sleep 0.05; done
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "FASTA after SIGINT: exit code $?"
accepts score protein --responses cut.fasta

# ---- punt eval protein and infill
accepts eval protein $esm2 --data $fixtures/known.fasta --length 20 --limit 2 --json --out evaluated
[[ $(field nearest_identity) =~ ^0 ]] && [[ $(field composition_js) =~ ^0 ]] && [ "$(field items)" = 2 ] || fail "eval protein: $out"
[ "$(grep -c '"nearest_identity":' evaluated/items.jsonl)" -eq 2 ] || fail "records: $(cat evaluated/items.jsonl)"
accepts score protein --responses evaluated/items.jsonl --data $fixtures/known.fasta --json
[ "$(field composition_js)" = "$(sed -n 's/.*"composition_js": \([-0-9.e]*\),.*/\1/p' evaluated/summary.json)" ] \
  || fail "eval and score differ: $out $(cat evaluated/summary.json)"
llada="--model $golden/llada --threads 1 --planner top-k:k=2"
refuses "(--data)" eval infill $llada
refuses "empty.fasta: there are no texts" eval infill $llada --data empty.fasta
printf 'One day, a cat saw a big dog.\n\nshort\n' >texts.txt
accepts eval infill:span=4 $llada --data texts.txt --json
[ "$(field items)" = 1 ] && [[ $(field token_accuracy) =~ ^[01] ]] && [[ $out == *"1 texts are too short"* ]] || fail "infill: $out"
printf '{"prefix": "One ", "middle": 3, "suffix": "x"}\n' >parts.jsonl
refuses "parts.jsonl: line 1: no text under middle" eval infill $llada --data parts.jsonl

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
