// A frame on the page: one element per position, as running text, as a board, or as residues in groups of ten. Only
// cells that changed since the last frame are touched.
//
// The canvas is one stop of the Tab key; inside it arrow keys move from token to token, which is described below
// the canvas as a pointed-at token is.
import { CELL_STATES, stands } from "./trace.js";
import { boardVerdict, boxColumns, boxRows, clashes, isSpecial, shapeOf } from "./shapes.js";
import { element, uniqueId } from "./dom.js";
import { Faces, shadeOf } from "./faces.js";

const GROUP = 10; // residues between two numbers

export class CanvasView {
  #recording = null;
  #frame = null;
  #shape = null;
  #faces = null;
  #spans = new Map(); // position -> element, of the positions that are shown
  #order = []; // these positions as they are read
  #nameless = new Set(); // positions whose token had no text yet: a run's canvas comes before its pieces
  #active = -1;
  #length = 0; // of the canvas that is shown; some models change it

  constructor(list, detail, verdict) {
    this.list = list;
    this.detail = detail;
    this.verdict = verdict;
    this.hint = detail.textContent;
    this.prefix = uniqueId("cell");
    list.addEventListener("pointerover", (event) => this.#describe(positionOf(event.target)));
    list.addEventListener("click", (event) => this.#activate(positionOf(event.target)));
    list.addEventListener("focus", () => this.#activate(this.#active < 0 ? this.#firstGenerated() : this.#active));
    list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  get shape() {
    return this.#shape ?? { kind: "text" };
  }

  show(recording, frame) {
    const isNew = recording !== this.#recording;
    if (isNew) this.#faces = new Faces(recording);
    const shape = isNew || this.#shape === null ? shapeOf(recording) : this.#shape;
    if (isNew || shape !== this.#shape || frame.cells.length !== this.#length) this.#arrange(recording, frame, shape);
    if (this.#faces.update()) this.#frame = null; // widths are known now
    for (const position of this.#order) this.#showCell(frame, position);
    this.#frame = frame;
    if (shape?.kind === "board") this.#judge(frame);
    if (this.#active >= 0) this.#activate(this.#active);
  }

  #showCell(frame, position) {
    const cell = frame.cells[position];
    if (cell === this.#frame?.cells[position] && !this.#nameless.has(position)) return;
    if (this.#recording.hasPiece(cell.token)) this.#nameless.delete(position);
    else this.#nameless.add(position);
    const span = this.#spans.get(position);
    const isSure = cell.state === "draft" && cell.confidence > 0.99;
    const shade = cell.state === "earlier" ? ` age-${shadeOf(cell)}` : isSure ? " sure" : "";
    span.className = `cell ${cell.state}${cell.step === null && cell.state === "earlier" ? " filler" : shade}`;
    const text = this.#face(cell, position);
    if (span.textContent !== text) span.textContent = text;
    if (position !== this.#active) nameBlank(span);
  }

  /** Cells of one size hold one letter. */
  #face(cell, position) {
    if (this.shape.kind === "text") return this.#faces.of(cell, position, this.#length);
    if (cell.state === "masked" || cell.state === "draft") return "·";
    const piece = this.#recording.piece(cell.token);
    return isSpecial(piece) ? "∎" : [...piece.trim()].slice(0, 1).join("");
  }

  #arrange(recording, frame, shape) {
    [this.#recording, this.#shape, this.#frame, this.#active] = [recording, shape, null, -1];
    this.#length = frame.cells.length;
    this.#nameless.clear();
    const isMark = (cell) => cell.state === "prompt" && isSpecial(recording.piece(cell.token));
    this.#order = shape?.cells ?? frame.cells.flatMap((cell, i) => (isMark(cell) ? [] : [i]));
    this.#spans = new Map(this.#order.map((position) => [position, this.#option(position)]));
    const nodes = [...this.#spans.values()];
    this.list.className = `canvas ${this.shape.kind}${shape?.kind === "board" ? ` size-${shape.size}` : ""}`;
    this.list.replaceChildren(...(shape?.kind === "residues" ? groups(nodes) : nodes));
    this.list.removeAttribute("aria-activedescendant");
    this.detail.textContent = this.hint;
    this.verdict.textContent = shape?.kind === "residues" ? `${this.#order.length} residues` : "";
  }

  #option(position) {
    const span = element("span", { id: `${this.prefix}-${position}` });
    span.setAttribute("role", "option");
    span.dataset.position = position;
    return span;
  }

  /** Thick lines between boxes, and what stands twice where it may stand once. */
  #judge(frame) {
    const { size, cells } = this.#shape;
    const values = cells.map((position) => {
      const cell = frame.cells[position];
      return stands(cell) ? this.#recording.piece(cell.token).trim() : "";
    });
    const bad = clashes(values, size);
    cells.forEach((position, i) => {
      const { classList } = this.#spans.get(position);
      classList.toggle("right", (i + 1) % boxColumns(size) === 0 && (i + 1) % size !== 0);
      classList.toggle("below", (Math.floor(i / size) + 1) % boxRows(size) === 0 && i < size * (size - 1));
      classList.toggle("clash", bad.has(i));
    });
    this.verdict.textContent = boardVerdict(values, size);
  }

  #firstGenerated() {
    const first = this.#order.find((position) => this.#frame?.cells[position].state !== "prompt");
    return first ?? this.#order[0] ?? -1;
  }

  #describe(position) {
    const cell = this.#frame?.cells[position];
    if (!cell) return;
    const clash = this.#spans.get(position)?.classList.contains("clash") ? ", clashes with another cell" : "";
    this.detail.textContent = describeCell(cell, position, (token) => this.#recording.piece(token)) + clash;
    this.detail.classList.toggle("alarm", cell.state === "rejected" || clash !== "");
  }

  #activate(position) {
    const span = this.#spans.get(position);
    if (!span) return;
    const last = this.#spans.get(this.#active);
    last?.removeAttribute("aria-selected");
    if (last) nameBlank(last);
    this.#active = position;
    this.#describe(position);
    span.setAttribute("aria-label", this.detail.textContent);
    span.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", span.id);
    if (document.activeElement === this.list) span.scrollIntoView({ block: "nearest" });
  }

  #onKey(event) {
    const last = this.#order.length - 1;
    const at = this.#order.indexOf(this.#active);
    const target = {
      ArrowLeft: () => this.#order[Math.max(0, at - 1)],
      ArrowRight: () => this.#order[Math.min(last, at + 1)],
      ArrowUp: () => this.#neighbourLine(-1),
      ArrowDown: () => this.#neighbourLine(1),
      Home: () => this.#order[0],
      End: () => this.#order[last],
    }[event.key];
    if (!target || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#activate(target());
  }

  /** The position above or below, by where the browser put the tokens. */
  #neighbourLine(direction) {
    const boxOf = (position) => this.#spans.get(position).getClientRects()[0];
    const here = boxOf(this.#active);
    let best = this.#active;
    let bestTop = null;
    let bestDistance = Infinity;
    for (let i = this.#order.indexOf(this.#active) + direction; i >= 0 && i < this.#order.length; i += direction) {
      const box = boxOf(this.#order[i]);
      if (!box || (box.top - here.top) * direction < here.height / 2) continue;
      bestTop ??= box.top;
      if (Math.abs(box.top - bestTop) > here.height / 2) break;
      const distance = Math.abs(box.left - here.left);
      if (distance < bestDistance) [best, bestDistance] = [this.#order[i], distance];
    }
    return best;
  }
}

/** A token that is only white space has nothing that could be read out. */
function nameBlank(span) {
  if (span.textContent.trim() === "") span.setAttribute("aria-label", "space");
  else span.removeAttribute("aria-label");
}

/** Tens with the number of their first residue above. */
function groups(nodes) {
  const all = [];
  for (let i = 0; i < nodes.length; i += GROUP) {
    const number = element("span", { className: "tick", text: String(i + 1) });
    number.setAttribute("aria-hidden", "true");
    const group = element("span", { className: "group" }, number, ...nodes.slice(i, i + GROUP));
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `residues ${i + 1} to ${Math.min(i + GROUP, nodes.length)}`);
    all.push(group);
  }
  return all;
}

function positionOf(target) {
  return Number(target.dataset?.position ?? -1);
}

export function describeCell(cell, position, pieceOf) {
  const piece = pieceOf(cell.token);
  if (cell.state === "masked") return `position ${position}: masked`;
  const parts = [`position ${position}: ${JSON.stringify(piece)}`];
  if (cell.state === "earlier")
    parts.push(cell.step === null ? "filled behind the end" : `committed in step ${cell.step}`);
  else if (cell.state === "prompt") parts.push("given");
  else parts.push(`${CELL_STATES[cell.state].replace(" in this step", "")} in step ${cell.step}`);
  if (cell.was !== undefined) parts.push(`instead of ${JSON.stringify(pieceOf(cell.was))}`);
  if (cell.confidence !== null) parts.push(`confidence ${figure(cell.confidence)}`);
  if (cell.divergence !== null) {
    const sign = cell.divergence <= cell.epsilon ? "≤" : ">";
    parts.push(`divergence ${figure(cell.divergence)} ${sign} ${figure(cell.epsilon)}`);
  } else if (cell.confidence !== null) {
    parts.push("not tested");
  }
  return parts.join(", ");
}

function figure(value) {
  if (!Number.isFinite(value)) return "infinite";
  return value !== 0 && Math.abs(value) < 0.001 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}
