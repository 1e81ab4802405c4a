"""Initial weights with which a small network of the llada architecture learns to copy soon.

From the usual ones, small and random, copying comes late: a head must find a place to look at, by position or by content,
before what it brings along is of any use, and the other way round. (`tasks` had learned all of its punctuation and nothing else
after 700 steps: not a single name, not which country a city lies in.) These things are put in from the start, all free to
change:

* Coordinate 0 of every embedding is the same. Linear layers here have no bias; with it queries and keys have a constant part.
  The next coordinates are the same within a class of tokens (given names, say) and zero elsewhere.
* A head `At` looks at a fixed distance: query and key are constant, turned against each other by RoPE. At distance 1 and -1 of
  the first layer it writes down whom it saw, in coordinates of its own: a `Neighbour` head of a later layer looks at what has the same
  neighbour, and so at what followed the same token elsewhere. (In directions of their own, made of many small weights, they
  were lost among what training did to these weights, and nothing was found in 2,000 steps.)
* A `Clock` head divides its attention between an anchor, a token that stands once in a canvas, and the first token, by the sine
  or cosine of its distance to the anchor, and writes the share into a coordinate of its own: RoPE alone tells nobody
  how far away it is. A `Match` head looks where one clock shows what another one shows here: at the same place of another list.
* An `OfClass` head looks at all tokens of a class, a `Like` head at where the same token stands elsewhere.
* Behind the first layers what a head brings is what it saw: the output matrix is the transpose of the value matrix, which
  is orthogonal. As the embedding is also the output matrix, to look at a token is to propose it.
"""

import dataclasses
import math

import torch

from .networks import Llada

EMBEDDING, CONSTANT = 0.1, 0.3  # standard deviation of embeddings; their constant coordinates
QUIET = 0.3  # of what layers add, or embeddings would be lost in it
SHARP, BROAD = 4.0, 3.0  # of constant queries and keys: a neighbour of the place looked at gets a seventh of its weight
COPY = 0.15  # of what was seen, beside embeddings of 0.1
HAND = 0.3  # of what clocks write
AWAY = 2.0  # of constant queries and keys that turn heads away from themselves: ten nats
SAME = 2.2  # of queries and keys that compare clocks
ALIKE = 1.8  # of queries and keys that compare signatures
SIGNATURE = 0.25  # of what neighbours are known by


@dataclasses.dataclass(frozen=True)
class At:
    distance: int  # 1 is the next position


@dataclasses.dataclass(frozen=True)
class Clock:
    anchor: int  # number of a set of anchors
    direction: int  # 1: of positions behind the anchor, -1: before it
    offset: int  # positions from the anchor to where the clock begins
    frequency: int  # number of RoPE's
    sine: bool


@dataclasses.dataclass(frozen=True)
class Match:
    here: int  # anchors of the clocks that are compared
    there: int


@dataclasses.dataclass(frozen=True)
class OfClass:
    number: int


@dataclasses.dataclass(frozen=True)
class Neighbour:
    distance: int  # 1 or -1
    half: int  # 0 or 1: which half of the neighbour's signature is compared


@dataclasses.dataclass(frozen=True)
class Like:
    half: int  # as above, of the token's own


@dataclasses.dataclass(frozen=True)
class Start:
    heads: list[list]  # roles by layer; heads without one are random
    classes: list[list[int]]  # tokens that are of one kind
    anchors: list[list[int]]  # tokens of which one stands in a canvas, once
    first: int  # the token that every canvas begins with
    copying: int  # the first layer whose heads bring what they saw
    mask: int
    sample: list[list[int]]  # canvases: how large what layers see is measured on them


def clock(anchor: int, direction: int, offset: int, frequencies: list[int]) -> list[Clock]:
    return [Clock(anchor, direction, offset, f, sine) for f in frequencies for sine in (False, True)]


@torch.no_grad()
def begin(network: Llada, start: Start):
    for name, weight in network.named_parameters():
        if weight.dim() == 2:
            weight.normal_(std=weight.shape[1] ** -0.5)
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                weight.mul_(QUIET / (2 * network.shape.layers) ** 0.5)
    Beginning(network, start).begin()


class Beginning:
    def __init__(self, network: Llada, start: Start):
        self.network, self.start, self.shape = network, start, network.shape
        self.size = network.shape.width // network.shape.heads
        clocks = [role for roles in start.heads for role in roles if isinstance(role, Clock)]
        # Coordinates: the constant, classes, anchors, the first token, what clocks show.
        self.first_class = 1
        self.first_anchor = 1 + len(start.classes)
        self.sink = self.first_anchor + len(start.anchors)
        self.hands = {c: self.sink + 1 + i for i, c in enumerate(clocks)}
        # Then the signatures of the token before, of the token behind, and of the token itself, as many as a head has rows.
        self.signatures = {distance: self.sink + 1 + len(clocks) + i * self.size for i, distance in enumerate((-1, 1, 0))}
        self.free = self.signatures[0] + self.size  # the first coordinate that anybody may write

    def begin(self):
        embedding, start = self.network.token_embd.weight, self.start
        embedding.mul_(EMBEDDING * self.shape.width**0.5)
        embedding[:, 1 : self.signatures[0]] = 0.0
        embedding[:, 0] = CONSTANT
        for first, sets in ((self.first_class, start.classes), (self.first_anchor, start.anchors), (self.sink, [[start.first]])):
            for number, tokens in enumerate(sets):
                embedding[tokens, first + number] = CONSTANT
        h = self.network.token_embd(torch.tensor(start.sample))
        for number, (layer, roles) in enumerate(zip(self.network.blk, start.heads)):
            self.norm = h.pow(2).mean(-1).sqrt().median()  # what this layer's norm divides by
            if number >= start.copying:
                torch.nn.init.orthogonal_(layer.attn_v.weight)
                layer.attn_output.weight.copy_(COPY * layer.attn_v.weight.T)
            for weight in (layer.attn_output.weight, layer.ffn_down.weight):
                weight[: self.free] = 0.0
            for head, role in enumerate(roles):
                self.begin_head(layer, head, role, is_first=number == 0)
            h = layer(h, self.network.cos, self.network.sin)

    def begin_head(self, layer, head: int, role, is_first: bool):
        q, k, v = (m.weight.unflatten(0, (layer.heads, -1))[head] for m in (layer.attn_q, layer.attn_k, layer.attn_v))
        out = layer.attn_output.weight.unflatten(1, (layer.heads, -1))[:, head]
        if isinstance(role, At):
            self.look_at_distance(q, k, role.distance)
            if is_first and role.distance in self.signatures:
                out.zero_()
                out[self.signatures[role.distance] + torch.arange(self.size), torch.arange(self.size)] = SIGNATURE
                v.sub_(torch.outer(v @ self.mask_direction(), self.mask_direction()))
        elif isinstance(role, Clock):
            self.tell_time(q, k, v, out, role)
        elif isinstance(role, Match):
            self.match(q, k, role)
        elif isinstance(role, OfClass):
            q.mul_(0.3)
            k.mul_(0.3)
            slow = self.size // 2  # by the slow frequencies, which hardly turn: from anywhere
            q[slow::2, 0] = k[slow::2, self.first_class + role.number] = BROAD * self.norm / CONSTANT
        elif isinstance(role, Neighbour):
            self.look_for_signature(q, k, role.distance, role.half, SIGNATURE)
        elif isinstance(role, Like):
            self.look_for_signature(q, k, 0, role.half, EMBEDDING)

    def look_for_signature(self, q, k, distance: int, half: int, size: float):
        """By the slow frequencies, which hardly turn: half as many as a signature has numbers."""
        q.zero_()
        rows = torch.arange(self.size // 2)
        q[self.size // 2 + rows, self.signatures[distance] + half * self.size // 2 + rows] = ALIKE * self.norm / size
        k.copy_(q)
        # Not at itself, which is most like itself.
        fast = 3 * self.size // 8
        q[0:fast:2, 0] = AWAY * self.norm / CONSTANT
        k[0:fast:2, 0] = -q[0:fast:2, 0]

    def mask_direction(self) -> torch.Tensor:
        mask = self.network.token_embd.weight[self.start.mask]
        return mask / mask.norm()

    def look_at_distance(self, q, k, distance: int):
        """By the fast frequencies: slow ones do not tell neighbours apart."""
        q.mul_(0.3)
        k.mul_(0.3)
        fast = 3 * self.size // 8
        angle = distance * self.shape.rope_base ** (-torch.arange(0, fast, 2) / self.size)
        gain = SHARP * self.norm / CONSTANT * (32 / self.size) ** 0.25
        q[0:fast:2, 0], q[1:fast:2, 0] = gain, 0.0
        k[0:fast:2, 0], k[1:fast:2, 0] = gain * angle.cos(), -gain * angle.sin()

    def tell_time(self, q, k, v, out, clock: Clock):
        for weight in (q, k, v, out):
            weight.zero_()
        anchor, root, loud = self.first_anchor + clock.anchor, self.size**0.25, self.norm / CONSTANT
        # All but the anchor and the first token are ten nats behind, by the slowest frequency.
        q[-2, 0] = math.sqrt(10) * root * loud
        k[-2, 0] = -q[-2, 0]
        k[-2, anchor] = k[-2, self.sink] = q[-2, 0]
        theta = self.shape.rope_base ** (-2 * clock.frequency / self.size)
        angle = -clock.direction * (clock.offset * theta + (math.pi / 2 if clock.sine else 0.0))
        gain = math.sqrt(2) * root * loud
        q[2 * clock.frequency, 0] = gain
        k[2 * clock.frequency, anchor] = gain * math.cos(angle)
        k[2 * clock.frequency + 1, anchor] = -gain * math.sin(angle)
        v[0, anchor], v[0, self.sink] = loud, -loud
        out[self.hands[clock], 0] = HAND

    def match(self, q, k, role: Match):
        q.mul_(0.1)
        k.mul_(0.1)
        here, there = ({(c.frequency, c.sine): at for c, at in self.hands.items() if c.anchor == n} for n in (role.here, role.there))
        both = sorted(set(here) & set(there))
        for row, hand in zip(range(self.size - len(both), self.size), both):
            q[row, here[hand]] = k[row, there[hand]] = SAME * self.norm / HAND
