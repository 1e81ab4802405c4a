"""Sessions of PyTorch models: passes in batches of one length, read where their logits lie.

A pass knows the table of logits that its batch gave and its own places there. The table lives as long as one of its passes.
Reads that come together, of several sequences, are reduced together when they lie in one table; what reaches the host is
one array of a few numbers per row for all of them.

Under guidance a second sequence with the prompt masked stands behind each one in the batch. Where keys and values of
earlier passes may be reused (states.py), the model is given the tokens behind them alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from punt import random
from punt.denoiser import (
    DivergenceRequest,
    Ints,
    LayerRange,
    ProposalRequest,
    Proposals,
    Query,
    Session,
    SessionOptions,
    TokenProbRequest,
)
from punt.errors import InputError
from punt.torch import reductions
from punt.torch.draws import names_on
from punt.torch.rows import BlockReader, Rows
from punt.torch.states import PrefixStore, States, common_prefix, split, stack

if TYPE_CHECKING:
    from punt.torch.denoiser import Denoiser

Request = TypeVar("Request")


@dataclass
class Pass:
    """What a forward pass left behind: where its rows are."""

    table: torch.Tensor  # [N, V], shared with the batch
    place_of: npt.NDArray[np.int64]  # [L + S], shadows last; -1 where the row was not asked
    twin_of: npt.NDArray[np.int64] | None  # the same with the prompt masked
    row_passes: int
    attention: dict[LayerRange, torch.Tensor] = field(default_factory=dict)
    states: list[States] = field(default_factory=list)  # of the canvas, and of its twin; empty unless kept


@dataclass
class Work:
    """A query as it is computed."""

    index: int  # among the queries
    query: Query
    sequences: list[Ints]  # the canvas, and its twin; with shadows
    past: list[States]  # of each, what need not be computed; all of one length
    known: int  # that length

    @property
    def kind(self) -> tuple[int, int, int, bool, bool]:
        """What a batch has in common."""
        query = self.query
        return len(query.canvas), len(query.shadows), self.known, bool(query.attention), query.keep_states


def layers_of(layers: LayerRange, count: int) -> slice:
    """A share that names a layer exactly must not lose it to rounding."""
    first = min(math.floor(layers.begin * count + 1e-9), count - 1)
    return slice(first, max(math.ceil(layers.end * count - 1e-9), first + 1))


class TorchSession(Session):
    def __init__(self, denoiser: Denoiser, options: SessionOptions) -> None:
        super().__init__(denoiser, options)
        self._torch = denoiser
        never = {denoiser.mask_token, *denoiser.never, *options.banned_tokens}
        for token in never:
            if not 0 <= token < denoiser.vocab_size:
                raise InputError(f"banned token {token} lies outside the vocabulary of {denoiser.vocab_size}")
        if len(never) == denoiser.vocab_size:
            raise InputError(f"all {denoiser.vocab_size} tokens of {denoiser.name} are banned")
        if not math.isfinite(options.guidance):
            raise InputError(f"guidance must be finite, got {options.guidance}")
        if options.freeze_mask_ratio and denoiser.has_token_dropout:
            raise InputError(f"{denoiser.name}: freeze_mask_ratio is for GGUF models, a module scales by its own count")
        self._is_guided = options.guidance != 0
        self.passes_per_query = 2 if self._is_guided else 1
        self._reader = BlockReader(sorted(never), options.guidance, denoiser.block_numbers)
        self._prefixes = PrefixStore(denoiser.block) if denoiser.prefix_cache else None

    # Passes.

    def forward(self, queries: Sequence[Query]) -> Sequence[Pass]:
        passes: list[Any] = [None] * len(queries)
        with torch.inference_mode():
            for batch in self._batches([self._work(index, query) for index, query in enumerate(queries)]):
                for work, made in zip(batch, self._forward_batch(batch)):
                    passes[work.index] = made
        for query, made in zip(queries, passes):
            if query.keep_states and query.states is not None and made.states:
                query.states.states = []  # taken over
        return passes

    def _work(self, index: int, query: Query) -> Work:
        mask = np.full(len(query.shadows), self._torch.mask_token, np.int32)
        sequences = [np.concatenate((each, mask)) for each in self._sequences(query)]
        past = self._past(query, sequences)
        return Work(index, query, sequences, past, len(past[0].tokens) if past else 0)

    def _past(self, query: Query, sequences: Sequence[Ints]) -> list[States]:
        """What is known of the tokens that the sequences begin with, if it may be used."""
        model = self._torch
        if not model.has_caches or query.attention or len(query.shadows):
            return []
        most = min([len(query.canvas) - 1, *self._reads(query).tolist()])
        kept = query.states.states if query.states is not None else []
        if kept:
            count = min(most, *(common_prefix(each.tokens, sequence) for each, sequence in zip(kept, sequences)))
            if model.block:
                count -= count % model.block
            else:
                is_stale = np.zeros(most + 1, bool)
                is_stale[query.stale[query.stale < most]] = True
                count = min(count, int(is_stale.argmin()))
            return [each.first(count) for each in kept] if count else []
        if self._prefixes is None:
            return []
        found = [self._prefixes.find(sequence, most) for sequence in sequences]
        count = min(0 if each is None else len(each.tokens) for each in found)
        return [each.first(count) for each in found if each is not None] if count else []

    def _batches(self, works: Sequence[Work]) -> Iterator[list[Work]]:
        """Those of one kind that fit into one call."""
        kinds: dict[Any, list[Work]] = {}
        for work in works:
            kinds.setdefault(work.kind, []).append(work)
        for (length, shadows, known, _, _), alike in kinds.items():
            length += shadows - known
            batch: list[Work] = []
            rows = 0
            for work in alike:
                own = len(work.query.rows) if self._torch.makes_asked_rows_only else length
                tokens = (len(batch) + 1) * length * self.passes_per_query
                size = (rows + own) * self.passes_per_query * self._torch.vocab_size * 4
                if batch and (tokens > self._torch.batch_tokens or size > self._torch.table_bytes):
                    yield batch
                    batch, rows = [], 0
                batch.append(work)
                rows += own
            yield batch

    def _forward_batch(self, batch: Sequence[Work]) -> list[Pass]:
        model = self._torch
        known, turns = batch[0].known, self.passes_per_query
        sequences = [sequence for work in batch for sequence in work.sequences]
        tokens = np.stack(sequences)[:, known:].astype(np.int64)
        length = tokens.shape[1]
        reads = [self._reads(work.query) - known for work in batch]
        asked = np.concatenate([read + (i * turns + turn) * length for i, read in enumerate(reads) for turn in range(turns)])
        keeps = model.has_caches and (batch[0].query.keep_states or self._prefixes is not None)
        shadows = np.stack([work.query.shadows for work in batch for _ in range(turns)]).astype(np.int64)
        output = model.call(
            torch.from_numpy(tokens).to(model.device),
            torch.from_numpy(asked).to(model.device),
            attention=bool(batch[0].query.attention),
            past=stack([states for work in batch for states in work.past]) if known else (),
            keep=keeps,
            shadows=torch.from_numpy(shadows).to(model.device),
        )
        if output.table.shape[1] != model.vocab_size:
            raise InputError(
                f"{model.name}: rows of {output.table.shape[1]} logits for a vocabulary of {model.vocab_size}; "
                "vocab_size= says otherwise"
            )
        states = split(output.states, sequences) if keeps else []
        if self._prefixes is not None:
            filled = [self._filled(work.query) for work in batch for _ in range(turns)]
            self._prefixes.keep(states, filled)
        passes = []
        begin = 0
        for i, (work, read) in enumerate(zip(batch, reads)):
            places = []
            for turn in range(turns):
                of_read = np.full(known + length, -1, np.int64)
                if output.has_asked_rows_only:
                    of_read[known + read] = begin + np.arange(len(read))
                    begin += len(read)
                else:
                    of_read[known + read] = (i * turns + turn) * length + read
                places.append(of_read[self._read_at(np.arange(known + length))])
            made = Pass(output.table, places[0], places[1] if self._is_guided else None, turns * length)
            if work.query.keep_states and keeps:
                made.states = states[i * turns : (i + 1) * turns]
            for layers in work.query.attention:
                maps = output.attentions[layers_of(layers, len(output.attentions))]
                own = len(work.query.canvas)  # without shadows
                heads = [each[i * turns, :, :own, :own].float().mean(0) for each in maps]
                made.attention[layers] = torch.stack(heads).mean(0)
            passes.append(made)
        return passes

    def _sequences(self, query: Query) -> Iterator[Ints]:
        yield query.canvas
        if self._is_guided:
            without = query.canvas.copy()
            without[[position for position in self.options.prompt if position < len(without)]] = self._torch.mask_token
            yield without

    def _filled(self, query: Query) -> int:
        """How many positions before the first mask."""
        masked = np.flatnonzero(query.canvas == self._torch.mask_token)
        return int(masked[0]) if len(masked) else len(query.canvas)

    def _read_at(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Where the model says what it thinks of a position."""
        return np.maximum(rows - 1, 0) if self._torch.shift else rows

    def _reads(self, query: Query) -> npt.NDArray[np.int64]:
        return np.unique(self._read_at(query.rows)).astype(np.int64)

    # Reads.

    def propose(self, requests: Sequence[ProposalRequest]) -> Sequence[Proposals]:
        with torch.inference_mode():
            read = self._together(
                requests,
                [(request.handle,) for request in requests],
                [request.options for request in requests],
                lambda group, rows: reductions.propose(self._reader, rows[0], group[0].options, self._names(group)),
            )
        return [self._checked(request, numbers) for request, numbers in zip(requests, read)]

    def diverge(self, requests: Sequence[DivergenceRequest]) -> Sequence[npt.ArrayLike]:
        with torch.inference_mode():
            read = self._together(
                requests,
                [(request.base, request.fresh) for request in requests],
                [request.options for request in requests],
                lambda group, rows: reductions.diverge(self._reader, rows[0], rows[1], group[0].options).unsqueeze(0),
            )
        for request, numbers in zip(requests, read):
            self._refuse_nan(numbers, request.rows)
        return [numbers[0] for numbers in read]

    def token_probs(self, requests: Sequence[TokenProbRequest]) -> Sequence[npt.ArrayLike]:
        def reduce(group: Sequence[TokenProbRequest], rows: Sequence[Rows]) -> torch.Tensor:
            tokens = np.concatenate([request.tokens for request in group]).astype(np.int64)
            on_device = torch.from_numpy(tokens).to(rows[0].table.device)
            return reductions.token_probs(self._reader, rows[0], on_device).unsqueeze(0)

        with torch.inference_mode():
            read = self._together(requests, [(request.handle,) for request in requests], [None] * len(requests), reduce)
        for request, numbers in zip(requests, read):
            self._refuse_nan(numbers, request.rows)
        return [numbers[0] for numbers in read]

    def log_probs(self, handle: Pass, rows: Ints) -> npt.ArrayLike:
        with torch.inference_mode():
            dense = reductions.log_probs(self._reader, self._rows_of(handle, rows)).cpu().numpy()
        self._refuse_nan(dense.max(1, initial=-np.inf)[None], rows)
        return dense

    def attention(self, handle: Pass, layers: LayerRange) -> npt.ArrayLike:
        if layers not in handle.attention:
            raise InputError(f"{self._torch.name}: attention of layers that the pass was not asked to keep")
        return handle.attention[layers].cpu().numpy()

    def _together(
        self,
        requests: Sequence[Any],
        passes: Sequence[tuple[Pass, ...]],
        options: Sequence[Any],
        reduce: Callable[[Sequence[Any], Sequence[Rows]], torch.Tensor],
    ) -> list[npt.NDArray[np.float64]]:
        """What `reduce` makes of each request, [numbers, R]: neighbours with the same tables and options at once, and all
        of it to the host at once."""
        groups: list[list[int]] = []
        for index in range(len(requests)):
            last = groups[-1][-1] if groups else -1
            is_like_last = last >= 0 and options[index] == options[last] and all(
                a.table is b.table for a, b in zip(passes[index], passes[last])
            )
            if is_like_last:
                groups[-1].append(index)
            else:
                groups.append([index])
        reduced = []
        for group in groups:
            rows = [
                self._gather([(passes[i][side], requests[i].rows) for i in group]) for side in range(len(passes[group[0]]))
            ]
            reduced.append(reduce([requests[i] for i in group], rows))
        if not reduced:
            return []
        numbers = torch.cat(reduced, 1).cpu().numpy()
        ends = np.cumsum([len(request.rows) for request in requests])
        return np.split(numbers, ends[:-1], axis=1)

    def _rows_of(self, handle: Pass, rows: Ints) -> Rows:
        return self._gather([(handle, rows)])

    def _gather(self, parts: Sequence[tuple[Pass, Ints]]) -> Rows:
        table = parts[0][0].table

        def places(kind: str) -> torch.Tensor:
            found = np.concatenate([getattr(handle, kind)[rows] for handle, rows in parts])
            if (found < 0).any():
                raise InputError(f"{self._torch.name}: a read of a row that the pass was not asked for")
            return torch.from_numpy(found).to(table.device)

        return Rows(table, places("place_of"), places("twin_of") if self._is_guided else None)

    def _names(self, group: Sequence[ProposalRequest]) -> torch.Tensor:
        names = [random.stream_names(request.key, request.positions) for request in group]
        return names_on(group[0].handle.table.device, np.concatenate(names))

    def _checked(self, request: ProposalRequest, numbers: npt.NDArray[np.float64]) -> Proposals:
        self._refuse_nan(numbers, request.rows)
        tokens = numbers[:2].astype(np.int32)
        return Proposals(tokens[0], tokens[1], *numbers[2:])

    def _refuse_nan(self, numbers: npt.NDArray[np.float64], rows: Ints) -> None:
        bad = np.isnan(numbers).any(0)
        if bad.any():
            raise InputError(
                f"{self._torch.name}: the logits of position {int(rows[int(bad.argmax())])} are no distribution: "
                "there is NaN or infinity among them, or no token is left"
            )
