"""What punt.torch computes, without haste: one row at a time, float64, sorted whole, looped over token by token.

Written from include/punt/sampler.h and include/punt/random.h, and sharing nothing with the code it checks.
"""

import math

import numpy as np

MASK64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK64
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK64
    return x ^ x >> 31


def stream_name(seed, sample, step, position, purpose=1):
    name = mix64((seed + GOLDEN) & MASK64)
    for turn, part in enumerate((sample, step, position & MASK64, purpose), start=2):
        name = mix64(name ^ ((part + turn * GOLDEN) & MASK64))
    return name


def mix32(x):
    x ^= x >> 16
    x = x * 0x7FEB352D & 0xFFFFFFFF
    x ^= x >> 15
    x = x * 0x846CA68B & 0xFFFFFFFF
    return x ^ x >> 16


def uniform(name):
    return ((mix64((name + GOLDEN) & MASK64) >> 11) + 0.5) * 2.0**-53


def gumbel(name, token):
    pair = mix32(mix32((token & ~64) + (name & 0xFFFFFFFF) & 0xFFFFFFFF) ^ name >> 32)
    leading = pair >> 16 if token & 64 else pair & 0xFFFF
    more = mix64((name + GOLDEN * (token + 1)) & MASK64) >> 27
    w = ((leading << 37 | more) + 0.5) * 2.0**-53
    return -math.log(-math.log1p(-w))


def log_softmax(row):
    row = np.asarray(row, np.float64)
    top = row.max()
    return row - top - math.log(np.exp(row - top).sum())


def allowed(row, banned):
    row = np.array(row, np.float64)
    row[list(banned)] = -np.inf
    return row


def filtered(logits, temperature, top_p=1.0, top_k=0, min_p=0.0):
    """Weights exp((l - max) / T), 0 where dropped."""
    weights = np.exp((logits - logits.max()) / temperature)
    order = sorted(range(len(logits)), key=lambda v: (-logits[v], v))
    bound = weights.sum() * top_p * (1 + 1e-12)
    before, kept = 0.0, weights.copy()
    for rank, v in enumerate(order):
        if (top_p < 1 and before > bound) or (top_k > 0 and rank >= top_k) or weights[v] < min_p * (1 - 1e-12):
            kept[v] = 0.0
        before += weights[v]
    return kept


def propose(logits, name, convention="llada", temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, score_on="untempered"):
    draws = temperature > 0
    top = int(np.argmax(logits))
    kept = filtered(logits, temperature if draws else 1.0, top_p, top_k, min_p)
    token, lead = top, math.inf  # lead: how far the drawn token is from another one
    if draws and convention == "llada":
        values = [logits[v] + temperature * gumbel(name, v) if kept[v] > 0 else -math.inf for v in range(len(logits))]
        token = int(np.argmax(values))
        lead = values[token] - max([x for v, x in enumerate(values) if v != token], default=-math.inf)
    elif draws:
        target, total = uniform(name) * kept.sum(), 0.0
        for v in np.flatnonzero(kept):
            total += kept[v]
            token = int(v)
            if total > target:
                break
        lead = min(abs(total - target), abs(total - kept[token] - target)) / kept.sum()
    described = kept if score_on == "tempered" else np.exp(logits - logits.max())
    p = described / described.sum()
    ranked = np.sort(p)[::-1]
    positive = p[p > 0]
    return {"token": token, "top_token": top, "token_prob": p[token], "top_prob": ranked[0],
            "second_prob": ranked[1] if len(p) > 1 else 0.0, "entropy": -(positive * np.log(positive)).sum(), "lead": lead}


def compared(row, temperature, top_p):
    if temperature == 0:
        only = np.full(len(row), -np.inf)
        only[int(np.argmax(row))] = 0.0
        return only
    with np.errstate(divide="ignore"):
        kept = filtered(row, temperature, top_p)
        return np.log(kept / kept.sum()) if top_p < 1 else log_softmax(row / temperature)


def diverge(base, fresh, kind="kl-base-new", temperature=1.0, top_p=1.0):
    p, q = compared(base, temperature, top_p), compared(fresh, temperature, top_p)

    def kl(a, b):
        total = 0.0
        for x, y in zip(a, b):
            if x == -np.inf:
                continue
            if y == -np.inf:
                return math.inf
            total += math.exp(x) * (x - y)
        return total

    if kind == "kl-base-new":
        result = kl(p, q)
    elif kind == "kl-new-base":
        result = kl(q, p)
    elif kind == "tv":
        result = np.abs(np.exp(p) - np.exp(q)).sum() / 2
    else:
        with np.errstate(divide="ignore"):
            mixture = np.log((np.exp(p) + np.exp(q)) / 2)
        result = (kl(p, mixture) + kl(q, mixture)) / 2
    return max(0.0, result)
