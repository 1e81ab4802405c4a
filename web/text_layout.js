// Where the letters of a text stand in lines of so many columns, for drawings that have no browser to do it.

/**
 * Texts of positions -> per position a list of {row, column, from, to}: its letters from..to (code points) stand
 * there. Lines break at line breaks and at blanks, of which those that no longer fit take no room; a word longer than a
 * line is cut.
 */
export function layOut(texts, columns) {
  const letters = texts.flatMap((text, position) => [...text].map((letter, i) => ({ letter, position, i })));
  const places = texts.map(() => []);
  let row = 0;
  let column = 0;
  const put = ({ position, i }) => {
    const last = places[position].at(-1);
    if (last?.row === row && last.column + i - last.from === column && last.to === i) last.to = i + 1;
    else places[position].push({ row, column, from: i, to: i + 1 });
    column += 1;
  };
  const breakLine = () => {
    row += 1;
    column = 0;
  };
  for (let at = 0; at < letters.length; ) {
    const end = chunkEnd(letters, at);
    const kind = kindOf(letters[at].letter);
    const fits = column + end - at <= columns;
    if (kind === "break") breakLine();
    else if (kind === "word" && !fits && column > 0) breakLine();
    for (; at < end; ++at) {
      if (kind === "break" || (kind === "blank" && !fits)) continue;
      if (column === columns) breakLine();
      put(letters[at]);
    }
  }
  return { places, rows: column > 0 ? row + 1 : Math.max(1, row) };
}

function kindOf(letter) {
  if (letter === "\n") return "break";
  return letter === " " || letter === "\t" ? "blank" : "word";
}

/** Letters of one kind from `at` on; every line break is a chunk of its own. */
function chunkEnd(letters, at) {
  const kind = kindOf(letters[at].letter);
  let end = at + 1;
  while (kind !== "break" && end < letters.length && kindOf(letters[end].letter) === kind) ++end;
  return end;
}
