"""Sessions of PyTorch models: passes in batches of one length, read where their logits lie.

A pass knows the table of logits that its batch gave and its own places there. The table lives as long as one of its passes.
Reads that come together, of several sequences, are reduced together when they lie in one table; what reaches the host is
one array of a few numbers per row for all of them.

Under guidance a second sequence with the prompt masked stands behind each one in the batch.
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

if TYPE_CHECKING:
    from punt.torch.denoiser import Denoiser

Request = TypeVar("Request")


@dataclass
class Pass:
    """What a forward pass left behind: where its rows are."""

    table: torch.Tensor  # [N, V], shared with the batch
    place_of: npt.NDArray[np.int64]  # [L]; -1 where the row was not asked
    twin_of: npt.NDArray[np.int64] | None  # the same with the prompt masked
    row_passes: int
    attention: dict[LayerRange, torch.Tensor] = field(default_factory=dict)


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

    # Passes.

    def forward(self, queries: Sequence[Query]) -> Sequence[Pass]:
        passes: list[Any] = [None] * len(queries)
        with torch.inference_mode():
            for batch in self._batches(queries):
                for index, made in zip(batch, self._forward_batch([queries[i] for i in batch])):
                    passes[index] = made
        return passes

    def _batches(self, queries: Sequence[Query]) -> Iterator[list[int]]:
        """Queries of one length that fit into one call; those that want attention apart."""
        kinds: dict[tuple[int, bool], list[int]] = {}
        for index, query in enumerate(queries):
            kinds.setdefault((len(query.canvas), bool(query.attention)), []).append(index)
        for (length, _), indices in kinds.items():
            batch: list[int] = []
            rows = 0
            for index in indices:
                own = len(queries[index].rows) if self._torch.makes_asked_rows_only else length
                tokens = (len(batch) + 1) * length * self.passes_per_query
                size = (rows + own) * self.passes_per_query * self._torch.vocab_size * 4
                if batch and (tokens > self._torch.batch_tokens or size > self._torch.table_bytes):
                    yield batch
                    batch, rows = [], 0
                batch.append(index)
                rows += own
            yield batch

    def _forward_batch(self, queries: Sequence[Query]) -> list[Pass]:
        model = self._torch
        length = len(queries[0].canvas)
        canvases = np.stack([sequence for query in queries for sequence in self._sequences(query)]).astype(np.int64)
        reads = [self._reads(query) for query in queries]
        turns = self.passes_per_query
        asked = np.concatenate([read + (i * turns + turn) * length for i, read in enumerate(reads) for turn in range(turns)])
        output = model.call(
            torch.from_numpy(canvases).to(model.device),
            torch.from_numpy(asked).to(model.device),
            attention=bool(queries[0].attention),
        )
        if output.table.shape[1] != model.vocab_size:
            raise InputError(
                f"{model.name}: rows of {output.table.shape[1]} logits for a vocabulary of {model.vocab_size}; "
                "vocab_size= says otherwise"
            )
        passes = []
        begin = 0
        for i, (query, read) in enumerate(zip(queries, reads)):
            places = []
            for turn in range(turns):
                of_read = np.full(length, -1, np.int64)
                if output.has_asked_rows_only:
                    of_read[read] = begin + np.arange(len(read))
                    begin += len(read)
                else:
                    of_read[read] = (i * turns + turn) * length + read
                places.append(of_read[self._read_at(np.arange(length))])
            made = Pass(output.table, places[0], places[1] if self._is_guided else None, turns * length)
            for layers in query.attention:
                maps = output.attentions[layers_of(layers, len(output.attentions))]
                made.attention[layers] = torch.stack([each[i * turns].float().mean(0) for each in maps]).mean(0)
            passes.append(made)
        return passes

    def _sequences(self, query: Query) -> Iterator[Ints]:
        yield query.canvas
        if self._is_guided:
            without = query.canvas.copy()
            without[[position for position in self.options.prompt if position < len(without)]] = self._torch.mask_token
            yield without

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
