"""Answers held to a language, by every way of asking."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import punt

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


@pytest.fixture(scope="module")
def tasks() -> punt.Model:
    return punt.load("tasks", threads=1)


def test_schemas_are_dicts_or_texts(tasks: punt.Model) -> None:
    run = tasks("A person as JSON: ", json_schema=SCHEMA, length=40, seed=1)
    person = json.loads(run)
    assert isinstance(person["name"], str) and isinstance(person["age"], int)
    assert tasks("A person as JSON: ", json_schema=json.dumps(SCHEMA), length=40, seed=1) == run


ASKS: dict[str, Callable[..., str]] = {
    "call": lambda m, **how: m("A date: ", length=12, **how),
    "stream": lambda m, **how: "".join(m.stream("A date: ", length=12, **how)),
    "batch": lambda m, **how: m.batch(["A date: "], length=12, **how)[0],
    "chat": lambda m, **how: m.chat([("user", "A date?")], length=12, **how),
}


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("planner", ["scout", "punt", "top-k:k=3"])
def test_every_way_of_asking_keeps_to_it(tasks: punt.Model, name: str, planner: str) -> None:
    date = ASKS[name](tasks, regex=DATE, planner=planner, seed=2)
    assert [len(part) for part in date.split("-")] == [4, 2, 2] and date.replace("-", "").isdigit()
    assert ASKS[name](tasks, choices=["yes", "no"], planner=planner, seed=2) in ("yes", "no")


def test_the_holes_of_a_text(tasks: punt.Model) -> None:
    assert tasks.infill("[MASK:4]-01-02", regex=DATE, seed=1)[:4].isdigit()


def test_a_planner_and_a_model_in_python_keep_to_it(toy: punt.Model) -> None:
    class Backwards(punt.Planner):
        def decide(self, view: punt.View) -> Any:
            return [int(view.positions.max())]

    class Letters(punt.Tokenizer):
        def encode(self, text: str) -> list[int]:
            return [ord(letter) - 97 for letter in text]

        def decode(self, tokens: Any) -> str:
            return "".join(chr(97 + token) for token in tokens)

    mine = punt.NumpyDenoiser(lambda canvas: toy.log_probs(canvas), toy.vocab_size, toy.mask_token, 24, tokenizer=Letters())
    for model in (toy, punt.load(mine)):
        for seed in range(4):
            run = model("abc", length=4, regex="(ab)+|(cd)+", planner=Backwards(), seed=seed)
            assert run in ("abab", "cdcd")


def test_canvases_are_held_from_the_first_mask_to_the_last(toy: punt.Model) -> None:
    mask = toy.mask_token
    for seed in range(4):
        run = toy.fill([0, mask, 2, mask, 1], regex="[ab]c[ab]", seed=seed)
        assert run[0] == "a" and run[1] in "ab" and run[2] == "c" and run[3] in "ab" and run[4] == "b"
    with pytest.raises(punt.InputError, match="its shortest text takes 3"):
        toy.fill([0, mask, mask], regex="abc")
    for run in toy.fill_batch([[0, mask], [mask, mask]], regex="b+"):
        assert run.endswith("b")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"regex": "("}, "')' is missing"),
        ({"regex": 5}, "regex must be a string, got an int"),
        ({"choices": [5]}, "choices must be a string, got an int"),
        ({"json_schema": ["a"]}, "json_schema must be a string, got a list"),
        ({"json_schema": {"type": "nonsense"}}, '"nonsense" is not a type'),
        ({"regex": "a", "choices": ["a"]}, "choices"),
    ],
)
def test_bad_languages_are_named(toy: punt.Model, options: dict[str, Any], part: str) -> None:
    with pytest.raises(punt.InputError) as caught:
        toy(length=4, **options)
    assert part in str(caught.value) and "\n" not in str(caught.value)
