"""A model in PyTorch, filled by several planners: what each commits, and how many passes it takes.

    python python/examples/torch_model.py                                  # a small random BERT, made on the spot
    python python/examples/torch_model.py bert-base-uncased "The capital of France is"
    python python/examples/torch_model.py GSAI-ML/LLaDA-8B-Instruct "A poem about rivers:" --dtype bfloat16 --device cuda
"""

from __future__ import annotations

import argparse

import torch
import transformers

import punt
import punt.torch


def random_bert() -> torch.nn.Module:
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                     intermediate_size=64, initializer_range=0.5)
    return transformers.BertForMaskedLM(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", nargs="?", help="a folder or a name on the hub")
    parser.add_argument("prompt", nargs="?", default="Once upon a time")
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()

    if options.model is None:
        denoiser = punt.torch.Denoiser(random_bert(), mask_token=103)
    else:
        tokenizer = transformers.AutoTokenizer.from_pretrained(options.model, trust_remote_code=True)
        is_masked_lm = tokenizer.mask_token is not None
        kind = transformers.AutoModelForMaskedLM if is_masked_lm else transformers.AutoModel
        dtype = options.dtype if options.dtype == "auto" else getattr(torch, options.dtype)
        model = kind.from_pretrained(options.model, dtype=dtype, trust_remote_code=True).to(options.device)
        denoiser = punt.torch.Denoiser(model, tokenizer)
    for what, value in denoiser.capabilities.items():
        print(f"{what:>16}  {value}")

    m = punt.load(denoiser)
    for planner in ("scout", "punt", "threshold", "top-k"):
        if options.model is None:
            run = m.fill([7, 8, 9] + [denoiser.mask_token] * options.length, planner=planner,
                         temperature=options.temperature)
        else:
            run = m(options.prompt, length=options.length, planner=planner, temperature=options.temperature)
        print(f"\n{planner}: {run.steps} steps, {run.nfe} passes\n{run or run.tokens}")


if __name__ == "__main__":
    main()
