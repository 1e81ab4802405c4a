from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import punt
from punt.denoiser import Ints, Proposals, Query, SessionOptions

from conftest import run_python

# What looks inside a network.
INSIDE = {"distilled", "wino", "dawn", "dapd", "clad", "adas"}


def mirror(model: punt.Model, dtype: type = np.float64) -> punt.Model:
    """The same conditionals, from Python."""

    def logits(canvas: Ints) -> npt.NDArray[Any]:
        return model.log_probs(canvas).astype(dtype)

    return punt.load(
        punt.NumpyDenoiser(logits, model.vocab_size, model.mask_token, model.max_length, eos_tokens=model.eos_tokens)
    )


def the_same(ours: punt.Run, theirs: punt.Run) -> bool:
    return ours == theirs and ours.counters == theirs.counters and ours.trace[1:-1] == theirs.trace[1:-1]


@pytest.mark.parametrize("spec", ["toy:markov,length=16,vocab=8,seed=2", "toy:mixture,length=12,vocab=6"])
def test_every_planner_decides_as_on_the_engines_model(spec: str) -> None:
    model = punt.load(spec)
    ours = mirror(model)
    for planner in [row["name"] for row in punt.planners() if row["name"] not in INSIDE | {"surest"}]:
        for temperature in (0.0, 0.8):
            options: dict[str, Any] = {"planner": planner, "temperature": temperature, "seed": 5}
            assert the_same(ours(**options), model(**options)), options


@pytest.mark.parametrize(
    "options",
    [{"convention": "dream", "top_p": 0.9}, {"top_k": 3, "score_on": "tempered"}, {"min_p": 0.2}, {"score": "random"},
     {"window": 4}, {"cache": "step"}, {"max_nfe": 5}],
)  # fmt: skip
def test_options_mean_the_same(options: dict[str, Any]) -> None:
    model = punt.load("toy:markov,length=16,vocab=8,seed=2,eos=3")
    ours = mirror(model)
    assert the_same(ours(seed=1, **options), model(seed=1, **options))
    assert ours.batch(["a", "b"], seed=1, **options) == model.batch(["a", "b"], seed=1, **options)


def test_banned_tokens_are_never_drawn() -> None:
    model = punt.load("toy:markov,length=16,vocab=8,seed=2,eos=3")
    ours = mirror(model)
    for seed in range(4):
        run = ours(seed=seed, eos="forbid", planner="random")
        assert run == model(seed=seed, eos="forbid", planner="random") and 3 not in run.tokens
    assert any(3 in ours(seed=seed).tokens for seed in range(4))


def test_float32_and_rows_that_are_not_normalised_will_do(toy: punt.Model) -> None:
    raw = punt.load(
        punt.NumpyDenoiser(
            lambda canvas: (np.nan_to_num(toy.log_probs(canvas), neginf=50.0) + 3).astype(np.float32),
            toy.vocab_size, toy.mask_token, toy.max_length,
        )
    )  # fmt: skip
    run = raw(seed=1, temperature=0)
    assert run == toy(seed=1, temperature=0) and toy.mask_token not in run.tokens
    assert np.allclose(np.exp(raw.log_probs(run.tokens)).sum(1), 1, atol=1e-6)


def test_random_numbers_are_the_engines(toy: punt.Model) -> None:
    """Draws as the comment of punt.denoiser.ProposalRequest has it."""
    key = punt.denoiser.StreamKey(seed=9, sample=2, step=0)
    positions = np.arange(24)
    names = punt.random.stream_names(key, positions)
    assert names.dtype == np.uint64 and len(set(names.tolist())) == 24
    rows = toy.log_probs(np.full(24, toy.mask_token))
    drawn = (rows + 0.7 * punt.random.token_gumbels(names, toy.vocab_size)).argmax(1)
    run = toy(seed=9, sample=2, temperature=0.7, planner="top-k:k=24")
    assert (drawn == run.tokens).all()
    weights = np.exp((rows - rows.max(1, keepdims=True)) / 0.7).cumsum(1)
    drawn = (weights > punt.random.uniforms(names)[:, None] * weights[:, -1:]).argmax(1)
    run = toy(seed=9, sample=2, temperature=0.7, planner="top-k:k=24", convention="dream")
    assert (drawn == run.tokens).all()
    halves = [punt.random.token_gumbels(names, 9, 4), punt.random.token_gumbels(names, 4)]
    assert (np.hstack(halves[::-1]) == punt.random.token_gumbels(names, 9)).all()
    assert punt.random.uniforms(names, 3).shape == (24, 3)


class Words(punt.Tokenizer):
    def encode(self, text: str) -> Sequence[int]:
        return [int(word) for word in text.split()]

    def decode(self, tokens: Sequence[int]) -> str:
        return " ".join(str(token) for token in tokens)


def flat(vocab: int = 5) -> punt.NumpyDenoiser:
    return punt.NumpyDenoiser(lambda canvas: np.zeros((len(canvas), vocab)), vocab, vocab - 1, 8)


def test_a_tokenizer_of_ones_own() -> None:
    model = punt.load(flat(), tokenizer=Words())
    run = model("1 2", seed=1)
    assert run.split() == [str(token) for token in run.tokens[2:]] and (run.tokens[:2] == [1, 2]).all()
    assert (model.tokenize("3 1") == [3, 1]).all() and model.detokenize([3, 1]) == "3 1"
    with pytest.raises(ValueError, match="invalid literal"):
        model("one")
    with pytest.raises(punt.InputError, match="tokenizer"):
        punt.load("stories", tokenizer=Words())


class Session(punt.Session):
    """Whose methods are replaced one by one."""

    def forward(self, queries: Sequence[Query]) -> Sequence[Any]:
        return [len(query.canvas) for query in queries]

    def log_probs(self, handle: Any, rows: Ints) -> npt.ArrayLike:
        return np.zeros((len(rows), 5))


class Model(punt.Denoiser):
    name, vocab_size, mask_token, max_length = "mine", 5, 4, 8

    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.methods = methods

    def new_session(self, options: SessionOptions) -> punt.Session:
        session = Session(self, options)
        for name, method in self.methods.items():
            setattr(session, name, method)
        return session


def proposals(**columns: Any) -> Callable[[Any], Any]:
    def propose(requests: Any) -> Any:
        usual: dict[str, Any] = {"token": 1, "top_token": 1, "token_prob": 0.5, "top_prob": 0.5, "second_prob": 0.1, "entropy": 1.0}
        return [
            Proposals(**{name: np.full(len(request.rows), value) for name, value in {**usual, **columns}.items()})
            for request in requests
        ]

    return propose


@pytest.mark.parametrize(
    ("methods", "part"),
    [
        ({"forward": lambda queries: None}, "what forward of mine returned must be a list of 1, got a NoneType"),
        ({"forward": lambda queries: [1, 2]}, "must be a list of 1, got 2"),
        ({"log_probs": lambda handle, rows: np.zeros((len(rows), 4))}, r"the shape \[8, 4\]"),
        ({"log_probs": lambda handle, rows: np.zeros(5)}, r"the shape \[5\]"),
        ({"log_probs": lambda handle, rows: np.full((len(rows), 5), np.nan)}, "a row of the model holds nan"),
        ({"log_probs": lambda handle, rows: np.full((len(rows), 5), np.inf)}, "a row of the model holds inf"),
        ({"propose": lambda requests: []}, "what propose of mine returned must be a list of 1, got 0"),
        ({"propose": lambda requests: [3]}, "Proposals, got an int"),
        ({"propose": proposals(token=4)}, "token 4, which is the mask"),
        ({"propose": proposals(token=-1)}, "token -1, outside the vocabulary of 5"),
        ({"propose": proposals(token=1.5)}, "as token must hold int32, got float64"),
        ({"propose": proposals(top_prob=np.nan)}, "a probability of nan"),
        ({"propose": proposals(token_prob=1.1)}, "a probability of 1.1"),
        ({"propose": proposals(entropy=np.inf)}, "an entropy of inf"),
        ({"propose": lambda requests: [Proposals(*[np.zeros(3)] * 6)]}, r"as token must have the shape \[8\], got \[3\]|int32"),
        ({"diverge": lambda requests: [np.full(len(r.rows), np.nan) for r in requests]}, "a divergence of nan"),
        ({"diverge": lambda requests: [np.zeros(99)]}, r"must have the shape \[\d\], got \[99\]"),
    ],
)  # fmt: skip
def test_bad_results_are_refused(methods: dict[str, Callable[..., Any]], part: str) -> None:
    with pytest.raises(punt.InputError, match=part):
        punt.load(Model(**methods))(planner="klass" if "diverge" in methods else "top-k", seed=1)


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"mask_token": None}, "Model has no mask_token"),
        ({"mask_token": 5}, "token 5 lies outside its vocabulary of 5"),
        ({"mask_token": 0.5}, "int64"),
        ({"vocab_size": 1, "mask_token": 0}, "leaves nothing"),
        ({"max_length": 0}, "max_length is 0"),
        ({"eos_tokens": [9]}, "token 9"),
        ({"default_score": "marginal"}, "unknown score"),
        ({"name": 3}, "name of Model must be a string, got an int"),
    ],
)
def test_facts_that_make_no_sense(facts: dict[str, Any], part: str) -> None:
    model = Model()
    for name, value in facts.items():
        setattr(model, name, value)
    with pytest.raises(punt.InputError, match=part):
        punt.load(model)


def test_what_a_function_returns_is_checked() -> None:
    for logits, part in [(np.zeros((2, 2)), "shape"), (np.zeros((8, 5), int), "int64"), (None, "shape")]:
        with pytest.raises(punt.InputError, match=part):
            punt.load(punt.NumpyDenoiser(lambda canvas, logits=logits: logits, 5, 4, 8))()  # type: ignore[misc]
    with pytest.raises(punt.InputError, match="guidance"):
        punt.load(flat())(guidance=1.0)


def test_exceptions_come_out_unchanged() -> None:
    class Mine(Exception):
        pass

    calls = 0

    def fail(queries: Sequence[Query]) -> Sequence[Any]:
        nonlocal calls
        calls += 1
        if calls > 2:
            raise Mine("mine")
        return [0] * len(queries)

    model = punt.load(Model(forward=fail))
    uses: list[Callable[[], object]] = [model, lambda: list(model.stream()), lambda: model.batch(["a", "b", "c"]), lambda: model.log_probs([0])]
    for use in uses:
        with pytest.raises(Mine, match="^mine$"):
            use()

    def no_session(options: SessionOptions) -> punt.Session:
        raise Mine("early")

    broken = Model()
    broken.new_session = no_session  # type: ignore[method-assign]
    with pytest.raises(Mine, match="early"):
        punt.load(broken)()
    broken.new_session = lambda options: 3  # type: ignore
    with pytest.raises(punt.InputError, match="must return a punt.Session, got an int"):
        punt.load(broken)()


def test_passes_of_several_sequences_come_together() -> None:
    sizes: list[int] = []

    def forward(queries: Sequence[Query]) -> Sequence[Any]:
        sizes.append(len(queries))
        return [0] * len(queries)

    punt.load(Model(forward=forward)).batch(["a", "b", "c"], planner="top-k:k=1")
    assert max(sizes) == 3 and len(sizes) == 7


def test_the_interpreter_ends_within_a_callback() -> None:
    code = """
import sys, time, numpy as np
import punt
def slow(canvas):
    time.sleep(0.02)
    return np.zeros((len(canvas), 5))
m = punt.load(punt.NumpyDenoiser(slow, 5, 4, 64))
streams = [m.stream(planner="left-to-right") for _ in range(4)]
next(streams[0])
print("end")
"""
    ended = run_python(code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")


class Thinker(punt.Tokenizer):
    """Of four tokens, and a template that may ask for thoughts."""

    pieces = ("<think>", "</think>", "x", "y", "[MASK]")
    has_chat_template = True
    has_thinking_switch = True

    def __init__(self) -> None:
        self.asked: list[bool | None] = []

    def encode(self, text: str) -> list[int]:
        return [self.pieces.index(letter) for letter in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(self.pieces[token] for token in tokens)

    def encode_chat(self, messages: Sequence[dict[str, str]], thinking: bool | None = None) -> list[int]:
        self.asked.append(thinking)
        return [2]


def test_thoughts_stand_apart_from_the_answer() -> None:
    def logits(canvas: Ints) -> npt.NDArray[Any]:
        return np.eye(5)[[2, 0, 2, 1, 3, 3, 3][: len(canvas)]] * 50

    tokenizer = Thinker()
    model = punt.load(punt.NumpyDenoiser(logits, 5, 4, 7, tokenizer=tokenizer))
    for thinking in (None, True, False):
        run = model.chat([("user", "x")], thinking=thinking, length=6, temperature=0)
        assert (run, run.reasoning) == ("yyy", "x")
    assert model.batch([{"chat": [("user", "x")], "thinking": True}], length=6, temperature=0)[0].reasoning == "x"
    assert tokenizer.asked == [None, True, False, True]
    run = model("x", length=6, temperature=0)
    assert (run, run.reasoning) == ("<think>x</think>yyy", "")
