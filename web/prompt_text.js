// From what is typed to the part of a request that says what to generate.
//
//   a text                     continued by so many tokens
//   a text with [MASK:12]      filled where the holes are
//   a board, dots for blanks   81 digits and dots (or 36, or 16), for a model of sudoku

const HOLE = /\[MASK(?::(\d+))?\]/g;
const ROW_LABELS = "ABCDEFGHI";

/** What a model writes: "sudoku", "protein" or "text", from what the server says of it. */
export function modelKind({ name = "", vocab_size: size = 0 } = {}) {
  const plain = name.toLowerCase();
  if (/sudoku/.test(plain)) return "sudoku";
  if (/membrane|protein|esm|memdlm/.test(plain) || size === 33) return "protein"; // the alphabet of ESM-2
  return "text";
}

/** Texts and numbers of masks, in order: "a [MASK:3] b" is ["a ", 3, " b"]. */
export function splitHoles(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(HOLE)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(Number(match[1] ?? 1));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

export function hasHoles(text) {
  return splitHoles(text).some((part) => typeof part === "number");
}

/** A board as the parts of a canvas. Throws an Error that says what is wrong with it. */
export function boardParts(text) {
  const cells = [...text.replace(/[\s|+-]/g, "")].map((cell) => (/[.0_?]/.test(cell) ? null : cell));
  const size = Math.sqrt(cells.length);
  if (![9, 6, 4].includes(size)) throw new Error(`a board has 81 cells (or 36, or 16); here are ${cells.length}`);
  const odd = cells.find((cell) => cell !== null && !(Number(cell) >= 1 && Number(cell) <= size));
  if (odd !== undefined) throw new Error(`'${odd}' is no digit of a board; blanks are dots`);
  if (!cells.includes(null)) throw new Error("nothing is blank on this board; blanks are dots");
  const parts = [];
  cells.forEach((cell, i) => {
    if (i % size === 0) add(parts, `\n${ROW_LABELS[i / size]} `);
    add(parts, cell ?? 1);
  });
  return parts;
}

/** Neighbours of one kind become one part. */
function add(parts, part) {
  const isLike = parts.length > 0 && typeof parts.at(-1) === typeof part;
  if (isLike) parts[parts.length - 1] += part;
  else parts.push(part);
}

/**
 * {request, diffusion}: members of the request and of its `diffusion`. Throws an Error where the text does not do.
 * `tokens` is how many to write where the text does not say it.
 */
export function askFor(text, { kind, isChat, tokens }) {
  if (isChat) return { request: { messages: [{ role: "user", content: text }], max_tokens: tokens }, diffusion: {} };
  if (kind === "sudoku") return { request: {}, diffusion: { infill: boardParts(text) } };
  const parts = splitHoles(text);
  const holes = parts.filter((part) => typeof part === "number");
  if (holes.length === 0) return { request: { prompt: text, max_tokens: tokens }, diffusion: {} };
  if (holes.includes(0)) throw new Error("[MASK:0] is no hole");
  if (holes.length > 1) return { request: {}, diffusion: { infill: parts } };
  const at = parts.indexOf(holes[0]);
  return {
    request: { prompt: parts[at - 1] ?? "", suffix: parts[at + 1] ?? "", max_tokens: holes[0] },
    diffusion: {},
  };
}
