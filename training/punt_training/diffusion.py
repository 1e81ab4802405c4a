"""The objective: a bound on the likelihood of a canvas under its masked diffusion model.

A mask ratio t is drawn uniformly from (0, 1], that share of the positions that may be masked is masked, and the network
predicts what was there; cross-entropies count 1/t. Two estimates of the same expectation with less variance are used:

* t is drawn with low discrepancy: the ratios of a batch are one uniform number plus even steps, modulo one.
* Exactly k = ceil(t n) of n positions are masked, and their cross-entropies count n/k. (k/n is uniform on its grid, as it
  is when positions are masked independently with a uniform t.)

All randomness comes from the generator passed in, so that a step is a function of its number.
"""

import torch
from torch.nn import functional as F


def mask_ratios(batch: int, generator: torch.Generator) -> torch.Tensor:
    """`batch` numbers in (0, 1], each uniform, together evenly spread."""
    start = torch.rand(1, generator=generator, dtype=torch.float64)
    return 1.0 - (start + torch.arange(batch, dtype=torch.float64) / batch) % 1.0


def choose_masked(maskable: torch.Tensor, ratios: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Which positions to mask: of each row's n maskable ones ceil(ratio n), at random. [B, L] booleans."""
    order = torch.rand(maskable.shape, generator=generator).masked_fill(~maskable, 2.0).argsort(-1).argsort(-1)
    return order < (ratios * maskable.sum(-1)).ceil().clamp(min=1)[:, None]


def masked_losses(network, canvas, masked, mask_token) -> torch.Tensor:
    """Cross-entropy at every masked position, in the order of `masked.nonzero()`. The mask is never an answer."""
    rows = network.hidden(canvas.masked_fill(masked, mask_token))[masked]
    logits = network.logits(rows)
    logits[:, mask_token] = float("-inf")
    return F.cross_entropy(logits, canvas[masked], reduction="none")


def weights(masked: torch.Tensor, maskable: torch.Tensor) -> torch.Tensor:
    """n/k of each masked position's row: what makes a sum of losses an estimate of the bound."""
    weight = maskable.sum(-1) / masked.sum(-1)
    return weight[:, None].expand(masked.shape)[masked]
