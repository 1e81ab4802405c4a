"""Masked language models of transformers, small and random: rows, heads, attention maps."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import torch
import punt
import punt.torch
from punt.denoiser import LayerRange, Query, SessionOptions

VOCAB, MASK = 60, 59
SIZES = {"vocab_size": VOCAB, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 48,
         "max_position_embeddings": 40, "pad_token_id": 0, "initializer_range": 0.3}
KINDS = {
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig(**SIZES)),
    "roberta": lambda: transformers.RobertaForMaskedLM(transformers.RobertaConfig(**{**SIZES, "pad_token_id": 1})),
    "modernbert": lambda: transformers.ModernBertForMaskedLM(
        transformers.ModernBertConfig(**SIZES, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)),
    "distilbert": lambda: transformers.DistilBertForMaskedLM(transformers.DistilBertConfig(
        vocab_size=VOCAB, dim=32, n_layers=3, n_heads=2, hidden_dim=48, max_position_embeddings=40, initializer_range=0.3)),
    "esm2": lambda: transformers.EsmForMaskedLM(transformers.EsmConfig(
        **SIZES, mask_token_id=MASK, position_embedding_type="rotary", token_dropout=True)),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def module(kind):
    torch.manual_seed(1)
    return KINDS[kind]()


def canvas_of(length):
    canvas = np.random.default_rng(0).integers(4, 20, length).astype(np.int32)
    canvas[3::2] = MASK
    return canvas


def test_rows(kind, module):
    denoiser = punt.torch.Denoiser(module, mask_token=MASK)
    assert denoiser.architecture.name == kind
    assert denoiser.makes_asked_rows_only
    assert denoiser.max_length == (38 if kind == "roberta" else 40)
    canvas = canvas_of(denoiser.max_length)
    found = punt.load(denoiser).log_probs(canvas)
    with torch.no_grad():
        logits = module(torch.tensor(canvas[None].astype(np.int64))).logits[0]
    logits[:, [MASK, *denoiser.never]] = -torch.inf
    np.testing.assert_allclose(found, logits.log_softmax(-1).numpy(), atol=2e-5)


def test_attention(kind, module):
    """Averaged over heads and the layers of a range, with an attention that has maps and without."""
    denoiser = punt.torch.Denoiser(module, mask_token=MASK)
    canvas = canvas_of(20)
    with torch.inference_mode():
        module.set_attn_implementation("eager")
        maps = module(torch.tensor(canvas[None].astype(np.int64)), output_attentions=True).attentions
    ranges = {LayerRange(): slice(0, 3), LayerRange(0.7, 1): slice(2, 3), LayerRange(1, 1): slice(2, 3),
              LayerRange(0, 1 / 3): slice(0, 1)}
    for implementation in ("eager", "sdpa"):
        module.set_attn_implementation(implementation)
        session = denoiser.new_session(SessionOptions())
        handle, = session.forward([Query(canvas, np.arange(20, dtype=np.int32), attention=tuple(ranges))])
        for layers, own in ranges.items():
            expected = torch.stack([each[0] for each in maps[own]]).mean((0, 1)).numpy()
            np.testing.assert_allclose(session.attention(handle, layers), expected, atol=1e-6)
        assert module.config._attn_implementation == implementation  # as it was


def test_planners_that_look_at_attention(module):
    m = punt.load(punt.torch.Denoiser(module, mask_token=MASK))
    for planner in ("dapd", "dawn", "clad", "adas"):
        assert m.fill(canvas_of(20), planner=planner, temperature=0.5).stop_reason == "full"


def test_caches_change_nothing(module):
    m = punt.load(punt.torch.Denoiser(module, mask_token=MASK))
    plain = m.fill(canvas_of(20), planner="scout", temperature=0.5, window=5)
    for cache in ("step", "dual", "prefix"):
        assert m.fill(canvas_of(20), planner="scout", temperature=0.5, window=5, cache=cache).tokens.tolist() == \
            plain.tokens.tolist()
