"""The engine's random numbers, keyed by where they are used: include/punt/random.h for arrays.

For those who draw tokens themselves (`punt.Session.propose`) and want the ones that the engine would draw.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from punt import _core
from punt.denoiser import StreamKey

_PURPOSES = {"proposal": 1, "score": 2, "plan": 3}


def stream_names(key: StreamKey, positions: npt.ArrayLike, purpose: str = "proposal") -> npt.NDArray[np.uint64]:
    """The 64-bit name of each position's stream, [R]."""
    rows = np.ascontiguousarray(positions, np.int32)
    return _core.stream_names(key.seed, key.sample, key.step, rows, _PURPOSES[purpose])


def uniforms(names: npt.NDArray[np.uint64], count: int = 1) -> npt.NDArray[np.float64]:
    """The first `count` numbers of each stream, within (0, 1): [R] for one, else [R, count]."""
    drawn = _core.uniforms(np.ascontiguousarray(names, np.uint64), count)
    return drawn[:, 0] if count == 1 else drawn


def token_uniforms(names: npt.NDArray[np.uint64], end: int, begin: int = 0) -> npt.NDArray[np.float64]:
    """A number within (0, 1) for each token of begin..end-1: [R, end - begin]."""
    return _core.token_uniforms(np.ascontiguousarray(names, np.uint64), begin, end)


def token_gumbels(names: npt.NDArray[np.uint64], end: int, begin: int = 0) -> npt.NDArray[np.float64]:
    """Standard Gumbels of the same tokens, -ln(-ln(1 - w)): [R, end - begin]."""
    return _core.token_gumbels(np.ascontiguousarray(names, np.uint64), begin, end)
