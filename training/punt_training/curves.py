"""Validation curves of runs as a picture: the bound against hours, a line per run, panels of their own where scales differ."""

import json
import pathlib

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt

from . import loop


def read(folder: pathlib.Path) -> tuple[list[float], list[float]]:
    path = folder / "log.jsonl"
    if not path.is_file():
        loop.fail(f"{path}: no such file")
    notes = [json.loads(line) for line in path.read_text().splitlines()]
    notes = [note for note in notes if "bound" in note]
    if not notes:
        loop.fail(f"{path}: there is no validation yet")
    return [note["seconds"] / 3600 for note in notes], [note["bound"] for note in notes]


def draw(panels: list[list[str]], out: pathlib.Path):
    """Each panel is a list of NAME=FOLDER."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 3.4), squeeze=False)
    for axis, runs in zip(axes[0], panels):
        for run in runs:
            name, given, folder = run.partition("=")
            if not given:
                loop.fail(f"'{run}': expected NAME=FOLDER")
            axis.plot(*read(pathlib.Path(folder)), marker="o", markersize=3, label=name)
        axis.set_xlabel("hours")
        axis.grid(alpha=0.3)
        axis.legend()
    axes[0][0].set_ylabel("validation bound, nats per token")
    figure.tight_layout()
    temporary = out.with_suffix(".tmp")
    figure.savefig(temporary, format="svg", metadata={"Date": None})
    temporary.replace(out)
