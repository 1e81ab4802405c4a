"""Writes answers to generated questions with the verdicts of training's own checkers: what verdicts.jsonl holds.

    PYTHONPATH=training python tests/tasks/make_verdicts.py 8 > tests/tasks/verdicts.jsonl

So many answers of every kind: a right one, then answers with one thing changed, most of them wrong and some not. The
C++ checkers must agree with every line (src/tasks/questions/question_test.cc).
"""

import json
import random
import sys

from punt_training import tasks

LINE = '", "'


def swapped(parts: list[str], rng: random.Random) -> list[str]:
    a, b = rng.randrange(len(parts)), rng.randrange(len(parts))
    parts[a], parts[b] = parts[b], parts[a]
    return parts


def mutate(answer: str, other: str, rng: random.Random) -> str:
    """One thing changed; `other` is a right answer to another question of the kind."""
    between = next((b for b in ('"},\n', "\n\n", "\n", LINE, ",", " ") if b in answer), "")
    parts = answer.split(between) if between else list(answer)
    how = rng.randrange(9)
    if how == 0:
        return between.join(swapped(parts, rng))
    if how == 1:
        return between.join(parts[: rng.randrange(len(parts))])
    if how == 2:
        return between.join(parts + [rng.choice(parts)])
    if how == 3:
        parts[rng.randrange(len(parts))] = rng.choice(other.split(between) if between else other)
        return between.join(parts)
    at = rng.randrange(len(answer))
    if how == 4:
        return answer[:at] + answer[at + 1 :]
    if how == 5:
        return answer[:at] + rng.choice('#0123456789ABCaz",\n \\[]{}:') + answer[at:]
    if how == 6:
        return answer[:at] + rng.choice(other) + answer[at + 1 :]
    if how == 7:
        return rng.choice(["", answer + "\n", " " + answer, answer + answer, "[]", '[""]', other])
    digits = [i for i, c in enumerate(answer) if c.isdigit()]
    if not digits:
        return answer.swapcase()
    at = rng.choice(digits)
    return answer[:at] + rng.choice("0123456789") + answer[at + 1 :]


def main(count: int):
    for kind in tasks.FIXED + tasks.RANDOM:
        rng = random.Random(f"verdicts {kind}")
        low, high = (4, 6) if kind in tasks.KINDS["records"] else (3, 8)
        for i in range(count):
            size = rng.randint(low, high)
            prompt, example = tasks.make(kind, rng, size)
            other = tasks.make(kind, rng, size)[1]
            answer = example if i == 0 else mutate(example, other, rng)
            right = tasks.is_right(kind, prompt, answer, example)
            print(json.dumps({"kind": kind, "prompt": prompt, "example": example, "answer": answer, "right": right}))


main(int(sys.argv[1]))
