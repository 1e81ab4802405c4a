// The form: what the server offers goes in, requests come out.
import { AnswerShape } from "./answer_shape.js";
import { askFor, hasHoles, modelKind } from "./prompt_text.js";
import { modelName } from "./spec.js";
import { SpecPicker } from "./spec_picker.js";

const PROMPT_LABELS = { chat: "Message", sudoku: "Board, dots for blanks", protein: "Sequence", text: "Text to continue" };

export class Controls {
  #wanted = 0; // tokens that were asked for; the field shows what there is room for
  #room = Infinity;
  defaults = {}; // settings as the server has them
  kind = "text";
  isReady = false;

  constructor() {
    this.form = byId("controls");
    this.shape = new AnswerShape(byId("shape"));
    this.form.addEventListener("change", (event) => {
      if (event.target === byId("max-tokens")) this.#wanted = event.target.valueAsNumber;
      this.#arrange();
    });
    byId("prompt").addEventListener("input", () => this.#arrange());
    byId("insert-gap").addEventListener("click", () => this.#insertGap());
  }

  /** Builds the controls from the server's properties and unlocks them. */
  setUp({ model, planners, scores, caches, defaults, limits }) {
    const pick = (id, label, rows, selected) => new SpecPicker(byId(id), { label, rows, selected });
    this.planner = pick("planner-a", "Planner", planners, defaults.planner);
    const second = planners.find((row) => row.name === "top-k") ?? planners[0];
    this.second = pick("planner-b", "Second planner", planners, second.name);
    this.score = pick("score", "Confidence score", scores, defaults.score);
    this.cache = pick("cache", "Cache", caches, defaults.cache ?? "none");
    this.kind = modelKind(model);
    this.model = modelName(model.name);
    byId("modes").hidden = !model.has_chat_template;
    if (model.has_chat_template) this.form.elements.mode.value = "chat";
    this.positions = Math.min(limits.max_tokens, model.max_length || limits.max_tokens);
    this.#wanted = Math.min(defaults.max_tokens, this.positions);
    byId("window").max = this.positions;
    byId("temperature").value = defaults.temperature;
    byId("top-p").value = defaults.top_p;
    byId("settings").disabled = false;
    this.isReady = true;
    this.setRoom(this.positions);
    this.defaults = this.settings;
  }

  get mode() {
    return byId("modes").hidden ? "completion" : this.form.elements.mode.value;
  }

  get isComparing() {
    return byId("compare").checked;
  }

  get isLinked() {
    return byId("link").checked;
  }

  get isTogether() {
    return byId("order").value === "together";
  }

  /** The text whose length decides how much can be written; null where the text itself says how much that is. */
  get measuredText() {
    const text = byId("prompt").value;
    return this.mode === "chat" || this.kind === "sudoku" || hasHoles(text) ? null : text;
  }

  /** So many tokens fit behind the prompt. */
  setRoom(room) {
    this.#room = Math.max(1, Math.min(room, this.positions));
    this.#arrange();
  }

  /** What a link holds. */
  get settings() {
    return {
      prompt: byId("prompt").value,
      model: this.model,
      mode: this.mode,
      planner: this.planner.spec,
      second: this.isComparing ? this.second.spec : "",
      compare: this.isComparing,
      order: byId("order").value,
      score: this.score.spec,
      cache: this.cache.spec,
      tokens: this.#wanted,
      seed: byId("seed").valueAsNumber,
      temperature: byId("temperature").valueAsNumber,
      top_p: byId("top-p").valueAsNumber,
      window: byId("window").valueAsNumber,
      fresh: byId("new-seed").checked,
      shape: this.shape.kind,
      schema: this.shape.value,
    };
  }

  /** Sets what `given` holds, and everything else as the server has it. */
  apply(given) {
    const settings = { ...this.defaults, compare: false, fresh: false, ...given };
    byId("prompt").value = settings.prompt ?? "";
    if (["completion", "chat"].includes(settings.mode)) this.form.elements.mode.value = settings.mode;
    this.planner.spec = settings.planner;
    if (settings.second) this.second.spec = settings.second;
    this.score.spec = settings.score;
    this.cache.spec = settings.cache;
    byId("compare").checked = settings.compare;
    if (["sequence", "together"].includes(settings.order)) byId("order").value = settings.order;
    byId("new-seed").checked = settings.fresh;
    this.#wanted = settings.tokens;
    byId("seed").value = settings.seed ?? 0;
    byId("temperature").value = settings.temperature;
    byId("top-p").value = settings.top_p;
    byId("window").value = settings.window;
    this.shape.apply(settings.shape, settings.schema);
    this.#arrange();
  }

  /** Goes to the first field that is not valid, unfolded, and says what is wrong with it; "" when there is none. */
  complaint() {
    for (const field of this.form.elements) field.removeAttribute("aria-invalid");
    this.shape.complain("");
    const invalid = [...this.form.elements].find((field) => isInUse(field) && !field.checkValidity());
    if (!invalid && this.shape.complain()) {
      this.shape.focus();
      return `Shape of the answer: ${this.shape.error.textContent}`;
    }
    if (!invalid) return "";
    for (let node = invalid.parentElement; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    invalid.setAttribute("aria-invalid", "true");
    invalid.focus();
    const name = invalid.closest("label")?.querySelector("span")?.textContent ?? invalid.id;
    return `${name}: ${invalid.validationMessage}`;
  }

  /**
   * One request, or two that differ in the planner only. Throws an Error when the prompt cannot be asked.
   * `isRepeat`: with the seed that is there.
   */
  requests({ isRepeat = false } = {}) {
    if (byId("new-seed").checked && !isRepeat) byId("seed").value = Math.floor(Math.random() * 2 ** 32);
    const planners = this.isComparing ? [this.planner, this.second] : [this.planner];
    return planners.map((picker) => this.#request(picker.spec));
  }

  #request(planner) {
    const { request, diffusion } = askFor(byId("prompt").value, {
      kind: this.kind,
      isChat: this.mode === "chat",
      tokens: byId("max-tokens").valueAsNumber,
    });
    return {
      ...request,
      ...this.shape.fields,
      temperature: byId("temperature").valueAsNumber,
      top_p: byId("top-p").valueAsNumber,
      seed: byId("seed").valueAsNumber,
      stream: true,
      stream_options: { include_usage: true },
      diffusion: {
        ...diffusion,
        planner,
        score: this.score.spec,
        window: byId("window").valueAsNumber,
        cache: this.cache.spec,
        stream: "events",
      },
    };
  }

  #insertGap() {
    const prompt = byId("prompt");
    prompt.setRangeText("[MASK:12]", prompt.selectionStart, prompt.selectionEnd, "end");
    prompt.focus();
    prompt.dispatchEvent(new Event("input", { bubbles: true }));
  }

  #arrange() {
    const kind = this.mode === "chat" ? "chat" : this.kind;
    const isFilling = this.measuredText === null && kind !== "chat";
    byId("prompt-label").textContent =
      kind === "text" && isFilling ? "Text with gaps to fill" : PROMPT_LABELS[kind];
    byId("prompt").rows = kind === "sudoku" ? 9 : 2;
    byId("prompt").classList.toggle("board", kind === "sudoku");
    byId("hole-hint").hidden = kind === "chat" || kind === "sudoku";
    byId("length-field").hidden = isFilling;
    byId("comparison").hidden = !this.isComparing;
    if (this.isReady) this.#showLength();
  }

  #showLength() {
    const field = byId("max-tokens");
    field.max = this.#room;
    field.title = `up to ${this.#room} fit behind this prompt`;
    if (Number.isInteger(this.#wanted)) field.value = this.#wanted >= 1 ? Math.min(this.#wanted, this.#room) : this.#wanted;
  }
}

function byId(id) {
  return document.getElementById(id);
}

function isInUse(field) {
  return field.willValidate && !field.closest("[hidden]");
}
