"""Models and what is asked of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from punt import _core
from punt.denoiser import Denoiser
from punt.errors import InputError
from punt.run import Run

Path = str | PathLike[str]
Messages = Sequence[Mapping[str, str] | tuple[str, str]]


def load(
    model: str | PathLike[str] | Denoiser,
    *,
    threads: int = 0,
    tokenizer: Any = None,
    lora: Path | Sequence[Path] = (),
    progress: Callable[[float], object] | None = None,
    **options: Any,
) -> Model:
    """Opens a model: a name of `punt.models()`, a GGUF file, a Hugging Face folder, "toy:KIND,key=value,...", or a
    `punt.Denoiser`.

    `threads` per answer; 0: all processors. `lora`: adapters that are merged into the weights of a file, each a GGUF file or
    a PEFT folder; "FILE:0.5" halves its scale. `progress` is told the share of the weights that has been read. Options, for
    files: compute, device, gpu_layers, influence, repack.
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise InputError(f"threads must be a whole number from 0 on, got {threads!r}")
    if adapters := _paths("lora", lora):
        options["lora"] = adapters
    if isinstance(model, Denoiser):
        if options:
            raise InputError(f"unknown model option '{next(iter(options))}': a punt.Denoiser has none")
        if tokenizer is None:
            tokenizer = model.tokenizer
        return Model(_core.Engine.wrap(model, tokenizer, threads))
    if not isinstance(model, (str, PathLike)):
        raise InputError(f"a model is a name, a path or a punt.Denoiser, not {model!r}")
    if tokenizer is not None:
        raise InputError("tokenizer: a model file has its own")
    return Model(_core.Engine.open(fspath(model), options, threads, progress))


class Model:
    """Made by `punt.load`. Used from as many threads as you like.

    What is asked for is said by the arguments, how it is sampled by keywords: planner, temperature, seed and all others
    of `punt.sampling_options()`. A planner is named ("scout:epsilon=0.1") or is a `punt.Planner`.
    """

    def __init__(self, engine: _core.Engine) -> None:
        self._engine = engine

    def __call__(
        self,
        prompt: str = "",
        *,
        tokens: npt.ArrayLike | None = None,
        suffix: str | None = None,
        length: int | None = None,
        cut_to_fit: bool = False,
        sample: int = 0,
        **sampling: Any,
    ) -> Run:
        """The text behind a prompt; or behind `tokens`, taken as they are.

        `length` positions are generated, without it as many as is usual. `sample` numbers texts of one seed.
        """
        ask = _ask(prompt, tokens=tokens, suffix=suffix, length=length, cut_to_fit=cut_to_fit, sample=sample)
        return self._run(self._engine.write(ask, plain_sampling(sampling)))

    generate = __call__

    def chat(
        self,
        messages: Messages,
        *,
        thinking: bool | None = None,
        length: int | None = None,
        cut_to_fit: bool = False,
        sample: int = 0,
        **sampling: Any,
    ) -> Run:
        """The assistant's answer to messages: {"role": ..., "content": ...}, or pairs.

        `thinking`: whether the model is to think first, where its template can say so; what it thought is `run.reasoning`.
        """
        ask = _ask(chat=messages, thinking=thinking, length=length, cut_to_fit=cut_to_fit, sample=sample)
        return self._run(self._engine.write(ask, plain_sampling(sampling)))

    def infill(self, text: str, *, sample: int = 0, **sampling: Any) -> Run:
        """The whole of a text with holes, "It was [MASK:4] and [MASK].", filled."""
        return self._run(self._engine.write({"infill": text, "sample": sample}, plain_sampling(sampling)))

    def batch(
        self,
        prompts: Sequence[str | Mapping[str, Any]],
        *,
        length: int | None = None,
        cut_to_fit: bool = False,
        **sampling: Any,
    ) -> list[Run]:
        """Several at once, their passes together: each run is the one that a call alone would give.

        A prompt is a text, or the arguments of a question: {"prompt": ..., "sample": 2}, {"tokens": ...}, {"chat": ...},
        {"infill": ...}.
        """
        if isinstance(prompts, str):
            raise InputError("batch takes a list of prompts, not one: its letters would be prompts")
        asks = []
        for prompt in prompts:
            if not isinstance(prompt, (str, Mapping)):
                raise InputError(f"a prompt of a batch is a text or a dict, not {prompt!r}")
            own = {"prompt": prompt} if isinstance(prompt, str) else dict(prompt)
            rest = {} if "infill" in own else {"length": length, "cut_to_fit": cut_to_fit}
            asks.append(_ask(**{**rest, **own}))
        job = self._engine.batch(asks, plain_sampling(sampling), None)
        return [self._run(outcome) for outcome in job.wait()]

    def fill(self, canvas: npt.ArrayLike, *, sample: int = 0, **sampling: Any) -> Run:
        """Fills the masks of a canvas of tokens, wherever they are. A regex, choices or a JSON schema hold for the text from
        the first mask to the last."""
        return self._run(self._engine.fill(np.asarray(canvas), plain_sampling(sampling), sample))

    def fill_batch(self, canvases: Sequence[npt.ArrayLike], **sampling: Any) -> list[Run]:
        """Canvas i as `fill` with sample i does it, their passes together."""
        job = self._engine.fill_batch([np.asarray(canvas) for canvas in canvases], plain_sampling(sampling), None)
        return [self._run(outcome) for outcome in job.wait()]

    def stream(
        self,
        prompt: str = "",
        *,
        tokens: npt.ArrayLike | None = None,
        chat: Messages | None = None,
        suffix: str | None = None,
        length: int | None = None,
        cut_to_fit: bool = False,
        sample: int = 0,
        **sampling: Any,
    ) -> Stream:
        """The text as it settles, from left to right. Leaving the loop early ends the run within a pass."""
        ask = _ask(prompt, tokens=tokens, chat=chat, suffix=suffix, length=length, cut_to_fit=cut_to_fit, sample=sample)
        return Stream(self, self._engine.stream(ask, plain_sampling(sampling), None))

    async def agenerate(
        self,
        prompt: str = "",
        *,
        tokens: npt.ArrayLike | None = None,
        chat: Messages | None = None,
        infill: str | None = None,
        suffix: str | None = None,
        length: int | None = None,
        cut_to_fit: bool = False,
        sample: int = 0,
        **sampling: Any,
    ) -> Run:
        """As a call, while the event loop goes on. Cancelling it ends the run within a pass."""
        ask = _ask(
            prompt,
            tokens=tokens,
            chat=chat,
            infill=infill,
            suffix=suffix,
            length=length,
            cut_to_fit=cut_to_fit,
            sample=sample,
        )
        wake, notify = _wake()
        job = self._engine.stream(ask, plain_sampling(sampling), notify)
        try:
            while not job.take()[1]:
                wake.clear()
                if not job.take()[1]:
                    await wake.wait()
        finally:
            job.stop()
        return self._run(job.wait()[0])

    async def astream(
        self,
        prompt: str = "",
        *,
        tokens: npt.ArrayLike | None = None,
        chat: Messages | None = None,
        suffix: str | None = None,
        length: int | None = None,
        cut_to_fit: bool = False,
        sample: int = 0,
        **sampling: Any,
    ) -> AsyncIterator[str]:
        """As `stream`, while the event loop goes on."""
        ask = _ask(prompt, tokens=tokens, chat=chat, suffix=suffix, length=length, cut_to_fit=cut_to_fit, sample=sample)
        wake, notify = _wake()
        job = self._engine.stream(ask, plain_sampling(sampling), notify)
        try:
            is_done = False
            while not is_done:
                wake.clear()
                text, is_done = job.take()
                if text:
                    yield text
                elif not is_done:
                    await wake.wait()
            job.wait()
        finally:
            job.stop()

    def log_probs(self, tokens: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
        """Log-probabilities [R, V] that the model gives to tokens at `rows` (all of them) of a canvas, in one pass."""
        canvas = np.asarray(tokens)
        return self._engine.log_probs(canvas, np.arange(canvas.size) if rows is None else np.asarray(rows))

    def tokenize(self, text: str, *, specials: bool = False, whole: bool = False) -> npt.NDArray[np.int32]:
        """The tokens of a text. `specials`: those that are written out stand for themselves. `whole`: with what stands
        before and behind a whole text."""
        return self._engine.encode(text, bool(specials), bool(whole))

    def detokenize(self, tokens: npt.ArrayLike, *, controls: bool = False) -> str:
        """The text of tokens. `controls`: those that are no text by their names."""
        return self._engine.decode(np.asarray(tokens), bool(controls))

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def architecture(self) -> str:
        """As GGUF names it; empty for others."""
        return self._engine.architecture

    @property
    def vocab_size(self) -> int:
        """The mask token included."""
        return self._engine.vocab_size

    @property
    def mask_token(self) -> int:
        return self._engine.mask_token

    @property
    def eos_tokens(self) -> list[int]:
        return self._engine.eos_tokens

    @property
    def max_length(self) -> int:
        return self._engine.max_length

    @property
    def has_chat_template(self) -> bool:
        return self._engine.has_chat_template

    @property
    def warnings(self) -> list[str]:
        """What to know of the files, a line each."""
        return self._engine.warnings

    def __repr__(self) -> str:
        return f"<punt.Model {self.name}>"

    def _run(self, outcome: _core.Outcome) -> Run:
        return Run._of(outcome, self._engine.pieces)


class Stream(Iterator[str]):
    """An iterator of settled text; `run` is the whole of it, once it has ended."""

    def __init__(self, model: Model, job: _core.Job) -> None:
        self._model = model
        self._job = job

    def __next__(self) -> str:
        try:
            text = self._job.next()
        except StopIteration as error:  # a callback's, which would look like the end
            raise RuntimeError("a callback raised StopIteration") from error
        if text is None:
            raise StopIteration
        return text

    @property
    def run(self) -> Run:
        """Waits for the end of the run; a stream that was closed has what had been written by then."""
        return self._model._run(self._job.wait()[0])

    def close(self) -> None:
        """Ends the run within a pass."""
        self._job.stop()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ask(prompt: str = "", *, chat: Messages | None = None, **rest: Any) -> dict[str, Any]:
    known = {"tokens", "infill", "suffix", "length", "cut_to_fit", "sample", "thinking"}
    for name in rest:
        if name not in known:
            raise InputError(f"a question has no '{name}'; valid: prompt, chat, {', '.join(sorted(known))}")
    ask: dict[str, Any] = {"prompt": prompt, **rest}
    if chat is not None:
        if isinstance(chat, (str, Mapping)):
            raise InputError(f"a chat is a list of messages, not {chat!r}")
        if not chat:
            raise InputError("the chat is empty")
        ask["chat"] = [_message(message) for message in chat]
    return ask


def _message(message: Mapping[str, str] | tuple[str, str]) -> tuple[str, str]:
    if isinstance(message, Mapping):
        try:
            return message["role"], message["content"]
        except KeyError as error:
            raise InputError(f"a message has no {error}") from None
    if isinstance(message, tuple) and len(message) == 2:
        return message
    raise InputError(f"a message is a dict or a pair of role and content, not {message!r}")


def _paths(what: str, given: Path | Sequence[Path]) -> list[str]:
    paths = [given] if isinstance(given, (str, PathLike)) else given
    if not isinstance(paths, (list, tuple)) or not all(isinstance(each, (str, PathLike)) for each in paths):
        raise InputError(f"{what} must be a path or a list of paths, not {given!r}")
    return [fspath(each) for each in paths]


def plain_sampling(options: dict[str, Any]) -> dict[str, Any]:
    """As the engine takes them."""
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(given.get("json_schema"), Mapping):
        given["json_schema"] = json.dumps(given["json_schema"], ensure_ascii=False)
    return given


def _wake() -> tuple[asyncio.Event, Callable[[], None]]:
    """An event, and what sets it from any thread."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def notify() -> None:
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(event.set)
            except RuntimeError:  # closed in between: nobody waits
                pass

    return event, notify
