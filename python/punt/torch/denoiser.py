"""Any PyTorch model of masked tokens, for every planner of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from punt import denoiser
from punt.denoiser import SessionOptions
from punt.errors import InputError
from punt.torch import registry, tokenizers
from punt.torch.models import UNLIMITED, Caller, Output, find_config, find_device
from punt.torch.session import TorchSession

# Special tokens that end a turn of a chat, and so a text, whatever the configuration says.
TURN_ENDS = ("<|endoftext|>", "<|eot_id|>", "<|im_end|>", "<|role_end|>", "<end_of_turn>")


class Denoiser(denoiser.Denoiser):
    """A module of transformers, or any callable `logits = f(input_ids)` (or `f(input_ids, attention_mask)`).

        model = AutoModel.from_pretrained("GSAI-ML/LLaDA-8B-Instruct", trust_remote_code=True).cuda()
        m = punt.load(punt.torch.Denoiser(model, tokenizer))
        m.chat([("user", "What is a canvas?")], length=128)

    `input_ids` are [B, L], logits [B, L, V] on any device, in any type of real numbers; a module is put into eval mode.
    Logits stay on their device and are reduced there: a few numbers per row come to the host. What is known of the model's
    architecture (punt.torch.registry) is found by the name of its class; any of it can be said here instead.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        tokenizer: Any = None,
        *,
        architecture: str | None = None,  # a row's name; None: found by class or model_type
        name: str | None = None,
        mask_token: int | None = None,
        vocab_size: int | None = None,
        eos_tokens: Sequence[int] | None = None,
        max_length: int | None = None,
        shift: bool | None = None,  # the logits of position i are found at i - 1
        block: int | None = None,  # block-causal attention in blocks of so many; 0: everything sees everything
        attention: bool | None = None,  # it returns attention maps
        never: Iterable[int] | None = None,  # tokens that no text has
        device: torch.device | str | None = None,
        default_score: str = "margin",
        # Only speed and memory.
        asked_rows_only: bool = True,  # runs the output head only for the rows that are asked, where the row names it
        batch_tokens: int = 1 << 14,  # of one call
        table_bytes: int = 1 << 30,  # of the logits of one call, unless one sequence has more
        block_numbers: int | None = None,  # logits that are reduced at once
        prefix_cache: bool = False,  # block-causal models: blocks that are full are computed once (punt.torch.states)
    ) -> None:
        if not callable(model):
            raise InputError(f"model: a module or a function is needed, got {type(model).__name__}")
        row = registry.find(model, architecture)
        self.architecture = row
        self.name = name or find_config(model, "_name_or_path", "name_or_path") or _class_name(model)
        self.device = torch.device(device) if device is not None else find_device(model)
        if self.device.type == "mps":
            raise InputError(f"{self.name}: device mps has no float64, in which rows are summed up; move the model to cpu")
        self.tokenizer = tokenizers.wrap(tokenizer)
        if isinstance(model, torch.nn.Module):
            model.eval()
        self.mask_token = self._find_mask_token(model, tokenizer, mask_token)
        self.shift = row.shift if shift is None else shift
        self.block = _block_of(model, row) if block is None else block
        if self.block < 0:
            raise InputError(f"block must not be negative, got {self.block}")
        self.block_size = self.block
        if self.block and row.block is None:
            raise InputError(f"{self.name}: nothing is known of blocks in {row.name} models; pass a model that masks them")
        self.call = Caller(model, row, name=self.name, device=self.device, block=self.block,
                           asked_rows_only=asked_rows_only)
        self.vocab_size = vocab_size or find_config(model, "vocab_size") or self._count_logits()
        if not 0 <= self.mask_token < self.vocab_size:
            raise InputError(f"{self.name}: mask token {self.mask_token} lies outside the vocabulary of {self.vocab_size}")
        self.eos_tokens = tuple(_eos_of(model, tokenizer, row) if eos_tokens is None else eos_tokens)
        self.never = tuple(row.never(model, tokenizer) if never is None else never)
        length = find_config(model, *row.lengths)
        self.max_length = max_length or (length - row.first_position if length else UNLIMITED)
        self.has_attention_maps = row.attention if attention is None else attention
        self.has_caches = self.call.has_caches
        self.has_shadow_rows = self.call.has_shadows and not self.shift
        if prefix_cache and not (self.has_caches and self.block):
            why = "takes no past_key_values" if self.block else "is not block-causal, so that every token changes every row"
            raise InputError(f"{self.name}: prefix_cache is exact or nothing, and this model {why}; cache= approximates")
        self.prefix_cache = prefix_cache
        self.has_token_dropout = row.token_dropout and bool(find_config(model, "token_dropout"))
        self.default_score = default_score
        self.makes_asked_rows_only = self.call.makes_asked_rows_only
        self.batch_tokens = batch_tokens
        self.table_bytes = table_bytes
        self.block_numbers = block_numbers

    call: Callable[..., Output]

    def new_session(self, options: SessionOptions) -> TorchSession:
        return TorchSession(self, options)

    @property
    def capabilities(self) -> dict[str, Any]:
        """What was found out of the model, and what can be asked of it."""
        return {
            "architecture": self.architecture.name,
            "device": str(self.device),
            "vocab_size": self.vocab_size,
            "mask_token": self.mask_token,
            "eos_tokens": list(self.eos_tokens),
            "never": len(self.never),
            "max_length": self.max_length,
            "shift": self.shift,
            "block": self.block,
            "tokenizer": self.tokenizer is not None,
            "attention_maps": self.has_attention_maps,
            "asked_rows_only": self.makes_asked_rows_only,
            "guidance": True,
            "freeze_mask_ratio": not self.has_token_dropout,
            "shadow_rows": self.has_shadow_rows,
            "influence": False,
            "caches": self.has_caches,
            "prefix_cache": self.prefix_cache,
        }

    def _find_mask_token(self, model: Any, tokenizer: Any, given: int | None) -> int:
        of_tokenizer = getattr(tokenizer, "mask_token_id", None)
        for token in (given, find_config(model, "mask_token_id"), of_tokenizer, self.architecture.mask_token):
            if token is not None:
                return int(token)
        raise InputError(f"{self.name}: no mask token is named; say mask_token=")

    def _count_logits(self) -> int:
        """Asks the model about a canvas of one mask."""
        with torch.inference_mode():
            tokens = torch.full((1, 1), self.mask_token, dtype=torch.long, device=self.device)
            output = self.call(tokens, torch.zeros(1, dtype=torch.long, device=self.device))
        return output.table.shape[1]


def _class_name(model: Any) -> str:
    return type(model).__name__ if isinstance(model, torch.nn.Module) else getattr(model, "__name__", type(model).__name__)


def _block_of(model: Any, row: registry.Architecture) -> int:
    return 0 if row.block is None else find_config(model, "block_length", "block_size", "bd_size") or row.block


def _eos_of(model: Any, tokenizer: Any, row: registry.Architecture) -> list[int]:
    """What ends a text. A tokenizer knows better than a configuration; neither need know."""
    found = getattr(tokenizer, row.end, None)
    if found is None:
        found = find_config(model, row.end)
    ends = [] if found is None else list(found) if isinstance(found, (list, tuple)) else [found]
    if hasattr(tokenizer, "get_added_vocab"):
        added = tokenizer.get_added_vocab()
        ends += [added[turn] for turn in TURN_ENDS if turn in added]
    return list(dict.fromkeys(int(token) for token in ends))
