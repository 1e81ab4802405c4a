"""The influence head: its figures, its file, and that it learns what there is to learn."""

import json
import pathlib
import struct
import tempfile
import unittest

import gguf
import numpy as np
import torch

from punt_training import influence


def canvas_of(seed: int, masked: int = 12, width: int = 8, tests: int = 6):
    """Rows influence each other where their first numbers agree in sign, more the surer the second is unsure."""
    generator = torch.Generator().manual_seed(seed)
    states = torch.randn(masked, width, generator=generator)
    entropies = torch.rand(masked, generator=generator)
    sign = torch.sign(states[:, 0])
    truth = torch.exp(3 * sign[:, None] * sign[None, :] + 2 * entropies[None, :] - 6)
    revealed = torch.zeros(tests, masked)
    for test in range(tests):
        count = 1 if test < tests - 1 else 3
        revealed[test, torch.randperm(masked, generator=generator)[:count]] = 1
    divergences = (revealed @ truth) * (1 - revealed)
    return influence.Canvas({"states": states, "positions": torch.arange(masked).float(),
                             "token_probs": torch.full((masked,), 0.5), "entropies": entropies,
                             "revealed": revealed, "divergences": divergences})  # fmt: skip


class Figures(unittest.TestCase):
    def test_ranks_share_ties(self):
        self.assertEqual(influence.ranks(np.array([3.0, 1.0, 3.0, 0.0])).tolist(), [2.5, 1.0, 2.5, 0.0])

    def test_area(self):
        positive = np.array([False, True, False, True])
        self.assertEqual(influence.area(np.array([1.0, 2.0, 3.0, 4.0]), positive), 0.75)
        self.assertEqual(influence.area(np.array([1.0, 1.0, 1.0, 1.0]), positive), 0.5)
        self.assertIsNone(influence.area(np.array([1.0]), np.array([True])))


class Learning(unittest.TestCase):
    def test_influence_is_learned_from_tests_of_pairs_and_sets(self):
        torch.manual_seed(1)
        head = influence.Head(width=8, heads=2, head_size=4, units=16, reach=4)
        held_out = [canvas_of(seed) for seed in range(1000, 1010)]
        before = influence.judge(head, held_out, epsilon=0.02)
        influence.fit(head, [canvas_of(seed) for seed in range(60)], held_out, epochs=30, rate=1e-2, seed=1)
        after = influence.judge(head, held_out, epsilon=0.02)
        for kind in ("pairs", "sets"):
            self.assertLess(before[kind]["rank_correlation"], 0.5)
            self.assertGreater(after[kind]["rank_correlation"], 0.8)
        self.assertGreater(after["pairs"]["auc"], 0.9)

    def test_a_position_does_not_influence_itself(self):
        head = influence.Head(width=8, heads=2, head_size=4, units=4, reach=4)
        canvas = canvas_of(3)
        canvas.revealed[:] = 0
        canvas.revealed[:, 5] = 1
        self.assertAlmostEqual(canvas.predicted(head)[0, 5].item(), np.log(influence.NOISE), places=4)


class Files(unittest.TestCase):
    def test_the_file_says_whose_it_is(self):
        head = influence.Head(width=8, heads=2, head_size=4, units=6, reach=3)
        owner = {"name": "small", "architecture": "llada", "embedding_length": 8, "block_count": 2, "vocab_size": 11}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "small.influence.gguf"
            influence.write_head(head, owner, path, {})
            reader = gguf.GGUFReader(path)
            self.assertEqual(reader.fields["influence.model.name"].contents(), "small")
            self.assertEqual(reader.fields["influence.model.embedding_length"].contents(), 8)
            shapes = {tensor.name: tensor.shape.tolist() for tensor in reader.tensors}
        self.assertEqual(shapes["project.weight"], [8, 28])
        self.assertEqual(shapes["offset.weight"], [2, 7])
        self.assertEqual(shapes["mix.weight"], [2, 6])

    def test_samples_are_read_canvas_by_canvas(self):
        fields = {"states": (2, 3), "positions": (2,), "token_probs": (2,), "entropies": (2,), "revealed": (1, 2),
                  "divergences": (1, 2)}  # fmt: skip
        header, data = {}, b""
        for step in ("0004", "0011"):
            for name, shape in fields.items():
                values = np.full(shape, int(step), np.float32).tobytes()
                header[f"{step}.{name}"] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
                data += values
        text = json.dumps(header).encode()
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "sample-0000.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
            samples = influence.read_samples(pathlib.Path(folder))
        self.assertEqual([[canvas.rows[0].mean().item() for canvas in sample] for sample in samples], [[4.0, 11.0]])


if __name__ == "__main__":
    unittest.main()
