"""What lm-eval wrote about runs of next_word: python check.py URL RUN SAME_SEED OTHER_SEED PACKAGE PACKAGE_AGAIN

The runs are folders of --output_path; the last two are those of the model `punt` of the Python package. Nothing of lm-eval is
used here."""

import json
import re
import sys
from pathlib import Path
from urllib.request import Request, urlopen

url, *folders = sys.argv[1:]
items = [json.loads(line) for line in Path(__file__).with_name("next_word.jsonl").read_text().splitlines()]


def only(folder, pattern):
    found = list(Path(folder).rglob(pattern))
    assert len(found) == 1, f"{folder} has {len(found)} files {pattern}"
    return found[0]


class Run:
    def __init__(self, folder):
        lines = only(folder, "samples_next_word_*.jsonl").read_text().splitlines()
        self.samples = sorted(map(json.loads, lines), key=lambda sample: sample["doc_id"])
        self.results = json.loads(only(folder, "results_*.json").read_text())
        self.texts = [sample["resps"][0][0] for sample in self.samples]


def is_right(text, word):
    """Whether the first word is the one that was wanted."""
    words = re.findall("[A-Za-z]+", text)
    return words != [] and words[0].lower() == word.lower()


def asked_alone(sample, seed, **diffusion):
    """The server's own answer to what lm-eval asked."""
    prompt, settings = (sample["arguments"]["gen_args_0"][name] for name in ("arg_0", "arg_1"))
    body = {"prompt": prompt, "max_tokens": settings["max_gen_toks"], "stop": settings["until"], "seed": seed,
            "temperature": settings["temperature"], "diffusion": {**settings["diffusion"], **diffusion}}
    request = Request(url + "/v1/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urlopen(request))["choices"][0]["text"]


first, again, other, package, package_again = map(Run, folders)
assert [sample["doc"] for sample in first.samples] == items, "other items than those of the file"
assert all(text.strip() for text in first.texts), first.texts
assert again.texts == first.texts, "the same seed gave other texts"
assert other.texts != first.texts, "another seed gave the same texts"
seed = first.results["config"]["model_args"]["seed"]
assert [asked_alone(sample, seed) for sample in first.samples] == first.texts, "alone it answers otherwise"

# The server and the package answer alike; the package numbers its items, so that only the first has the server's sample.
assert [sample["doc"] for sample in package.samples] == items, "other items than those of the file"
assert package.texts == package_again.texts, "the package gave other texts for the same seed"
assert package.texts[0] == asked_alone(first.samples[0], seed, planner="punt"), "the package answers otherwise"

for run in (first, other, package):
    verdicts = [is_right(text, item["word"]) for text, item in zip(run.texts, items)]
    assert verdicts == [sample["exact_match"] == 1 for sample in run.samples], verdicts
    score = run.results["results"]["next_word"]["exact_match,first_word"]
    assert score == sum(verdicts) / len(items), (score, verdicts)
    print(f"{sum(verdicts)} of {len(items)} words are right, and lm-eval says {score}")
