// A choice from one of the server's registries (planners, scores, caches) with the parameters of the chosen row.
// What there is, its bounds, defaults and help come from the registry; nothing is known here by name.
import { formatSpec, parseSpec } from "./spec.js";
import { element, uniqueId } from "./dom.js";

const ALWAYS_SHOWN = 2; // parameters in sight; the others fold away when there are more than one of them

export class SpecPicker {
  /** Fills `root`; `selected` is a spec. */
  constructor(root, { label, rows, selected }) {
    this.rows = rows;
    this.fields = new Map();
    const { name, values } = parseSpec(selected);
    this.select = element("select", { id: uniqueId("spec") });
    for (const row of rows) this.select.append(element("option", { value: row.name, text: row.name }));
    if (rows.some((row) => row.name === name)) this.select.value = name;
    this.summary = element("p", { className: "summary", id: uniqueId("summary") });
    this.select.setAttribute("aria-describedby", this.summary.id);
    this.params = element("div", { className: "params" });
    root.replaceChildren(
      element("label", { className: "field" }, element("span", { text: label }), this.select),
      this.summary,
      this.params,
    );
    this.select.addEventListener("change", () => this.#showRow(new Map()));
    this.#showRow(values);
  }

  get row() {
    return this.rows.find((row) => row.name === this.select.value);
  }

  /** The spec as the server takes it. */
  get spec() {
    const values = new Map();
    for (const [key, field] of this.fields) {
      const isEmpty = field.type !== "checkbox" && field.value === "";
      if (!isEmpty) values.set(key, field.type === "checkbox" ? String(field.checked) : field.value);
    }
    return formatSpec(this.row, values);
  }

  /** Chooses another; a name that is not on offer changes nothing. */
  set spec(text) {
    const { name, values } = parseSpec(text);
    if (!this.rows.some((row) => row.name === name)) return;
    this.select.value = name;
    this.#showRow(values);
  }

  #showRow(values) {
    this.summary.textContent = this.row.summary;
    this.fields.clear();
    const fields = this.row.params.map((param) => this.#field(param, values.get(param.key) ?? param.default));
    const folds = fields.length > ALWAYS_SHOWN + 1;
    this.params.replaceChildren(...(folds ? fields.slice(0, ALWAYS_SHOWN) : fields));
    if (folds) {
      const summary = element("summary", { text: `${fields.length - ALWAYS_SHOWN} more parameters` });
      const grid = element("div", { className: "params" }, ...fields.slice(ALWAYS_SHOWN));
      this.params.append(element("details", { className: "wide" }, summary, grid));
    }
  }

  #field(param, value) {
    const input = inputOf(param, value);
    input.title = `${param.help} (default ${param.default})`;
    input.dataset.param = param.key;
    this.fields.set(param.key, input);
    const text = element("span", { text: param.key.replaceAll("_", " ") });
    if (param.kind === "boolean") return element("label", { className: "check", title: param.help }, input, text);
    return element("label", { className: "field", title: param.help }, text, input);
  }
}

function inputOf(param, value) {
  switch (param.kind) {
    case "boolean":
      return element("input", { type: "checkbox", checked: value === "true" });
    case "choice": {
      const options = param.choices.map((choice) => element("option", { value: choice, text: choice }));
      const select = element("select", {}, ...options);
      select.value = value;
      return select;
    }
    case "integer":
    case "real":
      return element("input", {
        type: "number",
        value,
        min: param.min ?? "",
        max: param.max ?? "",
        step: param.kind === "integer" ? "1" : "any",
        required: true,
      });
    default:
      return element("input", { type: "text", value, spellcheck: false, required: true });
  }
}
