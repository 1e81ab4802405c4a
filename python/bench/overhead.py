"""What the engine costs on top of a model: punt.torch.Denoiser with the planner top-k against a loop written by hand.

    python python/bench/overhead.py [--vocab 32000 126464] [--rows 256 1024] [--steps 8] [--best-of 3] [--threads N]

Both fill a canvas of `rows` masks in `steps` passes, rows / steps positions a pass, the most certain first (the probability
of the best token), at temperature 0; and both must end with the same tokens. The model is an embedding, a mixing of
neighbours and an output head, so nearly all of a pass is the head. `hand` is the plain loop: softmax over the table of
logits, its maximum, top-k; `masked` first takes the rows out of the table that are still masked. `table` reads a whole table of logits as the loop does, `asked` runs the head only for rows
that are still masked, as the adapters do where they know the head. Times are per pass, the best of several runs, which
alternate; memory is the peak of a process that does one run, without what it has before it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import punt
import punt.torch

WIDTH = 64


class Model(torch.nn.Module):
    def __init__(self, vocab: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        self.embedding = torch.nn.Parameter(torch.randn(vocab, WIDTH, generator=generator))
        self.places = torch.nn.Parameter(torch.randn(4096, WIDTH, generator=generator))
        self.head = torch.nn.Linear(WIDTH, vocab, bias=False)
        self.head.weight = torch.nn.Parameter(torch.randn(vocab, WIDTH, generator=generator) * 0.4)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        x = self.embedding[input_ids] + self.places[: input_ids.shape[1]]
        x = x + x.roll(1, 1) + x.roll(-1, 1)
        return self.head(x / x.norm(dim=-1, keepdim=True) * WIDTH**0.5)


@torch.inference_mode()
def by_hand(model: Model, rows: int, steps: int, mask: int) -> list[int]:
    x = torch.full((1, rows), mask)
    for _ in range(steps):
        logits = model(x)
        logits[:, :, mask] = -torch.inf
        confidence, token = torch.softmax(logits, -1).max(-1)
        confidence = torch.where(x == mask, confidence, -torch.inf)
        chosen = confidence.topk(rows // steps, -1).indices
        x.scatter_(1, chosen, token.gather(1, chosen))
    return x[0].tolist()


@torch.inference_mode()
def by_hand_masked(model: Model, rows: int, steps: int, mask: int) -> list[int]:
    x = torch.full((1, rows), mask)
    for _ in range(steps):
        is_masked = x == mask
        logits = model(x)[is_masked]
        logits[:, mask] = -torch.inf
        confidence, token = torch.softmax(logits, -1).max(-1)
        chosen = confidence.topk(rows // steps).indices
        x[0, is_masked[0].nonzero()[chosen, 0]] = token[chosen]
    return x[0].tolist()


def by_engine(m: punt.Model, rows: int, steps: int, mask: int) -> list[int]:
    run = m.fill([mask] * rows, planner=f"top-k:k={rows // steps}", score="top-prob", temperature=0)
    assert run.counters["base_passes"] == steps, run.counters
    return run.tokens.tolist()


def ways(vocab: int) -> dict[str, object]:
    mask = vocab - 1
    model = Model(vocab).eval()
    known = [row.name for row in punt.torch.architectures()]
    if "bench" not in known:
        punt.torch.register(punt.torch.Architecture("bench", head="head"))

    def engine(**options: object) -> object:
        m = punt.load(punt.torch.Denoiser(model, mask_token=mask, vocab_size=vocab, **options), threads=1)
        return lambda rows, steps: by_engine(m, rows, steps, mask)

    return {
        "hand": lambda rows, steps: by_hand(model, rows, steps, mask),
        "masked": lambda rows, steps: by_hand_masked(model, rows, steps, mask),
        "table": engine(architecture="plain"),
        "asked": engine(architecture="bench"),
    }


def measure_times(vocab: int, rows: int, steps: int, best_of: int, clock: Callable[[], float]) -> dict[str, float]:
    candidates = ways(vocab)
    best = dict.fromkeys(candidates, float("inf"))
    results = {}
    for _ in range(best_of + 1):  # the first warms up
        for name, run in candidates.items():
            start = clock()
            results[name] = run(rows, steps)
            best[name] = min(best[name], (clock() - start) / steps)
    assert all(tokens == results["hand"] for tokens in results.values()), "the ways disagree"
    return best


def measure_peak(vocab: int, rows: int, steps: int, name: str) -> int:
    """In a process of its own: bytes at the peak above what stood before."""
    run = ways(vocab)[name]
    torch.ones(1)  # what the first operation takes
    before = peak_bytes()
    run(rows, steps)
    return peak_bytes() - before


def peak_bytes() -> int:
    """Of this program; what getrusage tells includes the one that started it."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--vocab", type=int, nargs="+", default=[32000, 126464])
    parser.add_argument("--rows", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--best-of", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        print(measure_peak(options.vocab[0], options.rows[0], options.steps, options.peak))
        return
    clock = time.perf_counter if options.clock == "wall" else time.process_time
    print(f"torch {torch.__version__}, {options.threads} threads, {options.clock} time, {options.steps} steps, best of {options.best_of}")
    print(f"{'V':>7} {'rows':>5} {'way':>6} {'ms/pass':>9} {'to hand':>8} {'peak MB':>8} {'to hand':>8}")
    for vocab in options.vocab:
        for rows in options.rows:
            times = measure_times(vocab, rows, options.steps, options.best_of, clock)
            peaks = {}
            for name in times:
                command = [sys.executable, __file__, "--vocab", str(vocab), "--rows", str(rows), "--steps",
                           str(options.steps), "--threads", str(options.threads), "--peak", name]
                peaks[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for name, seconds in times.items():
                print(f"{vocab:>7} {rows:>5} {name:>6} {seconds * 1e3:>9.1f} {seconds / times['hand']:>8.3f} "
                      f"{peaks[name] / 2**20:>8.0f} {peaks[name] / peaks['hand']:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
