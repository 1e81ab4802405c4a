"""Questions of `tasks`: examples pass their checkers, spoiled ones do not, canvases fit, words are the engine's."""

import json
import os
import pathlib
import random
import subprocess
import tempfile
import unittest

import torch

from punt_training import export, task_lists, task_puzzles, task_records, tasks
from punt_training.networks import rotation
from punt_training.task_words import ASSISTANT, COUNTRY, EOS, MASK, Words

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUNT = pathlib.Path(os.environ.get("PUNT", ROOT / "build/release/punt"))
WORDS = Words()


def items(kind: str, count: int = 20):
    rng = random.Random(kind)
    return [tasks.make(kind, rng, rng.randint(4, 12)) for _ in range(count)]


def tokens_of(model: pathlib.Path, text: str, *flags: str) -> list[int]:
    command = [PUNT, "tokenize", "--model", model, "--json", *flags, "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout)["tokens"]


class CheckerTest(unittest.TestCase):
    def test_examples_are_right_and_others_are_not(self):
        for kind in tasks.FIXED + tasks.RANDOM:
            for prompt, answer in items(kind):
                self.assertTrue(tasks.is_right(kind, prompt, answer, answer), (kind, prompt, answer))
                for spoiled in (answer[:-1], answer + answer[-1], "", answer.replace(answer[0], "?", 1)):
                    self.assertFalse(tasks.is_right(kind, prompt, spoiled, answer), (kind, prompt, spoiled))

    def test_lists(self):
        line = '["Ann Lee", "Carl Wood", "Rose Diaz"]'
        cases = [
            ("shuffle", f"Shuffle the list: {line}", {'["Carl Wood", "Ann Lee", "Rose Diaz"]'},
             {line, '["Ann Lee", "Ann Lee", "Rose Diaz"]', '["Ann Wood", "Carl Lee", "Rose Diaz"]'}),
            ("remove_random", f"Remove a random person: {line}", {'["Carl Wood", "Rose Diaz"]', '["Ann Lee", "Rose Diaz"]'},
             {line, '["Rose Diaz", "Carl Wood"]', '["Ann Lee"]'}),
            ("insert_random", f'Insert "Roy Hall" at a random position: {line}',
             {'["Ann Lee", "Carl Wood", "Rose Diaz", "Roy Hall"]'}, {line, '["Roy Hall", "Ann Lee", "Carl Wood"]'}),
            ("replace_random", f'Replace a random person with "Roy Hall": {line}', {'["Ann Lee", "Roy Hall", "Rose Diaz"]'},
             {line, '["Roy Hall", "Roy Hall", "Rose Diaz"]'}),
        ]  # fmt: skip
        for kind, prompt, right, wrong in cases:
            for answer in right | wrong:
                self.assertEqual(task_lists.is_right(kind, prompt, answer, ""), answer in right, (kind, answer))

    def test_positions_count_from_nothing(self):
        for prompt, answer in items("remove_index"):
            at = int(prompt.split("position ")[1].split(":")[0])
            given = json.loads(prompt[prompt.index("[") :])
            self.assertEqual(json.loads(answer), given[:at] + given[at + 1 :])

    def test_latin_squares(self):
        self.assertEqual(len(task_puzzles.SQUARES), 576)
        right, twice = "A,B,C,D\nB,A,D,C\nC,D,A,B\nD,C,B,A", "A,B,C,D\nA,B,C,D\nC,D,A,B\nD,C,B,A"
        self.assertTrue(task_puzzles.is_right("latin_square", "Latin square: [D, C, B, A]", right, ""))
        self.assertFalse(task_puzzles.is_right("latin_square", "Latin square: [D, C, B, A]", twice, ""))
        self.assertFalse(task_puzzles.is_right("latin_square", "Latin square: [D, C, B, 1]", right, ""))

    def test_records_must_agree_inside_an_entry(self):
        rng = random.Random(0)
        for kind in task_records.RANDOM:
            schema, form = kind.split("_")
            fields = task_records.SCHEMAS[schema]
            rows = task_records.entries(schema, rng, 5)
            prompt = f"Write 5 {schema} as {task_records.FORMATS[form]}"
            self.assertEqual(task_records.read(form, fields, task_records.write(form, fields, rows)), rows)
            spoilers = {"country": "Spain" if rows[2].get("country") != "Spain" else "Italy", "total": "9", "to": "1st"}
            if schema == "orders":
                spoilers["id"] = rows[0]["id"]
            for field in spoilers.keys() & set(fields):
                spoiled = [dict(row) for row in rows]
                spoiled[2][field] = spoilers[field]
                self.assertFalse(task_records.is_right(kind, prompt, task_records.write(form, fields, spoiled)), field)
            self.assertFalse(task_records.is_right(kind, prompt, task_records.write(form, fields, rows[:4])))
            if form == "json":
                self.assertEqual(json.loads(task_records.write(form, fields, rows)), rows)

    def test_free_fields_are_uniform(self):
        rng = random.Random(0)
        seen = [task_records.draw("people", rng)["city"] for _ in range(3200)]
        chi = sum((seen.count(city) - 100) ** 2 / 100 for city in COUNTRY)
        self.assertLess(chi, 62)  # 31 degrees of freedom, p = 0.001


class CanvasTest(unittest.TestCase):
    def test_entries_have_the_same_number_of_tokens_everywhere(self):
        rng = random.Random(0)
        for kind in task_records.RANDOM:
            sizes = [len(WORDS.encode(task_records.make(kind, rng, count)[1])) for count in range(4, 33)]
            steps = {b - a for a, b in zip(sizes, sizes[1:])}
            self.assertEqual(steps, {task_records.entry_tokens(kind.split("_")[0])}, kind)

    def test_canvases_fit_and_only_answers_are_masked(self):
        data = tasks.Tasks(1024)
        rng = random.Random(0)
        for length in tasks.LENGTHS:
            canvas = data.canvases(length, 64, rng)
            self.assertEqual(canvas.shape, (64, length))
            maskable = tasks.answers(canvas)
            for row, may in zip(canvas.tolist(), maskable.tolist()):
                begin = row.index(ASSISTANT) + 2
                self.assertEqual(may, [i >= begin for i in range(length)])
                self.assertEqual(row[-1], EOS)
                self.assertNotIn(MASK, row)

    def test_steps_are_functions_of_their_numbers(self):
        data = tasks.Tasks(512)
        a, b = (data.batch(7, torch.Generator().manual_seed(3)) for _ in range(2))
        self.assertTrue(torch.equal(a, b))

    def test_one_frequency_turns_once_per_entry(self):
        cos, _ = rotation(tasks.Tasks(64).network(192, 1).shape)
        self.assertLess((cos[:512:16, 1] - 1).abs().max().item(), 1e-4)
        self.assertLess(cos[8, 1].item(), -0.999)


class WordsTest(unittest.TestCase):
    def test_texts_come_back(self):
        for text in ("Zoë Ångström, \"Marlon\" & Jane's 12th", "\n\nNo: #33", "Annabel Leeson", ""):
            self.assertEqual(WORDS.decode(WORDS.encode(text)), text)

    @unittest.skipUnless(PUNT.exists(), f"{PUNT} is missing: run make")
    def test_the_engine_reads_the_same_words(self):
        texts = ["\n|".join(part for item in items(kind, 4) for part in item) for kind in tasks.FIXED + tasks.RANDOM]
        texts += ['Copy the list: ["Zoë Ångström", "Marlon Leeson"]', "Hello, who are you?"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "tasks.gguf"
            network = tasks.Tasks(64).network(192, 1)
            export.write_gguf(network, WORDS.vocabulary(), path, "f16", "tasks", "a test", "mit")
            for text in texts:
                self.assertEqual(tokens_of(path, text), WORDS.encode(text), text)
                self.assertEqual(tokens_of(path, text, "--chat"), WORDS.chat(text), text)


if __name__ == "__main__":
    unittest.main()
