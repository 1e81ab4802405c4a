"""The result of a run: its text, and how it came about."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from punt import show

if TYPE_CHECKING:
    from punt import _core


class Run(str):
    """The text. A string, so it goes wherever strings go; the rest are attributes."""

    finish_reason: str  # "stop": at an end of sequence or a stop string, "length": at the last position or cut short
    stop_reason: str  # "full", "eos", "stop-string", "step-limit", "nfe-limit", "cancelled"
    tokens: npt.NDArray[np.int32]  # the whole canvas, what was given included
    token_count: int  # of the text
    reasoning: str  # of a chat: what the model thought before its answer, which is not in the text
    steps: int
    counters: dict[str, int]  # base_passes, test_passes, nfe, calls, row_passes, rows_read
    seconds: float

    _outcome: _core.Outcome
    _pieces: Callable[[npt.ArrayLike], list[str]]

    @classmethod
    def _of(cls, outcome: _core.Outcome, pieces: Callable[[npt.ArrayLike], list[str]]) -> Run:
        run = cls(outcome.text)
        run.finish_reason = outcome.finish_reason
        run.stop_reason = outcome.stop
        run.tokens = outcome.tokens
        run.token_count = outcome.token_count
        run.reasoning = outcome.reasoning
        run.steps = outcome.steps
        run.counters = outcome.counters
        run.seconds = outcome.seconds
        run._outcome = outcome
        run._pieces = pieces
        return run

    @property
    def text(self) -> str:
        """As a plain string."""
        return str.__str__(self)

    @property
    def nfe(self) -> int:
        """Forward passes, those of tests included."""
        return self.counters["nfe"]

    @cached_property
    def trace(self) -> list[dict[str, Any]]:
        """What happened, event by event, as in the lines of a trace file: run, step, round, commit, end."""
        return [json.loads(line) for line in self._outcome.trace_lines]

    def save_trace(self, path: str | PathLike[str]) -> None:
        """A file that `punt replay` and the viewer read."""
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in self._outcome.trace_lines)

    @cached_property
    def commit_steps(self) -> npt.NDArray[np.int32]:
        """The step in which each position got the token that it has; -1 where it was given or is masked."""
        steps = np.full(len(self.tokens), -1, np.int32)
        for event in self.trace:
            if event["event"] == "commit":
                steps[event["remasked"]] = -1
                steps[event["positions"]] = event["step"]
        return steps

    @cached_property
    def logprobs(self) -> list[dict[str, Any]]:
        """What the model said of each token when it was committed; only of runs with `logprobs=N`, else empty.

        By position, for those that were generated: position, token, text, logprob (of the row before temperature and
        filters, under the constraint if there is one), entropy in nats, step, and top: the N most probable tokens.
        """
        rows: dict[int, dict[str, Any]] = {}
        for event in self.trace:
            if event["event"] != "commit":
                continue
            for position in event["remasked"]:
                rows.pop(position, None)
            for i, position in enumerate(event["positions"] if "logprobs" in event else []):
                top = event["top"][i]
                texts = self._pieces([event["tokens"][i], *(token for token, _ in top)])
                rows[position] = {
                    "position": position,
                    "token": event["tokens"][i],
                    "text": texts[0],
                    "logprob": float("-inf") if event["logprobs"][i] is None else event["logprobs"][i],
                    "entropy": event["entropies"][i],
                    "step": event["step"],
                    "top": [
                        {"token": token, "text": text, "logprob": logprob}
                        for (token, logprob), text in zip(top, texts[1:], strict=True)
                    ],
                }
        return [rows[position] for position in sorted(rows)]

    def _repr_html_(self) -> str:
        """For notebooks."""
        return show.html(self)

    def plot(self, ax: Any = None) -> Any:
        """Which position was filled in which step, on axes of matplotlib, which are returned."""
        return show.plot(self, ax)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self.text,)  # a copy for another process is the text
