"""Keys and values that are kept: exact for block-causal models, the engine's own approximation for others."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import torch
import punt
import punt.torch
import tiny_models
from punt.torch import states

VOCAB, MASK, BLOCK = 60, 59, 4


class SDARForCausalLM(transformers.Qwen3ForCausalLM):
    """Qwen3's layers with SDAR's name, mask and flag: without store_kv, it reads what it is given and keeps nothing."""

    rows = calls = 0

    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None,
                store_kv=False):
        self.rows += input_ids.numel()
        self.calls += 1
        if past_key_values is not None and not store_kv:
            past_key_values = states.new_cache(states.layers_of(past_key_values))
        return super().forward(input_ids, attention_mask=attention_mask, position_ids=position_ids,
                               past_key_values=past_key_values, use_cache=use_cache)


class LLaDA2MoeModelLM(transformers.Qwen3ForCausalLM):
    rows = calls = 0

    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None):
        self.rows += input_ids.numel()
        self.calls += 1
        return super().forward(input_ids, attention_mask=attention_mask, position_ids=position_ids,
                               past_key_values=past_key_values, use_cache=use_cache)


# Shifted, and makes its mask from an argument.
Fast = tiny_models.stand_in("fast_dllm_v2", LLaDA2MoeModelLM)


@pytest.fixture(scope="module", params=[SDARForCausalLM, LLaDA2MoeModelLM, Fast], ids=lambda cls: cls.__name__)
def module(request):
    torch.manual_seed(3)
    config = transformers.Qwen3Config(vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=3,
                                      num_attention_heads=4, num_key_value_heads=2, head_dim=8, initializer_range=0.3,
                                      max_position_embeddings=64)
    return request.param(config).double()


def open_model(module, **options):
    return punt.load(punt.torch.Denoiser(module, mask_token=MASK, block=BLOCK, **options))


def canvas_of(given, length, seed=0):
    canvas = np.random.default_rng(seed).integers(0, MASK, length).astype(np.int32)
    canvas[given:] = MASK
    return canvas


def check_same(ours, theirs):
    assert ours.tokens.tolist() == theirs.tokens.tolist()
    assert ours.commit_steps.tolist() == theirs.commit_steps.tolist()
    assert ours.nfe == theirs.nfe and ours.counters["test_passes"] == theirs.counters["test_passes"]
    assert ours.nfe < 2 or ours.counters["row_passes"] < theirs.counters["row_passes"]


def planners():
    return [row["name"] for row in punt.planners()
            if row["name"] not in ("distilled", "wino", "dawn", "dapd", "clad", "adas")]


@pytest.mark.parametrize("planner", planners())
def test_full_blocks_are_computed_once(module, planner):
    """Every planner decides the same, in as many passes, at temperature 0 and sampled; rows are saved."""
    plain, cached = open_model(module), open_model(module, prefix_cache=True)
    for options in ({"temperature": 0}, {"temperature": 1, "seed": 2, "window": BLOCK}):
        options = {**options, "planner": planner, "max_steps": 60}
        theirs = plain.fill(canvas_of(13, 40), **options)
        module.rows = 0
        ours = cached.fill(canvas_of(13, 40), **options)
        check_same(ours, theirs)
        assert ours.counters["row_passes"] == module.rows


def test_prefixes_of_a_batch_are_its_own(module):
    plain, cached = open_model(module), open_model(module, prefix_cache=True)
    canvases = [canvas_of(9, 24, 1), canvas_of(13, 24, 2), canvas_of(9, 24, 1), canvas_of(2, 30, 3)]
    options = {"planner": "scout", "temperature": 0.9, "seed": 4, "window": BLOCK}
    for ours, theirs in zip(cached.fill_batch(canvases, **options), plain.fill_batch(canvases, **options)):
        assert ours.tokens.tolist() == theirs.tokens.tolist() and ours.nfe == theirs.nfe


def test_guidance_has_two_prefixes(module):
    plain, cached = open_model(module), open_model(module, prefix_cache=True)
    options = {"planner": "top-k:k=2", "temperature": 0.8, "guidance": 0.7, "seed": 1, "window": BLOCK}
    check_same(cached.fill(canvas_of(8, 24), **options), plain.fill(canvas_of(8, 24), **options))


@pytest.mark.parametrize("cache", ["step", "settled", "prefix", "dual"])
def test_the_caches_of_the_engine_are_exact_here(module, cache):
    """One token a step: with tests, a pass that was computed in part stands in for no other, which costs passes."""
    m = open_model(module)
    options = {"planner": "top-k:k=1", "temperature": 1, "seed": 5, "window": BLOCK}
    theirs = m.fill(canvas_of(13, 40), **options)
    ours = m.fill(canvas_of(13, 40), cache=cache, **options)
    if cache == "step":  # of which only test passes make use
        assert ours.tokens.tolist() == theirs.tokens.tolist()
    else:
        check_same(ours, theirs)
    planned = {**options, "planner": "punt:fallback=false"}
    assert m.fill(canvas_of(13, 40), cache=cache, **planned).tokens.tolist() == m.fill(canvas_of(13, 40), **planned).tokens.tolist()


@pytest.fixture(scope="module", params=["dream", "a2d_qwen3", "a2d_llama"])
def pair(request):
    """Layers which see both ways."""
    engine = punt.load(tiny_models.GOLDEN / request.param, threads=1)
    module = tiny_models.open_model(request.param)
    if request.param != "dream":  # which counts itself
        module.register_forward_pre_hook(lambda self, given: setattr(self, "rows", self.rows + given[0].numel()))
    return engine, module, punt.load(punt.torch.Denoiser(module, eos_tokens=engine.eos_tokens))


class TestBothWays:
    """What is reused is the approximation that the engine makes, row for row."""

    @pytest.mark.parametrize("planner", ["top-k:k=2", "scout", "punt", "threshold:tau=0.2"])
    @pytest.mark.parametrize("cache", ["prefix", "prefix:refresh=2"])
    def test_prefixes_as_the_engine_has_them(self, pair, planner, cache):
        engine, module, ours = pair
        canvas = np.full(32, engine.mask_token, np.int32)
        canvas[:10] = np.arange(10) + 5
        for sampling in ({"temperature": 0}, {"temperature": 1, "seed": 3}):
            options = {"planner": planner, "cache": cache, "window": 8, "eos": "forbid", **sampling}
            expected = engine.fill(canvas, **options)
            module.rows = 0
            run = ours.fill(canvas, **options)
            assert run.tokens.tolist() == expected.tokens.tolist()
            assert run.commit_steps.tolist() == expected.commit_steps.tolist()
            assert run.nfe == expected.nfe
            assert run.counters["row_passes"] == module.rows < run.nfe * 32
            if planner.startswith("top-k"):  # without tests, of which the engine saves more
                assert run.counters == expected.counters

    def test_it_is_an_approximation(self, pair):
        _, _, ours = pair
        canvas = np.full(32, ours.mask_token, np.int32)
        options = {"planner": "left-to-right", "window": 8, "temperature": 1, "eos": "forbid"}
        runs = [[ours.fill(canvas, seed=seed, cache=cache, **options) for seed in range(4)] for cache in ("none", "prefix")]
        for plain, cached in zip(*runs):
            assert plain.nfe == cached.nfe and plain.counters["row_passes"] > cached.counters["row_passes"]
        assert any(a.tokens.tolist() != b.tokens.tolist() for a, b in zip(*runs))

    def test_exactness_is_not_promised(self, pair):
        with pytest.raises(punt.InputError, match="prefix_cache is exact or nothing, .* is not block-causal"):
            punt.torch.Denoiser(pair[1], prefix_cache=True)


def test_models_without_keys_and_values_compute_everything():
    with pytest.raises(punt.InputError, match="prefix_cache"):
        punt.torch.Denoiser(tiny_models.open_model("llada"), prefix_cache=True)
    m = punt.load(punt.torch.Denoiser(tiny_models.open_model("bert"), tiny_models.open_tokenizer("bert")))
    canvas = np.full(16, m.mask_token, np.int32)
    run = m.fill(canvas, planner="top-k", cache="prefix", window=4)
    assert run.counters["row_passes"] == 16 * run.nfe


def test_a_model_that_keeps_nothing_is_told():
    class Forgets(SDARForCausalLM):
        def forward(self, *arguments, past_key_values=None, **options):
            return super().forward(*arguments, **{**options, "use_cache": False})

    Forgets.forward.__signature__ = __import__("inspect").signature(SDARForCausalLM.forward)
    config = transformers.Qwen3Config(vocab_size=VOCAB, hidden_size=16, intermediate_size=16, num_hidden_layers=1,
                                      num_attention_heads=2, num_key_value_heads=2, head_dim=8)
    with pytest.raises(punt.InputError, match="kept no keys and values"):
        open_model(Forgets(config), prefix_cache=True).fill(canvas_of(8, 16))


def test_stores_find_the_longest_prefix_and_forget():
    def made(*tokens):
        tokens = np.array(tokens, np.int32)
        return states.States(tokens, ((torch.arange(len(tokens)).view(1, 1, -1, 1),) * 2,))

    store = states.PrefixStore(2)
    store.keep([made(1, 2, 3, 4, 5), made(1, 2, 9, 9)], [5, 3])
    assert len(store.find(np.array([1, 2, 3, 4, 5, 6], np.int32), 6).tokens) == 4
    assert len(store.find(np.array([1, 2, 3, 4, 5, 6], np.int32), 3).tokens) == 2
    assert store.find(np.array([2, 1, 3], np.int32), 3) is None
    for first in range(10, 14):
        store.keep([made(first, 0)], [2])
    assert store.find(np.array([1, 2, 3, 4], np.int32), 4) is None  # the oldest
    assert states.common_prefix(np.array([1, 2, 3]), np.array([1, 2, 4])) == 2
