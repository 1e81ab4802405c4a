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


@torch.no_grad()
def fill_rows(network, canvas: torch.Tensor, mask_token: int, temperature: float, seed: int = 0) -> torch.Tensor:
    """Many canvases [B, L] at once, at each pass one position of each: where the proposed token is likeliest. At temperature
    0 the likeliest token is proposed."""
    canvas, generator = canvas.clone(), torch.Generator().manual_seed(seed)
    while (open_ := canvas == mask_token).any():
        rows = open_.any(-1).nonzero()[:, 0]
        at = open_[rows].nonzero()
        logits = network.logits(network.hidden(canvas[rows])[at[:, 0], at[:, 1]])
        logits[:, mask_token] = float("-inf")
        probs = torch.softmax(logits, -1)
        proposals = probs.argmax(-1) if temperature == 0 else torch.multinomial(
            torch.softmax(logits / temperature, -1), 1, generator=generator)[:, 0]  # fmt: skip
        confidence = torch.full((len(rows), canvas.shape[1]), -1.0)
        confidence[at[:, 0], at[:, 1]] = probs.gather(-1, proposals[:, None])[:, 0]
        tokens = torch.zeros_like(canvas[rows])
        tokens[at[:, 0], at[:, 1]] = proposals
        best = confidence.argmax(-1)
        canvas[rows, best] = tokens.gather(1, best[:, None])[:, 0]
    return canvas
