// One run on the page: counters, canvas, replay, charts, and its trace as a file.
import { CanvasView } from "./canvas_view.js";
import { Charts, widest } from "./charts.js";
import { element } from "./dom.js";
import { modelName } from "./spec.js";
import { nfeOf, parseTrace, tokensPerForward } from "./trace.js";

const MILLISECONDS_PER_STEP = 180;

export class Panel {
  #recordings = []; // of the file, or the one live run
  #recording = null;
  #index = 0; // the frame that is shown
  #isLive = false; // more events may come
  #isFollowing = true; // at the newest frame, and staying there
  #timer = null;
  #drawRequest = 0;
  #axes = widest([]); // of the charts

  /**
   * Hooks: `onMove(panel)` after the user or the player went to another frame, `onLoad(panel)` after another run came
   * from a file, `onError(message)`, `shorten(spec)` for a planner's spec as a title.
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
    this.file = find(".file");
    find(".canvas").setAttribute("aria-label", `Canvas ${name}`);
    this.slider.setAttribute("aria-label", `Step of ${name}`);
    this.root.setAttribute("aria-label", name);
    this.canvas = new CanvasView(find(".canvas"), find(".detail"));
    this.charts = new Charts(find(".charts"));
    this.title.textContent = name;

    this.slider.addEventListener("input", () => this.#onSlider());
    this.playButton.addEventListener("click", () => (this.#timer ? this.pause() : this.play()));
    this.saveButton.addEventListener("click", () => this.#save());
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

  /** A new live run; the events come through `refresh`. */
  open(recording) {
    this.#recordings = [recording];
    this.runs.hidden = true;
    this.#show(recording, 0);
    this.#isLive = true;
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

  /** The last frame that took at most so many forward passes; the very last when `isEnd`. */
  goToNfe(nfe, isEnd) {
    const frames = this.#recording?.frames ?? [];
    const after = frames.findIndex((frame) => nfeOf(frame) > nfe || (frame.end !== null && !isEnd));
    if (frames.length > 0) this.#goTo(isEnd || after < 0 ? frames.length - 1 : Math.max(0, after - 1));
  }

  play() {
    if (!this.#recording) return;
    if (this.#index >= this.#recording.frames.length - 1) this.#moveTo(0);
    this.playButton.textContent = "Pause";
    this.#timer = setInterval(() => {
      const last = this.#recording.frames.length - 1;
      if (this.#index < last) this.#moveTo(this.#index + 1);
      else this.pause();
    }, MILLISECONDS_PER_STEP);
  }

  pause() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.playButton.textContent = "Play";
  }

  #onSlider() {
    this.pause();
    this.#moveTo(Number(this.slider.value));
  }

  #moveTo(index) {
    this.#goTo(index);
    this.hooks.onMove(this);
  }

  #goTo(index) {
    this.#index = index;
    this.#isFollowing = index === this.#recording.frames.length - 1;
    this.refresh();
  }

  #show(recording, index) {
    this.pause();
    this.#recording = recording;
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
    const last = recording.frames.length - 1;
    if (this.#isFollowing) this.#index = last;
    // A step that is being tested right now is shown as long as nobody looks back.
    const frame = this.#isFollowing && this.#isLive ? recording.current : recording.frames[this.#index];
    this.slider.max = last;
    this.slider.value = this.#index;
    this.slider.disabled = this.playButton.disabled = last === 0;
    this.saveButton.disabled = false;
    this.where.textContent = whereText(frame, recording);
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
    const { run } = recording.current;
    this.title.textContent = `${this.name}: ${this.hooks.shorten(run.planner)}`;
    this.title.title = run.planner;
    this.facts.textContent = factsText(run);
    this.#drawCounters(recording, frame);
    this.canvas.show(recording, frame);
    this.charts.update(recording, this.#axes);
    this.charts.mark(frame.end ? 0 : frame.step);
  }

  #drawCounters(recording, frame) {
    const { base, test } = frame.counters;
    const seconds = recording.secondsAt(this.#index);
    this.counters.nfe.textContent = `${base + test} = ${base} + ${test}`;
    this.counters.steps.textContent = String(frame.step);
    this.counters.seconds.textContent = seconds === null ? "–" : seconds.toFixed(2);
    this.counters.rate.textContent = tokensPerForward(frame).toFixed(2);
  }

  #save() {
    const url = URL.createObjectURL(new Blob([this.#recording.toText()], { type: "application/jsonl" }));
    const { run } = this.#recording.current;
    const name = `${modelName(run.model)}-${run.planner.split(":")[0]}-${run.seed}`.replace(/[^\w.-]+/g, "_");
    element("a", { href: url, download: `${name}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
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
  if (frame.end) return `end (${frame.end.stop})`;
  if (frame.isStepOpen) return `step ${frame.step}, round ${frame.rounds.length}`;
  if (frame.step === 0) return "start";
  return `step ${frame.step} of ${recording.frames.length - (recording.isFinished ? 2 : 1)}`;
}

function factsText(run) {
  const parts = [
    modelName(run.model),
    `score ${run.score}`,
    `temperature ${run.temperature}`,
    `top-p ${run.top_p}`,
    `seed ${run.seed}`,
  ];
  if (run.window > 0) parts.push(`window ${run.window}`);
  if (run.cache !== "none") parts.push(`cache ${run.cache}`);
  return parts.join(" · ");
}
