"""What is found out about a model, and how it is called."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch

import punt
import punt.torch
from punt.torch import models, registry
from punt.torch.registry import Architecture

VOCAB, MASK = 40, 39


class Config:
    def __init__(self, **entries):
        self.__dict__.update(entries)


class Module(torch.nn.Module):
    """Sees what the mask lets it see: a row is the mean of the embeddings of visible positions, and its own."""

    def __init__(self, **config):
        super().__init__()
        self.config = Config(**config)
        self.embedding = torch.nn.Embedding(VOCAB, 16)
        self.lm_head = torch.nn.Linear(16, VOCAB, bias=False)
        generator = torch.Generator().manual_seed(3)
        for parameter in self.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator)
        self.masks = []
        self.head_rows = []

    def forward(self, input_ids, attention_mask=None):
        self.masks.append(attention_mask)
        x = self.embedding(input_ids) + torch.arange(input_ids.shape[1]).sin()[:, None]
        sees = torch.ones(input_ids.shape[1], input_ids.shape[1], dtype=torch.bool)
        if attention_mask is not None and attention_mask.dim() == 4:
            seen = attention_mask[0, 0]
            sees = seen if seen.dtype == torch.bool else seen == 0
        weights = sees.to(x.dtype) / sees.sum(1, keepdim=True)
        return {"logits": self.lm_head(torch.nn.functional.normalize(x + weights @ x, dim=-1) * 4)}


class LLaDA2MoeModelLM(Module):
    pass


class SDARForCausalLM(Module):
    pass


class DreamModel(Module):
    pass


def make(cls=Module, **config):
    return cls(vocab_size=VOCAB, mask_token_id=MASK, **config)


def test_architectures_are_known_by_class_then_by_type():
    assert registry.find(make(DreamModel)).name == "dream"
    assert registry.find(make(model_type="llada")).name == "llada"
    assert registry.find(make()).name == "plain"
    assert registry.find(make(), "sdar").name == "sdar"

    class Finetuned(DreamModel):
        pass

    assert registry.find(make(Finetuned)).name == "dream"
    assert registry.find(make(type("SDARForCausalLM", (DreamModel,), {}))).name == "sdar"


def test_every_class_that_the_engine_reads_has_a_row():
    table = (Path(__file__).resolve().parents[3] / "src/weights/hf_model.cc").read_text()
    classes = re.findall(r'\{"[a-z0-9-]+",\s*\{([^}]*)\}', table)
    assert len(classes) == table.count(", Describe") + table.count("     Describe") >= 17
    engine = set(re.findall(r'"(\w+)"', " ".join(classes)))
    ours = {name for row in registry.architectures() for name in row.classes}
    assert engine - ours == {"ProteinBertForMaskedLM"}  # TAPE's: tokens in, logits out, as it is


def test_a_new_architecture_is_one_row():
    before = registry.architectures()

    class Novel(Module):
        pass

    try:
        punt.torch.register(Architecture("novel", ("Novel",), shift=True, head="lm_head"))
        denoiser = punt.torch.Denoiser(make(Novel))
        assert denoiser.capabilities["architecture"] == "novel"
        assert denoiser.shift and denoiser.makes_asked_rows_only
        with pytest.raises(punt.InputError, match="'novel' is there already"):
            punt.torch.register(Architecture("novel"))
    finally:
        registry._ROWS[:] = before


def test_capabilities():
    found = punt.torch.Denoiser(make(LLaDA2MoeModelLM, max_position_embeddings=77, eos_token_id=[1, 2])).capabilities
    expected = {"vocab_size": VOCAB, "mask_token": MASK, "max_length": 77, "eos_tokens": [1, 2], "block": 32, "shift": False,
                "asked_rows_only": True, "attention_maps": False, "caches": False}
    assert expected.items() <= found.items()


def test_modules_are_put_into_eval_mode():
    module = make().train()
    punt.torch.Denoiser(module)
    assert not module.training


def test_blocks_are_masks():
    for cls, kind in ((LLaDA2MoeModelLM, torch.float32), (SDARForCausalLM, torch.bool)):
        module = make(cls)
        m = punt.load(punt.torch.Denoiser(module, block=4))
        rng = np.random.default_rng(0)
        canvas = rng.integers(0, MASK, 12).astype(np.int32)
        dense = m.log_probs(canvas)[:, :MASK]
        assert module.masks[-1].shape == (1, 1, 12, 12) and module.masks[-1].dtype == kind
        changed = canvas.copy()
        changed[8:] = 0  # the last block is seen by itself alone
        moved = np.abs(m.log_probs(changed)[:, :MASK] - dense).max(1)
        assert (moved[:8] == 0).all() and (moved[8:] > 0).all()


def test_models_that_are_causal_otherwise_are_told_that_nothing_is_hidden():
    class A2DLlamaLMHeadModel(Module):
        pass

    module = make(A2DLlamaLMHeadModel)
    canvas = np.arange(8, dtype=np.int32)
    punt.load(punt.torch.Denoiser(module)).log_probs(canvas)
    assert module.masks[-1].shape == (1, 1, 8, 8) and (module.masks[-1] == 0).all()
    for block in (punt.torch.Denoiser(module, block=4), punt.torch.Denoiser(make(A2DLlamaLMHeadModel, block_size=4))):
        assert block.block == 4
    punt.load(punt.torch.Denoiser(module, block=4)).log_probs(canvas)
    assert (module.masks[-1] < 0).sum() == 16
    with pytest.raises(punt.InputError, match="nothing is known of blocks in dream models"):
        punt.torch.Denoiser(make(DreamModel), block=4)


def test_block_masks_by_hand():
    sees = models.block_mask(5, 2, "bool", torch.float32, torch.device("cpu"))[0, 0]
    assert sees.int().tolist() == [[1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    bias = models.block_mask(5, 2, "bias", torch.float16, torch.device("cpu"))[0, 0]
    assert ((bias == 0) == sees).all() and (bias[~sees] == torch.finfo(torch.float16).min).all()


def test_blocks_need_an_attention_that_reads_such_masks():
    with pytest.raises(punt.InputError, match="attn_implementation='sdpa', got 'eager'"):
        punt.torch.Denoiser(make(LLaDA2MoeModelLM, _attn_implementation="eager"))
    assert punt.torch.Denoiser(make(LLaDA2MoeModelLM, _attn_implementation="eager"), block=0).block == 0


def test_shifted_rows():
    plain = punt.load(punt.torch.Denoiser(make(), shift=False))
    shifted = punt.load(punt.torch.Denoiser(make(DreamModel)))
    canvas = np.array([4, MASK, 7, MASK, MASK])
    dense = plain.log_probs(canvas)
    np.testing.assert_allclose(shifted.log_probs(canvas), dense[[0, 0, 1, 2, 3]], atol=1e-5)


def test_heads_run_for_the_rows_asked():
    module = make(DreamModel)
    module.lm_head.register_forward_hook(lambda head, arguments, made: module.head_rows.append(made.shape[:-1]))
    m = punt.load(punt.torch.Denoiser(module))
    m.fill([1, 2, 3, 4, 5, MASK, MASK, 8], planner="left-to-right", temperature=0)
    assert [tuple(shape) for shape in module.head_rows] == [(1, 2), (1, 1)]


def test_a_mask_is_given_only_where_it_must_be():
    seen = []

    def wants(input_ids, attention_mask):
        seen.append(attention_mask)
        return make()(input_ids)

    punt.load(punt.torch.Denoiser(wants, mask_token=MASK, vocab_size=VOCAB)).fill([MASK] * 3)
    assert seen[0].tolist() == [[1, 1, 1]]
    module = make()
    punt.load(punt.torch.Denoiser(module)).fill([MASK] * 3)
    assert module.masks[0] is None


@pytest.mark.parametrize("form", [lambda x: x, lambda x: (x,), lambda x: {"logits": x}])
def test_what_models_return(form):
    def model(input_ids):
        return form(make()(input_ids)["logits"])

    assert MASK not in punt.load(punt.torch.Denoiser(model, mask_token=MASK)).fill([MASK] * 5).tokens


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_types(dtype):
    m = punt.load(punt.torch.Denoiser(lambda x: make()(x)["logits"].to(dtype), mask_token=MASK, vocab_size=VOCAB))
    run = m.fill([MASK] * 9, planner="punt", temperature=0.8, seed=2)
    assert run.stop_reason == "full"
    if dtype == torch.float64:
        assert run.tokens.tolist() == punt.load(punt.torch.Denoiser(make())).fill([MASK] * 9, planner="punt",
                                                                                temperature=0.8, seed=2).tokens.tolist()


def test_never_and_forbidden_tokens():
    m = punt.load(punt.torch.Denoiser(make(), never=range(5, MASK), eos_tokens=(2,)))
    run = m.fill([MASK] * 30, temperature=3.0, eos="forbid")
    assert set(run.tokens) <= {0, 1, 3, 4}


def test_a_base_class_of_numbers_agrees():
    """punt.Denoiser, whose rows are read by the engine's kernels from dense tables, on the same logits."""
    module = make()

    class Dense(punt.Denoiser):
        name, vocab_size, mask_token, max_length = "dense", VOCAB, MASK, 100

        def new_session(self, options):
            return DenseSession(self, options)

    class DenseSession(punt.Session):
        def forward(self, queries):
            with torch.inference_mode():
                return [module(torch.tensor(query.canvas[None].astype(np.int64)))["logits"][0].numpy() for query in queries]

        def log_probs(self, handle, rows):
            return handle[rows]

    dense, ours = punt.load(Dense()), punt.load(punt.torch.Denoiser(module))
    for planner in ("scout", "punt", "klass", "frechet", "info-gain", "remdm", "saber"):
        for options in ({"temperature": 0}, {"temperature": 1.0}, {"temperature": 0.7, "top_p": 0.9, "convention": "dream"},
                        {"temperature": 0.8, "top_k": 4, "min_p": 0.05, "score_on": "tempered"}):
            a, b = (m.fill([1, 2] + [MASK] * 20, planner=planner, seed=4, max_steps=40, **options) for m in (dense, ours))
            assert a.tokens.tolist() == b.tokens.tolist(), (planner, options)
            assert a.commit_steps.tolist() == b.commit_steps.tolist()
            assert a.counters == b.counters
