"""Kinds of models: what must be known of one to read it as a denoiser. A new one is a row (or a call of `register`).

Modules are recognised by the name of their class, then by `config.model_type`; what no row knows is called as it is:
`logits = model(input_ids)`, read where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from punt.errors import InputError

FIRST_AMINO_ACID, LAST_AMINO_ACID = 4, 23  # of ESM's alphabet


def _nothing(model: Any, tokenizer: Any) -> Iterable[int]:
    return ()


def _no_amino_acid(model: Any, tokenizer: Any) -> Iterable[int]:
    """What marks sequences, gaps and doubt in ESM's alphabet."""
    size = model.config.vocab_size
    return [token for token in range(size) if not FIRST_AMINO_ACID <= token <= LAST_AMINO_ACID]


@dataclass(frozen=True)
class Architecture:
    name: str
    classes: tuple[str, ...] = ()
    model_types: tuple[str, ...] = ()
    shift: bool = False  # row i predicts position i + 1
    # The module whose input are hidden states [B, L, D], behind which every row goes its own way to the logits. With it,
    # logits are made only for the rows that are asked.
    head: str = ""
    attention: bool = False  # takes output_attentions and returns `attentions`, a [B, H, L, L] per layer
    # Block-causal: positions see their own block of so many and those before; 0: everything, unless the configuration or
    # the caller names a block; None: everything.
    block: int | None = None
    # How that mask is given: "bias" or "bool", of shape [B, 1, L, L], of 0 and the lowest number or of what is seen; or
    # "block_size", the argument by which the module makes its own.
    mask: str = "bias"
    is_causal: bool = False  # without a mask, which is therefore given where everything is seen, too
    fused_only: bool = False  # what is not its fused attention reads such a mask otherwise
    # Takes past_key_values and use_cache as decoders of transformers do; `store` is a flag besides, without which what is
    # given is read and nothing is stored.
    caches: bool = False
    store: str = ""
    # Takes position_ids, and a mask [B, 1, L, L] as it is; nothing else tells it where a token stands.
    shadows: bool = False
    token_dropout: bool = False  # scales embeddings by the share of masks, as ESM-2 does
    end: str = "eos_token_id"  # of the tokenizer: what ends a text
    mask_token: int | None = None  # where neither the configuration nor the tokenizer names it
    lengths: tuple[str, ...] = ("max_position_embeddings", "max_sequence_length", "n_positions")
    first_position: int = 0  # positions that the table of positions has, and a canvas has not
    never: Callable[[Any, Any], Iterable[int]] = _nothing  # tokens that no text has


_ROWS = [
    Architecture("llada", ("LLaDAModelLM",), ("llada",), head="model.transformer.ln_f", mask_token=126336,
                 lengths=("max_sequence_length",)),
    Architecture("llada_moe", ("LLaDAMoEModelLM", "LLaDAMoEModel"), ("llada_moe", "lladamoe"), head="lm_head",
                 mask_token=156895),
    Architecture("dream", ("DreamModel",), ("Dream", "dream"), shift=True, head="lm_head", attention=True, caches=True),
    Architecture("llada2_moe", ("LLaDA2MoeModelLM",), ("llada2_moe",), head="lm_head", block=32, fused_only=True,
                 caches=True, mask_token=156895),
    Architecture("sdar", ("SDARForCausalLM", "SDARMoeForCausalLM"), ("sdar", "sdar_moe"), head="lm_head", block=4,
                 mask="bool", caches=True, store="store_kv", mask_token=151669),
    # dllm's classes, and those of transformers that they are made from. Their own return no attention maps.
    Architecture("a2d", ("A2DQwen3LMHeadModel", "A2DQwen2LMHeadModel", "A2DLlamaLMHeadModel"),
                 ("a2d-qwen3", "a2d-qwen2", "a2d-llama"), head="lm_head", block=0, is_causal=True, caches=True, shadows=True),
    Architecture("rnd1", ("RND1LM", "RND1"), ("rnd1",), shift=True, head="lm_head", mask_token=151669),
    Architecture("fast_dllm_v2", ("Fast_dLLM_QwenForCausalLM",), ("Fast_dLLM_Qwen",), shift=True, head="lm_head", block=32,
                 mask="block_size", caches=True, store="update_past_key_values", mask_token=151665),
    Architecture("stable_diffcoder", ("StableDiffcoderForCausalLM",), ("stable-diffcoder",), head="lm_head", block=4,
                 caches=True, mask_token=5),
    Architecture("esm2", ("EsmForMaskedLM", "EsmForDPLM"), ("esm",), head="lm_head", attention=True, token_dropout=True,
                 never=_no_amino_acid),
    Architecture("esmc", ("EsmcForMaskedLM",), ("esmc",), head="lm_head", attention=True, shadows=True,
                 never=_no_amino_acid),
    Architecture("bert", ("BertForMaskedLM",), ("bert",), head="cls", attention=True, shadows=True, end="sep_token_id"),
    Architecture("distilbert", ("DistilBertForMaskedLM",), ("distilbert",), head="vocab_transform", attention=True,
                 shadows=True, end="sep_token_id"),
    Architecture("roberta", ("RobertaForMaskedLM", "XLMRobertaForMaskedLM"), ("roberta", "xlm-roberta"), head="lm_head",
                 attention=True, shadows=True, first_position=2),
    Architecture("albert", ("AlbertForMaskedLM",), ("albert",), head="predictions", attention=True, shadows=True,
                 end="sep_token_id"),
    Architecture("modernbert", ("ModernBertForMaskedLM",), ("modernbert",), head="head", attention=True,
                 end="sep_token_id"),
]
PLAIN = Architecture("plain")


def architectures() -> list[Architecture]:
    """All rows, those that were registered last first: they are looked at in this order."""
    return list(_ROWS)


def register(row: Architecture) -> None:
    """Adds a kind of model, before all others."""
    if any(row.name == other.name for other in _ROWS):
        raise InputError(f"architecture '{row.name}' is there already")
    _ROWS.insert(0, row)


def find(model: Any, name: str | None = None) -> Architecture:
    """The row of that name, or the one that knows the model; PLAIN where none does."""
    if name is not None:
        for row in [*_ROWS, PLAIN]:
            if row.name == name:
                return row
        raise InputError(f"unknown architecture '{name}'; valid: {', '.join(row.name for row in [*_ROWS, PLAIN])}")
    for cls in type(model).__mro__:  # what a class is made from says less than the class
        for row in _ROWS:
            if cls.__name__ in row.classes:
                return row
    kind = getattr(getattr(model, "config", None), "model_type", None)
    for row in _ROWS:
        if kind in row.model_types:
            return row
    return PLAIN
