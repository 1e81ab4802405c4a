"""The plainest sampler there is, to read what a network has learned while it trains: one position at a time, the one whose
best two tokens are furthest apart. The engine's own samplers are in src/plan."""

import torch


@torch.no_grad()
def fill(network, canvas: torch.Tensor, mask_token: int, temperature: float = 0.7, seed: int = 0) -> torch.Tensor:
    """A copy of `canvas` [L] with every mask replaced."""
    canvas, generator = canvas.clone(), torch.Generator().manual_seed(seed)
    while (canvas == mask_token).any():
        at = (canvas == mask_token).nonzero()[:, 0]
        logits = network.logits(network.hidden(canvas[None])[0, at])
        logits[:, mask_token] = float("-inf")
        probs = torch.softmax(logits / temperature, -1)
        best = probs.topk(2, -1).values
        choice = (best[:, 0] - best[:, 1]).argmax()
        canvas[at[choice]] = torch.multinomial(probs[choice], 1, generator=generator)[0]
    return canvas
