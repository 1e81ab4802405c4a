"""What a Session reads from its rows unless it does so itself: the engine's kernels, in float32 or float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from punt import _core
from punt.denoiser import DivergenceRequest, Ints, ProposalRequest, Proposals, Session, TokenProbRequest
from punt.errors import InputError


def _dense(session: Session, handle: Any, rows: Ints) -> npt.NDArray[Any]:
    values = np.asarray(session.log_probs(handle, rows))
    if values.dtype != np.float32:
        values = values.astype(np.float64, casting="same_kind", copy=False)
    expected = (len(rows), session.denoiser.vocab_size)
    if values.shape != expected:
        got = f"log_probs of {session.denoiser.name} returned the shape {list(values.shape)}"
        raise InputError(f"{got}; {len(rows)} rows of this model have the shape {list(expected)}")
    return np.ascontiguousarray(values)


def _banned(session: Session) -> list[int]:
    return [session.denoiser.mask_token, *session.options.banned_tokens]


def propose(session: Session, request: ProposalRequest) -> Proposals:
    options, key = request.options, request.key
    return Proposals(
        *_core.propose_rows(
            _dense(session, request.handle, request.rows),
            request.positions,
            _banned(session),
            options.convention,
            options.temperature,
            options.top_p,
            options.top_k,
            options.min_p,
            options.score_on,
            key.seed,
            key.sample,
            key.step,
        )
    )


def diverge(session: Session, request: DivergenceRequest) -> npt.NDArray[np.float64]:
    base = _dense(session, request.base, request.rows)
    fresh = _dense(session, request.fresh, request.rows)
    if base.dtype != fresh.dtype:
        base, fresh = base.astype(np.float64), fresh.astype(np.float64)
    options = request.options
    return _core.diverge_rows(base, fresh, _banned(session), options.kind, options.temperature, options.top_p)


def token_probs(session: Session, request: TokenProbRequest) -> npt.NDArray[np.float64]:
    return _core.token_probs(_dense(session, request.handle, request.rows), request.tokens, _banned(session))
