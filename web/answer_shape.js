// The box that holds an answer to a shape: a JSON schema, a regular expression, or one of some texts.

const KINDS = {
  json: {
    label: "JSON schema",
    example: '{"type": "object", "properties": {"name": {"type": "string", "maxLength": 12},\n "age": {"type": "integer", "minimum": 1, "maximum": 99}},\n "required": ["name", "age"]}',
    fields: (text) => ({ response_format: { type: "json_schema", json_schema: { name: "answer", schema: text } } }),
  },
  regex: {
    label: "Regular expression",
    example: "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    fields: (text) => ({ guided_regex: text }),
  },
  choice: {
    label: "One text per line",
    example: "yes\nno",
    fields: (text) => ({ guided_choice: choicesIn(text) }),
  },
};

/** What is wrong with the text as far as the page can tell; the server knows the rest. "" when nothing is. */
export function shapeComplaint(kind, text) {
  if (!KINDS[kind]) return "";
  if (text.trim() === "") return "nothing is written here yet";
  if (kind !== "json") return "";
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return `not JSON: ${error.message}`;
  }
}

/** The members of a request that ask for the shape; none without a kind. The text of a schema keeps its order. */
export function shapeFields(kind, text) {
  return KINDS[kind]?.fields(text) ?? {};
}

/** Whether an error about this field of a request is about the shape. */
export function isAboutShape(param) {
  return /^(response_format|guided_regex|guided_choice)\b/.test(param ?? "");
}

function choicesIn(text) {
  return text.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
}

export class AnswerShape {
  #texts = {}; // of each kind, as it was left
  #kind = "";

  constructor(root) {
    this.root = root;
    this.select = root.querySelector("select");
    this.field = root.querySelector(".field.text");
    this.label = this.field.querySelector("span");
    this.text = root.querySelector("textarea");
    this.error = root.querySelector(".error");
    this.select.addEventListener("change", () => this.#choose(this.select.value));
    this.text.addEventListener("input", () => this.complain(this.#spoken()));
    this.#choose("");
  }

  get kind() {
    return this.select.value;
  }

  get value() {
    return this.kind === "" ? "" : this.text.value;
  }

  get fields() {
    return shapeFields(this.kind, this.text.value);
  }

  /** What a link holds; a kind that is not known is none. */
  apply(kind = "", text = "") {
    this.select.value = KINDS[kind] ? kind : "";
    this.#choose(this.select.value);
    if (this.kind !== "") this.text.value = text;
    this.root.open = this.root.open || this.kind !== "";
  }

  /** Shows what is wrong beside the box; true when something is. */
  complain(message = shapeComplaint(this.kind, this.text.value)) {
    this.error.textContent = message;
    if (message === "") {
      this.text.removeAttribute("aria-invalid");
      return false;
    }
    this.root.open = true;
    this.text.setAttribute("aria-invalid", "true");
    return true;
  }

  focus() {
    this.text.focus();
  }

  /** While it is typed, only what cannot become right by typing on is told at once: nothing of an empty box. */
  #spoken() {
    return this.text.value.trim() === "" ? "" : shapeComplaint(this.kind, this.text.value);
  }

  #choose(kind) {
    if (this.#kind !== "") this.#texts[this.#kind] = this.text.value;
    this.#kind = kind;
    this.field.hidden = kind === "";
    if (kind !== "") {
      this.label.textContent = KINDS[kind].label;
      this.text.value = this.#texts[kind] ?? "";
      this.text.placeholder = KINDS[kind].example;
    }
    this.complain("");
  }
}
