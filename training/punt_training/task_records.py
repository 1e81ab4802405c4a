"""Records: entries whose fields are drawn at random and agree with each other inside an entry; docs/tasks.md has the formats.

The free fields of an entry are independent and uniform over the sets below, so a chi-square test can tell whether a decoder
keeps their law. Every entry of a schema has the same number of tokens in every format (8, or 16 for orders): the place of a
token inside its entry is its position modulo that number. Entries are numbered, which gives each one an anchor.
"""

import random
import string

from .task_words import (CITIES, COUNTRY, DAYS, FORM_FIRST, FORM_NEXT, JSON_FIRST, JSON_LAST, JSON_NEXT, MONTHS,
                         MOST_ENTRIES, NUMBERS, RECORD_NAMES, form_key, json_key)  # fmt: skip

FEWEST, MOST = 4, MOST_ENTRIES
PARTS = range(5)  # of a total, so that the total is one digit
SCHEMAS = {
    "people": ["no", "name", "city", "country"],
    "bills": ["no", "a", "b", "total"],
    "trips": ["no", "month", "from", "to"],
    "orders": ["no", "id", "city", "country", "a", "b", "total"],
}
FORMATS = {"json": "JSON", "csv": "CSV", "form": "a form"}
RANDOM = [f"{schema}_{form}" for schema in SCHEMAS for form in FORMATS]


def entry_tokens(schema: str) -> int:
    return 16 if schema == "orders" else 8


def draw(schema: str, rng: random.Random) -> dict[str, str]:
    """The fields of one entry but its number."""
    city, a, b = rng.choice(CITIES), rng.choice(PARTS), rng.choice(PARTS)
    place, total = {"city": city, "country": COUNTRY[city]}, {"a": str(a), "b": str(b), "total": str(a + b)}
    if schema == "people":
        return {"name": rng.choice(RECORD_NAMES)} | place
    if schema == "bills":
        return total
    if schema == "trips":
        first, last = sorted(rng.sample(range(len(DAYS)), 2))
        return {"month": rng.choice(MONTHS), "from": DAYS[first], "to": DAYS[last]}
    code = rng.choice(string.ascii_uppercase) + rng.choice(string.ascii_uppercase) + rng.choice(string.digits)
    return {"id": code} | place | total


def entries(schema: str, rng: random.Random, count: int) -> list[dict[str, str]]:
    out: list[dict[str, str]] = []
    while len(out) < count:
        entry = {"no": NUMBERS[len(out)]} | draw(schema, rng)
        if "id" not in entry or all(entry["id"] != other["id"] for other in out):
            out.append(entry)
    return out


def write(form: str, fields: list[str], rows: list[dict[str, str]]) -> str:
    if form == "csv":
        return "".join(",".join(line) + "\n" for line in [fields] + [[row[f] for f in fields] for row in rows])
    key, first, between, last = (
        (json_key, JSON_FIRST, JSON_NEXT, JSON_LAST) if form == "json" else (form_key, FORM_FIRST, FORM_NEXT, "")
    )
    texts = [row["no"] + "".join(key(f) + row[f] for f in fields[1:]) for row in rows]
    return first + between.join(texts) + last


def read(form: str, fields: list[str], text: str) -> list[dict[str, str]] | None:
    """The entries of an answer, None if it is not exactly of this format."""
    separators = {"json": '"},\n{"no":"', "csv": "\n", "form": "\n\nNo: "}
    key = {"json": json_key, "csv": lambda f: ",", "form": form_key}[form]
    first = {"json": JSON_FIRST, "csv": ",".join(fields) + "\n", "form": FORM_FIRST}[form]
    last = {"json": JSON_LAST, "csv": "\n", "form": ""}[form]
    if not text.startswith(first) or not text.endswith(last):
        return None
    rows = []
    for entry in text[len(first) : len(text) - len(last)].split(separators[form]):
        values = [entry]
        for field in fields[1:]:
            head, found, tail = values.pop().partition(key(field))
            if not found:
                return None
            values += [head, tail]
        rows.append(dict(zip(fields, values)))
    return rows


def is_consistent(schema: str, row: dict[str, str], number: int) -> bool:
    """Whether the fields of one entry are of their sets and agree."""
    if row["no"] != f"#{number:02}":
        return False
    if "city" in row and row["country"] != COUNTRY.get(row["city"]):
        return False
    if "total" in row:
        parts = [row["a"], row["b"]]
        if any(p not in map(str, PARTS) for p in parts) or row["total"] != str(sum(map(int, parts))):
            return False
    if schema == "people":
        return row["name"] in RECORD_NAMES
    if schema == "trips":
        days = [row["from"], row["to"]]
        return row["month"] in MONTHS and all(d in DAYS for d in days) and DAYS.index(days[0]) < DAYS.index(days[1])
    code = row.get("id", "AA0")
    return len(code) == 3 and all(c in string.ascii_uppercase for c in code[:2]) and code[2] in string.digits


def make(kind: str, rng: random.Random, count: int) -> tuple[str, str]:
    schema, form = kind.split("_")
    return f"Write {count} {schema} as {FORMATS[form]}", write(form, SCHEMAS[schema], entries(schema, rng, count))


def is_right(kind: str, prompt: str, answer: str) -> bool:
    """As many entries as asked for, each consistent, no id twice."""
    schema, form = kind.split("_")
    rows = read(form, SCHEMAS[schema], answer)
    if rows is None or len(rows) != int(prompt.split()[1]):
        return False
    codes = [row["id"] for row in rows if "id" in row]
    return len(set(codes)) == len(codes) and all(is_consistent(schema, row, i + 1) for i, row in enumerate(rows))
