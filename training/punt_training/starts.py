"""Initial weights with which a small network of the llada architecture learns to copy soon.

From the usual ones, small and random, copying comes late: a head must find a place to look at, by position or by content,
before what it brings along is of any use, and the other way round. (`tasks` had learned all of its punctuation and nothing else
after 700 steps: not a single name, not which country a city lies in.) Three things are put in from the start, all free to
change:

* Coordinate 0 of every embedding is the same. Linear layers here have no bias; with it queries and keys have a constant part.
* Heads of the first layers look at a fixed distance: query and key are constant, turned against each other by RoPE.
* In the other layers what a head brings is what it saw: the output matrix is the transpose of the value matrix, which is
  orthogonal. As the embedding is also the output matrix, to look at a token is to propose it.
"""

import torch

from .networks import Llada

EMBEDDING, CONSTANT = 0.1, 0.3  # standard deviation of embeddings, and their coordinate 0
SHARP = 4.0  # of constant queries and keys: a neighbour of the place looked at gets about a seventh of its weight
FREQUENCIES = 6  # the fast ones; slow ones do not tell neighbours apart
COPY = 0.15  # of what was seen, beside embeddings of 0.1


@torch.no_grad()
def begin(network: Llada, distances: list[list[int]]):
    """`distances`: for each of the first layers, one per head: where to look, 1 is the next position."""
    for name, weight in network.named_parameters():
        if weight.dim() == 2:
            weight.normal_(std=weight.shape[1] ** -0.5)
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                weight.mul_(0.5 / (2 * network.shape.layers) ** 0.5)
    network.token_embd.weight.mul_(EMBEDDING * network.shape.width**0.5)
    network.token_embd.weight[:, 0] = CONSTANT
    for number, layer in enumerate(network.blk):
        if number < len(distances):
            for head, distance in enumerate(distances[number]):
                look_at(layer, head, distance, network.shape)
        else:
            torch.nn.init.orthogonal_(layer.attn_v.weight)
            layer.attn_output.weight.copy_(COPY * layer.attn_v.weight.T)


def look_at(layer, head: int, distance: int, shape):
    size = shape.width // shape.heads
    rows = slice(head * size, (head + 1) * size)
    angle = distance * shape.rope_base ** (-torch.arange(0, 2 * FREQUENCIES, 2) / size)
    gain = SHARP * EMBEDDING / CONSTANT  # after the norm the constant is CONSTANT / EMBEDDING
    for matrix, even, odd in ((layer.attn_q, angle * 0 + 1, angle * 0), (layer.attn_k, angle.cos(), -angle.sin())):
        weight = matrix.weight[rows]
        weight.mul_(0.3)
        weight[0 : 2 * FREQUENCIES : 2, 0] = gain * even
        weight[1 : 2 * FREQUENCIES : 2, 0] = gain * odd
