"""What lm-eval wrote about runs of last_word and endings: python check_likelihood.py PUNT MODEL URL RUN_OF_TEXTS RUN_OF_TOKENS

Log-likelihoods of texts are compared with those of `punt likelihood`; those of tokens, which have no BOS before them, with
the sums of what the server says of each prompt alone. Greedy hits are compared with what the server writes from left to right
at temperature 0. Nothing of lm-eval is used here."""

import json
import math
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

punt, model, url, *folders = sys.argv[1:]


def only(folder, pattern):
    found = list(Path(folder).rglob(pattern))
    assert len(found) == 1, f"{folder} has {len(found)} files {pattern}"
    return found[0]


def samples(folder, task):
    lines = only(folder, f"samples_{task}_*.jsonl").read_text().splitlines()
    return sorted(map(json.loads, lines), key=lambda sample: sample["doc_id"])


def post(path, body):
    request = Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urlopen(request))


def pairs(sample):
    """Contexts and continuations as lm-eval asked for them."""
    return [(each["arg_0"], each["arg_1"]) for each in sample["arguments"].values()]


def answers(sample):
    """Log-likelihood and greedy hit of each."""
    return [(float(each[0][0]), each[0][1] in (True, "True")) for each in sample["resps"]]


def tokens(text):
    return post("/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"]


def of_texts(asked):
    Path("pairs.jsonl").write_text(
        "".join(json.dumps({"prompt": prompt, "continuation": rest}) + "\n" for prompt, rest in asked))
    command = [punt, "likelihood", "--model", model, "--pairs", "pairs.jsonl", "--method", "left-to-right", "--json"]
    records = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["records"]
    return [-record["nats"] for record in records]


def of_tokens(asked):
    sums = []
    for prompt, rest in asked:
        body = {"prompt": tokens(prompt + rest), "echo": True, "logprobs": 0, "max_tokens": 0, "diffusion": {"score_alone": 0}}
        sums.append(sum(post("/v1/completions", body)["choices"][0]["logprobs"]["token_logprobs"][len(tokens(prompt)):]))
    return sums


def is_greedy(prompt, rest, as_text):
    before, whole = tokens(prompt), tokens(prompt + rest)
    assert whole[: len(before)] == before
    body = {"prompt": prompt if as_text else before, "max_tokens": len(whole) - len(before), "temperature": 0,
            "logprobs": 0, "diffusion": {"planner": "left-to-right"}}
    return post("/v1/completions", body)["choices"][0]["logprobs"]["token_ids"] == whole[len(before):]


for folder, by_hand in zip(folders, (of_texts, of_tokens), strict=True):
    results = json.loads(only(folder, "results_*.json").read_text())["results"]
    words = samples(folder, "last_word")
    asked = [pair for sample in words for pair in pairs(sample)]
    told = [answer for sample in words for answer in answers(sample)]
    expected = by_hand(asked)
    for (prompt, rest), (log_prob, greedy), own in zip(asked, told, expected, strict=True):
        assert abs(log_prob - own) < 1e-4 * max(1, abs(own)), (prompt, rest, log_prob, own)
        assert greedy == is_greedy(prompt, rest, by_hand is of_texts), (prompt, rest, greedy)
    perplexity = math.exp(-sum(expected) / len(expected))
    hits = sum(greedy for _, greedy in told)
    assert 0 < hits < len(told), "the fixture should have both"
    assert abs(results["last_word"]["perplexity,none"] / perplexity - 1) < 1e-4, (results["last_word"], perplexity)
    assert results["last_word"]["acc,none"] == hits / len(told)

    choices = samples(folder, "endings")
    right = 0
    for sample in choices:
        own = by_hand(pairs(sample))
        for (log_prob, _), expected_one in zip(answers(sample), own, strict=True):
            assert abs(log_prob - expected_one) < 1e-4 * max(1, abs(expected_one)), (sample["doc"], log_prob, own)
        right += own.index(max(own)) == sample["doc"]["answer"]
    assert results["endings"]["acc,none"] == right / len(choices), (results["endings"], right)
    print(f"{folder}: {hits} of {len(told)} last words are greedy, perplexity {perplexity:.3f}; {right} of {len(choices)} "
          "endings; lm-eval says the same")
