"""Told stories: kept in a file, gone on with where it ends, other ones for another seed."""

import pathlib
import tempfile
import unittest
from unittest import mock

from punt_training import stories
from punt_training.pieces import FIRST_BYTE


class Told(unittest.TestCase):
    def tell(self, folder: pathlib.Path, count: int, seed: int) -> tuple[list, list[int]]:
        """The stories, and the seeds of the batches that were told for them; a story is its seed, again and again."""
        seeds = []

        def batch(network, size, seed, **drawing):
            seeds.append(seed)
            return [[FIRST_BYTE + seed % 7] * 201 for _ in range(2)]

        data = stories.Stories.__new__(stories.Stories)
        data.pieces = mock.Mock(decode=lambda tokens: "a" * len(tokens), encode=lambda text: [1] * len(text))
        data.parent = lambda: None
        with mock.patch.object(stories, "tell", batch):
            told = data.tell(count, stories.told_file(folder, seed), first=stories.first_telling(seed))
        return told, seeds

    def test_the_file_is_gone_on_with(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.assertEqual(self.tell(folder, 3, seed=1)[1], [0, 1])
            told, seeds = self.tell(folder, 5, seed=1)
            self.assertEqual(seeds, [2])
            self.assertEqual(len(told), 5)

    def test_another_seed_has_others(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            first, second = self.tell(folder, 4, seed=1)[1], self.tell(folder, 4, seed=2)[1]
            self.assertEqual(len(second), 2)
            self.assertFalse(set(first) & set(second))


if __name__ == "__main__":
    unittest.main()
