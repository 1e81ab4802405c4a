"""Modules and callables as one thing: tokens in, a table of logits out, with what is known of the model."""

from __future__ import annotations

import inspect
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from punt.errors import InputError
from punt.torch.registry import Architecture
from punt.torch.states import Layers, layers_of, new_cache

UNLIMITED = 1 << 20  # positions, where nothing says how many


@dataclass
class Output:
    """What one call of a model gave."""

    table: torch.Tensor  # [B L, V], or [R, V] where only the rows asked were made
    has_asked_rows_only: bool
    attentions: Sequence[torch.Tensor]  # [B, H, L, L] per layer; empty unless asked
    states: Layers = ()  # of the past and of this call; empty unless kept


def find_config(model: Any, *names: str) -> Any:
    """The first of these that the configuration has."""
    config = getattr(model, "config", None)
    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return value
    return None


def find_device(model: Any) -> torch.device:
    if isinstance(model, torch.nn.Module):
        for tensor in (*model.parameters(), *model.buffers()):
            return tensor.device
    return torch.device("cpu")


def block_mask(length: int, block: int, like: str, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """[1, 1, L, L]: position i sees j where j's block is not behind i's. Without blocks, everything."""
    blocks = torch.arange(length, device=device) // (block or length)
    sees = (blocks.unsqueeze(1) >= blocks.unsqueeze(0)).view(1, 1, length, length)
    if like == "bool":
        return sees
    return torch.zeros(sees.shape, dtype=dtype, device=device).masked_fill_(~sees, torch.finfo(dtype).min)


def shadow_mask(length: int, shadows: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """[B, 1, L, L] as "bias": the last S tokens are shadows of these positions [B, S]."""
    batch, count = shadows.shape
    own = length - count
    sees = torch.zeros((batch, length, length), dtype=torch.bool, device=shadows.device)
    sees[:, :, :own] = True
    sees[:, own:, :own].scatter_(2, shadows.unsqueeze(2), False)
    sees[:, own:, own:] = torch.eye(count, dtype=torch.bool, device=shadows.device)
    bias = torch.zeros((batch, 1, length, length), dtype=dtype, device=shadows.device)
    return bias.masked_fill_(~sees.unsqueeze(1), torch.finfo(dtype).min)


def _parameters_of(model: Callable[..., Any]) -> set[str]:
    """What a module's forward takes by name."""
    try:
        return set(inspect.signature(getattr(model, "forward", model)).parameters)
    except (TypeError, ValueError):
        return set()


class _Forks(threading.local):
    """A process that is forked off has none of the threads: whoever calls a model must have ended by then, or its lock would
    stay taken in the child, and the model as it was in the middle of a call."""

    def __init__(self) -> None:
        self.held: list[Caller] = []

    def before(self) -> None:
        for caller in list(_callers):
            caller.lock.acquire()
            self.held.append(caller)

    def after(self) -> None:
        while self.held:
            self.held.pop().lock.release()


_callers: weakref.WeakSet[Caller] = weakref.WeakSet()
_forks = _Forks()
os.register_at_fork(before=_forks.before, after_in_parent=_forks.after, after_in_child=_forks.after)


class Caller:
    """Calls a model. Several threads may; the model sees one at a time."""

    def __init__(self, model: Callable[..., Any], row: Architecture, *, name: str, device: torch.device, block: int,
                 asked_rows_only: bool) -> None:
        self._model = model
        self._row = row
        self._name = name
        self._device = device
        self._block = block
        self.lock = threading.RLock()  # a module may ask a model that is itself
        self._masks: dict[int, torch.Tensor] = {}
        _callers.add(self)
        self._head = self._find_head() if asked_rows_only else None
        self._takes_mask = self._requires("attention_mask")
        self._names = _parameters_of(model)
        implementation = find_config(model, "_attn_implementation")
        if block and row.fused_only and implementation == "eager":
            raise InputError(f"{name}: blocks need attn_implementation='sdpa', got '{implementation}'")
        parameter = next(iter(model.parameters()), None) if isinstance(model, torch.nn.Module) else None
        self._dtype = parameter.dtype if parameter is not None and parameter.is_floating_point() else torch.float32

    @property
    def makes_asked_rows_only(self) -> bool:
        return self._head is not None

    @property
    def has_caches(self) -> bool:
        return self._row.caches and {"past_key_values", "use_cache"} <= self._names

    @property
    def has_shadows(self) -> bool:
        return self._row.shadows and {"position_ids", "attention_mask"} <= self._names and not self._block

    def __call__(self, tokens: torch.Tensor, asked: torch.Tensor, attention: bool = False, *, past: Layers = (),
                 keep: bool = False, shadows: torch.Tensor | None = None) -> Output:
        """One call for `tokens` [B, L]. `asked` are places in the B L rows, in the order in which they are wanted.

        `past` are keys and values of what stands before the tokens; with `keep`, those of all come back. `shadows` [B, S]:
        the last S tokens have the positions of others, see all but those, and are seen by none.
        """
        batch, length = tokens.shape
        begin = past[0][0].shape[2] if past else 0
        arguments: dict[str, Any] = {}
        if self._block and self._row.mask == "block_size":
            arguments["block_size"] = self._block
        elif self._block or self._row.is_causal:
            arguments["attention_mask"] = self._block_mask(begin + length)[:, :, begin:].expand(batch, -1, -1, -1)
        elif self._takes_mask:
            arguments["attention_mask"] = tokens.new_ones((batch, begin + length))
        if shadows is not None and shadows.shape[1]:
            positions = torch.arange(length - shadows.shape[1], device=tokens.device).expand(batch, -1)
            arguments["position_ids"] = torch.cat((positions, shadows), 1) + self._row.first_position
            arguments["attention_mask"] = shadow_mask(length, shadows, self._dtype)
        cache = None
        if past or keep:
            cache = new_cache(past)
            arguments["past_key_values"], arguments["use_cache"] = cache, True
            if keep and self._row.store:
                arguments[self._row.store] = True
            if begin and "position_ids" in self._names:
                arguments["position_ids"] = torch.arange(begin, begin + length, device=tokens.device).expand(batch, -1)
        if attention:
            arguments["output_attentions"] = True
        reduced: list[bool] = []
        with self.lock, ExitStack() as stack:
            if attention:
                stack.enter_context(self._with_plain_attention())
            if self._head is not None:
                stack.enter_context(self._head.register_forward_pre_hook(_keep_rows(tokens, asked, reduced)))
            output = self._model(tokens, **arguments)
        count = len(asked) if reduced else batch * length
        table = self._table_of(output, tokens, (1, count) if reduced else (batch, length))
        states = layers_of(cache) if keep else ()
        if keep and not (states and states[0][0] is not None and states[0][0].shape[2] == begin + length):
            raise InputError(f"{self._name}: the model kept no keys and values in past_key_values")
        return Output(table, bool(reduced), self._attentions_of(output) if attention else (), states)

    def _table_of(self, output: Any, tokens: torch.Tensor, rows: tuple[int, int]) -> torch.Tensor:
        logits = output
        if not isinstance(output, torch.Tensor):
            logits = getattr(output, "logits", None)
            if logits is None and isinstance(output, dict):
                logits = output.get("logits")
            if logits is None and isinstance(output, (tuple, list)) and output:
                logits = output[0]
        if not isinstance(logits, torch.Tensor):
            raise InputError(f"{self._name}: the model returned {type(output).__name__}, not logits")
        if logits.dim() != 3 or tuple(logits.shape[:2]) != rows or not logits.is_floating_point():
            raise InputError(
                f"{self._name}: logits of shape {list(logits.shape)} and type {logits.dtype} for tokens of shape "
                f"{list(tokens.shape)}; expected numbers of shape [{tokens.shape[0]}, {tokens.shape[1]}, V]"
            )
        return logits.flatten(0, 1)

    def _attentions_of(self, output: Any) -> Sequence[torch.Tensor]:
        maps = getattr(output, "attentions", None)
        if not maps or any(each is None for each in maps):
            raise InputError(f"{self._name}: the model returned no attention maps")
        return tuple(maps)

    def _block_mask(self, length: int) -> torch.Tensor:
        if length not in self._masks:
            self._masks.clear()
            self._masks[length] = block_mask(length, self._block, self._row.mask, self._dtype, self._device)
        return self._masks[length]

    def _find_head(self) -> torch.nn.Module | None:
        module: Any = self._model
        for name in self._row.head.split(".") if self._row.head else ():
            module = getattr(module, name, None)
        is_found = self._row.head and isinstance(module, torch.nn.Module)
        return module if is_found else None

    def _requires(self, name: str) -> bool:
        """Whether it is a parameter that must be given. Modules of transformers have defaults for all."""
        try:
            parameters = inspect.signature(self._model).parameters
        except (TypeError, ValueError):
            return False
        return name in parameters and parameters[name].default is inspect.Parameter.empty

    @contextmanager
    def _with_plain_attention(self) -> Iterator[None]:
        """Fused attention has no maps to return."""
        now = find_config(self._model, "_attn_implementation")
        change = getattr(self._model, "set_attn_implementation", None)
        if change is None or now in (None, "eager"):
            yield
            return
        change("eager")
        try:
            yield
        finally:
            change(now)


def _keep_rows(tokens: torch.Tensor, asked: torch.Tensor, reduced: list[bool]) -> Callable[..., Any]:
    """A hook before the head: of the hidden states, those that are asked. `reduced` tells whether it could."""

    def keep(module: torch.nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
        states = arguments[0] if arguments else None
        if not isinstance(states, torch.Tensor) or states.shape[:2] != tokens.shape or states.dim() != 3:
            return None
        reduced.append(True)
        return (states.flatten(0, 1).index_select(0, asked).unsqueeze(0), *arguments[1:])

    return keep
