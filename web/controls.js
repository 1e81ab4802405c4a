// The form: what the server offers goes in, requests come out.
import { SpecPicker } from "./spec_picker.js";

const PROMPT_LABELS = { completion: "Text to continue", infill: "Text before the hole", chat: "Message" };

export class Controls {
  constructor() {
    this.form = byId("controls");
    this.form.addEventListener("change", () => this.#arrange());
  }

  /** Builds the controls from the server's properties and unlocks them. */
  setUp({ model, planners, scores, caches, defaults, limits }) {
    const planner = defaults.planner;
    this.planner = new SpecPicker(byId("planner-a"), { label: "Planner", rows: planners, selected: planner });
    const second = planners.find((row) => row.name === "top-k") ?? planners[0];
    this.second = new SpecPicker(byId("planner-b"), { label: "Second planner", rows: planners, selected: second.name });
    this.score = new SpecPicker(byId("score"), { label: "Confidence score", rows: scores, selected: defaults.score });
    this.cache = new SpecPicker(byId("cache"), { label: "Cache", rows: caches, selected: defaults.cache ?? "none" });
    byId("chat-mode").hidden = !model.has_chat_template;
    if (model.has_chat_template) this.form.elements.mode.value = "chat";
    const length = byId("max-tokens");
    length.max = Math.min(limits.max_tokens, model.max_length || limits.max_tokens);
    length.value = Math.min(defaults.max_tokens, length.max);
    byId("window").max = length.max;
    byId("temperature").value = defaults.temperature;
    byId("top-p").value = defaults.top_p;
    byId("settings").disabled = false;
    this.#arrange();
  }

  get mode() {
    return this.form.elements.mode.value;
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

  /** Reports the first field that is not valid where it is, unfolded; true when there is none. */
  check() {
    const invalid = [...this.form.elements].find((field) => isInUse(field) && !field.checkValidity());
    for (let node = invalid?.parentElement; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
    invalid?.reportValidity();
    return invalid === undefined;
  }

  /** One request, or two that differ in the planner only. */
  requests() {
    if (byId("new-seed").checked) byId("seed").value = Math.floor(Math.random() * 2 ** 32);
    const planners = this.isComparing ? [this.planner, this.second] : [this.planner];
    return planners.map((picker) => this.#request(picker.spec));
  }

  #request(planner) {
    const prompt = byId("prompt").value;
    const text = this.mode === "chat" ? { messages: [{ role: "user", content: prompt }] } : { prompt };
    if (this.mode === "infill") text.suffix = byId("suffix").value;
    return {
      ...text,
      max_tokens: byId("max-tokens").valueAsNumber,
      temperature: byId("temperature").valueAsNumber,
      top_p: byId("top-p").valueAsNumber,
      seed: byId("seed").valueAsNumber,
      stream: true,
      stream_options: { include_usage: true },
      diffusion: {
        planner,
        score: this.score.spec,
        window: byId("window").valueAsNumber,
        cache: this.cache.spec,
        stream: "events",
      },
    };
  }

  #arrange() {
    byId("prompt-label").textContent = PROMPT_LABELS[this.mode];
    byId("length-label").textContent = this.mode === "infill" ? "Tokens in the hole" : "Max tokens";
    byId("suffix-field").hidden = this.mode !== "infill";
    byId("comparison").hidden = !this.isComparing;
  }
}

function byId(id) {
  return document.getElementById(id);
}

function isInUse(field) {
  return field.willValidate && !field.closest("[hidden]");
}
