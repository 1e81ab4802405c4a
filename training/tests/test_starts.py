"""Initial weights do what they are made for: heads look where they should, and what is looked at is proposed."""

import unittest

import torch

from punt_training import starts
from punt_training.networks import Llada, Shape, rotate_pairs

HEADS, SIZE = 12, 16
SHAPE = Shape(vocab=200, context=64, width=HEADS * SIZE, layers=4, heads=HEADS, ffn=384, rope_base=1768.0)
FIRST, MASK, QUESTION, ANSWER = 0, 1, 2, 3
CLASS = list(range(100, 140))
LIST = list(range(20, 30))  # stands behind QUESTION at 8, and behind ANSWER at 28


def canvas(answer: list[int]) -> torch.Tensor:
    torch.manual_seed(1)
    tokens = torch.randint(150, 200, (1, 64))
    tokens[0, 0], tokens[0, 7], tokens[0, 27] = FIRST, QUESTION, ANSWER
    tokens[0, 8:18], tokens[0, 28:38] = torch.tensor(LIST), torch.tensor(answer)
    return tokens


def begun(heads: list[list]) -> Llada:
    torch.manual_seed(0)
    network = Llada(SHAPE)
    sample = canvas(LIST).tolist()
    anchors = [[ANSWER], [QUESTION]]
    starts.begin(network, starts.Start(heads, [CLASS], anchors, FIRST, copying=2, mask=MASK, sample=sample))
    return network


@torch.no_grad()
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
    def test_heads_look_at_distances_and_classes(self):
        distances = [-1, 1, -3, 8]
        network = begun([[starts.At(d) for d in distances], [starts.OfClass(0)], [], []])
        tokens = canvas(LIST)
        tokens[0, 20:26] = torch.tensor(CLASS[:6])
        maps = attention(network, tokens)
        for head, distance in enumerate(distances):
            self.assertGreater(maps[0][head].diagonal(distance).mean().item(), 0.5, distance)
        self.assertGreater(maps[1][0, :, 20:26].sum(-1).mean().item(), 3 * 6 / 64)

    def test_clocks_find_the_same_place_of_another_list(self):
        frequencies = [0, 1, 2, 3]
        network = begun([starts.clock(0, 1, 1, frequencies), starts.clock(1, 1, 1, frequencies), [starts.Match(0, 1)], []])
        maps = attention(network, canvas([MASK] * 10))
        for place in range(10):
            shares = maps[2][0, 28 + place]
            self.assertGreater(shares[8 + place].item(), 4 / 64, place)
            self.assertLessEqual(abs(shares.argmax().item() - 8 - place), 1, place)

    def test_clocks_run_backwards(self):
        backwards = starts.clock(1, -1, 1, [1, 2])
        network = begun([backwards, [], [], []])
        tokens = canvas(LIST)
        with torch.no_grad():
            h = network.blk[0](network.token_embd(tokens), network.cos, network.sin)
        # Coordinates: constant, class, two anchors, first token, then what the clocks show; 7 is the anchor's position.
        shown = {clock: h[0, :, 5 + i] for i, clock in enumerate(backwards)}
        for clock, hand in shown.items():
            angle = SHAPE.rope_base ** (-2 * clock.frequency / SIZE) * (7 - torch.arange(1.0, 7.0) - 1)
            expected = angle.sin() if clock.sine else angle.cos()
            self.assertTrue(torch.equal(hand[1:7][expected.abs() > 0.3].sign(), expected[expected.abs() > 0.3].sign()), clock)

    def test_what_followed_the_same_token_is_found(self):
        network = begun([[starts.At(-1), starts.At(1)], [], [starts.Neighbour(-1, 0), starts.Neighbour(-1, 1)], []])
        answer = LIST[:]
        answer[4] = MASK  # behind LIST[3], as at position 12
        shares = attention(network, canvas(answer))[2][:2, 32]
        self.assertGreater(shares[:, 12].mean().item(), 3 / 64)
        self.assertLess(shares[:, 32].mean().item(), shares[:, 12].mean().item(), "not at itself")

    @torch.no_grad()
    def test_to_look_at_a_token_is_to_propose_it(self):
        network = begun([[], [], [starts.Like(0)], []])
        layer = network.blk[2]
        seen = layer.attn_norm(network.token_embd(torch.arange(200)))
        brought = layer.attn_output(layer.attn_v(seen))
        self.assertTrue(torch.equal(network.logits(brought).argmax(-1)[4:100], torch.arange(4, 100)))


if __name__ == "__main__":
    unittest.main()
