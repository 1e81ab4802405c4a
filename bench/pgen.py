"""Generation probabilities of T-cell receptors by OLGA, a judge that knows no neural network.

OLGA (Sethna et al. 2019, https://pypi.org/project/olga, GPL-3) computes the probability Pgen that the recombination of
gene segments makes a given CDR3 loop. It is run as a program, from an environment of its own in
~/.cache/punt/olga-VERSION, which is made when it is missing and pip can fetch it.
"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import venv

import report

VERSION = "1.3.0"
CHAIN = "--humanTRB"
BATCH = 200  # sequences between two looks at the disk
LETTERS = set("ACDEFGHIKLMNPQRSTVWY")


def cache_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "punt"


class Olga:
    """Throws OSError or CalledProcessError where it cannot be installed or run."""

    def __init__(self):
        self.programs = cache_folder() / f"olga-{VERSION}" / "bin"
        if not (self.programs / "olga-compute_pgen").exists():
            print(f"bench/planners: installing OLGA {VERSION} in {self.programs.parent}", file=sys.stderr, flush=True)
            venv.create(self.programs.parent, with_pip=True, clear=True)
            self.run("python", "-m", "pip", "install", "--quiet", f"olga=={VERSION}")

    def run(self, program, *arguments):
        subprocess.run([self.programs / program, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    def draw(self, count, seed):
        """Loops by the law of recombination, in order."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "drawn.tsv"
            self.run("olga-generate_sequences", CHAIN, "-n", count, "--seed", seed, "-o", path)
            return [line.split("\t")[1] for line in path.read_text().splitlines()]

    def compute(self, sequences):
        """{sequence: Pgen}."""
        with tempfile.TemporaryDirectory() as folder:
            given, made = pathlib.Path(folder) / "given.txt", pathlib.Path(folder) / "made.tsv"
            given.write_text("".join(s + "\n" for s in sequences))
            self.run("olga-compute_pgen", CHAIN, "-i", given, "-o", made, "--time_updates_off", "--display_off")
            return {s: float(p) for s, p in (line.split("\t") for line in made.read_text().splitlines())}


class KnownPgens:
    """Pgens that were computed before, in a file of lines SEQUENCE TAB PGEN; `judge` computes others."""

    def __init__(self, path, judge):
        self.path, self.judge = path, judge
        lines = path.read_text().splitlines() if path.exists() else []
        self.values = {s: float(p) for s, p in (line.split("\t") for line in lines)}

    def of(self, sequences):
        new = [s for s in dict.fromkeys(sequences) if s not in self.values]
        for begin in range(0, len(new), BATCH):
            made = self.judge.compute(new[begin:begin + BATCH])
            self.values.update(made)
            with open(self.path, "a", encoding="utf-8") as file:
                file.writelines(f"{s}\t{p!r}\n" for s, p in made.items())
        return [self.values[s] for s in sequences]


def write_known(path, judge, count, lengths):
    """A FASTA file of different loops of these lengths, drawn by the judge; the same for the same arguments."""
    drawn = [s for s in dict.fromkeys(judge.draw(count, seed=1)) if len(s) in lengths and set(s) <= LETTERS]
    part = path.with_suffix(".part")
    part.write_text("".join(f">drawn{i}\n{s}\n" for i, s in enumerate(drawn)))
    part.replace(path)


def sequences_of(fasta, limit):
    return [line for line in fasta.read_text().splitlines() if not line.startswith(">")][:limit]


def logs_of(pgens):
    return [math.log10(p) for p in pgens if p > 0]


def figures(pgens, right=()):
    """log10_pgen over the loops that recombination can make at all, and the share of these. With Pgens of loops of the right
    law pgen_error, by how much the two means of log10 Pgen differ: too low is broken, too high is dull. Intervals of 95 %
    from 3 loops on."""
    logs, right_logs = logs_of(pgens), logs_of(right)
    out = {"possible": len(logs) / len(pgens)}
    if len(logs) < 2:
        return out
    out["log10_pgen"], out["log10_pgen_ci95"] = report.mean(logs)
    if len(right_logs) > 1:
        error, ends = report.difference(logs, right_logs)
        if ends and error < 0:
            ends = [-ends[1], -ends[0]]
        out["pgen_error"], out["pgen_error_ci95"] = abs(error), ends and [max(0.0, ends[0]), ends[1]]
    return out
