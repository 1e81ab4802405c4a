// A frame on the page: one element per position. Only cells that changed since the last frame are touched.
//
// The canvas is one stop of the Tab key; inside it arrow keys move from token to token, which is described below
// the canvas as a pointed-at token is.
import { CELL_STATES } from "./trace.js";
import { element, uniqueId } from "./dom.js";

const MASK = "·";

export class CanvasView {
  #recording = null;
  #frame = null;
  #spans = [];
  #nameless = new Set(); // positions whose token had no text yet: a run's canvas comes before its pieces
  #active = -1;

  constructor(list, detail) {
    this.list = list;
    this.detail = detail;
    this.hint = detail.textContent;
    this.prefix = uniqueId("cell");
    list.addEventListener("pointerover", (event) => this.#describe(positionOf(event.target)));
    list.addEventListener("click", (event) => this.#activate(positionOf(event.target)));
    list.addEventListener("focus", () => this.#activate(this.#active < 0 ? this.#firstGenerated() : this.#active));
    list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  show(recording, frame) {
    if (recording !== this.#recording) this.#reset(recording, frame);
    frame.cells.forEach((cell, i) => {
      if (cell === this.#frame?.cells[i] && !this.#nameless.has(i)) return;
      if (recording.hasPiece(cell.token)) this.#nameless.delete(i);
      else this.#nameless.add(i);
      const span = this.#spans[i];
      span.className = `cell ${cell.state}`;
      const text = cell.state === "masked" ? MASK : visibleText(recording.piece(cell.token));
      if (span.textContent !== text) span.textContent = text;
    });
    this.#frame = frame;
    if (this.#active >= 0) this.#activate(this.#active);
  }

  #reset(recording, frame) {
    this.#recording = recording;
    this.#frame = null;
    this.#nameless.clear();
    this.#active = -1;
    this.#spans = frame.cells.map((_, i) => {
      const span = element("span", { id: `${this.prefix}-${i}` });
      span.setAttribute("role", "option");
      span.dataset.position = i;
      return span;
    });
    this.list.replaceChildren(...this.#spans);
    this.list.removeAttribute("aria-activedescendant");
    this.detail.textContent = this.hint;
  }

  #firstGenerated() {
    return Math.max(0, this.#frame?.cells.findIndex((cell) => cell.state !== "prompt") ?? -1);
  }

  #describe(position) {
    const cell = this.#frame?.cells[position];
    if (cell) this.detail.textContent = describeCell(cell, position, this.#recording.piece(cell.token));
  }

  #activate(position) {
    const span = this.#spans[position];
    if (!span) return;
    this.#spans[this.#active]?.removeAttribute("aria-label");
    this.#spans[this.#active]?.removeAttribute("aria-selected");
    this.#active = position;
    this.#describe(position);
    span.setAttribute("aria-label", this.detail.textContent);
    span.setAttribute("aria-selected", "true");
    this.list.setAttribute("aria-activedescendant", span.id);
    if (document.activeElement === this.list) span.scrollIntoView({ block: "nearest" });
  }

  #onKey(event) {
    const last = this.#spans.length - 1;
    const target = {
      ArrowLeft: () => Math.max(0, this.#active - 1),
      ArrowRight: () => Math.min(last, this.#active + 1),
      ArrowUp: () => this.#neighbourLine(-1),
      ArrowDown: () => this.#neighbourLine(1),
      Home: () => 0,
      End: () => last,
    }[event.key];
    if (!target || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#activate(target());
  }

  /** The position above or below, by where the browser put the tokens. */
  #neighbourLine(direction) {
    const here = this.#spans[this.#active].getClientRects()[0];
    let best = this.#active;
    let bestTop = null;
    let bestDistance = Infinity;
    for (let i = this.#active + direction; i >= 0 && i < this.#spans.length; i += direction) {
      const box = this.#spans[i].getClientRects()[0];
      if (!box || (box.top - here.top) * direction < here.height / 2) continue;
      bestTop ??= box.top;
      if (Math.abs(box.top - bestTop) > here.height / 2) break;
      const distance = Math.abs(box.left - here.left);
      if (distance < bestDistance) [best, bestDistance] = [i, distance];
    }
    return best;
  }
}

function positionOf(target) {
  return Number(target.dataset?.position ?? -1);
}

/** Line breaks are seen as well as obeyed; control characters cannot do anything but be seen. */
export function visibleText(piece) {
  return piece
    .replace(/[\0-\x08\x0b-\x1f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd")
    .replaceAll("\t", "→\t")
    .replaceAll("\n", "↵\n");
}

export function describeCell(cell, position, piece) {
  if (cell.state === "masked") return `position ${position}: masked`;
  const parts = [`position ${position}: ${JSON.stringify(piece)}`];
  if (cell.state === "earlier")
    parts.push(cell.step === null ? "filled behind the end" : `committed in step ${cell.step}`);
  else if (cell.state === "prompt") parts.push("prompt");
  else parts.push(`${CELL_STATES[cell.state].replace(" in this step", "")} in step ${cell.step}`);
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
