"""List operations on a waiting line, in the formats of ParallelBench; docs/tasks.md has them all.

A line is `["Ann Lee", "Carl Wood", "Rose Diaz"]`; positions count from 0. No two people of a line share a given name, so
sorting by the whole text is sorting by the given name.
"""

import json
import random

from .task_words import BETWEEN, CLOSE, GIVEN, OPEN, SURNAMES

FIXED = ["copy", "reverse", "sort", "insert_index", "remove_index", "replace_index", "count"]
RANDOM = ["shuffle", "insert_random", "remove_random", "replace_random"]
FEWEST, MOST = 3, 15
SPELLED = 0.06  # share of lines in which a name is in no list


def spelled(rng: random.Random) -> str:
    """A name that is no word: the model has to copy it letter by letter."""
    return rng.choice("ABCDEFGHIJKLMNOPRSTVWZ") + "".join(rng.choice("abdefgiklmnoprstuvz") for _ in range(rng.randint(2, 4)))


def people(rng: random.Random, count: int, words_only: bool) -> list[str]:
    names = [f"{given} {rng.choice(SURNAMES)}" for given in rng.sample(GIVEN, count)]
    if not words_only and rng.random() < SPELLED:
        names[rng.randrange(count)] = f"{spelled(rng)} {rng.choice(SURNAMES)}"
    return names


def line(names: list[str]) -> str:
    return OPEN + BETWEEN.join(names) + CLOSE


def shuffled(rng: random.Random, names: list[str]) -> list[str]:
    while True:
        other = rng.sample(names, len(names))
        if other != names:
            return other


def make(kind: str, rng: random.Random, count: int) -> tuple[str, str]:
    """A question about `count` people and an answer."""
    names = people(rng, count, words_only=kind == "sort")
    word = people(rng, 1, words_only=False)[0]  # a given name may be in the line already
    at = rng.randrange(count + (kind.startswith("insert")))
    text = line(names)
    if kind == "copy":
        return f"Copy the list: {text}", text
    if kind == "reverse":
        return f"Reverse the list: {text}", line(names[::-1])
    if kind == "sort":
        return f"Sort the list: {text}", line(sorted(names))
    if kind == "count":
        return f"Count the list: {text}", f"{count:02}"
    if kind == "shuffle":
        return f"Shuffle the list: {text}", line(shuffled(rng, names))
    operation, _, how = kind.partition("_")
    where = f"position {at}" if how == "index" else "a random position"
    whom = f"the person at position {at}" if how == "index" else "a random person"
    if operation == "insert":
        return f'Insert "{word}" at {where}: {text}', line(names[:at] + [word] + names[at:])
    if operation == "remove":
        return f"Remove {whom}: {text}", line(names[:at] + names[at + 1 :])
    return f'Replace {whom} with "{word}": {text}', line(names[:at] + [word] + names[at + 1 :])


def read_line(text: str) -> list[str] | None:
    try:
        names = json.loads(text)
    except ValueError:
        return None
    return names if isinstance(names, list) and line(names) == text else None


def is_right(kind: str, prompt: str, answer: str, example: str) -> bool:
    """Fixed operations have one answer, the example; random ones are judged by what was asked."""
    if kind in FIXED:
        return answer == example
    given, names = read_line(prompt[prompt.index("[") :]), read_line(answer)
    if names is None:
        return False
    if kind == "shuffle":
        return sorted(names) == sorted(given) and names != given
    word = prompt.split('"')[1]
    places = range(len(given))
    if kind == "insert_random":
        return any(names == given[:i] + [word] + given[i:] for i in range(len(given) + 1))
    if kind == "remove_random":
        return any(names == given[:i] + given[i + 1 :] for i in places)
    return any(names == given[:i] + [word] + given[i + 1 :] for i in places)
