// What a canvas is a picture of, told from the canvas itself: a sudoku board, the residues of a protein, or text.
// A trace from a file is recognised as well as a live run, whatever its model is called.

const BOARD_SIZES = [9, 6, 4];
const BOX_COLUMNS = { 9: 3, 6: 3, 4: 2 };
const BOX_ROWS = { 9: 3, 6: 2, 4: 2 };

/** `<s>`, `</s>`, `<|endoftext|>`, `[CLS]`: what tokenizers put around texts, not text. */
export function isSpecial(piece) {
  return /^(<\|?[^<>\s]+\|?>|\[[A-Z]+\])$/.test(piece);
}

/**
 * {kind: "text"}; {kind: "board", size, cells}; {kind: "residues", cells}. `cells` are positions in reading order.
 * Null as long as the texts of the given tokens are not all there: a run's canvas comes before its pieces.
 */
export function shapeOf(recording) {
  const cells = recording.frames[0]?.cells ?? [];
  if (cells.some((cell) => cell.state === "prompt" && !recording.hasPiece(cell.token))) return null;
  const pieces = cells.map((cell) => (cell.state === "masked" ? null : recording.piece(cell.token)));
  return boardShape(pieces) ?? residueShape(pieces) ?? { kind: "text" };
}

/** Rows that begin with their letter, as the sudoku task writes them: "\nA 53..7....". */
function boardShape(pieces) {
  let text = "";
  const positions = []; // of every character
  pieces.forEach((piece, position) => {
    if (piece !== null && isSpecial(piece)) return;
    for (const character of piece ?? ".") {
      text += character;
      positions.push(position);
    }
  });
  for (const size of BOARD_SIZES) {
    const row = (label) => `\\n?${label} ([1-${size}.]{${size}})`;
    const labels = [..."ABCDEFGHI"].slice(0, size);
    const found = new RegExp(`^${labels.map(row).join("")}\\n?$`, "d").exec(text);
    if (!found) continue;
    const cells = found.indices.slice(1).flatMap(([begin, end]) => positions.slice(begin, end));
    return { kind: "board", size, cells };
  }
  return null;
}

/** One letter a token between the marks of protein models. */
function residueShape(pieces) {
  if (pieces[0] !== "<cls>") return null;
  const cells = [];
  for (const [position, piece] of pieces.entries()) {
    if (piece !== null && isSpecial(piece)) continue;
    if (piece !== null && !/^[A-Z]$/.test(piece)) return null;
    cells.push(position);
  }
  return cells.length === 0 ? null : { kind: "residues", cells };
}

export function boxColumns(size) {
  return BOX_COLUMNS[size];
}

export function boxRows(size) {
  return BOX_ROWS[size];
}

/** Indices of cells that hold a digit twice in a row, a column or a box; `values` has "" for what is open. */
export function clashes(values, size) {
  const bad = new Set();
  const unitsOf = (index) => {
    const row = Math.floor(index / size);
    const column = index % size;
    const box = Math.floor(row / BOX_ROWS[size]) * BOX_ROWS[size] + Math.floor(column / BOX_COLUMNS[size]);
    return [`row ${row}`, `column ${column}`, `box ${box}`];
  };
  const seen = new Map();
  values.forEach((value, index) => {
    if (value === "") return;
    for (const unit of unitsOf(index)) {
      const key = `${unit} ${value}`;
      if (seen.has(key)) bad.add(index).add(seen.get(key));
      else seen.set(key, index);
    }
  });
  return bad;
}

/** What a board has come to, in words. */
export function boardVerdict(values, size) {
  const bad = clashes(values, size).size;
  const open = values.filter((value) => value === "").length;
  if (bad > 0) return `✗ ${bad} ${bad === 1 ? "cell clashes" : "cells clash"}${open > 0 ? `, ${open} open` : ""}`;
  if (open > 0) return `${open} of ${values.length} cells open, no clash`;
  const isDigit = (value) => /^[1-9]$/.test(value) && Number(value) <= size;
  return values.every(isDigit) ? "✓ solved: every row, column and box is complete" : "✗ not every cell is a digit";
}
