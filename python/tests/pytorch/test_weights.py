"""Published weights, BERT-base and AntiBERTy: transformers' module and the engine commit the same tokens in the same steps.

    scripts/fetch-models --keep bert-base-uncased antiberty      # 500 MB; or PUNT_MODELS=FOLDER that has both folders
"""

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import torch
import punt
import punt.torch

pytestmark = pytest.mark.slow

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
FOLDER = Path(os.environ.get("PUNT_MODELS", CACHE / "punt/models"))
TEXTS = {
    "bert-base-uncased": "the capital of france is [MASK:2]. the [MASK:6] on the table, and [MASK:4] of them.",
    "antiberty": "EVQLVESGGGLVQ[MASK:6]RLSCAASGFTFSSYAM[MASK:8]GLEWVSA",
}


class Pair:
    def __init__(self, name):
        folder = FOLDER / name
        if not (folder / "config.json").exists():
            pytest.skip(f"{folder} is missing: scripts/fetch-models --keep {name}")
        self.engine = punt.load(folder, threads=1)
        module = transformers.BertForMaskedLM.from_pretrained(folder, dtype=torch.float32)
        self.ours = punt.load(punt.torch.Denoiser(module, mask_token=self.engine.mask_token, eos_tokens=self.engine.eos_tokens))
        # A canvas that both are given as it is: the engine's tokens of the text.
        run = self.engine.infill(TEXTS[name], max_steps=1, planner="left-to-right", temperature=0)
        self.canvas = np.array(run.trace[0]["canvas"], np.int32)
        assert 12 <= (self.canvas == self.engine.mask_token).sum() <= 14


@pytest.fixture(scope="module", params=TEXTS)
def pair(request):
    torch.set_num_threads(1)
    return Pair(request.param)


def test_logits(pair):
    ours, theirs = pair.ours.log_probs(pair.canvas), pair.engine.log_probs(pair.canvas)
    assert np.array_equal(np.isfinite(ours), np.isfinite(theirs))
    np.testing.assert_allclose(ours, theirs, atol=2e-3)
    assert np.abs(ours - theirs)[np.isfinite(ours)].mean() < 1e-4


@pytest.mark.parametrize("planner", [row["name"] for row in punt.planners() if row["name"] != "distilled"])
def test_every_planner(pair, planner):
    for options in ({"temperature": 0}, {"temperature": 1, "seed": 3}):
        theirs = pair.engine.fill(pair.canvas, planner=planner, max_steps=20, **options)
        ours = pair.ours.fill(pair.canvas, planner=planner, max_steps=20, **options)
        assert ours.tokens.tolist() == theirs.tokens.tolist()
        assert ours.commit_steps.tolist() == theirs.commit_steps.tolist()
        assert ours.counters == theirs.counters
