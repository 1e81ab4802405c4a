// One or two panels, their runs, and replaying two runs at equal cost: a race, whose finish is a full canvas.
import { widest } from "./charts.js";
import { element } from "./dom.js";
import { Panel } from "./panel.js";
import { Player, paceOf } from "./player.js";
import { shortSpec } from "./spec.js";
import { Recording, nfeOf } from "./trace.js";

const RACE_TICK = 60; // milliseconds
const RACE_LENGTH = 15000;

export class Panels {
  #abort = null;
  #lanes;

  /** `onDraw()` is called after what is shown has changed. */
  constructor(root, { api, race, onError, onLoad, onDraw }) {
    this.root = root;
    this.api = api;
    this.race = race;
    this.isLinked = true;
    this.planners = []; // the registry, once the server has told
    this.player = new Player();
    const hooks = {
      onMove: (panel) => this.#follow(panel),
      onPlay: (panel) => (this.player.isPlaying ? this.player.stop() : this.play(panel)),
      onLoad: () => {
        this.player.stop();
        onError("");
        onLoad();
        this.#shareAxes();
      },
      onDraw: () => {
        this.#drawLanes();
        onDraw();
      },
      onError,
      speed: () => this.player.speed,
      shorten: (planner) => shortSpec(planner, this.planners),
    };
    this.panels = [new Panel("first run", hooks), new Panel("second run", hooks)];
    this.#lanes = this.panels.map(() => new Lane());
    race.querySelector(".lanes").append(...this.#lanes.map((lane) => lane.root));
    this.setCount(1);
  }

  get shown() {
    return this.panels.slice(0, this.count);
  }

  /** 1, or 2 to compare. */
  setCount(count) {
    this.player.stop();
    this.count = count;
    this.root.classList.toggle("pair", count === 2);
    this.root.replaceChildren(...this.shown.map((panel) => panel.root));
    this.#shareAxes();
    this.#drawLanes();
  }

  get isRunning() {
    return this.#abort !== null;
  }

  /** Looks that occur in what is shown. */
  get states() {
    return new Set(this.shown.flatMap((panel) => [...panel.states]));
  }

  /** Shows runs that are whole, one or two. */
  openRecorded(recordings, captions = []) {
    this.setCount(recordings.length);
    recordings.forEach((recording, i) => this.panels[i].openRecorded(recording, captions[i]));
    this.#shareAxes();
  }

  /** One request per panel. Resolves when all are done; the first that fails stops the others. */
  async run(requests, isTogether) {
    this.player.stop();
    this.#abort = new AbortController();
    try {
      if (isTogether) {
        await Promise.all(requests.map((request, i) => this.#runOne(this.panels[i], request)));
      } else {
        for (const [i, request] of requests.entries()) await this.#runOne(this.panels[i], request);
      }
    } catch (error) {
      this.#abort.abort();
      throw error;
    } finally {
      this.#abort = null;
    }
  }

  stop() {
    this.#abort?.abort();
  }

  /** From where it is, or from the start when it is at its end. Two linked runs race. */
  play(panel = this.panels[0]) {
    if (!panel.recording) return;
    const isRace = this.count === 2 && this.isLinked && this.panels.every((one) => one.recording);
    this.player.play(isRace ? this.#raceTrack() : this.#stepTrack(panel));
  }

  #stepTrack(panel) {
    const track = {
      pace: paceOf(panel.last + 1),
      step: () => {
        if (panel.index >= panel.last) return false;
        panel.goTo(panel.index + 1);
        return true;
      },
      rewind: () => panel.goTo(0),
      onChange: (isPlaying) => panel.setPlaying(isPlaying),
    };
    if (panel.index >= panel.last) track.rewind();
    return track;
  }

  #raceTrack() {
    const total = Math.max(...this.panels.map(({ recording }) => nfeOf(recording.frames.at(-1))));
    let clock = Math.max(...this.panels.map((panel) => nfeOf(panel.frame)));
    const goTo = (passes) => {
      clock = passes;
      for (const panel of this.panels) panel.goToNfe(clock);
    };
    const track = {
      pace: RACE_TICK,
      step: () => {
        if (clock >= total) return false;
        goTo(Math.min(total, clock + (total * RACE_TICK) / RACE_LENGTH));
        return true;
      },
      rewind: () => goTo(0),
      onChange: (isPlaying) => this.panels.forEach((panel) => panel.setPlaying(isPlaying)),
    };
    if (clock >= total) track.rewind();
    return track;
  }

  async #runOne(panel, request) {
    const isHeld = ["response_format", "guided_regex", "guided_choice"].some((field) => field in request);
    const recording = new Recording({ isHeld });
    const begin = performance.now();
    const onEvent = (event, line) => {
      recording.take(event, line, (performance.now() - begin) / 1000);
      if (panel.recording !== recording) panel.open(recording); // until then the last run stays in sight
      panel.refresh();
      if (event.event === "commit") this.#shareAxes();
    };
    try {
      await this.api.generate(request, { signal: this.#abort.signal, onEvent });
    } finally {
      if (panel.recording === recording) panel.close();
    }
  }

  /** Two charts can be compared when their axes are the same. */
  #shareAxes() {
    const axes = widest(this.shown.map((panel) => panel.axes));
    for (const panel of this.shown) panel.setAxes(axes);
  }

  #follow(panel) {
    this.player.stop();
    if (!this.isLinked || this.count < 2 || !panel.frame) return;
    this.panels[panel === this.panels[0] ? 1 : 0].goToNfe(nfeOf(panel.frame));
  }

  #drawLanes() {
    const isRace = this.count === 2 && this.panels.every((panel) => panel.recording);
    this.race.hidden = !isRace;
    if (!isRace) return;
    const totals = this.panels.map(({ recording }) => (recording.isFinished ? nfeOf(recording.current) : Infinity));
    this.panels.forEach((panel, i) => this.#lanes[i].show(panel, totals[i] < totals[1 - i]));
  }
}

/** How much of a canvas is filled, and what that has cost. */
class Lane {
  constructor() {
    this.name = element("span", { className: "name" });
    this.bar = element("div", { className: "bar" });
    this.track = element("div", { className: "track" }, this.bar);
    this.track.setAttribute("role", "progressbar");
    this.result = element("span", { className: "result" });
    this.root = element("div", { className: "lane" }, this.name, this.track, this.result);
  }

  show(panel, isFirst) {
    const { frame, recording } = panel;
    const share = frame.generated === 0 ? 1 : frame.committed / frame.generated;
    const percent = frame.end ? 100 : Math.round(100 * share);
    const isDone = frame.end !== null || share >= 1;
    this.name.textContent = panel.label;
    this.bar.style.width = `${percent}%`;
    this.root.classList.toggle("done", isDone);
    this.track.setAttribute("aria-label", `${panel.label}: filled`);
    this.track.setAttribute("aria-valuenow", percent);
    const seconds = recording.isFinished ? `, ${recording.outcome.end.seconds.toFixed(1)} s` : "";
    const passes = `${nfeOf(frame)} passes`;
    this.result.textContent = isDone ? `✓ ${isFirst ? "first: " : ""}${passes}${seconds}` : passes;
  }
}
