// How much of what was written is structure: line breaks, punctuation and markers of Markdown or code, as opposed
// to words and numbers.
import { stands } from "./trace.js";

/** A token without a letter or a digit, and with more than blanks; a line break counts. Special tokens do not. */
export function isStructural(piece) {
  if (/^<\|?[^<>\s]+\|?>$/.test(piece)) return false; // <s>, </s>, <|endoftext|>
  if (/[\p{L}\p{N}\uFFFD]/u.test(piece)) return false;
  return /\n|[\p{P}\p{S}]/u.test(piece);
}

/**
 * What stands on the canvas of a frame: tokens committed, and the share of structure among them (null without any).
 * What was taken back does not count, nor does what was filled behind an EOS without a step of its own.
 */
export function structureOf(recording, frame) {
  let committed = 0;
  let structure = 0;
  for (const cell of frame.cells) {
    if (!stands(cell) || cell.state === "prompt" || cell.step === null) continue;
    committed += 1;
    structure += isStructural(recording.piece(cell.token)) ? 1 : 0;
  }
  return { committed, share: committed === 0 ? null : structure / committed };
}
