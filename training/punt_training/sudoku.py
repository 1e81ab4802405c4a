"""`sudoku`: the digits given are the prompt, the blanks the canvas.

A board is BOS, then for each row its label and its digits: "\\nA 534678912\\nB 672195348...". Labels tell a position its row,
and by their distance its column. Training boards are full solutions from `punt puzzles`, moved by the symmetries of the
game, so that none is seen twice; which cells are masked is the diffusion's own choice.
"""

import csv
import pathlib

import torch

from . import loop, sampling
from .export import CONTROL, NORMAL, USER_DEFINED, Vocabulary
from .networks import Llada, Shape

BOX = {4: (2, 2), 6: (2, 3), 9: (3, 3)}  # rows and columns of a box
BOS, EOS, MASK, FIRST_LABEL = 0, 1, 2, 3


def read_boards(path: pathlib.Path, column: str) -> torch.Tensor:
    with path.open() as lines:
        rows = [[int(c) for c in row[column]] for row in csv.DictReader(lines)]
    return torch.tensor(rows, dtype=torch.long)


class Sudoku:
    def __init__(self, puzzles: pathlib.Path, size: int, batch: int):
        self.size, self.batch = size, batch
        self.box = BOX[size]
        self.first_digit = FIRST_LABEL + size
        solutions = read_boards(puzzles, "solution").view(-1, size, size) - 1
        given = read_boards(puzzles, "puzzle").view(-1, size, size)
        held = min(256, len(solutions) // 10)
        self.valid, self.train = self.canvases(solutions[:held]), solutions[held:]
        self.puzzle = self.canvases(solutions[:1])[0]
        self.puzzle[self.cells()] = torch.where(given[0].flatten() > 0, self.puzzle[self.cells()], MASK)

    @property
    def vocab(self):
        return self.first_digit + self.size

    def cells(self) -> torch.Tensor:
        """Positions of the cells on a canvas."""
        row = torch.arange(self.size)[:, None] * (self.size + 1)
        return (row + torch.arange(self.size) + 2).flatten()

    def canvases(self, boards: torch.Tensor) -> torch.Tensor:
        labels = (torch.arange(self.size) + FIRST_LABEL).expand(len(boards), -1)[:, :, None]
        lines = torch.cat((labels, boards + self.first_digit), -1).flatten(1)
        return torch.cat((torch.full((len(boards), 1), BOS), lines), 1)

    def move(self, boards: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Each board under a random symmetry: digits renamed, rows moved within and with their bands, columns likewise."""
        count, (box_rows, box_columns) = len(boards), self.box
        digits = torch.rand(count, self.size, generator=generator).argsort(-1)
        boards = digits.gather(1, boards.flatten(1)).view_as(boards)
        rows = order_of_groups(count, self.size // box_rows, box_rows, generator)
        columns = order_of_groups(count, self.size // box_columns, box_columns, generator)
        boards = boards.gather(1, rows[:, :, None].expand_as(boards))
        return boards.gather(2, columns[:, None, :].expand_as(boards))

    def network(self, width: int, layers: int, heads: int) -> Llada:
        context = 1 + self.size * (self.size + 1)
        return Llada(Shape(self.vocab, context, width, layers, heads, ffn=width * 3))

    def task(self) -> loop.Task:
        cells = torch.zeros(len(self.puzzle), dtype=torch.bool)
        cells[self.cells()] = True

        def draw(step, generator):
            chosen = torch.randint(len(self.train), (self.batch,), generator=generator)
            return self.canvases(self.move(self.train[chosen], generator))

        return loop.Task(
            mask_token=MASK,
            batch=draw,
            maskable=lambda canvas: cells.expand(canvas.shape),
            loss_weight=lambda tokens: torch.ones(len(tokens)),
            validation=list(self.valid.split(64)),
            counted=lambda canvas: cells.expand(canvas.shape),
            sample=self.sample,
        )

    def sample(self, network) -> str:
        filled = sampling.fill(network, self.puzzle, MASK, temperature=1e-3)[self.cells()] - self.first_digit
        board = filled.view(self.size, self.size).tolist()
        return "\n".join("".join(str(digit + 1) for digit in row) for row in board)

    def vocabulary(self) -> Vocabulary:
        labels = [f"\n{chr(ord('A') + row)} " for row in range(self.size)]
        digits = [str(digit + 1) for digit in range(self.size)]
        kinds = [CONTROL] * 3 + [USER_DEFINED] * self.size + [NORMAL] * self.size
        special = {"bos": BOS, "eos": EOS, "mask": MASK, "padding": EOS}
        # Nothing is merged, but libllama wants a list that is not empty: one of letters that no board has.
        return Vocabulary("gpt2", ["<s>", "</s>", "<mask>"] + labels + digits, kinds, special, pre="gpt-2", merges=["A A"],
                          flags={"add_bos_token": True, "add_eos_token": False})  # fmt: skip


def order_of_groups(count: int, groups: int, size: int, generator: torch.Generator) -> torch.Tensor:
    """Random orders of groups * size lines in which groups stay together. [count, groups * size]"""
    within = torch.rand(count, groups, size, generator=generator).argsort(-1)
    across = torch.rand(count, groups, generator=generator).argsort(-1)
    return (across[:, :, None] * size + within).flatten(1)
