import importlib.util
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import punt

from test_denoiser import Words


class Spans(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.titles: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_run_shows_its_canvas(toy: punt.Model) -> None:
    run = toy("abc", planner="top-k:k=3", seed=1)
    page = Spans(run._repr_html_())
    assert page.text.startswith(f"abc{run}") and "7 steps, 7 forward passes" in page.text
    assert page.titles == [f"step {step + 1}" for step in run.commit_steps[3:]]
    cut = Spans(toy("abc", planner="top-k:k=3", max_steps=2)._repr_html_())
    assert cut.titles.count("masked") == 15 and cut.text.count("\u2591") == 15


def test_texts_are_escaped() -> None:
    class Markup(Words):
        def decode(self, tokens: Any) -> str:
            return "".join("<script>alert('&')</script>\n" for _ in tokens)

    model = punt.load(punt.NumpyDenoiser(lambda canvas: np.zeros((len(canvas), 5)), 5, 4, 8), tokenizer=Markup())
    text = model(seed=1)._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text and "\u21b5<br>" in text
    assert "http" not in text and "src=" not in text
    assert set(Spans(text).tags) == {"div", "span", "br"}


class Axes:
    def __init__(self) -> None:
        self.points: list[tuple[int, int]] = []

    def scatter(self, x: Any, y: Any, **_: object) -> None:
        self.points = list(zip(x.tolist(), y.tolist()))

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


def test_a_plot_has_a_point_for_each_position(toy: punt.Model) -> None:
    run = toy("abc", planner="top-k:k=3", seed=1)
    axes = Axes()
    assert run.plot(axes) is axes
    assert axes.points == [(position, run.commit_steps[position] + 1) for position in range(3, 24)]
    if importlib.util.find_spec("matplotlib") is None:
        with pytest.raises(ImportError, match="pip install matplotlib"):
            run.plot()
