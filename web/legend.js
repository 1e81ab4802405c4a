// What the looks of the canvas mean, for the looks that occur.
import { AGES } from "./faces.js";
import { element } from "./dom.js";

const MEANINGS = {
  masked: ["·", "masked"],
  draft: ["text", "draft of a whole answer that fits the shape"],
  candidate: ["text", "under test"],
  rejected: ["text", "tried and rejected"],
  accepted: ["text", "just accepted"],
  edited: ["text", "replaced"],
  remasked: ["text", "taken back"],
};

/** States of all frames of a recording, looked at once. */
export class SeenStates {
  #recording = null;
  #seen = 0;
  #states = new Set();

  of(recording) {
    if (recording !== this.#recording) [this.#recording, this.#seen, this.#states] = [recording, 0, new Set()];
    for (; this.#seen < recording.frames.length; ++this.#seen) this.#look(recording.frames[this.#seen]);
    if (recording.current?.isStepOpen) this.#look(recording.current);
    return this.#states;
  }

  #look(frame) {
    for (const cell of frame.cells) this.#states.add(cell.state);
  }
}

export class Legend {
  #shown = "";

  constructor(list) {
    this.list = list;
  }

  show(states) {
    const rows = Object.keys(MEANINGS).filter((state) => states.has(state));
    const wanted = [...rows, states.has("earlier")].join();
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    const items = rows.map((state) => {
      const [text, meaning] = MEANINGS[state];
      return element("li", {}, element("span", { className: `cell ${state}`, text }), ` ${meaning}`);
    });
    if (states.has("earlier")) items.push(ages());
    this.list.replaceChildren(...items);
  }
}

function ages() {
  const scale = element("span", { className: "ages" });
  scale.setAttribute("aria-hidden", "true");
  for (let i = 0; i < AGES; ++i) scale.append(element("span", { className: `cell age-${i}`, text: "\u00a0" }));
  return element("li", {}, "first ", scale, " last to be written");
}
