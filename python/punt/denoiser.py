"""The line between planners and models, for models that live in Python.

This is include/punt/denoiser.h in Python: the same words, the same duties. A `Denoiser` states facts about a model and
makes sessions; a `Session` runs passes and reads rows of them. The engine does the rest: loop, planners, scores, windows,
traces and counting are the same code that runs GGUF files, so every planner works, at the same number of passes.

A class of one's own needs two methods:

    class Mine(punt.Denoiser):
        name, vocab_size, mask_token, max_length = "mine", 32000, 31999, 1024

        def new_session(self, options):
            return MySession(self, options)

    class MySession(punt.Session):
        def forward(self, queries):          # one object per query, of any kind: the engine hands it back as it is
            return [run_my_model(query.canvas) for query in queries]

        def log_probs(self, handle, rows):   # [R, V]
            return handle[rows]

`propose`, `diverge` and `token_probs` then go through `log_probs` and the engine's kernels. Where rows should stay where
they are (on a GPU), override them: only numbers per row cross. What they must compute is said at each; the engine's plain
twins, src/sample/sampler.cc, say the same in code, and `punt.random` has the random numbers.

Row i of a pass over a canvas is log p_i(. | canvas): normalised, untempered, -infinity at the mask token and at
`options.banned_tokens`, any shift of the architecture already applied. What the base class reads through `log_probs` need
not be normalised, and the mask and banned tokens may have any value: it puts that right.

Everything here is called with the interpreter's lock held, by one thread at a time per session, not always the same one.
An exception ends the run and comes out of the call that began it, unchanged. Results of a wrong shape, and numbers that
are NaN or no probability, are refused with `punt.InputError`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def _no_positions() -> Ints:
    return np.zeros(0, np.int32)


@dataclass(frozen=True)
class LayerRange:
    """Layers by their share of the depth: of n layers, those from floor(begin n) to ceil(end n) - 1, at least one."""

    begin: float = 0.0
    end: float = 1.0


@dataclass(frozen=True)
class SessionOptions:
    """What a session must know of how it will be used."""

    banned_tokens: tuple[int, ...] = ()  # logits -infinity, besides the mask token's
    # Classifier-free guidance: logits u + (guidance + 1) (c - u), u with the positions of `prompt` masked. A session that
    # honours it has `passes_per_query` 2; one that cannot must refuse what is not 0.
    guidance: float = 0.0
    prompt: tuple[int, ...] = ()
    freeze_mask_ratio: bool = False
    threads: int = 1


@dataclass(frozen=True, eq=False)
class Query:
    """One forward pass of one sequence."""

    canvas: Ints  # [L]
    rows: Ints  # those that will be read; L, L + 1, ... name the shadows
    is_test: bool = False  # asked by a planner's probe; only changes how it is counted
    base: Any = None  # a pass over the same canvas with fewer positions revealed, of which anything may be reused
    # Positions to be predicted as if their own token were hidden from that row alone: rows L, L + 1, ...
    # Only with has_shadow_rows.
    shadows: Ints = field(default_factory=_no_positions)
    attention: tuple[LayerRange, ...] = ()  # for which `attention` may be asked; only with has_attention_maps
    # Caches. A pass with keep_states can be named in `states` of later ones over canvases of that length; there the
    # positions of `stale` may be seen as they were. A session without caches ignores all three.
    keep_states: bool = False
    states: Any = None
    stale: Ints = field(default_factory=_no_positions)


@dataclass(frozen=True)
class StreamKey:
    """Names the random numbers of one step of one sequence; with a position, they are fixed. See `punt.random`."""

    seed: int = 0
    sample: int = 0
    step: int = 0


@dataclass(frozen=True)
class ProposalOptions:
    """How a token is drawn. Order of things: logits / temperature, nucleus, top-k of the whole row, min-p, draw."""

    convention: str = "llada"  # or "dream"
    temperature: float = 1.0  # 0: argmax, lowest token on ties, whatever the filters
    top_p: float = 1.0  # keeps tokens while the mass before them is at most top_p * (1 + 1e-12)
    top_k: int = 0  # 0: all
    min_p: float = 0.0  # keeps weights of at least min_p * (1 - 1e-12), the best token's being 1
    score_on: str = "untempered"  # or "tempered": probabilities and entropy of the tempered, filtered row


@dataclass(frozen=True)
class DivergenceOptions:
    kind: str = "kl-base-new"  # KL(base || fresh); "kl-new-base", "js", "tv"
    temperature: float = 1.0  # 0: compares the argmaxes
    top_p: float = 1.0


class Proposals(NamedTuple):
    """One entry per row. Anything that `numpy.asarray` takes is good."""

    token: npt.ArrayLike  # what would be committed; never the mask, never banned
    top_token: npt.ArrayLike  # argmax, lowest token on ties
    token_prob: npt.ArrayLike  # p(token)
    top_prob: npt.ArrayLike
    second_prob: npt.ArrayLike  # 0 in a vocabulary of one
    entropy: npt.ArrayLike  # nats


@dataclass(frozen=True, eq=False)
class ProposalRequest:
    """Reads proposals at `rows` of a pass.

    `positions` are what random numbers are keyed by, and equal `rows`. At temperature 0 the token is the argmax. Else:

    llada   argmax over the kept tokens v of l_v + temperature * g_v in float64, lowest token on ties;
            g_v = punt.random.token_gumbels(names, V)[row, v], names = punt.random.stream_names(key, positions)
    dream   weights exp((l_v - max l) / temperature) of the kept tokens, in token order: the first at which their running
            sum exceeds u times their total; u = punt.random.uniforms(names)[row]
    """

    handle: Any
    rows: Ints
    options: ProposalOptions
    key: StreamKey

    @property
    def positions(self) -> Ints:
        return self.rows


@dataclass(frozen=True, eq=False)
class DivergenceRequest:
    base: Any
    fresh: Any
    rows: Ints
    options: DivergenceOptions


@dataclass(frozen=True, eq=False)
class TokenProbRequest:
    handle: Any
    rows: Ints
    tokens: Ints


class Session(ABC):
    """Runs passes and reads them. Requests of several sequences come together, so that they can be computed at once."""

    denoiser: Denoiser
    options: SessionOptions
    passes_per_query: int = 1  # 2 under guidance

    def __init__(self, denoiser: Denoiser, options: SessionOptions) -> None:
        self.denoiser = denoiser
        self.options = options

    @abstractmethod
    def forward(self, queries: Sequence[Query]) -> Sequence[Any]:
        """One handle per query, of any kind. A result must not depend on its neighbours.

        A handle may have an attribute `row_passes`, the rows that were computed for it where that is not L and the
        shadows.
        """

    @abstractmethod
    def log_probs(self, handle: Any, rows: Ints) -> npt.ArrayLike:
        """Dense rows, [R, V], up to a constant per row. Float32 and float64 are taken as they are."""

    def propose(self, requests: Sequence[ProposalRequest]) -> Sequence[Proposals]:
        """One `Proposals` per request."""
        from punt import _rows

        return [_rows.propose(self, request) for request in requests]

    def diverge(self, requests: Sequence[DivergenceRequest]) -> Sequence[npt.ArrayLike]:
        """D(base row, fresh row), [R] per request: not negative, never NaN; infinity where a support was lost."""
        from punt import _rows

        return [_rows.diverge(self, request) for request in requests]

    def token_probs(self, requests: Sequence[TokenProbRequest]) -> Sequence[npt.ArrayLike]:
        """p(tokens[i]) at rows[i], [R] per request."""
        from punt import _rows

        return [_rows.token_probs(self, request) for request in requests]

    def attention(self, handle: Any, layers: LayerRange) -> npt.ArrayLike:
        """[L, L]: the weight of each key (column) for each query, averaged over heads and over the layers."""
        raise NotImplementedError(f"{self.denoiser.name} has no attention maps")


class Denoiser(ABC):
    """Facts about a model, as attributes, and its sessions. Used from several threads."""

    name: str = "python"
    vocab_size: int  # V, the mask token included
    mask_token: int
    eos_tokens: Sequence[int] = ()
    max_length: int  # longest canvas
    default_score: str = "margin"
    has_attention_maps: bool = False
    has_shadow_rows: bool = False
    block_size: int = 0  # of block-causal models: windows are stretches of the canvas of so many positions
    tokenizer: Any = None  # with encode(text) and decode(tokens); without one, tokens go in and come out

    @abstractmethod
    def new_session(self, options: SessionOptions) -> Session:
        """Raises `punt.InputError` on options that it cannot honour."""
