"""From blocks of rows to numbers: proposals, divergences, probabilities. Everything stays on the table's device; the caller
brings what is left, a few numbers per row, to the host at once.

Most runs want what the plain softmax says and either the argmax or a Gumbel-max draw: a block is read once. Everything
else tempers and filters it in float64 first; see the engine's src/kernels/row_kernels.cc, which this follows, and
src/sample/sampler.cc, which says the same without haste.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from punt.torch.divergences import diverge_blocks
from punt.torch.draws import draw_gumbel, draw_kept, invert
from punt.torch.filters import filter_rows, temper
from punt.torch.rows import BlockReader, Rows, Tops, find_tops, summarise

if TYPE_CHECKING:
    from punt.denoiser import DivergenceOptions, ProposalOptions

FIELDS = ("token", "top_token", "token_prob", "top_prob", "second_prob", "entropy")


def propose(reader: BlockReader, rows: Rows, options: ProposalOptions, names: torch.Tensor) -> torch.Tensor:
    """[6, R] in float64, in the order of FIELDS: tokens are whole numbers there. NaN where a row has NaN or no token."""
    portions = [_propose_block(reader, rows, span, options, names[span]) for span in reader.spans(rows)]
    return torch.cat([_none(rows, len(FIELDS), 0), *portions], 1)


def diverge(reader: BlockReader, base: Rows, fresh: Rows, options: DivergenceOptions) -> torch.Tensor:
    """[R], float64. NaN where a row has NaN."""
    portions = []
    for span in reader.spans(base):
        before, after = reader.block(base, span, "block"), reader.block(fresh, span, "fresh")
        portions.append(diverge_blocks(before, after, options, reader.room))
    return torch.cat([_none(base, 0), *portions])


def token_probs(reader: BlockReader, rows: Rows, tokens: torch.Tensor) -> torch.Tensor:
    """[R], float64."""
    portions = []
    for span in reader.spans(rows):
        block = reader.block(rows, span)
        weights = torch.softmax(block, 1, out=reader.room.like("weights", block))
        portions.append(weights.gather(1, tokens[span].unsqueeze(1)).squeeze(1).double())
    return torch.cat([_none(rows, 0), *portions])


def log_probs(reader: BlockReader, rows: Rows) -> torch.Tensor:
    """[R, V]: the one reduction that is none."""
    portions = []
    for span in reader.spans(rows):
        block = reader.block(rows, span)[:, : rows.vocab]
        portions.append(torch.where(block < -1e29, -torch.inf, block).log_softmax(1))
    return torch.cat(portions) if portions else _none(rows, 0, rows.vocab)


def _none(rows: Rows, *shape: int) -> torch.Tensor:
    """What a read of no rows gives."""
    return torch.zeros(shape, dtype=torch.float64, device=rows.table.device)


def _propose_block(reader: BlockReader, rows: Rows, span: slice, options: ProposalOptions,
                   names: torch.Tensor) -> torch.Tensor:
    block = reader.block(rows, span)
    tops = find_tops(block)
    draws, temperature = options.temperature > 0, options.temperature
    filtered = options.top_p < 1 or options.min_p > 0 or 0 < options.top_k < rows.vocab
    gumbel = options.convention == "llada"
    plain = options.score_on == "untempered" or (not filtered and temperature in (0, 1))
    if plain and (not draws or (gumbel and not filtered)):
        token = draw_gumbel(block, tops.token, names, temperature, reader.room) if draws else tops.token
        return _describe(block, tops, token, reader)

    scaled = temper(block, tops.top, temperature if draws else 1.0)
    scaled.masked_fill_(block < -1e29, -torch.inf)
    filter_rows(scaled, top_p=options.top_p, top_k=options.top_k, min_p=options.min_p)
    token = tops.token
    if draws and gumbel:
        token = draw_kept(scaled, block, names, temperature)
    elif draws:
        token = invert(scaled.exp(), names)
    token = torch.where(tops.top > -1e29, token, tops.token)  # not when there is none
    if plain:
        return _describe(block, tops, token, reader)
    return _describe(scaled, find_tops(scaled), token, reader, tops.token, tops.top)


def _describe(block: torch.Tensor, tops: Tops, token: torch.Tensor, reader: BlockReader,
              top_token: torch.Tensor | None = None, top: torch.Tensor | None = None) -> torch.Tensor:
    """`token` with what the block's softmax says. The block is spent."""
    above = tops.top.double()
    logit = block.gather(1, token.unsqueeze(1)).squeeze(1).double() - above
    second = tops.second.double() - above
    stats = summarise(block, tops, reader.room)
    scale = -stats.log_sum
    has_token = (tops.top if top is None else top) > -1e29
    described = torch.stack((
        token.double(),
        (tops.token if top_token is None else top_token).double(),
        (logit + scale).exp(),
        scale.exp(),
        (second + scale).exp(),
        stats.entropy,
    ))
    return torch.where(has_token, described, torch.nan)
