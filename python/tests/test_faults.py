"""What goes wrong in callbacks, at the end of the interpreter and after forks: clear exceptions, no crash, no deadlock. Each
in a process of its own that tells where it hangs (faulthandler)."""

import pytest

from conftest import run_python

MODELS = """
import asyncio, gc, os, signal, sys, threading, time
import numpy as np
import punt
class Mine(Exception):
    pass
def flat(canvas):
    return np.zeros((len(canvas), 5))
def model(fn=flat, **options):
    return punt.load(punt.NumpyDenoiser(fn, 5, 4, 16, **options))
async def agenerate(m, **options):
    return await m.agenerate(**options)
async def astream(m, **options):
    return [piece async for piece in m.astream(**options)]
CALLS = {
    "call": lambda m, **o: m(**o), "fill": lambda m, **o: m.fill([4] * 6, **o), "stream": lambda m, **o: list(m.stream(**o)),
    "batch": lambda m, **o: m.batch(["", "a"], **o), "fill_batch": lambda m, **o: m.fill_batch([[4] * 6] * 2, **o),
    "agenerate": lambda m, **o: asyncio.run(agenerate(m, **o)), "astream": lambda m, **o: asyncio.run(astream(m, **o)),
}
"""


def check(code: str, expected: str, code_of_exit: int = 0, timeout: float = 90) -> None:
    ended = run_python(MODELS + code, timeout=timeout)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code_of_exit, expected, "")


@pytest.mark.parametrize("error", ["Mine('on purpose')", "SystemExit(3)", "KeyboardInterrupt()", "RecursionError('deep')",
                                   "MemoryError()", "StopIteration(1)", "GeneratorExit()"])  # fmt: skip
def test_whatever_a_callback_raises_comes_out_of_every_call(error: str) -> None:
    """From a model in its third pass, from a planner, and from a tokenizer; afterwards the model works."""
    code = f"""
error = {error}
passes = [0]
def breaks(canvas):
    passes[0] += 1
    if passes[0] % 3 == 0:
        raise error
    return flat(canvas)
class Breaks(punt.Planner):
    def decide(self, view):
        raise error
def came_out(name, call):
    try:
        call()
    except BaseException as caught:
        # Iterators and coroutines may not raise StopIteration: it becomes a RuntimeError.
        return caught is error or caught.__cause__ is error
    return False
for name, call in CALLS.items():
    passes[0] = 0
    if not came_out(name, lambda: call(model(breaks), planner="left-to-right")):
        print(name, "lost the model's")
    if not came_out(name, lambda: call(model(), planner=Breaks())):
        print(name, "lost the planner's")
    assert call(model(), seed=1)
print("end")
"""
    check(code, "end\n")


def test_logits_that_turn_bad_in_the_middle_of_a_run() -> None:
    """Of a wrong shape, and NaN, in a base pass, in a test pass and in a later step."""
    code = """
BAD = {"nan": lambda rows: np.full_like(rows, np.nan), "inf": lambda rows: np.full_like(rows, np.inf),
       "rows": lambda rows: rows[:-1], "columns": lambda rows: rows[:, :-1], "flat": lambda rows: rows.ravel(),
       "text": lambda rows: "logits", "none": lambda rows: None}
for kind, spoil in BAD.items():
    for at in (1, 2, 3):
        for name, call in CALLS.items():
            passes = [0]
            def spoilt(canvas):
                passes[0] += 1
                return spoil(flat(canvas)) if passes[0] >= at else flat(canvas)
            try:
                call(model(spoilt), planner="punt:fallback=false", seed=1)
                print(kind, at, name, "was taken")
            except punt.InputError as error:
                assert "\\n" not in str(error) and "numpy" in str(error) or "row" in str(error), error
print("end")
"""
    check(code, "end\n", timeout=200)


def test_models_without_a_mask_token() -> None:
    code = """
class Bare(punt.Denoiser):
    name, vocab_size, max_length = "bare", 5, 8
    def new_session(self, options):
        raise AssertionError
for make in (Bare, lambda: punt.NumpyDenoiser(flat, 5, 5, 8), lambda: punt.NumpyDenoiser(flat, 5, -1, 8)):
    try:
        punt.load(make())
        print("taken")
    except punt.InputError as error:
        print(error)
"""
    check(code, "Bare has no mask_token: set the attribute\n" + "".join(
        f"NumpyDenoiser: token {token} lies outside its vocabulary of 5\n" for token in (5, -1)))  # fmt: skip


def test_callbacks_may_use_the_model_that_calls_them() -> None:
    code = """
inner = model()
class Asks(punt.Planner):
    def decide(self, view):
        assert len(inner.fill([4, 4], seed=1).tokens) == 2
        assert len(inner.batch(["", ""], seed=1)) == 2
        for piece in inner.stream(seed=1):
            break
        return view.positions[:4]
for name, call in CALLS.items():
    assert call(inner, planner=Asks(), seed=2)
print("end")
"""
    check(code, "end\n")


def test_streams_and_models_are_dropped_while_they_run() -> None:
    code = """
def slow(canvas):
    time.sleep(0.002)
    return flat(canvas)
for turn in range(20):
    m = model(slow)
    stream = m.stream(planner="left-to-right", seed=turn)
    next(stream)
    if turn % 2:
        del m
    del stream
    gc.collect()
print("end")
"""
    check(code, "end\n")


def test_a_failure_is_told_as_often_as_it_is_asked_for() -> None:
    code = """
def breaks(canvas):
    raise Mine("on purpose")
stream = model(breaks).stream()
for use in (lambda: list(stream), lambda: stream.run, lambda: stream.run, lambda: list(stream)):
    try:
        use()
        print("taken")
    except Mine as error:
        assert str(error) == "on purpose"
print("end")
"""
    check(code, "end\n")


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise Mine('main')", "os.kill(os.getpid(), signal.SIGINT); time.sleep(5)"])
def test_the_interpreter_ends_while_streams_and_threads_run(end: str) -> None:
    code = f"""
def slow(canvas):
    time.sleep(0.005)
    return flat(canvas)
m, toy = model(slow), punt.load("toy:markov,length=16")
streams = [m.stream(planner="left-to-right", seed=i) for i in range(3)] + [toy.stream(planner="left-to-right")]
next(streams[0])
def work():
    while True:
        m(planner="left-to-right")
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
{end}
"""
    ended = run_python(MODELS + code)
    expected = {"": 0, "sys.exit(3)": 3, "raise Mine('main')": 1}.get(end, -2)
    assert ended.returncode == expected, ended.stderr
    assert "Fatal" not in ended.stderr and "Segmentation" not in ended.stderr and "Timeout" not in ended.stderr


def test_forks_within_a_callback() -> None:
    code = """
faulthandler.cancel_dump_traceback_later()  # its thread would be missed in children
codes = []
class Forks(punt.Planner):
    def decide(self, view):
        if len(view.positions) == 12:
            child = os.fork()
            if child == 0:
                ok = len(punt.load("toy:markov,length=16")(seed=1)) == 16 and len(model()(seed=1).tokens) == 16
                os._exit(7 if ok else 1)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return view.positions[:4]
signal.alarm(60)
for name in ("call", "fill", "stream", "batch"):
    CALLS[name](punt.load("toy:markov,length=16") if name != "fill" else model(), planner=Forks())
print(sorted(set(codes)))
"""
    check(code, "[7]\n")


def test_a_pool_of_forked_processes() -> None:
    code = """
import multiprocessing
faulthandler.cancel_dump_traceback_later()
signal.alarm(80)
m = punt.load("stories", threads=2)
text = m("A cat", length=12, seed=1)
stream = m.stream("A dog", length=40, planner="left-to-right", seed=1)
next(stream)
def ask(seed):
    return str(m("A cat", length=12, seed=seed))
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(ask, [1, 1, 1]) == [text] * 3
assert len("".join(stream)) > 5
print("end")
"""
    ended = run_python(MODELS + code, timeout=100)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr
