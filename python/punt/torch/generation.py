"""`generate` with the arguments of LLaDA's and Dream's own scripts, and the engine's planners behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import punt
from punt.errors import InputError
from punt.run import Run
from punt.torch.denoiser import Denoiser

# The names that the scripts have for how sure a position is.
_REMASKING = {"low_confidence": "token-prob", "random": "random"}
_ALGORITHMS = {"origin": "random", "maskgit_plus": "token-prob", "topk_margin": "margin", "entropy": "neg-entropy"}


@dataclass
class Generated:
    """What `return_dict_in_generate` asks for."""

    sequences: torch.Tensor  # [B, L], prompts included
    history: list[list[torch.Tensor]] | None  # per sequence, the canvas [L] after each step; with output_history
    runs: list[Run]  # nfe, steps, counters, trace


def generate(
    model: Callable[..., Any] | Denoiser,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    steps: int | None = None,
    gen_length: int | None = None,
    block_length: int | None = None,
    temperature: float = 0.0,
    cfg_scale: float = 0.0,
    remasking: str | None = None,
    mask_id: int | None = None,
    *,
    planner: Any = "scout",
    max_new_tokens: int | None = None,
    alg: str | None = None,
    alg_temp: float | None = None,
    eps: float = 1e-3,
    top_p: float | None = None,
    top_k: int | None = None,
    mask_token_id: int | None = None,
    eos_tokens: Sequence[int] | None = None,
    tokenizer: Any = None,
    seed: int = 0,
    output_history: bool = False,
    return_dict_in_generate: bool = False,
    threads: int = 0,
    **sampling: Any,
) -> torch.Tensor | Generated:
    """Continues prompts [B, P] by gen_length (or max_new_tokens, 128) tokens: [B, P + gen_length], where they were.

        out = punt.torch.generate(model, input_ids, gen_length=128, temperature=0.)

    The arguments up to `mask_id` are those of LLaDA's generate(), in its order; `alg` and what follows are those of
    Dream's diffusion_generate(). `planner` is any of the engine, or one of the scripts' own rules, by which they can be
    compared: "llada" (steps passes, low confidence or random remasking, in blocks) or "dream" (its clock, alg and
    alg_temp). `steps` belongs to those two: other planners find out how many passes a text takes. `remasking` or `alg`
    name the score by which positions are ranked, for any planner.

    Prompts of several lengths are padded at the left and have an attention_mask; each is generated without its padding.
    A text ends at a token of `eos_tokens` (the model's; (): none), which then fills what is behind it. `seed` is that of
    the first sequence; the others are further samples of it. Further keywords are those of `punt.sampling_options()`.
    """
    if input_ids.dim() != 2 or input_ids.is_floating_point():
        raise InputError(f"input_ids: tokens of shape [B, P] are needed, got {input_ids.dtype} {list(input_ids.shape)}")
    length = gen_length or max_new_tokens or 128
    mask = mask_id if mask_id is not None else mask_token_id
    denoiser = model if isinstance(model, Denoiser) else Denoiser(model, tokenizer, mask_token=mask, eos_tokens=eos_tokens)
    options = {
        "planner": planner,
        "temperature": temperature,
        "guidance": cfg_scale,
        "top_p": top_p,
        "top_k": top_k,
        "seed": seed,
        "score": _score(remasking, alg),
        "window": block_length if block_length is not None and block_length < length else None,
        "convention": "dream" if alg is not None else None,
        **_own_rule(planner, length, steps, block_length, alg, alg_temp, eps),
        **sampling,
    }
    prompts = _prompts(input_ids, attention_mask)
    canvases = [np.concatenate((prompt, np.full(length, denoiser.mask_token, np.int32))) for prompt in prompts]
    engine = punt.load(denoiser, threads=threads)
    if cfg_scale:  # passes without the prompt are a session's own
        runs = [engine.fill(canvas, sample=sample, **options) for sample, canvas in enumerate(canvases)]
    else:
        runs = engine.fill_batch(canvases, **options)
    padding = [input_ids.shape[1] - len(prompt) for prompt in prompts]

    def whole(index: int, tokens: Any) -> torch.Tensor:
        made = torch.as_tensor(np.asarray(tokens), dtype=input_ids.dtype, device=input_ids.device)
        return torch.cat((input_ids[index, : padding[index]], made))

    sequences = torch.stack([whole(index, run.tokens) for index, run in enumerate(runs)])
    if not return_dict_in_generate:
        return sequences
    history = [[whole(i, state) for state in _states(run)] for i, run in enumerate(runs)] if output_history else None
    return Generated(sequences, history, runs)


def _score(remasking: str | None, alg: str | None) -> str | None:
    for what, name, known in (("remasking", remasking, _REMASKING), ("alg", alg, _ALGORITHMS)):
        if name is not None:
            if name not in known:
                raise InputError(f"{what} must be one of {', '.join(known)}, got '{name}'")
            return known[name]
    return None


def _own_rule(planner: Any, length: int, steps: int | None, block: int | None, alg: str | None, alg_temp: float | None,
              eps: float) -> dict[str, Any]:
    if planner == "llada":
        block = block or length
        blocks, rest = divmod(length, block)
        per_block, rest_of_steps = divmod(steps or length, max(blocks, 1))
        if rest or rest_of_steps or per_block == 0 or block % per_block:
            raise InputError(
                f"planner llada: steps {steps or length} must be shared out evenly over a length of {length} in blocks "
                f"of {block}"
            )
        return {"planner": f"top-k:k={block // per_block}"}
    if planner == "dream":
        origin = "true" if alg in (None, "origin") else "false"
        spec = f"timestep:steps={steps or 512},eps={eps},alg_temp={alg_temp or 0},origin={origin}"
        return {"planner": spec, "convention": "dream"}
    return {}


def _prompts(input_ids: torch.Tensor, attention_mask: torch.Tensor | None) -> list[np.ndarray]:
    tokens = input_ids.to("cpu", torch.int32).numpy()
    if attention_mask is None:
        return list(tokens)
    mask = attention_mask.to("cpu", torch.bool).numpy()
    if mask.shape != tokens.shape:
        raise InputError(f"attention_mask of shape {list(mask.shape)} for input_ids of shape {list(tokens.shape)}")
    if (np.diff(mask.astype(np.int8), axis=1) < 0).any():
        raise InputError("attention_mask: prompts are padded at the left, nowhere else")
    return [row[own] for row, own in zip(tokens, mask)]


def _states(run: Run) -> list[list[int]]:
    """The canvas after each step."""
    states: list[list[int]] = []
    canvas: list[int] = []
    mask = -1
    for event in run.trace:
        if event["event"] == "run":
            canvas, mask = list(event["canvas"]), event["mask_token"]
        elif event["event"] == "commit":
            for position in event["remasked"]:
                canvas[position] = mask
            for position, token in zip(event["positions"], event["tokens"]):
                canvas[position] = token
            states.append(list(canvas))
    return states
