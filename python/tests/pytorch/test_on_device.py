"""Logits stay where they are: what is made of them is small, and what reaches the host is a few numbers per row."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import punt
import punt.torch
from punt.denoiser import (
    DivergenceOptions,
    DivergenceRequest,
    ProposalOptions,
    ProposalRequest,
    Query,
    SessionOptions,
    StreamKey,
    TokenProbRequest,
)

VOCAB, LENGTH, BLOCK = 4000, 64, 16000
MASK = VOCAB - 1
TABLE = VOCAB * LENGTH


class Model:
    """Its tables are remembered by where they lie."""

    def __init__(self, vocab=VOCAB):
        self.weights = torch.randn(vocab, 8, generator=torch.Generator().manual_seed(0))
        self.tables = []

    def __call__(self, input_ids):
        x = self.weights[input_ids] + torch.arange(input_ids.shape[1]).sin()[:, None]
        logits = (x + x.mean(1, keepdim=True)) @ self.weights.T
        self.tables.append(logits.untyped_storage().data_ptr())
        return logits


class Largest(TorchDispatchMode):
    """The size in bytes of the largest tensor that was made, tables of the model apart."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for each in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(each, torch.Tensor) and each.untyped_storage().data_ptr() not in self.model.tables:
                self.bytes = max(self.bytes, each.untyped_storage().nbytes())
        return made


def session_of(model, **options):
    denoiser = punt.torch.Denoiser(model, mask_token=MASK, vocab_size=len(model.weights), block_numbers=BLOCK)
    return denoiser.new_session(SessionOptions(**options))


def read_everything(session, passes):
    rows = np.arange(LENGTH, dtype=np.int32)
    key = StreamKey(seed=1)
    for options in (ProposalOptions(temperature=0), ProposalOptions(), ProposalOptions(convention="dream", top_p=0.9)):
        session.propose([ProposalRequest(each, rows, options, key) for each in passes])
    for kind in ("kl-base-new", "js", "tv"):
        session.diverge([DivergenceRequest(passes[0], passes[1], rows, DivergenceOptions(kind))])
    session.token_probs([TokenProbRequest(passes[0], rows, rows)])


@pytest.fixture
def model():
    return Model()


def queries():
    rows = np.arange(LENGTH, dtype=np.int32)
    canvas = np.full(LENGTH, MASK, np.int32)
    other = canvas.copy()
    other[:9] = 5
    return [Query(canvas, rows), Query(other, rows)]


@pytest.mark.parametrize("vocab", [VOCAB, 4096])  # rows that are padded, and rows that need not be
def test_nothing_of_the_size_of_a_table_is_made(vocab):
    model = Model(vocab)
    for options in ({}, {"guidance": 0.5, "prompt": (0, 1)}):
        session = session_of(model, **options)
        passes = session.forward(queries())
        with Largest(model) as largest:
            read_everything(session, passes)
        # Scratch is a block, in float64 at most.
        assert 0 < largest.bytes <= 2 * BLOCK * 8 < TABLE * 4 / 3


def test_the_watch_sees_a_copy(model):
    session = session_of(model)
    passes = session.forward(queries())
    with Largest(model) as largest:
        passes[0].table.clone()
    assert largest.bytes >= TABLE * 4


class Transfers:
    """Counts the numbers of every tensor that leaves for the host, of whatever thread."""

    def __init__(self, monkeypatch):
        self.sizes = []
        for name in ("cpu", "numpy", "tolist", "item", "__array__"):
            self.watch(monkeypatch, name)

    def watch(self, monkeypatch, name):
        original = getattr(torch.Tensor, name)

        def counted(tensor, *args, **kwargs):
            self.sizes.append(tensor.numel())
            return original(tensor, *args, **kwargs)

        monkeypatch.setattr(torch.Tensor, name, counted)


@pytest.mark.parametrize("planner", ["scout", "punt", "top-k:k=8", "klass", "info-gain"])
def test_only_numbers_per_row_reach_the_host(model, monkeypatch, planner):
    m = punt.load(punt.torch.Denoiser(model, mask_token=MASK, vocab_size=VOCAB))
    transfers = Transfers(monkeypatch)
    m.fill([MASK] * LENGTH, planner=planner, temperature=0.9, max_steps=4)
    # Six numbers for each row of what is read at once, of as many passes as a batch has.
    assert transfers.sizes and max(transfers.sizes) <= 6 * LENGTH * LENGTH
    assert max(transfers.sizes) < TABLE / 10


def test_dense_rows_are_copied_when_they_are_asked_for(model, monkeypatch):
    m = punt.load(punt.torch.Denoiser(model, mask_token=MASK, vocab_size=VOCAB))
    transfers = Transfers(monkeypatch)
    m.log_probs([MASK] * LENGTH)
    assert max(transfers.sizes) == TABLE


def test_calls_are_batched_by_length_and_size(model):
    calls = []

    def watched(input_ids):
        calls.append(tuple(input_ids.shape))
        return model(input_ids)

    def shapes(**options):
        calls.clear()
        session = punt.torch.Denoiser(watched, mask_token=MASK, vocab_size=VOCAB, **options).new_session(SessionOptions())
        rows = np.arange(4, dtype=np.int32)
        session.forward([Query(np.full(length, MASK, np.int32), rows) for length in (10, 12, 10, 10, 12)])
        return sorted(calls)

    assert shapes() == [(2, 12), (3, 10)]
    assert shapes(batch_tokens=24) == [(1, 10), (2, 10), (2, 12)]
    assert shapes(table_bytes=VOCAB * 4 * 20) == [(1, 10), (1, 12), (1, 12), (2, 10)]
    assert shapes(batch_tokens=1) == [(1, 10)] * 3 + [(1, 12)] * 2
