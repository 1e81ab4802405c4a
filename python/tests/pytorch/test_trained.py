"""A trained model, whose rows are as peaked as real ones are: the bundled stories, read from the file by PyTorch."""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("gguf", reason="gguf, which reads the bundled model for PyTorch, is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import torch
import punt
import punt.torch
import tiny_models

STORIES = Path(os.environ.get("PUNT_MODELS_DIR", tiny_models.GOLDEN.parents[1] / "models")) / "stories.gguf"


class Pair:
    def __init__(self):
        self.engine = punt.load(STORIES, threads=1, compute="float")  # nothing is rounded to 16 bits on the way
        module = tiny_models.StoriesModel(str(STORIES))
        self.ours = punt.load(punt.torch.Denoiser(module, shift=True, eos_tokens=self.engine.eos_tokens), threads=1)
        prompt = self.engine.tokenize("Once upon a time there was")
        self.canvas = np.concatenate((prompt, np.full(32, self.engine.mask_token)))


@pytest.fixture(scope="module")
def pair():
    if not STORIES.exists():
        pytest.skip(f"{STORIES} is missing")
    return Pair()


def test_logits(pair):
    ours, theirs = pair.ours.log_probs(pair.canvas), pair.engine.log_probs(pair.canvas)
    possible = np.isfinite(theirs)
    assert np.array_equal(np.isfinite(ours), possible)
    np.testing.assert_allclose(ours[possible], theirs[possible], atol=1e-4)


def planners():
    return [row["name"] for row in punt.planners() if row["name"] not in ("distilled", "wino", "dawn", "dapd", "clad", "adas")]


@pytest.mark.parametrize("planner", planners())
def test_every_planner(pair, planner):
    """Logits agree to 3e-5; none of these runs has a decision as close as that."""
    for options in ({"temperature": 0}, {"temperature": 0.7, "seed": 3}):
        ours, theirs = (m.fill(pair.canvas, planner=planner, max_nfe=60, **options) for m in (pair.ours, pair.engine))
        assert ours.tokens.tolist() == theirs.tokens.tolist(), options
        assert ours.commit_steps.tolist() == theirs.commit_steps.tolist(), options
        assert ours.counters == theirs.counters
