// From trace events to canvas states, without a page: the same events come from a stream and from a file.
//
//   start(run event) -> frame        advance(frame, event) -> frame
//
// Frames and cells are never changed once made; cells that an event does not touch are shared between frames,
// so a run of a thousand steps stays cheap and a view can tell by identity what to draw again.
// The page counts steps from 1; traces count from 0.

export const TRACE_VERSION = 2;
const OLDEST_TRACE_VERSION = 1;

/** What a position can look like; the same words are class names of the canvas. */
export const CELL_STATES = {
  prompt: "given",
  masked: "masked",
  earlier: "committed earlier",
  draft: "draft",
  candidate: "under test",
  accepted: "accepted in this step",
  edited: "replaced in this step",
  rejected: "rejected in this step",
  remasked: "taken back in this step",
};

/**
 * Cell: {state, token, step, age, confidence, divergence, epsilon}
 *   token       in place, or the proposal of a draft, a candidate or a rejected position
 *   step        in which it was committed, replaced, rejected or taken back; from 1, null where it means nothing
 *   age         share of the canvas that stood before its step, from 0 (first) to 1 (last); null where it means nothing
 *   was         the token that was replaced; of edited cells only
 *   divergence  the largest that its tests in that step measured; null: not tested
 *   epsilon     what the divergence was held against
 * Frame: {run, step, cells, counters: {base, test}, committed, generated, rounds, isStepOpen, end, isHeld}
 *   isHeld      the answer is held to a shape: then the proposals of a step are one draw, and together with what stands
 *               they are a whole answer of that shape, so those that are not written yet are shown as a draft of it
 */
export function start(run, { isHeld = false } = {}) {
  if (!(run.version >= OLDEST_TRACE_VERSION && run.version <= TRACE_VERSION))
    throw new Error(`version ${run.version} is not known; this page reads versions up to ${TRACE_VERSION}`);
  requireList(run, "canvas");
  const masked = maskedCell(run);
  const cells = run.canvas.map((token) => (token === run.mask_token ? masked : cellOf("prompt", token)));
  return {
    run,
    step: 0,
    cells,
    proposals: new Map(),
    counters: { base: 0, test: 0 },
    committed: 0,
    generated: cells.filter((cell) => cell.state === "masked").length,
    rounds: [],
    isStepOpen: false,
    end: null,
    isHeld,
  };
}

export function advance(frame, event) {
  switch (event.event) {
    case "step":
      return takeStep(frame, event);
    case "round":
      return takeRound(frame, event);
    case "commit":
      return takeCommit(frame, event);
    case "end":
      return takeEnd(frame, event);
    default:
      throw new Error(`unknown event '${event.event}'`);
  }
}

export function cellOf(state, token, details = {}) {
  const nothing = { step: null, age: null, confidence: null, divergence: null, epsilon: null };
  return Object.freeze({ state, token, ...nothing, ...details });
}

function maskedCell(run) {
  return cellOf("masked", run.mask_token);
}

function requireList(event, key, length) {
  const list = event[key];
  if (!Array.isArray(list)) throw new Error(`event ${event.event} has no list '${key}'`);
  if (length !== undefined && list.length !== length)
    throw new Error(`'${key}' of event ${event.event} has ${list.length} items instead of ${length}`);
  return list;
}

function requirePositions(frame, event, key) {
  const list = requireList(event, key);
  for (const position of list) {
    if (!Number.isInteger(position) || position < 0 || position >= frame.cells.length) {
      throw new Error(`position ${position} in '${key}' of event ${event.event} is not on the canvas`);
    }
  }
  return list;
}

/** What was new in the last step is earlier now; what was only proposed is masked again. */
function settle(frame) {
  const masked = maskedCell(frame.run);
  return mapCells(frame.cells, (cell) => {
    if (cell.state === "accepted" || cell.state === "edited") return Object.freeze({ ...cell, state: "earlier" });
    return cell.state === "prompt" || cell.state === "earlier" || cell.state === "masked" ? cell : masked;
  });
}

function takeStep(frame, event) {
  const positions = requirePositions(frame, event, "positions");
  const tokens = requireList(event, "tokens", positions.length);
  const confidence = requireList(event, "confidence", positions.length);
  const proposals = new Map(
    positions.map((position, i) => [
      position,
      { token: tokens[i], confidence: confidence[i], divergence: null, epsilon: null },
    ]),
  );
  const step = event.step + 1;
  const settled = settle(frame);
  const draft = (cell, i) => (proposals.has(i) ? draftOf(proposals.get(i), step) : cell);
  const cells = frame.isHeld ? settled.map(draft) : settled;
  return { ...frame, step, cells, proposals, rounds: [], isStepOpen: true };
}

function takeRound(frame, event) {
  const anchors = requirePositions(frame, event, "anchors");
  const tests = requirePositions(frame, event, "tests");
  const divergences = requireList(event, "divergences", tests.length);
  const kept = requireList(event, "kept", tests.length);
  const proposals = new Map(frame.proposals);
  const cells = [...withoutCandidates(frame)];
  const show = (position, state) => {
    const proposal = proposals.get(position);
    if (proposal) cells[position] = cellOf(state, proposal.token, { ...proposal, step: frame.step });
  };
  for (const position of anchors) show(position, "candidate");
  tests.forEach((position, i) => {
    const divergence = divergences[i] ?? Infinity;
    const proposal = proposals.get(position);
    if (!proposal) return;
    proposals.set(position, {
      ...proposal,
      divergence: Math.max(proposal.divergence ?? 0, divergence),
      epsilon: event.epsilon,
    });
    show(position, kept[i] ? "candidate" : "rejected");
  });
  const rejected = kept.filter((one) => !one).length;
  const rounds = [...frame.rounds, { anchors: anchors.length, tests: tests.length, rejected }];
  return { ...frame, cells, proposals, rounds };
}

function draftOf(proposal, step) {
  return cellOf("draft", proposal.token, { step, confidence: proposal.confidence });
}

function withoutCandidates(frame) {
  const masked = maskedCell(frame.run);
  const open = (i) => (frame.isHeld && frame.proposals.has(i) ? draftOf(frame.proposals.get(i), frame.step) : masked);
  return mapCells(frame.cells, (cell, i) => (cell.state === "candidate" ? open(i) : cell));
}

/** The same list when nothing changes: schedules have many steps that commit nothing. */
function mapCells(cells, change) {
  const changed = cells.map(change);
  return changed.some((cell, i) => cell !== cells[i]) ? changed : cells;
}

function takeCommit(frame, event) {
  const positions = requirePositions(frame, event, "positions");
  const tokens = requireList(event, "tokens", positions.length);
  const confidence = requireList(event, "confidence", positions.length);
  const remasked = requirePositions(frame, event, "remasked");
  const edited = event.edited ? requirePositions(frame, event, "edited") : [];
  const editedTokens = event.edited ? requireList(event, "edited_tokens", edited.length) : [];
  const editedConfidence = event.edited ? requireList(event, "edited_confidence", edited.length) : [];
  const inserted = event.inserted ? requirePositions(frame, event, "inserted") : [];
  const removed = event.removed ? requirePositions(frame, event, "removed") : [];
  const isEmpty = positions.length === 0 && remasked.length === 0 && edited.length === 0;
  const cells = isEmpty ? withoutCandidates(frame) : [...withoutCandidates(frame)];
  const age = frame.generated === 0 ? 0 : Math.max(0, Math.min(1, frame.committed / frame.generated));
  for (const position of remasked) cells[position] = cellOf("remasked", cells[position].token, { step: frame.step });
  positions.forEach((position, i) => {
    const { divergence = null, epsilon = null } = frame.proposals.get(position) ?? {};
    cells[position] = cellOf("accepted", tokens[i], {
      step: frame.step,
      age,
      confidence: confidence[i],
      divergence,
      epsilon,
    });
  });
  edited.forEach((position, i) => {
    cells[position] = cellOf("edited", editedTokens[i], {
      step: frame.step,
      age: cells[position].age,
      confidence: editedConfidence[i],
      was: cells[position].token,
    });
  });
  return {
    ...frame,
    cells: resized(cells, inserted, removed, maskedCell(frame.run)),
    generated: frame.generated + inserted.length - removed.length,
    counters: countersOf(event),
    proposals: new Map(), // frames are kept; what the step proposed is not
    committed: frame.committed + positions.length - remasked.length,
    isStepOpen: false,
  };
}

/** Whether the token of a cell is there, and not only proposed or gone. */
export function stands(cell) {
  return cell.state === "prompt" || cell.state === "earlier" || cell.state === "accepted" || cell.state === "edited";
}

/** A mask before each of `inserted`, and without those of `removed`. */
function resized(cells, inserted, removed, masked) {
  if (inserted.length === 0 && removed.length === 0) return cells;
  return cells.flatMap((cell, i) => [
    ...(inserted.includes(i) ? [masked] : []),
    ...(removed.includes(i) ? [] : [cell]),
  ]);
}

function takeEnd(frame, event) {
  const tokens = requireList(event, "tokens", frame.cells.length);
  // An early stop on EOS fills what is behind it without committing it.
  const cells = settle(frame).map((cell, i) =>
    cell.state === "masked" && tokens[i] !== frame.run.mask_token ? cellOf("earlier", tokens[i]) : cell,
  );
  return {
    ...frame,
    cells,
    counters: countersOf(event),
    isStepOpen: false,
    end: { stop: event.stop, steps: event.steps, seconds: event.seconds },
  };
}

function countersOf(event) {
  if (typeof event.nfe?.base !== "number" || typeof event.nfe?.test !== "number")
    throw new Error(`event ${event.event} has no 'nfe'`);
  return { base: event.nfe.base, test: event.nfe.test };
}

export function nfeOf(frame) {
  return frame.counters.base + frame.counters.test;
}

export function tokensPerForward(frame) {
  return nfeOf(frame) === 0 ? 0 : frame.committed / nfeOf(frame);
}

/** A run as it comes in: the lines as they were written, and a frame for the start, every step and the end. */
export class Recording {
  /** `isHeld`: see Frame. */
  constructor({ isHeld = false } = {}) {
    this.isHeld = isHeld;
    this.lines = [];
    this.pieces = new Map();
    this.frames = []; // of closed steps
    this.current = null; // the newest frame, possibly in the middle of a step
    this.elapsed = []; // seconds at which each frame was there, of a live run
  }

  get isEmpty() {
    return this.current === null;
  }

  get isFinished() {
    return this.current?.end != null;
  }

  /** `line` is the event as its writer spelt it: what a file of this run has to hold. */
  take(event, line, elapsed = null) {
    if (event.event === "run") {
      if (this.current) throw new Error("a second run in one recording");
      this.current = start(event, { isHeld: this.isHeld });
    } else if (event.event === "pieces") {
      if (typeof event.pieces !== "object" || event.pieces === null) throw new Error("event pieces has no 'pieces'");
      for (const [token, piece] of Object.entries(event.pieces)) this.pieces.set(Number(token), String(piece));
    } else {
      if (!this.current) throw new Error(`event ${event.event} before the run`);
      if (this.isFinished) throw new Error(`event ${event.event} after the end`);
      this.current = advance(this.current, event);
    }
    this.lines.push(line);
    if (event.event === "run" || event.event === "commit" || event.event === "end") {
      this.frames.push(this.current);
      this.elapsed.push(elapsed);
    }
  }

  /** The last frame of a run that has ended: what stands there in the end. Null before. */
  get outcome() {
    return this.isFinished ? this.current : null;
  }

  hasPiece(token) {
    return this.pieces.has(token);
  }

  piece(token) {
    return this.pieces.get(token) ?? "?";
  }

  toText() {
    return this.lines.map((line) => line + "\n").join("");
  }

  /** Seconds at a frame: the run's own at its end, arrival times of a live run, null when nobody knows. */
  secondsAt(index) {
    return this.frames[index]?.end?.seconds ?? this.elapsed[index] ?? null;
  }
}

/** The recordings of a file. A run that stops in the middle is accepted: it may have been interrupted. */
export function parseTrace(text, name) {
  const recordings = [];
  text.split("\n").forEach((line, i, lines) => {
    if (line === "" && i === lines.length - 1) return;
    try {
      const event = JSON.parse(line);
      if (event === null || typeof event !== "object") throw new Error("not an event");
      if (event.event === "run") recordings.push(new Recording());
      if (recordings.length === 0) throw new Error("the first event is not a run");
      recordings.at(-1).take(event, line);
    } catch (error) {
      throw new Error(`${name}:${i + 1}: ${error instanceof SyntaxError ? "not a JSON object" : error.message}`);
    }
  });
  if (recordings.length === 0) throw new Error(`${name}: the trace is empty`);
  return recordings;
}
