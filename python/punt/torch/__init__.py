"""Models that PyTorch can run, with every planner of the engine. Needs torch; transformers is not imported here.

    import punt, punt.torch
    m = punt.load(punt.torch.Denoiser(model, tokenizer))
"""

from punt.torch.denoiser import Denoiser
from punt.torch.generation import Generated, generate
from punt.torch.registry import Architecture, architectures, register

__all__ = ["Architecture", "Denoiser", "Generated", "architectures", "generate", "register"]
