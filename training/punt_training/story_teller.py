"""stories15M: the autoregressive Llama of llama2.c, trained on TinyStories. It is the parent of the `stories` model, which
starts from its weights, and it writes further stories to train on.
"""

import struct

import numpy as np
import torch
from torch.nn import functional as F

from .networks import Llada, Shape, rotate_pairs
from .pieces import BOS, EOS, FIRST_BYTE


def read_llama2c_weights(data: bytes, kept: list[int], extra: int = 0) -> Llada:
    """The network with the rows `kept` of its vocabulary and `extra` rows more, which start as the mean embedding."""
    width, ffn, layers, heads, _, vocab, context = struct.unpack_from("<7i", data)
    at = 28

    def read(*sizes):
        nonlocal at
        count = int(np.prod(sizes))
        if at + 4 * count > len(data):
            raise ValueError("llama2.c weights: file is too short")
        out = torch.from_numpy(np.frombuffer(data, np.float32, count, at).copy()).view(*sizes)
        at += 4 * count
        return out

    embedding = read(vocab, width)[kept]
    names = {
        "attn_norm": (width,), "attn_q": (width, width), "attn_k": (width, width), "attn_v": (width, width),
        "attn_output": (width, width), "ffn_norm": (width,), "ffn_gate": (ffn, width), "ffn_down": (width, ffn),
        "ffn_up": (ffn, width),
    }  # fmt: skip
    state = {}
    for name, sizes in names.items():
        for number, weight in enumerate(read(layers, *sizes)):
            state[f"blk.{number}.{name}.weight"] = weight
    state["output_norm.weight"] = read(width)
    state["token_embd.weight"] = torch.cat((embedding, embedding.mean(0).expand(extra, -1)))
    network = Llada(
        Shape(len(kept) + extra, context, width, layers, heads, ffn, rope_base=10000.0, norm_eps=1e-5, shift_logits=True)
    )
    network.load_state_dict(state)
    return network


@torch.no_grad()
def tell(network: Llada, batch: int, seed: int, temperature: float, nucleus: float) -> list[list[int]]:
    """Stories drawn left to right, from BOS until the next BOS or EOS; those that do not end within the context are dropped."""
    shape, generator = network.shape, torch.Generator().manual_seed(seed)
    head = shape.width // shape.heads
    cache = torch.zeros(shape.layers, 2, batch, shape.heads, shape.context, head)
    tokens = torch.full((batch, shape.context), BOS)
    ended = torch.full((batch,), shape.context)
    for at in range(shape.context - 1):
        h = network.token_embd(tokens[:, at])
        cos, sin = network.cos[at : at + 1], network.sin[at : at + 1]
        for number, layer in enumerate(network.blk):
            x = layer.attn_norm(h)
            q, k, v = (f(x).view(batch, 1, shape.heads, head) for f in (layer.attn_q, layer.attn_k, layer.attn_v))
            cache[number, 0, :, :, at] = rotate_pairs(k, cos, sin)[:, 0]
            cache[number, 1, :, :, at] = v[:, 0]
            keys, values = cache[number, :, :, :, : at + 1]
            mixed = F.scaled_dot_product_attention(rotate_pairs(q, cos, sin).transpose(1, 2), keys, values)
            h = h + layer.attn_output(mixed.flatten(1))
            x = layer.ffn_norm(h)
            h = h + layer.ffn_down(F.silu(layer.ffn_gate(x)) * layer.ffn_up(x))
        tokens[:, at + 1] = draw(network.logits(network.output_norm(h)), temperature, nucleus, generator)
        ended = torch.where((ended == shape.context) & (tokens[:, at + 1] < FIRST_BYTE), at + 1, ended)
        if (ended < shape.context).all():
            break
    return [tokens[i, 1 : ended[i]].tolist() for i in range(batch) if ended[i] < shape.context]


def draw(logits, temperature, nucleus, generator):
    probs = torch.softmax(logits / temperature, -1)
    top, ids = probs.topk(min(256, probs.shape[-1]), -1)
    top[(top.cumsum(-1) - top) > nucleus] = 0
    return ids.gather(-1, torch.multinomial(top, 1, generator=generator))[:, 0]



