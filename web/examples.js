// Runs that came with the page (scripts/record-viewer-runs records them), and the settings that make them.
import { parseTrace } from "./trace.js";

const STORY = { temperature: 0.7, top_p: 0.9, planner: "punt:epsilon=0.16" };
const RACE = { ...STORY, prompt: "One day, a little dog named Max", tokens: 220, seed: 2, compare: true };
const BOARD = `4.....2..
....4.651
3.2.6..97
1......75
......862
...5283..
68.9.4..3
.....5.4.
..527.1..`;

/**
 * `kind` of model that can run it (see modelKind), `model` that it was recorded with, `runs`: files, `captions`: what to
 * call them, `settings` as in links, `note`: what to look at.
 */
export const EXAMPLES = [
  {
    id: "story",
    label: "A story",
    kind: "text",
    model: "stories",
    runs: ["run_story.jsonl"],
    settings: { ...STORY, prompt: "Once upon a time", tokens: 96, seed: 1 },
    note: "The easy words come first, wherever they are; what depends on them waits.",
  },
  {
    id: "gap",
    label: "Fill a gap",
    kind: "text",
    model: "stories",
    runs: ["run_gap.jsonl"],
    settings: {
      ...STORY,
      prompt: "Once upon a time, there was a[MASK:30] They were very happy and played together all day.",
      seed: 1,
    },
    note: "The model reads both sides of a gap.",
  },
  {
    id: "sudoku",
    label: "A sudoku",
    kind: "sudoku",
    model: "sudoku",
    runs: ["run_sudoku.jsonl"],
    settings: { prompt: BOARD, temperature: 0, seed: 0, planner: "punt:epsilon=0.01" },
    note: "Cells are filled in the order in which they become certain.",
  },
  {
    id: "protein",
    label: "A protein",
    kind: "protein",
    model: "membrane",
    runs: ["run_protein.jsonl"],
    settings: {
      prompt: "MKT[MASK:60]GGSGG[MASK:52]",
      temperature: 0.8,
      seed: 3,
      planner: "punt:epsilon=0.0003",
    },
    note: "Residues around a motif that stays where it is.",
  },
  {
    id: "race",
    label: "Race: PUNT or one by one",
    kind: "text",
    model: "stories",
    runs: ["race_punt016.jsonl", "race_topk1.jsonl"],
    captions: ["PUNT: test, then write many", "One token at a time"],
    settings: { ...RACE, second: "top-k:k=1" },
    note: "220 tokens: PUNT is done with a third of the passes. One at a time still reads best; that is its price.",
  },
  {
    id: "untested",
    label: "Race: tests or none",
    kind: "text",
    model: "stories",
    runs: ["race_punt016.jsonl", "race_topk3.jsonl"],
    captions: ["PUNT: test, then write many", "Three at a time, untested"],
    settings: { ...RACE, second: "top-k:k=3" },
    note: "About as many passes for both. Without tests words that were chosen together get doubled and do not fit.",
  },
];

export function exampleOf(id) {
  return EXAMPLES.find((example) => example.id === id) ?? null;
}

/** What a model of a kind shows first. */
export function firstExample(kind) {
  return EXAMPLES.find((example) => example.kind === kind) ?? EXAMPLES[0];
}

/** The recordings of an example; rejects with an Error when a file cannot be had. */
export function loadExample({ runs }) {
  return Promise.all(
    runs.map(async (name) => {
      const response = await fetch(name);
      if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
      return parseTrace(await response.text(), name)[0];
    }),
  );
}
