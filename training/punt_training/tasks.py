"""`tasks`: questions in a chat template, answered on a canvas; everything behind the answer is end of text.

List operations, latin squares, sums, counting and records: made as needed, none seen twice, each with an exact checker
(task_lists.py, task_puzzles.py, task_records.py). Loss is on the answer only: a question is never masked.

Canvases of a step have one length. Most are short, which is what makes an hour of training go far; the long ones of
records teach what short ones cannot: where the hundredth token of an entry list stands. RoPE's base is such that one of
its frequencies turns once in 16 positions, the length of the longest entry: with it a position sees its place inside the
entry from any distance.
"""

import math
import random
import string

import torch

from . import loop, sampling, starts, task_lists, task_puzzles, task_records
from .networks import Llada, Shape
from .task_words import (ASSISTANT, CITIES, COUNTRY, DAYS, END, EOS, FORM_NEXT, GIVEN, JSON_LAST, JSON_NEXT, MASK, NUMBERS,
                         SURNAMES, USER, Words)  # fmt: skip

CONTEXT = 640
HEAD = 16
ENTRY = 16  # positions of the longest entry of a record
ROPE_BASE = (ENTRY / (2 * math.pi)) ** (HEAD / 2)  # the second frequency, base^(-2 / HEAD), is 2 pi / ENTRY
# Classes of canvases: up to so many tokens, and more than the class before. Lengths are drawn evenly inside a class: with a few
# fixed ones the model learnt where canvases end instead of how many entries it was asked for. The shortest leave no room behind
# short answers: trained on 20 tokens and more, with sums of 18, the model missed seven of eight on canvases of 19.
LENGTHS = [24, 64, 128, 288, 544]
SHORTEST = {24: 19, 64: 30, 128: 65, 288: 129, 544: 289}
FAMILIES = ["lists", "puzzles", "records"]
# How often a canvas of a class is of each family. Records come when lists are learnt: what is random in them is noise to everything
# else (with records from the first step on copying had not begun after 2,700 steps; without them it had after 300).
NO_RECORDS = {24: [0.0, 1.0, 0.0], 64: [0.74, 0.26, 0.0], 128: [0.91, 0.09, 0.0]}
RECORDS = {24: [0.0, 1.0, 0.0], 64: [0.42, 0.16, 0.42], 128: [0.5, 0.05, 0.45], 288: [0.15, 0.02, 0.83],
           544: [0.05, 0.02, 0.93]}  # fmt: skip
# From a step on: how often canvases of each class are drawn, and of which families. Sums come on canvases of their own size.
CURRICULUM = {0: ([0.12, 0.88, 0.0, 0.0, 0.0], NO_RECORDS), 1500: ([0.1, 0.6, 0.3, 0.0, 0.0], NO_RECORDS),
              2800: ([0.08, 0.42, 0.3, 0.12, 0.08], RECORDS), 4200: ([0.05, 0.39, 0.28, 0.16, 0.12], RECORDS)}  # fmt: skip
# The same for a run that goes on from weights: with fewer long canvases records of 32 entries ended after 23.
FURTHER = {0: ([0.03, 0.36, 0.28, 0.12, 0.21], RECORDS | {64: [0.5, 0.4, 0.1], 128: [0.82, 0.06, 0.12]})}
# What stands before the list of a question.
BEFORE_LIST = ["Copy the list: ", "Reverse the list: ", "Sort the list: ", "Shuffle the list: ", "Count the list: ",
               '" at a random position: ', "Remove a random person: ", '": ', ": "]  # fmt: skip
# Where heads begin to look (starts.py). Clocks begin at the first name of an answer, of the list in a question, and, backwards, at
# its last name.
IN_ANSWER, IN_LIST, FROM_END = starts.clock(0, 1, 3, [0, 1, 2, 3, 4]), starts.clock(1, 1, 2, [0, 1, 2, 3]), starts.clock(2, -1, 3, [0, 1, 2, 3])
SAME_PLACE, MIRRORED = starts.Match(0, 1), starts.Match(0, 2)
BEFORE, BEHIND = [starts.Neighbour(-1, 0), starts.Neighbour(-1, 1)], [starts.Neighbour(1, 0), starts.Neighbour(1, 1)]
LIKE = [starts.Like(0), starts.Like(1)]
LAST_HEADS = [*BEFORE, *BEHIND, *LIKE, *(starts.OfClass(n) for n in range(4)), SAME_PLACE]
HEADS = [
    [starts.At(-1), starts.At(1), *IN_ANSWER],
    [starts.At(-1), starts.At(1), starts.At(-2), starts.At(2), *IN_LIST],
    [starts.At(-4), starts.At(4), starts.At(-8), starts.At(8), *FROM_END],
    [SAME_PLACE, MIRRORED, *BEFORE, *BEHIND, *LIKE, starts.At(-13), starts.At(-9), starts.At(-16), starts.At(16)],
]
# Weights in the loss of fields that depend on each other and were learnt last (with the same for all a country did not follow its
# city after 5,700 steps with records). What stands where they do has the same weight: the least loss is where it was.
COUPLED = 3.0
COUPLED_WORDS = [*CITIES, *set(COUNTRY.values()), *DAYS]
# Where an entry, and a document, ends: once an entry, and the last to be learnt.
ENDS = 2.0
END_WORDS = [*NUMBERS, JSON_NEXT, JSON_LAST, FORM_NEXT]
# Drawn so often, others once: what is learnt late.
HARDER = {"sort": 2.0, "shuffle": 4.0, "insert_random": 2.0, "replace_random": 5.0, "remove_random": 1.5, "copy": 0.7,
          "reverse": 0.7, "count": 0.5, "latin_square": 12.0, "sum": 1.0, "count_up": 2.0}  # fmt: skip
PUZZLE_TOKENS = {"sum": 19, "count_up": 30, "latin_square": 47}  # the shortest canvases that hold most of them
LIST_TOKENS = {"insert": 18, "replace": 15}  # besides six for each person; other operations: 10
FIXED = task_lists.FIXED + task_puzzles.FIXED
RANDOM = task_lists.RANDOM + task_puzzles.RANDOM + task_records.RANDOM
KINDS = {"lists": task_lists.FIXED + task_lists.RANDOM, "puzzles": task_puzzles.FIXED + task_puzzles.RANDOM,
         "records": task_records.RANDOM}  # fmt: skip


def make(kind: str, rng: random.Random, count: int) -> tuple[str, str]:
    """A question and an answer; `count` people or entries, where there are any."""
    if kind in KINDS["lists"]:
        return task_lists.make(kind, rng, count)
    if kind in KINDS["puzzles"]:
        return task_puzzles.make(kind, rng)
    return task_records.make(kind, rng, count)


def is_right(kind: str, prompt: str, answer: str, example: str) -> bool:
    if kind in KINDS["records"]:
        return task_records.is_right(kind, prompt, answer)
    return (task_lists if kind in KINDS["lists"] else task_puzzles).is_right(kind, prompt, answer, example)


def largest(kind: str, length: int) -> int:
    """How many people or entries fit on a canvas; 0 if the fewest do not."""
    if kind in KINDS["records"]:
        most = (length - 16) // task_records.entry_tokens(kind.split("_")[0])
        return min(most, task_records.MOST) if most >= task_records.FEWEST else 0
    if kind in KINDS["puzzles"]:
        return int(length >= PUZZLE_TOKENS[kind])
    most = (length - LIST_TOKENS.get(kind.split("_")[0], 10)) // 6
    return min(task_lists.MOST, most) if most >= task_lists.FEWEST else 0


def draw_count(kind: str, length: int, rng: random.Random) -> int:
    """On long canvases more often what short ones do not hold, and often all that fits: answers get canvases of their size."""
    if kind in KINDS["puzzles"]:
        return 0
    most = largest(kind, length)
    fewest = task_records.FEWEST if kind in KINDS["records"] else task_lists.FEWEST
    low = rng.choices([most, max(fewest, most // 3), fewest], [0.3, 0.35, 0.35])[0]
    return rng.randint(low, most)


class Tasks:
    def __init__(self, tokens_per_batch: int, goes_on: bool = False):
        self.words, self.tokens_per_batch = Words(), tokens_per_batch
        self.curriculum = FURTHER if goes_on else CURRICULUM
        # Padding is plentiful; at full weight it would be most of what early steps learn. With a third of this weight the
        # place where records end was the last thing to be learnt.
        self.weights = torch.ones(len(self.words))
        self.weights[EOS] = 0.5
        self.weights[[self.words.id[word] for word in COUPLED_WORDS]] = COUPLED
        self.weights[[self.words.id[word] for word in END_WORDS]] = ENDS
        rng = random.Random(-1)
        self.valid = [self.canvases(length, 32 if length < 288 else 8, rng) for length in (64, 128, 288)]

    def canvas(self, kind: str, length: int, rng: random.Random) -> list[int]:
        while True:  # a name spelled in letters may not fit
            prompt, answer = make(kind, rng, draw_count(kind, length, rng))
            tokens = self.words.chat(prompt) + self.words.encode(answer)
            if len(tokens) < length:
                return tokens + [EOS] * (length - len(tokens))

    def draw_kind(self, length: int, rng: random.Random, families: dict[int, list[float]] = RECORDS) -> str:
        kinds = {family: [k for k in KINDS[family] if largest(k, length)] for family in FAMILIES}
        shares = families[min(n for n in LENGTHS if n >= length)]
        family = rng.choices(FAMILIES, [share if kinds[family] else 0.0 for family, share in zip(FAMILIES, shares)])[0]
        return rng.choices(kinds[family], [HARDER.get(k, 1.0) for k in kinds[family]])[0]

    def canvases(self, length: int, count: int, rng: random.Random, families=RECORDS) -> torch.Tensor:
        return torch.tensor([self.canvas(self.draw_kind(length, rng, families), length, rng) for _ in range(count)])

    def batch(self, step: int, generator: torch.Generator) -> torch.Tensor:
        rng = random.Random(torch.randint(2**62, (1,), generator=generator).item())
        shares, families = self.curriculum[max(s for s in self.curriculum if s <= step)]
        longest = rng.choices(LENGTHS, shares)[0]
        length = rng.randint(SHORTEST[longest], longest)
        return self.canvases(length, max(1, self.tokens_per_batch // length), rng, families)

    def network(self, width: int, layers: int) -> Llada:
        # Heads have one size whatever the width: the clock of ROPE_BASE depends on it.
        shape = Shape(len(self.words), CONTEXT, width, layers, width // HEAD, ffn=width * 3, rope_base=ROPE_BASE)
        network = Llada(shape)
        starts.begin(network, self.start(layers))
        return network

    def start(self, layers: int) -> starts.Start:
        classes = [GIVEN, [" " + name for name in SURNAMES], list(string.digits), list(string.ascii_uppercase)]
        ids = [[self.words.id[word] for word in words] for words in classes]
        anchors = [[ASSISTANT], [self.words.id[word] for word in BEFORE_LIST], [END]]
        rng = random.Random(0)
        sample = [self.canvas(kind, 64, rng) for kind in KINDS["lists"]]
        return starts.Start((HEADS + [LAST_HEADS] * layers)[:layers], ids, anchors, USER, 3, MASK, sample)

    def task(self) -> loop.Task:
        return loop.Task(
            mask_token=MASK,
            batch=self.batch,
            maskable=answers,
            loss_weight=lambda tokens: self.weights[tokens],
            validation=self.valid,
            counted=lambda canvas: answers(canvas) & (torch.cumsum(canvas == EOS, -1) <= 1),
            sample=lambda network: "  ".join(f"{k} {s:.2f}" for k, s in self.accuracies(network, 8, 8, 6)),
            tempering=0.5,
        )

    def accuracies(self, network, count: int, most_people: int, most_entries: int, seed: int = 0):
        """By kind: the share of fresh items solved one token at a time. Where there is one answer, by the likeliest tokens;
        where there are many, by tokens drawn at temperature 1."""
        for kind in FIXED + RANDOM:
            yield kind, self.accuracy_of(kind, network, count, (most_people, most_entries), seed)

    def accuracy_of(self, kind: str, network, count: int, most: tuple[int, int], seed: int) -> float:
        rng = random.Random(f"{kind} {seed}")
        low, high = (task_records.FEWEST, most[1]) if kind in KINDS["records"] else (task_lists.FEWEST, most[0])
        items = [make(kind, rng, rng.randint(low, high)) for _ in range(count)]
        prompts = [self.words.chat(prompt) for prompt, _ in items]
        lengths = [len(p) + len(self.words.encode(answer)) for p, (_, answer) in zip(prompts, items)]
        canvas = torch.full((count, max(lengths) + 2), MASK)
        for row, prompt, length in zip(canvas, prompts, lengths):
            row[: len(prompt)] = torch.tensor(prompt)
            row[length + 2 :] = EOS  # of what is surely padding two places are left to the model
        filled = sampling.fill_rows(network, canvas, MASK, temperature=0.0 if kind in FIXED else 1.0, seed=seed)
        right = 0
        for row, prompt, (question, example) in zip(filled.tolist(), prompts, items):
            right += is_right(kind, question, self.words.decode(row[len(prompt) :]), example)
        return right / count


def answers(canvas: torch.Tensor) -> torch.Tensor:
    """Everything behind the assistant's mark and its line feed."""
    begun = torch.cumsum(canvas == ASSISTANT, -1) > 0
    return torch.cat((torch.zeros_like(begun[:, :2]), begun[:, :-2]), -1)
