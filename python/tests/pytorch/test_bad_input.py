"""What is wrong with a model is told in one line, as an exception, wherever it comes up."""

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch

import punt
import punt.torch

VOCAB, MASK = 30, 29


def good(input_ids):
    return torch.randn(*input_ids.shape, VOCAB, generator=torch.Generator().manual_seed(0))


def fill(model, **options):
    m = punt.load(punt.torch.Denoiser(model, mask_token=MASK, vocab_size=VOCAB, **options))
    return m.fill([MASK] * 6, temperature=0)


def test_a_good_one_works():
    assert MASK not in fill(good).tokens


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: good(x)[:, :-1],
        lambda x: good(x)[0],
        lambda x: good(x).argmax(-1),
        lambda x: torch.zeros(*x.shape, VOCAB, dtype=torch.long),
        lambda x: "logits",
        lambda x: (),
        lambda x: None,
    ],
    ids=["rows", "batch", "tokens", "type", "string", "nothing", "none"],
)
def test_logits_of_a_wrong_shape(wrong):
    with pytest.raises(punt.InputError, match="logits"):
        fill(wrong)


def test_a_vocabulary_of_another_size():
    with pytest.raises(punt.InputError, match="31 logits for a vocabulary of 30"):
        fill(lambda x: torch.zeros(*x.shape, VOCAB + 1))


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_rows_that_are_no_distribution(bad, temperature):
    def model(input_ids):
        logits = good(input_ids)
        logits[:, 3] = bad
        return logits

    m = punt.load(punt.torch.Denoiser(model, mask_token=MASK, vocab_size=VOCAB))
    for options in ({}, {"top_p": 0.9}, {"convention": "dream"}):
        with pytest.raises(punt.InputError, match="position 3 are no distribution"):
            m.fill([MASK] * 6, temperature=temperature, **options)
    with pytest.raises(punt.InputError, match="position 3 are no distribution"):
        m.log_probs([MASK] * 6)


def test_one_nan_is_not_lost_in_its_row():
    def model(input_ids):
        logits = good(input_ids)
        logits[:, 3, 7] = torch.nan
        return logits

    with pytest.raises(punt.InputError, match="position 3 are no distribution"):
        fill(model)


def test_no_mask_token():
    with pytest.raises(punt.InputError, match="no mask token is named; say mask_token="):
        punt.torch.Denoiser(good, vocab_size=VOCAB)
    with pytest.raises(punt.InputError, match="mask token 30 lies outside the vocabulary of 30"):
        punt.torch.Denoiser(good, vocab_size=VOCAB, mask_token=30)


def test_what_is_no_model():
    with pytest.raises(punt.InputError, match="a module or a function is needed, got str"):
        punt.torch.Denoiser("GSAI-ML/LLaDA-8B-Instruct", mask_token=1)


def test_unknown_architectures_are_listed():
    with pytest.raises(punt.InputError, match="unknown architecture 'lada'; valid: .*llada"):
        punt.torch.Denoiser(good, mask_token=MASK, vocab_size=VOCAB, architecture="lada")


def test_everything_banned():
    with pytest.raises(punt.InputError, match="all 30 tokens of .* are banned"):
        fill(good, never=range(VOCAB))


def test_blocks_of_a_model_that_has_none():
    with pytest.raises(punt.InputError, match="nothing is known of blocks in plain models"):
        fill(good, block=4)


def test_what_a_model_raises_comes_out_unchanged():
    class Mine(Exception):
        pass

    mine = Mine("on purpose")

    def model(input_ids):
        raise mine

    with pytest.raises(Mine) as caught:
        fill(model)
    assert caught.value is mine


def test_a_canvas_that_is_too_long():
    with pytest.raises(punt.InputError, match="exceeds the 5"):
        fill(good, max_length=5)


def test_planners_that_look_inside_are_refused_by_name():
    m = punt.load(punt.torch.Denoiser(good, mask_token=MASK, vocab_size=VOCAB))
    with pytest.raises(punt.InputError, match="attention maps"):
        m.fill([MASK] * 6, planner="dapd")
