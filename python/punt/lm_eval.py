"""punt for EleutherAI's lm-evaluation-harness, as the model `punt`.

    python -m punt.lm_eval run --model punt --model_args model=stories,planner=scout --tasks TASK
    lm_eval.simple_evaluate(model=punt.lm_eval.PuntLM(m), tasks=[...])

Arguments: `model` (whatever `punt.load` opens), or `pretrained` (a module of transformers, run by PyTorch; with `dtype`,
`device`, `trust_remote_code`), `length` (tokens of an answer where the task does not say), `batch_size`, `threads`, and all
keywords of `punt.sampling_options()`. A task that samples brings its temperature; others are answered at temperature 0.

The likelihood of a continuation is taken from left to right, a pass for each token: the probability of the token at the
first masked position, everything behind it masked. That is one law of many which a masked model has; figures for models
that were evaluated by Monte Carlo over masks are not comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model

import punt
from punt.errors import InputError

_SAMPLED = ("temperature", "top_p", "top_k", "min_p")


@register_model("punt")
class PuntLM(LM):
    def __init__(
        self,
        model: Any = None,
        *,
        pretrained: str | None = None,
        length: int = 128,
        batch_size: int | str = 8,
        max_batch_size: int | None = None,
        device: str | None = None,
        dtype: str | None = None,
        trust_remote_code: bool = False,
        threads: int = 0,
        seed: int = 0,
        **sampling: Any,
    ) -> None:
        super().__init__()
        if (model is None) == (pretrained is None):
            raise InputError("either model= (for the engine) or pretrained= (for PyTorch) is needed")
        self._templates: Any = None
        if pretrained is not None:
            model, self._templates = _open_pretrained(pretrained, device, dtype, trust_remote_code)
        self._model = model if isinstance(model, punt.Model) else punt.load(model, threads=threads)
        self._length = int(length)
        self._batch = 8 if str(batch_size).startswith("auto") else int(batch_size)
        self._seed = seed
        self._sampling = sampling

    def generate_until(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[str]:
        texts: list[str] = [""] * len(requests)
        for settings, indices in _alike(requests).items():
            options = dict(settings)
            length = options.pop("length") or self._length
            for begin in range(0, len(indices), self._batch):
                batch = indices[begin : begin + self._batch]
                asks = [{"prompt": requests[i].args[0], "sample": i} for i in batch]
                runs = self._model.batch(
                    asks, length=length, cut_to_fit=True, **{**self._sampling, "seed": self._seed, **_plain(options)}
                )
                for i, run in zip(batch, runs):
                    texts[i] = run.text
                    self.cache_hook.add_partial("generate_until", requests[i].args, texts[i])
        return texts

    def loglikelihood(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        results = []
        for request in requests:
            context, continuation = request.args
            results.append(self._follow(*self._split(context, continuation)))
            self.cache_hook.add_partial("loglikelihood", request.args, results[-1])
        return results

    def loglikelihood_rolling(self, requests: Sequence[Any], disable_tqdm: bool = False) -> list[float]:
        """Texts longer than the model takes are cut into canvases that know nothing of each other."""
        results = []
        for request in requests:
            tokens = self._model.tokenize(request.args[0], specials=True)
            size = self._model.max_length
            parts = [tokens[begin : begin + size] for begin in range(0, len(tokens), size)]
            results.append(sum(self._follow(tokens[:0], part)[0] for part in parts))
            self.cache_hook.add_partial("loglikelihood_rolling", request.args, results[-1])
        return results

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        if self._templates is None:
            raise InputError("chat templates are applied for pretrained= only")
        template = self._templates.apply_chat_template
        return str(template(chat_history, tokenize=False, add_generation_prompt=add_generation_prompt))

    def chat_template(self, chat_template: bool | str = False) -> str | None:
        return self._templates.chat_template if self._templates is not None else ""

    @property
    def tokenizer_name(self) -> str:
        return self._model.name.replace("/", "__")

    def _split(self, context: str, continuation: str) -> tuple[Any, Any]:
        """Tokens before and of the continuation; the former cut at the left where both are too long."""
        whole = self._model.tokenize(context + continuation, specials=True)
        begin = min(len(self._model.tokenize(context, specials=True)), len(whole) - 1)
        given, asked = whole[:begin], whole[begin:]
        return given[max(0, len(whole) - self._model.max_length) :], asked[: self._model.max_length]

    def _follow(self, given: Any, asked: Any) -> tuple[float, bool]:
        """ln p from left to right, and whether each token was the best."""
        canvas = np.concatenate((given, np.full(len(asked), self._model.mask_token))).astype(np.int32)
        total, is_greedy = 0.0, True
        for position, token in enumerate(asked, start=len(given)):
            row = self._model.log_probs(canvas, [position])[0]
            total += float(row[token])
            is_greedy = is_greedy and int(row.argmax()) == token
            canvas[position] = token
        return total, is_greedy


def _alike(requests: Sequence[Any]) -> dict[tuple[Any, ...], list[int]]:
    """The indices of requests that are answered with the same settings."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, request in enumerate(requests):
        asked = request.args[1]
        until = asked.get("until") or ()
        settings: dict[str, Any] = {"stop": (until,) if isinstance(until, str) else tuple(stop for stop in until if stop)}
        settings["length"] = asked.get("max_gen_toks")
        if asked.get("do_sample"):
            settings.update({key: asked[key] for key in _SAMPLED if key in asked})
        else:
            settings["temperature"] = 0.0
        groups.setdefault(tuple(settings.items()), []).append(index)
    return groups


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if key == "stop" else value for key, value in options.items() if value != ()}


def _open_pretrained(name: str, device: str | None, dtype: str | None, trust_remote_code: bool) -> tuple[Any, Any]:
    import torch
    import transformers

    import punt.torch

    trust = {"trust_remote_code": bool(trust_remote_code)}
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, **trust)
    options = {"dtype": getattr(torch, dtype) if dtype else "auto", **trust}
    config = transformers.AutoConfig.from_pretrained(name, **trust)
    kinds = getattr(config, "auto_map", None) or {}
    is_masked = any(each.endswith("ForMaskedLM") for each in config.architectures or ())
    kind = next((each for each in ("AutoModelForMaskedLM", "AutoModelForCausalLM", "AutoModel") if each in kinds),
                "AutoModelForMaskedLM" if is_masked else "AutoModel")
    model = getattr(transformers, kind).from_pretrained(name, **options)
    if device:
        model = model.to(device)
    return punt.torch.Denoiser(model, tokenizer), tokenizer


def main() -> None:
    """The harness's own command line, which knows of `punt` now."""
    from lm_eval.__main__ import cli_evaluate

    cli_evaluate()


if __name__ == "__main__":
    main()
