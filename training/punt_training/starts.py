"""Initial weights with which a small network of the llada architecture learns to copy soon.

From the usual ones, small and random, copying comes late: a head must find a place to look at, by position or by content,
before what it brings along is of any use, and the other way round. (`tasks` had learned all of its punctuation and nothing else
after 700 steps: not a single name, not which country a city lies in.) These things are put in from the start, all free to
change:

* Coordinate 0 of every embedding is the same. Linear layers here have no bias; with it queries and keys have a constant part.
  The next coordinates are the same within a class of tokens (given names, say) and zero elsewhere.
* Heads of the first layers look at a fixed distance: query and key are constant, turned against each other by RoPE.
* In the middle layers a head per class looks at all tokens of that class, and the others look at what has the same
  neighbours: query and key are one matrix, blind to the mask's embedding.
* In all but the first layers what a head brings is what it saw: the output matrix is the transpose of the value matrix, which
  is orthogonal. As the embedding is also the output matrix, to look at a token is to propose it.
"""

import dataclasses

import torch

from .networks import Llada

EMBEDDING, CONSTANT = 0.1, 0.3  # standard deviation of embeddings; their constant coordinates
QUIET = 0.3  # of what layers add, or embeddings would be lost in it
SHARP, BROAD = 4.0, 3.0  # of constant queries and keys: a neighbour of the place looked at gets a seventh of its weight
COPY = 0.15  # of what was seen, beside embeddings of 0.1


@dataclasses.dataclass(frozen=True)
class Start:
    distances: list[list[int]]  # for each of the first layers, one per head: where to look, 1 is the next position
    classes: list[list[int]]  # tokens that are of one kind
    class_layers: int  # how many layers behind the first have heads for them
    mask: int


@torch.no_grad()
def begin(network: Llada, start: Start):
    for name, weight in network.named_parameters():
        if weight.dim() == 2:
            weight.normal_(std=weight.shape[1] ** -0.5)
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                weight.mul_(QUIET / (2 * network.shape.layers) ** 0.5)
    embedding = network.token_embd.weight
    embedding.mul_(EMBEDDING * network.shape.width**0.5)
    embedding[:, 1 : 1 + len(start.classes)] = 0.0
    embedding[:, 0] = CONSTANT
    for number, tokens in enumerate(start.classes):
        embedding[tokens, 1 + number] = CONSTANT
    first = len(start.distances)
    for number, layer in enumerate(network.blk):
        if number >= first:
            torch.nn.init.orthogonal_(layer.attn_v.weight)
            layer.attn_output.weight.copy_(COPY * layer.attn_v.weight.T)
        for head in range(network.shape.heads):
            if number < first:
                look_at_distance(layer, head, start.distances[number][head], network.shape)
            elif number < first + start.class_layers:
                if head < len(start.classes):
                    look_at_class(layer, head, 1 + head)
                else:
                    look_at_likes(layer, head, embedding[start.mask])


def rows_of(layer, matrix, head: int) -> torch.Tensor:
    return matrix.weight.unflatten(0, (layer.heads, -1))[head]


def look_at_distance(layer, head: int, distance: int, shape):
    """By the fast frequencies: slow ones do not tell neighbours apart."""
    q, k = (rows_of(layer, m, head).mul_(0.3) for m in (layer.attn_q, layer.attn_k))
    size = len(q)
    fast = 3 * size // 8
    angle = distance * shape.rope_base ** (-torch.arange(0, fast, 2) / size)
    gain = SHARP * EMBEDDING / CONSTANT  # after the norm the constant is CONSTANT / EMBEDDING
    q[0:fast:2, 0], q[1:fast:2, 0] = gain, 0.0
    k[0:fast:2, 0], k[1:fast:2, 0] = gain * angle.cos(), -gain * angle.sin()


def look_at_class(layer, head: int, coordinate: int):
    """From anywhere: by the slow frequencies, which hardly turn."""
    q, k = (rows_of(layer, m, head).mul_(0.3) for m in (layer.attn_q, layer.attn_k))
    slow = len(q) // 2
    q[slow::2, 0] = k[slow::2, coordinate] = BROAD * EMBEDDING / CONSTANT


def look_at_likes(layer, head: int, mask_embedding: torch.Tensor):
    q, k = (rows_of(layer, m, head) for m in (layer.attn_q, layer.attn_k))
    direction = mask_embedding / mask_embedding.norm()
    q.sub_(torch.outer(q @ direction, direction))
    q[: len(q) // 2] *= 0.3
    q[:, 0] = 0.0
    k.copy_(q)
