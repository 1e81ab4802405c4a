#!/usr/bin/env bash
# punt likelihood, punt score mutations, punt generate --logprobs. $PUNT is the program under test.

source "$PUNT_SOURCE_DIR/tests/cli_testing.sh"
command -v python3 >/dev/null || { echo "python3 is missing"; exit 77; }
fixtures=$PUNT_SOURCE_DIR/tests/protein
esm2=$PUNT_SOURCE_DIR/tests/golden/esm2
toy="--model toy:markov,length=8,vocab=4,seed=2"

accepts likelihood --help-all
[[ $out == *"Jensen"* || $out == *"LLaDA's Monte Carlo bound"* ]] || fail "help does not explain the bound"

# ---- bad input
refuses "there is nothing to measure: give texts, or one of --lines, --pairs and --fasta" likelihood $toy
refuses "there are several sources of texts" likelihood abab --lines x $toy
refuses "unknown method 'bond' (did you mean bound?)" likelihood abab $toy --method bond
refuses "--planner is for method planner" likelihood abab $toy --planner scout
refuses "--draws is not for method left-to-right, which draws nothing" likelihood abab $toy --method left-to-right --draws 4
refuses "--independent is for method bound" likelihood abab $toy --method pseudo --independent
refuses "planner remdm takes tokens back" likelihood abab $toy --method planner --planner remdm
refuses "the text: " likelihood abzb $toy
refuses "text 2: " likelihood ab aaaaaaaaaaaa $toy
printf 'abab\n\nabxb\n' >lines.txt
refuses "lines.txt:3: " likelihood --lines lines.txt $toy
: >empty.txt
refuses "empty.txt: there is no text" likelihood --lines empty.txt $toy
printf '{"prompt": "ab", "continuation": "ba"}\n{"prompt": "ab"}\n' >pairs.jsonl
refuses "pairs.jsonl: line 2" likelihood --pairs pairs.jsonl $toy
printf '{"id": "x", "text": "ab"}\n{"id": "x", "text": "ba"}\n' >twice.jsonl
refuses "twice.jsonl: line 2: two texts have the id 'x'" likelihood --pairs twice.jsonl $toy
refuses "--prompt is for texts and --lines" likelihood --pairs pairs.jsonl --prompt a $toy
refuses "cannot read 'nothing.txt'" likelihood --lines nothing.txt $toy

# ---- values: a table with the truth, and JSON
accepts likelihood abbabbab $toy --method left-to-right
[[ $out == *"true nats"* && $out == *" abbabbab"* ]] || fail "table: $out"
accepts likelihood abbabbab $toy --method left-to-right --json
[ "$(field nfe)" = 8 ] || fail "passes: $out"
python3 - "$out" <<'CHECK' || fail "left to right is not the truth: $out"
import json, math, sys
summary = json.loads(sys.argv[1])
(record,) = summary["records"]
assert abs(record["nats"] - record["true_nats"]) < 1e-9, record
assert abs(sum(record["token_nats"]) - record["nats"]) < 1e-9, record
assert abs(summary["perplexity"] - math.exp(record["nats"] / 8)) < 1e-9, summary
CHECK
accepts likelihood abbabbab $toy --json --draws 64 --seed 3
first=$out
accepts likelihood abbabbab $toy --json --draws 64 --seed 3 --threads 2
[ "$out" = "$first" ] || fail "threads change the bound"
python3 - "$first" <<'CHECK' || fail "the truth is outside: $first"
import json, sys
(record,) = json.loads(sys.argv[1])["records"]
assert 0 < record["standard_error"] < 2, record
assert abs(record["nats"] - record["true_nats"]) < 3 * record["standard_error"], record
CHECK

# A prompt is given: the two add up to the whole.
accepts likelihood abba --prompt abb $toy --method left-to-right --json
whole=$out
printf '{"id": "q", "prompt": "abb", "continuation": "abba"}\n{"context": "a", "continuation": "b"}\n' >pairs.jsonl
accepts likelihood --pairs pairs.jsonl $toy --method left-to-right --json
[ "$(field records.0.nats)" = "$(json records.0.nats <<<"$whole")" ] || fail "pairs: $out"
[ "$(field records.0.id)$(field records.1.id)" = '"q""1"' ] || fail "ids: $out"
[ "$(field records.1.tokens)" = 1 ] || fail "tokens: $out"

# ---- a run that was interrupted goes on, and gives the same
printf 'abab\nbaab\naabb\nabba\n' >lines.txt
accepts likelihood --lines lines.txt $toy --draws 32 --out run --json
whole=$out
cp run/items.jsonl whole.jsonl
head -n 2 whole.jsonl >run/items.jsonl
printf '{"id": "3", "pro' >>run/items.jsonl
rm run/summary.json
accepts likelihood --lines lines.txt $toy --draws 32 --out run --json
[ "$out" = "$whole" ] || fail "another summary: $out instead of $whole"
cmp -s run/items.jsonl whole.jsonl || fail "other records after going on"
refuses "draws" likelihood --lines lines.txt $toy --draws 33 --out run
echo nonsense >>run/items.jsonl
refuses "items.jsonl" likelihood --lines lines.txt $toy --draws 32 --out run

# ---- proteins
accepts likelihood --fasta $fixtures/wild_type.fasta --method pseudo --model $esm2 --threads 1 --json
python3 - "$out" <<'CHECK' || fail "pseudo-perplexity: $out"
import json, sys
summary = json.loads(sys.argv[1])
assert summary["nfe"] == 10 and summary["records"][0]["id"] == "wild_type", summary
CHECK
pseudo=$(field perplexity)
accepts score protein --responses $fixtures/wild_type.fasta --judge $esm2 --threads 1 --json
python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(abs(a / b - 1) > 1e-5)' "$pseudo" "$(field pseudo_perplexity)" ||
  fail "punt score protein says $(field pseudo_perplexity), punt likelihood $pseudo"
printf '>a\nMKB\n' >letters.fasta
refuses "letters.fasta: record 'a': 'B' is not one of the 20 amino acids" likelihood --fasta letters.fasta --model $esm2

mutations="score mutations --data $fixtures/dms.csv --fasta $fixtures/wild_type.fasta --judge $esm2 --threads 1"
refuses "--data is missing: CSV with a column mutant" score mutations --judge $esm2
refuses "--judge is missing: a masked model of proteins" score mutations --data $fixtures/dms.csv
refuses "there is no sequence" score mutations --data $fixtures/dms.csv --judge $esm2
refuses "--method is for mutations, not for gsm8k" score gsm8k --method masked-marginal
refuses "unknown method 'masked'" $mutations --method masked
refuses "dms.csv: line 2: mutant 'A3G': residue 3 of the sequence is C, not A" \
  score mutations --data $fixtures/dms.csv --sequence MKCYIAKQRW --judge $esm2
printf 'mutant\nA3G\nK7R:W10F\n' >short.csv
refuses "short.csv: line 3: mutant 'K7R:W10F': site 10 lies outside the sequence of 9 residues" \
  score mutations --data short.csv --sequence MKAYIAKQR --judge $esm2
refuses "--sequence: residue 11 is Z, none of the 20 amino acids" score mutations --data $fixtures/dms.csv --sequence MKAYIAKQRWZ --judge $esm2
cp $fixtures/dms.csv mine.csv
refuses "--out would overwrite 'mine.csv'" score mutations --data mine.csv --sequence MKAYIAKQRW --judge $esm2 --out mine.csv

accepts $mutations
[ "$(head -n 1 out)" = "mutant,mutated_sequence,DMS_score,DMS_score_bin,masked_marginal" ] || fail "CSV: $out"
[ "$(wc -l <out)" -eq 7 ] || fail "CSV: $out"
[[ $err == *spearman* ]] || fail "no correlation: $err"
csv=$out
accepts $mutations --out scores.csv
[ "$(cat scores.csv)" = "$csv" ] || fail "another file: $(cat scores.csv)"
accepts $mutations --out dms --json
[ "$(field nfe)$(field sites)$(field mutants)" = 776 ] || fail "summary: $out"
head -n 3 dms/items.jsonl >three
cp three dms/items.jsonl
accepts $mutations --out dms --json
[ "$(field nfe)" = 4 ] || fail "the sites that are there were read again: $out"
[ "$(cat dms/scores.csv)" = "$csv" ] || fail "other scores after going on"
accepts $mutations --method wild-type-marginal --json
[ "$(field nfe)" = 1 ] || fail "passes of the wild type: $out"

# ---- how sure the model was
refuses "--logprobs is for --json and --trace" generate $toy --logprobs 2
accepts generate $toy --logprobs 2 --json --seed 5 --trace trace.jsonl
python3 - "$out" <<'CHECK' || fail "logprobs: $out"
import json, math, sys
run = json.loads(sys.argv[1])
assert [row["token"] for row in run["logprobs"]] == run["tokens"], run
assert all(len(row["top"]) == 2 and row["entropy"] >= 0 for row in run["logprobs"])
rows = {}
for line in open("trace.jsonl"):
    event = json.loads(line)
    if event["event"] == "commit":
        for position, logprob in zip(event["positions"], event["logprobs"], strict=True):
            rows[position] = (event["step"], logprob)
assert [rows[row["position"]] for row in run["logprobs"]] == [(row["step"], row["logprob"]) for row in run["logprobs"]]
CHECK
cp out run.json
accepts generate --from run.json
accepts generate $toy --json --seed 5
[[ $out != *logprobs* ]] || fail "nobody asked: $out"
accepts replay trace.jsonl --view none

[ "$failures" -eq 0 ] || exit 1
echo "all passed"
