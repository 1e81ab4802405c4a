"""The objective: what is masked how often, and that its estimate has the right mean."""

import itertools
import math
import unittest

import torch

from punt_training import diffusion


class UniformNetwork(torch.nn.Module):
    """Scores that depend on the number of masks it sees, so that a wrong weighting shows."""

    def __init__(self, vocab, mask):
        super().__init__()
        self.vocab, self.mask = vocab, mask

    def hidden(self, tokens):
        masks = (tokens == self.mask).sum(-1, keepdim=True)
        return masks[..., None].expand(*tokens.shape, 1).double()

    def logits(self, rows):
        scores = torch.zeros(len(rows), self.vocab, dtype=torch.float64)
        scores[:, :1] = rows
        return scores


class DiffusionTest(unittest.TestCase):
    def test_ratios_are_spread_evenly_over_the_half_open_interval(self):
        for seed in range(20):
            ratios = diffusion.mask_ratios(16, torch.Generator().manual_seed(seed)).sort().values
            self.assertTrue((ratios > 0).all() and (ratios <= 1).all())
            self.assertTrue(torch.allclose(ratios.diff(), torch.full((15,), 1 / 16, dtype=torch.float64)))

    def test_exactly_the_share_is_masked_and_only_where_allowed(self):
        maskable = torch.tensor([[False] + [True] * 10] * 5)
        ratios = torch.tensor([0.01, 0.1, 0.11, 0.5, 1.0])
        masked = diffusion.choose_masked(maskable, ratios, torch.Generator().manual_seed(0))
        self.assertEqual(masked.sum(-1).tolist(), [1, 1, 2, 5, 10])
        self.assertFalse(masked[:, 0].any())

    def test_every_position_is_masked_equally_often(self):
        generator, count = torch.Generator().manual_seed(0), torch.zeros(6)
        for _ in range(500):
            maskable = torch.ones(8, 6, dtype=torch.bool)
            count += diffusion.choose_masked(maskable, diffusion.mask_ratios(8, generator), generator).sum(0)
        share = count / 4000
        self.assertLess((share - share.mean()).abs().max(), 0.03)

    def test_the_estimate_is_the_bound(self):
        """Against the sum over all sets of masks: positions masked independently with t uniform, counted 1/t."""
        n, vocab, mask = 4, 5, 4
        canvas, network = torch.tensor([[0, 1, 2, 3]]), UniformNetwork(5, 4)
        bound = 0.0
        for chosen in itertools.product([False, True], repeat=n):
            k = sum(chosen)
            if k == 0:
                continue
            losses = diffusion.masked_losses(network, canvas, torch.tensor([chosen]), mask)
            # The integral over t of t^(k-1) (1-t)^(n-k): a beta function.
            probability = math.gamma(k) * math.gamma(n - k + 1) / math.gamma(n + 1)
            bound += probability * losses.sum().item()
        generator, total = torch.Generator().manual_seed(3), 0.0
        rounds, batch = 400, 16
        many = canvas.expand(batch, -1)
        maskable = torch.ones_like(many, dtype=torch.bool)
        for _ in range(rounds):
            masked = diffusion.choose_masked(maskable, diffusion.mask_ratios(batch, generator), generator)
            losses = diffusion.masked_losses(network, many, masked, mask)
            total += (losses * diffusion.weights(masked, maskable)).sum().item()
        self.assertAlmostEqual(total / rounds / batch / bound, 1.0, delta=0.02)


if __name__ == "__main__":
    unittest.main()
