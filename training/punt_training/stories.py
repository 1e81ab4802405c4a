"""`stories`: English short stories on a canvas of 256 tokens, adapted from the autoregressive stories15M.

Canvas: BOS, the story, EOS to the end; the model decides how long a story is. The parent's vocabulary is cut to the pieces
the stories use and one mask token added, its attention opened to both sides, its next-token shift kept. Text: TinyStories,
and stories that the parent tells.
"""

import json
import pathlib
import re

import torch

from . import loop, sampling
from .networks import Llada, Shape
from .pieces import BOS, EOS, Pieces, read_llama2c_vocabulary
from .story_teller import read_llama2c_weights, tell

WEIGHT_BYTES = 60_816_028  # of llama2.data; the vocabulary follows
CONTEXT = 256
TELL_BATCH = 256
# At this temperature the parent writes its best stories. They have little entropy, which is what a child of its size can
# learn in hours: the model becomes a student of the parent as much as of TinyStories.
TELL_TEMPERATURE, TELL_NUCLEUS = 0.7, 0.9
TOLD_SHARE = 0.8  # of the canvases of a batch, if there are stories told
PLAIN = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "…": "...", "«": '"', "»": '"'})


def clean(story: str) -> str:
    return re.sub(r"\s*\n\s*", "\n", re.sub(r"[ \t]+", " ", story.translate(PLAIN))).strip()


class Stories:
    def __init__(self, text: pathlib.Path, parent: pathlib.Path, told: int, work: pathlib.Path, seed: int = 1):
        data = parent.read_bytes()
        self.weights = data[:WEIGHT_BYTES]
        whole = [clean(s) for s in text.read_text().split("<|endoftext|>")][:-1]  # the last one may be cut off
        whole = [s for s in whole if len(s) > 200]
        self.pieces, self.kept = read_llama2c_vocabulary(data[WEIGHT_BYTES:]).trim(whole, at_least=3)
        self.mask_token = len(self.pieces)
        encoded = [self.pieces.encode(s) for s in whole]
        encoded = [s for s in encoded if len(s) <= CONTEXT - 2]
        self.valid = canvases(encoded[::20])
        self.written = canvases([s for i, s in enumerate(encoded) if i % 20])
        self.told = canvases(self.tell(told, told_file(work, seed), first_telling(seed)))

    def tell(self, count: int, path: pathlib.Path, first: int) -> list[list[int]]:
        """`count` stories of the parent's, kept in a file that grows batch by batch; `first` is the seed of the first."""
        stories: list[list[int]] = []
        batches = 0
        if path.exists():
            for line in path.read_text().splitlines():
                stories += json.loads(line)
                batches += 1
        network = self.parent()
        while len(stories) < count:
            batch = tell(network, TELL_BATCH, seed=first + batches, temperature=TELL_TEMPERATURE, nucleus=TELL_NUCLEUS)
            texts = [clean(self.pieces.decode(s)) for s in batch]
            encoded = [self.pieces.encode(s) for s in texts if len(s) > 200]
            encoded = [s for s in encoded if len(s) <= CONTEXT - 2]
            with path.open("a") as out:
                out.write(json.dumps(encoded) + "\n")
            stories += encoded
            batches += 1
            print(f"stories told: {len(stories)}/{count}", flush=True)
        return stories[:count]

    def network(self, scratch: bool):
        network = read_llama2c_weights(self.weights, self.kept, extra=1)
        if scratch:
            shape = Shape(**(network.shape.__dict__ | {"shift_logits": False}))
            return Llada(shape)
        return network

    def parent(self) -> Llada:
        return read_llama2c_weights(self.weights, self.kept)

    def task(self, batch: int) -> loop.Task:
        def draw(step, generator):
            told = round(TOLD_SHARE * batch) if len(self.told) else 0
            shares = ((self.told, told), (self.written, batch - told))
            return torch.cat([s[torch.randint(len(s), (n,), generator=generator)] for s, n in shares if n])

        return loop.Task(
            mask_token=self.mask_token,
            batch=draw,
            maskable=lambda canvas: (torch.arange(CONTEXT) > 0).expand(canvas.shape),
            # Padding is easy and plentiful; at full weight it would be most of what early steps learn.
            loss_weight=lambda tokens: torch.where(tokens == EOS, 0.2, 1.0),
            validation=list(self.valid.split(32)),
            counted=lambda canvas: (canvas != BOS) & (torch.cumsum(canvas == EOS, -1) <= 1),
            sample=self.sample,
            tempering=0.5,
        )

    def sample(self, network) -> str:
        canvas = torch.full((CONTEXT,), self.mask_token)
        canvas[0], canvas[160:] = BOS, EOS
        opening = self.pieces.encode("Once upon a time, there was a little")
        canvas[1 : 1 + len(opening)] = torch.tensor(opening)
        return self.pieces.decode(sampling.fill(network, canvas, self.mask_token).tolist())


def told_file(work: pathlib.Path, seed: int) -> pathlib.Path:
    return work / f"told-{TELL_TEMPERATURE}-{TELL_NUCLEUS}{f'-{seed}' if seed != 1 else ''}.jsonl"


def first_telling(seed: int) -> int:
    """The seed of the first batch of told stories of a run of this seed."""
    return (seed - 1) << 20


def canvases(stories: list[list[int]]) -> torch.Tensor:
    out = torch.full((len(stories), CONTEXT), EOS)
    out[:, 0] = BOS
    for row, story in zip(out, stories):
        row[1 : 1 + len(story)] = torch.tensor(story)
    return out
