"""Between text and tokens, for models that live in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence


class Tokenizer(ABC):
    """Stateless; used from several threads, with the interpreter's lock held."""

    control_tokens: Sequence[int] = ()  # those that are no text: BOS, padding, roles of a chat
    prefix: Sequence[int] = ()  # what stands before a whole text: BOS
    suffix: Sequence[int] = ()  # and behind it
    has_chat_template: bool = False
    has_thinking_switch: bool = False  # whether encode_chat takes `thinking`, a bool: whether the model is to think first

    @abstractmethod
    def encode(self, text: str) -> Sequence[int]:
        """The tokens of a text, nothing added; special tokens that are written out are characters like any others."""

    @abstractmethod
    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens; control tokens by their names."""

    def encode_chat(self, messages: Sequence[dict[str, str]]) -> Sequence[int]:
        """A conversation, "role" and "content" each, ready for the answer. Only with `has_chat_template`."""
        raise NotImplementedError
