"""Keys and values that a model keeps, for passes that begin with the same tokens: a prompt is computed once.

Modules of transformers take them as `past_key_values` and compute the tokens behind them alone. What is reused is always a
prefix of the canvas, and how good that is depends on who sees whom:

block-causal   A position's keys and values depend on no token behind its own block. A prefix of whole blocks with the same
               tokens gives the same keys and values, so passes that reuse it are exact, up to the rounding of sums over
               other shapes. `PrefixStore` finds such prefixes by their tokens, whoever computed them.
both ways      Every key depends on every token. To reuse one is the approximation of the caches of include/punt/cache.h
               (`cache="prefix"`): the engine says which positions may be seen as they were, and of these the prefix is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Layers = tuple[tuple[torch.Tensor, torch.Tensor], ...]  # keys and values, [B, H, L, D] each
Tokens = npt.NDArray[np.int32]


@dataclass(frozen=True)
class States:
    """Those of one sequence."""

    tokens: Tokens  # [n]
    layers: Layers  # B is 1

    def first(self, count: int) -> States:
        layers = tuple((keys[:, :, :count], values[:, :, :count]) for keys, values in self.layers)
        return States(self.tokens[:count], layers)

    def copy(self) -> States:
        """One that does not hold on to what it was cut from."""
        return States(self.tokens.copy(), tuple((keys.clone(), values.clone()) for keys, values in self.layers))


def stack(states: Sequence[States]) -> Layers:
    """As a batch; all of one length."""
    by_layer = zip(*(each.layers for each in states))
    return tuple((torch.cat([keys for keys, _ in layer]), torch.cat([values for _, values in layer])) for layer in by_layer)


def split(layers: Layers, tokens: Sequence[Tokens]) -> list[States]:
    """The sequences of a batch."""
    return [
        States(each, tuple((keys[i : i + 1], values[i : i + 1]) for keys, values in layers))
        for i, each in enumerate(tokens)
    ]


def new_cache(past: Layers) -> Any:
    """As transformers has it."""
    from transformers import DynamicCache

    cache = DynamicCache()
    for number, (keys, values) in enumerate(past):
        cache.update(keys, values, number)
    return cache


def layers_of(cache: Any) -> Layers:
    if hasattr(cache, "layers"):
        return tuple((layer.keys, layer.values) for layer in cache.layers)
    return tuple(zip(cache.key_cache, cache.value_cache))  # transformers before 4.54


def common_prefix(a: Tokens, b: Tokens) -> int:
    count = min(len(a), len(b))
    different = np.flatnonzero(a[:count] != b[:count])
    return int(different[0]) if len(different) else count


class PrefixStore:
    """Prefixes of whole blocks, by their tokens. As many as two for each sequence of the largest batch are kept."""

    def __init__(self, block: int) -> None:
        self._block = block
        self._kept: OrderedDict[bytes, States] = OrderedDict()
        self._room = 4

    def find(self, tokens: Tokens, most: int) -> States | None:
        """The longest one that `tokens` begin with, of at most `most` of them."""
        for count in range(most - most % self._block, 0, -self._block):
            key = tokens[:count].tobytes()
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        return None

    def keep(self, states: Sequence[States], counts: Sequence[int]) -> None:
        """The first `counts` tokens of each, in whole blocks."""
        self._room = max(self._room, 2 * len(states))
        for each, count in zip(states, counts):
            count -= count % self._block
            key = each.tokens[:count].tobytes()
            if count and key not in self._kept:
                self._kept[key] = each.first(count).copy()
        while len(self._kept) > self._room:
            self._kept.popitem(last=False)
