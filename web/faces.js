// What a position shows: the text of its token, a mask, or a ghost of a token that was tried and not taken.
//
// Of a run that has ended it is known how wide every position will be in the end. Masks and ghosts take that width, in
// letters of equal width, so that nothing moves while the canvas fills. In a live run they are as wide as they are.
import { isSpecial } from "./shapes.js";
import { stands } from "./trace.js";

export const MASK = "·";
export const END_MARK = "∎";
const BLANK = "\u00a0";
const LIVE_MASK = `${BLANK}${MASK}${BLANK}`;

export const AGES = 8; // shades from the first to the last token

/** Shade of a committed cell; -1 for others. */
export function shadeOf(cell) {
  return cell.age === null ? -1 : Math.min(AGES - 1, Math.floor(cell.age * AGES));
}

/** Line breaks are seen as well as obeyed; control characters cannot do anything but be seen. */
export function visibleText(piece) {
  return piece
    .replace(/[\0-\x08\x0b-\x1f]/g, (character) => String.fromCharCode(0x2400 + character.charCodeAt(0)))
    .replace(/[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd")
    .replaceAll("\t", "→\t")
    .replaceAll("\n", "↵\n");
}

/** A token as text: marks around a given text are not shown, marks that a model wrote are one sign. */
function shownText(piece, isGiven) {
  if (isSpecial(piece)) return isGiven ? "" : END_MARK;
  return visibleText(piece);
}

/** Faces of the positions of a recording, one string per cell. */
export class Faces {
  #recording;
  #ends = null; // what stands in the end, once that is known
  #first = -1; // the first position that shows anything: the blank before a text is no part of it

  constructor(recording) {
    this.#recording = recording;
  }

  /** Whether widths are those of the end. */
  get areFinal() {
    return this.#ends !== null;
  }

  /** Takes note of an end that has come; true when faces differ from now on. */
  update() {
    if (this.#ends !== null || !this.#recording.isFinished) return false;
    this.freeze();
    return true;
  }

  /** Takes the last frame for the end, also of a run that was stopped; returns its faces. */
  freeze() {
    this.#ends = this.#recording.frames.at(-1).cells.map((cell, i) => this.#text(cell, i));
    return this.#ends;
  }

  /** `length` is that of the cell's canvas: positions of one of another length are not those of the end. */
  of(cell, position, length = this.#ends?.length) {
    if (stands(cell)) return this.#text(cell, position);
    const piece = cell.state === "masked" ? null : this.#recording.piece(cell.token);
    const isBlank = piece === null || (cell.state === "draft" && isSpecial(piece)); // of a draft, only its text
    const ghost = isBlank ? null : shownText(piece, false);
    const end = this.#ends?.length === length ? this.#ends[position] : undefined;
    if (end === undefined) return ghost ?? LIVE_MASK;
    return fit(ghost, end);
  }

  #text(cell, position) {
    if (cell.state === "masked") return LIVE_MASK; // stopped before it was filled
    const text = shownText(this.#recording.piece(cell.token), cell.state === "prompt");
    return position === this.#firstPosition() ? text.replace(/^ (?=.)/s, "") : text;
  }

  #firstPosition() {
    if (this.#first >= 0) return this.#first;
    for (const [position, cell] of this.#recording.frames[0].cells.entries()) {
      if (cell.state === "prompt" && !this.#recording.hasPiece(cell.token)) return -1; // not known yet
      if (cell.state === "prompt" && isSpecial(this.#recording.piece(cell.token))) continue;
      this.#first = position;
      break;
    }
    return this.#first;
  }
}

/** A ghost, or a mask for null, in the width and with the breaks of `end`. */
export function fit(ghost, end) {
  const [, lead, body, tail] = /^(\s*)(.*?)(\s*)$/s.exec(end);
  const width = [...body].length;
  if (width === 0) return end;
  if (ghost === null) {
    const before = Math.floor((width - 1) / 2);
    return lead + BLANK.repeat(before) + MASK + BLANK.repeat(width - before - 1) + tail;
  }
  const letters = [...ghost.trim().replace(/\s/g, BLANK)].slice(0, width);
  return lead + letters.join("") + BLANK.repeat(width - letters.length) + tail;
}
