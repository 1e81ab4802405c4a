"""`membrane`: proteins that sit in membranes, in ESM-2's architecture and alphabet, 50 to 512 residues.

Canvas: <cls>, residues, <eos>. Batches hold sequences of nearly one length, cut to the shortest, so that nothing is padded.
Families are kept apart: MMseqs2 clusters the sequences at 30 % identity, and whole clusters go to training or validation.
"""

import gzip
import pathlib
import shutil
import subprocess
import zlib

import torch

from . import loop, sampling
from .export import CONTROL, NORMAL, UNKNOWN, Vocabulary
from .networks import Esm2, Shape

ALPHABET = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-", "<null_1>", "<mask>"]
CLS, PAD, EOS, MASK = 0, 1, 2, 32
SHORTEST, LONGEST, CONTEXT = 50, 512, 514
VALIDATION_SHARE = 0.02


def read_fasta(path: pathlib.Path) -> dict[str, str]:
    opener = gzip.open if path.suffix == ".gz" else open
    sequences: dict[str, list[str]] = {}
    with opener(path, "rt") as lines:
        for line in lines:
            if line.startswith(">"):
                parts = sequences.setdefault(line[1:].split()[0], [])
            else:
                parts.append(line.strip())
    return {name: "".join(parts) for name, parts in sequences.items()}


def clusters(sequences: dict[str, str], work: pathlib.Path) -> dict[str, str]:
    """The representative of each sequence's cluster; kept in work/clusters.tsv."""
    table = work / "clusters.tsv"
    if not table.exists():
        if shutil.which("mmseqs") is None:
            loop.fail("mmseqs is missing, without which families cannot be kept apart: apt-get install mmseqs2")
        work.mkdir(parents=True, exist_ok=True)
        fasta = work / "sequences.fasta"
        fasta.write_text("".join(f">{name}\n{sequence}\n" for name, sequence in sequences.items()))
        command = ["mmseqs", "easy-linclust", str(fasta), str(work / "mmseqs"), str(work / "mmseqs-tmp"),
                   "--min-seq-id", "0.3", "-c", "0.5", "--cov-mode", "1", "-v", "1"]  # fmt: skip
        subprocess.run(command, check=True)
        (work / "mmseqs_cluster.tsv").rename(table)
    pairs = (line.split("\t") for line in table.read_text().splitlines())
    return {member: representative for representative, member in pairs}


def is_held_out(representative: str) -> bool:
    return zlib.crc32(representative.encode()) / 2**32 < VALIDATION_SHARE


class Membrane:
    def __init__(self, fasta: pathlib.Path, work: pathlib.Path, tokens_per_batch: int, seed: int):
        sequences = {n: s for n, s in read_fasta(fasta).items() if SHORTEST <= len(s) <= LONGEST}
        cluster = clusters(sequences, work)
        held = [s for n, s in sequences.items() if is_held_out(cluster[n])]
        train = [s for n, s in sequences.items() if not is_held_out(cluster[n])]
        print(f"{len(train)} sequences to train on, {len(held)} of other families held out", flush=True)
        self.tokens_per_batch, self.seed = tokens_per_batch, seed
        # Neighbours in length share a batch; within a length a hash decides, or relatives would come together.
        self.train = sorted(train, key=lambda s: (len(s), zlib.crc32(s.encode()), s))
        self.batches = self.cut(self.train)
        held.sort(key=lambda s: (len(s), s))
        self.valid = [canvas(held[a:b]) for a, b in self.cut(held[:: max(1, len(held) // 200)])]

    def cut(self, ordered: list[str]) -> list[tuple[int, int]]:
        """Ranges of neighbours in length that fill a batch each."""
        ranges, begin = [], 0
        while begin < len(ordered):
            end = begin + max(1, self.tokens_per_batch // (len(ordered[begin]) + 2))
            ranges.append((begin, min(end, len(ordered))))
            begin = ranges[-1][1]
        return ranges

    def batch(self, step: int, generator: torch.Generator) -> torch.Tensor:
        epoch, number = divmod(step, len(self.batches))
        order = torch.randperm(len(self.batches), generator=loop.step_generator(self.seed + 1000, epoch))
        begin, end = self.batches[order[number]]
        return canvas(self.train[begin:end])

    def network(self, width: int, layers: int, heads: int) -> Esm2:
        return Esm2(Shape(len(ALPHABET), CONTEXT, width, layers, heads, ffn=4 * width))

    def task(self) -> loop.Task:
        def residues(tokens):
            return (tokens != CLS) & (tokens != EOS)

        return loop.Task(
            mask_token=MASK,
            batch=self.batch,
            maskable=residues,
            loss_weight=lambda tokens: torch.ones(len(tokens)),
            validation=self.valid,
            counted=residues,
            sample=self.sample,
        )

    def sample(self, network) -> str:
        tokens = torch.full((82,), MASK)
        tokens[0], tokens[-1] = CLS, EOS
        return "".join(ALPHABET[t] for t in sampling.fill(network, tokens, MASK, temperature=1.0)[1:-1].tolist())

    def vocabulary(self) -> Vocabulary:
        kinds = [NORMAL] * len(ALPHABET)
        for token in (CLS, PAD, EOS, 31, MASK):
            kinds[token] = CONTROL
        kinds[3] = UNKNOWN
        special = {"cls": CLS, "padding": PAD, "eos": EOS, "unknown": 3, "mask": MASK}
        return Vocabulary("esm", ALPHABET, kinds, special)


def canvas(sequences: list[str]) -> torch.Tensor:
    length = min(len(s) for s in sequences)
    letter = {c: i for i, c in enumerate(ALPHABET)}
    return torch.tensor([[CLS] + [letter[c] for c in s[:length]] + [EOS] for s in sequences])
