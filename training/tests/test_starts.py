"""Initial weights do what they are made for: heads look where they should, and what is looked at is proposed."""

import unittest

import torch

from punt_training import starts
from punt_training.networks import Llada, Shape, rotate_pairs

SHAPE = Shape(vocab=200, context=64, width=128, layers=4, heads=4, ffn=256, rope_base=1768.0)
CLASS = list(range(100, 140))
MASK = 1


def attention(network: Llada, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Of every layer, [heads, L, L]."""
    out, h = [], network.token_embd(tokens)
    for layer in network.blk:
        x = layer.attn_norm(h)
        q, k = (rotate_pairs(f(x).unflatten(-1, (layer.heads, -1)), network.cos, network.sin) for f in (layer.attn_q, layer.attn_k))
        out.append(torch.softmax(torch.einsum("bihd,bjhd->bhij", q, k)[0] / q.shape[-1] ** 0.5, -1))
        h = layer(h, network.cos, network.sin)
    return out


class StartsTest(unittest.TestCase):
    @torch.no_grad()
    def test_heads_look_where_they_should(self):
        torch.manual_seed(0)
        network = Llada(SHAPE)
        starts.begin(network, starts.Start([[-1, 1, -3, 8]], [CLASS], class_layers=2, mask=MASK))
        tokens = torch.randint(2, 100, (1, 64))
        tokens[0, 10:16] = torch.tensor(CLASS[:6])
        maps = attention(network, tokens)
        for head, distance in enumerate([-1, 1, -3, 8]):
            shares = maps[0][head].diagonal(distance)
            self.assertGreater(shares.mean().item(), 0.5, distance)
        for layer in (1, 2):
            self.assertGreater(maps[layer][0, :, 10:16].sum(-1).mean().item(), 3 * 6 / 64)

    @torch.no_grad()
    def test_to_look_at_a_token_is_to_propose_it(self):
        torch.manual_seed(0)
        network = Llada(SHAPE)
        starts.begin(network, starts.Start([[0, 0, 0, 0]], [CLASS], class_layers=2, mask=MASK))
        layer = network.blk[2]
        seen = layer.attn_norm(network.token_embd(torch.arange(200)))
        brought = layer.attn_output(layer.attn_v(seen))
        self.assertTrue(torch.equal(network.logits(brought).argmax(-1)[:100], torch.arange(100)))


if __name__ == "__main__":
    unittest.main()
