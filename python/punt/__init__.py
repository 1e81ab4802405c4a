"""Masked diffusion language models with dependency-tested parallel unmasking.

    import punt
    m = punt.load("stories")
    print(m("Once upon a time", temperature=0.7, seed=7))
"""

import atexit
from typing import Any

from punt import _core, denoiser, random
from punt._core import View
from punt.measure import Bench, bench, tasks
from punt.denoiser import Denoiser, Session
from punt.errors import Error, FailedError, InputError
from punt.model import Model, Stream, load
from punt.numpy_denoiser import NumpyDenoiser
from punt.planner import Plan, Planner, PlannerNeeds, Round, register_planner
from punt.run import Run
from punt.tokenizer import Tokenizer

__version__: str = _core.version

# Threads that still generate must be gone before the interpreter is.
atexit.register(_core.end_all_jobs)


def planners() -> list[dict[str, Any]]:
    """What decides which positions are filled in a step: name, summary, params."""
    return _core.planners()


def scores() -> list[dict[str, Any]]:
    """How sure a model is of a position: name, summary, params."""
    return _core.scores()


def models() -> list[dict[str, Any]]:
    """Models that `load` knows by a name, and the kinds of exact toy models."""
    return _core.models()


def sampling_options() -> list[dict[str, Any]]:
    """The keywords of every call that samples: name, help, type, default."""
    return _core.sampling_fields()


__all__ = [
    "Bench",
    "Denoiser",
    "Error",
    "FailedError",
    "InputError",
    "Model",
    "NumpyDenoiser",
    "Plan",
    "Planner",
    "PlannerNeeds",
    "Round",
    "Run",
    "Session",
    "Stream",
    "Tokenizer",
    "View",
    "__version__",
    "bench",
    "denoiser",
    "load",
    "models",
    "planners",
    "random",
    "register_planner",
    "sampling_options",
    "scores",
    "tasks",
]
