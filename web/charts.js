// Two small drawings of a run over its steps: tokens committed, and how much of what stands is punctuation.
import { structureOf } from "./structure.js";
import { element, svgElement } from "./dom.js";

const WIDTH = 360;
const HEIGHT = 96;
const PLOT = { left: 34, right: WIDTH - 6, top: 8, bottom: HEIGHT - 18 };

/** What both charts show of a step. */
export function chartPoint(recording, frame) {
  const accepted = frame.cells.filter((cell) => cell.state === "accepted").length;
  return { accepted, ...structureOf(recording, frame) };
}

/** Axes that are long enough for all of `list`. */
export function widest(list) {
  const longest = (name) => Math.max(0, ...list.map((axes) => axes[name]));
  return { steps: longest("steps"), most: longest("most"), top: longest("top") };
}

export class Charts {
  #recording = null;
  #seen = 0; // frames of it
  #drawn = ""; // what the drawings show
  #points = []; // per step; the start and the end commit nothing

  constructor(root) {
    this.committed = new Chart(root, "Tokens committed per step");
    this.structure = new Chart(root, "Punctuation and line breaks among the tokens so far");
  }

  /** The axes that a run needs: so many steps, most tokens of a step, largest share. */
  measure(recording) {
    this.#collect(recording);
    const most = largest(this.#points.map((point) => point.accepted), 1);
    const share = largest(this.#points.map((point) => point.share ?? 0), 0.1);
    return { steps: this.#points.length, most, top: Math.ceil(share * 10) / 10 };
  }

  /** `axes`: at least the run's own, more to compare with another run. Only texts have punctuation. */
  update(recording, axes, isText = true) {
    this.structure.figure.hidden = !isText;
    const { steps, most, top } = widest([this.measure(recording), axes]);
    const wanted = [this.#seen, steps, most, top].join();
    if (wanted === this.#drawn) return;
    this.#drawn = wanted;
    const accepted = this.#points.map((point) => point.accepted);
    this.committed.draw(steps, most, String, [bars(accepted, most, steps)]);
    const shares = this.#points.map((point) => point.share ?? 0);
    this.structure.draw(steps, top, percent, [level(shares.at(-1) ?? 0, top), line(shares, top, steps)]);
  }

  #collect(recording) {
    if (recording !== this.#recording) {
      [this.#recording, this.#seen, this.#points, this.#drawn] = [recording, 0, [], ""];
    }
    for (; this.#seen < recording.frames.length; ++this.#seen) {
      const frame = recording.frames[this.#seen];
      if (this.#seen > 0 && !frame.end) this.#points.push(chartPoint(recording, frame));
    }
  }

  /** `step` counts from 1; 0 and what is beyond the last step mark nothing. */
  mark(step) {
    const point = this.#points[step - 1];
    const sum = `${this.#points.length} steps`;
    this.committed.mark(point ? step : 0, point ? `step ${step}: ${point.accepted}, in all ${point.committed}` : sum);
    const share = (point ?? this.#points.at(-1))?.share ?? null;
    const where = point ? `step ${step}` : "in the end";
    this.structure.mark(point ? step : 0, share === null ? "" : `${where}: ${percent(share)}`);
  }
}

class Chart {
  #steps = 1;

  constructor(root, title) {
    this.title = title;
    this.value = element("span", { className: "value" });
    this.cursor = svgElement("line", { class: "cursor", y1: PLOT.top, y2: PLOT.bottom, visibility: "hidden" });
    this.svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
    this.figure = element("figure", {}, element("figcaption", {}, `${title} `, this.value), this.svg);
    root.append(this.figure);
  }

  draw(steps, high, format, marks) {
    this.#steps = steps;
    const frame = svgElement("path", { class: "axis", d: `M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}` });
    this.svg.replaceChildren(
      frame,
      ...marks,
      this.cursor,
      label(PLOT.left - 4, PLOT.top + 8, "end", format(high)),
      label(PLOT.left - 4, PLOT.bottom, "end", format(0)),
      label(PLOT.left, HEIGHT - 4, "start", "1"),
      label(PLOT.right, HEIGHT - 4, "end", String(Math.max(1, steps))),
    );
  }

  mark(step, text) {
    const x = step > 0 ? stepX(step - 1, this.#steps) : 0;
    this.cursor.setAttribute("x1", x);
    this.cursor.setAttribute("x2", x);
    this.cursor.setAttribute("visibility", step > 0 ? "visible" : "hidden");
    this.value.textContent = text;
    this.svg.setAttribute("aria-label", text === "" ? this.title : `${this.title}, ${text}`);
  }
}

function stepX(index, steps) {
  return round(PLOT.left + ((index + 0.5) / Math.max(1, steps)) * (PLOT.right - PLOT.left));
}

function heightY(share) {
  return round(PLOT.bottom - share * (PLOT.bottom - PLOT.top));
}

/** One path for all of them: a long run has a thousand. */
function bars(values, most, steps) {
  const width = round(((PLOT.right - PLOT.left) / Math.max(1, steps)) * 0.8);
  const bar = (value, i) => {
    const x = round(stepX(i, steps) - width / 2);
    return `M${x} ${PLOT.bottom}V${heightY(value / most)}h${width}V${PLOT.bottom}z`;
  };
  return svgElement("path", { class: "bar", d: values.map(bar).join("") });
}

function line(values, most, steps) {
  const points = values.map((value, i) => `${stepX(i, steps)},${heightY(value / most)}`);
  return svgElement("polyline", { class: "line", points: points.join(" ") });
}

function level(value, most) {
  return svgElement("path", { class: "level", d: `M${PLOT.left} ${heightY(value / most)}H${PLOT.right}` });
}

function label(x, y, anchor, text) {
  const node = svgElement("text", { x, y, "text-anchor": anchor });
  node.textContent = text;
  return node;
}

/** Without Math.max(...values), which a long run would overflow. */
function largest(values, floor) {
  return values.reduce((most, value) => Math.max(most, value), floor);
}

function round(value) {
  return Math.round(value * 100) / 100;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
