// The viewer's parts that need no page: trace.js, structure.js, spec.js, sse.js. Run by node --test.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { dataEvents, rawMember } from "../../web/sse.js";
import { formatSpec, modelName, parseSpec, shortSpec } from "../../web/spec.js";
import { describeCell } from "../../web/canvas_view.js";
import { isStructural, structureOf } from "../../web/structure.js";
import { Recording, advance, nfeOf, parseTrace, start } from "../../web/trace.js";

const MASK = 9;
const fixture = (name) => readFile(new URL(`fixtures/${name}.jsonl`, import.meta.url), "utf8");
const names = ["punt", "top-k", "remdm", "two_runs"];
const run = (canvas) => ({ event: "run", version: 1, mask_token: MASK, canvas });
const nfe = (base, test) => ({ base, test, total: base + test });
const step = (number, positions) => ({
  event: "step",
  step: number,
  positions,
  tokens: positions.map((p) => p + 20),
  confidence: positions.map(() => 0.5),
});
const commit = (number, positions, { remasked = [], cost = nfe(1, 0) } = {}) => ({
  event: "commit",
  step: number,
  positions,
  tokens: positions.map((p) => p + 20),
  confidence: positions.map(() => 0.5),
  remasked,
  nfe: cost,
});
const states = (frame) => frame.cells.map((cell) => cell.state).join(" ");
const play = (canvas, ...events) => events.reduce(advance, start(run(canvas)));

test("a step: masked, tested, accepted or rejected, then earlier or masked again", () => {
  const round = {
    event: "round",
    step: 0,
    level: 0,
    epsilon: 0.1,
    anchors: [1],
    tests: [2, 3],
    divergences: [0.05, null],
    kept: [true, false],
  };
  const canvas = [7, MASK, MASK, MASK];
  assert.equal(states(play(canvas)), "prompt masked masked masked");
  assert.equal(states(play(canvas, step(0, [1, 2, 3]))), "prompt masked masked masked");
  const tested = play(canvas, step(0, [1, 2, 3]), round);
  assert.equal(states(tested), "prompt candidate candidate rejected");
  const done = advance(tested, commit(0, [1, 2], { cost: nfe(1, 1) }));
  assert.equal(states(done), "prompt accepted accepted rejected");
  assert.equal(nfeOf(done), 2);
  assert.equal(done.committed, 2);
  assert.deepEqual(
    { ...done.cells[1] },
    { state: "accepted", token: 21, step: 1, age: 0, confidence: 0.5, divergence: null, epsilon: null },
  );
  assert.deepEqual(
    { ...done.cells[2] },
    { state: "accepted", token: 22, step: 1, age: 0, confidence: 0.5, divergence: 0.05, epsilon: 0.1 },
  );
  assert.equal(done.cells[3].divergence, Infinity);
  assert.equal(states(advance(done, step(1, [3]))), "prompt earlier earlier masked");
});

test("a candidate that is not committed is masked again; of several divergences the largest counts", () => {
  const round = (tests, divergences) => ({
    event: "round",
    step: 0,
    level: 0,
    epsilon: 0.1,
    anchors: [0],
    tests,
    divergences,
    kept: tests.map(() => true),
  });
  const frame = play([MASK, MASK], step(0, [0, 1]), round([1], [0.09]), round([1], [0.02]), commit(0, [1]));
  assert.equal(states(frame), "masked accepted");
  assert.equal(frame.cells[1].divergence, 0.09);
});

test("what is taken back shows for a step, and may be filled in the same step", () => {
  const frame = play([MASK, MASK], step(0, [0, 1]), commit(0, [0, 1]), step(1, []), commit(1, [], { remasked: [0] }));
  assert.equal(states(frame), "remasked earlier");
  assert.equal(frame.committed, 1);
  const again = advance(frame, step(2, [0]));
  assert.equal(states(again), "masked earlier");
});

test("what is replaced shows for a step, with what stood there", () => {
  const edit = { ...commit(1, []), edited: [0], edited_tokens: [5], edited_confidence: [0.75] };
  const frame = play([MASK, MASK], step(0, [0, 1]), commit(0, [0, 1]), step(1, []), edit);
  assert.equal(states(frame), "edited earlier");
  assert.deepEqual([frame.cells[0].token, frame.cells[0].was, frame.cells[0].confidence], [5, 20, 0.75]);
  assert.equal(frame.committed, 2);
  assert.equal(structureOf({ piece: () => "." }, frame).committed, 2);
  assert.match(describeCell(frame.cells[0], 0, (token) => `t${token}`), /"t5", replaced in step 2, instead of "t20"/);
  assert.equal(states(advance(frame, step(2, []))), "earlier earlier");
  assert.throws(() => play([MASK], step(0, [0]), commit(0, [0]), step(1, []), { ...edit, edited: [3] }), /not on the canvas/);
});

test("the length may change: a mask more before a position, or a position less", () => {
  const change = { ...commit(0, [2]), inserted: [1], removed: [3] };
  const frame = play([7, MASK, MASK, MASK, 8], step(0, [1, 2, 3]), change);
  assert.equal(states(frame), "prompt masked masked accepted prompt");
  assert.deepEqual([frame.generated, frame.committed], [3, 1]);
  assert.equal(frame.cells[4].token, 8);
  assert.throws(() => play([MASK], step(0, [0]), { ...commit(0, []), removed: [1] }), /not on the canvas/);
});

test("the end settles, and fills what is behind an EOS without counting it", () => {
  const end = { event: "end", stop: "eos", steps: 1, nfe: nfe(1, 0), tokens: [20, 2], seconds: 1.5 };
  const frame = play([MASK, MASK], step(0, [0, 1]), commit(0, [0]), end);
  assert.equal(states(frame), "earlier earlier");
  assert.equal(frame.cells[1].step, null);
  assert.equal(structureOf({ piece: () => "." }, frame).committed, 1);
});

test("frames are not changed by later events", () => {
  const first = play([MASK], step(0, [0]));
  const copy = structuredClone(first.cells);
  advance(advance(first, commit(0, [0])), step(1, []));
  assert.deepEqual(structuredClone(first.cells), copy);
  const idle = play([MASK], step(0, [0]), commit(0, []));
  assert.equal(advance(advance(idle, step(1, [0])), commit(1, [])).cells, idle.cells); // shared, not copied
});

for (const name of names) {
  test(`recorded ${name}: commits, counters and final canvas agree with the file`, async () => {
    const text = await fixture(name);
    const recordings = parseTrace(text, name);
    assert.equal(recordings.map((recording) => recording.toText()).join(""), text);
    for (const recording of recordings) {
      const events = recording.lines.map((line) => JSON.parse(line));
      const commits = events.filter((event) => event.event === "commit");
      const end = events.at(-1);
      assert.equal(recording.frames.length, commits.length + 2);
      // The naive twin: a canvas that is overwritten.
      const canvas = [...events[0].canvas];
      commits.forEach((event, i) => {
        for (const position of event.remasked) canvas[position] = events[0].mask_token;
        event.positions.forEach((position, k) => (canvas[position] = event.tokens[k]));
        const { cells, counters } = recording.frames[i + 1];
        const seen = cells.map((c) =>
          ["prompt", "earlier", "accepted"].includes(c.state) ? c.token : events[0].mask_token,
        );
        assert.deepEqual(seen, canvas);
        assert.equal(cells.filter((cell) => cell.state === "accepted").length, event.positions.length);
        assert.equal(counters.base + counters.test, event.nfe.total);
      });
      assert.deepEqual(
        recording.current.cells.map((cell) => cell.token),
        end.tokens,
      );
      assert.equal(nfeOf(recording.current), end.nfe.total);
      assert.equal(recording.secondsAt(recording.frames.length - 1), end.seconds);
      assert.ok(recording.current.cells.every((cell) => recording.piece(cell.token) !== "?"));
    }
  });
}

test("recorded punt: rejected are those that a round did not keep", async () => {
  const [recording] = parseTrace(await fixture("punt"), "punt");
  const events = recording.lines.map((line) => JSON.parse(line));
  let rejections = 0;
  recording.frames.slice(1, -1).forEach((frame, i) => {
    const rounds = events.filter((event) => event.event === "round" && event.step === i);
    const expected = rounds.flatMap((round) => round.tests.filter((_, k) => !round.kept[k])).sort((a, b) => a - b);
    const seen = frame.cells.flatMap((cell, position) => (cell.state === "rejected" ? [position] : []));
    assert.deepEqual(seen, expected);
    rejections += seen.length;
    for (const position of seen) assert.ok(frame.cells[position].divergence > frame.cells[position].epsilon);
  });
  assert.ok(rejections > 10);
});

test("an interrupted run is accepted, damaged ones are refused by line", async () => {
  const lines = (await fixture("punt")).trimEnd().split("\n");
  assert.equal(parseTrace(lines.slice(0, 9).join("\n"), "cut")[0].isFinished, false);
  const refuses = (text, message) => assert.throws(() => parseTrace(text, "t.jsonl"), message);
  refuses("", /t\.jsonl: the trace is empty/);
  refuses("hello", /t\.jsonl:1: not a JSON object/);
  refuses("null", /t\.jsonl:1: not an event/);
  refuses(lines[3], /t\.jsonl:1: the first event is not a run/);
  refuses(lines[0].replace('"version":1', '"version":3'), /t\.jsonl:1: version 3 is not known/);
  refuses(`${lines[0]}\n{"event":"dance"}`, /t\.jsonl:2: unknown event 'dance'/);
  refuses(`${lines[0]}\n{"event":"step","step":0,"positions":[999]}`, /t\.jsonl:2: position 999 .* not on the canvas/);
  refuses(`${lines[0]}\n{"event":"step","step":0,"positions":[7],"tokens":[]}`, /:2: 'tokens' .* 0 items instead of 1/);
  refuses(`${lines[0]}\n{"event":"pieces"}`, /:2: event pieces has no 'pieces'/);
});

test("structure is what has no letter or digit", () => {
  for (const piece of ["\n", ".", ",", " -", "**", "```", "# ", ":\n", "(", "\n\n", "|"])
    assert.ok(isStructural(piece), piece);
  for (const piece of ["a", " the", "7", " ", "", "'s", "é", "字", "</s>", "<|eot|>", "\ufffd", "7.", " 3)"])
    assert.ok(!isStructural(piece), piece);
});

test("models are called by their name, not by their path", () => {
  for (const model of ["stories", "stories.gguf", "/srv/models/stories.gguf", "../stories/"])
    assert.equal(modelName(model), "stories");
  assert.equal(modelName("toy:markov,file=/tmp/a"), "toy:markov,file=/tmp/a");
});

test("specs: only what differs from the defaults, nested ones in parentheses", () => {
  const row = {
    name: "hybrid",
    params: [
      { key: "first", kind: "spec", default: "top-k" },
      { key: "at", kind: "real", default: "0.5" },
    ],
  };
  const write = (values) => formatSpec(row, new Map(Object.entries(values)));
  assert.equal(write({ first: "top-k", at: "0.5" }), "hybrid");
  assert.equal(write({ first: "top-k:k=2", at: "0.7" }), "hybrid:first=(top-k:k=2),at=0.7");
  const { name, values } = parseSpec("hybrid:first=(spacing:planner=(punt:epsilon=1,form=parallel),gap=3),at=0.7");
  assert.equal(name, "hybrid");
  assert.deepEqual(
    [...values],
    [
      ["first", "spacing:planner=(punt:epsilon=1,form=parallel),gap=3"],
      ["at", "0.7"],
    ],
  );
  assert.equal(shortSpec("hybrid:first=(top-k:k=2),at=0.5", [row]), "hybrid:first=(top-k:k=2)");
  assert.equal(shortSpec("other:at=0.5", [row]), "other:at=0.5");
  assert.deepEqual(parseSpec("punt"), { name: "punt", values: new Map() });
});

test("a member as it is spelt", () => {
  const event = '{"event":"run","seed":18446744073709551615,"x":[1.0,{"event":2}],"s":"a\\"},{\\\\"}';
  assert.equal(rawMember(`{"object":"punt.trace", "event" : ${event} ,"index":0}`, "event"), event);
  assert.equal(rawMember(`{"object":"event","event":${event}}`, "event"), event);
  assert.equal(rawMember('{"a":{"event":1},"event":"b"}', "event"), '"b"');
  assert.equal(rawMember('{"a":{"event":1}}', "event"), null);
});

test("a stream of events does not depend on how it was cut", async () => {
  const text =
    'data: {"a":"é字"}\r\n\r\n: a comment\ndata:two\ndata: lines\n\nevent: x\n\ndata: [DONE]\n\ndata: never closed';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < bytes.length; i += size) controller.enqueue(bytes.slice(i, i + size));
        controller.close();
      },
    });
    const seen = [];
    for await (const data of dataEvents(body)) seen.push(data);
    assert.deepEqual(seen, ['{"a":"é字"}', "two\nlines", "[DONE]"]);
  }
});

test("under a shape every step shows a draft of a whole answer", () => {
  const run = { event: "run", version: 1, canvas: [9, 0, 0, 0, 0], mask_token: 0, planner: "p", model: "m", seed: 0 };
  const events = [
    run,
    { event: "step", step: 0, positions: [1, 2, 3], tokens: [5, 6, 7], confidence: [1, 0.5, 0.2] },
    { event: "round", step: 0, anchors: [1], tests: [2], divergences: [3], kept: [false], epsilon: 1 },
    { event: "commit", step: 0, positions: [1], tokens: [5], confidence: [1], remasked: [], nfe: { base: 1, test: 1 } },
    { event: "step", step: 1, positions: [2, 3], tokens: [8, 7], confidence: [0.6, 0.4] },
    { event: "commit", step: 1, positions: [2], tokens: [8], confidence: [1], remasked: [], nfe: { base: 2, test: 1 } },
  ];
  const states = (isHeld) => {
    const recording = new Recording({ isHeld });
    return events.map((event) => {
      recording.take(event, JSON.stringify(event));
      return recording.current.cells.slice(1).map((cell) => `${cell.state} ${cell.token}`);
    });
  };
  assert.deepEqual(states(true), [
    ["masked 0", "masked 0", "masked 0", "masked 0"],
    ["draft 5", "draft 6", "draft 7", "masked 0"],
    ["candidate 5", "rejected 6", "draft 7", "masked 0"],
    ["accepted 5", "rejected 6", "draft 7", "masked 0"],
    ["earlier 5", "draft 8", "draft 7", "masked 0"],
    ["earlier 5", "accepted 8", "draft 7", "masked 0"],
  ]);
  assert.ok(states(false).flat().every((state) => !state.startsWith("draft")));
});
