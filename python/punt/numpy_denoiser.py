"""A function of a canvas as a model: the plainest Denoiser, and an example of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from punt.denoiser import Denoiser, Ints, Query, Session, SessionOptions
from punt.errors import InputError


class NumpyDenoiser(Denoiser):
    """`fn(canvas)`, canvas of [L] tokens, returns logits [L, V]: real numbers, or -infinity; need not be normalised."""

    def __init__(
        self,
        fn: Callable[[Ints], npt.ArrayLike],
        vocab_size: int,
        mask_token: int,
        max_length: int,
        *,
        eos_tokens: Sequence[int] = (),
        name: str = "numpy",
        default_score: str = "margin",
        tokenizer: Any = None,
    ) -> None:
        self.fn = fn
        self.vocab_size = vocab_size
        self.mask_token = mask_token
        self.max_length = max_length
        self.eos_tokens = tuple(eos_tokens)
        self.name = name
        self.default_score = default_score
        self.tokenizer = tokenizer

    def new_session(self, options: SessionOptions) -> Session:
        if options.guidance != 0:
            raise InputError(f"{self.name} takes no guidance")
        return _NumpySession(self, options)

    def logits(self, canvas: Ints) -> npt.NDArray[Any]:
        """What the function returns, checked."""
        logits = np.asarray(self.fn(canvas))
        expected = [len(canvas), self.vocab_size]
        if list(logits.shape) != expected:
            raise InputError(f"{self.name} returned logits of the shape {list(logits.shape)}, not {expected}")
        if logits.dtype.kind != "f":
            raise InputError(f"{self.name} returned logits of {logits.dtype}, not of real numbers")
        return logits


class _NumpySession(Session):
    def __init__(self, denoiser: NumpyDenoiser, options: SessionOptions) -> None:
        super().__init__(denoiser, options)
        self._model = denoiser

    def forward(self, queries: Sequence[Query]) -> Sequence[npt.NDArray[Any]]:
        return [self._model.logits(query.canvas) for query in queries]

    def log_probs(self, handle: Any, rows: Ints) -> npt.ArrayLike:
        logits: npt.NDArray[Any] = handle[rows]
        return logits
