"""The notebooks of python/examples run from top to bottom, and are stored without what they show."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import SOURCE

NOTEBOOKS = sorted((SOURCE / "python/examples").glob("*.ipynb"))


def outputs(book: Any) -> str:
    """Everything that its cells show, as text and as HTML."""
    shown = [each for cell in book["cells"] for each in cell.get("outputs", [])]
    return "\n".join(each.get("text", "") + "".join(each.get("data", {}).values()) for each in shown)


def run(path: Path, folder: Path) -> str:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return outputs(book)


def test_there_are_some() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["planner", "story", "torch_model"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_are_small_and_hold_no_outputs(path: Path) -> None:
    assert path.stat().st_size < 8000
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
        assert "id" in cell and all(len(line.rstrip("\n")) <= 130 for line in cell["source"])


def test_a_story(tmp_path: Path) -> None:
    shown = run(SOURCE / "python/examples/story.ipynb", tmp_path)
    assert "passes instead of 48" in shown and 'title="step 1"' in shown and "step 1 <span" in shown


def test_a_planner(tmp_path: Path) -> None:
    shown = run(SOURCE / "python/examples/planner.ipynb", tmp_path)
    assert "<td>sure:tau=0.5</td>" in shown and "'top-k:k=4': " in shown


def test_a_torch_model(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    shown = run(SOURCE / "python/examples/torch_model.ipynb", tmp_path)
    assert "'architecture': 'bert'" in shown and "left-to-right   21 steps   21 passes" in shown
