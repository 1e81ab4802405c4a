"""Moved boards stay boards."""

import pathlib
import tempfile
import unittest

import torch

from punt_training.sudoku import BOX, MASK, Sudoku


def pattern(size: int) -> str:
    rows, columns = BOX[size]
    return "".join(str((columns * (r % rows) + r // rows + c) % size + 1) for r in range(size) for c in range(size))


def is_board(board: list[list[int]], size: int) -> bool:
    rows, columns = BOX[size]
    full = set(range(size))
    boxes = [[board[r + i][c + j] for i in range(rows) for j in range(columns)]
             for r in range(0, size, rows) for c in range(0, size, columns)]  # fmt: skip
    return all(set(line) == full for line in [*board, *zip(*board), *boxes])


class SudokuTest(unittest.TestCase):
    def make(self, size: int) -> Sudoku:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "puzzles.csv"
            solution = pattern(size)
            line = "0" * size + solution[size:] + "," + solution
            path.write_text("puzzle,solution\n" + "\n".join([line] * 20) + "\n")
            return Sudoku(path, size, batch=32)

    def test_symmetries_keep_boards_valid_and_differ(self):
        for size in BOX:
            data = self.make(size)
            boards = data.train[:1].expand(64, -1, -1)
            moved = data.move(boards, torch.Generator().manual_seed(0))
            for board in moved.tolist():
                self.assertTrue(is_board(board, size), board)
            self.assertGreater(len({str(b) for b in moved.tolist()}), 60 if size > 4 else 40)

    def test_only_cells_are_masked(self):
        data = self.make(9)
        task = data.task()
        canvas = task.batch(0, torch.Generator().manual_seed(0))
        maskable = task.maskable(canvas)
        self.assertEqual(maskable.sum(-1).tolist(), [81] * 32)
        self.assertTrue((canvas[maskable] >= data.first_digit).all())
        self.assertTrue((canvas[~maskable] < data.first_digit).all())
        self.assertEqual((data.puzzle == MASK).sum().item(), 9)


if __name__ == "__main__":
    unittest.main()
