#!/usr/bin/env python3
"""bench/planners without real weights and without a network: its report and pictures, OLGA's part with programs that only
look like it, and whole runs with the tiny random models of tests/golden in the place of BERT-base and CDR3vec.

  PUNT=build/release/punt PUNT_SOURCE_DIR=. tests/planners_report_test.py
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
PUNT = os.environ["PUNT"]
SOURCE = pathlib.Path(os.environ["PUNT_SOURCE_DIR"]).resolve()
SCRIPT = SOURCE / "bench/planners"
failures = []


def check(condition, name, detail=""):
    if not condition:
        failures.append(name)
        print(f"FAILED: {name} {detail}", flush=True)


loader = importlib.machinery.SourceFileLoader("planners", str(SCRIPT))
planners = importlib.util.module_from_spec(importlib.util.spec_from_loader("planners", loader))
loader.exec_module(planners)
pgen, report = planners.pgen, planners.report
report.tool = pathlib.Path(PUNT).resolve().with_name("report_tool")
if not report.tool.exists():
    print(f"skipped: no {report.tool}: built without benchmarks")
    sys.exit(77)


# ---- the report

def test_sections():
    head, tail = "# Words\n\n### Not of the report\n\n", "\n## More words\n"
    text = f"{head}{planners.BEGIN}\n### B\n\nold b\n\n### A\n\nold a\n\n{planners.END}{tail}"
    merge = planners.with_sections
    check(merge(text, {}, ["B", "A"], "f") == text, "nothing measured, nothing changed")
    merged = merge(text, {"A": "### A\n\nnew a\n\n", "C": "### C\n\nc\n\n"}, ["C", "B", "A"], "f")
    wanted = "### C\n\nc\n\n### B\n\nold b\n\n### A\n\nnew a\n\n"
    check(merged == f"{head}{planners.BEGIN}\n{wanted}{planners.END}{tail}", "sections are replaced one by one", merged)
    unknown = merge(text, {}, ["A"], "f")
    check(unknown.index("### A") < unknown.index("old b"), "what the order does not know comes last")
    try:
        merge("no marks", {}, [], "f")
        check(False, "a file without marks is refused")
    except SystemExit as error:
        check("f has no marks" in str(error), "and named", error)


def test_place():
    def row(passes, value, ends):
        return {"nfe_mean": passes, "q": value, "q_ci95": ends}

    rows = [row(10, 0.9, [0.8, 1]), row(20, 0.85, [0.8, 0.9]), row(30, 0.5, [0.4, 0.6]), row(40, 0.95, [0.9, 1])]
    more = planners.DataSet("n", "t", "k", 1, "q")
    check([planners.place(r, rows, more) for r in rows] == ["**front**", "level", "", "**front**"], "front, level, below")
    less = planners.DataSet("n", "t", "k", 1, "q", less=True)
    check([planners.place(r, rows, less) for r in rows] == ["**front**", "**front**", "**front**", ""], "less is better")


def classes_of(svg, text):
    """The classes of the group that the marker with this title is in."""
    root = xml.etree.ElementTree.fromstring(svg)
    return [g.get("class") for g in root.iterfind(".//{*}g") if any(t.text and text in t.text for t in g.iterfind(".//{*}title"))]


def test_pictures():
    points = [(10 + i, 0.5 + i / 100, [0.4, 0.7], f"scout:doubt={i}&", "**front**") for i in range(6)]
    points += [(200, 0.2, None, "top-k", ""), (300, 0.5, None, "dawn", "level"), (9, 0.3, None, "klass", "**front**")]
    svg = report.quality_svg("A < B", "q", points, less=False)
    root = xml.etree.ElementTree.fromstring(svg)
    texts = [t.text for t in root.iterfind(".//{*}text")]
    check("A < B" in texts and "q (more is better)" in texts, "a title, and which way is better", texts)
    check("scout:doubt=5&" in texts and "klass" in texts and "top-k" not in texts, "a picture names the front", texts)
    for name in ("scout, on the front", "on the front", "level: intervals meet", "below"):
        check(texts.count(name) == 1, "a legend of what is there", texts)
    check("scout, below" not in texts, "and of nothing else", texts)
    looks = [classes_of(svg, name) for name in ("klass: 9 passes", "dawn: 300 passes", "top-k: 200 passes, q 0.2")]
    check(looks == [["s2"], ["s1"], ["s6"]], "front, level and the others have their colours", looks)
    check(len([p for p in root.iterfind(".//{*}path") if p.get("class") == "range"]) == 6, "intervals", svg)
    check("less is better" in report.quality_svg("t", "q", points, less=True), "less may be better")

    def row(passes):
        return {"planner": "p:a=<b>", "nfe_mean": passes}

    svg = report.growth_svg([(4, {"one by one": row(40), "rival": None}), (8, {"one by one": row(80), "rival": row(30)})])
    root = xml.etree.ElementTree.fromstring(svg)
    check(len([p for p in root.iterfind(".//{*}path") if p.get("class") == "line"]) == 1, "a line needs two points", svg)
    check(classes_of(svg, "rival: p:a=<b>, 30") == ["s4"], "what was run", svg)


def test_refusals():
    """One line that names what is wrong."""
    def picture(**changes):
        one = {"name": "s", "colour": 0, "marker": 0, "points": [{"x": 1, "y": 2}]}
        return {"title": "t", "width": 700, "height": 400, "x": {"label": "x"}, "y": {"label": "y"}, "series": [one], **changes}

    points = [{"x": 0, "y": 1}]
    for what, request, named in (
        ("plot", {"title": "t"}, "'series'"),
        ("plot", picture(width=10), "'width' is 10"),
        ("plot", picture(series=[{"name": "s", "colour": 8, "marker": 0, "points": points}]), "'colour' is 8"),
        ("plot", picture(series=[{"name": "s", "colour": 1, "marker": -1, "points": points}]), "'marker' is -1"),
        ("plot", picture(x={"label": "passes", "log": True}, series=[{"name": "s", "colour": 1, "marker": 0, "points": points}]), "'passes'"),
        ("estimate", [{"values": []}], "no numbers"),
        ("draw", {}, "usage"),
    ):  # fmt: skip
        done = subprocess.run([report.tool, what], input=json.dumps(request), capture_output=True, text=True, check=False)
        lines = done.stderr.splitlines()
        check(done.returncode == 2 and done.stdout == "" and len(lines) == 1 and named in lines[0], f"{named} is refused", done)
    check(report.ask("plot", picture()).startswith("<svg"), "the picture that these differ from is drawn")
    empty = report.ask("plot", picture(x={"label": "x", "log": True}, series=[]))
    check("nan" not in empty and "inf" not in empty, "no points, no places", empty)
    try:
        report.ask("plot", {"title": "t"})
        check(False, "a refusal ends bench/planners")
    except SystemExit as error:
        check(str(error).startswith("bench/planners: report_tool: "), "and says why", error)


def test_estimates():
    value, ends = report.mean([1, 2, 3])
    check(value == 2 and abs(ends[1] - 2 - 4.30265 / 3**0.5) < 1e-4, "Student's t of two degrees", ends)
    check(report.mean([1, 2])[1] is None, "two values have no interval")
    value, ends = report.difference([1, 2, 3], [11, 12, 13])
    check(value == -10 and abs(ends[1] + 10 - 4.30265 * (2 / 3) ** 0.5) < 1e-4, "a difference of means", ends)


# ---- OLGA's part

class Judge:
    """Pgen is 10^-length; 0 for loops without a C."""

    def __init__(self):
        self.asked = []

    def compute(self, sequences):
        self.asked.append(list(sequences))
        return {s: 10.0 ** -len(s) if "C" in s else 0.0 for s in sequences}

    def draw(self, count, seed):
        return ["CASF", "CASSF", "CASF", "CA*SF", "CASSSSSSF"][:count] if seed == 1 else []


def test_pgen(folder):
    figures = pgen.figures([1e-6, 1e-8, 1e-7, 0])
    half = 4.3026527 / 3**0.5  # Student's t of two degrees; the deviation is 1
    check(figures["possible"] == 0.75 and abs(figures["log10_pgen"] + 7) < 1e-9, "impossible loops are counted apart", figures)
    check(abs(figures["log10_pgen_ci95"][1] + 7 - half) < 1e-6 and "pgen_error" not in figures, "the interval of a mean", figures)
    for other in ([1e-9, 1e-11, 1e-10], [1e-3, 1e-5, 1e-4]):
        figures = pgen.figures([1e-6, 1e-8, 1e-7], other)
        ends = figures["pgen_error_ci95"]
        check(abs(figures["pgen_error"] - 3) < 1e-9 and abs(ends[1] - 3 - half * 2**0.5) < 1e-6, "too low or too high", figures)
    near = pgen.figures([1e-6, 1e-8, 1e-7], [1e-6, 1e-8, 2e-7])
    check(near["pgen_error_ci95"][0] == 0 and near["pgen_error"] > 0, "no error below zero", near)
    check(pgen.figures([0, 0]) == {"possible": 0.0}, "nothing possible")
    judge, path = Judge(), folder / "pgen.tsv"
    known = pgen.KnownPgens(path, judge)
    check(known.of(["CAF", "AAA", "CAF"]) == [1e-3, 0, 1e-3] and judge.asked == [["CAF", "AAA"]], "each is asked once", judge.asked)
    again = pgen.KnownPgens(path, judge)
    check(again.of(["AAA", "CAF"]) == [0, 1e-3] and len(judge.asked) == 1, "and not again by a later run", judge.asked)
    many = ["C" * i for i in range(1, pgen.BATCH + 12)]
    again.of(many)
    check([len(a) for a in judge.asked[1:]] == [pgen.BATCH, 11], "in parts", [len(a) for a in judge.asked])
    pgen.write_known(folder / "known.fasta", judge, 5, range(4, 6))
    check((folder / "known.fasta").read_text() == ">drawn0\nCASF\n>drawn1\nCASSF\n", "known loops: different, plain, of the lengths")
    check(pgen.sequences_of(folder / "known.fasta", 1) == ["CASF"], "and back")


# ---- text by text

def test_pairs(folder):
    def write(name, nats):
        (folder / name).mkdir()
        lines = [json.dumps({"id": str(i), "verdict": {"own_nll": n, "own_tokens": 2}}) for i, n in enumerate(nats)]
        (folder / name / "items.jsonl").write_text("".join(line + "\n" for line in reversed(lines)))

    write("top-k-k-1", [10, 100, 1000, 5])
    write("scout-token-prob", [12, 102, 1002, 7, 999999])  # a fifth, of an earlier run
    rows = [{"planner": "scout", "score": "token-prob", "items": 4}, {"planner": "top-k:k=1", "score": "margin", "items": 4}]
    planners.compare_with_one_by_one(folder, rows)
    check(rows[0]["excess_nats"] == 1 and rows[0]["excess_nats_ci95"] == [1, 1], "what differs between texts does not count", rows)
    check(rows[1]["excess_nats"] == 0, "one by one is the bar", rows)


# ---- whole runs

FAKE = {
    "olga-generate_sequences": """count = int(argument("-n"))
lines = [f"TGT\\tC{'ACDEFGHIKL'[i % 10]}{'SATR'[i % 4] * (8 + i % 4)}EQYF\\tV\\tJ" for i in range(min(count, 40))]""",
    "olga-compute_pgen": """lines = [f"{s.strip()}\\t{10.0 ** -len(s)}" for s in open(argument("-i"))]""",
}


def write_fake_olga(cache):
    folder = cache / "punt" / f"olga-{pgen.VERSION}" / "bin"
    folder.mkdir(parents=True, exist_ok=True)  # what could not be installed left it
    for name, body in FAKE.items():
        (folder / name).write_text(f"""#!{sys.executable}
import sys
def argument(name): return sys.argv[sys.argv.index(name) + 1]
{body}
open(argument("-o"), "w").write("".join(line + "\\n" for line in lines))
""")
        (folder / name).chmod(0o755)


def run(folder, *arguments):
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
                   "PIP_RETRIES": "0", "PIP_NO_INDEX": "1"}  # fmt: skip
    return subprocess.run([sys.executable, SCRIPT, "--punt", PUNT, "--out", folder / "out", "--threads", "1", "--processes", "1",
                           *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)  # fmt: skip


def write_models(folder):
    folder.mkdir(parents=True)
    for name, golden in (("bert-base-uncased", "bert"), ("cdr3vec", "esm2")):
        subprocess.run([PUNT, "convert", SOURCE / "tests/golden" / golden, folder / f"{name}.gguf"], check=True, capture_output=True)


def test_runs(folder):
    text = SOURCE / "tests/tasks/english.txt"
    refused = run(folder, "--text", folder / "none.txt")
    check(refused.returncode == 2 and "no such file" in refused.stderr, "--text that is not there", refused)
    check("bert-infill" not in run(folder, "--list").stdout, "no text, no infilling")
    check("bert-infill" in run(folder, "--list", "--text", text).stdout, "--list")
    bare = run(folder, "--quick", "--only", "bert-infill,cdr3vec", "--text", text)
    check(bare.returncode == 0 and "fetch-models bert-base-uncased" in bare.stderr and "fetch-models cdr3vec" in bare.stderr,
          "models that are not there", bare)  # fmt: skip
    write_models(folder / "cache/punt/models")
    bare = run(folder, "--quick", "--only", "cdr3vec")
    check(bare.returncode == 0 and "OLGA" in bare.stderr and "left out" in bare.stderr, "OLGA that cannot be had", bare)
    write_fake_olga(folder / "cache")
    docs = folder / "docs.md"
    docs.write_text(f"words\n{planners.BEGIN}\n### Sudoku\n\nkept\n\n{planners.END}words\n")
    command = ["--quick", "--only", "bert-infill,cdr3vec", "--text", text, "--docs", docs]
    done = run(folder, *command)
    check(done.returncode == 0, "a whole run", done)
    written = docs.read_text()
    for part in ("### Sudoku\n\nkept\n", "excess nats", "own perplexity", "token accuracy", "pgen error", "log10 pgen", "law p", "duplicates", "in reference",
                 "that OLGA drew itself", "planners-cdr3vec.svg", "| `scout` |", "**front**"):  # fmt: skip
        check(part in written, f"the report has {part!r}", written)
    for name in ("planners-bert-infill.svg", "planners-cdr3vec.svg"):
        xml.etree.ElementTree.parse(folder / name)
    rows = json.loads((folder / "out/cdr3vec/bench.json").read_text())
    check(all(12 <= r["length_mean"] <= 16 for r in rows), "loops have the lengths of loops", rows[:1])
    (folder / "cache/punt" / f"olga-{pgen.VERSION}" / "bin/olga-compute_pgen").write_text("#!/bin/false\n")
    again = run(folder, *command)
    check(again.returncode == 0 and docs.read_text() == written, "the same command has nothing left to do", again)


def main():
    test_sections()
    test_place()
    test_pictures()
    test_refusals()
    test_estimates()
    with tempfile.TemporaryDirectory() as folder:
        test_pgen(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        test_pairs(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        test_runs(pathlib.Path(folder))
    print(f"{len(failures)} failures" if failures else "bench/planners: all as it should be")
    sys.exit(1 if failures else 0)


main()
