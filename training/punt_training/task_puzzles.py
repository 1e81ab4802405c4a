"""Latin squares, sums, numbers in order; docs/tasks.md has the formats."""

import itertools
import random
import string

FIXED = ["sum", "count_up"]
RANDOM = ["latin_square"]
SYMBOLS = string.digits + string.ascii_uppercase
SIZE = 4
MOST_NUMBERS = 12


def latin_squares(rows: tuple = ()) -> list[tuple]:
    """All squares that begin with `rows`."""
    if len(rows) == SIZE:
        return [rows]
    fitting = [r for r in itertools.permutations(range(SIZE)) if all(x != y for row in rows for x, y in zip(r, row))]
    return [square for row in fitting for square in latin_squares((*rows, row))]


SQUARES = latin_squares()


def make(kind: str, rng: random.Random) -> tuple[str, str]:
    if kind == "sum":
        a, b = rng.randrange(1000), rng.randrange(1000)
        return f"{a:03}+{b:03}=", f"{a + b:04}"
    if kind == "count_up":
        count = rng.randint(2, MOST_NUMBERS)
        first = rng.randrange(100 - count)
        numbers = range(first, first + count)
        return f"Count from {numbers[0]:02} to {numbers[-1]:02}", " ".join(f"{n:02}" for n in numbers)
    symbols = rng.sample(SYMBOLS, SIZE)
    rows = [",".join(symbols[i] for i in row) for row in rng.choice(SQUARES)]
    return f"Latin square: [{', '.join(symbols)}]", "\n".join(rows)


def is_right(kind: str, prompt: str, answer: str, example: str) -> bool:
    if kind in FIXED:
        return answer == example
    symbols = set(prompt[prompt.index("[") + 1 : -1].split(", "))
    rows = [row.split(",") for row in answer.split("\n")]
    if len(rows) != SIZE or any(len(row) != SIZE for row in rows):
        return False
    return all(set(cells) == symbols for cells in [*rows, *zip(*rows)])
