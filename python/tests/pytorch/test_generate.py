"""The drop-in for the scripts of LLaDA and Dream: their own rules give what they give, state by state."""

import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import torch
import punt
import punt.torch
import tiny_models


def runs(name):
    return json.loads((tiny_models.GOLDEN / name / "generation.json").read_text())["runs"]


def check_states(run, out):
    assert out.sequences.tolist() == [run["final"]]
    states = [run["states"][0], *(state.tolist() for state in out.history[0])]
    assert states == run["states"]


@pytest.mark.parametrize("number", range(4))
def test_llada(number):
    run = runs("llada")[number]
    out = punt.torch.generate(
        tiny_models.LLaDAModelLM(), torch.tensor([run["prompt"]]), planner="llada", eos_tokens=(), output_history=True,
        return_dict_in_generate=True, **run["params"]
    )
    check_states(run, out)
    steps = run["params"]["steps"]
    assert out.runs[0].nfe == (2 * steps if run["params"].get("cfg_scale") else steps)


@pytest.mark.parametrize("number", range(4))
def test_dream(number):
    run = runs("dream")[number]
    out = punt.torch.generate(
        tiny_models.DreamModel(), torch.tensor([run["prompt"]]), planner="dream", eos_tokens=(), output_history=True,
        return_dict_in_generate=True, **run["params"]
    )
    check_states(run, out)
    assert out.runs[0].steps == run["params"]["steps"]


@pytest.fixture(scope="module")
def llada():
    return tiny_models.LLaDAModelLM()


PROMPT = [38, 34, 119, 287, 244]


def test_the_default_planner_takes_fewer_passes_than_tokens(llada):
    out = punt.torch.generate(llada, torch.tensor([PROMPT]), gen_length=32, return_dict_in_generate=True, eos_tokens=())
    assert out.sequences.shape == (1, 5 + 32) and out.sequences[0, :5].tolist() == PROMPT
    assert out.history is None
    assert 314 not in out.sequences
    engine = punt.load(tiny_models.GOLDEN / "llada", threads=1)
    theirs = engine.fill(np.array([*PROMPT, *[314] * 32]), planner="scout", temperature=0)
    if theirs.stop_reason == "full":
        assert out.sequences[0].tolist() == theirs.tokens.tolist()
        assert out.runs[0].nfe == theirs.nfe


def test_left_padding_is_no_part_of_a_prompt(llada):
    ids = torch.tensor([[289, 289, *PROMPT[:3]], PROMPT])
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    options = {"gen_length": 12, "planner": "top-k:k=2", "temperature": 0.7, "seed": 3}
    both = punt.torch.generate(llada, ids, mask, **options)
    alone = punt.torch.generate(llada, ids[:1, 2:], **options)
    assert both.shape == (2, 17)
    assert both[0].tolist() == [289, 289, *alone[0].tolist()]
    with pytest.raises(punt.InputError, match="padded at the left"):
        punt.torch.generate(llada, ids, mask.flip(1), **options)
    with pytest.raises(punt.InputError, match="shape"):
        punt.torch.generate(llada, ids, mask[:1], **options)


def test_the_type_and_the_samples(llada):
    ids = torch.tensor([PROMPT, PROMPT], dtype=torch.int32)
    out = punt.torch.generate(llada, ids, gen_length=10, temperature=1.0, seed=5)
    assert out.dtype == torch.int32
    assert out[0].tolist() != out[1].tolist()
    assert punt.torch.generate(llada, ids, gen_length=10, temperature=1.0, seed=5).tolist() == out.tolist()


def test_positional_arguments_are_those_of_the_script(llada):
    """generate(model, prompt, attention_mask, steps, gen_length, block_length, temperature, cfg_scale, remasking, mask_id)"""
    run = runs("llada")[1]
    p = run["params"]
    out = punt.torch.generate(llada, torch.tensor([run["prompt"]]), None, p["steps"], p["gen_length"], p["block_length"],
                              0.0, 0.0, "low_confidence", 314, planner="llada", eos_tokens=())
    assert out.tolist() == [run["final"]]


def test_bad_input(llada):
    ids = torch.tensor([PROMPT])
    with pytest.raises(punt.InputError, match="steps 7 must be shared out evenly over a length of 16"):
        punt.torch.generate(llada, ids, planner="llada", steps=7, gen_length=16)
    with pytest.raises(punt.InputError, match="remasking must be one of low_confidence, random, got 'high'"):
        punt.torch.generate(llada, ids, remasking="high")
    with pytest.raises(punt.InputError, match="alg must be one of .*, got 'x'"):
        punt.torch.generate(llada, ids, alg="x")
    with pytest.raises(punt.InputError, match=r"input_ids: tokens of shape \[B, P\]"):
        punt.torch.generate(llada, torch.tensor(PROMPT))
