"""Tokenizers of transformers as those of punt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from punt.tokenizer import Tokenizer


class HuggingFaceTokenizer(Tokenizer):
    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.control_tokens = tuple(tokenizer.all_special_ids)
        template = getattr(tokenizer, "chat_template", None)
        self.has_chat_template = bool(template)
        self.has_thinking_switch = "enable_thinking" in str(template)
        bare = tokenizer.encode("a", add_special_tokens=False)
        whole = tokenizer.encode("a")
        starts = [at for at in range(len(whole)) if whole[at : at + len(bare)] == bare]
        if bare and starts:
            self.prefix = tuple(whole[: starts[0]])
            self.suffix = tuple(whole[starts[0] + len(bare) :])

    def encode(self, text: str) -> Sequence[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def decode(self, tokens: Sequence[int]) -> str:
        numbers = [int(token) for token in tokens]
        return str(self._tokenizer.decode(numbers, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def encode_chat(self, messages: Sequence[dict[str, str]], thinking: bool | None = None) -> Sequence[int]:
        told = {} if thinking is None else {"enable_thinking": thinking}
        encoded = self._tokenizer.apply_chat_template(list(messages), add_generation_prompt=True, tokenize=True, **told)
        return list(encoded["input_ids"] if hasattr(encoded, "keys") else encoded)


def wrap(tokenizer: Any) -> Any:
    """None stays, and what is no tokenizer of transformers is taken as it is."""
    is_foreign = hasattr(tokenizer, "all_special_ids") and hasattr(tokenizer, "encode")
    return HuggingFaceTokenizer(tokenizer) if is_foreign else tokenizer
