"""A head that predicts what PUNT's tests would find, learned from such tests: see src/model/influence_head.h.

`punt analyze influence` gathers the data along runs of the model. A test reveals a set of positions and tells how far every
other row moved; the head gives an influence for every pair, and the sum over the set is compared with what was measured,
on a logarithmic scale. Sequences are held out, not pairs: pairs of a canvas are alike.
"""

import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import time

import gguf
import numpy as np
import torch
from torch import nn

from . import loop

LEAST_PROB = 1e-6  # these three are the engine's
LEAST_LOG, MOST_LOG = -20.0, 10.0
NOISE = 1e-5  # nats; rounding moves rows by less, and nobody cares


class Head(nn.Module):
    def __init__(self, width: int, heads: int, head_size: int, units: int, reach: int):
        super().__init__()
        self.heads, self.head_size, self.units, self.reach = heads, head_size, units, reach
        self.project = nn.Linear(width, 2 * (heads * head_size + units))
        self.surprise = nn.Parameter(torch.zeros(units))
        self.entropy = nn.Parameter(torch.zeros(units))
        self.offset = nn.Parameter(torch.zeros(2 * reach + 1, heads))
        self.mix = nn.Linear(heads, units, bias=False)
        self.score = nn.Linear(units, 1)
        nn.init.constant_(self.score.bias, -6.0)

    def forward(self, states, positions, token_probs, entropies):
        """ln of the influence of i on j, [m, m]."""
        x = states / torch.sqrt(states.square().mean(-1, keepdim=True) + 1e-12)
        size = self.heads * self.head_size
        q, k, a, c = self.project(x).split([size, size, self.units, self.units], dim=-1)
        a = a - torch.log(token_probs.clamp(min=LEAST_PROB))[:, None] * self.surprise
        c = c + entropies[:, None] * self.entropy
        q = q.view(-1, self.heads, self.head_size)
        k = k.view(-1, self.heads, self.head_size)
        offsets = (positions[None, :] - positions[:, None]).long().clamp(-self.reach, self.reach) + self.reach
        z = torch.einsum("jhd,ihd->ijh", q, k) / self.head_size**0.5 + self.offset[offsets]
        units = torch.relu(a[:, None, :] + c[None, :, :] + self.mix(z))
        return self.score(units).squeeze(-1).clamp(LEAST_LOG, MOST_LOG)

    def tensors(self):
        state = self.state_dict()
        named = {"project.weight": state["project.weight"], "project.bias": state["project.bias"],
                 "surprise.weight": state["surprise"], "entropy.weight": state["entropy"],
                 "offset.weight": state["offset"], "mix.weight": state["mix.weight"],
                 "score.weight": state["score.weight"].flatten(), "score.bias": state["score.bias"]}  # fmt: skip
        return {name: tensor.detach().to(torch.float32).numpy() for name, tensor in named.items()}


def read_safetensors(path: pathlib.Path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data, np.float32, (end - begin) // 4, 8 + size + begin).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values.copy())
    return tensors


class Canvas:
    """One canvas: rows, and tests of them."""

    def __init__(self, tensors):
        self.rows = [tensors[name] for name in ("states", "positions", "token_probs", "entropies")]
        self.revealed = tensors["revealed"]
        divergences = tensors["divergences"].clamp(max=50.0)
        self.measured = torch.log(divergences + NOISE)
        self.divergences = divergences

    def predicted(self, head: Head):
        """ln of the added influence of every test, [tests, m]."""
        influence = torch.exp(head(*self.rows))
        influence = influence - torch.diag(torch.diag(influence))
        return torch.log(self.revealed @ influence + NOISE)


def read_samples(folder: pathlib.Path):
    """The canvases of every sequence."""
    samples = []
    for path in sorted(folder.glob("sample-*.safetensors")):
        canvases = {}
        for name, tensor in read_safetensors(path).items():
            step, field = name.split(".")
            canvases.setdefault(step, {})[field] = tensor
        samples.append([Canvas(canvases[step]) for step in sorted(canvases)])
    return samples


def ranks(values):
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values))
    place[order] = np.arange(len(values))
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.bincount(inverse, place) / counts)[inverse]  # ties at their mean rank


def area(scores, is_positive):
    """Chance that a positive scores higher than a negative: the area under the ROC curve; None without both."""
    positives = int(is_positive.sum())
    negatives = len(scores) - positives
    if positives == 0 or negatives == 0:
        return None
    return float((ranks(scores)[is_positive].sum() - positives * (positives - 1) / 2) / (positives * negatives))


def judge(head: Head, canvases, epsilon: float):
    """What the head is worth on canvases: of tests that reveal one position, and of all."""
    predicted, measured, single = [], [], []
    with torch.no_grad():
        for canvas in canvases:
            others = canvas.revealed == 0
            predicted.append(canvas.predicted(head)[others].numpy())
            measured.append(canvas.measured[others].numpy())
            single.append((canvas.revealed.sum(1, keepdim=True).expand_as(others) == 1)[others].numpy())
    predicted, measured, single = (np.concatenate(each) for each in (predicted, measured, single))
    figures = {}
    for name, chosen in (("pairs", single), ("sets", ~single)):
        if not chosen.any():
            continue
        is_over = measured[chosen] > np.log(epsilon + NOISE)
        figures[name] = {
            "count": int(chosen.sum()),
            "over_epsilon": float(is_over.mean()),
            "rank_correlation": float(np.corrcoef(ranks(predicted[chosen]), ranks(measured[chosen]))[0, 1]),
            "auc": area(predicted[chosen], is_over),
            "predicted_mean": float(np.exp(predicted[chosen]).mean()),
            "measured_mean": float(np.exp(measured[chosen]).mean()),
        }
    return figures


def loss_of(head: Head, canvas: Canvas):
    others = canvas.revealed == 0
    return nn.functional.smooth_l1_loss(canvas.predicted(head)[others], canvas.measured[others])


def fit(head: Head, train, held_out, epochs: int, rate: float, seed: int):
    """The weights that were best on what was held out."""
    optimizer = torch.optim.AdamW(head.parameters(), lr=rate, weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    batch = 4
    steps = epochs * max(1, len(train) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps + 1, pct_start=0.1)
    best, kept = float("inf"), None
    for epoch in range(epochs):
        begin = time.time()
        order = torch.randperm(len(train), generator=generator).tolist()
        total = 0.0
        for first in range(0, len(order) - batch + 1, batch):
            optimizer.zero_grad()
            loss = sum(loss_of(head, train[i]) for i in order[first : first + batch]) / batch
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * batch
        with torch.no_grad():
            held = sum(loss_of(head, canvas).item() for canvas in held_out) / len(held_out)
        if held < best:
            best, kept = held, {name: tensor.clone() for name, tensor in head.state_dict().items()}
        if epoch % 5 == 4 or epoch == epochs - 1:
            print(f"epoch {epoch + 1}: loss {total / len(order):.4f}, held out {held:.4f}, {time.time() - begin:.1f} s",
                  flush=True)  # fmt: skip
    head.load_state_dict(kept)


def write_head(head: Head, owner: dict, path: pathlib.Path, figures: dict):
    temporary = path.with_suffix(".tmp")
    writer = gguf.GGUFWriter(temporary, "influence")
    writer.add_name(f"{owner['name']} influence")
    writer.add_description("Predicts what revealing a token does to the others; see src/model/influence_head.h of punt.")
    writer.add_string("influence.model.name", owner["name"])
    writer.add_string("influence.model.architecture", owner["architecture"])
    for key in ("embedding_length", "block_count", "vocab_size"):
        writer.add_uint32(f"influence.model.{key}", owner[key])
    for key in ("heads", "head_size", "units", "reach"):
        writer.add_uint32(f"influence.{key}", getattr(head, key))
    if "pairs" in figures:
        writer.add_float32("influence.held_out.rank_correlation", figures["pairs"]["rank_correlation"])
    for name, values in head.tensors().items():
        writer.add_tensor(name, values.astype(np.float16) if name == "project.weight" else values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(temporary, path)


def find_punt(given: pathlib.Path | None):
    """The program: as given, of this source tree, or installed."""
    built = pathlib.Path(__file__).resolve().parents[2] / "build/release/punt"
    for path in (given, built, shutil.which("punt")):
        if path is not None and pathlib.Path(path).is_file():
            return str(path)
    loop.fail("punt is not built: run make, or name it with --punt")


def owner_of(model: str, punt: str):
    """What the head's file says of its model."""
    done = subprocess.run([punt, "inspect", model, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        loop.fail(done.stderr.strip())
    told = json.loads(done.stdout)
    return {"name": told.get("name") or "", "architecture": told["architecture"],
            "embedding_length": told["sizes"]["width"], "block_count": told["sizes"]["layers"],
            "vocab_size": told["sizes"]["vocabulary"]}  # fmt: skip


def gather(args, punt: str):
    command = [punt, "analyze", "influence", "--model", args.target, "--samples", str(args.samples), "--canvases",
               str(args.canvases), "--singles", str(args.singles), "--sets", str(args.sets), "--seed", str(args.seed),
               "--threads", str(args.threads), "--out", str(args.out / "data"), *shlex.split(args.options)]  # fmt: skip
    print(" ".join(command), flush=True)
    if subprocess.run(command).returncode != 0:
        loop.fail("punt could not gather the data")


def train(args):
    punt = find_punt(args.punt)
    owner = owner_of(args.target, punt)
    if not args.no_gather:
        gather(args, punt)
    samples = read_samples(args.out / "data")
    if len(samples) < 2:
        loop.fail("at least two sequences are needed: one to learn from, one to be judged by")
    held = max(1, len(samples) // 5)
    train_set = [canvas for sample in samples[held:] for canvas in sample]
    held_out = [canvas for sample in samples[:held] for canvas in sample]
    head = Head(train_set[0].rows[0].shape[1], args.heads, args.head_size, args.units, args.reach)
    count = sum(parameter.numel() for parameter in head.parameters())
    print(f"influence: {count / 1e3:.0f}k parameters, {len(train_set)} canvases, {len(held_out)} held out", flush=True)
    fit(head, train_set, held_out, args.epochs, args.rate, args.seed)
    figures = judge(head, held_out, args.epsilon)
    (args.out / "held_out.json").write_text(json.dumps(figures, indent=1) + "\n")
    for name, values in figures.items():
        auc = "-" if values["auc"] is None else f"{values['auc']:.3f}"
        print(f"{name}: rank correlation {values['rank_correlation']:.3f}, AUC of KL > {args.epsilon} {auc}, "
              f"{values['over_epsilon']:.3f} of {values['count']} over", flush=True)  # fmt: skip
    path = args.out / f"{pathlib.Path(args.target).name.removesuffix('.gguf')}.influence.gguf"
    write_head(head, owner, path, figures)
    print(path)
