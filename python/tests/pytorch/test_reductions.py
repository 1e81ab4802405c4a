"""Reductions on the device against their plain twin."""

import itertools

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch

import twin
from punt.denoiser import DivergenceOptions, ProposalOptions
from punt.torch import draws, reductions
from punt.torch.rows import BlockReader, Rows

BANNED = (3, 5)
FLOAT32 = {"rtol": 3e-6, "atol": 1e-6}
FLOAT64 = {"rtol": 1e-9, "atol": 1e-12}


def table_of(rows, vocab, dtype=torch.float32, seed=0, spread=3.0):
    made = torch.randn(rows, vocab, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * spread
    made[:, : vocab // 3] -= 8
    return made.to(dtype)


def names_of(count, seed=7):
    return np.array([twin.stream_name(seed, 1, 2, i) for i in range(count)], np.uint64)


def propose(table, places, banned=BANNED, block=None, names=None, **options):
    reader = BlockReader(banned, block=block)
    names = draws.names_on(table.device, names_of(len(places)) if names is None else names)
    rows = Rows(table, torch.tensor(places))
    return reductions.propose(reader, rows, ProposalOptions(**options), names).numpy()


def check(table, places, tolerance, **options):
    found = propose(table, places, **options)
    names = names_of(len(places))
    certain = 0
    for i, place in enumerate(places):
        row = twin.allowed(table[place].double().numpy(), BANNED)
        expected = twin.propose(row, int(names[i]), **options)
        for field, value in zip(reductions.FIELDS, found[:, i]):
            if field == "token":
                # Where rounding could decide, either token is right.
                if expected["lead"] > 1e-9:
                    assert value == expected["token"], (place, options)
                    certain += 1
            elif field != "token_prob" or expected["lead"] > 1e-9:
                np.testing.assert_allclose(value, expected[field], **tolerance, err_msg=f"{field} {place} {options}")
    assert certain > len(places) / 2


@pytest.mark.parametrize("vocab", [6, 33, 320, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_plain_draws(vocab, dtype):
    table = table_of(9, vocab, dtype)
    for temperature in (0.0, 1e-3, 0.3, 1.0, 2.5, 1e3):
        check(table, [8, 0, 3, 3, 1], FLOAT64 if dtype == torch.float64 else FLOAT32, temperature=temperature)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_halves_are_reduced_in_float32(dtype):
    check(table_of(5, 500, dtype), [0, 1, 2, 3, 4], FLOAT32, temperature=0.8)


def test_large_vocabularies_and_flat_rows_draw_the_same_token():
    table = torch.zeros(3, 20000)
    table[1] = torch.randn(20000, generator=torch.Generator().manual_seed(1)) * 0.01
    table[2, 77] = 9.0  # some nats above the others: neither certain nor lost
    for temperature in (0.5, 1.0):
        check(table, [0, 1, 2], FLOAT32, temperature=temperature)


@pytest.mark.parametrize("convention", ["llada", "dream"])
@pytest.mark.parametrize("score_on", ["untempered", "tempered"])
def test_filters(convention, score_on):
    table = table_of(4, 130, torch.float64)
    table[2] = table[2].round()  # ties
    for temperature, top_p, top_k, min_p in itertools.product((0, 0.7, 1.0), (1.0, 0.9, 0.3), (0, 1, 5), (0.0, 0.2)):
        check(table, [0, 1, 2, 3], FLOAT64, convention=convention, score_on=score_on, temperature=temperature, top_p=top_p,
              top_k=top_k, min_p=min_p)


def test_nucleus_beyond_the_likely_tokens():
    table = torch.zeros(2, 5000)
    table[1] = torch.linspace(0, 1, 5000)
    check(table, [0, 1], FLOAT32, top_p=0.8, score_on="tempered")
    check(table, [0, 1], FLOAT32, top_k=3000, score_on="tempered")


def test_round_probabilities_land_within_the_nucleus():
    """A nucleus that ends just where a token does keeps the next one, whatever the rounding of the sums."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        counts = np.sort(rng.choice(40, rng.integers(4, 12), replace=False) + 1)[::-1]
        total = counts.sum()
        table = torch.log(torch.tensor(counts[None] / total))
        for kept in range(1, len(counts)):
            found = propose(table, [0], banned=(), top_p=counts[:kept].sum() / total, score_on="tempered")
            assert found[3, 0] == pytest.approx(counts[0] / counts[: kept + 1].sum()), (counts, kept)


def test_results_do_not_depend_on_blocks():
    table = table_of(40, 300)
    places = list(range(40))
    whole = propose(table, places, temperature=0.9)
    for block in (1, 700, 3000):
        np.testing.assert_array_equal(propose(table, places, temperature=0.9, block=block), whole)


def test_ties_take_the_lowest_token():
    table = torch.zeros(1, 300)
    table[0, [250, 130, 131]] = 4.0
    assert propose(table, [0], temperature=0)[0, 0] == 130


def test_tokens_that_the_model_rules_out():
    table = table_of(3, 200, torch.float64)
    table[0, 10:] = -torch.inf
    table[1, 50] = -torch.inf
    for options in ({"temperature": 0}, {"temperature": 1}, {"convention": "dream"}, {"top_p": 0.5}):
        check(table, [0, 1, 2], FLOAT64, **options)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_rows_that_are_no_distribution_are_told(bad):
    for options in ({"temperature": 0}, {"temperature": 1}, {"convention": "dream"}, {"top_p": 0.5, "score_on": "tempered"},
                    {"temperature": 1e-30}):
        table = table_of(3, 200)
        table[1, :] = bad
        found = propose(table, [0, 1, 2], **options)
        assert np.isnan(found[:, 1]).any()
        assert not np.isnan(found[:, [0, 2]]).any()


def test_one_nan_is_enough():
    table = table_of(3, 200)
    table[1, 40] = torch.nan
    for options in ({"temperature": 0}, {"temperature": 1}, {"convention": "dream"}):
        assert np.isnan(propose(table, [0, 1, 2], **options)[:, 1]).any()


@pytest.mark.parametrize("kind", ["kl-base-new", "kl-new-base", "js", "tv"])
def test_divergences(kind):
    near = table_of(4, 200, seed=1, spread=0.01)
    base = torch.cat((table_of(4, 200), near))
    fresh = torch.cat((table_of(4, 200, seed=5), near + 1e-3 * table_of(4, 200, seed=9)))
    for temperature, top_p in ((1.0, 1.0), (0.7, 1.0), (1.0, 0.9), (0.0, 1.0)):
        options = DivergenceOptions(kind, temperature, top_p)
        places = torch.arange(8)
        found = reductions.diverge(BlockReader(BANNED), Rows(base, places), Rows(fresh, places), options).numpy()
        for i in range(8):
            a, b = (twin.allowed(t[i].double().numpy(), BANNED) for t in (base, fresh))
            expected = twin.diverge(a, b, kind, temperature, top_p)
            np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=2e-7, err_msg=f"{i} {options}")


def test_equal_rows_do_not_diverge():
    table = table_of(4, 200)
    rows = Rows(table, torch.arange(4))
    for kind in ("kl-base-new", "kl-new-base", "js", "tv"):
        found = reductions.diverge(BlockReader(BANNED), rows, rows, DivergenceOptions(kind))
        np.testing.assert_allclose(found.numpy(), 0, atol=1e-8)


def test_lost_support_is_infinitely_far():
    base = table_of(2, 100)
    fresh = base.clone()
    fresh[0, 90] = -torch.inf
    rows = torch.arange(2)

    def kl(a, b):
        return reductions.diverge(BlockReader(BANNED), Rows(a, rows), Rows(b, rows), DivergenceOptions()).numpy()

    assert kl(base, fresh)[0] == np.inf and kl(base, fresh)[1] < 1e-6
    assert np.isfinite(kl(fresh, base)).all()


def test_token_probs_and_log_probs():
    table = table_of(5, 77, torch.float64)
    rows = Rows(table, torch.tensor([4, 0, 2]))
    tokens = torch.tensor([70, 3, 11])
    probs = reductions.token_probs(BlockReader(BANNED), rows, tokens).numpy()
    dense = reductions.log_probs(BlockReader(BANNED), rows).numpy()
    for i, place in enumerate((4, 0, 2)):
        expected = twin.log_softmax(twin.allowed(table[place].numpy(), BANNED))
        np.testing.assert_allclose(dense[i], expected, rtol=1e-10)
        np.testing.assert_allclose(probs[i], np.exp(expected[tokens[i]]), rtol=1e-10)


def test_guidance_moves_away_from_what_is_said_without_prompt():
    table = table_of(6, 90, torch.float64)
    rows = Rows(table, torch.tensor([0, 1]), torch.tensor([4, 5]))
    dense = reductions.log_probs(BlockReader(BANNED, guidance=1.5), rows).numpy()
    for i in range(2):
        c, u = table[i].numpy(), table[4 + i].numpy()
        np.testing.assert_allclose(dense[i], twin.log_softmax(twin.allowed(u + 2.5 * (c - u), BANNED)), rtol=1e-9)


def test_the_table_is_left_as_it_is():
    table = table_of(6, 90)
    before = table.clone()
    rows = Rows(table, torch.arange(6))
    propose(table, list(range(6)))
    reductions.diverge(BlockReader(BANNED), rows, rows, DivergenceOptions("js"))
    assert torch.equal(table, before)


def test_no_rows_are_no_numbers():
    table = table_of(3, 50)
    none = Rows(table, torch.zeros(0, dtype=torch.long))
    reader = BlockReader(BANNED)
    assert reductions.propose(reader, none, ProposalOptions(), torch.zeros(0, dtype=torch.long)).shape == (6, 0)
    assert reductions.diverge(reader, none, none, DivergenceOptions()).shape == (0,)
    assert reductions.token_probs(reader, none, torch.zeros(0, dtype=torch.long)).shape == (0,)
    assert reductions.log_probs(reader, none).shape == (0, 50)
