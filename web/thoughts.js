// What a model thought before its answer: a block <think>...</think> that begins the text, or one that the prompt opens.

const OPEN = "<think>";
const CLOSE = "</think>";

/** {text, isOpen}: the thoughts of a frame so far, masks as dots; null when there are none. */
export function thoughtsOf(recording, frame) {
  const piece = (cell) => (cell.state === "masked" || cell.state === "draft" ? "·" : recording.piece(cell.token));
  const given = frame.cells.findIndex((cell) => cell.state !== "prompt");
  if (given < 0) return null;
  const before = frame.cells.slice(Math.max(0, given - 16), given).map(piece).join("");
  let text = frame.cells.slice(given).map(piece).join("");
  if (!before.trimEnd().endsWith(OPEN)) {
    text = text.trimStart();
    if (!text.startsWith(OPEN)) return null;
    text = text.slice(OPEN.length);
  }
  const end = text.indexOf(CLOSE);
  const thoughts = (end < 0 ? text : text.slice(0, end)).trim();
  return thoughts === "" ? null : { text: thoughts, isOpen: end < 0 };
}

/** Shows them in a <details>, which is hidden where there are none. */
export class ThoughtsView {
  constructor(root) {
    this.root = root;
    this.summary = root.querySelector("summary");
    this.body = root.querySelector("p");
  }

  show(recording, frame) {
    const thoughts = thoughtsOf(recording, frame);
    this.root.hidden = thoughts === null;
    if (thoughts === null) return;
    this.summary.textContent = thoughts.isOpen ? "Thinking…" : "Thoughts before the answer";
    this.body.textContent = thoughts.text;
  }
}
