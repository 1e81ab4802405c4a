// One run on the page: counters, canvas, replay, charts, and its trace as a file.
import { CanvasView } from "./canvas_view.js";
import { Charts, widest } from "./charts.js";
import { SeenStates } from "./legend.js";
import { download, element } from "./dom.js";
import { exportSvg } from "./export_svg.js";
import { modelName } from "./spec.js";
import { nfeOf, parseTrace, tokensPerForward } from "./trace.js";
import { paceOf } from "./player.js";
import { ThoughtsView } from "./thoughts.js";

const STOPS = {
  full: "done",
  eos: "done: the text has ended",
  "step-limit": "ended: no more steps allowed",
  "nfe-limit": "ended: no more passes allowed",
  cancelled: "stopped",
  "stop-string": "done: at a stop string",
};

export class Panel {
  #recordings = []; // of the file, or the one live run
  #recording = null;
  #caption = null; // instead of the planner's spec
  #index = 0; // the frame that is shown
  #isLive = false; // more events may come
  #isFollowing = true; // at the newest frame, and staying there
  #drawRequest = 0;
  #axes = widest([]); // of the charts
  #seen = new SeenStates();

  /**
   * Hooks: `onMove(panel)` after the user went to another frame, `onPlay(panel)` when the button was pressed,
   * `onLoad(panel)` after another run came from a file, `onDraw(panel)`, `onError(message)`, `shorten(spec)` for a
   * planner's spec as a title.
   */
  constructor(name, hooks) {
    this.name = name;
    this.hooks = hooks;
    this.root = document.getElementById("panel").content.firstElementChild.cloneNode(true);
    const find = (selector) => this.root.querySelector(selector);
    this.title = find("h2");
    this.facts = find(".facts");
    this.runs = find(".runs");
    this.runSelect = find(".runs select");
    this.counters = Object.fromEntries([...this.root.querySelectorAll("dd")].map((dd) => [dd.dataset.counter, dd]));
    this.slider = find(".slider");
    this.where = find(".where");
    this.playButton = find(".play");
    this.saveButton = find(".save");
    this.exportButton = find(".export");
    this.file = find(".file");
    find(".canvas").setAttribute("aria-label", `Canvas of the ${name}`);
    this.slider.setAttribute("aria-label", `Step of the ${name}`);
    this.root.setAttribute("aria-label", name);
    this.canvas = new CanvasView(find(".canvas"), find(".detail"), find(".verdict"));
    this.thoughts = new ThoughtsView(find(".thoughts"));
    this.charts = new Charts(find(".charts"));
    this.title.textContent = name;

    this.slider.addEventListener("input", () => this.#moveTo(Number(this.slider.value)));
    this.playButton.addEventListener("click", () => this.hooks.onPlay(this));
    this.saveButton.addEventListener("click", () => this.#save());
    this.exportButton.addEventListener("click", () => this.#export());
    find(".load").addEventListener("click", () => this.file.click());
    this.file.addEventListener("change", () => this.#load());
    this.runSelect.addEventListener("change", () => this.#showRun(Number(this.runSelect.value)));
  }

  get recording() {
    return this.#recording;
  }

  get frame() {
    return this.#recording?.frames[this.#index] ?? null;
  }

  get last() {
    return (this.#recording?.frames.length ?? 0) - 1;
  }

  get index() {
    return this.#index;
  }

  get label() {
    return this.title.textContent;
  }

  /** Looks of cells that occur in the run. */
  get states() {
    return this.#recording ? this.#seen.of(this.#recording) : new Set();
  }

  /** A new live run; the events come through `refresh`. */
  open(recording) {
    this.#recordings = [recording];
    this.runs.hidden = true;
    this.#show(recording, 0);
    this.#isLive = true;
  }

  /** A run that is whole. */
  openRecorded(recording, caption = null) {
    this.#recordings = [recording];
    this.runs.hidden = true;
    this.#show(recording, recording.frames.length - 1);
    this.#caption = caption;
  }

  /** No more events come: the run is done, or was stopped in the middle of a step that is not shown any longer. */
  close() {
    this.#isLive = false;
    this.refresh();
  }

  /** The recording has grown. Drawing waits for the browser's next frame, however many events come before it. */
  refresh() {
    if (this.#drawRequest) return;
    this.#drawRequest = requestAnimationFrame(() => {
      this.#drawRequest = 0;
      this.#draw();
    });
  }

  /** What the charts of the run need. */
  get axes() {
    return this.#recording ? this.charts.measure(this.#recording) : widest([]);
  }

  setAxes(axes) {
    this.#axes = axes;
    this.refresh();
  }

  /** The last frame that took at most so many forward passes. */
  goToNfe(nfe) {
    const frames = this.#recording?.frames ?? [];
    const after = frames.findIndex((frame) => nfeOf(frame) > nfe);
    if (frames.length > 0) this.goTo(after < 0 ? frames.length - 1 : Math.max(0, after - 1));
  }

  goTo(index) {
    if (!this.#recording) return;
    this.#index = index;
    this.#isFollowing = index === this.last;
    this.refresh();
  }

  setPlaying(isPlaying) {
    this.playButton.textContent = isPlaying ? "Pause" : "Play";
  }

  #moveTo(index) {
    this.goTo(index);
    this.hooks.onMove(this);
  }

  #show(recording, index) {
    this.#recording = recording;
    this.#caption = null;
    this.#index = index;
    this.#isLive = false;
    this.#isFollowing = true;
    this.refresh();
  }

  #showRun(number) {
    const recording = this.#recordings[number];
    this.#show(recording, recording.frames.length - 1);
    this.hooks.onLoad(this);
  }

  #draw() {
    const recording = this.#recording;
    if (!recording || recording.isEmpty) return;
    if (this.#isFollowing) this.#index = this.last;
    // A step that is being tested right now is shown as long as nobody looks back.
    const frame = this.#isFollowing && this.#isLive ? recording.current : recording.frames[this.#index];
    this.slider.max = this.last;
    this.slider.value = this.#index;
    this.slider.disabled = this.playButton.disabled = this.last === 0;
    this.saveButton.disabled = false;
    this.exportButton.disabled = this.#isLive;
    this.where.textContent = whereText(frame, recording);
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    const { run } = recording.current;
    this.title.textContent = this.#caption ?? this.hooks.shorten(run.planner);
    this.title.title = run.planner;
    this.facts.textContent = factsText(run, this.#caption === null ? null : this.hooks.shorten(run.planner));
    this.#drawCounters(recording, frame);
    this.canvas.show(recording, frame);
    this.thoughts.show(recording, frame);
    this.charts.update(recording, this.#axes, this.canvas.shape.kind === "text");
    this.charts.mark(frame.end ? 0 : frame.step);
    this.hooks.onDraw(this);
  }

  #drawCounters(recording, frame) {
    const { base, test } = frame.counters;
    const seconds = recording.secondsAt(this.#index);
    this.counters.nfe.textContent = test > 0 ? `${base + test} = ${base} + ${test} tests` : String(base);
    this.counters.steps.textContent = String(frame.step);
    this.counters.seconds.textContent = seconds === null ? "–" : seconds.toFixed(2);
    this.counters.rate.textContent = tokensPerForward(frame).toFixed(2);
  }

  get #fileName() {
    const { run } = this.#recording.current;
    return `${modelName(run.model)}-${run.planner.split(":")[0]}-${run.seed}`.replace(/[^\w.-]+/g, "_");
  }

  #save() {
    download(`${this.#fileName}.jsonl`, this.#recording.toText(), "application/jsonl");
  }

  #export() {
    const pace = paceOf(this.#recording.frames.length) / this.hooks.speed();
    download(`${this.#fileName}.svg`, exportSvg(this.#recording, { pace, title: this.label }), "image/svg+xml");
  }

  async #load() {
    const file = this.file.files[0];
    if (!file) return;
    try {
      this.#recordings = parseTrace(await file.text(), file.name);
    } catch (error) {
      this.hooks.onError(error.message);
      return;
    } finally {
      this.file.value = ""; // so that the same file can be chosen again
    }
    const options = this.#recordings.map((recording, i) => {
      const { planner, seed, sample } = recording.current.run;
      return element("option", {
        value: i,
        text: `${i + 1}: ${planner.split(":")[0]}, seed ${seed}, sample ${sample}`,
      });
    });
    this.runSelect.replaceChildren(...options);
    this.runs.hidden = options.length < 2;
    this.#showRun(0);
  }
}

function whereText(frame, recording) {
  if (frame.end) return STOPS[frame.end.stop] ?? `ended (${frame.end.stop})`;
  if (frame.isStepOpen) return `step ${frame.step}, round ${frame.rounds.length}`;
  if (frame.step === 0) return "start";
  return `step ${frame.step} of ${recording.frames.length - (recording.isFinished ? 2 : 1)}`;
}

function factsText(run, planner) {
  const parts = [modelName(run.model), `temperature ${run.temperature}`, `top-p ${run.top_p}`, `seed ${run.seed}`];
  if (planner !== null) parts.splice(1, 0, planner);
  parts.push(`score ${run.score}`);
  if (run.window > 0) parts.push(`window ${run.window}`);
  if (run.cache !== "none") parts.push(`cache ${run.cache}`);
  return parts.join(" · ");
}
