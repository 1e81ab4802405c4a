"""Planners in Python: which positions are filled in a step. include/punt/planner.h has the same words.

    class Surest(punt.Planner):
        def __init__(self, k: int = 2):
            self.k = k

        def decide(self, view):
            return view.positions[: self.k]  # best first

    m("Once upon a time", planner=Surest(k=4))
    punt.register_planner("surest", Surest)
    m("Once upon a time", planner="surest:k=4")
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy.typing as npt

from punt import _core
from punt._core import Test, View
from punt.denoiser import LayerRange
from punt.errors import InputError


@dataclass(frozen=True)
class PlannerNeeds:
    """What the engine must provide for a planner; without it, the part of the view is not there."""

    revealed_rows: bool = False  # view.revealed: proposals for positions that are filled
    divergence_history: int = 0  # of view.history: how many KLs between steps to keep
    drift_history: int = 0  # and how many JS
    prediction_history: int = 0  # and how many most probable tokens
    shadow_rows: bool = False  # view.shadow_probs
    attention: tuple[LayerRange, ...] = ()  # view.attention
    influence: bool = False  # view.influence
    past_steps: bool = False  # view.past
    tests: bool = False  # runs test passes


@dataclass(frozen=True)
class Round:
    """One independence test, for the trace."""

    anchors: npt.ArrayLike
    tests: npt.ArrayLike
    divergences: npt.ArrayLike  # one per test; those up to epsilon count as kept
    epsilon: float
    level: int = 0


@dataclass(frozen=True)
class Plan:
    commit: npt.ArrayLike  # masked positions, surest first, no repeats
    remask: npt.ArrayLike = ()  # filled positions that go back to the mask; only with `remasks`
    next_base: Test | None = None  # a test that revealed exactly `commit`: it saves the next step's pass
    rounds: Sequence[Round] = ()


class Planner(ABC):
    """Stateless as the engine's are: what must be remembered is in the view, what is drawn is keyed
    (`punt.random.stream_names(view.key, positions, "plan")`). One object serves runs on several threads.
    """

    needs: PlannerNeeds = PlannerNeeds()
    remasks: ClassVar[bool] = False  # may take commits back; a stream then tells its text at the end
    is_scheduled: ClassVar[bool] = False  # may commit nothing in a step, and ends on its own clock

    @abstractmethod
    def decide(self, view: View) -> npt.ArrayLike | Plan:
        """The positions to fill, or a Plan. The view is good until this returns."""


def register_planner(name: str, planner: type[Planner], summary: str = "") -> None:
    """Lets specs name a class as any other planner: "name:key=value". Keys are the arguments of its constructor, which
    must all have a default, a bool, an int or a float. For as long as the program runs."""
    if not (isinstance(planner, type) and issubclass(planner, Planner)):
        raise InputError(f"register_planner takes a subclass of punt.Planner, not {planner!r}")
    params: list[tuple[str, bool | int | float]] = []
    for parameter in inspect.signature(planner).parameters.values():
        if not isinstance(parameter.default, (bool, int, float)):
            raise InputError(f"{planner.__name__}: {parameter.name} needs a default that is a bool, an int or a float")
        params.append((parameter.name, parameter.default))
    told = summary or (inspect.getdoc(planner) or "").split("\n")[0]
    _core.register_planner(name, told, params, planner.remasks, planner.is_scheduled, planner)
