"""The same decisions as the engine's, on the same weights: tiny checkpoints that both can open."""

import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import torch
import punt
import punt.torch
import tiny_models

MODELS = ("llada", "dream", "bert", "distilbert", "esm2")
# Of whose code transformers has the layers: tiny_models.stand_in.
MORE = {"a2d_qwen3": "a2d", "a2d_qwen2": "a2d", "a2d_llama": "a2d", "sdar": "sdar", "sdar_moe": "sdar", "rnd1": "rnd1",
        "fast_dllm_v2": "fast_dllm_v2", "stable_diffcoder": "stable_diffcoder", "roberta": "roberta", "albert": "albert",
        "modern_bert": "modernbert", "esmc": "esmc"}
# Float32 in another order: logits differ by some 1e-5. Where two of them, or two confidences, are that close, a choice may
# turn; none of the seeds below meets such a case, and the two runs are compared token by token and step by step.
LOGITS = 5e-5


class Pair:
    """A folder opened by the engine and by PyTorch."""

    def __init__(self, name):
        self.name = name
        self.engine = punt.load(tiny_models.GOLDEN / name, threads=1)
        self.module = tiny_models.open_model(name)
        tokenizer = tiny_models.open_tokenizer(name)
        # The tiny vocabulary has gaps, which transformers closes: its tokens have other numbers there.
        ends = self.engine.eos_tokens if name == "llada" or tokenizer is None else None
        maps = True if name.startswith("a2d") else None  # which the layers of transformers return
        self.denoiser = punt.torch.Denoiser(self.module, tokenizer, eos_tokens=ends, attention=maps)
        assert self.denoiser.architecture.name == MORE.get(name, name)
        self.ours = punt.load(self.denoiser)
        cases = json.loads((tiny_models.GOLDEN / name / "inputs.json").read_text())["cases"]
        self.canvas = np.array(cases[1]["input_ids"], np.int32)  # half masked

    def empty(self, length):
        canvas = np.full(length, self.engine.mask_token, np.int32)
        canvas[:3] = self.canvas[np.flatnonzero(self.canvas != self.engine.mask_token)[:3]]
        return canvas


@pytest.fixture(scope="module", params=(*MODELS, *MORE))
def pair(request):
    return Pair(request.param)


SEEDS = {("fast_dllm_v2", "p2"): 4}  # 3 draws, in step 15, of two tokens that are 7e-7 apart


def check_same(pair, canvas, **options):
    theirs = pair.engine.fill(canvas, **{"cache": "none", **options})  # of blocks it has an exact one, which saves rows
    ours = pair.ours.fill(canvas, **options)
    assert ours.tokens.tolist() == theirs.tokens.tolist()
    assert ours.commit_steps.tolist() == theirs.commit_steps.tolist()
    assert ours.counters == theirs.counters
    assert ours.stop_reason == theirs.stop_reason


def needs(planner):
    """What a model lacks that a planner needs, from the engine's own words; empty when it can run."""
    return {"distilled": "influence head", "wino": "shadow rows"}.get(planner, "")


def test_facts(pair):
    assert pair.ours.vocab_size == pair.engine.vocab_size
    assert pair.ours.mask_token == pair.engine.mask_token
    assert sorted(pair.ours.eos_tokens) == sorted(pair.engine.eos_tokens)
    assert pair.ours.max_length == pair.engine.max_length
    assert pair.denoiser.makes_asked_rows_only


def test_logits(pair):
    ours, theirs = pair.ours.log_probs(pair.canvas), pair.engine.log_probs(pair.canvas)
    assert np.array_equal(np.isfinite(ours), np.isfinite(theirs))
    np.testing.assert_allclose(ours, theirs, atol=LOGITS)


def planners():
    names = [row["name"] for row in punt.planners()]
    return [name for name in names if not needs(name)]


@pytest.mark.parametrize("planner", planners())
def test_every_planner(pair, planner):
    if planner in ("dawn", "dapd", "clad", "adas") and not pair.denoiser.has_attention_maps:
        with pytest.raises(punt.InputError, match="attention maps"):
            pair.ours.fill(pair.canvas, planner=planner)
        return
    for temperature, seed in ((0.0, 0), (1.0, SEEDS.get((pair.name, planner), 3))):
        check_same(pair, pair.canvas, planner=planner, temperature=temperature, seed=seed, max_steps=60)


@pytest.mark.parametrize("planner", ["distilled", "wino"])
def test_what_a_module_has_not_is_refused_by_name(pair, planner):
    if planner == "wino" and pair.denoiser.has_shadow_rows:
        return  # test_shadows.py
    with pytest.raises(punt.InputError, match=needs(planner)):
        pair.ours.fill(pair.canvas, planner=planner)


SAMPLINGS = [
    {"temperature": 0.6, "top_p": 0.9, "seed": 1},
    {"temperature": 0.8, "top_k": 7, "seed": 2},
    {"temperature": 1.3, "min_p": 0.05, "seed": 3},
    {"temperature": 0.7, "convention": "dream", "top_p": 0.8, "seed": 4},
    {"temperature": 1.0, "convention": "dream", "seed": 5},
    {"temperature": 0.5, "score_on": "tempered", "seed": 6},
    {"temperature": 0.9, "score": "neg-entropy", "window": 8, "seed": 7},
    {"temperature": 1.0, "eos": "forbid", "seed": 8},
    {"temperature": 0.4, "eos": "deprioritise", "score": "token-prob", "seed": 9},
    {"temperature": 0.7, "guidance": 0.5, "seed": 10},
]


@pytest.mark.parametrize("sampling", SAMPLINGS, ids=lambda each: ",".join(each))
@pytest.mark.parametrize("planner", ["scout", "punt", "top-k:k=2"])
def test_every_way_of_sampling(pair, planner, sampling):
    if "guidance" in sampling and pair.denoiser.has_token_dropout:
        # Without the prompt all is masked, for which transformers divides by zero.
        with pytest.raises(punt.InputError, match="no distribution"):
            pair.ours.fill(pair.empty(24), planner=planner, **sampling)
        return
    check_same(pair, pair.empty(24), planner=planner, **sampling)


def test_batches_give_the_texts_of_single_runs(pair):
    canvases = [pair.empty(20), pair.canvas, pair.canvas[:20].copy(), pair.empty(31)]
    for planner in ("scout", "dapd") if pair.denoiser.has_attention_maps else ("scout",):
        together = pair.ours.fill_batch(canvases, planner=planner, temperature=0.8, seed=5)
        for sample, (canvas, run) in enumerate(zip(canvases, together)):
            alone = pair.ours.fill(canvas, planner=planner, temperature=0.8, seed=5, sample=sample)
            assert run.tokens.tolist() == alone.tokens.tolist()
            assert run.commit_steps.tolist() == alone.commit_steps.tolist()
            assert run.nfe == alone.nfe


def test_whole_tables_give_the_same(pair):
    """Without the hook that runs the head for the asked rows alone."""
    whole = punt.load(punt.torch.Denoiser(pair.module, tiny_models.open_tokenizer(pair.name), asked_rows_only=False))
    for temperature in (0.0, 0.9):
        options = {"planner": "punt", "temperature": temperature, "seed": 4}
        assert whole.fill(pair.canvas, **options).tokens.tolist() == pair.ours.fill(pair.canvas, **options).tokens.tolist()


def test_guidance_takes_two_passes(pair):
    if pair.denoiser.has_token_dropout:
        return
    run = pair.ours.fill(pair.empty(12), planner="top-k:k=3", guidance=1.0)
    assert run.counters["base_passes"] == 2 * run.steps
    assert run.counters["row_passes"] == 2 * 12 * run.steps
