"""Planners measured on a task: `punt.bench`, which is `punt bench`, for any model that Python has.

    table = punt.bench("sudoku", planners=["scout", "top-k:k=2"], limit=20, out="runs/sudoku")
    table                    # a table, in a notebook too
    table.to_pandas()        # or table.columns, without pandas

The runs, their records and their files are those of the command (docs/sweeps.md): with `out`, every item is kept as soon as
it is finished, the same call goes on where an earlier one stopped (Ctrl-C, a crash), and `punt bench` can go on as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from html import escape
from os import PathLike, fspath
from typing import Any, overload

from punt import _core
from punt.denoiser import Denoiser
from punt.errors import InputError
from punt.model import Model, load, plain_sampling


def bench(
    task: str,
    model: str | PathLike[str] | Denoiser | Model | None = None,
    *,
    planners: str | Sequence[str] | None = None,
    preset: str | None = None,
    temperatures: Sequence[float] | None = None,
    seeds: Sequence[int] | None = None,
    limit: int | None = None,
    length: int | None = None,
    data: str | PathLike[str] | None = None,
    shots: str | PathLike[str] | None = None,
    judge: str | PathLike[str] | None = None,
    reference: str | PathLike[str] | None = None,
    out: str | PathLike[str] | None = None,
    threads: int = 0,
    progress: Callable[[int, int], object] | None = None,
    **sampling: Any,
) -> Bench:
    """Measures planners x temperatures x seeds on the items of a task of `punt.tasks()`.

    `model` is anything that `punt.load` opens, or a model; without one, the bundled model of the task. `planners` are
    named, those of the engine and those of `punt.register_planner` alike; "a; b" is a list as well. `preset` names a list
    and decides how to sample where nothing else does; without either, it is "baselines". Several `seeds` are pooled into
    one row. `out` is the folder. `progress` is told the number of finished items and that of all. Other keywords are those
    of `punt.sampling_options()`; without a temperature, it is the task's own, or 1.

    A model in Python is identified by its name alone: give another model another name, or another folder.
    """
    if planners is not None and preset is not None:
        raise InputError("planners and preset exclude each other")
    keywords = plain_sampling(sampling)
    if temperatures is not None and "temperature" in keywords:
        raise InputError("temperature and temperatures exclude each other")
    if seeds is not None and "seed" in keywords:
        raise InputError("seed and seeds exclude each other")
    if "planner" in keywords:
        raise InputError("planner: a bench has planners, a list")
    if isinstance(planners, str):
        planners = [each.strip() for each in planners.split(";") if each.strip()]
    paths = {"data": data, "shots": shots, "judge": judge, "reference": reference, "out": out}
    ask: dict[str, Any] = {
        "task": task,
        "planners": planners,
        "preset": preset,
        "temperatures": temperatures,
        "seeds": seeds,
        "limit": limit,
        "length": length,
        **{name: None if path is None else fspath(path) for name, path in paths.items()},
    }
    asked = {name: value for name, value in ask.items() if value is not None}
    if not isinstance(model, Model):
        model = load(_bundled(task) if model is None else model, threads=threads)
    elif threads:
        raise InputError("threads: the model was opened with its own; say threads= there")
    rows, markdown = _core.bench(model._engine, asked, keywords, progress)
    row = _task(task)
    return Bench(json.loads(rows), markdown, quality=str(row["quality"]) if row else "")


def tasks() -> list[dict[str, Any]]:
    """What can be measured: name, summary, params, data (where it comes from), quality, model."""
    return _core.tasks()


def _task(spec: str) -> dict[str, Any] | None:
    name = str(spec).split(":", 1)[0]
    return next((row for row in _core.tasks() if row["name"] == name), None)


def _bundled(task: str) -> str:
    row = _task(task)
    if row is None:
        raise InputError(f"unknown task '{task}'; valid: {', '.join(each['name'] for each in _core.tasks())}")
    if not row["model"]:
        raise InputError(f"task {row['name']} needs a model of {row['model_kind']}: give one")
    return str(row["model"])


class Bench(Sequence[dict[str, Any]]):
    """Rows of a table, a planner at a temperature each, as `bench.json` has them: figures by name, intervals NAME_ci95."""

    def __init__(self, rows: list[dict[str, Any]], markdown: str, quality: str = "") -> None:
        self.rows = rows
        self.markdown = markdown  # the tables as bench.md has them
        self.quality = quality  # the name of the task's figure

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The numbers and names of all rows by column; of an interval its ends, NAME_low and NAME_high."""
        flat = [dict(_flat(row)) for row in self.rows]
        names = dict.fromkeys(name for row in flat for name in row)
        return {name: [row.get(name) for row in flat] for name in names}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the columns."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas; columns does without") from error
        return pandas.DataFrame(self.columns)

    def _table(self) -> list[list[str]]:
        """What a reader wants first, heads included."""
        told = {"planner": "planner", "temperature": "T", "items": "items", "nfe_mean": "NFE", "steps_mean": "steps",
                "seconds_mean": "seconds", "tokens_per_forward": "TPF", self.quality: self.quality}  # fmt: skip
        names = [name for name in told if any(name in row for row in self.rows)]
        return [[told[name] for name in names], *([_cell(row, name) for name in names] for row in self.rows)]

    def __repr__(self) -> str:
        if not self.rows:
            return "<punt.Bench: no rows>"
        table = self._table()
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        title = f"{self.rows[0]['task']}, {self.rows[0]['model']}"
        lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table)
        return "\n".join((title, *lines))

    def _repr_html_(self) -> str:
        """For notebooks."""
        if not self.rows:
            return escape(repr(self))
        head, *body = self._table()
        title = escape(f"{self.rows[0]['task']}, {self.rows[0]['model']}; intervals of 95 %, items as units")
        heads = "".join(f"<th>{escape(name)}</th>" for name in head)
        rows = ("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        return f"<table><caption>{title}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.rows[index]


def _flat(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if name.endswith("ci95"):
            stem = name.removesuffix("ci95")
            yield f"{stem}low", None if value is None else value[0]
            yield f"{stem}high", None if value is None else value[1]
        elif not isinstance(value, (dict, list)):
            yield name, value


def _cell(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, float):
        return "-" if value is None else str(value)
    interval = row.get(f"{name}_ci95")
    ends = f" [{interval[0]:.3g}, {interval[1]:.3g}]" if interval else ""
    return f"{value:.3g}{ends}"
