#!/usr/bin/env python3
"""What an answer costs on machines that were not at hand: the tables of docs/scale.md.

    bench/cost_model.py [--runs FOLDER]      # writes the tables to standard output, as Markdown

Passes, dependent calls and computed rows of each planner are read from bench.json files of `punt bench` (or are the
ones below, which came from such files); models are shapes, machines are their makers' figures. Nothing here was run
on the machines.

Time of one call, in which `rows` canvas rows of one or several passes are computed together:

    max(products / (rate x share), weights touched / (bandwidth x share)) + reductions between cards + launch

Weights are read once per call, whatever the rows. Of a mixture, a call touches the experts that its rows choose.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from dataclasses import dataclass

SHARE = 0.5  # of the makers' figures that whole passes reach


@dataclass(frozen=True)
class Model:
    name: str
    layers: int
    width: int
    kv_width: int
    active: float  # parameters that a row is multiplied with
    shared: float  # parameters that every call touches
    experts: int = 0  # per layer; 0: dense
    chosen: int = 0
    expert_params: float = 0  # of one expert in all layers
    bytes_per_weight: float = 2.0

    def touched_bytes(self, rows: float) -> float:
        """Weights that a call reads, if rows choose experts independently of each other."""
        if not self.experts:
            return self.shared * self.bytes_per_weight
        used = self.experts * (1 - (1 - self.chosen / self.experts) ** rows)
        return (self.shared + used * self.expert_params) * self.bytes_per_weight

    @property
    def total(self) -> float:
        return self.shared + self.experts * self.expert_params

    def operations(self, rows: float, canvas: float) -> float:
        """Two per product; attention looks at the whole canvas."""
        return rows * (2 * self.active + 4 * self.layers * self.width * canvas)


@dataclass(frozen=True)
class Machine:
    name: str
    cards: int
    rate: float  # dense 16-bit operations a second, all cards
    bandwidth: float  # of memory, all cards
    memory: float
    link: float  # bytes a second that a card sends to the others
    launch: float  # seconds of a call that are not arithmetic: launches, sampling, the planner

    def seconds(self, model: Model, rows: float, canvas: float) -> float:
        compute = model.operations(rows, canvas) / (self.rate * SHARE)
        memory = model.touched_bytes(rows) / (self.bandwidth * SHARE)
        # Two all-reduces of the rows' states in each layer, 2 (n - 1) / n of them sent by each card.
        reduced = 2 * model.layers * rows * model.width * 2 * 2 * (self.cards - 1) / self.cards
        between = reduced / (self.link * SHARE) if self.cards > 1 else 0
        # A reduction also waits for the slowest card.
        between += 2 * model.layers * 10e-6 if self.cards > 1 else 0
        return max(compute, memory) + between + self.launch

    def holds(self, model: Model) -> bool:
        return model.total * model.bytes_per_weight <= 0.9 * self.memory


# Shapes: published configurations. Rates, bandwidth, memory, links: the makers' data sheets, without sparsity.
MODELS = [
    Model("8B dense (LLaDA-8B), bf16", 32, 4096, 4096, 8.0e9, 8.0e9),
    Model("100B-A6B mixture (LLaDA2.0-flash), bf16", 32, 4096, 1024, 6.1e9, 3.0e9, 256, 8, 97e9 / 256),
]
MACHINES = [
    Machine("one consumer card (RTX 4090: 165 TFLOP/s, 1.0 TB/s, 24 GB)", 1, 165e12, 1.01e12, 24e9, 0, 1.5e-3),
    Machine("one GPU (H100 SXM: 989 TFLOP/s, 3.35 TB/s, 80 GB)", 1, 989e12, 3.35e12, 80e9, 0, 1.5e-3),
    Machine("eight GPUs (8 x H100, NVLink 450 GB/s each way)", 8, 8 * 989e12, 8 * 3.35e12, 640e9, 450e9, 1.5e-3),
    Machine("a rack (GB200 NVL72: 180 PFLOP/s, 576 TB/s, 13.4 TB)", 72, 180e15, 576e12, 13.4e12, 900e9, 1.5e-3),
]


@dataclass(frozen=True)
class Run:
    """Of one planner on one task, means over items."""

    planner: str
    passes: float
    calls: float
    steps: float
    rows: float  # computed rows, all passes


# From `bench/planners --only records,stories`: canvases of 196 and 256 positions, scores and options as there; the
# parallel form from 6 documents and 3 stories of the same commands.
RECORDED = {
    "records of 16 entries": [
        Run("one by one", 162.667, 162.667, 162.667, 31322.0),
        Run("threshold 0.9", 64.792, 64.792, 64.792, 12751.1),
        Run("entropy-bound 0.1", 61.042, 61.042, 61.042, 12204.8),
        Run("punt 0.02", 22.292, 22.292, 3.458, 4384.8),
        Run("punt 0.02, parallel form", 54.2, 19.7, 11.0, 7672.0),
        Run("scout", 13.292, 13.292, 4.375, 2582.0),
    ],
    "stories of 255 tokens": [
        Run("one by one", 255.0, 255.0, 255.0, 65280.0),
        Run("threshold 0.9", 97.333, 97.333, 97.333, 24916.7),
        Run("entropy-bound 0.1", 81.25, 81.25, 81.25, 20800.0),
        Run("punt 0.32", 67.667, 67.667, 10.583, 17322.7),
        Run("punt 0.32, parallel form", 251.0, 184.3, 173.3, 64256.0),
        Run("distilled 0.0025", 33.25, 33.25, 33.25, 8512.0),
        Run("scout", 123.667, 123.667, 110.583, 31658.7),
    ],
}
NAMES = {
    "top-k:k=1": "one by one",
    "threshold:tau=0.9": "threshold 0.9",
    "entropy-bound:gamma=0.1": "entropy-bound 0.1",
    "punt:epsilon=0.02": "punt 0.02",
    "punt:epsilon=0.32": "punt 0.32",
    "distilled:epsilon=0.0025": "distilled 0.0025",
    "scout": "scout",
}
FOLDERS = {"records of 16 entries": "records-16", "stories of 255 tokens": "stories-tempered"}


def read_runs(folder: pathlib.Path) -> dict[str, list[Run]]:
    runs: dict[str, list[Run]] = {}
    for task, name in FOLDERS.items():
        wanted = [run.planner for run in RECORDED[task]]
        rows = json.loads((folder / name / "bench.json").read_text())
        for row in rows:
            planner = NAMES.get(row["planner"])
            if planner in wanted:
                figures = (row[key] for key in ("nfe_mean", "calls_mean", "steps_mean", "row_passes_mean"))
                runs.setdefault(task, []).append(Run(planner, *figures))
    return runs


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join([" --- "] + [" ---: "] * (len(head) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def seconds_of(model: Model, machine: Machine, run: Run, together: int) -> float:
    """Of `together` answers that share every call."""
    return run.calls * machine.seconds(model, run.rows / run.calls * together, run.rows / run.passes)


def print_tables(model: Model, task: str, runs: list[Run]) -> None:
    machines = [machine for machine in MACHINES if machine.holds(model)]
    names = [machine.name.split(" (")[0] for machine in machines]
    print(f"### {model.name}: {task}\n")
    rows = []
    for run in runs:
        canvas = run.rows / run.passes
        alone = run.calls * model.touched_bytes(run.rows / run.calls)
        figures = (run.passes, run.calls, model.operations(run.rows, canvas) / 1e12, alone / 1e9)
        times = [seconds_of(model, machine, run, 1) for machine in machines]
        rows.append([run.planner] + [f"{each:,.0f}" for each in figures] + [f"{each:.2f}" for each in times])
    print(table(["one answer alone", "passes", "calls", "TFLOP", "GB read"] + [f"s, {name}" for name in names], rows))
    rows = []
    for run in runs:
        a_day = [64 * 86400 / seconds_of(model, machine, run, 64) for machine in machines]
        rows.append([run.planner] + [f"{each:,.0f}" for each in a_day])
    print("\n" + table(["64 answers at a time"] + [f"a day, {name}" for name in names], rows) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=pathlib.Path, help="a folder of bench/planners, with bench.json files")
    folder = parser.parse_args().runs
    for model in MODELS:
        for task, runs in (read_runs(folder) if folder else RECORDED).items():
            print_tables(model, task, runs)


if __name__ == "__main__":
    main()
