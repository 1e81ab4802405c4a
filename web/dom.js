// Making elements without markup in strings: nothing that comes from a model can become HTML.

/** `text` is the text content; everything else is set as a property. */
export function element(tag, { text, ...properties } = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

/** Attributes, not properties: SVG elements have none that matter. */
export function svgElement(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

let ids = 0;

export function uniqueId(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** Offers a text as a file. */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
