// A run as one SVG file that plays by itself, also in an <img>: no script, no font, no request, light and dark.
//
// What a position looks like changes a few times in a run. Every look is drawn once, together with all others that
// appear and disappear with the same frames, in a group whose visibility is animated in steps. Masks are drawn
// below everything. Without animation, and for readers who asked for less motion, the last frame is seen.
import { AGES, Faces, fit, shadeOf } from "./faces.js";
import { modelName } from "./spec.js";
import { boardVerdict, boxColumns, boxRows, isSpecial, shapeOf } from "./shapes.js";
import { layOut } from "./text_layout.js";
import { cellOf, nfeOf, stands } from "./trace.js";

const HOLD = 2500; // milliseconds that the last frame stays
const MARGIN = 20;
const HEAD = 52; // above the canvas: title and facts
const FOOT = 44; // below it: progress
const LETTER = 8.6; // width of a letter of the canvas
const LINE = 28;
const TEXT_COLUMNS = 76;
const BOARD_CELL = 40;
const RESIDUE = { width: 13, line: 46, gap: 12, row: 60, group: 10 };

const STYLE = `
:root{--card:#fff;--text:#1c1b2b;--quiet:#5c5b70;--line:#dddbe8;--mask:#eceaf3;--ghost:#8d8b9f;--accent:#5b3fd6;--on:#fff;--back:#8a3a00;
--a0:#dcdffb;--a1:#e3d9fb;--a2:#eed6f8;--a3:#f8d5ec;--a4:#fcd8db;--a5:#fddfc9;--a6:#fcebbd;--a7:#eef5ba}
@media(prefers-color-scheme:dark){:root{--card:#1b1a26;--text:#ecebf5;--quiet:#a9a7bd;--line:#33313f;--mask:#282636;--ghost:#77758a;--accent:#b7a6ff;--on:#17132b;--back:#ffb77a;
--a0:#2a2f63;--a1:#382c68;--a2:#4a2a66;--a3:#5a2953;--a4:#602c3c;--a5:#5e3726;--a6:#56441a;--a7:#46501c}}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.m{text-anchor:middle}.title{font-weight:700;font-size:16px}.quiet{font-size:12px;fill:var(--quiet)}.big text{font-size:21px}.big .ghost text{font-size:14px}
.prompt text,.fresh text{font-weight:700}.masked path,.ghost path,.remasked path{fill:var(--mask)}.masked text,.ghost text{fill:var(--ghost)}
.ghost text{font-style:italic}.fresh path{fill:var(--accent)}.fresh text{fill:var(--on);text-decoration:underline}.changed text{font-weight:700;text-decoration:underline double}
.prompt path{fill:none}.big .prompt path{fill:var(--mask)}.big .masked path,.big .ghost path{fill:var(--card)}
.remasked text{fill:var(--back);text-decoration:line-through}.filler path{fill:var(--card)}.filler text{fill:var(--quiet)}
.grid{stroke:var(--line);fill:none}.box{stroke:var(--text);stroke-width:2;fill:none}
${Array.from({ length: AGES }, (_, i) => `.age${i} path{fill:var(--a${i})}`).join("")}`;

/** `pace`: milliseconds per frame; `title`: of the run. */
export function exportSvg(recording, { pace, title }) {
  const shape = shapeOf(recording) ?? { kind: "text" };
  const drawing = { board: boardDrawing, residues: residueDrawing, text: textDrawing }[shape.kind](recording, shape);
  const clock = new Clock(recording.frames.length, pace);
  const width = Math.max(420, drawing.width) + 2 * MARGIN;
  const height = HEAD + drawing.height + FOOT;
  const { run } = recording.current;
  const facts = `${modelName(run.model)} · seed ${run.seed} · temperature ${run.temperature} · punt`;
  const left = MARGIN + Math.max(0, (width - 2 * MARGIN - drawing.width) / 2);
  const body =
    `<rect width="${width}" height="${height}" rx="12" fill="var(--card)" stroke="var(--line)"/>` +
    `<text class="title" x="${MARGIN}" y="26">${escape(title)}</text>` +
    `<text class="quiet" x="${MARGIN}" y="43">${escape(facts)}</text>` +
    `<g transform="translate(${left} ${HEAD})"${shape.kind === "board" ? ' class="big"' : ""}>` +
    `${groups(recording, drawing, clock)}${drawing.over}</g>` +
    footer(recording, shape, clock, { width, top: HEAD + drawing.height });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">` +
    `<title>${escape(title)}</title><style>${STYLE}${clock.style()}</style>${body}</svg>\n`
  );
}

/** Stretches of frames as animations. */
class Clock {
  #names = new Map(); // "from to" -> rule

  constructor(frames, pace) {
    this.frames = frames;
    this.pace = pace;
    this.total = (frames - 1) * pace + HOLD;
  }

  percent(frame) {
    return Number(((100 * frame * this.pace) / this.total).toFixed(3));
  }

  /** Attributes of an element that is seen in frames from..to-1. */
  during(from, to) {
    if (from === 0 && to === this.frames) return "";
    const name = `f${from}-${to}`;
    if (!this.#names.has(name)) {
      const isLast = to === this.frames;
      const steps = [`0%{opacity:${from === 0 ? 1 : 0}}`];
      if (from > 0) steps.push(`${this.percent(from)}%{opacity:1}`);
      if (!isLast) steps.push(`${this.percent(to)}%{opacity:0}`);
      const after = isLast ? 1 : 0;
      this.#names.set(name, `@keyframes ${name}{${steps.join("")}100%{opacity:${after}}}.${name}{opacity:${after};animation-name:${name}}`);
    }
    return ` class="k ${name}"`;
  }

  style() {
    const bar = Array.from({ length: this.frames }, (_, i) => `${this.percent(i)}%{transform:scaleX(${ratio(i, this.frames - 1)})}`);
    return (
      `.k{animation:${this.total}ms step-end infinite}@keyframes bar{${bar.join("")}100%{transform:none}}` +
      `.bar{fill:var(--accent);animation-name:bar}${[...this.#names.values()].join("")}` +
      `@media(prefers-reduced-motion:reduce){.k{animation:none}}`
    );
  }
}

/** Groups of all looks, in the order in which they appear. */
function groups(recording, drawing, clock) {
  const found = new Map();
  const add = (from, to, look, mark) => {
    const key = `${from} ${to} ${look}`;
    if (!found.has(key)) found.set(key, { from, to, look, paths: "", texts: "" });
    found.get(key).paths += mark.path;
    found.get(key).texts += mark.text;
  };
  for (const position of drawing.positions) {
    const stretches = looks(recording, position);
    if (recording.frames[0].cells[position].state === "masked")
      add(0, clock.frames, "masked", drawing.mark(position, recording.frames[0].cells[position]));
    for (const { from, to, look, cell } of stretches)
      if (look !== "masked") add(from, to, look, drawing.mark(position, cell));
  }
  return [...found.values()]
    .sort((a, b) => (a.look === "masked" ? -1 : 0) - (b.look === "masked" ? -1 : 0) || a.from - b.from)
    .map(({ from, to, look, paths, texts }) => {
      const path = paths === "" ? "" : `<path d="${paths}"/>`;
      return `<g${clock.during(from, to)}><g class="${look}">${path}${texts}</g></g>`;
    })
    .join("");
}

/** How a position looks over the frames: stretches [from, to) of one look. */
export function looks(recording, position) {
  const stretches = [];
  recording.frames.forEach((frame, i) => {
    // Until a text has the length that it ends with, its positions are others: they are drawn as masks.
    const isFinal = frame.cells.length === recording.frames.at(-1).cells.length;
    const cell = isFinal ? frame.cells[position] : cellOf("masked", frame.run.mask_token);
    const look = lookOf(cell);
    const last = stretches.at(-1);
    if (last?.look === look && last.cell.token === cell.token) last.to = i + 1;
    else stretches.push({ from: i, to: i + 1, look, cell });
  });
  return stretches;
}

function lookOf(cell) {
  if (cell.state === "accepted") return "fresh";
  if (cell.state === "edited") return "changed";
  if (["rejected", "candidate", "draft"].includes(cell.state)) return "ghost";
  if (cell.state !== "earlier") return cell.state;
  return cell.step === null ? "filler" : `age${shadeOf(cell)}`;
}

function textDrawing(recording) {
  const faces = new Faces(recording);
  const ends = faces.freeze();
  const { places, rows } = layOut(ends, TEXT_COLUMNS);
  const mark = (position, cell) => {
    const face = isOpen(cell) ? faces.of(cell, position) : fitAll(faces.of(cell, position), ends[position]);
    const letters = [...face];
    let path = "";
    let text = "";
    for (const { row, column, from, to } of places[position]) {
      const [x, y] = [column * LETTER, row * LINE];
      path += box(x, y + 3, (to - from) * LETTER - (isOpen(cell) ? 1 : 0), LINE - 6); // masks are seen apart
      text += line(letters.slice(from, to).join(""), x, y + 19);
    }
    return { path, text };
  };
  const columns = Math.max(1, ...places.flat().map(({ column, from, to }) => column + to - from));
  return { positions: ends.keys(), mark, width: round(columns * LETTER), height: rows * LINE, over: "" };
}

function isOpen(cell) {
  return cell.state === "prompt" || !stands(cell);
}

/** A token that was taken back may have been longer than what stands there in the end. */
function fitAll(face, end) {
  return face === end ? face : fit(face, end);
}

function boardDrawing(recording, { size, cells }) {
  const index = new Map(cells.map((position, i) => [position, i]));
  const side = size * BOARD_CELL;
  const mark = (position, cell) => {
    const [x, y] = [(index.get(position) % size) * BOARD_CELL, Math.floor(index.get(position) / size) * BOARD_CELL];
    return { path: box(x, y, BOARD_CELL, BOARD_CELL), text: centred(recording, cell, x + BOARD_CELL / 2, y + 27) };
  };
  let grid = "";
  let boxes = box(0, 0, side, side);
  for (let i = 1; i < size; ++i) {
    const down = `M${i * BOARD_CELL} 0V${side}`;
    const across = `M0 ${i * BOARD_CELL}H${side}`;
    grid += down + across;
    if (i % boxColumns(size) === 0) boxes += down;
    if (i % boxRows(size) === 0) boxes += across;
  }
  const over = `<path class="grid" d="${grid}"/><path class="box" d="${boxes}"/>`;
  return { positions: cells, mark, width: side, height: side, over };
}

function residueDrawing(recording, { cells }) {
  const index = new Map(cells.map((position, i) => [position, i]));
  const { width, line: height, gap, row, group } = RESIDUE;
  const xOf = (i) => (i % row) * width + Math.floor((i % row) / group) * gap;
  const yOf = (i) => Math.floor(i / row) * height;
  const mark = (position, cell) => {
    const [x, y] = [xOf(index.get(position)), yOf(index.get(position))];
    return { path: box(x, y + 16, width, 22), text: centred(recording, cell, x + width / 2, y + 32, "·") };
  };
  let over = "";
  for (let i = 0; i < cells.length; i += group) over += `<text class="quiet" x="${xOf(i)}" y="${yOf(i) + 11}">${i + 1}</text>`;
  const last = Math.min(cells.length, row) - 1;
  return { positions: cells, mark, width: xOf(last) + width, height: (Math.ceil(cells.length / row)) * height, over };
}

/** One letter in the middle of its cell. */
function centred(recording, cell, x, y, mask = "") {
  const piece = recording.piece(cell.token);
  const letter = cell.state === "masked" ? mask : isSpecial(piece) ? "∎" : [...piece.trim()].slice(0, 1).join("");
  return letter === "" ? "" : `<text class="m" x="${round(x)}" y="${y}">${escape(letter)}</text>`;
}

/** Letters of one line, without the blanks around them. */
function line(text, x, y) {
  const [, before, body] = /^(\s*)(.*?)\s*$/su.exec(text);
  const count = [...body].length;
  if (count === 0) return "";
  const length = count > 1 ? ` textLength="${round(count * LETTER)}"` : "";
  return `<text x="${round(x + [...before].length * LETTER)}" y="${y}"${length}>${escape(body)}</text>`;
}

function footer(recording, shape, clock, { width, top }) {
  const bar = `<rect x="${MARGIN}" y="${top + 10}" width="${width - 2 * MARGIN}" height="4" rx="2" fill="var(--mask)"/>`;
  const fill = `<g transform="translate(${MARGIN} ${top + 10})"><rect class="k bar" width="${width - 2 * MARGIN}" height="4" rx="2"/></g>`;
  const captions = recording.frames.map((frame, i) => {
    const text = `<text class="quiet" x="${MARGIN}" y="${top + 32}">${escape(caption(recording, frame, shape))}</text>`;
    return `<g${clock.during(i, i + 1)}>${text}</g>`;
  });
  return bar + fill + captions.join("");
}

function caption(recording, frame, shape) {
  const { base, test } = frame.counters;
  const cost = `${nfeOf(frame)} passes of the model${test > 0 ? ` (${base} + ${test} tests)` : ""}`;
  if (!frame.end) return frame.step === 0 ? `${frame.generated} positions to fill` : `step ${frame.step} · ${cost}`;
  if (shape.kind !== "board") return `${frame.committed} tokens · ${cost}`;
  return `${boardVerdict(shape.cells.map((position) => recording.piece(frame.cells[position].token).trim()), shape.size)} · ${cost}`;
}

function box(x, y, width, height) {
  return `M${round(x)} ${round(y)}h${round(width)}v${height}h${-round(width)}z`;
}

function ratio(part, whole) {
  return whole === 0 ? 1 : round(part / whole, 4);
}

function round(value, digits = 1) {
  return Number(value.toFixed(digits));
}

function escape(text) {
  return text
    .replace(/[\0-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
