"""Draws of tokens: the engine's keyed random numbers (include/punt/random.h) on any device.

Gumbel-max, argmax_v l_v + T g_v in float64, would take two logarithms per token. As in the engine, nearly all tokens are
ruled out with 16 bits of hash first: with w in [h, h + 1) / 2^16, g = -ln(-ln(1 - w)) <= -ln w <= -ln(h / 2^16), and the
bits of a float, read as an integer, bound its binary logarithm from below. That takes whole-number arithmetic of 32 bits,
which every device does fast. A first value to beat comes from the row's best token and from the one whose bound is
highest; the tokens whose bound exceeds it, a few per row, are then computed exactly. The slack stands well above the
rounding of the bound, so the token is that of the plain loop.

Dream's draw inverts one uniform number over the running sum of the kept weights, in the order of tokens.
"""

from __future__ import annotations

import math

import numpy as np
import torch

from punt.torch.rows import LANE, Room

_GOLDEN = 0x9E3779B97F4A7C15
_MIX1, _MIX2 = 0x7FEB352D, 0x846CA68B
_LN2 = math.log(2.0)


def _signed(value: int, bits: int) -> int:
    """The number whose two's complement has these bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _shift(x: torch.Tensor, by: int, bits: int) -> torch.Tensor:
    """Zeros come in from above."""
    return (x >> by) & ((1 << (bits - by)) - 1)


def _mix64(x: torch.Tensor) -> torch.Tensor:
    x = x ^ _shift(x, 30, 64)
    x = x * _signed(0xBF58476D1CE4E5B9, 64)
    x = x ^ _shift(x, 27, 64)
    x = x * _signed(0x94D049BB133111EB, 64)
    return x ^ _shift(x, 31, 64)


def _mix32(x: torch.Tensor) -> torch.Tensor:
    x = (x ^ _shift(x, 16, 32)) * _signed(_MIX1, 32)
    x = (x ^ _shift(x, 15, 32)) * _signed(_MIX2, 32)
    return x ^ _shift(x, 16, 32)


def _halves(names: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower and the upper 32 bits of int64, as int32."""
    pairs = names.contiguous().view(torch.int32).view(*names.shape, 2)
    return pairs[..., 0], pairs[..., 1]


def names_on(device: torch.device, names: np.ndarray) -> torch.Tensor:
    """Names of streams (uint64) as int64 of the same bits."""
    return torch.from_numpy(names.view(np.int64)).to(device)


def uniforms(names: torch.Tensor) -> torch.Tensor:
    """The first number of each stream, within (0, 1), float64."""
    bits = _shift(_mix64(names + _signed(_GOLDEN, 64)), 11, 64)
    return (bits.double() + 0.5) * 2.0**-53


def token_gumbels(names: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The Gumbel of each token in the stream beside it, float64."""
    more = _shift(_mix64(names + (tokens + 1) * _signed(_GOLDEN, 64)), 27, 64)
    low, high = _halves(names)
    pair = _mix32(_mix32((tokens & ~64).int() + low) ^ high)
    leading = torch.where((tokens & 64) != 0, _shift(pair, 16, 32), pair & 0xFFFF)
    bits = (leading.long() << 37) | more
    w = (bits.double() + 0.5) * 2.0**-53
    return -torch.log(-torch.log1p(-w))


def _bounds(block: torch.Tensor, names: torch.Tensor, temperature: float, room: Room) -> torch.Tensor:
    """Above each logit + T g by no less than -T ln 2 * 143; float32."""
    rows, padded = block.shape
    lanes = padded // LANE
    device = block.device
    low, high = _halves(names)
    tokens = torch.arange(lanes, dtype=torch.int32, device=device).view(1, lanes, 1) * LANE
    tokens = tokens + torch.arange(64, dtype=torch.int32, device=device)
    x = room.take("hash", (rows, lanes, 64), torch.int32, device)
    y = room.like("hash shifted", x)
    torch.add(tokens, low.view(rows, 1, 1), out=x)

    def fold(by: int) -> None:  # x ^= x >> by
        torch.bitwise_right_shift(x, by, out=y)
        y.bitwise_and_((1 << (32 - by)) - 1)
        x.bitwise_xor_(y)

    for last in (False, True):
        fold(16)
        x.mul_(_signed(_MIX1, 32))
        fold(15)
        x.mul_(_signed(_MIX2, 32))
        fold(16)
        if not last:
            x.bitwise_xor_(high.view(rows, 1, 1))
    leading = room.take("hash halves", (rows, lanes, 2, 64), torch.float32, device)
    leading[:, :, 1] = torch.bitwise_right_shift(x, 16, out=y).bitwise_and_(0xFFFF)
    leading[:, :, 0] = x.bitwise_and_(0xFFFF)
    bits = room.take("bounds", (rows, padded), torch.float32, device)
    bits.copy_(leading.view(torch.int32).view(rows, padded))
    logits = block if block.dtype == torch.float32 else block.float()
    return torch.add(logits, bits, alpha=-temperature * _LN2 * 2.0**-23, out=bits)


def _best(rows: int, row: torch.Tensor, token: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """The token of each row's largest value, lowest on ties; 0 where there is none, which is for the caller to tell."""
    highest = value.new_full((rows,), -torch.inf).scatter_reduce(0, row, value, "amax")
    is_best = value == highest[row]
    none = torch.iinfo(torch.long).max
    lowest = token.new_full((rows,), none).scatter_reduce(0, row[is_best], token[is_best], "amin")
    return torch.where(lowest == none, 0, lowest)


def draw_gumbel(block: torch.Tensor, top_token: torch.Tensor, names: torch.Tensor, temperature: float,
                room: Room) -> torch.Tensor:
    """argmax_v block_v + temperature * Gumbel_v in float64, lowest token on ties; [r]. temperature > 0."""
    rows, padded = block.shape

    def values(row: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        return block[row, token].double() + temperature * token_gumbels(names[row], token)

    every = torch.arange(rows, device=block.device)
    if not 1e-20 < temperature < 1e20:  # float32 has no room for bounds
        row, token = (block > -1e29).nonzero(as_tuple=True)
        return _best(rows, row, token, values(row, token))
    bounds = _bounds(block, names, temperature, room)
    maxima = bounds.view(rows, padded // LANE, LANE).amax(2)
    lane = maxima.argmax(1)
    highest = lane * LANE + bounds.view(rows, padded // LANE, LANE)[every, lane].argmax(1)
    to_beat = torch.maximum(values(every, top_token), values(every, highest))
    limit = to_beat - temperature * _LN2 * 143
    limit = (limit - 2.0**-19 * (limit.abs() + 256 * temperature)).float()
    row, lane = (maxima > limit.unsqueeze(1)).nonzero(as_tuple=True)
    some, at = (bounds.view(rows, padded // LANE, LANE)[row, lane] > limit[row].unsqueeze(1)).nonzero(as_tuple=True)
    row, token = row[some], lane[some] * LANE + at
    return _best(rows, row, token, values(row, token))


def draw_kept(scaled: torch.Tensor, block: torch.Tensor, names: torch.Tensor, temperature: float) -> torch.Tensor:
    """The same over tokens that filters kept, which are mostly few: those whose `scaled` is above -infinity."""
    row, token = (scaled > -1e29).nonzero(as_tuple=True)
    value = block[row, token].double() + temperature * token_gumbels(names[row], token)
    return _best(len(block), row, token, value)


def invert(weights: torch.Tensor, names: torch.Tensor) -> torch.Tensor:
    """The first token at which the running sum of the weights exceeds u times their total; [r]. float64."""
    sums = weights.cumsum(1)
    target = uniforms(names) * sums[:, -1]
    token = (sums <= target.unsqueeze(1)).sum(1)
    tokens = torch.arange(weights.shape[1], device=weights.device)
    last = torch.where(weights > 0, tokens, 0).amax(1)
    return torch.minimum(token, last)
