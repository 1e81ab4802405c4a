"""The harness's model, and a task of its evaluated by it."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("lm_eval", reason="lm-evaluation-harness is not installed")
pytest.importorskip("datasets", reason="datasets, which lm-evaluation-harness needs, is not installed")

import punt
from punt.lm_eval import PuntLM

GOLDEN = Path(__file__).resolve().parents[3] / "tests" / "golden"


def request(*args):
    return SimpleNamespace(args=args)


@pytest.fixture(scope="module")
def engine():
    return punt.load(GOLDEN / "bert", threads=1)


@pytest.fixture(scope="module")
def lm(engine):
    return PuntLM(engine, length=12, planner="scout", batch_size=2)


def test_answers_are_those_of_the_model(lm, engine):
    answers = lm.generate_until(
        [
            request("a b", {"until": ["c"], "max_gen_toks": 9}),
            request("d e f", {"until": []}),
            request("d e f", {"do_sample": True, "temperature": 0.8}),
            request("g", {"until": ["c"], "max_gen_toks": 9, "do_sample": False, "temperature": 0.7}),
        ]
    )
    assert answers == [
        engine("a b", length=9, stop=["c"], temperature=0).text,
        engine("d e f", length=12, temperature=0).text,
        engine("d e f", length=12, temperature=0.8, sample=2).text,
        engine("g", length=9, stop=["c"], temperature=0, sample=3).text,
    ]


def test_likelihoods_are_taken_from_left_to_right(lm, engine):
    context, continuation = "a b c", " d e"
    (found, is_greedy), = lm.loglikelihood([request(context, continuation)])
    tokens = list(engine.tokenize(context + continuation))
    canvas = np.array([*tokens[:3], *[engine.mask_token] * 2])
    first = engine.log_probs(canvas)[3]
    canvas[3] = tokens[3]
    second = engine.log_probs(canvas)[4]
    assert found == pytest.approx(first[tokens[3]] + second[tokens[4]])
    assert is_greedy == (first.argmax() == tokens[3] and second.argmax() == tokens[4])
    # What the model itself puts there is greedy.
    canvas[3] = first.argmax()
    best = engine.log_probs(canvas)[4].argmax()
    assert lm._follow(np.array(tokens[:3]), [first.argmax(), best])[1]


def test_long_texts_are_cut_into_canvases(lm, engine):
    text = "a b c d e f g h " * 20
    tokens = engine.tokenize(text)
    assert len(tokens) > engine.max_length
    size = engine.max_length
    expected = sum(lm._follow(tokens[:0], tokens[i : i + size])[0] for i in range(0, len(tokens), size))
    assert lm.loglikelihood_rolling([request(text)]) == [pytest.approx(expected)]


def test_either_model_or_pretrained():
    with pytest.raises(punt.InputError, match="either model= .* or pretrained="):
        PuntLM()


def test_modules_by_name(engine):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    lm = PuntLM(pretrained=str(GOLDEN / "bert"), length=10)
    assert lm.generate_until([request("a b c", {})]) == [engine("a b c", length=10, temperature=0).text]


def test_a_task_of_the_harness(engine, tmp_path):
    import lm_eval
    from lm_eval.tasks import TaskManager

    lines = [{"question": "a b", "answer": "c"}, {"question": "d e f", "answer": "g"}]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "tiny.yaml").write_text(
        f"""task: tiny_echo
dataset_path: json
dataset_kwargs: {{data_files: {{test: {tmp_path}/data.jsonl}}}}
output_type: generate_until
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["."], max_gen_toks: 8}}
metric_list: [{{metric: exact_match}}]
"""
    )
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model="punt", model_args={"model": str(GOLDEN / "bert"), "planner": "top-k:k=2"}, tasks=["tiny_echo"],
        task_manager=manager, bootstrap_iters=0,
    )
    assert 0 <= found["results"]["tiny_echo"]["exact_match,none"] <= 1
    answers = [sample["resps"][0][0] for sample in found["samples"]["tiny_echo"]]
    assert answers[0] == engine("a b", length=8, planner="top-k:k=2", temperature=0, stop=["."]).text
