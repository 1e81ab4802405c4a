"""What a run looks like: its canvas in HTML, and a plot of which position was filled when."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from punt.run import Run

_MASK = "\u2591"  # a light shade
_FIRST, _LAST = (253, 231, 37), (68, 1, 84)  # yellow to violet: told apart in grey, too


def _colour(share: float) -> str:
    """See-through, so that the text is readable on a light page and on a dark one."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(_FIRST, _LAST))
    return f"rgba({red},{green},{blue},0.4)"


def _piece(text: str) -> str:
    return escape(text).replace("\n", "\u21b5<br>")


def html(run: Run) -> str:
    """The canvas, each filled position in the colour of its step; no script, nothing fetched, everything escaped."""
    mask = run.trace[0]["mask_token"]
    last = max(run.steps - 1, 1)
    spans = []
    for token, piece, step in zip(run.tokens.tolist(), run._pieces(run.tokens), run.commit_steps.tolist()):
        if token == mask:
            spans.append(f'<span title="masked">{_MASK}</span>')
        elif step < 0:
            spans.append(f"<span>{_piece(piece)}</span>")
        else:
            style = f"background:{_colour(step / last)}"
            spans.append(f'<span style="{style}" title="step {step + 1}">{_piece(piece)}</span>')
    scale = "".join(f'<span style="background:{_colour(i / 9)}">&nbsp;</span>' for i in range(10))
    told = (
        f"{escape(str(run.trace[0]['planner']))}: {run.steps} steps, {run.nfe} forward passes, {run.seconds:.2f} s; "
        f"step 1 {scale} step {run.steps}"
    )
    return (
        f'<div style="white-space:pre-wrap;font-family:monospace;line-height:1.6">{"".join(spans)}</div>'
        f'<div style="font-size:smaller;opacity:0.7">{told}</div>'
    )


def plot(run: Run, ax: Any = None) -> Any:
    """The step of each position, on axes of matplotlib: given ones, or new. Returns the axes."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from error
        ax = pyplot.subplots(figsize=(8, 3))[1]
    filled = run.commit_steps >= 0
    positions = filled.nonzero()[0]
    steps = run.commit_steps[filled] + 1
    ax.scatter(positions, steps, c=steps, cmap="viridis_r", s=12)
    ax.set_xlabel("position")
    ax.set_ylabel("step")
    ax.set_title(f"{run.trace[0]['planner']}: {run.steps} steps, {run.nfe} forward passes")
    return ax
