"""punt.bench: the table, the folder, and that it goes on where it stopped, as the command does and with the command."""

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import punt

from conftest import SOURCE, run_python

TASK = "sudoku:size=4"
MODEL = SOURCE / "tests/golden/llada"  # random: this shows the mechanics
PLANNERS = ["top-k:k=4", "threshold:tau=0.1"]


class Surest(punt.Planner):
    """The surest positions."""

    def __init__(self, k: int = 2) -> None:
        self.k = k

    def decide(self, view: punt.View) -> Any:
        return view.positions[: self.k]


punt.register_planner("bench-surest", Surest)


def without_seconds(rows: Any) -> Any:
    """Everything that does not depend on the clock."""
    if isinstance(rows, dict):
        return {name: without_seconds(value) for name, value in rows.items() if "seconds" not in name}
    return [without_seconds(each) for each in rows] if isinstance(rows, list) else rows


def measure(**options: Any) -> punt.Bench:
    return punt.bench(TASK, MODEL, **{"planners": PLANNERS, "limit": 3, "threads": 1, "seed": None if "seeds" in options else 2, **options})


def test_a_table_without_pandas() -> None:
    table = measure()
    assert [row["planner"] for row in table] == [row["planner"] for row in table.rows] and len(table) == 2
    assert table[0]["task"] == "sudoku" and table[0]["items"] == 3 and table[:1] == [table[0]]
    columns = table.columns
    assert all(len(column) == 2 for column in columns.values())
    low, high = columns["nfe_mean_low"][0], columns["nfe_mean_high"][0]
    assert low <= columns["nfe_mean"][0] <= high
    assert 0 <= columns["accuracy_low"][0] <= columns["accuracy"][0] <= columns["accuracy_high"][0] <= 1
    head, first, second = repr(table).splitlines()[1:]
    assert head.split()[:2] == ["planner", "T"] and "accuracy" in head and first.startswith("top-k:k=4 ")
    assert second.startswith("threshold:tau=0.1 ") and table.markdown.count("| `threshold:tau=0.1` |") == 2


def test_in_a_notebook() -> None:
    table = measure(planners=["top-k:k=4"], limit=1)
    table.rows[0]["planner"] = "<b>&"

    class Reader(HTMLParser):
        tags: list[str] = []
        texts: list[str] = []

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.tags.append(tag)

        def handle_data(self, data: str) -> None:
            self.texts.append(data)

    reader = Reader()
    reader.feed(table._repr_html_())
    assert "b" not in reader.tags and "script" not in reader.tags and reader.tags.count("tr") == 2
    assert "<b>&" in reader.texts and "NFE" in reader.texts


def test_as_a_data_frame() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = measure().to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["planner"]) == PLANNERS


def test_without_pandas_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        measure(limit=1).to_pandas()


def test_every_result_is_kept_as_it_comes_and_the_same_call_goes_on(tmp_path: Path) -> None:
    whole = measure(out=tmp_path / "whole", seeds=[1, 2])
    told: list[tuple[int, int]] = []

    def stop(done: int, items: int) -> None:
        told.append((done, items))
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(out=tmp_path / "part", seeds=[1, 2], progress=stop)
    assert told == [(done, 12) for done in range(8)]
    kept = list((tmp_path / "part").glob("*/items.jsonl"))
    lines = {path: path.read_text() for path in kept}
    assert sum(text.count("\n") for text in lines.values()) == 7
    told.clear()
    part = measure(out=tmp_path / "part", seeds=[1, 2], progress=lambda done, items: told.append((done, items)))
    assert told == [(done, 12) for done in range(7, 13)]
    assert all(path.read_text().startswith(text) for path, text in lines.items())
    assert without_seconds(part.rows) == without_seconds(whole.rows)
    assert json.loads((tmp_path / "part/bench.json").read_text()) == part.rows
    assert (tmp_path / "part/bench.md").read_text() == part.markdown
    assert (tmp_path / "part/report.html").read_text().startswith("<!doctype html>")
    # Longer lists add to what is there.
    longer = measure(out=tmp_path / "part", seeds=[1, 2, 3], planners=[*PLANNERS, "random"])
    assert len(longer) == 3 and longer[0]["items"] == 9
    with pytest.raises(punt.InputError, match="temperature|configuration"):
        measure(out=tmp_path / "part", seeds=[1, 2], temperature=0.5)


def test_the_command_goes_on_with_it_and_it_with_the_command(program: str, tmp_path: Path) -> None:
    def command(out: Path, limit: int = 3) -> None:
        words = [program, "bench", TASK, "--model", str(MODEL), "--planners", ";".join(PLANNERS), "--limit", str(limit),
                 "--threads", "1", "--seed", "2", "--out", str(out)]  # fmt: skip
        subprocess.run(words, check=True, capture_output=True)

    command(tmp_path / "command")
    expected = without_seconds(json.loads((tmp_path / "command/bench.json").read_text()))
    assert without_seconds(measure().rows) == expected
    measure(out=tmp_path / "a", limit=2)
    before = (tmp_path / "a/top-k-k-4/items.jsonl").read_text()
    command(tmp_path / "a")
    assert (tmp_path / "a/top-k-k-4/items.jsonl").read_text().startswith(before)
    assert without_seconds(json.loads((tmp_path / "a/bench.json").read_text())) == expected
    command(tmp_path / "b", 2)
    told: list[int] = []
    assert without_seconds(measure(out=tmp_path / "b", progress=lambda done, _: told.append(done)).rows) == expected
    assert told == [4, 5, 6]


def test_ctrl_c_leaves_a_folder_that_goes_on(tmp_path: Path) -> None:
    code = f"""
import os, signal, threading
import punt
def ask(**options):
    return punt.bench("sudoku", planners=["left-to-right"], limit=4, threads=1, out={str(tmp_path / "out")!r}, **options)
def tell(done, items):
    if done == 2:
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    ask(progress=tell)
    print("not interrupted")
except KeyboardInterrupt:
    print("stopped")
first = []
table = ask(progress=lambda done, items: first.append(done))
print(first[0] in (2, 3), table[0]["items"])
"""
    ended = run_python(code, timeout=120)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\nTrue 4\n", "")


def test_planners_in_python_by_name(tmp_path: Path) -> None:
    table = measure(planners="top-k:k=4; bench-surest:k=4", out=tmp_path)
    assert table[1]["planner"] == "bench-surest:k=4"
    same = ("nfe_mean", "accuracy", "steps_mean", "tokens_per_forward")
    assert [table[0][name] for name in same] == [table[1][name] for name in same]
    assert (tmp_path / "bench-surest-k-4/items.jsonl").exists()
    refused: list[Any] = [Surest(k=4), 7]
    for bad in refused:
        with pytest.raises(punt.InputError, match="register_planner"):
            measure(planners=[bad])


def test_models_in_python(tmp_path: Path) -> None:
    """The engine's rows, by way of a function: the same table."""
    engine = punt.load(MODEL, threads=1)

    class Spelt(punt.Tokenizer):
        control_tokens = ()

        def encode(self, text: str) -> list[int]:
            return [int(token) for token in engine.tokenize(text)]

        def decode(self, tokens: Any) -> str:
            return engine.detokenize(tokens, controls=True)

    asked: list[int] = []

    def logits(canvas: Any) -> Any:
        asked.append(len(canvas))
        return np.maximum(engine.log_probs(canvas), -1e30)

    mine = punt.NumpyDenoiser(logits, engine.vocab_size, engine.mask_token, engine.max_length,
                              eos_tokens=engine.eos_tokens, name="mine", tokenizer=Spelt())  # fmt: skip
    spelt = punt.bench(TASK, mine, planners=["top-k:k=4"], limit=2, out=tmp_path)
    assert spelt[0]["model"] == "mine" and sum(asked) == spelt[0]["row_passes_mean"] * 2
    assert len(punt.bench(TASK, punt.load(mine), planners=["top-k:k=4"], limit=2, out=tmp_path)) == 1
    assert sum(asked) == spelt[0]["row_passes_mean"] * 2  # nothing was done again

    def broken(canvas: Any) -> Any:
        raise KeyError("on purpose")

    mine.fn = broken
    with pytest.raises(KeyError, match="on purpose"):
        punt.bench(TASK, mine, planners=["top-k:k=4"], limit=1)


def test_presets_decide_how_to_sample() -> None:
    table = measure(planners=None, preset="paper-text", limit=1)
    assert {row["temperature"] for row in table} == {0.1, 0.7} and len({row["score"] for row in table}) == 1
    assert {row["temperature"] for row in measure(planners=None, preset="paper-text", limit=1, temperature=0)} == {0}
    with pytest.raises(punt.InputError, match="unknown preset|baselines"):
        measure(planners=None, preset="evry")


def test_temperatures_are_rows() -> None:
    table = measure(planners=["random"], temperatures=[0, 0.5], limit=1)
    assert [row["temperature"] for row in table] == [0, 0.5]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"planners": ["scot"]}, "did you mean scout"),
        ({"planners": []}, "planners is empty"),
        ({"planners": ["distilled"]}, "influence head"),
        ({"preset": "every"}, "exclude each other"),
        ({"planner": "scout"}, "a bench has planners"),
        ({"temperature": 1, "temperatures": [1]}, "exclude each other"),
        ({"temperatures": []}, "temperatures is empty"),
        ({"temperatures": ["hot"]}, "temperatures must be a list of numbers, got a str"),
        ({"temperatures": [1, 1]}, "temperatures has 1 twice"),
        ({"seeds": [1.5]}, "seeds must be a list of whole numbers, got a float"),
        ({"seeds": [-1]}, "seeds must be a list of whole numbers"),
        ({"limit": 0}, "limit must be from 1"),
        ({"limit": True}, "limit must be a whole number, got a bool"),
        ({"length": 5}, "length"),
        ({"temprature": 1}, "temperature"),
        ({"data": "nowhere.txt"}, "nowhere.txt"),
        ({"judge": "stories15m"}, "judge"),
    ],
)
def test_bad_input_is_named(options: dict[str, Any], part: str, tmp_path: Path) -> None:
    with pytest.raises(punt.InputError) as caught:
        measure(out=tmp_path / "out", **options)
    assert part in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_tasks_and_models_that_are_not_there() -> None:
    with pytest.raises(punt.InputError, match="unknown task 'sudoko'"):
        punt.bench("sudoko")
    with pytest.raises(punt.InputError, match="sudoko"):
        punt.bench("sudoko", MODEL)
    with pytest.raises(punt.InputError, match="needs a model of"):
        punt.bench("gsm8k")
    with pytest.raises(punt.InputError, match="the model was opened with its own"):
        punt.bench(TASK, punt.load(MODEL), planners=["random"], threads=2)
    names = {row["name"] for row in punt.tasks()}
    assert {"sudoku", "stories", "gsm8k"} <= names


def test_the_folder_of_another_process_is_left_alone(tmp_path: Path) -> None:
    def tell(done: int, items: int) -> None:
        if done == 1:
            with pytest.raises(punt.Error, match="at work|another"):
                measure(out=tmp_path)

    measure(out=tmp_path, progress=tell)
