"""The training loop: AdamW, warm-up and cosine, clipping, an exponential average of the weights, checkpoints.

A step is a function of its number and the seed: batch, mask ratios and masked positions are drawn from a generator seeded
by both. A run that is killed therefore goes on from its last checkpoint along the same curve, and `log.jsonl` is cut back
to that checkpoint so that every step stands in it once.
"""

import copy
import dataclasses
import fcntl
import json
import math
import os
import pathlib
import signal
import sys
import time
from typing import Callable

import torch

from . import diffusion


@dataclasses.dataclass(frozen=True)
class Schedule:
    steps: int
    peak_rate: float
    warmup: int = 100
    final_share: float = 0.02  # of the peak rate, at the last step
    weight_decay: float = 0.05
    clip: float = 1.0
    average: float = 0.998  # of the exponential average of the weights, per step
    validate_every: int = 200
    checkpoint_seconds: float = 120.0
    seed: int = 1

    def rate(self, step: int) -> float:
        if step < self.warmup:
            return self.peak_rate * (step + 1) / self.warmup
        share = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.peak_rate * (self.final_share + (1 - self.final_share) * 0.5 * (1 + math.cos(math.pi * share)))


@dataclasses.dataclass
class Task:
    """What is learned: canvases, which positions may be masked, what counts how much."""

    mask_token: int
    batch: Callable[[int, torch.Generator], torch.Tensor]  # step -> [B, L] tokens
    maskable: Callable[[torch.Tensor], torch.Tensor]  # [B, L] tokens -> booleans
    loss_weight: Callable[[torch.Tensor], torch.Tensor]  # tokens of masked positions -> weights in the loss
    validation: list[torch.Tensor]  # canvases, in batches
    counted: Callable[[torch.Tensor], torch.Tensor]  # [B, L] tokens -> booleans: what "per token" divides by
    sample: Callable[[torch.nn.Module], str]  # something to read, shown at every validation
    # Weights n/k of masked positions are raised to this power: 1 is the bound, 0 gives all masked positions the same weight.
    # What minimises the loss is the same; less than 1 listens more to canvases with many masks, which say more per pass.
    tempering: float = 1.0


def fail(message: str):
    """Ends the program as bad input does everywhere in punt: one line, exit code 2."""
    print(f"training: {message}", file=sys.stderr)
    sys.exit(2)


def step_generator(seed: int, step: int) -> torch.Generator:
    return torch.Generator().manual_seed((seed << 32) + step)


@torch.no_grad()
def validation_bound(network, task: Task, seed: int = 0, repeats: int = 4) -> dict:
    """Bound on the negative log-likelihood in nats per counted token, the same masks at every call."""
    total = count = 0.0
    by_ratio: dict[float, list[float]] = {0.15: [], 0.5: [], 0.85: [], 1.0: []}
    for number, canvas in enumerate(task.validation):
        maskable = task.maskable(canvas)
        for repeat in range(repeats):
            generator = step_generator(seed, number * repeats + repeat)
            ratios = diffusion.mask_ratios(len(canvas), generator)
            masked = diffusion.choose_masked(maskable, ratios, generator)
            losses = diffusion.masked_losses(network, canvas, masked, task.mask_token)
            total += (losses * diffusion.weights(masked, maskable)).sum().item()
            count += task.counted(canvas).sum().item()
        for ratio, losses in by_ratio.items():
            generator = step_generator(seed + 1, number)
            masked = diffusion.choose_masked(maskable, torch.full((len(canvas),), ratio), generator)
            masked &= task.counted(canvas)
            if masked.any():
                losses += diffusion.masked_losses(network, canvas, masked, task.mask_token).tolist()
    return {"bound": total / count} | {f"loss_at_{r}": sum(x) / max(1, len(x)) for r, x in by_ratio.items()}


class Run:
    """One training run in its folder: checkpoint.pt, log.jsonl. Only one process trains there; others may look."""

    def __init__(self, network, task: Task, schedule: Schedule, folder: pathlib.Path, trains: bool = True,
                 half: bool = False):  # fmt: skip
        self.network, self.task, self.schedule, self.folder = network, task, schedule, folder
        self.half = half  # products in bfloat16, weights in float: 1.5x as fast on processors that have such products
        self.average = copy.deepcopy(network).requires_grad_(False)
        decayed = [p for p in network.parameters() if p.dim() >= 2]
        others = [p for p in network.parameters() if p.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": schedule.weight_decay}, {"params": others, "weight_decay": 0.0}],
            lr=schedule.peak_rate, betas=(0.9, 0.98), fused=True,
        )  # fmt: skip
        self.step, self.seconds = 0, 0.0
        folder.mkdir(parents=True, exist_ok=True)
        self.checkpoint, self.log = folder / "checkpoint.pt", folder / "log.jsonl"
        if trains:
            self.lock = (folder / "lock").open("w")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fail(f"{folder}: another process is training there")
        if self.checkpoint.exists():
            self.resume()
            if trains:
                self.cut_log()

    def resume(self):
        saved = torch.load(self.checkpoint, weights_only=True)
        # The number of steps may change: a run that is good enough anneals early, one that is not goes on for longer.
        schedule = dataclasses.asdict(self.schedule)
        free = {name: schedule[name] for name in ("steps", "validate_every", "checkpoint_seconds")}
        if saved["schedule"] | free != schedule:
            fail(f"{self.checkpoint} was made with another schedule; choose another --out")
        self.network.load_state_dict(saved["network"])
        self.average.load_state_dict(saved["average"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.step, self.seconds = saved["step"], saved["seconds"]

    def cut_log(self):
        lines = [line for line in self.log.read_text().splitlines() if line.endswith("}")]
        kept = [line for line in lines if json.loads(line)["step"] <= self.step]
        replace(self.log, ("\n".join(kept) + "\n").encode() if kept else b"")

    def save(self):
        state = {
            "network": self.network.state_dict(), "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(), "step": self.step, "seconds": self.seconds,
            "schedule": dataclasses.asdict(self.schedule),
        }  # fmt: skip
        temporary = self.checkpoint.with_suffix(".tmp")
        torch.save(state, temporary)
        os.replace(temporary, self.checkpoint)

    def note(self, **values):
        with self.log.open("a") as out:
            out.write(json.dumps({"step": self.step, "seconds": round(self.seconds, 1)} | values) + "\n")

    def train(self):
        stop = []
        previous = signal.signal(signal.SIGINT, lambda *_: stop.append(True))
        saved_at, began = time.monotonic(), time.monotonic() - self.seconds
        while self.step < self.schedule.steps and not stop:
            loss, tokens = self.one_step()
            self.step += 1
            self.seconds = time.monotonic() - began
            self.note(loss=loss)
            if self.step % 10 == 0:
                self.show(loss, tokens)
            if self.step % self.schedule.validate_every == 0 or self.step == self.schedule.steps:
                self.validate()
            if time.monotonic() - saved_at > self.schedule.checkpoint_seconds:
                self.save()
                saved_at = time.monotonic()
        self.save()
        signal.signal(signal.SIGINT, previous)
        return not stop

    def one_step(self) -> tuple[float, int]:
        generator = step_generator(self.schedule.seed, self.step)
        canvas = self.task.batch(self.step, generator)
        maskable = self.task.maskable(canvas)
        ratios = diffusion.mask_ratios(len(canvas), generator)
        masked = diffusion.choose_masked(maskable, ratios, generator)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
            losses = diffusion.masked_losses(self.network, canvas, masked, self.task.mask_token).float()
        weight = diffusion.weights(masked, maskable) ** self.task.tempering * self.task.loss_weight(canvas[masked])
        loss = (losses * weight).sum() / weight.sum()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.schedule.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.step)
        self.optimizer.step()
        # Early on the average would remember the start for too long: it begins short and grows to its full length.
        keep = min(self.schedule.average, (1 + self.step) / (10 + self.step))
        torch._foreach_lerp_(list(self.average.parameters()), [p.detach() for p in self.network.parameters()], 1 - keep)
        return loss.item(), canvas.numel()

    def validate(self):
        values = validation_bound(self.average, self.task)
        self.note(**values)
        text = ", ".join(f"{name} {value:.3f}" for name, value in values.items())
        print(f"\nstep {self.step}: {text}\n{self.task.sample(self.average)}\n", flush=True)

    def show(self, loss, tokens):
        per_step = self.seconds / self.step
        left = (self.schedule.steps - self.step) * per_step / 60
        line = f"step {self.step}/{self.schedule.steps}  loss {loss:.3f}  {tokens / per_step:.0f} tokens/s  {left:.0f} min left"
        print(line, end="\r" if sys.stdout.isatty() else "\n", flush=True)


def replace(path: pathlib.Path, content: bytes):
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(content)
    os.replace(temporary, path)
