"""Rows of logits where they lie: taken out of the model's table a block at a time, in the type they are reduced in.

A table of logits is [N, V], on any device, and stays as the model made it. A block is a few of its rows in room that is
used again for the next ones, small enough for a cache, so nothing of the table's size is ever made: for
V = 126,464 and 1,024 rows that would be 500 MB. What a block must not give (the mask token, what is banned) is put out of
reach in it, and under guidance it is made of two rows of the table.

Rows are padded to a multiple of 128 tokens, for the hash that two tokens 64 apart share (draws.py) and for maxima by 128.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

LOW = -1e30  # a logit that cannot win and weighs nothing, but with which 0 * LOW is still 0
LANE = 128  # tokens of which a maximum is kept
CPU_BLOCK = 1 << 20  # numbers in a block: with its scratch it stays in the third-level cache
GPU_BLOCK = 1 << 25


@dataclass(frozen=True)
class Rows:
    """Rows to be read: places in the first dimension of a table."""

    table: torch.Tensor  # [N, V]
    places: torch.Tensor  # [R], on the table's device
    twins: torch.Tensor | None = None  # under guidance: the same rows with the prompt masked

    @property
    def vocab(self) -> int:
        return self.table.shape[1]


class Room:
    """Scratch of a session, by name; grows once and is used again."""

    def __init__(self) -> None:
        self._room: dict[tuple[str, torch.dtype, torch.device], torch.Tensor] = {}

    def take(self, name: str, shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        count = 1
        for size in shape:
            count *= size
        kept = self._room.get((name, dtype, device))
        if kept is None or kept.numel() < count:
            kept = torch.empty(count, dtype=dtype, device=device)
            self._room[name, dtype, device] = kept
        return kept[:count].view(*shape)

    def like(self, name: str, other: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
        return self.take(name, other.shape, dtype or other.dtype, other.device)


class BlockReader:
    """Makes blocks of rows. Used by one thread at a time: a block is valid until the next of its name."""

    def __init__(self, banned: Sequence[int], guidance: float = 0.0, block: int | None = None) -> None:
        self.room = Room()
        self._banned = list(banned)
        self._banned_on: dict[torch.device, torch.Tensor] = {}
        self._guidance = guidance
        self._block = block

    def spans(self, rows: Rows) -> Iterator[slice]:
        """The rows in portions of about a block each."""
        numbers = self._block or (CPU_BLOCK if rows.table.device.type == "cpu" else GPU_BLOCK)
        count = len(rows.places)
        step = max(1, numbers // rows.vocab)
        for begin in range(0, count, step):
            yield slice(begin, min(begin + step, count))

    def block(self, rows: Rows, span: slice, name: str = "block") -> torch.Tensor:
        """[r, V padded]: logits in float32 (float64 for a table of float64), LOW where no token may come from."""
        table = rows.table
        vocab = rows.vocab
        places = rows.places[span]
        padded = -(-vocab // LANE) * LANE
        dtype = torch.float64 if table.dtype == torch.float64 else torch.float32
        block = self.room.take(name, (len(places), padded), dtype, table.device)
        self._gather(table, places, block)
        if rows.twins is not None:
            without = self.room.like(name + " without prompt", block)
            self._gather(table, rows.twins[span], without)
            block[:, :vocab].sub_(without[:, :vocab]).mul_(self._guidance + 1).add_(without[:, :vocab])
        if padded > vocab:
            block[:, vocab:] = LOW
        if self._banned:
            block.index_fill_(1, self._banned_at(table.device), LOW)
        return block

    def _gather(self, table: torch.Tensor, places: torch.Tensor, block: torch.Tensor) -> None:
        vocab = table.shape[1]
        if table.dtype == block.dtype and block.shape[1] == vocab:
            torch.index_select(table, 0, places, out=block)
        else:
            block[:, :vocab].copy_(table.index_select(0, places))

    def _banned_at(self, device: torch.device) -> torch.Tensor:
        if device not in self._banned_on:
            self._banned_on[device] = torch.tensor(self._banned, dtype=torch.long, device=device)
        return self._banned_on[device]


@dataclass(frozen=True)
class Tops:
    """The best and the second of each row, [r] each."""

    top: torch.Tensor
    token: torch.Tensor  # lowest on ties
    second: torch.Tensor


def find_tops(block: torch.Tensor) -> Tops:
    """By way of the maxima of 128 tokens each: they are cheap, and what is left to search is short."""
    rows, padded = block.shape
    lanes = block.view(rows, padded // LANE, LANE)
    maxima = lanes.amax(2)
    top, lane = maxima.max(1)
    best = lanes.gather(1, lane.view(rows, 1, 1).expand(rows, 1, LANE)).squeeze(1)
    at = best.argmax(1)
    best.scatter_(1, at.unsqueeze(1), -torch.inf)
    maxima.scatter_(1, lane.unsqueeze(1), best.amax(1, keepdim=True))
    return Tops(top, lane * LANE + at, maxima.amax(1))


@dataclass(frozen=True)
class Stats:
    """What a row's softmax comes to, [r] each, float64."""

    log_sum: torch.Tensor  # of e^(logit - top)
    entropy: torch.Tensor  # nats


def weigh(block: torch.Tensor, top: torch.Tensor, room: Room, name: str = "weights") -> tuple[torch.Tensor, torch.Tensor]:
    """softmax of each row in scratch, and ln of the sum of e^(logit - top). The block becomes logit - top."""
    weights = torch.softmax(block, 1, out=room.like(name, block))
    block.sub_(top.unsqueeze(1))
    return weights, -torch.log(weights.amax(1).double())


def summarise(block: torch.Tensor, tops: Tops, room: Room) -> Stats:
    """The block becomes logit - top."""
    weights, log_sum = weigh(block, tops.top, room)
    weighted = weights.mul_(block).sum(1).double()
    # -infinity * 0: a model that rules tokens out itself.
    if bool(torch.isnan(weighted).any()):
        weighted = weights.nan_to_num_(0.0).sum(1).double()
    return Stats(log_sum, (log_sum - weighted).clamp_(min=0.0))
