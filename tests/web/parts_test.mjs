// The viewer's parts that need no page: shapes, faces, layouts, prompts, links, the runs that come along. node --test.
import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { test } from "node:test";
import { EXAMPLES } from "../../web/examples.js";
import { isAboutShape, shapeComplaint, shapeFields } from "../../web/answer_shape.js";
import { exportSvg, looks } from "../../web/export_svg.js";
import { Faces, fit } from "../../web/faces.js";
import { fromHash, toHash } from "../../web/link.js";
import { askFor, boardParts, hasHoles, modelKind, splitHoles } from "../../web/prompt_text.js";
import { boardVerdict, clashes, shapeOf } from "../../web/shapes.js";
import { parseSpec } from "../../web/spec.js";
import { layOut } from "../../web/text_layout.js";
import { thoughtsOf } from "../../web/thoughts.js";
import { Recording, nfeOf, parseTrace } from "../../web/trace.js";

const WEB = new URL("../../web/", import.meta.url);
const recorded = async (name) => parseTrace(await readFile(new URL(name, WEB), "utf8"), name)[0];
const SOLVED = "461759238879342651352861497128436975534197862796528314687914523213685749945273186";

test("every recorded run is whole, and is what its example's settings say", async () => {
  for (const { id, runs, captions = [], model, kind, settings } of EXAMPLES) {
    assert.equal(captions.length, runs.length > 1 ? runs.length : 0, id);
    for (const [i, name] of runs.entries()) {
      const recording = await recorded(name);
      assert.ok(recording.isFinished, name);
      assert.ok(recording.current.cells.every((cell) => cell.state !== "masked"), name);
      const { run } = recording.current;
      assert.equal(run.model, model, name);
      assert.equal(run.seed, settings.seed, name);
      assert.equal(run.temperature, settings.temperature, name);
      assert.equal(run.top_p, settings.top_p ?? 1, name);
      const wanted = parseSpec(i === 0 ? settings.planner : settings.second);
      const has = parseSpec(run.planner);
      assert.equal(has.name, wanted.name, name);
      for (const [key, value] of wanted.values) if (has.values.has(key)) assert.equal(has.values.get(key), value, name);
      const shape = { text: "text", sudoku: "board", protein: "residues" }[kind];
      assert.equal(shapeOf(recording).kind, shape, name);
      const holes = kind === "sudoku" ? boardParts(settings.prompt) : splitHoles(settings.prompt);
      const masks = holes.filter((part) => typeof part === "number").reduce((sum, part) => sum + part, 0);
      assert.equal(recording.current.generated, masks || settings.tokens, name);
    }
  }
});

test("what is shown of PUNT can be seen: steps, rejections, and fewer passes than tokens on text", async () => {
  for (const name of ["run_story.jsonl", "run_sudoku.jsonl", "run_protein.jsonl", "race_punt016.jsonl"]) {
    const { frames, current } = await recorded(name);
    assert.ok(current.step >= 5, `${name}: ${current.step} steps`);
    assert.ok(frames.some((frame) => frame.cells.some((cell) => cell.state === "rejected")), name);
    assert.ok(nfeOf(current) < current.generated, `${name}: ${nfeOf(current)} passes for ${current.generated}`);
  }
});

test("the page is small: less than a megabyte, recorded runs included", async () => {
  let bytes = 0;
  for (const name of await readdir(WEB)) {
    const { size } = await stat(new URL(name, WEB));
    if (/\.(html|css|js|svg|jsonl)$/.test(name)) bytes += size;
  }
  assert.ok(bytes < 1 << 20, `${bytes} bytes`);
});

test("a board is told by its rows' letters, whatever its size; other texts are texts", () => {
  const recording = (pieces) => ({
    frames: [{ cells: pieces.map((piece, token) => ({ state: piece === null ? "masked" : "prompt", token })) }],
    hasPiece: () => true,
    piece: (token) => pieces[token],
  });
  const four = (row, label) => [`\n${label} `, ...row];
  const small = ["<s>", ...four(["1", null, "3", "4"], "A"), ...four([null, null, "1", "2"], "B"),
    ...four(["2", "1", "4", "3"], "C"), ...four(["4", "3", "2", null], "D")];
  const shape = shapeOf(recording(small));
  assert.equal(shape.kind, "board");
  assert.equal(shape.size, 4);
  assert.deepEqual(shape.cells.slice(0, 5), [2, 3, 4, 5, 7]);
  assert.equal(shapeOf(recording(small.slice(0, -1))).kind, "text");
  assert.equal(shapeOf(recording(["<s>", "A", " ", "1"])).kind, "text");
  assert.equal(shapeOf(recording(["<cls>", "M", null, null, "<eos>"])).kind, "residues");
  assert.deepEqual(shapeOf(recording(["<cls>", "M", null, null, "<eos>"])).cells, [1, 2, 3]);
  assert.equal(shapeOf(recording(["<cls>", "Me", null, "<eos>"])).kind, "text");
  assert.equal(shapeOf({ ...recording(small), hasPiece: () => false }), null);
});

test("clashes are pairs in a row, a column or a box: every digit of a solved board, moved, is found", () => {
  const solved = [...SOLVED];
  assert.equal(clashes(solved, 9).size, 0);
  assert.match(boardVerdict(solved, 9), /^✓ solved/);
  const open = solved.map((digit, i) => (i % 2 ? digit : ""));
  assert.equal(clashes(open, 9).size, 0);
  for (let i = 0; i < 81; ++i) {
    const wrong = solved.with?.(i, solved[(i + 1) % 81]) ?? solved.map((digit, k) => (k === i ? solved[(i + 1) % 81] : digit));
    // The naive twin: every pair of cells that see each other.
    const sees = (a, b) => {
      const [ra, rb, ca, cb] = [Math.floor(a / 9), Math.floor(b / 9), a % 9, b % 9];
      const isBox = Math.floor(ra / 3) === Math.floor(rb / 3) && Math.floor(ca / 3) === Math.floor(cb / 3);
      return a !== b && (ra === rb || ca === cb || isBox);
    };
    const expected = wrong.flatMap((digit, a) => (wrong.some((other, b) => digit === other && sees(a, b)) ? [a] : []));
    assert.deepEqual([...clashes(wrong, 9)].sort((a, b) => a - b), expected);
    if (expected.length > 0) assert.match(boardVerdict(wrong, 9), /clash/);
  }
  // Boxes of a board of six have two rows and three columns.
  assert.equal(clashes(["1", "", "", "", "", "", "", "", "1", ...Array(27).fill("")], 6).size, 2);
  assert.equal(clashes(["1", "", "", "", "", "", "", "", "", "1", ...Array(26).fill("")], 6).size, 0);
});

test("masks and ghosts are as wide as what comes in the end", () => {
  const plain = (text) => text.replaceAll("\u00a0", "_");
  assert.equal(plain(fit(null, " girl")), " _·__");
  assert.equal(plain(fit(" a", " girl")), " a___");
  assert.equal(plain(fit(" elephant", " girl")), " elep");
  assert.equal(plain(fit(" a b", " girl")), " a_b_");
  assert.equal(plain(fit("x", "↵\n")), "x\n");
  assert.equal(fit("x", " "), " ");
});

test("all faces of a recorded run have the letters and breaks of its end", async () => {
  const recording = await recorded("run_story.jsonl");
  const faces = new Faces(recording);
  assert.ok(faces.update());
  assert.ok(!faces.update());
  const form = (text) => [...text].map((letter) => (/[ \n]/.test(letter) ? letter : "x")).join("");
  const end = recording.outcome.cells.map((cell, i) => faces.of(cell, i));
  assert.equal(end[0], ""); // <s>
  for (const frame of recording.frames) frame.cells.forEach((cell, i) => assert.equal(form(faces.of(cell, i)), form(end[i])));
});

test("lines break at blanks; every letter that is seen has a place of its own", () => {
  const { places, rows } = layOut(["Once", " upon", " a", " time", ".↵\n", "Then"], 9);
  assert.equal(rows, 3);
  assert.deepEqual(places[1], [{ row: 0, column: 4, from: 0, to: 5 }]);
  assert.deepEqual(places[2], [{ row: 1, column: 0, from: 1, to: 2 }]); // the blank at the end of the line takes no room
  assert.deepEqual(places[5], [{ row: 2, column: 0, from: 0, to: 4 }]);
  assert.deepEqual(layOut(["abcdefghijkl"], 5).places[0].map(({ row }) => row), [0, 1, 2]);
  let state = 7;
  const random = (below) => (state = (state * 48271) % 2147483647) % below;
  for (let round = 0; round < 200; ++round) {
    const texts = Array.from({ length: 1 + random(20) }, () =>
      Array.from({ length: random(6) }, () => "ab \n"[random(4)]).join(""),
    );
    const columns = 1 + random(12);
    const seen = new Set();
    let letters = "";
    layOut(texts, columns).places.forEach((list, position) => {
      for (const { row, column, from, to } of list) {
        for (let i = from; i < to; ++i) {
          const place = `${row} ${column + i - from}`;
          assert.ok(!seen.has(place) && column + i - from < columns);
          seen.add(place);
          letters += [...texts[position]][i].trim();
        }
      }
    });
    assert.equal(letters, texts.join("").replace(/\s/g, ""));
  }
});

test("prompts: holes, boards, chats", () => {
  assert.deepEqual(splitHoles("a [MASK:3] b[MASK]"), ["a ", 3, " b", 1]);
  assert.deepEqual(splitHoles("[MASKED] [mask:3]"), ["[MASKED] [mask:3]"]);
  assert.ok(!hasHoles("a") && hasHoles("[MASK]"));
  const ask = (text, more = {}) => askFor(text, { kind: "text", isChat: false, tokens: 9, ...more });
  assert.deepEqual(ask("a"), { request: { prompt: "a", max_tokens: 9 }, diffusion: {} });
  assert.deepEqual(ask("a[MASK:3]").request, { prompt: "a", suffix: "", max_tokens: 3 });
  assert.deepEqual(ask("[MASK:3][MASK]b").diffusion, { infill: [3, 1, "b"] });
  assert.deepEqual(ask("a[MASK:3]", { isChat: true }).request.messages, [{ role: "user", content: "a[MASK:3]" }]);
  assert.throws(() => ask("[MASK:0]"), /no hole/);
  const parts = boardParts("1.3.\n..1.\n 2 1 0 3\n4_2?");
  assert.deepEqual(parts, ["\nA 1", 1, "3", 1, "\nB ", 2, "1", 1, "\nC 21", 1, "3\nD 4", 1, "2", 1]);
  assert.throws(() => boardParts("123"), /81 cells .* here are 3/);
  assert.throws(() => boardParts("1.3.....9......."), /'9' is no digit/);
  assert.throws(() => boardParts("1234341221434321"), /nothing is blank/);
  for (const [name, kind] of [["stories", "text"], ["sudoku", "sudoku"], ["my-sudoku.gguf", "sudoku"], ["membrane", "protein"], ["esm2_t6", "protein"]])
    assert.equal(modelKind({ name }), kind);
  assert.equal(modelKind({ name: "x", vocab_size: 33 }), "protein");
});

test("links give back what went in, and leave out what are defaults", () => {
  const defaults = { tokens: 128, temperature: 1, top_p: 1, planner: "punt", score: "margin", order: "sequence", seed: 0 };
  const settings = {
    ...defaults, prompt: "Tom & Lily\n50% #1 + é", seed: 0, temperature: 0.7, compare: true, second: "top-k:k=2", fresh: false,
  };
  const hash = toHash(settings, defaults);
  assert.deepEqual(fromHash(hash), {
    prompt: settings.prompt, second: "top-k:k=2", seed: 0, temperature: 0.7, compare: true,
  });
  assert.equal(toHash({}, defaults), "");
  assert.deepEqual(fromHash(""), {});
  assert.deepEqual(fromHash("#seed=x&tokens=&evil=1&temperature=Infinity&prompt=a"), { prompt: "a" });
});

test("an exported run is well formed, and its looks cover every frame once", async () => {
  for (const name of ["run_story.jsonl", "run_sudoku.jsonl", "run_protein.jsonl", "race_topk3.jsonl"]) {
    const recording = await recorded(name);
    const svg = exportSvg(recording, { pace: 100, title: 'a <b> & "c"' });
    assert.ok(svg.includes("a &lt;b&gt; &amp; &quot;c&quot;"));
    assert.ok(svg.length < 300000, `${name}: ${svg.length}`);
    assert.doesNotMatch(svg, /NaN|undefined/);
    recording.current.cells.forEach((_, position) => {
      const stretches = looks(recording, position);
      assert.equal(stretches[0].from, 0);
      assert.equal(stretches.at(-1).to, recording.frames.length);
      stretches.slice(1).forEach(({ from }, i) => assert.equal(from, stretches[i].to));
    });
  }
  const lines = (await readFile(new URL("run_story.jsonl", WEB), "utf8")).split("\n");
  const stopped = parseTrace(lines.slice(0, lines.findLastIndex((line) => line.includes('"commit"'))).join("\n"), "cut")[0];
  assert.match(exportSvg(stopped, { pace: 100, title: "stopped" }), /<\/svg>\n$/);
});

test("a shape becomes the field of a request that asks for it, its text unchanged", () => {
  const schema = '{"type": "object", "properties": {"b": {}, "2": {}, "a": {}}}';
  assert.deepEqual(shapeFields("json", schema), {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
  });
  assert.deepEqual(shapeFields("regex", "a|b"), { guided_regex: "a|b" });
  assert.deepEqual(shapeFields("choice", "yes\n\n no \r\n"), { guided_choice: ["yes", " no "] });
  assert.deepEqual(shapeFields("", "a"), {});
  assert.equal(shapeComplaint("json", schema), "");
  assert.match(shapeComplaint("json", '{"a": }'), /^not JSON: /);
  assert.equal(shapeComplaint("regex", " \n"), "nothing is written here yet");
  assert.equal(shapeComplaint("", ""), "");
  assert.ok(isAboutShape("response_format.json_schema.schema") && isAboutShape("guided_choice"));
  assert.ok(!isAboutShape("max_tokens") && !isAboutShape(null));
});

test("thoughts are told apart from the answer", () => {
  const told = (before, pieces) => {
    const all = [...before, ...pieces];
    const recording = new Recording();
    const canvas = all.map((_, i) => (i < before.length ? i + 1 : 0));
    const run = { event: "run", version: 1, canvas, mask_token: 0, planner: "p", model: "m", seed: 0 };
    recording.take(run, "");
    recording.take({ event: "pieces", pieces: Object.fromEntries(all.map((piece, i) => [i + 1, piece])) }, "");
    const written = pieces.map((piece, i) => [before.length + i, piece]).filter(([, piece]) => piece !== null);
    const positions = written.map(([position]) => position);
    const tokens = positions.map((position) => position + 1);
    const confidence = positions.map(() => 1);
    recording.take({ event: "commit", step: 0, positions, tokens, confidence, remasked: [], nfe: { base: 1, test: 0 } }, "");
    return thoughtsOf(recording, recording.current);
  };
  assert.deepEqual(told(["hi"], ["\n<think>", "\n a", " b\n", "</think>", "c"]), { text: "a b", isOpen: false });
  assert.deepEqual(told(["hi", "<think>", "\n"], ["a", null, " c"]), { text: "a· c", isOpen: true });
  assert.equal(told(["hi"], ["a <think>b</think>"]), null);
  assert.equal(told(["hi"], ["<think>", "\n\n", "</think>", "c"]), null);
});
