// Specs as the command line writes them: name or name:key=value,key=value; a spec inside a spec stands in
// parentheses.

/** {name, values: Map of key to value}; nested specs lose their parentheses. */
export function parseSpec(text) {
  const colon = text.indexOf(":");
  const name = colon < 0 ? text : text.slice(0, colon);
  const values = new Map();
  for (const part of colon < 0 ? [] : splitOutside(text.slice(colon + 1))) {
    const equals = part.indexOf("=");
    if (equals > 0) values.set(part.slice(0, equals), part.slice(equals + 1).replace(/^\((.*)\)$/s, "$1"));
  }
  return { name, values };
}

/** Only what differs from a row's defaults is written. `row` is an item of a registry. */
export function formatSpec(row, values) {
  const parts = [];
  for (const param of row.params) {
    const value = values.get(param.key);
    if (value === undefined || value === param.default) continue;
    parts.push(`${param.key}=${param.kind === "spec" ? `(${value})` : value}`);
  }
  return parts.length === 0 ? row.name : `${row.name}:${parts.join(",")}`;
}

/** A spec without what are defaults anyway; as it is when no row of `rows` has its name. */
export function shortSpec(text, rows) {
  const { name, values } = parseSpec(text);
  const row = rows.find((one) => one.name === name);
  return row ? formatSpec(row, values) : text;
}

/** A model as a reader calls it: of a path the last part, without the ending of a file. */
export function modelName(model) {
  return String(model).replace(/\/+$/, "").replace(/^(?!toy:).*\//s, "").replace(/\.gguf$/, "");
}

function splitOutside(text) {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
