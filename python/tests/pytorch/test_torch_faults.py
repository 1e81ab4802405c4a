"""PyTorch's modules in streams, at the end of the interpreter and after a fork; each in a process of its own."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

# There are two files of that name: this is the one of the folder above.
_spec = importlib.util.spec_from_file_location("base_conftest", Path(__file__).resolve().parents[1] / "conftest.py")
_base = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_base)
run_python = _base.run_python

MODEL = """
import os, signal, sys, threading, time
import torch
torch.set_num_threads(1)
import punt, punt.torch
class Mine(Exception):
    pass
def good(tokens):
    time.sleep(0.002)
    return torch.cos(tokens[..., None] + torch.arange(8.0)[None, :] * torch.arange(1.0, tokens.shape[1] + 1)[:, None])
def model(fn=good):
    return punt.load(punt.torch.Denoiser(fn, mask_token=7, vocab_size=8, max_length=16))
"""


def check(code, expected, code_of_exit=0):
    ended = run_python(MODEL + code, timeout=200)
    assert (ended.returncode, ended.stdout) == (code_of_exit, expected), ended.stderr
    assert "Fatal" not in ended.stderr and "Timeout" not in ended.stderr


def test_the_interpreter_ends_while_modules_run():
    check("""
m = model()
streams = [m.stream(planner="left-to-right", seed=i) for i in range(3)]
next(streams[0])
threading.Thread(target=lambda: [m(planner="left-to-right") for _ in range(1000)], daemon=True).start()
time.sleep(0.1)
print("end", flush=True)
""", "end\n")


def test_exceptions_of_modules_come_out_of_streams_and_batches():
    check("""
def breaks(tokens):
    if (tokens != 7).sum() > 3 * tokens.shape[0]:
        raise Mine
    return good(tokens)
def nan(tokens):
    return good(tokens) * torch.where((tokens != 7).sum() > 3, torch.nan, 1.0)
for call in (lambda m: m(planner="left-to-right"), lambda m: list(m.stream(planner="left-to-right")),
             lambda m: m.batch(["", ""], planner="left-to-right"), lambda m: m.fill([7] * 9, planner="punt:fallback=false")):
    for fn, kind in ((breaks, Mine), (nan, punt.InputError)):
        try:
            call(model(fn))
            print("taken")
        except kind:
            pass
print("end")
""", "end\n")


def test_a_module_that_asks_itself():
    check("""
depth = [0]
def asks(tokens):
    if depth[0] == 0:
        depth[0] = 1
        assert len(m.fill([7, 7]).tokens) == 2
        depth[0] = 0
    return good(tokens)
m = model(asks)
assert len(m.fill([7] * 4, planner="left-to-right").tokens) == 4
print("end")
""", "end\n")


def test_forks():
    check("""
faulthandler.cancel_dump_traceback_later()
signal.alarm(180)
m = model()
stream = m.stream(planner="left-to-right")
next(stream)
text = m.fill([7] * 6, seed=1).tokens.tolist()
stream.close()
child = os.fork()
if child == 0:
    os._exit(7 if m.fill([7] * 6, seed=1).tokens.tolist() == text else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""", "7\n")


def test_ctrl_c():
    check("""
m = model()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        m(planner="left-to-right")
except KeyboardInterrupt:
    print("stopped")
assert len(m.fill([7] * 4).tokens) == 4
""", "stopped\n")
