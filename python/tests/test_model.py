import json
import pickle
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import punt


def test_a_run_is_a_string_with_attributes(toy: punt.Model) -> None:
    run = toy(temperature=0.7, seed=3)
    assert isinstance(run, str) and len(run) == 24
    assert run.upper() == run.text.upper() and type(run.text) is str
    assert run.nfe == run.counters["base_passes"] + run.counters["test_passes"] > 0
    assert run.token_count == 24 and run.tokens.shape == (24,) and run.tokens.dtype == np.int32
    assert run.finish_reason == "length" and run.stop_reason == "full"
    assert toy.detokenize(run.tokens) == run
    assert pickle.loads(pickle.dumps(run)) == run


def test_the_trace_tells_every_commit(toy: punt.Model, tmp_path: Path) -> None:
    run = toy(planner="top-k:k=4", seed=3)
    events = [event["event"] for event in run.trace]
    assert events[0] == "run" and events[-1] == "end" and events.count("commit") == run.steps == 6
    canvas = np.array(run.trace[0]["canvas"])
    for event in run.trace:
        if event["event"] == "commit":
            canvas[event["positions"]] = event["tokens"]
    assert (canvas == run.tokens).all()
    assert sorted(set(run.commit_steps.tolist())) == list(range(6))
    run.save_trace(tmp_path / "a.jsonl")
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == run.trace


def test_the_seed_and_the_sample_decide(toy: punt.Model) -> None:
    assert toy(seed=1) == toy(seed=1)
    assert len({toy(seed=seed) for seed in range(6)}) > 1
    assert toy(seed=1, sample=1) != toy(seed=1) or toy(seed=1, sample=2) != toy(seed=1)


def test_prompts_are_texts_or_tokens(toy: punt.Model) -> None:
    text = toy("abca", temperature=0)
    tokens = toy(tokens=[0, 1, 2, 0], temperature=0)
    assert text == tokens and len(text) == 20
    assert (text.tokens[:4] == [0, 1, 2, 0]).all()
    assert len(toy("abca", length=5)) == 5


def test_every_sampling_option_is_taken_by_its_name(toy: punt.Model) -> None:
    kinds: dict[str, Any] = {"str": str, "float": float, "int": int, "bool": lambda text: text == "true",
                             "list[str]": lambda text: []}  # fmt: skip
    usual = toy("abc")
    for option in punt.sampling_options():
        keywords = {option["name"]: kinds[option["type"]](option["default"])}
        assert toy("abc", **keywords) == usual, option
    assert toy("abc", stop=["zz"]) == usual


def test_answers_can_be_held_to_a_language(toy: punt.Model) -> None:
    assert toy("abc", length=3, choices=["cab", "bca"]) in ("cab", "bca")
    assert set(toy("abc", regex="[ab]+")) <= {"a", "b"}
    assert toy("abc", length=5, template="b{x:[cd]{3}}a")[0::4] == "ba"
    canvas = [0, toy.mask_token, toy.mask_token, 2]
    assert toy.detokenize(toy.fill(canvas, regex="bb|dd").tokens)[1:3] in ("bb", "dd")
    for run in toy.fill_batch([canvas, canvas[1:]], choices=["bd", "db"]):
        assert any(text in toy.detokenize(run.tokens) for text in ("bd", "db"))
    with pytest.raises(punt.InputError, match="shortest text takes 4"):
        toy.fill(canvas, regex="b{4}")


def test_options_change_what_they_should(toy: punt.Model) -> None:
    assert toy(max_steps=3).steps == 3
    assert toy(max_nfe=2).nfe == 2
    assert toy(max_nfe=2).stop_reason == "nfe-limit"
    assert toy(planner="top-k:k=24").nfe == 1
    full = toy(seed=4)
    assert toy(seed=4, stop=full[3:6]).finish_reason == "stop"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"temprature": 1}, "temperature"),
        ({"temperature": "hot"}, "temperature must be a number, got a str"),
        ({"temperature": True}, "temperature must be a number, got a bool"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": -1}, "temperature"),
        ({"top_k": 1.5}, "top_k must be a whole number, got a float"),
        ({"top_k": 2**80}, "top_k is out of range"),
        ({"seed": -1}, "seed must be from 0"),
        ({"planner": "scot"}, "did you mean scout"),
        ({"planner": 7}, "planner must be a string or a punt.Planner, got an int"),
        ({"stop": [1]}, "stop must be a string, got an int"),
        ({"freeze_mask_ratio": 1}, "freeze_mask_ratio must be True or False"),
        ({"length": 1000}, "24"),
        ({"length": -5}, "length must not be negative, got -5"),
        ({"tokens": [0, 99]}, "99"),
        ({"tokens": [0.5]}, "int"),
        ({"tokens": [2**40]}, "out of range"),
        ({"tokens": [[1, 2]]}, "dimensions"),
        ({"window": 100}, "window"),
        ({"planner": "dawn"}, "attention"),
    ],
)
def test_bad_input_is_named(toy: punt.Model, options: dict[str, Any], part: str) -> None:
    with pytest.raises(punt.InputError) as caught:
        toy(**options)
    assert part in str(caught.value) and "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, punt.Error)


def test_wrong_kinds_are_named_wherever_they_are_given(toy: punt.Model) -> None:
    anything: Any = toy
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: anything(5), "prompt must be a string, got an int"),
        (lambda: anything.batch([5]), "a prompt of a batch is a text or a dict, not 5"),
        (lambda: anything.chat("hello"), "a chat is a list of messages, not 'hello'"),
        (lambda: anything.chat([("user", "a")], thinking="yes"), "thinking must be True or False, got a str"),
        (lambda: anything.infill(5), "infill must be a string, got an int"),
        (lambda: anything.tokenize(5), "text must be a string, got an int"),
        (lambda: anything.tokenize("a\ud800"), "surrogate"),
        (lambda: anything.detokenize("abc"), "tokens must hold"),
        (lambda: anything.log_probs("abc"), "tokens must hold"),
        (lambda: anything.fill("abc"), "a canvas must hold"),
        (lambda: anything.stream(tokens="a"), "tokens must hold"),
        (lambda: anything(sample="a"), "sample must be a whole number, got a str"),
        (lambda: punt.load(3), "not 3"),  # type: ignore[arg-type]
        (lambda: punt.load("stories", threads=-1), "threads must be a whole number from 0 on, got -1"),
        (lambda: punt.load("stories", threads="two"), "got 'two'"),  # type: ignore[arg-type]
    ]
    for call, part in wrong:
        with pytest.raises(punt.InputError) as caught:
            call()
        assert part in str(caught.value) and "\n" not in str(caught.value)


def test_failures_are_runtime_errors() -> None:
    assert issubclass(punt.FailedError, RuntimeError) and issubclass(punt.FailedError, punt.Error)
    assert not issubclass(punt.FailedError, ValueError)


def test_models_that_are_not_there(tmp_path: Path) -> None:
    for name, part in [("storys", "stories"), ("toy:markow", "markov"), (str(tmp_path / "a.gguf"), "no such file")]:
        with pytest.raises(punt.InputError, match=part):
            punt.load(name)
    (tmp_path / "b.gguf").write_bytes(b"GGUF nonsense")
    with pytest.raises(punt.InputError, match="b.gguf"):
        punt.load(tmp_path / "b.gguf")
    with pytest.raises(punt.InputError, match="unknown model option 'devise'"):
        punt.load("stories", devise="cpu")
    with pytest.raises(punt.InputError, match="gpu_layers must be a whole number, got a str"):
        punt.load("stories", gpu_layers="all")


def test_loading_tells_its_progress_and_can_be_ended() -> None:
    shares: list[float] = []
    punt.load("stories", progress=shares.append)
    assert shares and shares == sorted(shares) and shares[-1] == 1

    def refuse(share: float) -> None:
        raise KeyError(f"at {share}")

    with pytest.raises(KeyError, match="at 0"):
        punt.load("stories", progress=refuse)


def test_what_can_be_named() -> None:
    planners = {row["name"]: row for row in punt.planners()}
    assert {"punt", "scout", "top-k"} <= set(planners)
    assert planners["top-k"]["params"][0]["key"] == "k"
    assert "margin" in {row["name"] for row in punt.scores()}
    assert {"stories", "sudoku", "toy:markov"} <= {row["name"] for row in punt.models()}
    assert "stories15m" not in {row["name"] for row in punt.models()}  # a judge of texts, which fills no masks
    assert {"planner", "temperature", "seed", "stop"} <= {row["name"] for row in punt.sampling_options()}
    assert punt.__version__.count(".") == 2


def test_a_batch_gives_what_single_calls_give(toy: punt.Model) -> None:
    prompts = ["a", "bc", "abc", ""]
    batch = toy.batch(prompts, seed=5, temperature=0.8)
    single = [toy(prompt, seed=5, temperature=0.8) for prompt in prompts]
    assert batch == single
    assert [run.nfe for run in batch] == [run.nfe for run in single]
    samples = toy.batch([{"prompt": "ab", "sample": i} for i in range(3)], seed=5)
    assert samples == [toy("ab", sample=i, seed=5) for i in range(3)]
    assert toy.batch([]) == []
    with pytest.raises(punt.InputError, match="a list of prompts"):
        toy.batch("abc")
    with pytest.raises(punt.InputError, match="promt"):
        toy.batch([{"promt": "a"}])


def test_canvases_are_filled_wherever_they_have_holes(toy: punt.Model) -> None:
    mask = toy.mask_token
    canvas = np.array([0, mask, 1, mask, mask, 2])
    run = toy.fill(canvas, seed=2)
    assert (run.tokens[[0, 2, 5]] == [0, 1, 2]).all() and (run.tokens != mask).all()
    assert list(run.commit_steps[[0, 2, 5]]) == [-1, -1, -1]
    batch = toy.fill_batch([canvas, canvas], seed=2)
    assert (batch[0].tokens == run.tokens).all()
    assert (batch[1].tokens == toy.fill(canvas, seed=2, sample=1).tokens).all()
    refused: list[tuple[list[float], str]] = [([], "empty"), ([0, 77], "77"), ([0.0, 1.0], "int64")]
    for bad, part in refused:
        with pytest.raises(punt.InputError, match=part):
            toy.fill(bad)


def test_infills(stories: punt.Model) -> None:
    run = stories.infill("The [MASK:3] dog.", temperature=0)
    assert run.startswith("The ") and run.endswith(" dog.") and (run.tokens != stories.mask_token).all()
    with pytest.raises(punt.InputError, match="hole"):
        stories.infill("no holes")


def test_a_chat_needs_a_template(stories: punt.Model) -> None:
    for messages in ([{"role": "user", "content": "Hello"}], [("user", "Hello")]):
        with pytest.raises(punt.InputError, match="template"):
            stories.chat(messages)
    for bad in ([], [{"role": "user"}], ["Hello"]):
        with pytest.raises(punt.InputError):
            stories.chat(bad)  # type: ignore[arg-type]


def test_a_chat_is_answered() -> None:
    model = punt.load("tasks")
    assert model.has_chat_template
    answer = model.chat([{"role": "user", "content": "What is 3 + 4?"}], length=16, seed=1)
    assert answer == model.chat([("user", "What is 3 + 4?")], length=16, seed=1)
    assert answer == model.batch([{"chat": [("user", "What is 3 + 4?")]}], length=16, seed=1)[0]
    assert answer == "".join(model.stream(chat=[("user", "What is 3 + 4?")], length=16, seed=1))


def test_log_probs_are_normalised_rows(toy: punt.Model, stories: punt.Model) -> None:
    rows = toy.log_probs([0, toy.mask_token, 1])
    assert rows.shape == (3, toy.vocab_size) and np.allclose(np.exp(rows).sum(1), 1)
    assert (rows[:, toy.mask_token] == -np.inf).all()
    tokens = stories.tokenize("the dog")
    assert (stories.log_probs(tokens, [1]) == stories.log_probs(tokens)[1]).all()
    with pytest.raises(punt.InputError, match="row 9"):
        toy.log_probs([0, 1], [9])


def test_texts_and_tokens(stories: punt.Model) -> None:
    tokens = stories.tokenize("The little dog.")
    assert stories.detokenize(tokens) == "The little dog."
    assert len(stories.tokenize("The little dog.", whole=True)) >= len(tokens)
    with pytest.raises(punt.InputError, match="vocabulary"):
        stories.detokenize([10**6])


def test_threads_share_a_model(stories: punt.Model) -> None:
    expected = stories("A cat", length=16, seed=1)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(stories("A cat", length=16, seed=1))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_the_interpreter_goes_on_while_it_computes(stories: punt.Model) -> None:
    done = threading.Event()

    def compute() -> None:
        stories("A cat", length=64, planner="left-to-right", seed=1)
        done.set()

    threading.Thread(target=compute).start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    assert turns > 20


def test_the_command_line_says_the_same(stories: punt.Model, program: str) -> None:
    for planner in ("scout", "top-k:k=2"):
        run = stories("Once upon a time", planner=planner, length=48, temperature=1, seed=7)
        command = [program, "generate", "--model", "stories", "--prompt", "Once upon a time", "--length", "48",
                   "--planner", planner, "--temperature", "1", "--seed", "7", "--json"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert run.text in json.loads(told.splitlines()[-1])["text"]


def test_the_server_says_the_same(stories: punt.Model, program: str, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    command = [program, "serve", "--port", "0", "--model", "stories", "--threads", "1", "--ready-file", str(ready), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            while not ready.exists() or not ready.read_text().strip():
                assert server.poll() is None
                time.sleep(0.05)
            body = {"prompt": "Once upon a time", "max_tokens": 32, "temperature": 1, "seed": 7}
            request = urllib.request.Request(
                ready.read_text().strip() + "/v1/completions",
                json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                told = json.load(answer)["choices"][0]["text"]
        finally:
            server.terminate()
    assert told == stories("Once upon a time", length=32, temperature=1, seed=7)
