"""How far rows moved, block by block.

With za and zb the logits above their best, pa and pb their softmax and Sa and Sb the sums of e^z,

    KL(a || b) = sum pa (za - zb) + ln Sb - ln Sa
    TV = 1/2 sum |pa - pb|
    JS = 1/2 sum [ high t + low (t - |ln pa - ln pb|) ],  t = ln 2 - ln(1 + low / high)

with high and low the larger and the smaller of pa and pb. The terms are differences of logits, so what cancels is no larger
than the distance of the rows: equal rows give 0. Rows in which the model rules tokens out with -infinity, and rows after
temperature or a nucleus, are compared in float64 with their support looked at.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from punt.torch.filters import filter_rows, temper
from punt.torch.rows import Room, find_tops, weigh

if TYPE_CHECKING:
    from punt.denoiser import DivergenceOptions


def diverge_blocks(base: torch.Tensor, fresh: torch.Tensor, options: DivergenceOptions, room: Room) -> torch.Tensor:
    """[r], float64, not negative; NaN where a row has NaN. May change both blocks."""
    if options.temperature == 1 and options.top_p >= 1:
        # A model's own -infinity would be lost in the differences below.
        if not bool(torch.isinf(base.amin(1)).any() | torch.isinf(fresh.amin(1)).any()):
            return _plain(base, fresh, options.kind, room)
    return _with_support(_prepared(base, options), _prepared(fresh, options), options.kind)


def _plain(base: torch.Tensor, fresh: torch.Tensor, kind: str, room: Room) -> torch.Tensor:
    if kind == "kl-new-base":
        base, fresh = fresh, base
    pa, log_a = weigh(base, base.amax(1), room, "weights")
    pb, log_b = weigh(fresh, fresh.amax(1), room, "fresh weights")
    if kind in ("kl-base-new", "kl-new-base"):
        moved = base.sub_(fresh).mul_(pa).sum(1).double()
        return (moved + log_b - log_a).clamp_(min=0.0)
    if kind == "tv":
        return pa.sub_(pb).abs_().sum(1).double() / 2
    base.sub_(log_a.to(base.dtype).unsqueeze(1))
    fresh.sub_(log_b.to(fresh.dtype).unsqueeze(1))
    distance = base.sub_(fresh).abs_()
    return _jensen_shannon(pa, pb, distance).double().clamp_(min=0.0)


def _jensen_shannon(pa: torch.Tensor, pb: torch.Tensor, distance: torch.Tensor) -> torch.Tensor:
    high, low = torch.maximum(pa, pb), torch.minimum(pa, pb)
    t = math.log(2.0) - torch.log1p(low / high.clamp(min=torch.finfo(high.dtype).tiny))
    return (high * t + torch.where(low > 0, low * (t - distance), 0.0)).sum(1) / 2


def _prepared(block: torch.Tensor, options: DivergenceOptions) -> torch.Tensor:
    """ln of the compared distribution, float64, -infinity where a token is impossible."""
    tops = find_tops(block)
    if options.temperature == 0:
        only = torch.full_like(block, -math.inf, dtype=torch.float64)
        only.scatter_(1, tops.token.unsqueeze(1), 0.0)
        return only + 0.0 * tops.top.double().unsqueeze(1)  # NaN stays NaN
    scaled = temper(block, tops.top, options.temperature)
    scaled.masked_fill_(block < -1e29, -math.inf)
    return filter_rows(scaled, top_p=options.top_p).log_softmax(1)


def _with_support(a: torch.Tensor, b: torch.Tensor, kind: str) -> torch.Tensor:
    if kind == "kl-new-base":
        a, b = b, a
    pa, pb = a.exp(), b.exp()
    if kind == "tv":
        return (pa - pb).abs().sum(1) / 2
    distance = torch.where(a == b, 0.0, a - b)
    if kind == "js":
        return _jensen_shannon(pa, pb, distance.abs()).clamp_(min=0.0)
    lost = ((a > -math.inf) & (b == -math.inf)).any(1)
    terms = torch.where(a == -math.inf, 0.0, pa * distance)
    return torch.where(lost, math.inf, terms.sum(1).clamp(min=0.0))
