"""What the engine costs on top of a model: punt.torch.Denoiser with the planner top-k against a loop written by hand.

    python python/bench/overhead.py [--vocab 32000 126464] [--rows 256 1024] [--steps 8] [--best-of 3] [--temperature 0]

Both fill a canvas of `rows` masks in `steps` passes, rows / steps positions a pass, the most certain first (the probability
of the token); at temperature 0 both must end with the same tokens. Above it, the loop adds Gumbel noise in float64 to the
whole table, as LLaDA's script does. The model is an embedding, a mixing of neighbours and an output head, so nearly all of
a pass is the head. Times are per pass, the best of several runs, which alternate; memory is the peak of a process that does
one run, above what stood before it.

    hand    softmax over the table of logits, its maximum, top-k
    masked  the same for the rows that are still masked, which are taken out of the table first
    table   the engine, which is given the whole table
    asked   the engine, with a head that runs only for rows that are still masked, as the adapters do where they know it
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


def choose(logits: torch.Tensor, temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens and their probabilities."""
    probabilities = torch.softmax(logits, -1)
    if temperature == 0:
        return probabilities.max(-1)
    noise = -torch.log(torch.rand_like(logits, dtype=torch.float64))
    token = (logits.double().exp() / noise**temperature).argmax(-1)
    return probabilities.gather(-1, token.unsqueeze(-1)).squeeze(-1), token


@torch.inference_mode()
def by_hand(model: Model, rows: int, steps: int, mask: int, temperature: float) -> list[int]:
    x = torch.full((1, rows), mask)
    for _ in range(steps):
        logits = model(x)
        logits[:, :, mask] = -torch.inf
        confidence, token = choose(logits, temperature)
        confidence = torch.where(x == mask, confidence, -torch.inf)
        chosen = confidence.topk(rows // steps, -1).indices
        x.scatter_(1, chosen, token.gather(1, chosen))
    return x[0].tolist()


@torch.inference_mode()
def by_hand_masked(model: Model, rows: int, steps: int, mask: int, temperature: float) -> list[int]:
    x = torch.full((1, rows), mask)
    for _ in range(steps):
        is_masked = x == mask
        logits = model(x)[is_masked]
        logits[:, mask] = -torch.inf
        confidence, token = choose(logits, temperature)
        chosen = confidence.topk(rows // steps).indices
        x[0, is_masked[0].nonzero()[chosen, 0]] = token[chosen]
    return x[0].tolist()


def by_engine(m: punt.Model, rows: int, steps: int, mask: int, temperature: float) -> list[int]:
    run = m.fill([mask] * rows, planner=f"top-k:k={rows // steps}", score="token-prob", temperature=temperature)
    assert run.counters["base_passes"] == steps, run.counters
    return run.tokens.tolist()


def ways(vocab: int, temperature: float) -> dict[str, object]:
    mask = vocab - 1
    model = Model(vocab).eval()
    known = [row.name for row in punt.torch.architectures()]
    if "bench" not in known:
        punt.torch.register(punt.torch.Architecture("bench", head="head"))

    def engine(**options: object) -> object:
        m = punt.load(punt.torch.Denoiser(model, mask_token=mask, vocab_size=vocab, **options), threads=1)
        return lambda rows, steps: by_engine(m, rows, steps, mask, temperature)

    return {
        "hand": lambda rows, steps: by_hand(model, rows, steps, mask, temperature),
        "masked": lambda rows, steps: by_hand_masked(model, rows, steps, mask, temperature),
        "table": engine(architecture="plain"),
        "asked": engine(architecture="bench"),
    }


def measure_times(vocab: int, rows: int, options: argparse.Namespace) -> dict[str, float]:
    clock = time.perf_counter if options.clock == "wall" else time.process_time
    steps = options.steps
    candidates = ways(vocab, options.temperature)
    best = dict.fromkeys(candidates, float("inf"))
    results = {}
    for _ in range(options.best_of + 1):  # the first warms up
        for name, run in candidates.items():
            start = clock()
            results[name] = run(rows, steps)
            best[name] = min(best[name], (clock() - start) / steps)
    is_same = all(tokens == results["hand"] for tokens in results.values())
    assert is_same or options.temperature > 0, "the ways disagree"
    return best


def measure_peak(vocab: int, rows: int, options: argparse.Namespace) -> int:
    """In a process of its own: bytes at the peak above what stood before."""
    run = ways(vocab, options.temperature)[options.peak]
    torch.ones(1)  # what the first operation takes
    before = peak_bytes()
    run(rows, options.steps)
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
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        print(measure_peak(options.vocab[0], options.rows[0], options))
        return
    how = f"{options.threads} threads, {options.clock} time, {options.steps} steps, temperature {options.temperature}"
    print(f"torch {torch.__version__}, {how}, best of {options.best_of}")
    print(f"{'V':>7} {'rows':>5} {'way':>6} {'ms/pass':>9} {'to hand':>8} {'peak MB':>8} {'to hand':>8}")
    for vocab in options.vocab:
        for rows in options.rows:
            times = measure_times(vocab, rows, options)
            peaks = {}
            for name in times:
                command = [sys.executable, __file__, "--vocab", str(vocab), "--rows", str(rows), "--steps",
                           str(options.steps), "--threads", str(options.threads), "--temperature",
                           str(options.temperature), "--peak", name]
                peaks[name] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for name, seconds in times.items():
                print(f"{vocab:>7} {rows:>5} {name:>6} {seconds * 1e3:>9.1f} {seconds / times['hand']:>8.3f} "
                      f"{peaks[name] / 2**20:>8.0f} {peaks[name] / peaks['hand']:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
