"""The two architectures that are trained here, as the engine runs them (src/model/llada.cc, src/model/esm2.cc).

Both see the whole canvas at once: there is no causal mask. `hidden` gives one vector per position, `logits` turns chosen
vectors into scores over the vocabulary, so that only masked positions pay for the output head. Weights carry the names of
the GGUF file they end up in, which makes the export a loop.
"""

import dataclasses
import math
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass(frozen=True)
class Shape:
    vocab: int
    context: int
    width: int
    layers: int
    heads: int
    ffn: int
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    shift_logits: bool = False  # row i - 1 predicts position i, kept from an autoregressive parent


def rotation(shape: Shape) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of every position and frequency, [context, head_dim / 2]."""
    head = shape.width // shape.heads
    frequency = shape.rope_base ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)
    angle = torch.outer(torch.arange(shape.context, dtype=torch.float64), frequency)
    return angle.cos().float(), angle.sin().float()


def rotate_pairs(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE on adjacent pairs, as GGUF files of LLaDA are laid out. x: [B, L, H, head_dim]."""
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = cos[: x.shape[1], None], sin[: x.shape[1], None]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


def rotate_halves(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """RoPE on the two halves of a head, as ESM-2 has it."""
    first, second = x.chunk(2, -1)
    cos, sin = cos[: x.shape[1], None], sin[: x.shape[1], None]
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention of everything to everything; [B, L, H, head_dim] in, [B, L, D] out.

    Written out: on a CPU and canvases of a few dozen positions PyTorch's fused attention took half of a training step.
    """
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    shares = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1)
    return (shares @ v).transpose(1, 2).flatten(2)


def linear(n_in: int, n_out: int, bias: bool = False, std: float = 0.02) -> nn.Linear:
    layer = nn.Linear(n_in, n_out, bias=bias)
    nn.init.normal_(layer.weight, std=std)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class Layer(nn.Module):
    """The attention that both architectures share; what follows it is their own."""

    norm: type[nn.Module]
    bias: bool  # of all linear layers
    gated: bool  # a second matrix on the way into the feed-forward network
    rotate: Callable  # RoPE

    def __init__(self, shape: Shape):
        super().__init__()
        d, out = shape.width, 0.02 / math.sqrt(2 * shape.layers)
        self.heads = shape.heads
        self.attn_norm = self.norm(d, eps=shape.norm_eps)
        self.attn_q, self.attn_k, self.attn_v = (linear(d, d, self.bias) for _ in range(3))
        self.attn_output = linear(d, d, self.bias, std=out)
        self.ffn_norm = self.norm(d, eps=shape.norm_eps)
        if self.gated:
            self.ffn_gate = linear(d, shape.ffn, self.bias)
        self.ffn_up = linear(d, shape.ffn, self.bias)
        self.ffn_down = linear(shape.ffn, d, self.bias, std=out)

    def forward(self, h, cos, sin):
        x = self.attn_norm(h)
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)) for f in (self.attn_q, self.attn_k, self.attn_v))
        h = h + self.attn_output(attend(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v))
        return h + self.ffn_down(self.activate(self.ffn_norm(h)))


class Network(nn.Module):
    """Embedding, layers, norm. The embedding is also the matrix of the output head."""

    layer: type[Layer]

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab, shape.width)
        nn.init.normal_(self.token_embd.weight, std=0.02)
        self.blk = nn.ModuleList(self.layer(shape) for _ in range(shape.layers))
        self.output_norm = self.layer.norm(shape.width, eps=shape.norm_eps)
        cos, sin = rotation(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def hidden(self, tokens):
        h = self.token_embd(tokens)
        for layer in self.blk:
            h = layer(h, self.cos, self.sin)
        h = self.output_norm(h)
        return torch.cat((h[:, :1], h[:, :-1]), 1) if self.shape.shift_logits else h


class LladaLayer(Layer):
    norm, bias, gated, rotate = nn.RMSNorm, False, True, staticmethod(rotate_pairs)

    def activate(self, x):
        return F.silu(self.ffn_gate(x)) * self.ffn_up(x)


class Llada(Network):
    """A Llama without causal mask."""

    architecture, layer = "llada", LladaLayer

    def logits(self, rows):
        return F.linear(rows, self.token_embd.weight)


class Esm2Layer(Layer):
    norm, bias, gated, rotate = nn.LayerNorm, True, False, staticmethod(rotate_halves)

    def activate(self, x):
        return F.gelu(self.ffn_up(x))


class Esm2(Network):
    """ESM-2 without token dropout: the ratio of masks is not told to the network, as in MemDLM."""

    architecture, layer = "esm2", Esm2Layer

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.head_dense = linear(shape.width, shape.width, bias=True)
        self.head_norm = nn.LayerNorm(shape.width, eps=shape.norm_eps)
        self.output_bias = nn.Parameter(torch.zeros(shape.vocab))

    def logits(self, rows):
        rows = self.head_norm(F.gelu(self.head_dense(rows)))
        return F.linear(rows, self.token_embd.weight) + self.output_bias
