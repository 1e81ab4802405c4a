"""Pictures and intervals for bench/planners, by report_tool: the ones of src/report."""

import json
import pathlib
import subprocess
import sys

tool = pathlib.Path(__file__).resolve().parent.parent / "build/release/report_tool"

FRONT, LEVEL, BELOW = "on the front", "level: intervals meet", "below"
COLOURS = {BELOW: 6, LEVEL: 1, FRONT: 2}  # grey, blue, green; orange is PUNT's
CIRCLE, SQUARE = 0, 1


def ask(what, request):
    done = subprocess.run([tool, what], input=json.dumps(request), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench/planners: {done.stderr.strip()}")
    return done.stdout


def mean(values):
    """The mean and its interval of 95 %, [low, high]; none from fewer than three values."""
    answer = json.loads(ask("estimate", [{"values": values}]))[0]
    return answer["value"], answer["ci95"]


def difference(values, others):
    """The same of the mean of `values` less that of `others`."""
    answer = json.loads(ask("estimate", [{"values": values, "less": others}]))[0]
    return answer["value"], answer["ci95"]


def place_of(place):
    return FRONT if "front" in place else LEVEL if place == "level" else BELOW


def quality_svg(title, quality, points, less):
    """Quality against passes, which are on a logarithmic axis. `points`: (passes, value, [low, high] or None, name, place), of
    which those of the front are named, and those of scout, which are squares."""
    series = [{"name": f"scout, {place}" if is_ours else place, "colour": colour, "marker": SQUARE if is_ours else CIRCLE, "points": [
                  {"x": passes, "y": value, "range": ends, "label": f"{name}: {passes:.4g} passes, {quality} {value:.3g}",
                   "caption": name if is_ours or place == FRONT else ""}
                  for passes, value, ends, name, rank in points if name.startswith("scout") == is_ours and place_of(rank) == place]}
              for place, colour in COLOURS.items() for is_ours in (False, True)]  # fmt: skip
    return ask("plot", {"title": title, "width": 760, "height": 440, "x": {"label": "forward passes", "log": True},
                        "y": {"label": f"{quality} ({'less' if less else 'more'} is better)"},
                        "series": [one for one in series if one["points"]]})  # fmt: skip


def growth_svg(points):
    """Lines of passes over entries, both axes logarithmic. `points`: [(entries, {name: row or None})]."""
    series = [{"name": name, "colour": colour, "marker": i, "line": True, "points": [
                  {"x": entries, "y": rows[name]["nfe_mean"], "label": f"{name}: {rows[name]['planner']}, {rows[name]['nfe_mean']:.4g}"}
                  for entries, rows in points if rows[name]]}
              for i, (name, colour) in enumerate(zip(points[0][1], (6, 4, 1, 2)))]  # fmt: skip
    return ask("plot", {"title": "forward passes of a document against its entries", "width": 720, "height": 400,
                        "x": {"label": "entries", "log": True}, "y": {"label": "forward passes", "log": True},
                        "series": [one for one in series if one["points"]]})  # fmt: skip
