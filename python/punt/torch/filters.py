"""Temperature, nucleus, top-k and min-p on blocks of rows, in float64: what the engine's FilterRow does.

Nucleus and top-k keep a prefix of the tokens sorted by logit (ties: lower token first): rank r while the mass before it is
at most top_p of the whole, and the first k. So only the last token kept has to be found. It is looked for among the 1,024
largest, which hardly ever fails, and in the whole row, sorted, where it does. Tokens are compared by logit, not by weight:
distinct logits may have equal weights, and the best one must stay. The slack makes "at most" mean the same for any order
of summing. Min-p is a bound on the logit.
"""

from __future__ import annotations

import math

import torch

SLACK = 1e-12  # kNucleusSlack
LIKELY = 1024


def temper(block: torch.Tensor, top: torch.Tensor, temperature: float) -> torch.Tensor:
    """(logit - top) / temperature, float64; -infinity stays."""
    return block.to(torch.float64, copy=True).sub_(top.double().unsqueeze(1)).div_(temperature)


def _prefix_end(scaled: torch.Tensor, limit: torch.Tensor, top_k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """How many tokens the prefix has, and the logit it ends with, looking at the largest only as far as is needed."""
    vocab = scaled.shape[1]
    count = min(LIKELY, vocab) if top_k == 0 else min(max(top_k, 1), vocab)
    while True:
        largest = scaled.topk(count, 1).values if count < vocab else scaled.sort(1, descending=True).values
        weights = largest.exp()
        before = weights.cumsum(1) - weights
        within = before <= limit.unsqueeze(1)
        kept = within.sum(1)
        if top_k > 0:
            kept = kept.clamp(max=top_k)
        if count == vocab or top_k > 0 or not bool(within[:, -1].any()):
            kept = kept.clamp(min=1)
            return kept, largest.gather(1, kept.unsqueeze(1) - 1).squeeze(1)
        count = vocab


def filter_rows(scaled: torch.Tensor, *, top_p: float = 1.0, top_k: int = 0, min_p: float = 0.0) -> torch.Tensor:
    """Drops tokens in place: -infinity. `scaled` as temper() leaves it, so that the best token has 0."""
    vocab = scaled.shape[1]
    top_k = top_k if top_k < vocab else 0
    if top_p < 1 or top_k > 0:
        total = scaled.exp().sum(1)
        limit = total * top_p * (1 + SLACK) if top_p < 1 else torch.full_like(total, math.inf)
        kept, cut = _prefix_end(scaled, limit, top_k)
        cut = cut.unsqueeze(1)
        above = (scaled > cut).sum(1)
        ties = scaled == cut
        allowed = kept - above
        if bool((ties.sum(1) > allowed).any()):  # of equal tokens, the lower ones
            ties &= ties.cumsum(1) <= allowed.unsqueeze(1)
        scaled.masked_fill_(~((scaled > cut) | ties), -math.inf)
    if min_p > 0:
        scaled.masked_fill_(scaled < math.log(min_p) - SLACK, -math.inf)
    return scaled
