"""Shadow rows, for the planner wino: a mask at the place of a token, seen by no one, which sees all but that token."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

import torch
import punt
import punt.torch
import tiny_models
from punt.denoiser import Query, SessionOptions
from punt.torch.models import shadow_mask


def test_masks_by_hand():
    mask = shadow_mask(5, torch.tensor([[0, 2]]), torch.float32)[0, 0]
    assert (mask == 0).int().tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [1, 1, 0, 0, 1]]


@pytest.mark.parametrize("name", ["bert", "distilbert", "roberta", "albert", "esmc", "a2d_qwen3", "a2d_qwen2", "a2d_llama"])
def test_wino_decides_as_the_engine_does(name):
    engine = punt.load(tiny_models.GOLDEN / name, threads=1)
    module, tokenizer = tiny_models.open_model(name), tiny_models.open_tokenizer(name)
    ours = punt.load(punt.torch.Denoiser(module, tokenizer, eos_tokens=None if tokenizer else engine.eos_tokens))
    canvas = np.full(24, engine.mask_token, np.int32)
    canvas[:4] = [5, 6, 7, 8]
    taken_back = 0
    for spec in ("wino", "wino:tau=0.05,tau_back=0.2", "wino:tau=0.02,tau_back=0.5"):
        for options in ({"temperature": 0}, {"temperature": 1, "seed": 3}, {"temperature": 0.7, "seed": 5, "window": 7}):
            expected = engine.fill(canvas, planner=spec, max_steps=60, **options)
            run = ours.fill(canvas, planner=spec, max_steps=60, **options)
            assert run.tokens.tolist() == expected.tokens.tolist()
            assert run.commit_steps.tolist() == expected.commit_steps.tolist()
            assert run.counters == expected.counters
            taken_back += sum(len(event["remasked"]) for event in run.trace if event["event"] == "commit")
    assert taken_back > 0


@pytest.fixture
def one_layer():
    """In which nobody else can tell a shadow of its token."""
    import transformers

    torch.manual_seed(2)
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    return punt.torch.Denoiser(transformers.BertForMaskedLM(transformers.BertConfig(**sizes, initializer_range=0.5)),
                               mask_token=39)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_shadow_is_a_mask_that_does_not_see_its_token(one_layer, implementation):
    one_layer.call._model.set_attn_implementation(implementation)
    session = one_layer.new_session(SessionOptions())
    shadows = np.array([2, 5], np.int32)

    def read(canvas, rows, shadows=np.zeros(0, np.int32)):
        rows = np.array(rows, np.int32)
        handle, = session.forward([Query(canvas, rows, shadows=shadows)])
        assert handle.row_passes == len(canvas) + len(shadows)
        return session.log_probs(handle, rows)

    canvas = np.arange(12, dtype=np.int32) + 6
    other, masked = canvas.copy(), canvas.copy()
    other[2], masked[2] = 30, one_layer.mask_token
    own, first, second = read(canvas, [1, 12, 13], shadows)
    np.testing.assert_allclose(read(other, [12], shadows)[0], first, atol=1e-5)
    np.testing.assert_allclose(read(masked, [2])[0], first, atol=1e-5)
    np.testing.assert_allclose(read(canvas, [1])[0], own, atol=1e-5)  # no token sees a shadow
    moved = np.abs(read(other, [13], shadows)[0] - second)
    assert moved[np.isfinite(moved)].max() > 1e-3  # the other one sees that token


@pytest.mark.parametrize("name", ["llada", "dream", "esm2"])
def test_models_that_cannot_are_refused_by_what_they_lack(name):
    denoiser = punt.torch.Denoiser(tiny_models.open_model(name), tiny_models.open_tokenizer(name), eos_tokens=())
    assert not denoiser.capabilities["shadow_rows"]
    with pytest.raises(punt.InputError, match="shadow rows"):
        punt.load(denoiser).fill([denoiser.mask_token] * 6, planner="wino")
