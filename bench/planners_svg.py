"""Pictures of bench/planners, as SVG."""

import html
import math
import re

FRONT, LEVEL, OTHER = "#080", "#06c", "#999"
NICE = (1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000)


def ticks(low, high, count=5):
    """Round numbers within, about `count` of them."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= count)
    first = math.ceil(low / step)
    return [round(step * i, 10) for i in range(first, math.floor(high / step) + 1)]


def place_labels(labels, height=13):
    """Labels (x, y, text, colour) from the top down; those that would cover an earlier one move below it."""
    done = []
    for x, y, text, colour in sorted(labels, key=lambda label: label[1]):
        width = 6.2 * len(text)
        for other_x, other_y, other_text, _ in done:
            if x < other_x + 6.2 * len(other_text) and other_x < x + width and y < other_y + height and other_y < y + height:
                y = other_y + height
        done.append((x, y, text, colour))
    return done


def quality_svg(title, quality, points, less):
    """Quality against passes, which are on a logarithmic axis. `points`: (passes, value, [low, high] or None, name, place), of
    which those of the front are named, and those of scout."""
    width, height, left, right, top, bottom = 760, 420, 70, 200, 40, 50
    values = [v for _, value, ends, _, _ in points for v in (value, *(ends or ()))]
    low, high = min(values), max(values)
    low, high = low - 0.05 * (high - low or 1), high + 0.05 * (high - low or 1)
    passes = [p for p, *_ in points]
    first, last = math.log(min(passes) * 0.9), math.log(max(passes) * 1.1)

    def across(value):
        return left + (math.log(value) - first) / (last - first) * (width - left - right)

    def down(value):
        return top + (high - value) / (high - low) * (height - top - bottom)

    better = "less" if less else "more"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
             f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="20" font-size="14">{html.escape(title)}</text>'
             f'<text x="{(width - right + left) / 2}" y="{height - 12}" text-anchor="middle">forward passes</text>'
             f'<text transform="translate(16 {height / 2}) rotate(-90)" text-anchor="middle">{quality} ({better} is better)</text>']  # fmt: skip
    for value in ticks(low, high):
        parts.append(f'<line x1="{left}" x2="{width - right}" y1="{down(value):.1f}" y2="{down(value):.1f}" stroke="#eee"/>'
                     f'<text x="{left - 6}" y="{down(value) + 4:.1f}" text-anchor="end">{value:g}</text>')  # fmt: skip
    for value in NICE:
        if first <= math.log(value) <= last:
            parts.append(f'<line x1="{across(value):.1f}" x2="{across(value):.1f}" y1="{top}" y2="{height - bottom}" stroke="#eee"/>'
                         f'<text x="{across(value):.1f}" y="{height - bottom + 16}" text-anchor="middle">{value}</text>')  # fmt: skip
    labels = []
    for count, value, ends, name, place in sorted(points, key=lambda point: "front" in point[4]):
        colour = FRONT if "front" in place else LEVEL if place == "level" else OTHER
        x, y = across(count), down(value)
        if ends:
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{down(ends[0]):.1f}" y2="{down(ends[1]):.1f}" stroke="{colour}" '
                         'stroke-opacity="0.4"/>')  # fmt: skip
        is_ours = name.startswith("scout")
        parts.append(f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" fill="{colour}"/>' if is_ours else
                     f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')  # fmt: skip
        if is_ours or "front" in place:
            labels.append((x + 8, y - 5, name, colour))
    for x, y, name, colour in place_labels(labels):
        parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="11">{html.escape(name)}</text>')
    for i, (colour, text) in enumerate(((FRONT, "on the front"), (LEVEL, "level: intervals meet"), (OTHER, "below"))):
        parts.append(f'<circle cx="{width - right + 60}" cy="{top + 16 * i}" r="4" fill="{colour}"/>'
                     f'<text x="{width - right + 70}" y="{top + 4 + 16 * i}">{text}</text>')  # fmt: skip
    parts.append(f'<rect x="{width - right + 56}" y="{top + 44}" width="8" height="8" fill="none" stroke="#333"/>'
                 f'<text x="{width - right + 70}" y="{top + 52}">scout</text>')  # fmt: skip
    return "".join(parts) + "</svg>\n"


def growth_svg(points):
    """Lines of passes over entries, both axes logarithmic."""
    colours = ["#777", "#c60", "#06c", "#080"]
    names = list(points[0][1])
    width, height, left, top = 640, 360, 60, 30
    passes = [r["nfe_mean"] for _, rows in points for r in rows.values() if r]
    low, high = math.log(min(passes) * 0.8), math.log(max(passes) * 1.2)
    first, last = math.log(points[0][0]), math.log(points[-1][0]) if len(points) > 1 else math.log(points[0][0]) + 1

    def at(entries, value):
        x = left + (math.log(entries) - first) / (last - first) * (width - left - 200)
        return x, top + (high - math.log(value)) / (high - low) * (height - top - 50)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">'
             f'<rect width="{width}" height="{height}" fill="white"/><text x="{left}" y="18">forward passes of a document '
             "against its entries</text>"]  # fmt: skip
    for entries, _ in points:
        x, _ = at(entries, passes[0])
        parts.append(f'<text x="{x:.1f}" y="{height - 28}" text-anchor="middle">{entries}</text>')
    for value in (5, 10, 20, 50, 100, 200, 500):
        if low <= math.log(value) <= high:
            _, y = at(points[0][0], value)
            parts.append(f'<line x1="{left}" x2="{width - 200}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>'
                         f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')  # fmt: skip
    ends = []
    for name, colour in zip(names, colours):
        line = [at(entries, rows[name]["nfe_mean"]) for entries, rows in points if rows[name]]
        if not line:
            continue
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in line]
        ends.append([line[-1][1], name, colour])
    ends.sort()
    for i in range(1, len(ends)):  # labels that would cover each other move down
        ends[i][0] = max(ends[i][0], ends[i - 1][0] + 40)
    for y, name, colour in ends:
        for i, words in enumerate(re.split(" (?=as |and )", name)):
            text = html.escape(words)
            parts.append(f'<text x="{width - 192}" y="{y + 4 + 13 * i:.1f}" fill="{colour}">{text}</text>')
    return "".join(parts) + "</svg>\n"
