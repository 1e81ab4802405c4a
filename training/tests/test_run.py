"""A whole run on a tiny task: it learns, goes on after kill -9 along the same curve, and what it exports is what it was."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import torch
from safetensors.torch import load_file

from punt_training import export, loop
from punt_training.networks import Esm2, Llada, Shape

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUNT = pathlib.Path(os.environ.get("PUNT", ROOT / "build/release/punt"))
MASK = 9


def tiny_run(folder: pathlib.Path, steps: int = 40) -> loop.Run:
    """Canvases that count upwards from a random digit, modulo 8."""
    torch.manual_seed(1)
    network = Llada(Shape(vocab=10, context=12, width=32, layers=1, heads=2, ffn=64))

    def batch(step, generator):
        return (torch.randint(8, (16, 1), generator=generator) + torch.arange(12)) % 8

    everywhere = lambda canvas: torch.ones_like(canvas, dtype=torch.bool)  # noqa: E731
    task = loop.Task(MASK, batch, everywhere, lambda tokens: torch.ones(len(tokens)),
                     [batch(0, torch.Generator().manual_seed(5))], everywhere, lambda network: "")  # fmt: skip
    schedule = loop.Schedule(steps, 1e-2, warmup=5, validate_every=10, checkpoint_seconds=0.0)
    return loop.Run(network, task, schedule, folder)


def curve(folder: pathlib.Path) -> list[dict]:
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


class RunTest(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def test_it_learns(self):
        run = tiny_run(self.folder / "a", steps=150)
        before = loop.validation_bound(run.average, run.task)["bound"]
        run.train()
        self.assertLess(loop.validation_bound(run.average, run.task)["bound"], 0.5 * before)

    def test_a_killed_run_goes_on_along_the_same_curve(self):
        tiny_run(self.folder / "whole").train()
        killed = self.folder / "killed"
        command = [sys.executable, __file__, str(killed)]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while not (killed / "log.jsonl").exists() or len((killed / "log.jsonl").read_text().splitlines()) < 12:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        steps = len(curve(killed))
        self.assertLess(steps, 44, "the run ended before it was killed")
        tiny_run(killed).train()
        self.assertEqual(curve(killed), curve(self.folder / "whole"))

    def test_another_number_of_steps_goes_on_and_another_rate_does_not(self):
        tiny_run(self.folder / "a", steps=20).train()
        longer = tiny_run(self.folder / "a", steps=30)
        self.assertEqual(longer.step, 20)
        longer.train()
        self.assertEqual([note["step"] for note in curve(self.folder / "a") if "loss" in note], list(range(1, 31)))
        other = dataclasses.replace(longer.schedule, peak_rate=2e-2)
        with self.assertRaises(SystemExit) as refused:
            loop.Run(longer.network, longer.task, other, self.folder / "a", trains=False)
        self.assertEqual(refused.exception.code, 2)

    def test_one_process_trains_and_others_only_look(self):
        folder = self.folder / "a"
        run = tiny_run(folder)
        with self.assertRaises(SystemExit):
            tiny_run(folder)
        run.train()
        with (folder / "log.jsonl").open("a") as log:
            log.write('{"step": 41, "seconds": 0, "loss": 1}\n')
        looking = loop.Run(run.network, run.task, run.schedule, folder, trains=False)
        self.assertEqual(looking.step, 40)
        self.assertEqual(curve(folder)[-1]["step"], 41)

    @unittest.skipUnless(PUNT.exists(), f"{PUNT} is missing: run make")
    def test_exported_logits_are_the_trainers(self):
        shape = {"vocab": 33, "context": 40, "width": 64, "layers": 2, "heads": 4, "ffn": 96}
        tokens = torch.randint(33, (1, 30), generator=torch.Generator().manual_seed(0))
        letters = [chr(ord("a") + i) for i in range(26)] + [chr(ord("A") + i) for i in range(7)]
        kinds = [export.NORMAL] * 32 + [export.CONTROL]
        vocabulary = export.Vocabulary("gpt2", letters, kinds, {"mask": 32}, pre="gpt-2", merges=["a b"])
        inputs = self.folder / "inputs.json"
        inputs.write_text(json.dumps({"cases": [{"name": "case", "input_ids": tokens[0].tolist()}]}))
        for network in (Llada(Shape(**shape)), Llada(Shape(**shape, shift_logits=True)), Esm2(Shape(**shape))):
            for parameter in network.parameters():  # far from the initial values, or half of the network does nothing
                parameter.data.normal_(std=0.2)
            path, out = self.folder / "tiny.gguf", self.folder / "logits.safetensors"
            export.write_gguf(network, vocabulary, path, "f32", "tiny", "a test", "mit")
            subprocess.run([PUNT, "logits", "--model", path, "--inputs", inputs, "--out", out, "--shifted"], check=True)
            with torch.no_grad():
                expected = network.logits(network.hidden(tokens)[0])
            difference = (load_file(out)["case"] - expected).abs()
            # The row of a shifted model that predicts the first position has no row before it.
            first = 1 if network.shape.shift_logits else 0
            self.assertLess(difference[first:].max().item(), 1e-3)

    def test_reads_back_what_it_wrote(self):
        shape = {"vocab": 33, "context": 40, "width": 64, "layers": 2, "heads": 4, "ffn": 96}
        vocabulary = export.Vocabulary("gpt2", [str(i) for i in range(33)], [export.NORMAL] * 33, {"mask": 32}, merges=["0 1"])
        path = self.folder / "tiny.gguf"
        for kind, tolerance in (("f32", 0.0), ("f16", 1e-3), ("q8_0", 1e-2)):
            for make in (Llada, Esm2):
                written, read = make(Shape(**shape)), make(Shape(**shape))
                export.write_gguf(written, vocabulary, path, kind, "tiny", "a test", "mit")
                export.read_weights(read, path)
                for one, other in zip(written.parameters(), read.parameters()):
                    self.assertLessEqual((one - other).abs().max().item(), tolerance)
        with self.assertRaisesRegex(ValueError, "has no tensor"):
            export.read_weights(Llada(Shape(**shape)), path)
        with self.assertRaisesRegex(ValueError, "the model has no tensor"):
            export.read_weights(Esm2(Shape(**shape | {"layers": 1})), path)
        with self.assertRaisesRegex(ValueError, "shape"):
            export.read_weights(Esm2(Shape(**shape | {"ffn": 64})), path)
        with self.assertRaisesRegex(ValueError, "has 4 heads, the model 8"):
            export.read_weights(Esm2(Shape(**shape | {"heads": 8})), path)

    def test_grown_by_layers_it_computes_the_same(self):
        shape = {"vocab": 33, "context": 40, "width": 64, "layers": 2, "heads": 4, "ffn": 96}
        vocabulary = export.Vocabulary("gpt2", [str(i) for i in range(33)], [export.NORMAL] * 33, {"mask": 32}, merges=["0 1"])
        tokens = torch.randint(33, (1, 30), generator=torch.Generator().manual_seed(0))
        small, large = Llada(Shape(**shape)), Llada(Shape(**shape | {"layers": 4}))
        export.write_gguf(small, vocabulary, self.folder / "tiny.gguf", "f32", "tiny", "a test", "mit")
        export.read_weights(large, self.folder / "tiny.gguf")
        with torch.no_grad():
            self.assertTrue(torch.equal(small.hidden(tokens), large.hidden(tokens)))
        large.hidden(tokens).pow(2).sum().backward()
        self.assertGreater(large.blk[3].attn_output.weight.grad.abs().max().item(), 0, "what was added learns")


if __name__ == "__main__":
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        torch.set_num_threads(1)
        tiny_run(pathlib.Path(sys.argv[1])).train()
    else:
        unittest.main()
