import asyncio
import threading
import time

import pytest

import punt

from conftest import run_python


def test_a_stream_tells_the_text_in_pieces(stories: punt.Model) -> None:
    stream = stories.stream("A cat", length=24, seed=1)
    pieces = list(stream)
    assert len(pieces) > 1 and "".join(pieces) == stream.run == stories("A cat", length=24, seed=1)
    assert list(stream) == []


def test_leaving_the_loop_ends_the_run(toy: punt.Model) -> None:
    class Slow(punt.Planner):
        steps = 0

        def decide(self, view: punt.View) -> object:  # type: ignore[override]
            Slow.steps += 1
            time.sleep(0.02)
            return [view.positions.min()]

    for _ in toy.stream(planner=Slow()):
        break
    with toy.stream(planner=Slow()) as stream:
        next(stream)
    run = stream.run
    assert run.stop_reason == "cancelled" and run.finish_reason == "length"
    with pytest.raises(KeyError), toy.stream(planner=Slow()) as stream:
        for _ in stream:
            raise KeyError("mine")
    time.sleep(0.3)
    steps = Slow.steps
    time.sleep(0.2)
    assert Slow.steps == steps < 40


def test_errors_come_out_of_the_stream(toy: punt.Model) -> None:
    with pytest.raises(punt.InputError, match="99"):
        list(toy.stream(tokens=[99]))
    with pytest.raises(punt.InputError, match="did you mean"):
        toy.stream(temprature=1)


def test_asyncio_goes_on_while_texts_are_made(stories: punt.Model) -> None:
    async def main() -> None:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        turning = asyncio.create_task(turn())
        first, second = await asyncio.gather(
            stories.agenerate("A cat", length=24, seed=1), stories.agenerate("A dog", length=24, seed=1)
        )
        assert first == stories("A cat", length=24, seed=1) and second == stories("A dog", length=24, seed=1)
        text = ""
        async for piece in stories.astream("A cat", length=24, seed=1):
            text += piece
        assert text == first and turns > 10
        with pytest.raises(punt.InputError, match="99"):
            await stories.agenerate(tokens=[10**6 + 99])
        turning.cancel()

    asyncio.run(main())


def test_cancelling_a_task_ends_the_run(toy: punt.Model) -> None:
    seen = threading.Event()

    class Endless(punt.Planner):
        is_scheduled = True

        def decide(self, view: punt.View) -> list[int]:
            seen.set()
            time.sleep(0.005)
            return []

    async def main() -> None:
        task = asyncio.create_task(toy.agenerate(planner=Endless()))
        while not seen.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.2)
        seen.clear()
        await asyncio.sleep(0.1)
        assert not seen.is_set()
        async for _ in toy.astream(planner="left-to-right", seed=1):
            break

    asyncio.run(main())


ENDLESS = """
import os, signal, sys, threading, time
import punt
m = punt.load("toy:markov,length=16")
class Endless(punt.Planner):
    is_scheduled = True
    def decide(self, view):
        return []
"""


def test_the_interpreter_ends_while_streams_run() -> None:
    ended = run_python(ENDLESS + "streams = [m.stream(planner=Endless()) for _ in range(3)]\nprint('end')")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")
    ended = run_python(ENDLESS + "s = m.stream(planner=Endless())\nsys.exit(3)")
    assert (ended.returncode, ended.stderr) == (3, "")


@pytest.mark.parametrize("call", ["m(planner=Endless())", "list(m.stream(planner=Endless()))",
                                  "m.batch(['a', 'b'], planner=Endless())", "m.fill([m.mask_token], planner=Endless())",
                                  "m.fill_batch([[m.mask_token]], planner=Endless())"])  # fmt: skip
def test_ctrl_c_stops_within_a_pass(call: str) -> None:
    code = f"""
threading.Thread(target=lambda: (time.sleep(0.5), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
try:
    {call}
except KeyboardInterrupt:
    print("stopped")
print(len(m(seed=1)))
"""
    ended = run_python(ENDLESS + code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n16\n", "")


def test_ctrl_c_stops_a_network() -> None:
    """Which runs no line of Python meanwhile: the call must not go on to its end."""
    code = """
import os, signal, threading, time
import punt
m = punt.load("stories", threads=1)
def ask():
    begin = time.monotonic()
    try:
        m("A cat", planner="left-to-right", length=100)
    except KeyboardInterrupt:
        print("stopped")
    return time.monotonic() - begin
whole = ask()
threading.Timer(whole / 8, os.kill, (os.getpid(), signal.SIGINT)).start()
part = ask()
assert part < whole / 2, (part, whole)
"""
    ended = run_python(code, timeout=300)  # of a machine that is busy
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped\n", "")


def test_forks_after_loading() -> None:
    code = """
stream = m.stream(planner=Endless())
text = m(seed=1)
faulthandler.cancel_dump_traceback_later()  # its thread would be missed at the child's end
child = os.fork()
if child == 0:
    assert m(seed=1) == text and m.batch(["", ""], seed=1)[0] == text
    for use in (lambda: next(stream), stream.close, lambda: stream.run):
        try:
            use()
            os._exit(1)
        except punt.FailedError as error:
            assert "process" in str(error)
    del stream
    sys.exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
stream.close()
print("end")
"""
    ended = run_python(ENDLESS + code)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "end\n", "")
