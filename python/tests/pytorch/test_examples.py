"""The example runs as it is shown."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "torch_model.py"


def run(*arguments):
    done = subprocess.run([sys.executable, str(EXAMPLE), *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_random_model():
    told = run("--length", "8")
    assert "architecture  bert" in told
    assert all(f"\n{planner}: " in told for planner in ("scout", "punt", "threshold", "top-k"))


def test_a_folder():
    folder = EXAMPLE.parents[2] / "tests" / "golden" / "bert"
    assert "top-k: 6 steps, 6 passes" in run(str(folder), "a b", "--length", "6")
